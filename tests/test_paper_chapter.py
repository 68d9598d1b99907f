"""Chapters get their numbers from artifacts, and say what is wrong with file and line."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from artifacts.build.job import Job
from artifacts.errors import SpecError
from paper import chapter

FILE = "paper/chapters/sample.tex.j2"
RESULTS = pd.DataFrame(
    {
        "comparison": ["ap_drop", "ap_drop", "bias"],
        "test": ["pearson", "spearman", "pearson"],
        "estimate": [-0.8764, -0.75, np.nan],
        "ci_low": [-0.98, -0.95, np.nan],
        "ci_high": [-0.36, -0.12, np.nan],
        "p_value": [0.0098, 0.0504, np.nan],
        "n": pd.array([7, 7, 21], dtype="Int64"),
        "reason": ["", "", "one arm has no variance"],
    }
)
LEDGER = pd.DataFrame(
    {
        "claim": ["slope", "dip"],
        "statement": ["The slope is *negative*.", "The dip is at 50%."],
        "recomputed": [-0.876, np.nan],
        "verdict": ["not supported", "holds"],
        "reason": ["it rests on $n = 7$ [@cohen1988]", "same digits"],
    }
)
FRAMES = {"lbp": RESULTS, "claims": LEDGER}


def render(body: str) -> str:
    text = chapter.render(body, FILE, FRAMES)
    mark = f"\n% source: {FILE}\n"
    assert text.endswith(mark)
    return text.removesuffix(mark)


def fault(body: str) -> str:
    with pytest.raises(SpecError) as caught:
        chapter.render(body, FILE, FRAMES)
    return str(caught.value)


def test_numbers_are_formatted_for_latex() -> None:
    body = "<< n('lbp', comparison='ap_drop', test='pearson', value='estimate') | fixed(2) >>"
    assert render(body) == "$-$0.88"
    interval = "(n('lbp', comparison='ap_drop', test='pearson', value='ci_low'), -0.36) | interval(2)"
    assert render(f"<< {interval} >>") == "[$-$0.98, $-$0.36]"
    assert render("<< n('lbp', comparison='ap_drop', test='spearman', value='p_value') | pvalue >>") == "0.0504"


def test_whole_numbers_need_no_format_and_become_words() -> None:
    count = "n('lbp', comparison='ap_drop', test='pearson', value='n')"
    assert render(f"<< {count} >> <<{count} | words >>") == "7 seven"
    assert render("<< n('lbp', comparison='bias', value='n') | words >>") == "21"
    assert render("<< n('lbp', n=21, value='comparison') >>") == "bias"


def test_fractions_need_a_format() -> None:
    message = fault("one\n\n<< n('lbp', comparison='ap_drop', test='pearson', value='estimate') >>")
    assert message == f"{FILE}:3: -0.8764 needs a format, as in | fixed(2)"


def test_text_from_artifacts_is_escaped() -> None:
    assert render("<< n('lbp', comparison='ap_drop', test='pearson', value='comparison') >>") == "ap\\_drop"


def test_exhibits_are_inputs() -> None:
    assert render("<< table('ap_drop') >>\n<< figure('ap_drop') >>") == (
        "\\input{tables/ap_drop}\n\\input{figures/ap_drop.float}"
    )


def test_verdicts() -> None:
    assert render("<< claim('slope') >>") == "not supported"
    assert render("<< claim('slope').phrase >>: << claim('slope').reason >>") == (
        "is not supported: it rests on $n = 7$ \\citep{cohen1988}"
    )
    assert render("<< claim('dip') >> << claim('dip').statement >>") == "holds The dip is at 50\\%."
    assert render("<< claim('slope').recomputed | signed(2) >> << claim('slope') >>") == "$-$0.88 not supported"


def test_a_claim_without_its_verdict_is_refused() -> None:
    message = fault("<< claim('slope').reason >>")
    assert message.startswith(f"{FILE}: cites 'slope' without the verdict")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<< n('lpb') >>", "1: no artifact 'lpb'; did you mean 'lbp'?"),
        ("\n<< n('lbp', value='estimte') >>", "2: lbp has no column 'estimte'; did you mean 'estimate'?"),
        ("<< n('lbp', tests='x') >>", "1: lbp has no column 'value'; did you mean 'p_value'?"),
        (
            "<< n('lbp', value='n', test='pearsn', comparison='bias') >>",
            "1: lbp has no test 'pearsn'; did you mean 'pearson'?",
        ),
        (
            "<< n('lbp', value='n', comparison='bias', test='spearman') >>",
            "1: lbp has no row with comparison='bias', test='spearman'; with comparison='bias' there is test: pearson",
        ),
        ("<< n('lbp', value='n', n=8) >>", "1: lbp has no n '8'; known: 7, 21"),
        (
            "<< n('lbp', value='n', comparison='ap_drop') >>",
            "1: lbp has 2 rows with comparison='ap_drop'; name one test: pearson, spearman",
        ),
        (
            "<< n('lbp', value='estimate', comparison='bias') >>",
            "1: lbp: estimate is empty for comparison='bias' (one arm has no variance)",
        ),
        ("a\nb << claim('slop') >>", "2: no claim 'slop'; did you mean 'slope'?"),
        ("<< claim('dip').recomputed >>", "1: claim 'dip' has no recomputed: it is empty in the ledger"),
        ("<< claim('dip').reson >>", "1: a claim has no 'reson'; did you mean 'reason'?"),
        ("<< tabel('x') >>", "1: 'tabel' is undefined; did you mean 'table'?"),
        ("<< 'x'.y >>", "1: 'str object' has no attribute 'y'"),
        ("x\n<< n('lbp' >>", "2: unexpected"),
        ("<< 1 | fixd(2) >>", "1: No filter named 'fixd'"),
        ("<< 3 | words(1) >>", "1: TypeError: "),
        ("<< 2.5 | words >>", "1: words takes a whole number"),
        ("<< 'x' | fixed(2) >>", "1: the value 'x' is not a number"),
        ("<< none >>", "1: None is not something to print"),
    ],
)
def test_errors_name_file_line_and_the_nearest_name(body: str, expected: str) -> None:
    assert fault(body).startswith(f"{FILE}:{expected}")


def project(root: Path, body: str) -> Job:
    (root / "paper/chapters").mkdir(parents=True)
    (root / FILE).write_text(body, encoding="utf-8")
    (root / "paper/metadata.yaml").write_text(
        "title: T\nauthor: A\ndate: D\nchapters: [sample]\nnames: ['Qwen3']\n", encoding="utf-8"
    )
    return Job(root=root, kind="chapter", name="sample", file=FILE)


def test_builder(tmp_path: Path) -> None:
    job = project(tmp_path, "Qwen3 wins.\n")
    assert chapter.build(job) == {"out/chapters/sample.tex": f"Qwen3 wins.\n% source: {FILE}\n"}


def test_builder_refuses_typed_in_numbers(tmp_path: Path) -> None:
    job = project(tmp_path, "Qwen3 wins\nby 12\\% and 3 points.\n")
    with pytest.raises(SpecError) as caught:
        chapter.build(job)
    lines = str(caught.value).splitlines()
    assert [line.split(" is typed in")[0] for line in lines] == [f"{FILE}:2: '12\\%'", f"{FILE}:2: '3'"]
