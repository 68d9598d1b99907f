"""Error of a mean due to drawing heads, against enumeration of all draws, and the claim in both directions."""

import itertools

import numpy as np
import pandas as pd
import pytest

from analysis.claims.thesis.pretrained import models as claims
from analysis.studies.pretrained.draws import METRICS, pretrained_draws
from boundpaper.errors import DataError
from boundpaper.tables.render import render
from tables.pretrained import pretrained_draws as draws_table


def heads(values, group=2):
    rows = {"model": "mine", "layer": 0, "head": range(len(values)), "key_head": np.arange(len(values)) // group}
    return pd.DataFrame(rows | dict.fromkeys(METRICS, values))


def other_tables(twin=0.03, sampled=4, of=12, other=3, common=2):
    return {
        "pretrained_models": pd.DataFrame({"model": ["mine", "another"], "display_name": ["Mine", "Another"]}),
        "subjects": pd.DataFrame({"model": ["mine", "another"], "role": ["pretrained", "pretrained"]}),
        "twin_heads": pd.DataFrame(
            {
                "quantity": ["kept_plain", "kept_crossed", "common", "heads"],
                "value": [float(sampled), float(other), float(common), float(of)],
            }
        ),
        "capture_noise": pd.DataFrame({"metric": METRICS, "twin_difference": twin}),
    }


def test_standard_deviation_of_draws_equals_that_of_every_draw():
    values = np.random.default_rng(3).gamma(1.0, size=12)
    result = pretrained_draws(heads(values), **other_tables())
    row = result[(result["metric"] == "ap_drop") & (result["of"] == "source")].iloc[0]
    means = np.array([np.mean(combination) for combination in itertools.combinations(values, 4)])
    assert row["draw_sd"] == pytest.approx(means.std())
    assert row["twice_low"] < row["twice_sd"] < row["twice_high"]
    own_heads = result[(result["metric"] == "ap_drop") & (result["of"] == "own")]
    assert own_heads["drawn"].tolist() == [10]  # no more of twelve heads can be drawn
    assert own_heads["draw_sd"].iloc[0] == pytest.approx(
        np.std([np.mean(combination) for combination in itertools.combinations(values, 10)])
    )


@pytest.mark.parametrize(("sampled", "other", "common"), [(4, 3, 2), (5, 2, 0), (3, 3, 3)])
def test_difference_of_two_draws_equals_enumeration_over_overlapping_draws(sampled, other, common):
    values = np.random.default_rng(8).gamma(1.0, size=8)
    tables = other_tables(sampled=sampled, other=other, common=common, of=8)
    row = pretrained_draws(heads(values), **tables).query("metric == 'ap_drop' and of == 'source'").iloc[0]
    differences = [
        np.mean(values[list(first)]) - np.mean(values[list(second)])
        for first in itertools.combinations(range(8), sampled)
        for second in itertools.combinations(range(8), other)
        if len(set(first) & set(second)) == common
    ]
    assert row["twice_sd"] == pytest.approx(np.std(differences))


def test_interval_draws_heads_of_one_key_head_together():
    values = np.repeat(np.random.default_rng(4).normal(size=20), 2)
    wide = pretrained_draws(heads(values), **other_tables()).iloc[-1]
    narrow = pretrained_draws(heads(values, group=1), **other_tables()).iloc[-1]
    assert wide["twice_sd"] == narrow["twice_sd"]
    assert wide["twice_high"] - wide["twice_low"] > narrow["twice_high"] - narrow["twice_low"]


def test_heads_without_a_value_are_excluded_and_missing_models_refused():
    values = np.r_[np.random.default_rng(5).normal(size=12), np.nan]
    assert (pretrained_draws(heads(values), **other_tables()).query("of == 'own'")["heads"] == 12).all()
    with pytest.raises(DataError, match="head_metrics has no pretrained model"):
        pretrained_draws(heads(values).assign(model="stranger"), **other_tables())


@pytest.mark.parametrize(
    ("times", "level", "drop"),
    [(4, "holds", "contradicted"), (0.5, "contradicted", "holds"), (1.96, "not supported", "not supported")],
)
def test_reported_difference_is_compared_with_the_spread_of_draws(times, level, drop):
    values = np.random.default_rng(6).normal(size=48)
    twin = times * pretrained_draws(heads(values), **other_tables()).iloc[-1]["twice_sd"]
    result = pretrained_draws(heads(values), **other_tables(twin=twin))
    verdicts = {each.key: each.verdict for each in claims.thesis_pretrained_draws(result)}
    assert verdicts == {f"mine_{metric}": drop if metric == "ap_drop" else level for metric in METRICS}
    few = pretrained_draws(heads(values[:12]), **other_tables(twin=twin))
    assert {each.verdict for each in claims.thesis_pretrained_draws(few)} == {"not testable"}


def test_the_table_shows_both_kinds_of_draw():
    values = np.random.default_rng(7).normal(size=40)
    shown = render(draws_table.table(pretrained_draws(heads(values), **other_tables())), "draws")
    assert "draws of 4 and 3" in shown
    assert "plasticity, overall" in shown
