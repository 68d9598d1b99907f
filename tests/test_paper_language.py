"""Language of chapters, on samples and on the thesis: British spelling, no code names, verdicts as marks."""

import pytest

import chapter_language as language
from conftest import ROOT

MAX_PREDICATES = 12  # maximum number of verdicts that the thesis writes as clauses


@pytest.fixture(scope="module")
def chapters():
    return {path.name: path.read_text() for path in sorted((ROOT / "paper/chapters").glob("*.tex.j2"))}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It was localized.", "1: 'localized' is American: write 'localised'"),
        ("a\n\nThe Quantization and", "3: 'Quantization' is American: write 'Quantisation'"),
        ("neighboring tokens", "1: 'neighboring' is American: write 'neighbouring'"),
        ("analyzed", "1: 'analyzed' is American: write 'analysed'"),
    ],
)
def test_american_spellings_are_corrected(text, expected):
    assert [str(finding) for finding in language.spelling(text, "c")] == [f"c:{expected}"]


def test_words_without_a_british_form_are_accepted():
    text = "The size of a prize, sizing it, seized; colour, behaviour. \\cite{color} << n('color') >> $center$"
    assert language.spelling(text, "c") == []


@pytest.mark.parametrize(
    "name", ["ap_drop", "ap\\_drop", "--estimator", "stated_002.csv", "\\texttt{x}", "analysis/lab.py"]
)
def test_code_names_in_prose_are_reported(name):
    [finding] = language.code_names(f"one\nuses {name} here", "c")
    assert finding.line == 2
    assert "say what it is in words" in finding.message


def test_labels_numbers_and_mathematics_are_not_reported_as_code():
    text = r"A range 2--30, a dash -- so, $r_k^a$, \cref{tab:ap_drop}, << table('ap_drop') >>, e.g. this."
    assert language.code_names(text, "c") == []


def test_verdicts_as_clauses_are_counted_over_the_book():
    book = {
        "a": "x\nThat it falls << claim('a').phrase >>. It is contradicted.",
        "b": "This holds. The appendix holds the ledger; one holds it.<< mark('b') >>",
    }
    assert language.predicates(book, 3) == []
    findings = [str(finding) for finding in language.predicates(book, 2)]
    assert findings[0].startswith("a:2: 2 verdicts as predicates, 3 in the book, where 2 are allowed")
    assert findings[1].startswith("b:1: 1 verdicts")


def test_thesis_uses_british_spelling(chapters):
    findings = [each for name, text in chapters.items() for each in language.spelling(text, name)]
    findings += [code_name for name, text in chapters.items() for code_name in language.code_names(text, name)]
    assert not findings, "\n".join(map(str, findings))


def test_thesis_states_verdicts_as_marks_rather_than_clauses(chapters):
    findings = language.predicates(chapters, MAX_PREDICATES)
    assert not findings, "\n".join(map(str, findings))
