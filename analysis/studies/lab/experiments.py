"""Experiments 1-9 on the tiny pair, over training seeds, beside what the source reports of Llama-2-7B."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from analysis.measure.quantities import QUANTITIES
from analysis.studies.lab._pair import SIDES, of_pair, over_seeds
from analysis.studies.lab._quantities import measured
from artifacts.errors import DataError

NAMES = {"rope": "RoPE", "drope": "DroPE"}
WORDS = ("yes", "no", "opposite", "not measurable", "no direction", "not reported")
ALPHA = 0.05


def lab_experiments(
    massive_values: pd.DataFrame,
    disruption: pd.DataFrame,
    knowledge: pd.DataFrame,
    sinks: pd.DataFrame,
    bos_value: pd.DataFrame,
    layer_ablation: pd.DataFrame,
    attention_patterns: pd.DataFrame,
    layer_content: pd.DataFrame,
    crosslayer_balance: pd.DataFrame,
    lab_reported: pd.DataFrame,
) -> pd.DataFrame:
    """Headline quantities over training seeds, the reported values, and whether the reported direction appears.

    Values of the pair are as of `over_seeds`. `appears` goes by the 95 % interval of the difference DroPE less RoPE,
    paired by training seed: `yes` when it lies on the reported side of zero, `opposite` when on the other, `no` when it
    holds zero; `not measurable` when fewer than two seeds have the quantity in both models, or when it is zero in all
    of them; `no direction` when the reported values do not differ beyond their rounding or by the test on the reported
    spread; `not reported` when the source has no values. `absent` says why a model has no value, in its own words up to
    the first colon.
    """
    frames = {
        name: of_pair(frame)
        for name, frame in (
            ("massive_values", massive_values),
            ("disruption", disruption),
            ("knowledge", knowledge),
            ("sinks", sinks),
            ("bos_value", bos_value),
            ("layer_ablation", layer_ablation),
            ("attention_patterns", attention_patterns),
            ("layer_content", layer_content),
            ("crosslayer_balance", crosslayer_balance),
        )
    }
    each = pd.concat([measured(quantity, frames) for quantity in QUANTITIES], ignore_index=True)
    pair = over_seeds(each, ["quantity"]).set_index("quantity")
    reported = lab_reported.set_index("quantity")
    rows = []
    for quantity in QUANTITIES:
        own = pair.loc[quantity.key]
        said = reported.loc[quantity.key] if quantity.key in reported.index else None
        if said is None and not quantity.unreported:
            raise DataError(f"lab_reported has no row of {quantity.key}, and its Quantity no reason for that")
        missing = each[(each["quantity"] == quantity.key) & (each["reason"] != "")]
        absent = "; ".join(sorted({str(reason).split(":")[0] for reason in missing["reason"]}))
        notes = [str(own["note"]), absent]
        if said is None:
            notes.append(f"reported_rope, reported_drope: {quantity.unreported}")
        row: dict[str, Any] = {
            "quantity": quantity.key,
            "experiment": quantity.experiment,
            "label": quantity.label,
            "unit": quantity.unit,
            "digits": quantity.digits,
            "reported_rope": None if said is None else said["rope"],
            "reported_drope": None if said is None else said["drope"],
            "place": "" if said is None else said["place"],
            "direction": "" if said is None else said["direction"],
            "unreported": quantity.unreported,
            "caveat": quantity.caveat,
            "absent": absent,
            **{str(name): value for name, value in own.drop("note").items()},
        }
        row["appears"] = _appears(row)
        row["note"] = "; ".join(note for note in notes if note)
        rows.append(row)
    return pd.DataFrame(rows)


def _appears(row: dict[str, Any]) -> str:
    if not row["direction"]:
        return "not reported"
    if row["seeds"] < 2 or pd.isna(row["difference_low"]):
        return "not measurable"
    if all(row[f"{side}_{end}"] == 0 for side in SIDES for end in ("least", "most")):
        return "not measurable"
    if row["direction"] == "none":
        return "no direction"
    sign = 1 if row["direction"] == "higher" else -1
    low, high = sorted((sign * row["difference_low"], sign * row["difference_high"]))
    return "yes" if low > 0 else "opposite" if high < 0 else "no"


def lab_reported(
    massive_counts: pd.DataFrame,
    massive_tests: pd.DataFrame,
    disruption_tests: pd.DataFrame,
    knowledge_categories: pd.DataFrame,
    drope_knowledge: pd.DataFrame,
    drope_sink_rates: pd.DataFrame,
    phase_layers: pd.DataFrame,
    drope_phase: pd.DataFrame,
    bos_mlp_effects: pd.DataFrame,
    drope_bos_write: pd.DataFrame,
    bos_ablations: pd.DataFrame,
    layer1_effects: pd.DataFrame,
    drope_attention: pd.DataFrame,
    drope_layer1_content: pd.DataFrame,
    drope_crosslayer: pd.DataFrame,
) -> pd.DataFrame:
    """What the source reports of Llama-2-7B for the quantities of `lab_experiments`, in their units.

    Losses are in nats from the reported perplexities. `direction` is DroPE's against RoPE's: `higher`, `lower`, or
    `none` when the two are equal or the test from the reported spread does not tell them apart.
    """
    found: list[dict[str, Any]] = []

    def add(key: str, rope: float, drope: float, place: str, apart: bool = True) -> None:
        direction = "none" if not apart or rope == drope else "higher" if drope > rope else "lower"
        found.append(
            {"quantity": key, "rope": float(rope), "drope": float(drope), "direction": direction, "place": place}
        )

    def cells(key: str, frame: pd.DataFrame, **where: object) -> None:
        values = [_one(frame, positional=NAMES[side], **where) for side in SIDES]
        places = sorted({str(row["source"]) for row in values})
        add(key, values[0]["value"], values[1]["value"], ", ".join(places))

    for tensor in ("query", "key", "value"):
        row = _one(massive_counts, tensor=tensor, run="reported totals")
        apart = bool(_one(massive_tests, comparison=tensor)["p_adjusted"] < ALPHA)
        add(f"massive_{tensor}", row["rope_mean"], row["drope_mean"], "004 2.2 T1", apart)
    tests = disruption_tests[disruption_tests["test"] == "log_perplexity_difference"]
    nats = [_one(tests, comparison=f"{NAMES[side]}: massive against random")["estimate"] for side in SIDES]
    add("massive_minus_random", nats[0], nats[1], "004 3.3 T1")
    for category in ("parametric", "contextual"):
        falls = [_one(knowledge_categories, positional=NAMES[side], category=category) for side in SIDES]
        add(f"{category}_degradation", falls[0]["degradation"], falls[1]["degradation"], "004 4.3 T1")
    cells("passkey_degradation", drope_knowledge, task="passkey", metric="degradation")
    cells("sink_rate", drope_sink_rates, layers="average")
    add("largest_first_norm", phase_layers["ratio_rope"].max(), phase_layers["ratio_drope"].max(), "004 Fig. 14")
    cells("spike_layer", drope_phase, metric="bos_spike_layer")
    ablated = [_one(bos_mlp_effects, experiment=4, positional=NAMES[side])["nats"] for side in SIDES]
    add("bos_mlp_matching", ablated[0], ablated[1], "004 5.3 T2")
    cells("first_mass", drope_bos_write, metric="bos_attention_mass")
    cells("write", drope_bos_write, metric="effective_write")
    for key, ablation in (("bos_value_spike", "bos_value_spike_layer"), ("bos_value_all", "bos_value_all_layers")):
        losses = [_one(bos_ablations, ablation=ablation, positional=NAMES[side])["nats"] for side in SIDES]
        add(key, losses[0], losses[1], "004 6.3 T2")
    for part, condition in (
        ("mlp", "layer1_mlp"),
        ("attention", "layer1_attn"),
        ("both", "layer1_both"),
        ("both_bos", "layer1_bos_only"),
    ):
        losses = [_one(layer1_effects, condition=condition, positional=NAMES[side])["nats"] for side in SIDES]
        add(f"layer1_{part}", losses[0], losses[1], "004 7.3 T1")
    cells("first_attention", drope_attention, metric="bos_attention")
    cells("local_attention", drope_attention, metric="local_attention")
    cells("layer1_share", drope_layer1_content, metric="attention_contribution")
    cells("layer0_share", drope_crosslayer, layers="0", metric="attention_contribution")
    cells("later_share", drope_crosslayer, layers="2-31", metric="attention_contribution")
    return pd.DataFrame(found)


def _one(frame: pd.DataFrame, **where: object) -> pd.Series:
    rows = frame
    for name, value in where.items():
        rows = rows[rows[name] == value]
    if len(rows) != 1:
        raise DataError(f"{len(rows)} rows have {where}; exactly one is needed")
    return rows.iloc[0]


def lab_directions(lab_experiments: pd.DataFrame) -> pd.DataFrame:
    """How many of the headline quantities have which word in `appears`, and how many were compared.

    `quantities` are all of them; `reported` those with values in the source; `decided` those whose word is yes, no or
    opposite; then the words.
    """
    words = lab_experiments["appears"]
    counts = {
        "quantities": len(words),
        "reported": int((words != "not reported").sum()),
        "decided": int(words.isin(["yes", "no", "opposite"]).sum()),
        "seeds": int(lab_experiments["seeds"].max()),
        **{word: int((words == word).sum()) for word in WORDS},
    }
    return pd.DataFrame(list(counts.items()), columns=["what", "count"]).astype({"count": np.int64})
