"""Students of the second distillation, by queries at one position: means, intervals, and claims in both directions."""

import numpy as np
import pandas as pd
import pytest

from analysis.claims.thesis.pretrained.distillation import thesis_distil_again, thesis_distil_exchange
from analysis.studies.pretrained.distilled_exchange import distillation_again, distilled_exchange
from analysis.studies.pretrained.exchange import QUANTITIES
from boundpaper.errors import DataError
from boundpaper.tables.render import render
from tables.pretrained import distilled_exchange as exchange_table

MODELS = {"mine": "pretrained", "mine-bare": "control", "mine-x": "own again", "mine-y": "own again"}
SUBJECTS = pd.DataFrame({"model": [*MODELS, "mine-a", "mine-b"], "role": [*MODELS.values(), "own", "own"]}).assign(
    pair=["", *["mine"] * 5], side=["", "drope", "drope", "rope", "drope", "rope"]
)


def exchange_rows(plasticity=0.1, linear=-0.2, spread=1.0, left_out=""):
    """Return rows of eight heads on four key heads; `plasticity` and `linear` shift the student without rotation."""
    rows = []
    for model in MODELS:
        for head in range(8):
            jitter = spread * (head // 2 - 1.5) / 1000 if model == "mine-x" else 0.0
            shift = {"plasticity": plasticity + jitter, "linear_share": linear + jitter} if model == "mine-x" else {}
            for low in (1024, 3072):
                labels = {"model": model, "layer": 0, "head": head, "key_head": head // 2, "low": low}
                values = {name: 0.5 + head / 100 + shift.get(name, 0.0) for name in QUANTITIES}
                rows += [labels | {"apart_low": 0, "apart_high": 4096} | values]
                rows += [labels | {"apart_low": 0, "apart_high": 256} | dict.fromkeys(QUANTITIES, 9.0)]
    frame = pd.DataFrame(rows)
    return frame[frame["model"] != left_out]


def verdicts(**changes):
    return {
        each.key: each.verdict
        for each in thesis_distil_exchange(distilled_exchange(exchange_rows(**changes), SUBJECTS))
    }


def test_students_are_compared_over_key_heads_and_all_pairs():
    result = distilled_exchange(exchange_rows(), SUBJECTS)
    row = result[(result["quantity"] == "plasticity") & (result["from_token"] == 3072)].iloc[0]
    assert row["teacher"] == pytest.approx(0.535)
    assert row[["nope", "continued", "difference"]].tolist() == pytest.approx([0.635, 0.535, 0.1])
    units = np.array([-1.5, -0.5, 0.5, 1.5]) / 1000
    half_width = 3.182446 * units.std(ddof=1) / 2  # Student's t for three degrees of freedom
    assert [row["low"], row["high"]] == pytest.approx([0.1 - half_width, 0.1 + half_width], abs=1e-8)
    assert row["key_heads"] == 4


def test_a_model_without_rows_is_an_error():
    with pytest.raises(DataError, match="pretrained_exchange has no rows of mine, untouched"):
        distilled_exchange(exchange_rows(left_out="mine-bare"), SUBJECTS)


def test_no_interval_is_given_where_key_heads_agree_exactly():
    result = distilled_exchange(exchange_rows(spread=0.0), SUBJECTS)
    assert result["low"].isna().all()
    assert set(result["note"]) == {"low, high: one key head, or several that agree exactly"}
    assert not list(thesis_distil_exchange(result))


@pytest.mark.parametrize(
    ("changes", "more", "same", "share"),
    [
        ({}, "holds", "contradicted", "holds"),
        ({"plasticity": -0.1, "linear": 0.2}, "contradicted", "contradicted", "contradicted"),
        ({"plasticity": 0.01, "linear": -0.001}, "holds", "holds", "not significant"),
        ({"plasticity": 0.001}, "not significant", "holds", "holds"),
        ({"plasticity": 0.05, "spread": 30.0}, "not significant", "not supported", "holds"),
    ],
)
def test_statements_on_students_can_fail(changes, more, same, share):
    judged = verdicts(**changes)
    for low in (1024, 3072):
        assert judged.pop(f"mine_plasticity_{low}_more") == more
        assert judged.pop(f"mine_plasticity_{low}_same") == same
        assert judged.pop(f"mine_linear_share_{low}") == share
    assert not judged


def curves(divergence, step=80):
    """Return final divergences: .2 and .3 in the first training, `divergence` and .3 in the second training."""
    rows = []
    for model, text, value in (("a", "t", 0.2), ("b", "t", 0.3), ("x", "t", divergence), ("y", "t", 0.3)):
        last = step if model in "xy" else 80
        labels = {"model": f"mine-{model}", "metric": "kl", "text": text}
        rows += [labels | {"step": 0, "of": last, "value": 9.0}, labels | {"step": last, "of": last, "value": value}]
    return pd.DataFrame(rows)


@pytest.mark.parametrize(("divergence", "verdict"), [(0.249, "holds"), (0.151, "holds"), (0.26, "contradicted")])
def test_second_training_may_replace_the_first_within_the_margin(divergence, verdict):
    result = distillation_again(curves(divergence), SUBJECTS)
    assert result["difference"].tolist() == pytest.approx([divergence - 0.2, 0.0])
    verdicts = {each.key: each.verdict for each in thesis_distil_again(result)}
    assert verdicts == {"mine_nope": verdict, "mine_continued": "holds"}


def test_trainings_that_end_at_different_steps_are_an_error():
    with pytest.raises(DataError, match="trainings must end at equal steps"):
        distillation_again(curves(0.2, step=40), SUBJECTS)


def test_the_table_has_a_column_for_each_model_and_the_interval():
    text = render(exchange_table.table(distilled_exchange(exchange_rows(), SUBJECTS)), "distilled_exchange")
    assert all(cell in text for cell in ("Linear share", "Removed", "trained on", "0.100"))
