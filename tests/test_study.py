"""The commands of the worked study in docs/measuring.md run in an empty folder; `check_site.py` runs its notebook."""

import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

import boundpaper.__main__
import keyquery
import warmed
import warmed_models
from boundpaper.cli.door import command_line
from compared_paper import printed
from conftest import ROOT

pytestmark = [pytest.mark.latex, pytest.mark.models]
TINY = Path(keyquery.__file__).parent / "tiny"
COMMAND = re.compile(r"^    boundpaper (run .*--model mine .*|compare mine .*)$", re.MULTILINE)


@pytest.fixture(autouse=True)
def _isolate(monkeypatch, tmp_path):
    monkeypatch.delenv("BOUNDPAPER_ROOT", raising=False)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def test_three_commands_lead_from_two_model_folders_to_a_comparison(tmp_path, monkeypatch):
    """The first command, an installation, is left out. The others run as printed, in a folder with two models."""
    folder = tmp_path / "empty"
    for name, tiny in (("mine", "tiny-continued"), ("twin", "tiny-drope")):
        shutil.copytree(TINY / tiny, folder / name)
        (folder / name / "lab.json").write_text('{"language": "population", "training_length": 64}')
    commands = COMMAND.findall((ROOT / "docs/measuring.md").read_text(encoding="utf-8"))
    assert [command.split()[0] for command in commands] == ["run", "compare"]
    for command in commands:
        result = warmed.run(folder, boundpaper.__main__.__file__, *command.split(), program=warmed_models.PROGRAM)
        assert result.returncode == 0, result.stderr
    assert result.stdout.strip().endswith("comparison/out/chapters/comparison.pdf")
    text, rows = printed(folder / "comparison")
    assert len(text) == 2
    assert {"ci_low", "ci_high"} <= set(rows.dropna(axis=1).columns)
    monkeypatch.chdir(folder)
    again = CliRunner().invoke(command_line(), commands[-1].split())
    assert (again.exit_code, "comparison" in again.stderr) == (1, True)  # a non-empty folder is left alone
