"""Parts of the site: readable colours, graph edges, plotted data of a figure, escaped text."""

import re
import subprocess

import pandas as pd
import pytest
from markupsafe import Markup

from boundpaper.build.outline import Node, Outline
from boundpaper.errors import SpecError
from boundpaper.figures import Axis, Figure, Heatmap, Line, Panel
from boundpaper.paper.site.graph import embedded
from boundpaper.paper.site.grid import table_of_csv, table_of_frame
from boundpaper.paper.site.history import _summary_of_changes, histories, shallow_note
from boundpaper.paper.site.page import FOLDER, cell_text, page, typeset
from boundpaper.paper.site.plotted import plotted_rows
from boundpaper.paper.site.project import Chapter, _read_chapter, reader_text
from boundpaper.paper.site.works import cited_works, link_citations
from boundpaper.typeset import addresses
from boundpaper.typeset.words_of import words_of_html

AA = 4.5  # of text; WCAG 2.2, 1.4.3
AA_PARTS = 3.0  # for parts other than text, such as the focus ring; 1.4.11
VERDICTS = ("holds", "rounding", "insignificant", "unsupported", "contradicted", "untestable")
TEXTS = [(text, ground) for text in ("text", "soft", "link") for ground in ("page", "panel")]
TEXTS += [("text", "mark"), ("soft", "mark"), ("link", "mark"), *((f"{name}-fg", f"{name}-bg") for name in VERDICTS)]
PARTS = [("focus", "page"), ("focus", "panel"), ("soft", "page"), *(("focus", f"{name}-bg") for name in VERDICTS)]


def themes():
    css = (FOLDER / "site.css").read_text()
    light, dark = (
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block)) for block in re.findall(r":root \{(.*?)\}", css, re.S)
    )
    assert set(light) == set(dark)
    return {"light": light, "dark": dark}


def luminance(colour):
    channels = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first, second):
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_contrast_of_known_colour_pairs_is_correct():
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_colour_meets_wcag_contrast(theme):
    colours = themes()[theme]
    text_contrasts = {pair: round(contrast(colours[pair[0]], colours[pair[1]]), 2) for pair in TEXTS}
    assert {pair: value for pair, value in text_contrasts.items() if value < AA} == {}
    part_contrasts = {pair: round(contrast(colours[pair[0]], colours[pair[1]]), 2) for pair in PARTS}
    assert {pair: value for pair, value in part_contrasts.items() if value < AA_PARTS} == {}


