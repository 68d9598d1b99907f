"""Collect the DroPE report's values of the headline quantities of Experiments 1-9."""

from typing import Any

import pandas as pd

from analysis.vocabulary import PAIR
from boundpaper.store.frames import pick

ALPHA = 0.05


def experiments_reported(
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
    """Return the source's values of the headline quantities of Experiments 1-9 for Llama-2-7B, in each quantity's unit.

    Losses are in nats from the reported perplexities. `direction` is DroPE's relative to RoPE's: `higher`, `lower`,
    or `none` if the two are equal or not significantly different by the reported spread.
    """
    rows: list[dict[str, Any]] = []

    def add(key: str, rope: float, drope: float, source: str, differs: bool = True) -> None:
        direction = "none" if not differs or rope == drope else "higher" if drope > rope else "lower"
        rows.append(
            {"quantity": key, "rope": float(rope), "drope": float(drope), "direction": direction, "place": source}
        )

    def add_cells(key: str, frame: pd.DataFrame, **where: object) -> None:
        values = [pick(frame, positional=model, **where) for model in PAIR]
        sources = sorted({str(row["source"]) for row in values})
        add(key, values[0]["value"], values[1]["value"], ", ".join(sources))

    for tensor in ("query", "key", "value"):
        row = pick(massive_counts, tensor=tensor, run="reported totals")
        differs = bool(pick(massive_tests, comparison=tensor)["p_adjusted"] < ALPHA)
        add(f"massive_{tensor}", row["rope_mean"], row["drope_mean"], "004 2.2 T1", differs)
    tests = disruption_tests[disruption_tests["test"] == "log_perplexity_difference"]
    nats = [pick(tests, comparison=f"{model}: massive against random")["estimate"] for model in PAIR]
    add("massive_minus_random", nats[0], nats[1], "004 3.3 T1")
    for category in ("parametric", "contextual"):
        rates = [pick(knowledge_categories, positional=model, category=category) for model in PAIR]
        add(f"{category}_degradation", rates[0]["degradation"], rates[1]["degradation"], "004 4.3 T1")
    add_cells("passkey_degradation", drope_knowledge, task="passkey", metric="degradation")
    add_cells("sink_rate", drope_sink_rates, layers="average")
    add("largest_first_norm", phase_layers["ratio_rope"].max(), phase_layers["ratio_drope"].max(), "004 Fig. 14")
    add_cells("spike_layer", drope_phase, metric="bos_spike_layer")
    ablated = [pick(bos_mlp_effects, experiment=4, positional=model)["nats"] for model in PAIR]
    add("bos_mlp_matching", ablated[0], ablated[1], "004 5.3 T2")
    add_cells("first_mass", drope_bos_write, metric="bos_attention_mass")
    add_cells("write", drope_bos_write, metric="effective_write")
    for key, ablation in (("bos_value_spike", "bos_value_spike_layer"), ("bos_value_all", "bos_value_all_layers")):
        losses = [pick(bos_ablations, ablation=ablation, positional=model)["nats"] for model in PAIR]
        add(key, losses[0], losses[1], "004 6.3 T2")
    for site, condition in (
        ("mlp", "layer1_mlp"),
        ("attention", "layer1_attn"),
        ("both", "layer1_both"),
        ("both_bos", "layer1_bos_only"),
    ):
        losses = [pick(layer1_effects, condition=condition, positional=model)["nats"] for model in PAIR]
        add(f"layer1_{site}", losses[0], losses[1], "004 7.3 T1")
    add_cells("first_attention", drope_attention, metric="bos_attention")
    add_cells("local_attention", drope_attention, metric="local_attention")
    add_cells("layer1_share", drope_layer1_content, metric="attention_contribution")
    add_cells("layer0_share", drope_crosslayer, layers="0", metric="attention_contribution")
    add_cells("later_share", drope_crosslayer, layers="2-31", metric="attention_contribution")
    return pd.DataFrame(rows)
