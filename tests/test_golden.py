"""Every table in LaTeX and Markdown, every figure's source, and the ledger equal their golden files.

`pytest tests/test_golden.py --update-golden` rewrites the golden files; add `-k NAME` for one exhibit.
"""

import pandas as pd
import pytest

from boundpaper.build.changes import at_revision, files_at
from boundpaper.store.canonical import agree
from claims_memory import exhibit_job, graph
from conftest import GOLDEN, ROOT
from frozen import MIN_RUN, PREAMBLE, frozen
from recompute import DUMPS

GRAPH = graph()
TABLES = sorted(step.name for step in GRAPH.steps.values() if step.kind.name == "table")
FIGURES = sorted(step.name for step in GRAPH.steps.values() if step.kind.name == "figure")


@pytest.mark.parametrize("name", [name for name in TABLES if name not in DUMPS])
def test_table_equals_its_golden_files(name, built_project, golden):
    from boundpaper.tables.render import render

    table = exhibit_job(built_project, "table", name).call()
    golden(f"tables/{name}.tex", render(table, name, "latex"))
    golden(f"tables/{name}.md", render(table, name, "markdown"))


def test_ledger_table_matches_its_golden_file(golden):
    """Long tables are compared on a small frame, so that a new verdict does not rewrite their golden files."""
    from boundpaper.tables.render import render
    from tables.ledger.claims_failures import table

    ledger = pd.DataFrame(
        {
            "claim": ["c000_one", "c000_two.rope", "c001_three", "c000_four"],
            "kind": "statement",
            "source": ["000", "000", "001", "thesis"],
            "section": ["4.4 Key Findings", "4.4 Key Findings", "Summary", "Own"],
            "statement": ["Three of four fall.", "Two fall.", "It is 12%.", "Ours."],
            "reported": ["3", "2", "12%", ""],
            "recomputed": ["2", "2", "14.2857", ""],
            "verdict": ["contradicted", "not supported", "contradicted", "contradicted"],
            "failure": ["reading", "unit", "number", "reading"],
            "severity": "headline",
            "reason": ["Two of qwen3-4b do.", "Two of qwen3-4b do.", "1 of 7.", "Ours."],
        }
    )
    names = pd.DataFrame({"model": ["qwen3-4b"], "display_name": ["Qwen3-4B"]})
    empty = pd.DataFrame({"claim": [], "checkpoint": [], "display_name": []})
    golden("tables/small_ledger.tex", render(table(ledger, empty, names, empty), "claims_failures", "latex"))


@pytest.mark.parametrize("name", FIGURES)
def test_figure_equals_its_golden_file(name, built_project, golden):
    from boundpaper.figures.render import float_tex, tex
    from boundpaper.figures.units import contradicted_unit

    job = exhibit_job(built_project, "figure", name)
    figure = job.call()
    assert contradicted_unit(built_project, job.artifacts, job.frames, figure) == ""
    golden(f"figures/{name}.tex", frozen(tex(figure, name)))
    golden(f"figures/{name}.float.tex", float_tex(figure, name))


def test_frozen_figure_changes_with_each_point_and_keeps_the_ends():
    points = [f"{index / 3:.6g} {-index}e-05" for index in range(40)]
    lines = ["\\addplot {", *points, "};", *points[:MIN_RUN], "end", *points[: MIN_RUN - 1], ""]
    text = PREAMBLE.read_text() + "\n".join(lines)
    shortened = frozen(text).splitlines()
    assert shortened[:2] + shortened[3:5] == ["\\addplot {", points[0], points[-1], "};"]
    assert shortened[2].startswith("% 38 more of this form: ")
    assert shortened[5:] == [points[0], shortened[6], points[MIN_RUN - 1], "end", *points[: MIN_RUN - 1]]
    for point in points[1:-1]:
        assert frozen(text.replace(point, point + "1")) != frozen(text)
    swapped = text.replace("\n".join(points[7:9]), "\n".join(points[8:6:-1]))
    assert swapped != text
    assert frozen(swapped) != frozen(text)


def test_a_figure_with_another_preamble_is_refused():
    with pytest.raises(AssertionError, match="does not begin with"):
        frozen("\\documentclass{standalone}\n")


def test_every_golden_file_has_its_exhibit():
    for folder, names in (("tables", TABLES), ("figures", FIGURES)):
        golden_names = {path.name.split(".")[0] for path in (GOLDEN / folder).glob("*")} - {"small_ledger"}
        assert golden_names <= set(names), f"remove the golden files of {sorted(golden_names - set(names))}"


def test_committed_results_agree_with_what_the_studies_compute(built_project):
    folder = "artifacts/results"
    committed = files_at(ROOT, "HEAD", folder, ".csv")
    assert committed == {path.stem for path in (built_project / folder).glob("*.csv")}
    for name in sorted(committed):
        old, new = at_revision(ROOT, "HEAD", f"{folder}/{name}.csv"), built_project / folder / f"{name}.csv"
        assert agree((old or "").encode(), new.read_bytes()), f"{name} differs from HEAD"
