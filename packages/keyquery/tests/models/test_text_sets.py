"""Named text sets: fixed disjoint parts, the texts that are read, and the install command for a missing set."""

import sys
from pathlib import Path

import pytest

from boundpaper.errors import DataError
from keyquery.models import text_sets
from keyquery.models.texts import TextSource, texts


@pytest.fixture(scope="module")
def code() -> list[tuple[str, str]]:
    """Return the documents of the text set `code`; reading the documents takes seconds."""
    return list(text_sets.SETS["code"]())


def names(texts_name: str) -> set[str]:
    return {name for name, _ in texts(TextSource(texts_name))}


def test_parts_of_a_text_set_are_disjoint_and_cover_it(
    code: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every document is in one part, which its name decides; the sizes of the parts are about the stated shares."""
    monkeypatch.setitem(text_sets.SETS, "code", lambda: iter(code))
    names_by_part = {part: names(f"code:{part}") for part in text_sets.PARTS}
    all_names = names("code")
    assert sum(map(len, names_by_part.values())) == len(all_names) == len(set.union(*names_by_part.values()))
    for part, share in text_sets.PARTS.items():
        assert abs(len(names_by_part[part]) / len(all_names) - share) < 0.1
    assert {"json/decoder.py", "ast.py"} <= all_names
    assert not any(name.startswith(("test/", "site-packages/", "pydoc_data/")) for name in all_names)


def test_document_stays_in_its_part_when_others_are_added(
    code: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(text_sets.SETS, "code", lambda: iter([("ast.py", "a"), ("new.py", "b")]))
    [part] = [part for part in text_sets.PARTS if "ast.py" in names(f"code:{part}")]
    monkeypatch.setitem(text_sets.SETS, "code", lambda: iter(code))
    assert "ast.py" in names(f"code:{part}")


def test_manual_is_one_text_per_part() -> None:
    from pydoc_data.topics import topics

    parts = {part: list(texts(TextSource(f"manual:{part}"))) for part in text_sets.PARTS}
    assert [name for [(name, _)] in parts.values()] == [f"manual-{part}" for part in text_sets.PARTS]
    for title, text in topics.items():
        chapter = text_sets.part_of(f"manual/{title}")
        assert text in parts[chapter][0][1]


def test_html_pages_are_read_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "anarchism/html"
    folder.mkdir(parents=True)
    page = (
        "<html><head><title>No</title><style>p {}</style></head><body><h1>One &amp; two</h1><p>Three\n <i>four</i>"
        "<script>no()</script></p>five</body></html>"
    )
    (folder / "a.html").write_text(page)
    monkeypatch.setattr(text_sets, "BOOKS", tmp_path)
    assert list(texts(TextSource("anarchism"))) == [("a", "One & two\nThree four\nfive")]


def test_bible_books_are_read_from_their_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bible"
    program.write_text(
        f"#!{sys.executable}\nprint('Ge1:1 In the beginning')\nprint('1Cor2:3 And I')\nprint('Ge1:2 And the')\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert list(texts(TextSource("kjv"))) == [("1Cor", "And I"), ("Ge", "In the beginning\nAnd the")]


@pytest.mark.parametrize(("name", "package"), [("kjv", "bible-kjv"), ("debian-handbook", "debian-handbook")])
def test_missing_set_names_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, package: str) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(text_sets, "BOOKS", tmp_path)
    with pytest.raises(DataError, match=f"{name}: .* is not installed; install it: apt-get install {package}$"):
        list(texts(TextSource(name)))


def test_an_unknown_part_or_place_is_an_error() -> None:
    with pytest.raises(DataError, match="the set code has no part 'training'; its parts are calibration"):
        list(texts(TextSource("code:training")))
    with pytest.raises(DataError, match=r"codes: no such file; .* or an installed set \(manual, code, kjv"):
        list(texts(TextSource("codes")))
