"""Style rules of exhibits, checked on every table and figure of the thesis and on small examples."""

import re
from itertools import pairwise

import pandas as pd
import pytest

import boundpaper.figures.view as view_of
from boundpaper.errors import DataError, SpecError
from boundpaper.figures import Axis, Bars, Bundle, Figure, Heatmap, Line, Panel, Points, Rule, Shade
from boundpaper.figures.layout import lay_out
from boundpaper.figures.legend import make_legend
from boundpaper.figures.render import TEMPLATES, tex
from boundpaper.paper import lint, metadata
from boundpaper.store.paper_vocabulary import metric_names
from boundpaper.store.paper_vocabulary import read as vocabulary
from boundpaper.tables import Column, Table, fixed, integer, printed, sentences
from boundpaper.tables.layout import has_row_space, separators
from boundpaper.tables.read import read
from boundpaper.tables.render import render
from boundpaper.typeset.wording import readable_text
from claims_memory import exhibit_job, graph
from conftest import ROOT
from exhibit_lint import constant_columns, faults, figure_texts, table_texts
from tables._house import estimator_phrase

GRAPH = graph()
SUPPLEMENT = set(metadata.read(ROOT).supplement)
TABLES = sorted(step.name for step in GRAPH.steps.values() if step.kind.name == "table")
FIGURES = sorted(step.name for step in GRAPH.steps.values() if step.kind.name == "figure")


def panel(*series, **options):
    return Figure(panels=[Panel(series=series, **options)], caption="A caption.", width=80, height=40)


# --- every exhibit of the thesis


@pytest.mark.parametrize("name", TABLES)
def test_every_table_follows_the_house_rules(name, built_project):
    grid = read(exhibit_job(built_project, "table", name).call(), name)
    problems = [f"{place}: {fault}" for place, text in table_texts(grid) for fault in faults(text)]
    assert not problems, "\n".join(problems)
    assert name in SUPPLEMENT or not constant_columns(grid), "columns with a single value"
    spaces = [row for row, before in enumerate(separators(grid)) if "space" in before]
    if not has_row_space(grid):
        assert all(grid.blocks[row] != grid.blocks[row - 1] for row in spaces), "a space marks the end of a group"


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_follows_the_house_rules(name, built_project):
    figure = exhibit_job(built_project, "figure", name).call()
    problems = [f"{place}: {fault}" for place, text in figure_texts(figure) for fault in faults(text)]
    assert not problems, "\n".join(problems)
    source = tex(figure, name)
    assert not [line for line in source.splitlines() if r"\,\%" in line or (r"\node" in line and r"\," in line)]
    if not figure.panels:
        return
    pictures = [entry.picture for row in make_legend(figure, name).rows for entry in row]
    assert len(pictures) == len(set(pictures)), "two legend entries look alike"
    page = lay_out(figure, name, 0.0)
    for placed in page.panels:
        named = sum(bool(getattr(item.series, "direct", "")) for item in placed.panel.series)
        assert named <= 4 or name in SUPPLEMENT, f"'{placed.title}': names at its edge cannot be told apart"
        numbers = [a for a in "xy" if not placed.panel.names[a] and not isinstance(placed.panel.axis(a).ticks, dict)]
        assert all(len(getattr(placed, a).ticks) > 2 for a in numbers), f"'{placed.title}' has fewer than three ticks"
        shades = view_of._panel_view(placed, "")["shades"]
        for shade, box in zip(placed.panel.panel.shades, shades, strict=True):
            scale, along = (placed.x, 0) if shade.axis == "x" else (placed.y, 1)
            for end, limit, corner in ((shade.low, scale.low, "a"), (shade.high, scale.high, "b")):
                value = limit if end is None else placed.panel.position(end, shade.axis)
                assert float(box[corner][along]) == pytest.approx(scale.mm(value) / scale.length, abs=1e-4)


