"""Experiments 1-9 over training seeds, on planted measurements whose answers are known."""

import numpy as np
import pandas as pd
import pytest

from analysis.claims.thesis import lab_experiments as claims
from analysis.measure.quantities import QUANTITIES, Quantity
from analysis.studies.lab import experiments as study
from analysis.studies.lab._pair import of_pair
from analysis.studies.lab._quantities import measured
from analysis.studies.lab.sweeps import lab_ablation_seeds, lab_ablation_sweep, lab_massive
from artifacts.errors import DataError

SEEDS = {0: "", 1: "-s1", 2: "-s2"}
LAYERS = 4
FRAMES = sorted({quantity.frame for quantity in QUANTITIES})


def row(model, metric, value, condition="", layer=np.nan, reason="", unit_id=""):
    return {
        "model": model,
        "condition": condition,
        "layer": layer,
        "head": np.nan,
        "unit_id": unit_id,
        "metric": metric,
        "value": value,
        "n": 0 if pd.isna(value) else 10,
        "reason": reason,
    }


def planted(values):
    """Measurements in which each quantity has the values given by key: a function of side and seed, or NaN."""
    frames = {name: [] for name in FRAMES}
    for quantity in QUANTITIES:
        made = values.get(quantity.key, lambda side, seed: 1.0 + 0.01 * seed)
        for side in ("rope", "drope"):
            for seed, end in SEEDS.items():
                value = made(side, seed)
                if quantity.over == "model":
                    layers = {np.nan: value}
                elif quantity.over == "lead":  # the lead over the best of the others, which have 2
                    layers = {layer: 2.0 + (value if layer == quantity.layer else -layer) for layer in range(LAYERS)}
                    layers[0] = 2.0
                else:
                    layers = dict.fromkeys(range(LAYERS), value)
                frames[quantity.frame] += [
                    row(
                        f"tiny-{side}{end}",
                        quantity.metric,
                        each / (1 if quantity.over == "lead" else quantity.scale),
                        quantity.condition,
                        layer,
                        "nothing there" if np.isnan(each) else "",
                    )
                    for layer, each in layers.items()
                ]
    keys = ["model", "condition", "layer", "metric"]  # two quantities read the same rows
    return {name: pd.DataFrame(rows).drop_duplicates(keys) for name, rows in frames.items()}


def reported(**directions):
    keys = [quantity.key for quantity in QUANTITIES if not quantity.unreported]
    return pd.DataFrame(
        [
            {"quantity": key, "rope": 1.0, "drope": 2.0, "direction": directions.get(key, "higher"), "place": "here"}
            for key in keys
        ]
    )


def rising(by):
    return lambda side, seed: 1.0 + 0.01 * seed + (by + 0.001 * seed if side == "drope" else 0)


@pytest.fixture(scope="module")
def found():
    values = {
        "massive_query": lambda side, seed: 0.0,
        "massive_key": rising(0.5),
        "massive_value": rising(0.5),
        "sink_rate": rising(-0.5),
        "first_mass": lambda side, seed: float(seed if side == "rope" else 2 - seed),
        "bos_mlp_matching": lambda side, seed: np.nan,
        "bos_value_spike": lambda side, seed: 1.0 if seed == 0 or side == "rope" else np.nan,
        "layer1_lead_mlp": lambda side, seed: -0.25 + 0.01 * seed,
    }
    return study.lab_experiments(**planted(values), lab_reported=reported(massive_value="none")).set_index("quantity")


@pytest.mark.parametrize(
    ("quantity", "word"),
    [
        ("massive_query", "not measurable"),
        ("massive_key", "yes"),
        ("massive_value", "no direction"),
        ("sink_rate", "opposite"),
        ("first_mass", "no"),
        ("bos_mlp_matching", "not measurable"),
        ("bos_value_spike", "not measurable"),
        ("largest_query", "not reported"),
    ],
)
def test_direction_goes_by_the_interval_over_seeds(found, quantity, word):
    assert found.loc[quantity, "appears"] == word


def test_a_falling_report_turns_the_words_around():
    values = {"massive_key": rising(0.5), "sink_rate": rising(-0.5)}
    turned = study.lab_experiments(**planted(values), lab_reported=reported(massive_key="lower", sink_rate="lower"))
    words = turned.set_index("quantity")["appears"]
    assert (words["massive_key"], words["sink_rate"]) == ("opposite", "yes")


# which experiment of the document asks for what: its sections 2 to 10
ASKED = {
    1: ("massive_",),
    2: ("massive_minus", "largest_minus"),
    4: ("sink", "even_attention", "largest_first_norm", "spike_layer", "bos_mlp"),
    5: ("first_mass", "write", "bos_value"),
    7: ("first_attention", "local_attention"),
    8: ("layer1_share",),
    9: ("layer0_share", "later_share"),
}


@pytest.mark.parametrize(("number", "starts"), ASKED.items())
def test_quantities_stand_under_the_experiment_that_asks_for_them(number, starts):
    named = [each for each in QUANTITIES if each.key.startswith(starts)]
    if number == 1:
        named = [each for each in named if not each.key.startswith(ASKED[2])]
    assert named
    assert {each.experiment for each in named} == {number}


def test_values_are_means_over_seeds_in_their_unit(found):
    row = found.loc["massive_key"]
    assert row["rope"] == pytest.approx(1.01)
    assert (row["rope_least"], row["rope_most"]) == pytest.approx((1.0, 1.02))
    assert row["difference"] == pytest.approx(0.501)
    assert row["seeds"] == len(SEEDS)
    assert found.loc["layer1_lead_mlp", "rope"] == pytest.approx(-0.24)


