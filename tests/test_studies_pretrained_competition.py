"""Mean and spread of the score difference at a fixed key distance: rows, and claims true and false."""

import pandas as pd
import pytest

from analysis.claims.thesis.pretrained.competition import thesis_pretrained_competition
from analysis.studies.pretrained.competition import pretrained_competition
from boundpaper.errors import DataError
from boundpaper.tables.render import render
from tables.pretrained import pretrained_competition as competition_table

NAMES = {
    "pretrained_models": pd.DataFrame({"model": ["mine"], "display_name": ["Mine"]}),
    "subjects": pd.DataFrame(
        {"model": ["mine", "random-llama"], "role": ["pretrained", "null reference"], "label": ["mine", "random"]}
    ),
}


def cells(*values, model="mine", heads=2, pairs=1000):
    """Return rows of bin, distance, mean difference and spread."""
    frame = pd.DataFrame(list(values), columns=["bin", "key_distance", "mean_gap", "spread"])
    return frame.assign(model=model, heads=heads, pairs=pairs)


GROWS = ((0, 512.0, 10.0, 20.0), (1, 512.0, 10.0, 20.0), (1, 1536.0, 40.0, 20.0), (2, 1536.0, 30.0, 19.0))


def verdicts(*values):
    return [each.verdict for each in thesis_pretrained_competition(pretrained_competition(cells(*values), **NAMES))]


def test_distance_rows_use_first_and_last_bin_and_weight_pairs_by_number():
    given = pd.concat([cells(*GROWS), cells((1, 512.0, 99.0, 99.0), pairs=10), cells((1, 512.0, 0.0, 0.0), pairs=0)])
    result = pretrained_competition(given, **NAMES).set_index("distance")
    assert result.loc[1536.0, ["first_bin", "last_bin", "gap_first", "gap_last"]].tolist() == [1, 2, 40.0, 30.0]
    assert result.loc[1536.0, "gap_change"] == pytest.approx(-0.25)
    assert result.loc[1536.0, "spread_change"] == pytest.approx(-0.05)
    assert result.loc[0.0, ["gap_first", "gap_last"]].tolist() == [10.0, 30.0]
    assert result.loc[512.0, "gap_last"] == 10.0  # cells with few pairs are not used as ends


def test_distance_missing_in_some_heads_or_bins_has_no_row():
    given = pd.concat([cells(*GROWS), cells((3, 2560.0, 5.0, 5.0), (4, 2560.0, 5.0, 5.0), heads=1)])
    assert sorted(pretrained_competition(given, **NAMES)["distance"]) == [0.0, 512.0, 1536.0]


def test_null_model_is_listed_last_and_not_judged():
    given = pd.concat([cells(*GROWS, model="random-llama"), cells(*GROWS)])
    result = pretrained_competition(given, **NAMES)
    assert result["model"].drop_duplicates().tolist() == ["mine", "random-llama"]
    assert {each.key for each in thesis_pretrained_competition(result)} == {"mine_spread", "mine_gap"}
    with pytest.raises(DataError, match="head_competition has no pretrained model"):
        pretrained_competition(cells(*GROWS, model="random-llama"), **NAMES)


def test_decaying_content_and_growing_position_are_judged():
    assert verdicts(*GROWS) == ["holds", "holds"]
    assert verdicts(*GROWS[:3], (2, 1536.0, 30.0, 17.0)) == ["contradicted", "holds"]
    assert verdicts(*GROWS[:3], (2, 1536.0, 41.0, 20.0)) == ["holds", "contradicted"]
    assert verdicts((0, 512.0, 50.0, 20.0), *GROWS[1:]) == ["holds", "contradicted"]
    assert verdicts(*GROWS[:2]) == ["not testable", "not testable"]


def test_the_table_shows_all_pairs_and_distances():
    shown = render(competition_table.table(pretrained_competition(cells(*GROWS), **NAMES)), "competition")
    assert "all pairs" in shown
    assert "1,536 apart" in shown
