"""Every error about a user's file names the file, and the line where possible."""

from pathlib import Path

import pytest

from boundpaper.errors import DataError, ModelError, SpecError, about
from conftest import ROOT, run
from engine_made import Project

HEAD = (
    '"""An exhibit."""\n\nimport pandas as pd\n\nfrom boundpaper.figures import *\n'
    "from boundpaper.tables import *\n\n\n"
)
TABLE = HEAD + "def table(documents: pd.DataFrame) -> Table:\n    return {}\n"
FIGURE = HEAD + "def figure(documents: pd.DataFrame) -> Figure:\n    return {}\n"
COLUMNS = 'Table(rows=documents, columns=[{}], caption="All. Unit: one document.")'
POINTS = 'series=[Points(x=[1, 2], y=[1, 2], label="a")]'
PANEL = f'Figure(panels=[Panel({POINTS}, x=Axis(label={{}}), y=Axis(label="b"))], caption="All.")'
DRAWING = "from_matplotlib(__import__('matplotlib.pyplot').pyplot.figure(), caption='All.')"

EXHIBITS = {
    "digits": ("table", TABLE.format(COLUMNS.format('Column("document", "Key", fixed(99))'))),
    "a formula": ("table", TABLE.format(COLUMNS.format('Column("document", "Key $a")'))),
    "a column that is none": ("table", TABLE.format(COLUMNS.format("3"))),
    "a unit that is a number": ("table", TABLE.format(COLUMNS.format('Column("document", "Key", unit=3)'))),
    "text as numbers": ("table", TABLE.format(COLUMNS.format('Column("title", "Key", fixed(1))'))),
    "no table": ("table", TABLE.format("3")),
    "a label": ("figure", FIGURE.format(PANEL.format('"a $(cm)"'))),
    "a command in a label": ("figure", FIGURE.format(PANEL.format(r'r"a $\\input{{x}}$"'))),
    "an empty drawing": ("figure", FIGURE.format(DRAWING)),
    "no figure": ("figure", FIGURE.format("3")),
}


@pytest.fixture(scope="module")
def frame(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a new paper."""
    folder = tmp_path_factory.mktemp("named") / "paper"
    result = run(ROOT, "new", str(folder), "--title", "Named")
    assert result.returncode == 0, result.stderr
    return folder


@pytest.mark.parametrize("name", EXHIBITS)
def test_exhibit_error_names_its_file(frame: Path, name: str) -> None:
    kind, text = EXHIBITS[name]
    file = frame / f"{kind}s/own/odd.py"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    result = run(frame, kind, "odd", "--format", "tex" if kind == "figure" else "latex")
    file.unlink()
    assert result.returncode == 1, result.stdout
    assert f"{kind}s/own/odd.py" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no good", "a.txt: no good"),
        ("a.txt:3: no good", "a.txt:3: no good"),
        ("deep/b.txt: no good", "deep/b.txt: no good"),
        ("deep/c.txt: no good", "a.txt: deep/c.txt: no good"),  # no such file
        ("no good; see deep/b.txt", "a.txt: no good; see deep/b.txt"),
    ],
)
def test_builder_error_begins_with_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, expected: str
) -> None:
    project = Project(tmp_path, monkeypatch)
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep/b.txt").touch()

    def fault(job: object) -> None:
        raise DataError(text)

    project.during = fault
    assert str(project.build("upper:a").failed["upper:a"]) == expected


def test_about_adds_the_file_unless_the_error_names_one() -> None:
    with pytest.raises(ModelError, match=r"^my\.gguf: layer 3 is odd$"), about("my.gguf", ModelError):
        raise ModelError("layer 3 is odd")
    with pytest.raises(ModelError, match=r"^layer 3 of my\.gguf is odd$"), about("my.gguf", ModelError):
        raise ModelError("layer 3 of my.gguf is odd")
    with pytest.raises(SpecError, match=r"^other$"), about("my.gguf", ModelError):
        raise SpecError("other")