def test_what_is_missing_says_why(found):
    row = found.loc["bos_mlp_matching"]
    assert pd.isna(row["rope"])
    assert "nothing there" in row["note"]
    assert row["seeds"] == 0
    assert "counts only" in found.loc["largest_query", "note"]


def test_words_are_counted(found):
    counts = study.lab_directions(found.reset_index()).set_index("what")["count"]
    assert counts["quantities"] == len(QUANTITIES)
    assert counts["opposite"] == 1
    assert counts["decided"] == counts["yes"] + counts["no"] + counts["opposite"]
    assert counts[list(study.WORDS)].sum() == counts["quantities"]


def test_a_model_without_the_rows_is_named():
    frames = planted({})
    frame = frames["sinks"]
    frames["sinks"] = frame[(frame["metric"] != "sink_rate") | (frame["model"] != "tiny-drope-s1")]
    with pytest.raises(DataError, match=r"sinks/tiny-drope-s1\.csv: no row of sink_rate"):
        study.lab_experiments(**frames, lab_reported=reported())


def test_two_rows_of_one_value_are_refused():
    quantity = Quantity("x", 1, "x", "1", "sinks", "x")
    frame = pd.DataFrame([row("tiny-rope", "x", 1.0), row("tiny-rope", "x", 2.0)])
    with pytest.raises(DataError, match="2 rows where one value"):
        measured(quantity, {"sinks": of_pair(frame)})


def test_ablation_of_one_layer_is_the_models_value_where_it_names_its_layer():
    quantity = Quantity("x", 4, "x", "1", "sinks", "x", "chosen")
    frame = pd.DataFrame([row("tiny-rope", "x", 3.0, "chosen", layer=2)])
    assert measured(quantity, {"sinks": of_pair(frame)})["value"].tolist() == [3.0]


def sweep():
    """Losses by layer: layer 0 costs most but for attention, where layer 1 does."""
    frames = {"layer_ablation": [], "sinks": []}
    for side in ("rope", "drope"):
        for seed, end in SEEDS.items():
            for layer in range(LAYERS):
                for part in ("mlp", "attention", "both", "bos_mlp"):
                    top = 1 if part == "attention" else 0
                    value = (5.0 if layer == top else -1.0 + 0.1 * layer) + 0.01 * seed
                    frames["sinks" if part == "bos_mlp" else "layer_ablation"].append(
                        row(f"tiny-{side}{end}", "delta_nats", value, f"sweep_{part}", layer)
                    )
    return {name: pd.DataFrame(rows) for name, rows in frames.items()}


def test_sweeps_find_the_costliest_layer_and_the_gains():
    frames = sweep()
    seeds = lab_ablation_seeds(**frames)
    assert len(seeds) == 4 * 2 * len(SEEDS)
    top = seeds.groupby("ablation")["costliest_layer"].unique().map(list)
    assert top.to_dict() == {"attention": [1], "both": [0], "bos_mlp": [0], "mlp": [0]}
    assert set(seeds["gains"]) == {LAYERS - 1}
    means = lab_ablation_sweep(**frames)
    assert len(means) == 4 * LAYERS
    assert means["rope"].max() == pytest.approx(5.01)
    verdicts = {verdict.key: verdict.verdict for verdict in claims.thesis_lab_layer1(seeds)}
    assert verdicts == {"mlp": "holds", "attention": "contradicted", "both": "holds"}


def test_massive_counts_by_threshold():
    rows = []
    for side in ("rope", "drope"):
        for seed, end in SEEDS.items():
            for threshold in ("3", "5"):
                for tensor in "qkv":
                    count = 6.0 + seed if threshold == "3" and tensor == "q" else 0.0
                    rows.append(row(f"tiny-{side}{end}", f"massive_total_{tensor}", count, f"pre lambda={threshold}"))
                    rows.append(
                        row(
                            f"tiny-{side}{end}", f"massive_total_{tensor}", 99.0, f"pre lambda={threshold}", unit_id="t"
                        )
                    )
    counts = lab_massive(pd.DataFrame(rows))
    assert len(counts) == 6
    own = counts[(counts["tensor"] == "query") & (counts["threshold"] == 3)].iloc[0]
    assert (own["rope"], own["rope_least"], own["rope_most"], own["texts"]) == (7.0, 6.0, 8.0, 10)
    assert claims.thesis_lab_massive_values(counts).verdict == "holds"
    some = counts.assign(rope_most=counts["rope_most"].where(counts["threshold"] == 3, 1.0))
    assert claims.thesis_lab_massive_values(some).verdict == "contradicted"


def test_reliance_on_the_largest_dimensions_is_judged_by_seeds(found):
    verdict = {each.key: each.verdict for each in claims.thesis_lab_largest_dimensions(found.reset_index())}
    assert set(verdict.values()) <= {"not significant", "not supported"}
    lower = {"passkey_degradation": rising(-0.5), "contextual_degradation": rising(0.5)}
    frame = study.lab_experiments(**planted(lower), lab_reported=reported())
    verdict = {each.key: each.verdict for each in claims.thesis_lab_largest_dimensions(frame)}
    assert verdict["passkey_degradation"] == "holds"
    assert verdict["contextual_degradation"] == "contradicted"


def test_one_seed_decides_nothing():
    one = {name: frame[~frame["model"].str.contains("-s")] for name, frame in planted({}).items()}
    frame = study.lab_experiments(**one, lab_reported=reported())
    assert set(frame["appears"]) == {"not measurable", "not reported"}
    assert {each.verdict for each in claims.thesis_lab_largest_dimensions(frame)} == {"not testable"}
    assert claims.thesis_lab_layer1_share(frame).verdict == "not testable"
    assert claims.thesis_lab_directions(study.lab_directions(frame)).verdict == "not testable"
