"""Plasticity beyond the training length: levels, tests over seeds, and claims in both directions."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.claims.thesis.population import reach as claims
from analysis.studies.population.reach import population_reach_levels, population_reach_tests

SEEDS = (1, 2, 3, 4)
NOISE = {seed: noise * (1 + seed // 5) for seed, noise in enumerate(2 * (0.0, 0.01, -0.01, 0.02), start=1)}


def reach_tables(b=(0.8, 0.8), c=(0.5, 0.6), seeds=SEEDS):
    """Return heads and models: two heads per model of arms B and C, with means `b` and `c` at positions 0 and 384."""
    models, rows = [], []
    for seed in seeds:
        for arm, levels in (("B", b), ("C", c)):
            name = f"b400-s{seed}-{arm}"
            models.append({"model": name, "arm": arm, "seed": seed, "base": 400})
            for low, value in zip((0, 384), levels, strict=True):
                noise = NOISE[seed] if low else 0.0
                for head, offset in ((0, -0.1), (1, 0.1)):
                    rows.append(
                        {"model": name, "layer": 0, "head": head, "low": low, "high": low + 128, "reason": ""}
                        | {"plasticity": value + noise + offset}
                    )
        models.append({"model": f"b10000-s{seed}-B", "arm": "B", "seed": seed, "base": 10_000})
    return pd.DataFrame(rows), pd.DataFrame(models)


def test_levels_are_means_over_heads_and_seeds():
    table = population_reach_levels(*reach_tables()).set_index(["arm", "low"])
    assert table.loc[("B", 0), ["value", "least", "most", "seeds"]].tolist() == pytest.approx([0.8, 0.8, 0.8, 4])
    assert table.loc[("C", 384), ["value", "least", "most"]].tolist() == pytest.approx([0.605, 0.59, 0.62])
    low, high = stats.t.interval(0.95, 3, 0.605, np.std([NOISE[seed] for seed in SEEDS], ddof=1) / 2)
    assert table.loc[("C", 384), ["ci_low", "ci_high"]].tolist() == pytest.approx([low, high])


def test_reach_tests_are_exact_sign_flips_over_seeds_with_holm_correction():
    table = population_reach_tests(*reach_tables(b=(0.8, 0.79), c=(0.5, 0.6), seeds=NOISE)).set_index("item")
    differences = np.array(list(NOISE.values())) - 0.01
    flips = [abs(np.mean(differences * signs)) for signs in itertools.product((1, -1), repeat=8)]
    assert table.loc["B_change", "difference"] == pytest.approx(differences.mean())
    assert table.loc["B_change", "p"] == pytest.approx(np.mean(np.array(flips) >= abs(differences.mean()) - 1e-12))
    assert table.loc["C_change", "p"] == pytest.approx(2 / 256)
    assert table.loc["C_less_B", "difference"] == pytest.approx(-0.19)
    assert table["p_holm_least"].dropna().unique() == pytest.approx([6 / 256])
    assert table.loc["C_change", "p_holm"] == pytest.approx(6 / 256)


@pytest.mark.parametrize(
    ("b", "expected"), [((0.8, 0.5), "holds"), ((0.5, 0.8), "contradicted"), ((0.8, 0.785), "not significant")]
)
def test_fall_of_plasticity_is_judged_in_both_directions(b, expected):
    verdicts = {
        each.key: each
        for each in claims.thesis_population_reach(population_reach_tests(*reach_tables(b=b, seeds=NOISE)))
    }
    assert verdicts["B_change"].verdict == expected
    assert verdicts["C_change"].verdict == "contradicted"  # it rises
    verdicts_of_four = claims.thesis_population_reach(population_reach_tests(*reach_tables(b=b)))
    assert {each.verdict for each in verdicts_of_four} == {
        "not testable"
    }  # four seeds cannot reach a corrected p of .05


def test_one_seed_is_not_testable():
    verdicts = claims.thesis_population_reach(population_reach_tests(*reach_tables(seeds=(1,))))
    assert {verdict.verdict for verdict in verdicts} == {"not testable"}
    assert population_reach_levels(*reach_tables(seeds=(1,)))["note"].eq("one seed has no interval").all()