def test_every_exhibit_is_referenced_and_percent_signs_follow_numbers():
    chapters = {path.name: path.read_text() for path in sorted((ROOT / "paper/chapters").glob("*.tex.j2"))}
    assert chapters
    findings = [
        *lint.find_uncalled_exhibits(chapters),
        *(item for name, text in chapters.items() for item in lint.find_spaced_percents(text, name)),
    ]
    assert not findings, "\n".join(map(str, findings))


# --- figures


def test_shaded_range_ends_at_its_stated_value_and_limits_may_not_cut_it():
    bars, shade = Bars(x=["a", "b"], y=[17.0, 40.0], entity="rope"), Shade(low=14.0, high=22.0, axis="y")
    shaded = panel(bars, shades=[shade], y=Axis(low=0, high=60))
    band = view_of.figure_view(shaded, "t")["page"]["panels"][0]["shades"][0]
    assert (band["a"][1], band["b"][1]) == ("0.2333", "0.3667"), "the shade starts at its lower end, not at the axis"
    trained = panel(Line(x=[1.0, 2.0], y=[0.0, 1.0]), shades=[Shade(low=None, high=4.0)], x=Axis(low=0.5, high=8.0))
    shade_box = view_of.figure_view(trained, "t")["page"]["panels"][0]["shades"][0]
    assert float(shade_box["a"][0]) == 0.0
    assert float(shade_box["b"][0]) == pytest.approx(3.5 / 7.5, abs=1e-4), "ends at 4, not at the border"
    free = lay_out(panel(Line(x=[0, 1], y=[0, 1]), shades=[Shade(low=-0.5, high=3.0)]), "t", 0.0).panels[0].x
    assert free.low <= -0.5
    assert free.high >= 3.0
    with pytest.raises(SpecError, match=r"shaded range 0 to 3 exceeds the given limits of axis x, 0 to 2"):
        tex(panel(Line(x=[0, 1], y=[0, 1]), shades=[Shade(low=0, high=3)], x=Axis(low=0, high=2)), "t")


def test_rules_are_drawn_over_heat_maps_and_under_other_data_in_a_fixed_order():
    rules = [Rule(at=1, axis="x", dash="solid")]
    cells = tex(panel(Heatmap(values=[[1.0, 2.0], [3.0, 4.0]]), rules=rules), "t")
    assert cells.rindex(r"\draw[okgrey, solid") > cells.index("matrix plot*")
    lines = tex(panel(Line(x=[0, 2], y=[0, 1]), rules=rules), "t")
    assert lines.rindex(r"\draw[okgrey, solid") < lines.index(r"\addplot[")
    axis = (TEMPLATES / "axis.tex.j2").read_text()
    places = [axis.index(f"in axes.{what}") for what in ("guides", "shades", "rules", "plots", "leaders", "texts")]
    assert all(a < b for a, b in pairwise(places))


def test_legend_refuses_equal_styles_of_two_names_and_two_styles_of_one():
    first = Panel(series=[Line(x=[0, 1], y=[0, 1], label="loss"), Line(x=[0, 1], y=[1, 0], label="answers")])
    second = Panel(series=[Line(x=[0, 1], y=[0, 1], label="cities")])
    with pytest.raises(SpecError, match="the legend's 'loss' and 'cities' look the same"):
        tex(Figure(panels=[first, second], caption="A caption."), "t")
    repeated = [Line(x=[0, 1], y=[0, 1], label="a"), Line(x=[0, 1], y=[1, 0], label="a")]
    with pytest.raises(SpecError, match="legend entry 'a' has two styles"):
        tex(panel(*repeated, Line(x=[0, 1], y=[1, 2], label="b")), "t")


