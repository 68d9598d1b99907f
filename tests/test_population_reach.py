"""Plasticity beyond the training length: levels and tests over seeds against hand-made rows, claims both ways."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.claims.thesis.population import reach as claims
from analysis.studies.population.reach import population_reach_levels, population_reach_tests

SEEDS = (1, 2, 3, 4)
NOISE = dict(zip(SEEDS, (0.0, 0.01, -0.01, 0.02), strict=True))


def made(b=(0.8, 0.8), c=(0.5, 0.6), seeds=SEEDS):
    """Two heads a model, their mean as given at the first and last training length, with a seed's own noise."""
    models, rows = [], []
    for seed in seeds:
        for arm, ends in (("B", b), ("C", c)):
            name = f"b400-s{seed}-{arm}"
            models.append({"model": name, "arm": arm, "seed": seed, "base": 400})
            for low, value in zip((0, 384), ends, strict=True):
                noise = NOISE[seed] if low else 0.0
                for head, away in ((0, -0.1), (1, 0.1)):
                    rows.append(
                        {"model": name, "layer": 0, "head": head, "low": low, "high": low + 128, "reason": ""}
                        | {"plasticity": value + noise + away}
                    )
        models.append({"model": f"b10000-s{seed}-B", "arm": "B", "seed": seed, "base": 10_000})
    return pd.DataFrame(rows), pd.DataFrame(models)


def test_levels_are_means_over_heads_and_seeds():
    table = population_reach_levels(*made()).set_index(["arm", "low"])
    assert table.loc[("B", 0), ["value", "least", "most", "seeds"]].tolist() == pytest.approx([0.8, 0.8, 0.8, 4])
    assert table.loc[("C", 384), ["value", "least", "most"]].tolist() == pytest.approx([0.605, 0.59, 0.62])
    low, high = stats.t.interval(0.95, 3, 0.605, np.std(list(NOISE.values()), ddof=1) / 2)
    assert table.loc[("C", 384), ["ci_low", "ci_high"]].tolist() == pytest.approx([low, high])


def test_tests_are_students_over_seeds_with_holms_correction():
    table = population_reach_tests(*made(b=(0.8, 0.79), c=(0.5, 0.6))).set_index("item")
    noise = np.array(list(NOISE.values()))
    for item, given in (("B_change", noise - 0.01), ("C_change", noise + 0.1)):
        known = stats.ttest_1samp(given, 0)
        assert table.loc[item, "difference"] == pytest.approx(given.mean())
        assert table.loc[item, "p"] == pytest.approx(known.pvalue)
    assert table.loc["C_less_B", "difference"] == pytest.approx(-0.19)
    assert np.isnan(table.loc["C_less_B", "p"])  # the seeds' noise is the same in both arms
    assert table.loc["C_change", "p_holm"] == pytest.approx(2 * table.loc["C_change", "p"])


@pytest.mark.parametrize(
    ("b", "expected"), [((0.8, 0.5), "holds"), ((0.5, 0.8), "contradicted"), ((0.8, 0.793), "not significant")]
)
def test_the_fall_of_plasticity_is_judged_both_ways(b, expected):
    verdicts = {each.key: each for each in claims.thesis_population_reach(population_reach_tests(*made(b=b)))}
    assert verdicts["B_change"].verdict == expected
    assert verdicts["C_change"].verdict == "contradicted"  # it rises


def test_one_seed_decides_nothing():
    verdicts = claims.thesis_population_reach(population_reach_tests(*made(seeds=(1,))))
    assert {each.verdict for each in verdicts} == {"not testable"}
    assert population_reach_levels(*made(seeds=(1,)))["note"].eq("one seed has no interval").all()
