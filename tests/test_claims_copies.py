"""Claims that two tables print equal cells, on hand-made frames: only a cell that differs fails."""

import pytest

from claims_cases import prints, rows, verdicts

ONE = "model metric printed"


def lengths(*cells, columns="model length printed"):
    return prints(columns, *cells)


# For each case: the claim; the columns and cells of the copy; the tables compared with it, which also have
# other values; the keys of the compared cells.
CASES = [
    (
        "c002_t1_all_models",
        (ONE, [("a", "ap_drop", "0.10"), ("b", "ap_drop", "0.20"), ("c", "ap_drop", "0.9")]),
        [prints(ONE, ("a", "ap_drop", "0.10"), ("b", "ap_drop", "0.20"), ("a", "lbp", "0.7"))],
        ["a-ap_drop", "b-ap_drop"],
    ),
    (
        "c002_all_models_scores",
        (ONE, [("a", "lbp", "30.1"), ("a", "ruler_128k", "77.0"), ("a", "ap_drop", "9")]),
        [
            lengths(
                ("a", "overall", "nonthinking", "30.1"),
                ("a", "overall", "thinking", "50"),
                ("a", "8k", "nonthinking", "60"),
                columns="model length mode printed",
            ),
            lengths(("a", "128k", "77.0"), ("a", "64k", "80")),
        ],
        ["a-lbp", "a-ruler_128k"],
    ),
    (
        "c002_t3_scores",
        ("model mode length metric printed", [("a", "thinking", "8k", "lbp", "51"), ("a", "thinking", "8k", "x", "9")]),
        [lengths(("a", "thinking", "8k", "51"), ("a", "nonthinking", "8k", "40"), columns="model mode length printed")],
        ["a-thinking-8k"],
    ),
    (
        "c002_t3_bins",
        (
            "model length metric printed",
            [("a", "8k", "plasticity", "0.71"), ("a", "16k", "plasticity", "0.65"), ("a", "8k", "lbp", "51")],
        ),
        [prints("model bin printed", ("a", "0-8K", "0.71"), ("a", "8K-16K", "0.65"), ("a", "total", "-0.2"))],
        ["a-8k", "a-16k"],
    ),
    (
        "c002_t10_t4",
        ("model decile printed", [("a", 0, "0.7"), ("a", 9, "0.4")]),
        [prints("model decile printed", ("a", 0, "0.7"), ("a", 9, "0.4"), ("b", 0, "0.1"))],
        ["a-0", "a-9"],
    ),
    (
        "c002_observations_cells",
        ("table model metric printed", [("drop", "a", "ap_drop", "0.1"), ("last_20", "a", "ap_drop", "0.1")]),
        [prints(ONE, ("a", "ap_drop", "0.1"), ("a", "lbp", "30"))],
        ["drop-a-ap_drop", "last_20-a-ap_drop"],
    ),
    (
        "c002_ruler_models_cells",
        (ONE, [("a", "ruler_4k", "95.5"), ("a", "ap_drop", "0.16"), ("a", "lbp", "3")]),
        [
            lengths(("a", "4k", "95.5"), ("a", "8k", "90")),
            prints(ONE, ("a", "ap_drop", "0.16"), ("a", "lbp", "30"), ("a", "ruler_128k", "1")),
        ],
        ["a-ruler_4k", "a-ap_drop"],
    ),
    (
        "c002_t8_scores",
        ("model length metric printed", [("a", "4k", "ruler", "95.5"), ("a", "4k", "plasticity", "0.7")]),
        [lengths(("a", "4k", "95.5"), ("a", "8k", "90"))],
        ["a-4k"],
    ),
    (
        "c002_t9_bias",
        (ONE, [("a", "bias_strength", "1.57e-3"), ("a", "r_k_a", "0.8")]),
        [prints(ONE, ("a", "bias_strength", "1.57e-3"), ("b", "r_k_a", "0.1"))],
        ["a-bias_strength"],
    ),
    (
        "c002_generations_cells",
        (ONE, [("a", "ap_drop", "0.16"), ("b", "ap_drop", "0.23"), ("a", "ruler_128k", "")]),
        [prints(ONE, ("a", "ap_drop", "0.16"), ("b", "ap_drop", "0.23"), ("a", "ruler_128k", "77"))],
        ["a-ap_drop", "b-ap_drop"],
    ),
    (
        "c002_predecessor_cells",
        (
            ONE,
            [("a", "ap_drop", "0.06"), ("a", "plane_var", "0.41"), ("b", "plane_var", "0.36"), ("a", "r_k_a", "0.1")],
        ),
        [
            prints(ONE, ("a", "ap_drop", "0.06")),
            prints(ONE, ("b", "plane_var", "0.36"), ("b", "ap_drop", "0.9")),
            prints(ONE, ("a", "plane_var", "0.41"), ("a", "r_k", "0.9")),
        ],
        ["a-ap_drop", "a-plane_var", "b-plane_var"],
    ),
    (
        "c004_con_two_shares",
        (
            "positional metric printed",
            [
                ("RoPE", "attention_contribution", "0.9%"),
                ("DroPE", "attention_contribution", "68.8%"),
                ("RoPE", "x", "1"),
            ],
        ),
        [
            prints(
                "positional layers metric printed",
                ("RoPE", "1", "attention_contribution", "0.9%"),
                ("DroPE", "1", "attention_contribution", "68.8%"),
                ("RoPE", "0", "attention_contribution", "46.9%"),
                ("RoPE", "1", "mlp_contribution", "99.1%"),
            )
        ],
        ["RoPE-attention_contribution", "DroPE-attention_contribution"],
    ),
    (
        "c004_layer1_task_baselines",
        (
            "condition positional task printed",
            [("baseline", "RoPE", "cities", "99%"), ("layer1_mlp", "RoPE", "cities", "0%")],
        ),
        [
            prints(
                "condition positional task printed",
                ("baseline", "RoPE", "cities", "99%"),
                ("layer1_mlp", "RoPE", "cities", "50%"),
                ("baseline", "DroPE", "cities", "1%"),
            )
        ],
        ["baseline-RoPE-cities"],
    ),
    (
        "c002_training_drops",
        ("checkpoint metric printed", [("s1", "ap_drop", "0.100"), ("s2", "ap_drop", "0.201"), ("s1", "lbp", "3")]),
        [
            rows(
                "checkpoint display_name ap_first_20 ap_last_20 ap_drop_recomputed ap_drop_low ap_drop_high",
                ("s1", "One", 0.7, 0.6, 0.1, 0.099, 0.101),
                ("s2", "Two", 0.7, 0.499, 0.201, 0.2, 0.202),
            )
        ],
        ["s1", "s2"],
    ),
    (
        "c002_training_comparison_cells",
        (
            "model checkpoint metric printed",
            [("m3.1", "", "ap_drop", "0.10"), ("m3.1", "", "bias", "1.5"), ("smol", "last", "ap_drop", "0.30")],
        ),
        [
            prints(ONE, ("m3.1", "ap_drop", "0.10"), ("m3.1", "bias", "1.5"), ("smol", "ap_drop", "0.7")),
            prints("checkpoint metric printed", ("first", "ap_drop", "0.20"), ("last", "ap_drop", "0.30")),
        ],
        ["m31-ap_drop", "m31-bias", "smol-ap_drop"],
    ),
    (
        "c004_bal_figure_g",
        ("figure series x printed", [("G", "RoPE", "0", "21.5"), ("G", "DroPE", "0", "74.7"), ("F", "RoPE", "0", "9")]),
        [rows("positional layer published", ("RoPE", 0, 21.5), ("DroPE", 0, 74.7))],
        ["RoPE-0", "DroPE-0"],
    ),
    (
        "c004_con_figure_e",
        (
            "figure series x printed",
            [("E", "RoPE", "Attention", "0.6"), ("E", "RoPE", "MLP", "98.1"), ("G", "DroPE", "MLP", "50")],
        ),
        [
            prints(
                "positional metric printed",
                ("RoPE", "attention_contribution", "0.6"),
                ("RoPE", "mlp_contribution", "98.1"),
                ("DroPE", "mlp_contribution", "32.0"),
            )
        ],
        ["RoPE-attention_contribution", "RoPE-mlp_contribution"],
    ),
    (
        "c004_con_figure_f",
        (
            "figure series x printed",
            [("F", "DroPE", "Query", "123"), ("F", "DroPE", "Key", "109"), ("E", "a", "K", "1")],
        ),
        [prints("positional metric printed", ("DroPE", "query_norm", "123"), ("DroPE", "key_norm", "109"))],
        ["DroPE-query_norm", "DroPE-key_norm"],
    ),
    (
        "c004_figure_c",
        ("figure series printed", [("C", "RoPE", "116000"), ("C", "DroPE", "1400"), ("A", "RoPE", "7")]),
        [
            prints(
                "positional metric printed",
                ("RoPE", "massive_increase", "116000"),
                ("DroPE", "massive_increase", "1400"),
                ("RoPE", "random_increase", "3"),
            )
        ],
        ["RoPE", "DroPE"],
    ),
    (
        "c004_rank_figure_j",
        (
            "figure series x printed",
            [("J", "RoPE", "1024", "60"), ("J", "DroPE", "1024", "50"), ("I", "RoPE", "1", "2")],
        ),
        [prints("positional context printed", ("RoPE", 1024, "60"), ("DroPE", 1024, "50"), ("RoPE", 2048, "70"))],
        ["RoPE-1024", "DroPE-1024"],
    ),
]


