"""Claims of document 004 on what heads write from the first token, and on that token's values; on hand-made frames."""

import pytest

from claims_cases import prints, reason, rows, say, says, states, verdict, verdicts

ORIGINS = rows("experiment run positional rotated taken_from", ("5", "printed", "RoPE", "yes", "model"))


def summary(**pairs):
    """Return a summary; each value gives a quantity and the values of RoPE and DroPE."""
    return rows(
        "quantity rope drope rope_printed drope_printed",
        *[(name, *pair, *map(str, pair)) for name, pair in pairs.items()],
    )


def test_write_cells_are_compared_with_the_series():
    names = ("bos_value_norm", "bos_attention_mass", "effective_write", "max_write_layer")
    printed = prints(
        "positional metric printed", *[(model, name, "1.2") for model in ("RoPE", "DroPE") for name in names]
    )
    judged = verdicts("c004_bos_write_cells", printed, summary(**dict.fromkeys(names, (1.24, 1.26))))
    assert {key: judged[key] for key in judged if key.startswith("RoPE")} == {f"RoPE-{name}": "holds" for name in names}
    assert {judged[key] for key in judged if key.startswith("DroPE")} == {"contradicted"}


@pytest.mark.parametrize(
    ("score", "more", "rotated", "expected"),
    [
        (0.3, 3, "yes", "holds"),
        (0.3, 3, "no", "not supported"),
        (0.1, 3, "yes", "contradicted"),  # the mean is smaller
        (0.3, 2, "yes", "contradicted"),  # two of four layers are no majority
    ],
)
def test_larger_write_must_hold_for_the_mean_and_most_layers(score, more, rotated, expected):
    table = summary(effective_write=(0.2, score), layers_with_more_write=(0, more), write_without_layer_1=(0.2, 0.2))
    layers = rows("layer", (0,), (1,), (2,), (3,))
    answer = says("c004_drope_writes_more", table, layers, ORIGINS.assign(rotated=rotated))
    assert answer == f"{expected}: {score:.3f} against 0.200"


def test_max_write_is_the_maximum_of_the_series():
    table = summary(max_write=(0.5, 1.143), max_write_layer=(1, 1), second_write=(0.1, 0.4), second_write_layer=(2, 2))
    assert verdict("c004_max_write", table, states(s6_5_drope_max_write="1.14")) == "holds"
    assert verdict("c004_max_write", table, states(s6_5_drope_max_write="1.15")) == "contradicted"


@pytest.mark.parametrize(
    ("norms", "layer", "expected"),
    [
        ((1.0, 99.0, 2.0), 1, "holds"),
        ((1.0, 99.0, 9.9), 1, "contradicted"),  # 99 is not more than ten times 9.9
        ((1.0, 99.0, 2.0), 2, "contradicted"),
    ],
)
def test_write_location_must_have_massive_norms(norms, layer, expected):
    table = [
        ("DroPE", index, metric, norm) for index, norm in enumerate(norms) for metric in ("q_norm_mean", "k_norm_mean")
    ]
    norms = rows("positional layer metric value", *table, ("RoPE", 0, "q_norm_mean", 1e6), ("DroPE", 0, "else", 1e6))
    table = summary(max_write_layer=(0, layer))
    assert verdict("c004_write_where_massive", norms, table) == expected
    assert "none is published after layer 2." in reason("c004_write_where_massive", norms, table)


def test_write_location_needs_massive_queries_and_keys():
    table = [("DroPE", index, "q_norm_mean", norm) for index, norm in enumerate((1.0, 99.0, 2.0))]
    table += [("DroPE", index, "k_norm_mean", norm) for index, norm in enumerate((1.0, 2.0, 99.0))]
    norms = rows("positional layer metric value", *table)
    assert verdict("c004_write_where_massive", norms, summary(max_write_layer=(0, 1))) == "contradicted"


CONTRAST = "ablation matched rope_nats drope_nats gap_nats ratio rope_layers drope_layers"


def contrasts(matched, drope=0.5):
    return rows(
        CONTRAST,
        ("bos_mlp_spike_layer", matched, 7.0, drope, 6.5, 600.0, "1", "2"),
        ("bos_value_all_layers", True, 1.4, 1.5, 0.1, 1.1, "all", "all"),
        ("layer1_bos_only", True, 7.0, 5.0, 2.0, 7.4, "1", "1"),
    )