def test_dashes_distinguish_series_only():
    lines = [[0.0, 1.0], [1.0, 2.0], [2.0, 2.5]]
    source = tex(panel(Bundle(x=[0, 1], lines=lines, entity="rope")), "t")
    assert "dashed" not in source.partition(r"\csname endofdump\endcsname")[2]
    source_of_two = tex(panel(*(Bundle(x=[0, 1], lines=lines, entity=entity) for entity in ("rope", "drope"))), "t")
    plot_lines = source_of_two.partition(r"\csname endofdump\endcsname")[2].splitlines()
    assert sum("dashed" in line for line in plot_lines) == 2, "the legend entry and the mean"
    assert any(line.startswith(r"\addplot") and "dashed, line width=1.2pt" in line for line in plot_lines)
    pair = [Line(x=[0, 1], y=[0, 1], entity=entity) for entity in ("rope", "drope")]
    with pytest.raises(SpecError, match=r"the line at 0\.5 looks like a series, since both are dashed"):
        tex(panel(*pair, rules=[Rule(at=0.5)]), "t")
    for rule in (Rule(at=0.5, label="chance"), Rule(at=0.5, dash="solid")):
        assert "okgrey" in tex(panel(*pair, rules=[rule]), "t")
    assert "okgrey, dashed" in tex(panel(pair[0], rules=[Rule(at=0.5)]), "t")


def test_bars_without_zero_baseline_are_drawn_as_points():
    def source(**axis):
        bars = [Bars(x=["a", "b"], y=[50.0, 500.0], entity=entity) for entity in ("rope", "drope")]
        return tex(panel(*bars, y=Axis(label="norm", **axis)), "t").partition(r"\csname endofdump\endcsname")[2]

    assert "ybar" in source()
    assert "ybar" in source(scale="log", low=1), "the logarithm of a perplexity is a loss, which starts at zero"
    marks = source(scale="log")
    assert "ybar" not in marks
    assert marks.count("only marks") == 2
    assert marks.count(r"\path plot[mark=") == 2, "the legend also shows marks"


def test_labels_at_points_and_rules_do_not_overlap_lines():
    named = tex(panel(Points(x=[0.0, 1.0], y=[0.0, 1.0], labels=["A", "B"])), "t")
    assert named.count("fill=white, fill opacity=0.75") == 2
    crossed = tex(panel(Bars(x=["a"], y=[49.0], values=True, entity="rope"), rules=[Rule(at=50)]), "t")
    assert "fill=white, inner sep=0.8pt] at" in crossed
    short = tex(panel(Line(x=[0, 3.7], y=[0, 1], direct="a"), x=Axis(low=0, high=4)), "t")
    assert "line width=0.35pt] (axis description cs:" in short, "the line's end is connected to its label"


def test_every_small_model_is_drawn_with_its_interval_where_its_probe_is_read(built_project):
    frame = pd.read_csv(built_project / "artifacts/results/anchoring_curves.csv")
    rows = frame[(frame["split"] == "layer") & (frame["group"] == "question") & (frame["n"] > 0)]
    curves = exhibit_job(built_project, "figure", "delta_p").call().panels[0].series
    named_curves = [curve for curve in curves if curve.label[1:2] == ":"]
    for entity, name in {"A": "tiny-rope", "B": "tiny-continued", "C": "tiny-drope"}.items():
        for above, layers in rows[rows["model"] == name].sort_values("layer").groupby("above_chance"):
            kind = Line if above else Points
            (series,) = (curve for curve in named_curves if curve.entity == entity and isinstance(curve, kind))
            assert list(series.y) == pytest.approx(list(layers["delta_p"]))
            if isinstance(series, Line):
                assert list(series.low) == pytest.approx(list(layers["delta_p_low"]))


# --- tables

ROWS = pd.DataFrame({"part": list("aabbbcc"), "name": list("pqrstuv"), "x": [1.0, 20.5, 3.0, 4.0, 5.0, 6.0, 7.0]})


