"""Chapters get their numbers from artifacts, and report faults with file and line."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from boundpaper.build.job import Job
from boundpaper.errors import SpecError
from boundpaper.paper import chapter

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


def refusal(body: str) -> str:
    with pytest.raises(SpecError) as caught:
        chapter.render(body, FILE, FRAMES)
    return str(caught.value)


def test_numbers_are_formatted_for_latex() -> None:
    body = "<< n('lbp', comparison='ap_drop', test='pearson', value='estimate') | fixed(2) >>"
    assert render(body) == "$-$0.88"
    interval = "(n('lbp', comparison='ap_drop', test='pearson', value='ci_low'), -0.36) | interval(2)"
    assert render(f"<< {interval} >>") == "[$-$0.98, $-$0.36]"
    assert render("<< n('lbp', comparison='ap_drop', test='spearman', value='p_value') | pvalue >>") == "0.0504"


def test_supplement_of_an_exhibit_is_rendered_as_a_link() -> None:
    assert render("<< supplement('figure/drop') >>") == "\\supplement{figure/drop}{figure in the supplement}"


def test_whole_numbers_need_no_format_and_can_be_written_as_words() -> None:
    count = "n('lbp', comparison='ap_drop', test='pearson', value='n')"
    assert render(f"<< {count} >> <<{count} | words >>") == "7 seven"
    assert render("<< n('lbp', comparison='bias', value='n') | words >>") == "21"
    assert render("<< n('lbp', n=21, value='comparison') >>") == "bias"


def test_fractions_need_a_format() -> None:
    message = refusal("one\n\n<< n('lbp', comparison='ap_drop', test='pearson', value='estimate') >>")
    assert message == f"{FILE}:3: -0.8764 needs a format, as in | fixed(2)"


def test_text_from_artifacts_is_escaped() -> None:
    assert render("<< n('lbp', comparison='ap_drop', test='pearson', value='comparison') >>") == "ap\\_drop"


def test_exhibits_become_input_commands() -> None:
    assert render("<< table('ap_drop') >>\n<< figure('ap_drop') >>") == (
        "\\input{tables/ap_drop}\n\\input{figures/ap_drop.float}"
    )


def test_claims_print_verdict_phrase_and_reason() -> None:
    assert render("<< claim('slope') >>") == "not supported"
    assert render("<< claim('slope').phrase >>: << claim('slope').reason >>") == (
        "is not supported: it rests on $n = 7$ \\citep{cohen1988}"
    )
    assert render("<< claim('dip') >> << claim('dip').statement >>") == "holds The dip is at 50\\%."
    assert render("<< claim('slope').recomputed | signed(2) >> << claim('slope') >>") == "$-$0.88 not supported"


def test_a_claim_without_its_verdict_is_refused() -> None:
    message = refusal("<< claim('slope').reason >>")
    assert message.startswith(f"{FILE}: cites 'slope' without printing the verdict")


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
            "1: lbp has 2 rows with comparison='ap_drop'; choose a test: pearson, spearman",
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
        ("<< 2.5 | words >>", "1: `| words` takes a whole number"),
        ("<< 'x' | fixed(2) >>", "1: the value 'x' is not a number"),
        ("<< none >>", "1: None cannot be printed"),
    ],
)
def test_errors_name_file_line_and_the_nearest_name(body: str, expected: str) -> None:
    assert refusal(body).startswith(f"{FILE}:{expected}")


def project(root: Path, body: str) -> Job:
    (root / "paper/chapters").mkdir(parents=True)
    (root / FILE).write_text(body, encoding="utf-8")
    (root / "paper/metadata.yaml").write_text(
        "title: T\nauthor: A\ndate: D\nchapters: [sample]\nnames: ['Qwen3']\n", encoding="utf-8"
    )
    return Job(root=root, kind="chapter", name="sample", file=FILE)


def test_chapter_build_returns_text_and_bound_numbers(tmp_path: Path) -> None:
    job = project(tmp_path, "Qwen3 wins.\n")
    assert chapter.build(job) == {
        "out/chapters/sample.tex": f"Qwen3 wins.\n% source: {FILE}\n",
        "out/bound/sample.json": "[]\n",
    }


def test_builder_refuses_typed_in_numbers(tmp_path: Path) -> None:
    job = project(tmp_path, "Qwen3 wins\nby 12\\% and 3 points.\n")
    with pytest.raises(SpecError) as caught:
        chapter.build(job)
    lines = str(caught.value).splitlines()
    assert [line.split(" is typed")[0] for line in lines] == [f"{FILE}:2: '12\\%'", f"{FILE}:2: '3'"]


def test_r_call_is_rendered_as_estimate_with_interval_and_p() -> None:
    assert render("<< r('lbp', 'ap_drop', 'pearson') >>") == "$-$0.88 [$-$0.98, $-$0.36], $p$~$=$\\,0.010"
    assert render("<< r('lbp', 'ap_drop', test='pearson').bare | fixed(1) >>") == "$-$0.9 [$-$1.0, $-$0.4]"
    assert render("<< r('lbp', 'ap_drop', 'pearson') | percent(0, share=true) >>") == (
        "$-$88\\% [$-$98\\%, $-$36\\%], $p$~$=$\\,0.010"
    )
    assert render("<< r('lbp', 'ap_drop', 'pearson').n | words >>") == "seven"
    corrected = {"lbp": RESULTS.assign(p_adjusted=[0.029, 0.0504, np.nan])}
    texts = [
        chapter.render(
            f"<< r('lbp', 'ap_drop', '{test}').bare | fixed(0) >><< r('lbp', 'ap_drop', '{test}') >>", FILE, corrected
        )
        for test in ("pearson", "spearman")
    ]
    assert "$p$~$=$\\,0.010, Holm $p$~$=$\\,0.029" in texts[0]
    assert "Holm" not in texts[1], "a correction without effect is not printed"


def test_r_call_on_contrasts_is_rendered_in_the_same_form() -> None:
    frame = pd.DataFrame(
        {"item": ["keys"], "difference": [0.31], "low": [0.2], "high": [0.4], "p": [0.0004], "p_holm": [0.004]}
    )
    text = chapter.render("<< r('plan', 'keys') >>", FILE, {"plan": frame})
    assert text.startswith("0.31 [0.20, 0.40], $p$~$<$\\,0.001, Holm $p$~$=$\\,0.004\n")


def test_use_sets_an_artifact_handle_for_later_calls() -> None:
    body = "<% set lbp = use('lbp', test='pearson') %>\n<< lbp('ap_drop') >>; << lbp('bias').n >>"
    assert render(body) == "$-$0.88 [$-$0.98, $-$0.36], $p$~$=$\\,0.010; 21"


def test_mark_is_rendered_as_verdict_mark_of_its_claim() -> None:
    assert render("It falls.<< mark('slope') >>") == "It falls.\\verdictmark{slope}{unsupported}"
    assert render("<< claim('slope').reason >><< mark('slope') >>").startswith("it rests on")


def test_span_filter_formats_a_range() -> None:
    assert render("<< (97, 100) | span(0, percent=true) >>") == "97--100\\%"
    assert render("<< (-2.04, 67) | span(1) >>") == "$-$2.0 to 67.0"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<< r('lpb', 'x') >>", "1: no artifact 'lpb'; did you mean 'lbp'?"),
        ("\n<< r('lbp', 'ap_drp') >>", "2: lbp has no 'ap_drp'; did you mean 'ap_drop'?"),
        ("<< r('lbp', 'ap_drop') >>", "1: lbp has 2 rows with comparison='ap_drop'; choose a test: pearson, spearman"),
        ("<< r('lbp', 'bias') >>", "1: lbp: estimate is empty for comparison='bias' (one arm has no variance)"),
        ("<< r('lbp', 'bias').estimte >>", "1: lbp has no column 'estimte'; did you mean 'estimate'?"),
        ("<< r('claims', 'slope') >>", "1: claims has no estimate (no column estimate, difference, rho, value)"),
        ("<< use('lbp', tst='x') >>", "1: lbp has no column 'tst'; did you mean 'test'?"),
        ("<< use('lbp', test='pearsn')('bias') >>", "1: lbp has no test 'pearsn'; did you mean 'pearson'?"),
        ("<< mark('slop') >>", "1: no claim 'slop'; did you mean 'slope'?"),
        ("<< 3 | span >>", "1: `| span` takes two numbers"),
    ],
)
def test_errors_of_short_calls_suggest_the_nearest_name(body: str, expected: str) -> None:
    assert refusal(body).startswith(f"{FILE}:{expected}")


def test_value_found_in_two_columns_is_refused_as_ambiguous() -> None:
    frame = pd.DataFrame({"first": ["rope", "drope"], "second": ["drope", "rope"], "value": [1.0, 2.0]})
    with pytest.raises(SpecError, match=r"arms has 'rope' in 2 columns: write first='rope' or second='rope'"):
        chapter.render("<< r('arms', 'rope') >>", FILE, {"arms": frame})
    assert chapter.render("<< r('arms', first='rope').bare | fixed(0) >>", FILE, {"arms": frame}).startswith("1\n")


ESCAPES = [
    "<% for c in ''.__class__.__mro__[1].__subclasses__() %>x<% endfor %>", "<< n.__globals__ >>",
    "<< claim.__globals__['x'] >>", "<< ''['__class__'] >>", "<< ('a' | attr('__class__')).mro() >>",
    "<< '{0.__class__.__mro__}'.format(1) >>",
]  # fmt: skip


@pytest.mark.parametrize("body", ESCAPES)
def test_template_cannot_access_anything_beyond_its_context(body: str) -> None:
    assert refusal(body).startswith(f"{FILE}:1: not allowed in a chapter: ")


def test_macro_returns_its_text_and_escapes_data_once():
    body = (
        "<% macro found(name) %>$r$ of << n('lbp', comparison=name, test='pearson', value='estimate') | fixed(2) >>, "
        "<< n('lbp', comparison='bias', value='reason') >> & more<% endmacro %><< found('ap_drop') >>."
    )
    assert render(body) == "$r$ of $-$0.88, one arm has no variance & more."
    assert "50\\%" in render(
        "<% macro said() %><< n('claims', claim='dip', value='statement') >><% endmacro %><< said() >>"
    )


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("<% for i in range(10**9) %>x<% endfor %>", "'range' is undefined"),
        ("<< 'x' * 10**10 >>", "a product of more than 1,000,000 characters or items"),
        ("<< (10**9 * [0]) | length >>", "a product of more than 1,000,000 characters or items"),
        ("<< 7**(10**9) >>", "a power of more than 10,000 bits"),
        ("<< '%1000000000d' % 1 >>", "a format whose width has four digits or more"),
        ("<< 'x'.ljust(10**10) >>", "this would use too much memory"),
        ("<< '{:>9999999999}'.format(1) >>", "this would use too much memory"),
        ("<< 'x' | center(10**10) >>", "this would use too much memory"),
        ("<< ['x'] | batch(10**10, 'x') | list >>", "this would use too much memory"),
        (
            "<% macro f(t, n) %><% if n %><< f(t ~ t, n - 1) >><% endif %><% endmacro %><< f('x', 40) >>",
            "this would use too much memory",
        ),
        (
            "<% macro f(t, n) %><% if n %><< f(t + t, n - 1) >><% endif %><% endmacro %><< f(['x'], 40) >>",
            "this would use too much memory",
        ),
        ("<% macro f() %><< f() >><% endmacro %><< f() >>", "a macro calls itself endlessly"),
        ("<% include '../../secret' %>", "includes '../../secret'; a chapter must not include files"),
        ("<% include '/etc/passwd' %>", "includes '/etc/passwd'; a chapter must not include files"),
        ("<% import 'other.tex.j2' as other %>", "includes 'other.tex.j2'"),
        ("<% extends 'other.tex.j2' %>", "includes 'other.tex.j2'"),
    ],
)
def test_template_that_would_fill_memory_or_read_files_is_refused_with_its_line(body: str, words: str) -> None:
    message = refusal(f"One.\n{body}\n")
    assert message.startswith(f"{FILE}:2: ")
    assert words in message


def test_endless_template_is_stopped_with_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chapter, "SECONDS", 0.3)
    loops = "<% for i in 'x' * 90000 %><% for j in 'x' * 90000 %><% endfor %><% endfor %>"
    assert refusal(f"One.\n{loops}") == f"{FILE}:2: takes more than 0.3 s; a loop in it is endless or much too long"
    assert render("<< 7 >>") == "7"


def test_ordinary_operators_work_in_expressions() -> None:
    assert render("<< 3 * 4 >> << 2**10 >> << 'ab' * 3 >> << '%s: %5.1f' % ('a', 2.5) >> << 7 % 4 >>") == (
        "12 1,024 ababab a:   2.5 3"
    )
