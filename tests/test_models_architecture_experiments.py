"""The table of architectures by experiments is complete, and a sample of its cells can be recomputed."""

import csv
import os
import random
from pathlib import Path

import pytest

pytest.importorskip("torch")

import architecture_experiments as table
import architectures
from keyquery.experiments import head_ablation
from keyquery.measure.heads import captured
from keyquery.models.libraries import version

DOCS = Path(__file__).parents[1] / "docs"
TABLE, PAGE = (DOCS / table.PAGE.with_suffix(suffix).name for suffix in (".csv", ".md"))
CELLS = [table.Cell(**row) for row in csv.DictReader(TABLE.open(encoding="utf-8", newline=""))]
BUILT = sorted({cell.type for cell in CELLS if cell.outcome != table.NOT_BUILT})
SAMPLE = ["jamba", *random.Random(35).sample(BUILT, 2)]  # a hybrid and a draw
same_version = pytest.mark.skipif(
    f"transformers {version('transformers')}" not in PAGE.read_text(encoding="utf-8"),
    reason="the table was made with another version",
)
pytestmark = pytest.mark.models


@same_version
@pytest.mark.parametrize("kind", SAMPLE)
def test_cells_of_a_sampled_architecture_are_up_to_date(kind, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BOUNDPAPER_ROOT", raising=False)
    monkeypatch.setattr(captured, "DOCUMENTS", captured.DOCUMENTS)  # restores what the survey changes
    monkeypatch.setattr(head_ablation, "DRAWS", head_ablation.DRAWS)
    monkeypatch.setattr(os, "sched_getaffinity", lambda of: {0})  # analyses heads in this process
    assert list(table.cells(kind)) == [cell for cell in CELLS if cell.type == kind]


@same_version
def test_every_architecture_has_experiment_cells_or_is_listed_as_pending():
    kinds = {cell.type for cell in CELLS}
    measured = [kind for kind in architectures.types() if kind in kinds]
    assert [(cell.type, cell.experiment) for cell in CELLS] == [
        (kind, name) for kind in measured for name in table.NAMES
    ]
    pending = PAGE.read_text(encoding="utf-8").partition("## Not yet run")[2]
    assert [kind for kind in architectures.types() if kind not in kinds and f"`{kind}`" not in pending] == []


def test_a_cell_runs_or_is_refused_with_a_reason():
    assert [cell for cell in CELLS if cell.outcome not in (table.RUNS, table.REFUSED, table.NOT_BUILT)] == []
    assert [cell for cell in CELLS if bool(cell.reason) == (cell.outcome == table.RUNS)] == []


@same_version
def test_architecture_experiments_page_is_generated_from_the_cells():
    assert PAGE.read_text(encoding="utf-8") == table.page(CELLS)
