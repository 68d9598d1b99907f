"""Dropped rotation against YaRN; the primary contrast without models that guess; and score losses in two units."""

import numpy as np
import pandas as pd
import pytest

from analysis.claims.thesis.benchmarks import thesis_decline_units
from analysis.claims.thesis.population import learning
from analysis.claims.thesis.population._judged import judge_both
from analysis.claims.thesis.population.contrasts import thesis_weights_shipped
from analysis.claims.thesis.population.yarn import thesis_population_yarn
from analysis.claims.thesis.training import thesis_drop_follows_window
from analysis.studies.benchmarks.decline_units import decline_units
from analysis.studies.population.yarn import population_yarn
from boundpaper.tables.render import render
from tables.benchmarks import decline_units as units_table
from tables.population import population_yarn as yarn_table


def outcomes(dropped, stretched, seeds=8, multiple=2.0):
    rows = []
    for seed in range(1, seeds + 1):
        common = {"base": 400, "seed": seed, "outcome": "keys_far_extended", "multiple": multiple}
        rows.append({**common, "arm": "C", "encoding": "own", "value": dropped + seed / 1000})
        rows.append({**common, "arm": "B", "encoding": "yarn", "value": stretched})
    return pd.DataFrame(rows)


def test_yarn_difference_is_by_seed_with_an_exact_test():
    row = population_yarn(outcomes(0.8, 0.5)).iloc[0]
    assert row["difference"] == pytest.approx(0.3 + 4.5 / 1000)
    assert row["p"] == pytest.approx(2 / 256)
    assert row[["seeds", "multiple", "encoding"]].tolist() == [8, 2.0, "own"]
    one = population_yarn(outcomes(0.8, 0.5, seeds=1)).iloc[0]
    assert pd.isna(one["low"])
    assert "no interval" in one["note"]
    assert population_yarn(outcomes(0.8, 0.5).query("arm == 'C'")).empty


@pytest.mark.parametrize(
    ("multiple", "dropped", "verdict"),
    [
        (2.0, 0.8, "holds"), (2.0, 0.2, "contradicted"), (4.0, 0.2, "holds"), (8.0, 0.8, "contradicted"),
        (8.0, 0.4955, "not significant"),
    ],
)  # fmt: skip
def test_order_is_judged_in_the_direction_of_each_length(multiple, dropped, verdict):
    (judgement,) = thesis_population_yarn(population_yarn(outcomes(dropped, 0.5, multiple=multiple)))
    assert judgement.verdict == verdict


def test_yarn_and_unit_tables_render():
    assert "B, YaRN" in render(yarn_table.table(population_yarn(outcomes(0.8, 0.5))), "yarn")
    assert "Points" in render(units_table.table(decline_units(*scored())), "units")


def scored(points=lambda drop: 40 * drop):
    """Return scores and drops of eight models, seven of them in the source; scores fall by `points(drop)` after 8K."""
    drops = np.array([0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4])
    names = [f"m{place}" for place in range(8)]
    models = pd.DataFrame({"model": names, "ap_drop": drops, "total_drop": -drops, "in_source": [True] * 7 + [False]})
    rows = [
        (mode, name, length, 40.0 if length == "8k" else 40.0 - points(drop))
        for mode in ("nonthinking", "thinking")
        for name, drop in zip(names, drops, strict=True)
        for length in ("8k", "64k", "128k", "256k")
    ]
    return pd.DataFrame(rows, columns=["mode", "model", "length", "lbp"]), models


def test_share_and_points_are_separate_losses():
    lengths, models = scored()
    proportional = decline_units(lengths, models)
    assert proportional["estimate"].min() == pytest.approx(1.0)
    scaled = lengths.assign(lbp=lengths["lbp"] * lengths["model"].map({f"m{place}": 8 - place for place in range(8)}))
    estimates = decline_units(scaled, models).query("mode == 'both'").set_index("unit")["estimate"]
    assert estimates["share"] == pytest.approx(1.0)
    assert estimates["points"] < 0.5


