"""A printed number, cell or verdict is traced to the line of its source."""

import csv
import io
import json
import re
import shutil

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from boundpaper.paper import bound, chapter
from boundpaper.paper.trace.known import FILE
from boundpaper.paper.trace.numeral import EQUAL, ROUNDED, SAME, SearchedNumber, tokens
from boundpaper.store.parquet_file import pack_table
from boundpaper.store.table_file import rows, rows_with
from specimens import run

SAMPLE = "paper/chapters/sample.tex.j2"
FRAMES = {
    "drops": pd.DataFrame({"model": ["a", "b"], "drop": [0.935, -2.0], "count": [7, 12], "name": ["x_1", "y"]}),
    "claims": pd.DataFrame({"claim": ["falls"], "verdict": ["holds"], "p_value": [0.03]}),
}


@pytest.fixture(scope="module")
def paper(analysed, tmp_path_factory):
    return shutil.copytree(analysed, tmp_path_factory.mktemp("trace") / "paper")


def trace_output(root, *query):
    result = run(root, "trace", *query)
    assert result.returncode == 0, result.stderr
    return result.stdout


def refusal(root, *query):
    result = run(root, "trace", *query)
    assert (result.returncode, result.stdout) == (2, ""), result.stdout
    return result.stderr


def line_of(root, path, start):
    rows = (root / path).read_text().splitlines()
    return f"{path}:{1 + next(number for number, row in enumerate(rows) if row.startswith(start))}"


def test_trace_finds_a_number_wherever_it_is_printed(paper):
    trail = trace_output(paper, "39.5")
    lines = (paper / "paper/chapters/recall.tex.j2").read_text().splitlines()
    chapter_line = next(number for number, line in enumerate(lines) if "n('recall_drop', reader='reader-s'" in line)
    assert f"paper/chapters/recall.tex.j2:{chapter_line + 1}: 39.5 = recall_drop/reader=reader-s/drop" in trail
    assert "table:recall_loss/Reader-Small/drop: 39.5" in trail
    assert line_of(paper, "artifacts/sources/recall_stated.csv", "drop_small") + ": printed 39.5" in trail
    assert "claim:recall_drop_small: holds; reported 39.5" in trail
    assert trail.startswith("table:"), "numbers printed in exhibits come first"
    assert trail.index("table:") < trail.index("recall.tex.j2:") < trail.index("\nclaim:recall")
    below = trail.partition("recall.tex.j2:")[2].partition("\nclaim:")[0]
    assert "= artifacts/results/recall_drop.csv:2 drop '39.5'" in below
    assert "printed in recall, Recall by length, Table 2 [nobody2026]" in below


@pytest.mark.parametrize("query", ["39.5", "71.0", "88.4", "1"])
def test_trace_of_a_number_fits_a_page_and_is_complete_with_all(paper, query):
    short, full = trace_output(paper, query).splitlines(), trace_output(paper, query, "--all").splitlines()
    assert len(short) <= 45
    assert len(full) >= len(short)
    assert {line for line in short if not line.startswith("and ")} <= set(full)
    assert not [line for line in full if line.endswith("--all shows them")]


def test_a_cell_is_followed_to_the_line_of_its_source(paper):
    trail = trace_output(paper, "table:recall_lengths/reader-s/at_2048")
    place = line_of(paper, "artifacts/sources/recall_by_length.csv", "reader-s,2048")
    assert f"= {place} printed '71.0'" in trail
    assert "printed in recall" in trail.partition(place)[2]
    assert "recall_lengths.py:" in trail.partition(place)[0]


def test_trace_of_a_computed_cell_names_its_input_rows(paper):
    trail = trace_output(paper, "result:recall_drop/reader-s/drop")
    assert "python build.py analyze recall_drop" in trail
    assert "artifacts/sources/recall_by_length.csv:" in trail
    assert "computed from" in trail


def test_a_verdict_leads_to_its_function_and_its_data(paper):
    trail = trace_output(paper, "claim:recall_mean_large")
    assert trail.startswith("claim:recall_mean_large: contradicted; ")
    assert "judged by analysis/claims/" in trail
    assert "used in recall" in trail
    assert "artifacts/sources/recall_stated.csv" in trail


def test_trace_of_an_unknown_name_suggests_the_nearest(paper):
    nearest = refusal(paper, "table:recall_length/reader-s/at_2048").replace("table:", "")
    assert "did you mean recall_lengths" in nearest
    assert "reader-s" in refusal(paper, "table:recall_lengths/reader-z/at_2048")
    assert "at_2048" in refusal(paper, "table:recall_lengths/reader-s/at_204")
    assert "recall_mean_large" in refusal(paper, "claim:recall_mean_larg")
    assert "39.5 in table:recall_loss" in refusal(paper, "39.51")
    assert "recall_loss" in refusal(paper, "recall_los")


