"""Anchoring measured on the small models that ship with the project."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from boundpaper.store.table_file import table_text
from conftest import ROOT
from keyquery.experiments import anchoring


def values(table: pd.DataFrame, condition: str, metric: str) -> np.ndarray:
    rows = table[(table["condition"] == condition) & (table["metric"] == metric)].sort_values("layer")
    assert len(rows), f"no {condition} {metric}"
    return rows["value"].to_numpy()


def committed() -> list[Path]:
    folder = ROOT / "artifacts/measurements/anchoring"
    return sorted(folder.glob("tiny-*.[cp]*"))


def test_every_shipped_model_is_measured() -> None:
    assert {"tiny-rope", "tiny-continued", "tiny-drope"} == {path.stem for path in committed()}


@pytest.mark.parametrize("path", committed(), ids=lambda path: path.stem)
def test_anchoring_of_shipped_models_is_as_expected_where_the_probe_is_reliable(path: Path) -> None:
    table = pd.read_csv(io.StringIO(table_text(path)))
    layers = np.flatnonzero(values(table, "planted/probe/question", "auroc_low") > 0.5)
    assert bool(len(layers)) == (path.stem != "tiny-drope")  # the chapter says that nothing is read at these layers
    for layer in layers:
        assert values(table, "planted/design/answer", "question_share")[layer] < 5
        assert values(table, "planted/design/question", "delta_p_high")[layer] < 0
        for kind in ("question", "answer"):
            assert abs(values(table, f"planted/design/{kind}", "filler")[layer]) < 2
    manifest = json.loads(path.with_suffix(".json").read_text())
    assert manifest["thresholds"]["probe_c"] == anchoring.STRENGTH