def test_claims_on_shares_and_points_change_with_their_tests():
    def table(share, points):
        rows = [("share", *share), ("points", *points)]
        return pd.DataFrame(rows, columns=["unit", "estimate", "p"]).assign(mode="both", n=8)

    def verdicts(*cells):
        return [verdict.verdict for verdict in thesis_decline_units(table(*cells))]

    assert verdicts((0.7, 0.01), (0.3, 0.4)) == ["holds", "not supported"]
    assert verdicts((0.7, 0.2), (0.9, 0.01)) == ["not supported", "holds"]
    assert verdicts((-0.7, 0.01), (0.3, 0.4)) == ["not supported", "not supported"]


def keys(guessing, seeds=8):
    """Return shares of right keys: far keys, with C 30 points above B, and near keys, which B guesses in some seeds."""
    rows = []
    for seed in range(1, seeds + 1):
        for arm in "BC":
            right = 0.4 if arm == "B" and seed in guessing else 0.9
            near = {"base": 400, "seed": seed, "arm": arm, "encoding": "own", "n": 500}
            rows.append({**near, "outcome": "keys_all", "multiple": 1.0, "value": right})
            for multiple in (2.0, 4.0, 8.0):
                far = 0.1 + (0.3 if arm == "C" else 0.0) + seed / 1000 * (arm == "C")
                rows.append({**near, "outcome": "keys_far", "multiple": multiple, "value": far})
    prompts = pd.DataFrame({"seed": range(1, seeds + 1), "multiple": 1.0, "keys": 2.5})
    return pd.DataFrame(rows), prompts


def test_seeds_with_a_guessing_model_are_excluded():
    all_seeds = learning.thesis_population_learners(*keys(()))
    assert {(each.verdict, each.n) for each in all_seeds} == {("holds", 8)}
    six_seeds = learning.thesis_population_learners(*keys((5, 6)))
    assert {(each.verdict, each.n) for each in six_seeds} == {("not supported", 6)}  # 3 * 2/64 is above a twentieth
    no_verdict = learning.thesis_population_learners(*keys(range(1, 8)))
    assert {each.verdict for each in no_verdict} == {"not testable"}


def test_planned_test_decides_and_the_interval_is_reported():
    row = pd.Series({"item": "keys", "difference": 0.1, "low": -0.05, "high": 0.25, "p": 0.01, "p_holm": 0.03})
    row = pd.concat([row, pd.Series({"p_holm_least": 0.02, "seeds": 8, "note": ""})])
    assert judge_both(row, "difference", 1, "k", "s", "8 seeds").verdict == "holds"
    assert judge_both(row, "difference", -1, "k", "s", "8 seeds").verdict == "contradicted"
    row["p_holm"] = 0.08
    assert judge_both(row, "difference", 1, "k", "s", "8 seeds").verdict == "not significant"
    row["low"] = 0.01
    assert judge_both(row, "difference", 1, "k", "s", "8 seeds").verdict == "not supported"
    assert judge_both(row, "difference", -1, "k", "s", "8 seeds").verdict == "not supported"


def test_drop_that_follows_the_bias_more_than_the_window_contradicts_the_claim():
    table = pd.DataFrame({"context": [4096, 4096, 32768, 65536], "ap_drop": [0.04, 0.06, 0.14, 0.16]})
    assert thesis_drop_follows_window(table.assign(bias_window=[40, 70, 60, 120])).verdict == "holds"
    assert thesis_drop_follows_window(table.assign(bias_window=table["ap_drop"] * 1000 + 1)).verdict == "contradicted"


def test_shipped_weights_are_counted_among_the_models():
    record = pd.DataFrame({"model": range(72)})
    assert thesis_weights_shipped(pd.DataFrame({"role": ["lab"] * 3 + ["own"]}), record).recomputed == "3 of 72"
    assert thesis_weights_shipped(pd.DataFrame({"role": ["lab"] * 40}), record).verdict == "contradicted"
    assert thesis_weights_shipped(pd.DataFrame({"role": ["own"]}), record).verdict == "contradicted"