def test_numeral_fits_values_that_print_alike():
    numeral = SearchedNumber.read("0.935")
    assert numeral is not None
    assert [numeral.match_rank(text) for text in ("0.935", "0.9350", "0.93512", "0.9361", "words", "")] == [
        SAME, EQUAL, ROUNDED, 0, 0, 0,
    ]  # fmt: skip
    share = SearchedNumber.read("93.5%")
    assert share is not None
    assert share.match_rank("0.9352")
    assert not numeral.match_rank("93.5")
    assert tokens("$-$0.88 of 1,234 and 5 × 3") == ["-0.88", "1234", "5", "3"]


def test_cached_trace_is_reused_only_while_it_is_valid(paper, tmp_path):
    root = shutil.copytree(paper, tmp_path / "paper")
    shutil.rmtree(root / "out")
    searched = [("39.5", "--all"), ("71.0", "--all"), ("table:recall_lengths/reader-s/at_2048",)]
    first = [trace_output(root, *query) for query in searched]
    cached = json.loads((root / FILE).read_text())["value"]["values"]
    assert {key.partition(":")[0] for key in cached} == {"table", "chapter", "origins"}
    assert [trace_output(root, *query) for query in searched] == first
    source = root / "artifacts/sources/recall_by_length.csv"
    source.write_text(source.read_text().replace("71.0", "70.9"))
    assert "table:recall_lengths/Reader-Small/at_2048: 70.9" in trace_output(root, "70.9")
    schema = root / "artifacts/datapackage.yaml"
    origin = re.search(r"from (\w[^,\n]*)", trace_output(root, "table:recall_lengths"))
    assert origin
    first_line = trace_output(root, "table:recall_lengths").partition("\n")[0]
    assert first_line == "table:recall_lengths: Recall by length as printed."
    schema_text = schema.read_text()
    schema.write_text(schema_text.replace(origin[1], "Another Study"))
    assert "from Another Study" in trace_output(root, "table:recall_lengths")
    schema.write_text(schema_text)
    (root / FILE).write_text((root / FILE).read_text().replace("70.9", "70.8"))
    assert "70.8 was not found" in refusal(root, "70.8"), "a changed file is not trusted"


@pytest.mark.latex
def test_trace_is_the_same_before_and_after_a_build(paper, tmp_path):
    root = shutil.copytree(paper, tmp_path / "paper")
    assert run(root, "paper").returncode == 0
    assert (root / "out/bound/recall.json").is_file()
    for number in ("39.5", "71.0"):
        assert trace_output(root, number, "--all") == trace_output(paper, number, "--all")
    for key, (_, lines) in json.loads((paper / FILE).read_text())["value"]["values"].items():
        if (file := root / f"out/tables/{key.removeprefix('table:')}.tex").is_file():
            numbers = {token for _, shown in lines for text in shown.values() for token in tokens(text)}
            assert numbers
            assert all(SearchedNumber(number, 0, 0).may_be_in(file.read_text()) for number in numbers)


@pytest.mark.parametrize("number", ["1,234.5", "-0.88", "0.935", "1.2e-05", "93.5%"])
def test_table_is_skipped_only_when_the_digits_do_not_occur(number):
    numeral = SearchedNumber.read(number)
    assert numeral is not None
    assert numeral.may_be_in(rf"Reader & {number.replace(',', '{,}').replace('-', '$-$')}")
    assert not numeral.may_be_in("Reader & 7.7")


ODD_CELLS = [
    "0.935", "-0.935", "−0.935", "+0.935", "±0.935", "~0.935", "≈ 0.9351", "<0.935", "0.935*", ".935", "0.9350 ",
    "935", "9.35e-1", "935e-3", "93.5e-2", "9.35E-1", "0.00e0", "1e400", "5.e3", "93.5%", "93.51 %", "0.935%",
    "93.5 pp", "935K", "1,234", "1234", "1234.4", "1_234", "1,23", "1,234,567", "1.234K", "10⁻¹", "9.35×10⁻¹",
    "3 × 10⁴", "30000", "0,935", "0.93-0.94", "93-94%", "0.935 to 0.94", "0.935 of 1", "the 0.935", "word", "", "nan",
    "inf", "-inf", "NA", "True", "٠.٩٣٥", "0.93\n5", 'a "0.935"', "0.935,", "1e-300", "-0", "0", "0.0", "12345678.4",
    "9007199254740993", "€0.935",
]  # fmt: skip
QUERIES = [
    "0.935", "-0.935", "93.5%", "93.5", "0.94", "0", "1", "1234", "1,234", "1.2K", "30000", "935", "1e-300", "±5",
    "12345678",
]  # fmt: skip
NUMBERS = st.one_of(st.integers(-2000, 2000).map(str), st.floats(-2000, 2000).map(lambda value: f"{value:.4g}"))
CELLS = st.one_of(
    st.sampled_from(ODD_CELLS),
    NUMBERS,
    st.tuples(
        st.sampled_from(["", "-", "−", "+", "~", " "]), NUMBERS, st.sampled_from(["", "%", "K", " x", "*", "e2"])
    ).map("".join),
    st.text("0123456789.,e-+−%K± x", max_size=8),
)


