"""Each reported quantity is read from its own cell of hand-made tables."""

import pandas as pd
import pytest

from analysis.studies.population.reported import experiments_reported
from boundpaper.errors import DataError
from claims_cases import rows

SIDES = ("RoPE", "DroPE")


def cells(source, *places, column="value"):
    """Return a row for each of `places` and each model, with values 10, 20, ... for RoPE and 11, 21, ... for DroPE."""
    rows_of_models = []
    for number, where in enumerate(places, start=1):
        rows_of_models += [where | {"positional": model, column: 10.0 * number + (model == "DroPE")} for model in SIDES]
    return pd.DataFrame(rows_of_models).assign(source=source)


CONDITIONS = ("layer1_mlp", "layer1_attn", "layer1_both", "layer1_bos_only")


def tables(**replaced):
    """Return tables with distinct numbers for every quantity, and with cells that must not be read."""
    tensors = ("query", "key", "value")
    default = {
        "massive_counts": rows(
            "tensor run rope_mean drope_mean",
            *[(tensor, "reported totals", 10.0 + place, 20.0 + place) for place, tensor in enumerate(tensors)],
            *[(tensor, "layers", -1.0, -2.0) for tensor in tensors],
        ),
        "massive_tests": rows("comparison p_adjusted", ("query", 0.04), ("key", 0.06), ("value", 0.05)),
        "disruption_tests": rows(
            "comparison test estimate",
            ("RoPE: massive against random", "log_perplexity_difference", 7.0),
            ("DroPE: massive against random", "log_perplexity_difference", 5.0),
            ("RoPE: massive against random", "t", -1.0),
            ("DroPE: massive against random", "t", -1.0),
        ),
        "knowledge_categories": cells("", {"category": "parametric"}, {"category": "contextual"}, column="degradation"),
        "drope_knowledge": cells(
            "knowledge",
            {"task": "passkey", "metric": "degradation"},
            {"task": "passkey", "metric": "baseline"},
            {"task": "imdb", "metric": "degradation"},
        ),
        "drope_sink_rates": cells("sinks", {"layers": "0"}, {"layers": "average"}),
        "phase_layers": rows("ratio_rope ratio_drope", (1.0, 9.0), (8.0, 2.0)),
        "drope_phase": cells("phase", {"metric": "peak"}, {"metric": "bos_spike_layer"}),
        "bos_mlp_effects": cells("", {"experiment": 4}, {"experiment": 6}, {"experiment": 5}, column="nats"),
        "drope_bos_write": cells("write", {"metric": "bos_attention_mass"}, {"metric": "effective_write"}),
        "bos_ablations": cells(
            "", {"ablation": "bos_value_spike_layer"}, {"ablation": "bos_value_all_layers"}, column="nats"
        ),
        "layer1_effects": cells("", *[{"condition": name} for name in CONDITIONS], column="nats"),
        "drope_attention": cells("attention", {"metric": "bos_attention"}, {"metric": "local_attention"}),
        "drope_layer1_content": cells("content", {"metric": "attention_contribution"}, {"metric": "mlp_contribution"}),
        "drope_crosslayer": cells(
            "layers", *[{"layers": band, "metric": "attention_contribution"} for band in ("0", "1", "2-31")]
        ),
    }
    return default | replaced


PAIRS = {
    "massive_query": (10, 20), "massive_key": (11, 21), "massive_value": (12, 22), "massive_minus_random": (7, 5),
    "parametric_degradation": (10, 11), "contextual_degradation": (20, 21), "passkey_degradation": (10, 11),
    "sink_rate": (20, 21), "largest_first_norm": (8, 9), "spike_layer": (20, 21), "bos_mlp_matching": (10, 11),
    "first_mass": (10, 11), "write": (20, 21), "bos_value_spike": (10, 11), "bos_value_all": (20, 21),
    "layer1_mlp": (10, 11), "layer1_attention": (20, 21), "layer1_both": (30, 31), "layer1_both_bos": (40, 41),
    "first_attention": (10, 11), "local_attention": (20, 21), "layer1_share": (10, 11), "layer0_share": (10, 11),
    "later_share": (30, 31),
}  # fmt: skip


def test_each_reported_quantity_comes_from_its_own_cell():
    result = experiments_reported(**tables())
    assert {row.quantity: (row.rope, row.drope) for row in result.itertuples()} == PAIRS


def test_reported_direction_is_drope_relative_to_rope():
    directions = experiments_reported(**tables()).set_index("quantity")["direction"]
    assert directions["massive_minus_random"] == "lower"
    assert directions["massive_query"] == "higher"
    assert set(directions.drop(["massive_minus_random", "massive_key", "massive_value"])) == {"higher"}
    equal = tables(phase_layers=rows("ratio_rope ratio_drope", (9.0, 9.0)))
    assert experiments_reported(**equal).set_index("quantity").loc["largest_first_norm", "direction"] == "none"


def test_counts_without_a_significant_difference_have_no_direction():
    # p = 0.04 is significant; 0.05 and 0.06 are not
    directions = experiments_reported(**tables()).set_index("quantity")["direction"]
    assert [directions[f"massive_{tensor}"] for tensor in ("query", "key", "value")] == ["higher", "none", "none"]


def test_reported_quantity_names_the_exhibits_of_both_values():
    places = experiments_reported(**tables()).set_index("quantity")["place"]
    assert places["sink_rate"] == "sinks"
    two = tables()["drope_sink_rates"].assign(source=["a", "b", "b", "a"])
    assert experiments_reported(**tables(drope_sink_rates=two)).set_index("quantity")["place"]["sink_rate"] == "a, b"


def test_missing_or_duplicate_cell_is_refused():
    phase = tables()["drope_phase"]
    with pytest.raises(DataError, match=r"0 rows have .*bos_spike_layer"):
        experiments_reported(**tables(drope_phase=phase[phase["metric"] == "peak"]))
    with pytest.raises(DataError, match="2 rows have"):
        experiments_reported(**tables(drope_phase=pd.concat([phase, phase])))