def test_every_colour_of_the_style_sheet_is_a_named_one():
    css = (FOLDER / "site.css").read_text()
    rules = re.sub(r":root \{.*?\}", "", css, flags=re.S)
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b|rgba?\(|hsla?\(", rules) == []
    assert set(re.findall(r"var\(--([\w-]+)\)", rules)) == set(themes()["light"])


def node(key, *reads, makes=True):
    kind, _, name = key.partition(":")
    return Node(key, kind, name, f"{name}.py", 1, "", makes, reads)


def test_outline_is_walked_down_and_up_and_refuses_unknown_nodes():
    nodes = [node("source:a"), node("result:b", "a"), node("table:t", "b", makes=False), node("chapter:c", makes=False)]
    outline = Outline(nodes, {"chapter:c": ["table:t"]})
    assert outline.all_inputs("chapter:c") == ("table:t", "result:b", "source:a")
    assert outline.all_users("source:a") == ("result:b", "table:t", "chapter:c")
    assert outline.users["result:b"] == ("table:t",)
    with pytest.raises(SpecError, match=r"c\.py: chapter:c uses table:x, which does not exist"):
        Outline(nodes, {"chapter:c": ["table:x"]})


def test_addresses_are_url_safe():
    assert addresses.claim("c1.a b/ö#") == "ledger.html#c1.a%20b/%C3%B6%23"
    assert addresses.artifact("x y") == "artifact/x%20y.html"
    assert addresses.code("tables/a.py", 3) == "code/tables/a.py.html#L3"


def test_embedded_json_cannot_close_its_script_element():
    assert embedded({"</script>": ["&"]}) == Markup('{"\\u003c/script\\u003e":["\\u0026"]}')


def test_formulas_become_mathml_with_plain_text_alternatives():
    html = 'of <span class="math">\\(x &lt; y_1\\)</span> &amp; <em>more</em>'
    mathml = typeset(html)
    assert "<math" in mathml
    assert "&#x0003C;" in mathml
    assert "\\(" not in mathml
    assert words_of_html(html) == "of x < y_1 & more"
    assert words_of_html('<span class="math">\\(\\Delta P \\text{x}\\)</span>') == "Δ P text{x}"


def test_a_fault_in_a_template_names_the_page():
    with pytest.raises(SpecError, match=r"chapter\.html\.j2: .* \(page chapter/x\.html\)"):
        page("chapter.html.j2", "chapter/x.html", title="X")


def test_ledger_text_shows_display_names_and_keeps_claim_names():
    names, claims = {"llama3.1-8b": "Llama-3.1-8B"}, ["c004_pat.DroPE-sink_heads", "c004_pat"]
    sentence = "Repeats c004_pat.DroPE-sink_heads: holds. The recovery_level of llama3.1-8b, as c004_pat says."
    assert reader_text(sentence, names, claims) == (
        "Repeats c004_pat.DroPE-sink_heads: holds. The recovery level of Llama-3.1-8B, as c004_pat says."
    )


def test_cell_text_shortens_numbers_and_leaves_missing_ones_empty():
    assert [cell_text(value) for value in (None, float("nan"), -0.12345678, 3, "x")] == ["", "", "−0.123457", "3", "x"]


def test_plotted_rows_hold_every_point_of_a_figure():
    line = Line(x=[1, 2], y=[3.0, 4.0], label="one")
    other = Line(x=[1], y=[5.0], low=[4.0], high=[6.0], label="two")
    frame = plotted_rows(Figure(panels=[Panel(series=[line, other], x=Axis())], caption="C."))
    assert frame.to_dict("list")["series"] == ["one", "one", "two"]
    assert frame["y"].tolist() == [3.0, 4.0, 5.0]
    assert "panel" not in frame
    cells = plotted_rows(Figure(panels=[Panel(series=[Heatmap(values=[[1, 2], [3, 4]])])], caption="C."))
    assert cells[["row", "column", "values"]].values.tolist() == [[1, 1, 1], [1, 2, 2], [2, 1, 3], [2, 2, 4]]
    assert plotted_rows(Figure(body="\\draw;", caption="C.")).empty


def test_cut_grid_states_its_total_number_of_rows():
    grid = table_of_csv("name,value\na,1\nb,\nc,−2\n", most=2)
    assert (grid.rows, grid.total, grid.is_cut) == ((("a", "1"), ("b", "")), 3, True)
    assert grid.numeric == (False, False)
    assert table_of_csv("name,value\na,1\nb,2e-3\n").numeric == (False, True)
    frame = table_of_frame(pd.DataFrame({"n": [1.5, None], "t": ["x", ""]}), {"n": "the number"})
    assert (frame.rows, frame.titles, frame.numeric) == ((("1.5", "x"), ("", "")), ("the number", ""), (True, False))


def test_summary_of_no_changes_says_rounding_only():
    assert _summary_of_changes([]) == "no number by more than rounding"


def test_shallow_clone_reports_cut_history(tmp_path, monkeypatch):
    clone, table = tmp_path / "whole", tmp_path / "whole/artifacts/results/drop.csv"
    table.parent.mkdir(parents=True)

    def git(folder, *arguments):
        name = ("-c", "user.name=Nobody", "-c", "user.email=nobody@example.invalid")
        subprocess.run(["git", *name, *arguments], cwd=folder, check=True, capture_output=True)

    def subjects(folder):
        by_result = histories(folder)
        assert isinstance(by_result, dict)
        return [revision.subject for revision in by_result.get("drop", ())]

    git(clone, "init", "-q")
    for revision, value in enumerate((1.0, 2.0, 3.0)):
        table.write_text(f"model,drop\nreader,{value}\n")
        git(clone, "add", "-A")
        git(clone, "commit", "-qm", f"Revision {revision}")
    assert subjects(clone) == ["Revision 2", "Revision 1", "Revision 0"]
    assert shallow_note(clone) == ""
    monkeypatch.setattr("boundpaper.paper.site.history.MOST", 2)
    cut = histories(clone)
    assert isinstance(cut, dict)
    assert [(revision.subject, revision.earlier) for revision in cut["drop"]] == [("Revision 2", 0), ("Revision 1", 1)]
    for depth, left in ((1, []), (2, ["Revision 2"])):
        shallow = tmp_path / f"shallow-{depth}"
        git(tmp_path, "clone", "-q", "--depth", str(depth), clone.as_uri(), str(shallow))
        assert subjects(shallow) == left
        assert "git fetch --unshallow" in shallow_note(shallow)
    assert shallow_note(tmp_path / "nowhere") == ""


BIB = r"""
@article{two2020, author = {van der Berg, {\'E}mile and M{\"u}ller, B.}, title = {On {LLMs} <b>and</b> more},
  journal = {J}, year = {2020}, doi = {10.1/x}}
@misc{many2021, author = {Ada, A. and Bob, B. and Cid, C.}, title = {Many}, year = {2021}}
@misc{one2021, author = {Ada, A. and others}, title = {One}, year = {2021}}
@patent{house2019, author = {{A House}}, title = {Of a kind without a form}, year = {2019}}
"""


@pytest.mark.latex
def test_works_are_listed_as_cited(tmp_path):
    (tmp_path / "paper").mkdir()
    assert cited_works(tmp_path) == {}
    (tmp_path / "paper/references.bib").write_text(BIB)
    works = cited_works(tmp_path)
    assert {key: work.label for key, work in works.items()} == {
        "house2019": "A House, 2019",
        "many2021": "Ada et al., 2021a",
        "one2021": "Ada et al., 2021b",
        "two2020": "van der Berg and Müller, 2020",
    }
    assert "Émile van der Berg" in works["two2020"].html
    assert "On LLMs &lt;b&gt;and&lt;/b&gt; more" in works["two2020"].html
    assert '<a href="https://doi.org/10.1/x">' in works["two2020"].html
    citations = 'A <span class="citation">[two2020; gone]</span>, <span class="citation">[one2021, Table 2]</span>.'
    html, keys = link_citations(citations, works, "../")
    assert keys == ("two2020", "one2021")
    assert html.striptags() == "A (van der Berg and Müller, 2020; gone), (Ada et al., 2021b, Table 2)."
    assert 'href="../bibliography.html#one2021"' in html


@pytest.mark.parametrize("text", ["@misc{a, title = {never closed", "@article{a, year = {2020}}"])
def test_invalid_bibliography_is_reported(text, tmp_path):
    (tmp_path / "paper").mkdir()
    (tmp_path / "paper/references.bib").write_text(text)
    with pytest.raises(SpecError, match=r"paper/references\.bib:1: a: "):
        cited_works(tmp_path)


def test_chapter_of_the_site_lists_what_its_template_calls(tmp_path):
    text = (
        r"\chapter{On \emph{Beans}~now}" + "\nA << n('heights', value='h') >> and << r('tests', 'x') >>,"
        "<% set s = use('sizes') %> true<< mark('grows') >>, << claim('falls.one').phrase >> << mark('grows') >>"
        r" \citep[Table 2]{beans2026,peas2020}. << table('t') >> << figure('f') >>"
    )
    (tmp_path / "beans.tex.j2").write_text(text)
    node = Node("chapter:beans", "chapter", "beans", "beans.tex.j2", 1, "", False, ())
    chapter = _read_chapter(tmp_path, node)
    assert chapter == Chapter(
        "beans",
        "On Beans now",
        tables=("t",),
        figures=("f",),
        claims=("grows", "falls.one"),
        numbers=("heights", "tests", "sizes"),
        cites=("beans2026", "peas2020"),
    )
    assert chapter.uses == ("table:t", "figure:f", "claim:grows", "claim:falls")