def test_space_between_row_groups_follows_a_column_not_a_count():
    def spaces(**options):
        columns = [Column("name", "Name"), Column("x", "X", fixed(1))]
        grid = read(Table(rows=ROWS, columns=columns, caption="x", **options), "t")
        return [row for row, before in enumerate(separators(grid)) if "space" in before]

    assert spaces() == []
    assert spaces(space="part") == [2, 5]
    assert spaces(space="name") == [], "groups of one row need no space"
    assert spaces(space=1) == [1, 2, 3, 4, 5, 6]
    with pytest.raises(SpecError, match="space must be 1"):
        spaces(space=4)
    columns = [Column("part", "Part", repeat=False), Column("x", "X", fixed(1))]
    shown = render(Table(rows=ROWS, columns=columns, caption="x"), "t")
    assert shown.count(r"\addlinespace") == 2
    assert "\\addlinespace\nb & " in shown


def test_footnote_marks_and_intervals_follow_their_number_and_reserve_room():
    rows = pd.DataFrame({"name": ["p", "q"], "x": [1.0, 2.0], "p": [0.0001, 0.5], "m": ["why", ""]})
    columns = [Column("name", "Name"), Column("x", "X", fixed(1), p="p", mark="m")]
    shown = render(Table(rows=rows, columns=columns, caption="x", marks={"why": "w"}), "t")
    assert r"2.0\phantom{\textsuperscript{${*}{*}{*}$a}}" in shown
    assert r"\tnote" not in shown, "it has no width in a table, so its phantom reserves none"
    rows = pd.DataFrame({"name": ["p", "q"], "x": [1.0, 2.0], "sd": [0.5, None], "why": ["", "not told"]})
    columns = [Column("name", "Name"), Column("x", "X", fixed(1), uncertainty="sd", reason="why")]
    shown = render(Table(rows=rows, columns=columns, caption="x"), "t")
    assert r"2.0\rlap{\textsuperscript{a}}\phantom" in shown
    rows = pd.DataFrame({"name": ["p", "q"], "x": [0.0, 99.0], "low": [0.0, 96.0], "high": [2.0, 100.0]})
    columns = [Column("name", "Name"), Column("x", "X", integer(), ci=("low", "high"))]
    shown = render(Table(rows=rows, columns=columns, caption="x"), "t")
    assert "0~[0, 2]\\phantom" in shown
    assert "99~[96, 100]" in shown


def test_numbers_align_only_with_those_of_the_same_unit():
    rows = pd.DataFrame({"name": ["p", "q", "r"], "x": ["982.15", "23", "1,024"], "unit": ["norm", "layer", "norm"]})
    columns = [Column("name", "Name"), Column("x", "X", printed())]
    shown = render(Table(rows=rows, columns=columns, caption="x", units="unit"), "t")
    assert r"q & 23 \\" in shown, "a layer number needs no space for decimals"
    assert r"r & 1,024\phantom{.00} \\" in shown
    with pytest.raises(SpecError, match="absent"):
        render(Table(rows=rows, columns=columns, caption="x", units="absent"), "t")


def test_text_cells_are_kept_and_numbers_in_sentences_are_typeset():
    rows = pd.DataFrame({"command": ["run --seeds 1-4 --at -1 5 %"], "words": ["1-4, -1, 5 %"]})
    columns = [Column("command", "Command"), Column("words", "Words", sentences)]
    shown = render(Table(rows=rows, columns=columns, caption="x"), "t", "html")
    assert "run --seeds 1-4 --at -1 5 %" in shown
    assert "1–4, −1, 5%" in shown


def test_notes_of_a_long_table_follow_the_table():
    table = Table(rows=ROWS, columns=[Column("name", "Name")], caption="x", note="A note.", long=True)
    shown = render(table, "t")
    last_foot = shown[shown.index(r"\endfoot") : shown.index(r"\endlastfoot")]
    assert last_foot.split() == [r"\endfoot", r"\bottomrule"]
    assert shown.index("A note.") > shown.index(r"\end{longtable}")


# --- texts and the ledger


