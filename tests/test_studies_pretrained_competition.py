"""Mean and spread of the score difference at a fixed key distance: rows, and claims in both directions."""

import pandas as pd
import pytest

from analysis.claims.thesis.pretrained.competition import thesis_pretrained_competition, thesis_pretrained_exchange
from analysis.studies.pretrained.competition import pretrained_competition
from analysis.studies.pretrained.exchange import pretrained_exchange_levels
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
    """Return rows of heads; each of `values` is bin, distance, mean difference and spread."""
    frame = pd.DataFrame(list(values), columns=["bin", "key_distance", "mean_gap", "spread"])
    return frame.assign(model=model, heads=heads, pairs=pairs)


GROWS = ((0, 512.0, 10.0, 20.0), (1, 512.0, 10.0, 20.0), (1, 1536.0, 40.0, 20.0), (2, 1536.0, 30.0, 19.0))


def verdicts(*values):
    return [each.verdict for each in thesis_pretrained_competition(pretrained_competition(cells(*values), **NAMES))]


def test_distance_rows_use_first_and_last_bin_and_weight_pairs_by_number():
    rows = pd.concat([cells(*GROWS), cells((1, 512.0, 99.0, 99.0), pairs=10), cells((1, 512.0, 0.0, 0.0), pairs=0)])
    result = pretrained_competition(rows, **NAMES).set_index("distance")
    assert result.loc[1536.0, ["first_bin", "last_bin", "gap_first", "gap_last"]].tolist() == [1, 2, 40.0, 30.0]
    assert result.loc[1536.0, "gap_change"] == pytest.approx(-0.25)
    assert result.loc[1536.0, "spread_change"] == pytest.approx(-0.05)
    assert result.loc[0.0, ["gap_first", "gap_last"]].tolist() == [10.0, 30.0]
    assert result.loc[512.0, "gap_last"] == 10.0  # cells with few pairs are not used as ends


def test_distance_missing_in_some_heads_or_bins_has_no_row():
    rows = pd.concat([cells(*GROWS), cells((3, 2560.0, 5.0, 5.0), (4, 2560.0, 5.0, 5.0), heads=1)])
    assert sorted(pretrained_competition(rows, **NAMES)["distance"]) == [0.0, 512.0, 1536.0]


def test_null_model_is_listed_last_and_not_judged():
    rows = pd.concat([cells(*GROWS, model="random-llama"), cells(*GROWS)])
    result = pretrained_competition(rows, **NAMES)
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


def exchange_levels(fall=-0.06, at=-0.01, spread=18.1, gap=30.0, sway=0.1, far=-0.1):
    """Return levels of twelve heads of different cost, for all pairs and for three ranges of key distances."""
    rows = []
    for head in range(12):
        for low, high, change in ((0, 4096, fall), (512, 1024, at), (1024, 2048, far), (2048, 4096, far)):
            for late in (0, 1) if low < 2048 else (1,):
                values = {"plasticity": 0.5 + late * change + head / 100, "sway": 0.3 + late * sway * (1 + head / 100)}
                values |= {"gap": 40.0 + late * ((gap - 40.0) if low else 5.0), "spread": 20.0 + late * (spread - 20.0)}
                values |= {"position_part": 0.0, "content_part": 0.5, "linear_share": 0.1}
                row = {"model": "mine-code", "layer": head, "head": 0, "key_head": 0, "cost": head - 6.0}
                start = 3072 if late else 2048 if low == 1024 else 1024
                rows.append(row | {"low": start, "apart_low": low, "apart_high": high} | values)
    return pretrained_exchange_levels(pd.DataFrame(rows), **NAMES)


@pytest.mark.parametrize(
    ("changes", "key", "verdict"),
    [
        ({}, "", "holds"),
        ({"at": -0.05}, "distance", "contradicted"),
        ({"fall": -0.01}, "distance", "contradicted"),
        ({"spread": 17.9}, "spread", "contradicted"),
        ({"gap": 41.0}, "gap", "contradicted"),
        ({"sway": -0.1}, "sway", "contradicted"),
    ],
)
def test_statements_at_one_position_can_fail(changes, key, verdict):
    verdicts = {each.key: each.verdict for each in thesis_pretrained_exchange(exchange_levels(**changes))}
    names = ("spread", "gap", "distance", "sway")
    assert verdicts == {f"mine-code_{name}": verdict if name == key else "holds" for name in names}


def test_fall_is_explained_by_distances_that_both_quarters_have():
    assert {each.key: each.recomputed for each in thesis_pretrained_exchange(exchange_levels())}[
        "mine-code_distance"
    ] == ("-0.010")
    levels = exchange_levels()
    assert sorted(levels["apart_low"].unique()) == [0, 512, 1024]  # only the last quarter has keys farther apart
    assert levels.query("apart_low == 1024")["first_low"].unique().tolist() == [2048]


def test_exchange_is_averaged_with_equal_weights_and_by_cost():
    row = exchange_levels().query("quantity == 'plasticity' and apart_low == 512").set_index("weights")
    assert row.loc["all", ["first", "change"]].tolist() == pytest.approx([0.5 + 5.5 / 100, -0.01])
    # costs 1 to 5 of heads 7 to 11; the others cost nothing
    assert row.loc["cost", "first"] == pytest.approx(0.5 + (7 + 2 * 8 + 3 * 9 + 4 * 10 + 5 * 11) / 15 / 100)
    assert row.loc["cost", "most"] == pytest.approx(5 / 15)
    sway = exchange_levels().query("quantity == 'sway' and apart_low == 512").set_index("weights")
    assert sway["low"].notna().to_dict() == {"all": True, "cost": False}


def test_the_table_shows_both_positions_and_pooled_bins():
    text = render(
        competition_table.table(exchange_levels(), pretrained_competition(cells(*GROWS), **NAMES)), "competition"
    )
    assert "Mine on code, aligned" in text
    assert "512 to 1,024" in text
    assert "Mine, pooled bins" in text
    assert "1,536" in text