def test_fourfold_means_three_and_a_half_to_four_and_a_half():
    # 15 % of 4 are 0.6: 3.4 to 4.6
    ablations = rows(
        "ablation positional ratio ratio_printed nats",
        ("bos_value_all_layers", "RoPE", 4.5, "4.5x", 1.5),
        ("bos_value_all_layers", "DroPE", 4.7, "4.7x", 1.55),
    )
    protocols = rows("section items", ("6", "one text"))
    judged = verdicts("c004_bos_value_four", ablations, contrasts(True), states(s6_3_bos_value_ratio="~4x"), protocols)
    assert judged == {"rope": "holds", "drope": "contradicted", "similar": "not testable"}


def test_ratio_of_ablations_needs_the_same_layer_and_an_effect():
    stated = states(s6_3_bos_mlp_gap="1249x")
    answers = {
        (matched, drope): says("c004_bos_mlp_gap", contrasts(matched, drope), stated)
        for matched, drope in ((True, 0.5), (True, 0.0), (False, 0.5))
    }
    assert answers == {
        (True, 0.5): "holds: 7.4× in the matching layer",
        (True, 0.0): "not supported: 7.4× in the matching layer",
        (False, 0.5): "not supported: 7.4× in the matching layer",
    }


def test_mlp_difference_is_not_supported_when_layers_differ():
    assert verdict("c004_mlp_is_the_difference", contrasts(True)) == "holds"
    assert verdict("c004_mlp_is_the_difference", contrasts(False)) == "not supported"


@pytest.mark.parametrize(
    ("rope", "drope", "expected"),
    [
        (51, 60, "holds: 51.0% and 60.0%"),
        (60, 50, "not supported: 60.0% and 50.0%"),
        (5, 60, "not supported: 5.0% and 60.0%"),
    ],
)
def test_no_op_claim_is_refuted_by_a_first_token_that_writes_half_of_the_mean(rope, drope, expected):
    norms = rows(
        "positional layer percent bos mean",
        ("RoPE", 2, float(rope), 1.0, 10.0),
        ("DroPE", 2, float(drope), 1.0, 10.0),
        ("RoPE", 1, 0.0, 1.0, 10.0),
    )
    for rates, phrase in (
        ((50.0, 50.0, 95.0), "layers 1 to 2: in layer 2, the only one of these where"),
        ((50.0, 95.0, 95.0), "in layer 2, one of 2 of these where"),
        ((99.0, 95.0, 80.0), "in layer 2, not one where"),
    ):
        sinks = rows("layer rope drope", *[(layer, rate, 99.0) for layer, rate in enumerate(rates)])
        assert says("c004_no_op_refuted", norms, sinks) == expected
        assert phrase in reason("c004_no_op_refuted", norms, sinks)


def test_comparison_cells_are_those_of_the_earlier_tables():
    models, values, mlp = ("RoPE", "DroPE"), ("4.2x", "3.9x"), ("1249x", "1.0x")
    value_table = prints(
        "condition positional metric printed",
        *[("bos_value_all_layers", model, "ppl_ratio", text) for model, text in zip(models, values, strict=True)],
    )
    mlp_table = prints(
        "positional metric printed", *[(model, "ppl_ratio", text) for model, text in zip(models, mlp, strict=True)]
    )

    def comparison(rope_mlp):
        return prints(
            "ablation positional printed",
            ("bos_value_all_layers", "RoPE", "4.2x"),
            ("bos_value_all_layers", "DroPE", "3.8x"),
            ("bos_mlp_spike_layer", "RoPE", rope_mlp),
            ("bos_mlp_spike_layer", "DroPE", "1.0x"),
        )

    judged = say("c004_ablation_comparison_cells", comparison("1249x"), value_table, mlp_table)
    assert judged == {
        "RoPE-bos_value_all_layers": "holds: 4.2",
        "DroPE-bos_value_all_layers": "contradicted: 3.9",
        "RoPE-bos_mlp_spike_layer": "holds: 1249",
        "DroPE-bos_mlp_spike_layer": "holds: 1.0",
    }
    swapped_digits = verdicts("c004_ablation_comparison_cells", comparison("1294x"), value_table, mlp_table)
    assert swapped_digits["RoPE-bos_mlp_spike_layer"] == "contradicted"
