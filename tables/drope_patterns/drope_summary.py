"""The report's summary table row by row, with a footnote where a row needs explanation."""

import re

import pandas as pd

from analysis.vocabulary import PAIR
from boundpaper.tables import Column, Table, sentences

ROWS: dict[str, tuple[str, str, str]] = {  # metric: experiment, name, mark
    "query_massive": ("1", "massive query values", ""),
    "key_massive": ("1", "massive key values", ""),
    "qk_disruption_increase": ("2", "perplexity increase, Q and K disrupted", ""),
    "parametric_baseline": ("4", "parametric tasks, baseline", "baseline"),
    "contextual_baseline": ("4", "contextual tasks, baseline", "baseline"),
    "qk_disruption_passkey": ("4", "passkey, Q and K disrupted", "passkey"),
    "sink_rate": ("4", "sink rate", ""),
    "bos_mlp_ppl_ratio": ("4", "perplexity, BOS-MLP ablated", "layer"),
    "bos_mlp_accuracy": ("4", "accuracy, BOS-MLP ablated", "layer"),
    "functional_after_bos_ablation": ("4", "functional after it", "layer"),
    "bos_value_norm": ("5", "value norm at BOS", ""),
    "effective_write": ("5", "effective write at BOS", ""),
    "max_write_layer": ("5", "layer of the largest write", ""),
    "bos_value_all_layers_ppl_ratio": ("5", "perplexity, BOS values ablated", ""),
    "layer1_mlp_ppl_ratio": ("6", "perplexity, layer-1 MLP ablated", ""),
    "layer1_attention_ppl_ratio": ("6", "perplexity, layer-1 attention ablated", ""),
    "layer1_mlp_over_attention": ("6", "ratio of the two", ""),
    "sink_heads": ("7", "sink heads", ""),
    "layer1_attention_contribution": ("8", "layer 1, attention's share", "share"),
    "layer1_query_norm": ("8", "layer 1, query norm", ""),
    "layer1_key_norm": ("8", "layer 1, key norm", ""),
    "layer0_attention_contribution": ("9", "layer 0, attention's share", ""),
    "layers_2_31_attention_contribution": ("9", "layers 2-31, attention's share", "later"),
    "passkey_2048": ("10", "passkey at 2048 tokens", ""),
    "passkey_8192": ("10", "passkey at 8192 tokens", "runs"),
    "dominant_error_type": ("10", "most frequent error", "base"),
    "verification_ranking": ("10", "ranking", "ranking"),
    "prompt_sensitivity": ("10", "prompt sensitivity", "formats"),
}


def table(
    drope_summary_reported: pd.DataFrame,
    drope_knowledge: pd.DataFrame,
    content_layers: pd.DataFrame,
    balance_summary: pd.DataFrame,
    context_cells: pd.DataFrame,
    error_shares: pd.DataFrame,
    ranking_tests: pd.DataFrame,
    context_tests: pd.DataFrame,
) -> Table:
    """Return one row per row of the report's table."""
    cells = drope_summary_reported.set_index(["metric", "positional"])["printed"]
    rows = []
    for metric, (experiment, name, mark) in ROWS.items():
        row = {"experiment": experiment, "name": name, "mark": mark}
        for model in PAIR:
            keys = [(f"{metric}_{suffix}", model) for suffix in ("mean", "sd")]
            numbers = [str(cells[key]) for key in keys if key in cells.index]
            cell = " ± ".join(numbers) or str(cells[(metric, model)])
            row[model] = re.sub(r"\d{4,}", lambda match: f"{int(match[0]):,}", cell)
        rows.append(row)
    later = balance_summary.set_index("layers").loc["2-31"]
    content = content_layers.set_index(["positional", "layer", "scope"])
    at_8192 = context_cells[(context_cells["positional"] == "DroPE") & (context_cells["context"] == 8192)]
    counts = [f"{row['correct']} of {row['trials']} ({row['section']})" for _, row in at_8192.iterrows()]
    drope_errors = error_shares[(error_shares["positional"] == "DroPE") & (error_shares["context"] == 2048)]
    error = drope_errors[drope_errors["category"] == "off_by_one_length"].iloc[0]
    values = drope_knowledge.set_index(["positional", "task", "metric"])["printed"]
    ranks = ranking_tests.set_index("comparison").loc["DroPE, all contexts"]
    formats = context_tests[
        (context_tests["study"] == "formats") & (context_tests["comparison"] == "both contexts")
    ].iloc[0]
    trials = ranking_tests[ranking_tests["study"] == "against_chance"]["n"].iloc[0]
    norms = [content["mlp_norm"][("DroPE", layer, "BOS")] for layer in (2, 1)]
    return Table(
        rows=pd.DataFrame(rows),
        columns=[
            Column("experiment", "Exp.", align="right", repeat=False),
            Column("name", "Quantity", sentences, mark="mark"),
            Column("RoPE", "RoPE", sentences),
            Column("DroPE", "DroPE", sentences),
        ],
        marks={
            "baseline": (
                f"Experiment 4. The same tasks in Experiment 3 start from {values[('RoPE', 'cities', 'baseline')]}, "
                f"{values[('RoPE', 'sports', 'baseline')]}, {values[('RoPE', 'passkey', 'baseline')]} and "
                f"{values[('RoPE', 'imdb', 'baseline')]} in RoPE and {values[('DroPE', 'cities', 'baseline')]}, "
                f"{values[('DroPE', 'sports', 'baseline')]}, {values[('DroPE', 'passkey', 'baseline')]} and "
                f"{values[('DroPE', 'imdb', 'baseline')]} in DroPE (cities, sports, passkey, sentiment)."
            ),
            "passkey": f"In Experiment 3 DroPE keeps {values[('DroPE', 'passkey', 'disrupted')]} under its disruption.",
            "layer": (
                f"Ablated in layer 1 of RoPE and layer 2 of DroPE, whose MLP writes a norm of {norms[0]:.1f} at BOS; "
                f"in layer 1 it is {norms[1]:.0f}."
            ),
            "share": (
                "Mean over texts of the ratio; the ratio of means is "
                f"{content['share'][('DroPE', 1, 'all tokens')]:.1f} %, and "
                f"{content['share'][('DroPE', 1, 'BOS')]:.1f} % at BOS."
            ),
            "later": f"The published layers average {later['mean_rope']:.1f} and {later['mean_drope']:.1f} %.",
            "runs": f"DroPE: {' and '.join(counts)}.",
            "base": f"Of the trials; {error['share_of_errors']:.0f} % of the errors.",
            "ranking": (
                f"{trials} trials per cell; DroPE's {ranks['n']} together leave {100 * ranks['ci_low']:.0f} to "
                f"{100 * ranks['ci_high']:.0f} % open."
            ),
            "formats": f"Between DroPE's two formats Holm $p = {formats['p_adjusted']:.2f}$.",
        },
        space=0,
        size="footnotesize",
        caption=(
            "Summary of the DroPE experiments as printed in Section 14 of the report [@africa2026], with the "
            "experiment each row comes "
            "from. Footnotes: where other parts of the report, or its published values, say otherwise."
        ),
        short="Summary of the DroPE experiments",
    )
