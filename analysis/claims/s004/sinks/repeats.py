"""Document 004, Experiments 4 to 6: values that the prose and the captions repeat from tables."""

from __future__ import annotations

import pandas as pd

from analysis.claims import Verdict
from analysis.claims._verdicts.cells import Cell, restated


def c004_exp4_repeats(
    drope_stated: pd.DataFrame,
    drope_phase: pd.DataFrame,
    drope_sink_rates: pd.DataFrame,
    drope_functional: pd.DataFrame,
) -> list[Verdict]:
    """The prose of Experiment 4 repeats its tables.

    Source: 004, 5.4 Additional Phase Metrics and 5.5 Interpretation.
    """

    def phase(model: str, metric: str) -> Cell:
        place = Cell(drope_phase, "the phase table", {"positional": model, "metric": metric})
        spike = f"c004_spike_layers.{model.lower()}"
        return place.by(spike if metric == "bos_spike_layer" else f"c004_phase_cells.{model}-{metric}")

    def task(model: str, name: str, condition: str) -> Cell:
        where = {"positional": model, "task": name, "condition": condition}
        return Cell(drope_functional, "the condition table", where)

    places: dict[str, Cell] = {
        "s5_2_rope_spike_layer": phase("RoPE", "bos_spike_layer"),
        "s5_2_drope_spike_layer": phase("DroPE", "bos_spike_layer"),
        "s5_4_rope_spike_layer": phase("RoPE", "bos_spike_layer"),
        "s5_4_drope_spike_layer": phase("DroPE", "bos_spike_layer"),
        "s5_4_rope_min_entropy": phase("RoPE", "min_entropy"),
        "s5_4_rope_min_entropy_layer": phase("RoPE", "min_entropy_layer"),
        "s5_4_drope_min_entropy": phase("DroPE", "min_entropy"),
        "s5_5_drope_sink_rate": Cell(
            drope_sink_rates,
            "the sink-rate table",
            {"layers": "average", "positional": "DroPE"},
        ).by("c004_sink_rate_cells.DroPE-average"),
        "s5_5_rope_accuracy": task("RoPE", "cities", "bos_mlp_ablation").by("c004_rope_fails_all_tasks"),
        "s5_5_rope_passkey_baseline": task("RoPE", "passkey", "baseline"),
        "s5_5_rope_passkey_qk": task("RoPE", "passkey", "qk_disruption"),
        "s5_5_drope_passkey_baseline": task("DroPE", "passkey", "baseline"),
        "s5_5_drope_passkey_qk": task("DroPE", "passkey", "qk_disruption"),
    }
    return restated(drope_stated, places)


def c004_fig16_repeats(drope_captions: pd.DataFrame, drope_functional: pd.DataFrame) -> list[Verdict]:
    """The caption of the task figure repeats the condition table.

    Source: 004, 5.5 Interpretation, Figure 16.
    """
    where = {"positional": "RoPE", "task": "sports", "condition": "bos_mlp_ablation"}
    place = Cell(drope_functional, "the condition table", where).by("c004_rope_fails_all_tasks")
    return restated(drope_captions, {"fig_16_rope_accuracy": place})