@pytest.mark.parametrize(("claim", "copy", "originals", "keys"), CASES, ids=[case[0] for case in CASES])
def test_each_copied_cell_is_compared_with_its_original(claim, copy, originals, keys):
    columns, cells = copy
    assert verdicts(claim, prints(columns, *cells), *originals) == dict.fromkeys(keys, "holds")
    misprinted = [(*cells[0][:-1], f"8{cells[0][-1]}"), *cells[1:]]
    judged = verdicts(claim, prints(columns, *misprinted), *originals)
    assert judged == {**dict.fromkeys(keys, "holds"), keys[0]: "contradicted"}


METRICS = (
    "attention_output_norm", "mlp_output_norm", "attention_contribution", "mlp_contribution", "query_norm", "key_norm",
)  # fmt: skip


def content(**misprint):
    cells, published = [], []
    for place, metric in enumerate(METRICS):
        values = {"RoPE": 1.0 + place, "DroPE": 3.0 + place}
        cells += [(model, metric, misprint.get(f"{model}_{metric}", f"{value:.2f}")) for model, value in values.items()]
        ratio = values["DroPE"] / values["RoPE"]
        cells.append(("DroPE", f"{metric}_ratio_to_rope", misprint.get(f"{metric}_ratio", f"{ratio:.2f}×")))
        published.append(
            (metric, 1.0 + place, 3.0 + place, ratio, ratio - 0.01, ratio + 0.01, 1.0 + place, 3.0 + place)
        )
    columns = "metric rope_published drope_published ratio_from_printed ratio_low ratio_high rope_printed drope_printed"
    norms = [cell for cell in cells if cell[1].startswith(("query", "key"))]
    named = "positional metric printed"
    return {
        "drope_layer1_content": prints(named, *(cell for cell in cells if cell not in norms)),
        "drope_layer1_norms": prints(named, *norms),
        "layer1_ratios": rows(columns, *published),
    }


def test_content_norms_and_ratios_are_compared_with_the_published_ones():
    metrics = METRICS
    keys = [f"{model}-{metric}" for metric in metrics for model in ("RoPE", "DroPE")]
    assert verdicts("c004_con_cells", **content()) == dict.fromkeys(keys, "holds")
    assert set(verdicts("c004_con_ratios", **content()).values()) == {"holds"}
    judged = verdicts("c004_con_cells", **content(**{f"DroPE_{metrics[-1]}": "99.00"}))
    assert [key for key, answer in judged.items() if answer != "holds"] == [f"DroPE-{metrics[-1]}"]
    judged = verdicts("c004_con_ratios", **content(**{f"{metrics[0]}_ratio": "99.00×"}))
    assert [key for key, answer in judged.items() if answer != "holds"] == [metrics[0]]
    near = verdicts(
        "c004_con_ratios", **content(**{f"{metrics[0]}_ratio": "3.01×"})
    )  # rounding leaves 2.99 to 3.01 open
    assert near[metrics[0]] == "holds after rounding"
