"""Document 004, Experiment 4: claims on the first token's norm, its spike, and the entropy of hidden states."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims._shared import printed_text, value_of
from analysis.vocabulary import PAIR
from boundpaper.claims import Artifact, Cells, Relation, Verdict, claim, compare, judge, pick, quote, untestable

PHASE = (  # quantity of the published series, and metric of the table
    ("peak_norm", "peak_bos_norm"),
    ("peak_norm_layer", "peak_bos_norm_layer"),
    ("min_entropy", "min_entropy"),
    ("min_entropy_layer", "min_entropy_layer"),
)


c004_phase_cells = Cells(
    "Peak norms and smallest entropies, with their layers, are those of the published series.",
    "004, 5.4 Additional Phase Metrics, phase table",
    Relation(
        each={"quantity, metric": PHASE, "model": PAIR},
        cell=Artifact("drope_phase")(positional="{model}", metric="{metric}"),
        follows=Artifact("phase_metrics").value("{model!l}", quantity="{quantity}"),
        because="The published series gives {0:.5g}.",
        key="{model}-{metric}",
        says="The cell {model}, {metric} is that of the published series.",
    ),
)


@claim("004, 5.4 Additional Phase Metrics")
def c004_spike_layers(phase_metrics: pd.DataFrame, drope_stated: pd.DataFrame) -> Iterator[Verdict]:
    """The first token's norm first exceeds twice that of other tokens in layer 1 of RoPE and layer 2 of DroPE."""
    threshold = quote(drope_stated, statement="s5_4_spike_ratio")
    for model in PAIR:
        name = model.lower()
        first_layer = value_of(phase_metrics, "spike_first_above", name)
        top_layer = value_of(phase_metrics, "spike_largest_ratio", name)
        ratios = [value_of(phase_metrics, f"ratio_layer_{layer}", name) for layer in (0, 1, 2)]
        yield compare(
            quote(drope_stated, statement=f"s5_4_{name}_spike_layer"),
            first_layer,
            reason=f"The published ratios of layers 0 to 2 are {', '.join(f'{ratio:.1f}' for ratio in ratios)}: the "
            f"first above {threshold.number:g} is layer {first_layer:.0f}, the largest layer {top_layer:.0f}.",
            places=0,
            key=name,
            statement=f"{model}'s norm ratio first exceeds {threshold.printed} in the layer printed.",
        )


@claim("004, 5.4 Additional Phase Metrics", failure="reading")
def c004_spike_delayed(phase_metrics: pd.DataFrame, phase_layers: pd.DataFrame) -> Verdict:
    """DroPE delays the spike of the first token by a layer."""
    rises = {model: value_of(phase_metrics, "spike_largest_rise", model.lower()) for model in PAIR}
    norm_0, norm_1 = (value_of(phase_metrics, f"norm_layer_{layer}", "drope") for layer in (0, 1))
    top_layer = int(value_of(phase_metrics, "spike_largest_ratio", "drope"))
    peak_row = pick(phase_layers, layer=top_layer)
    row_before = pick(phase_layers, layer=top_layer - 1)
    return judge(
        rises["DroPE"] > rises["RoPE"],
        f"The largest rise of DroPE's norm is in layer {rises['DroPE']:g}, that of RoPE's in layer {rises['RoPE']:g}; "
        f"DroPE's norm goes from {norm_0:.0f} to {norm_1:.0f} from layer 0 to 1. Its ratio is largest in layer "
        f"{top_layer} ({peak_row['ratio_drope']:.1f}, in the layer before {row_before['ratio_drope']:.1f}, with a "
        f"standard deviation over prompts of {peak_row['ratio_sd_drope']:.1f}).",
        otherwise="not supported",
        reported="layer 2 against layer 1",
        recomputed=f"largest rise in layer {rises['DroPE']:g} against {rises['RoPE']:g}",
    )


@claim("004, 5.4 Additional Phase Metrics")
def c004_peak_gap(phase_summary: pd.DataFrame, drope_stated: pd.DataFrame, drope_protocols: pd.DataFrame) -> Verdict:
    """DroPE's peak norm of the first token is 47% lower than RoPE's."""
    gap = value_of(phase_summary, "peak_gap_percent")
    precision = pick(drope_protocols, section="5 (phase metrics)")["precision"]
    return compare(
        quote(drope_stated, statement="s5_4_peak_gap"),
        gap,
        reason=f"The published peaks differ by {gap:.1f}%, from runs of different precision ({precision}).",
    )


@claim("004, 5.4 Additional Phase Metrics", failure="control")
def c004_peak_less_extreme(phase_summary: pd.DataFrame, drope_protocols: pd.DataFrame) -> Verdict:
    """The lower peak suggests that DroPE concentrates less in the first token than RoPE."""
    same_run, precision = _same_run(drope_protocols)
    gap = value_of(phase_summary, "peak_gap_percent")
    return judge(
        same_run and gap > 0,
        f"The peak is {abs(gap):.1f}% {'lower' if gap > 0 else 'higher'}"
        + (
            f" in runs of one kind ({precision})."
            if same_run
            else f", but the models ran differently ({precision}), as for the entropies: how much comes from the run "
            "and how much from the model cannot be known."
        ),
        otherwise="not supported",
        recomputed=f"{gap:.1f}%",
    )


