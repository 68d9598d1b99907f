"""Each sentence of a chapter is on a separate line; other lines are left unchanged."""

from pathlib import Path

import pytest

from boundpaper.paper.sentences import split_sentences
from chapter_lines import broken

ROOT = Path(__file__).parents[1]
CHAPTERS = sorted((ROOT / "paper/chapters").glob("*.tex.j2"))


def faults(text: str) -> list[int]:
    return [fault.line for fault in broken(text, "c")]


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.name.partition(".")[0])
def test_each_sentence_of_a_chapter_is_on_its_own_line(path: Path) -> None:
    text = path.read_text()
    assert not [str(fault) for fault in broken(text, path.name)]


@pytest.mark.parametrize(
    ("line", "second"),
    [
        ("One ends. Two begins.", "Two begins."), ("Does it end? It does.", "It does."),
        ("It falls.<< mark('a.b') >> Then it rises.", "Then it rises."),
        ("It falls (all of it.) Then it rises.", "Then it rises."),
        ("They say ``no.'' ``Yes'' say we.", "``Yes'' say we."),
        (r"It falls. \emph{Then} it rises.", r"\emph{Then} it rises."), ("It falls. $r$ is high.", "$r$ is high."),
        ("It falls. << n('a', value='b. C') | words | capitalize >> rise.", None),
        ("The arm is B. It falls.", "It falls."),
    ],
)  # fmt: skip
def test_second_sentence_on_a_line_is_reported(line: str, second: str | None) -> None:
    assert faults(f"Before.\n{line}\nAfter.") == [2]
    assert second is None or split_sentences(line)[1] == second
    assert "".join(split_sentences(line)).replace(" ", "") == line.replace(" ", "")


@pytest.mark.parametrize(
    "line",
    [
        "See e.g. Llama, i.e. Meta's, cf. Fig. A, Sec. B and Touvron et al. Nothing ends.",
        r"It is 3.5 or 2. of them, and 8K vs. 128K in \citep[Sec. A. Part B]{hsieh2024}.",
        r"\paragraph{Rotary positions.} They turn each pair.",
        "It falls by << n('a', value='b. C') | fixed(1) >> and rises,<< mark('a') >> as said.<< mark('b') >>",
    ],
)
def test_abbreviations_do_not_end_a_sentence(line: str) -> None:
    assert faults(line) == []


def test_sentence_over_two_lines_is_reported() -> None:
    assert faults("It falls\nand rises.\nIt stays.\n\nA new\nparagraph.") == [1, 5]
    assert faults("It has\n<% if x %>\nthree.\n<% else %>\nfour.\n<% endif %>\nAnd\nmore.") == [7]
    assert faults("With a product\n\\begin{equation}\n a. B\n\\end{equation}\nit is done.") == []