def test_ledger_text_is_readable():
    names = {"llama3.2-1b": "Llama-3.2-1B", "qwen3-0.6b": "Qwen3-0.6B", **metric_names(vocabulary(ROOT))}
    text = "recovery_level of llama3.2-1b and qwen3-06b; ap_drop in runs/llama3.2-1b_x.csv, llama3.2-1b-s1"
    assert readable_text(text, names) == (
        "recovery level of Llama-3.2-1B and Qwen3-0.6B; plasticity drop in runs/llama3.2-1b_x.csv, llama3.2-1b-s1"
    )


def test_every_estimator_has_a_description():
    assert estimator_phrase("bucket_full", "earlier").endswith("as captured, pairs of keys before the query")
    assert "turned to one position" in estimator_phrase("aligned_full", "earlier")
    with pytest.raises(DataError, match=r"no words for the estimator 'guess': add them to paper/vocabulary.yaml"):
        estimator_phrase("guess", "earlier")


def test_printed_ledger_lists_failing_claims_by_severity(built_project):
    ledger = pd.read_csv(built_project / "artifacts/results/claims.csv", dtype=str)
    hypotheses = set(pd.read_csv(built_project / "artifacts/results/hypotheses.csv")["claim"])
    failing = ledger[ledger["verdict"].isin(["contradicted", "not supported"]) & (ledger["source"] != "thesis")]
    for name, severity in (("claims_failures", "headline"), ("claims_further", "supporting")):
        expected = failing[(failing["kind"] == "statement") & (failing["severity"] == severity)]
        table = exhibit_job(built_project, "table", name).call()
        assert set(table.rows["claim"]) == set(expected["claim"]) - hypotheses
        assert table.rows["part"].nunique() == expected.loc[~expected["claim"].isin(hypotheses), "failure"].nunique()
        words = [cell.words for row in read(table, name).rows for cell in row]
        assert not [word for word in words if re.search(r"\bc00\d_", word)], "a function name"


def test_row_with_a_verdict_shows_the_page_of_its_mark():
    rows = ROWS.assign(entry=[f"claim:{name}" for name in ROWS["name"]])
    columns = [Column("name", "Name"), Column("part", "Part")]
    shown = render(Table(rows=rows, columns=columns, caption="x", entry="entry"), "t")
    assert r"\pressentry{claim:p}\siterow{p}{p} & a\verdictpage{p} \\" in shown
    assert "verdictpage" not in render(Table(rows=rows, columns=columns, caption="x"), "t")


def test_ledger_refers_to_statements_by_their_place():
    from tables.ledger._failing import measured_text, place_links, values

    places = {"c004_pat_head_classes.DroPE-sink_heads": "8.3 Results"}
    text = "Repeats c004_pat_head_classes.DroPE-sink_heads: not testable."
    assert place_links(text, places) == "Repeats what is judged at 8.3 Results: not testable."
    cells = [("80.3775", "68.8%", "80.38%"), ("0.72514", "", "0.725"), ("12 of 20", "", "12 of 20")]
    cells += [("1251.6", "1249×", "1251.6×"), ("202.0", "200x", "202.0×"), ("34", "~37", "34")]
    assert [measured_text(*cell[:2]) for cell in cells] == [shown for *_, shown in cells]
    without, with_reported = ({"reported": printed, "recomputed": "64.2857"} for printed in ("", "60%"))
    assert (values(without), values(with_reported)) == ("", "60%; 64.29%"), (
        "a number without a unit is printed in the reason"
    )


def test_package_hash_covers_all_tables_in_any_order():
    from tables.ledger.experiments import package_hash

    listed = pd.DataFrame({"file": ["sources/a.csv", "results/b.csv"], "hash": ["0f", "1e"]})
    assert package_hash(listed) == package_hash(listed[::-1]), "the order of the rows has no effect"
    assert package_hash(listed) != package_hash(listed.assign(hash=["0f", "1f"]))
    assert package_hash(listed) != package_hash(listed.assign(file=["sources/a.csv", "results/c.csv"]))