def _same_run(drope_protocols: pd.DataFrame) -> tuple[bool, str]:
    """Return whether both models ran at one precision for the phase metrics, and the precisions in words."""
    precision = str(pick(drope_protocols, section="5 (phase metrics)")["precision"])
    rope, _, drope = precision.partition("; ")
    return rope.removeprefix("RoPE ") == drope.removeprefix("DroPE "), precision


@claim("004, 5.4 Additional Phase Metrics")
def c004_entropy_gap(phase_summary: pd.DataFrame, drope_stated: pd.DataFrame) -> Verdict:
    """DroPE's smallest entropy is 16 times RoPE's."""
    ratio = value_of(phase_summary, "min_entropy_ratio")
    return compare(
        quote(drope_stated, statement="s5_4_entropy_ratio"), ratio, reason=f"The published minima give {ratio:.2f}."
    )


@claim("004, 5.4 Additional Phase Metrics", failure="control")
def c004_entropy_more_distributed(phase_summary: pd.DataFrame, drope_protocols: pd.DataFrame) -> Verdict:
    """DroPE's smallest entropy is larger, so its representations stay more distributed than RoPE's."""
    same_run, precision = _same_run(drope_protocols)
    ratio = value_of(phase_summary, "min_entropy_ratio")
    return judge(
        same_run and ratio > 1,
        f"The ratio is {ratio:.1f} in runs of one kind ({precision})."
        if same_run
        else f"The models ran differently ({precision}): padding adds rows that are alike, which lowers the entropy of "
        f"the padded model, so the ratio of {ratio:.1f} is not the models' alone.",
        otherwise="not supported",
    )


@claim("004, 5.1 Background")
def c004_entropy_formula(entropy_room: pd.DataFrame) -> Verdict:
    """The entropy is that of the singular values after each is divided by the sum of all."""
    row = pick(entropy_room, positional="DroPE", layer=2)
    return untestable(
        f"The published {row['entropy']:.3f} of DroPE's layer 2 puts at least {100 * row['largest_share']:.1f}% on one "
        f"value; under this formula that leaves room for {row['tokens_printed_formula']:.1f} tokens at right angles to "
        f"the first, with squared singular values for {row['tokens_squared']:.0f}, about a paragraph. The singular "
        "values themselves would decide."
    )


@claim("004, 5.4 Additional Phase Metrics, Figure 14")
def c004_fig14_profiles(phase_metrics: pd.DataFrame, phase_layers: pd.DataFrame) -> Verdict:
    """The norm of the first token has similar profiles over layers in both models."""
    first_layers, last_layers = (
        {value_of(phase_metrics, f"plateau_{end}", model.lower()) for model in PAIR} for end in ("first", "last")
    )
    r = float(phase_layers["norm_rope"].corr(phase_layers["norm_drope"]))
    return judge(
        len(first_layers) == len(last_layers) == 1,
        f"Both norms are within 5% of their peak exactly from layer {min(first_layers):.0f} to layer "
        f"{max(last_layers):.0f}; over the {len(phase_layers)} layers they correlate at r = {r:.4f}.",
        recomputed=f"r = {r:.4f}",
        n=len(phase_layers),
    )


@claim("004, 5.4 Additional Phase Metrics, Figure 14")
def c004_fig14_later_peak(phase_metrics: pd.DataFrame, phase_layers: pd.DataFrame) -> Verdict:
    """DroPE's norm peaks slightly later than RoPE's."""
    layers = {model: int(value_of(phase_metrics, "peak_norm_layer", model.lower())) for model in PAIR}
    norms = phase_layers.set_index("layer")["norm_drope"]
    other_norms = norms.drop(layers["DroPE"]).sort_values(ascending=False)
    gap, spread = norms[layers["DroPE"]] - other_norms.iloc[0], value_of(phase_metrics, "norm_sd_at_peak", "drope")
    return judge(
        gap > spread,
        f"The peaks lie in layers {layers['RoPE']} and {layers['DroPE']} of plateaus that vary by "
        f"{value_of(phase_metrics, 'plateau_span', 'rope'):.1f}% and "
        f"{value_of(phase_metrics, 'plateau_span', 'drope'):.1f}%; DroPE's peak exceeds its next layer by {gap:.2f} "
        f"where the standard deviation over prompts is {spread:.2f}.",
        otherwise="not supported",
        reported="slightly later",
        recomputed=f"layer {layers['DroPE']} against {layers['RoPE']}",
    )


@claim("004, 5.4 Additional Phase Metrics, Figure 15")
def c004_fig15_higher_throughout(phase_metrics: pd.DataFrame, drope_captions: pd.DataFrame) -> Verdict:
    """DroPE's entropy is the higher one in every layer."""
    higher_drope = value_of(phase_metrics, "layers_with_more_entropy", "drope")
    higher_rope = value_of(phase_metrics, "layers_with_more_entropy", "rope")
    rope, drope = (value_of(phase_metrics, "entropy_layer_0", model.lower()) for model in PAIR)
    return judge(
        higher_rope == 0,
        f"In layer 0 the published entropies are {drope:.3f} for DroPE and {rope:.3f} for RoPE; DroPE's is higher in "
        f"the other {higher_drope:.0f} layers, between runs of different padding and precision.",
        reported=printed_text(drope_captions, statement="fig_15_all_layers"),
        recomputed=f"{higher_drope:.0f} of {higher_drope + higher_rope:.0f} layers",
        n=int(higher_drope + higher_rope),
    )
