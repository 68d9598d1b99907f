"""Document 004, Experiment 4: claims on zeroing the first token's MLP output: perplexity, and what the token stores."""

import math

import pandas as pd

from analysis.claims._shared import rows_where
from analysis.vocabulary import PAIR
from boundpaper.claims import Artifact, Cells, Relation, Verdict, claim, judge, pick


@claim("004, 5.2 Method")
def c004_ablated_layer_matches(bos_mlp_effects: pd.DataFrame, phase_metrics: pd.DataFrame) -> Verdict:
    """The MLP output is removed in the layer where the first token spikes, layer 1 of RoPE and layer 2 of DroPE."""
    row = pick(bos_mlp_effects, experiment=4, positional="DroPE")
    write_norm = float(pick(phase_metrics, quantity="mlp_write_layer_1")["drope"])
    spike_layer = int(pick(phase_metrics, quantity="spike_largest_rise")["drope"])
    return judge(
        spike_layer == row["layer"],
        f"DroPE's norm rises in layer {spike_layer}, whose MLP writes a vector of norm {write_norm:.0f} to the first "
        f"token; layer {row['layer']} writes {row['mlp_write']:.1f}, {row['write_share']:.1f}% of the token's norm.",
        reported=f"layer {row['layer']}",
        recomputed=f"layer {spike_layer}",
    )


c004_bos_mlp_ratios = Cells(
    "The change of perplexity is the ablated over the baseline perplexity.",
    "004, 5.3 Results, BOS-MLP table",
    Relation(
        each={"model": PAIR},
        cell=Artifact("drope_bos_mlp")(positional="{model}", metric="ppl_ratio"),
        follows=Artifact("bos_mlp_effects").value(
            "ratio", ("ratio_low", "ratio_high"), experiment=4, positional="{model}"
        ),
        because="{0.row[ablated_printed]} / {0.row[baseline_printed]} = {0:.4g}, rounding leaves {within.low:.5g} to "
        "{within.high:.5g}.",
        key="{model}",
        says="The perplexity of {model} changes {0.row[ratio_printed]}.",
    ),
)


@claim("004, 5.3 Results, Figure 13")
def c004_fig13_rope_explodes(bos_mlp_effects: pd.DataFrame) -> Verdict:
    """Removing the first token's MLP output in its spike layer makes RoPE's perplexity explode."""
    row = pick(bos_mlp_effects, experiment=4, positional="RoPE")
    return judge(
        row["nats_low"] > math.log(100),
        f"It rises by {row['nats']:.2f} nats per token, and the layer removed is the one that writes the spike (a "
        f"vector of norm {row['mlp_write']:.0f}, after which the token's norm is {row['norm_after']:.0f}).",
        reported=row["ratio_printed"],
        recomputed=f"{row['ratio']:.0f}×",
    )


@claim("004, 5.3 Results, Figure 13", failure="control")
def c004_fig13_drope_unaffected(bos_mlp_effects: pd.DataFrame) -> Verdict:
    """DroPE is unaffected by removing the first token's MLP output.

    The claim `c004_only_rope_stores` judges whether DroPE depends on this token.
    """
    exp4 = pick(bos_mlp_effects, experiment=4, positional="DroPE")
    exp6 = pick(bos_mlp_effects, experiment=6, positional="DroPE")
    return judge(
        exp4["write_share"] > 50,
        f"The ratio of {exp4['ratio_printed']} is for layer {exp4['layer']}, whose MLP holds "
        f"{exp4['write_share']:.1f}% of the token's norm; removing the first token's outputs in layer {exp6['layer']} "
        f"({exp6['write_share']:.0f}%) raises DroPE's perplexity {exp6['ratio_printed']}.",
        otherwise="not supported",
        reported=exp4["ratio_printed"],
        recomputed=exp6["ratio_printed"],
    )


@claim("004, 5.5 Interpretation")
def c004_position_information_in_bos(phase_layers: pd.DataFrame) -> Verdict:
    """The first token stores critical information that depends on position."""
    largest_sd = float(phase_layers["norm_sd_rope"].max())
    return judge(
        largest_sd > 0,
        "Under the causal mask the first token attends to itself only, so its state should be the same in every text: "
        f"RoPE's published norm has a standard deviation of at most {largest_sd:g} over prompts in {len(phase_layers)} "
        "layers."
        + (
            " It differs between texts, as a state does that stores something about them."
            if largest_sd > 0
            else " A constant can be needed, but it holds nothing about the text's positions."
        ),
        otherwise="not supported",
        n=len(phase_layers),
    )


@claim("004, 5.5 Interpretation")
def c004_only_rope_stores(bos_mlp_effects: pd.DataFrame, layer1_task_shares: pd.DataFrame) -> Verdict:
    """Only RoPE keeps critical information at the first token; DroPE's first token collects attention and stores
    nothing essential.
    """
    row = pick(bos_mlp_effects, experiment=6, positional="DroPE")
    tasks = rows_where(layer1_task_shares, positional="DroPE", condition="layer1_bos_only")
    zero_count = int((tasks["right_high"] == 0).sum())
    return judge(
        row["nats"] < 1 and zero_count == 0,
        "Experiment 6 of the same report removes the first token's outputs in layer 1: DroPE's perplexity rises "
        f"{row['ratio_printed']} ({row['nats']:.2f} nats) and {zero_count} of {len(tasks)} tasks fall to 0%.",
        reported="only RoPE",
        recomputed=row["ratio_printed"],
    )