def c004_exp5_repeats(
    drope_stated: pd.DataFrame,
    drope_bos_mlp: pd.DataFrame,
    drope_bos_write: pd.DataFrame,
    drope_phase: pd.DataFrame,
    drope_layer1_massive: pd.DataFrame,
) -> list[Verdict]:
    """The prose of Experiment 5 repeats its own and earlier tables.

    Source: 004, 6.1 Motivation to 6.5 The Massive Activation Connection.
    """

    def write(model: str, metric: str) -> Cell:
        place = Cell(drope_bos_write, "the write table", {"positional": model, "metric": metric})
        return place.by(f"c004_bos_write_cells.{model}-{metric}")

    def stated(statement: str) -> Cell:
        return Cell(drope_stated, "the first mention", {"statement": statement})

    places: dict[str, Cell] = {
        f"s6_1_{model.lower()}_bos_mlp": Cell(
            drope_bos_mlp,
            "the BOS-MLP table",
            {"positional": model, "metric": "ppl_ratio"},
        ).by(f"c004_bos_mlp_ratios.{model}")
        for model in ("RoPE", "DroPE")
    }
    for model in ("RoPE", "DroPE"):
        places[f"s6_3_{model.lower()}_write"] = write(model, "effective_write")
        places[f"s6_3_{model.lower()}_value_norm"] = write(model, "bos_value_norm")
        places[f"s6_3_{model.lower()}_max_write_layer"] = write(model, "max_write_layer")
        places[f"s6_5_{model.lower()}_spike_layer"] = Cell(
            drope_phase,
            "the phase table",
            {"positional": model, "metric": "bos_spike_layer"},
        ).by(f"c004_spike_layers.{model.lower()}")
    places["s6_4_bos_value_ratio"] = stated("s6_3_bos_value_ratio").by(
        "c004_bos_value_four.rope", "c004_bos_value_four.drope"
    )
    places["s6_5_drope_qk_size"] = stated("s6_2_drope_qk_size").by("c004_qk_size.drope")
    places["s6_5_layer1_ratio"] = _increase(drope_layer1_massive)
    return restated(drope_stated, places)


def c004_exp6_repeats(
    drope_stated: pd.DataFrame,
    drope_layer1_massive: pd.DataFrame,
    drope_layer1_perplexity: pd.DataFrame,
    drope_layer1_tasks: pd.DataFrame,
) -> list[Verdict]:
    """The prose of Experiment 6 repeats its own and earlier tables.

    Source: 004, 7.1 Motivation to 7.5 Interpretation.
    """

    def count(model: str) -> Cell:
        where = {"layers": "1", "positional": model, "metric": "count"}
        return Cell(drope_layer1_massive, "the table of layer 1", where).by(f"c004_layer1_counts.{model}")

    def ratio(model: str, condition: str) -> Cell:
        where = {"positional": model, "condition": condition, "metric": "ppl_ratio"}
        place = Cell(drope_layer1_perplexity, "the perplexity table", where)
        return place.by(f"c004_layer1_ratios.{model}-{condition}")

    def task(name: str) -> Cell:
        return Cell(
            drope_layer1_tasks,
            "the task table",
            {"positional": "RoPE", "condition": "layer1_attn", "task": name},
        )

    def stated(statement: str) -> Cell:
        return Cell(drope_stated, "the first mention", {"statement": statement})

    places: dict[str, Cell] = {
        "s7_1_layer1_ratio": _increase(drope_layer1_massive),
        "s7_1_drope_count": count("DroPE"),
        "s7_1_rope_count": count("RoPE"),
        "s7_1_drope_max_write": stated("s6_5_drope_max_write").by("c004_max_write"),
        "s7_1_drope_qk_size": stated("s6_2_drope_qk_size").by("c004_qk_size.drope"),
        "s7_1_rope_qk_size": stated("s6_2_rope_qk_size").by("c004_qk_size.rope"),
        "s7_4_rope_mlp": ratio("RoPE", "layer1_mlp"),
        "s7_4_rope_attention": ratio("RoPE", "layer1_attn"),
        "s7_4_rope_cities": task("cities"),
        "s7_4_rope_sports": task("sports"),
        "s7_4_rope_passkey": task("passkey"),
        "s7_4_drope_mlp": ratio("DroPE", "layer1_mlp"),
        "s7_4_rope_mlp_again": ratio("RoPE", "layer1_mlp"),
        "s7_5_rope_attention": ratio("RoPE", "layer1_attn"),
        "s7_5_rope_mlp": ratio("RoPE", "layer1_mlp"),
        "s7_5_layer1_ratio": _increase(drope_layer1_massive),
    }
    return restated(drope_stated, places)


def _increase(drope_layer1_massive: pd.DataFrame) -> Cell:
    where = {"layers": "1", "positional": "DroPE", "metric": "change_from_rope"}
    return Cell(drope_layer1_massive, "the table of layer 1", where).by("c004_layer1_tensors")