@given(searched=st.one_of(st.sampled_from(QUERIES), NUMBERS), cell=CELLS)
@example(searched="93.5%", cell="0.935")
def test_prefilter_skips_no_cell_that_fits(searched, cell):
    numeral = SearchedNumber.read(searched)
    assert numeral is not None
    assert numeral.may_fit(cell) or not numeral.match_rank(cell)


def fitting(numbered_rows, numeral):
    """Return the row number, column, text and match rank of each cell that matches the numeral."""
    return [
        (number, column, text, fit)
        for number, cells in numbered_rows
        for column, text in cells.items()
        if column is not None and text and (fit := numeral.match_rank(text))
    ]


@pytest.mark.parametrize("searched", QUERIES)
def test_prefiltered_search_finds_the_same_cells_as_a_full_parse(tmp_path, searched):
    """The files are Parquet with text, numbers and booleans, and CSV that is empty, truncated or has blank lines."""
    numeral = SearchedNumber.read(searched)
    assert numeral is not None
    values = [0.935, 0.9351, -0.935, 93.52, 0.0, -0.0, 1e-300, 1.5e300, 1234.0, 1234.4, 12345678.0, 30000.0, 0.93549999]
    lines = [
        [str(number - 30), f"{values[number % 13]:.8g}" if number % 5 else "", str(number % 2 == 0), cell]
        for number, cell in enumerate([*ODD_CELLS, *ODD_CELLS[::-1]])
    ]
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([["whole", "value", "truth", "words"], *lines])
    (tmp_path / "typed.parquet").write_bytes(
        pack_table(text.getvalue(), {"whole": "integer", "value": "number", "truth": "boolean", "words": "string"})
    )
    broken = text.getvalue().replace("\n1,", "\n\n1,").replace("-3,", "0.935\n-3,") + "0.935,1,2,1234,935,1\n\n"
    (tmp_path / "broken.csv").write_text(broken, encoding="utf-8", newline="")
    (tmp_path / "empty.csv").write_text("")
    for name, fewer in (("typed.parquet", True), ("broken.csv", True), ("empty.csv", False)):
        path = tmp_path / name
        prefiltered = list(rows_with(path, numeral.may_fit, numeral.may_equal))
        assert fitting(prefiltered, numeral) == fitting(rows(path), numeral)
        assert (len(prefiltered) < len(list(rows(path)))) == fewer


def render_body(body):
    printed: list[dict] = []
    text = chapter.render(body, SAMPLE, FRAMES, printed)
    return text.removesuffix(f"\n% source: {SAMPLE}\n"), printed


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<< n('drops', model='a', value='drop') | fixed(2) >>", r"\numberof{drops}{0.94}"),
        ("<< (n('drops', model='a', value='drop') * 100) | fixed(1) >>", r"\numberof{drops}{93.5}"),
        ("<< (1 - n('drops', model='a', value='drop')) | fixed(3) >>", r"\numberof{drops}{0.065}"),
        ("<< (n('drops', model='b', value='count') * 0.5) | fixed(1) >>", r"\numberof{drops}{6.0}"),
        ("<< n('drops', model='a', value='count') >>", r"\numberof{drops}{7}"),
        ("<< n('drops', model='a', value='count') | words >>", r"\numberof{drops}{seven}"),
        ("<< n('drops', model='a', value='name') >>", r"\numberof{drops}{x\_1}"),
        ("<< (n('drops', model='b', value='drop'), 0.5) | interval(1) >>", r"\numberof{drops}{[$-$2.0, 0.5]}"),
        ("<< claim('falls').phrase >>", r"\verdictof{falls}{holds}"),
        (
            "<< claim('falls') >>: << claim('falls').p_value | pvalue >>",
            r"\verdictof{falls}{holds}: \verdictof{falls}{0.030}",
        ),
        ("<< table('x') >>", r"\exhibit{table/x}\input{tables/x}\ignorespaces"),
        ("<< figure('x') >>", r"\exhibit{figure/x}\input{figures/x.float}\ignorespaces"),
    ],
)
def test_bound_value_is_rendered_as_a_link(body, text):
    assert render_body(body)[0] == text


def test_each_printed_value_records_its_line_and_cell():
    _, printed = render_body("A.\n<% set low = n('drops', model='a', value='drop') %>\nB << low | fixed(3) >>.\n")
    origin = {"artifact": "drops", "column": "drop", "where": {"model": "a"}}
    assert printed == [{"line": 3, "shown": "0.935", "origins": [origin]}]


def test_arithmetic_of_two_cells_records_both():
    first, second = (bound.bound(value, [bound.origin("t", name, {})]) for value, name in ((3.0, "a"), (4, "b")))
    assert [origin.column for origin in bound.origins_of(first - second)] == ["a", "b"]
    assert [origin.column for origin in bound.origins_of(second / first)] == ["b", "a"]
    assert bound.origins_of(first > second) == ()
    assert repr(first) == "3.0"
