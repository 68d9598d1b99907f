"""Document 004, Experiment 9: claims that the balance of attention and MLP changes in two layers only, and how."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims._shared import printed_text
from boundpaper.claims import QuotedCell, Verdict, about, claim, judge, pick, quote, untestable
from boundpaper.claims.worded_numbers import stated_number

LAYERS = 32
FAR = 5.0  # points of a share by which layers differ visibly in the figures


@claim("004, 10.4 Key Finding")
def c004_bal_about_a_third(drope_stated: pd.DataFrame, balance_summary: pd.DataFrame) -> Iterator[Verdict]:
    """After layer 1 attention writes about 35 % and the MLP 65 % in both models; the model further off is judged."""
    row = pick(balance_summary, layers="2-31")
    for component, statement in (("attention", "s10_4_later_attention"), ("MLP", "s10_4_later_mlp")):
        reported = quote(drope_stated, statement=statement)
        value = reported.printed.lstrip("~")
        means = [
            row[f"mean_{model}"] if component == "attention" else 100 - row[f"mean_{model}"]
            for model in ("rope", "drope")
        ]
        yield about(
            reported,
            max(means, key=lambda mean: abs(mean - reported.number)),
            reason=f"Means over {row['n']} layers: RoPE {means[0]:.1f}, DroPE {means[1]:.1f} %; single layers run from "
            f"{min(row['low_rope'], row['low_drope']):.0f} to {max(row['high_rope'], row['high_drope']):.0f} % "
            "attention.",
            n=int(row["n"]),
            key=component.lower(),
            statement=f"After layer 1 the share of the {component} is about {value} in both models.",
        )


def _layers_in_range(printed: QuotedCell) -> list[int]:
    """Return the layers of a printed range such as `2-31`."""
    return [layer for layer in range(LAYERS) if printed.interval.low < layer < printed.interval.high]


@claim("004, 10.4 Key Finding and Figure 23")
def c004_bal_nearly_identical(
    balance_summary: pd.DataFrame, balance_tests: pd.DataFrame, drope_captions: pd.DataFrame
) -> Verdict:
    """After layer 1, in layers 2 to 31, the balance of attention and MLP is nearly identical in the two models."""
    row = pick(balance_summary, layers="2-31")
    pearson = pick(balance_tests, comparison="layers 2-31", test="pearson")
    return judge(
        row["layers_above_five_points"] == 0,
        f"The means are {abs(row['mean_difference']):.1f} points apart and the profiles correlate (r = "
        f"{pearson['estimate']:.2f}), but single layers differ by {row['mean_absolute_difference']:.1f} points on "
        f"average, {row['layers_above_five_points']} of {row['n']} by more than {FAR:.0f}, layer "
        f"{row['largest_difference_layer']} by {row['largest_difference']:.1f}.",
        otherwise="not supported",
        reported=quote(drope_captions, statement="fig_23_identical_layers").printed,
        recomputed=float(row["mean_absolute_difference"]),
        n=int(row["n"]),
    )


@claim("004, 10.3 Results, Figure 22")
def c004_bal_after_layer2(balance_summary: pd.DataFrame, drope_captions: pd.DataFrame) -> Verdict:
    """After layer 2 both models are nearly identical."""
    printed_layer = quote(drope_captions, statement="fig_22_identical_after")
    row = pick(balance_summary, layers=f"{printed_layer.number + 1:.0f}-{LAYERS - 1}")
    return judge(
        row["layers_above_five_points"] == 0,
        f"Of the {row['n']} layers after layer {printed_layer.printed}, {row['layers_above_five_points']} differ by "
        f"more than {FAR:.0f} points, layer {row['largest_difference_layer']} by {row['largest_difference']:.1f}; the "
        f"means are {row['mean_rope']:.1f} and {row['mean_drope']:.1f} %.",
        otherwise="not supported",
        recomputed=float(row["mean_absolute_difference"]),
        n=int(row["n"]),
    )


@claim("004, 15 Publication Figures, Figure G")
def c004_bal_identical(balance_layers: pd.DataFrame, drope_captions: pd.DataFrame) -> Verdict:
    """Layers 2 to 31 are identical in the two models."""
    reported = quote(drope_captions, statement="fig_g_identical_layers")
    gaps = balance_layers.set_index("layer")["difference"].abs().loc[_layers_in_range(reported)]
    count = int((gaps <= 0.5).sum())
    return judge(
        count == len(gaps),
        f"{count} of {len(gaps)} layers differ by half a point or less; the largest difference is {gaps.max():.1f} "
        f"points in layer {gaps.idxmax()}.",
        reported=reported.printed,
        recomputed=float(gaps.max()),
        n=len(gaps),
    )


@claim("004, 10.4 Key Finding")
def c004_bal_localized(
    balance_layers: pd.DataFrame, balance_summary: pd.DataFrame, drope_stated: pd.DataFrame
) -> Verdict:
    """The rewiring is localized to the first two layers."""
    gaps = balance_layers.set_index("layer")["difference"].abs().sort_values(ascending=False)
    first_layers = pick(balance_summary, layers="0-1")
    stated_row = pick(drope_stated, statement="s10_4_rewired_layers")
    count = int(stated_number(stated_row))
    return judge(
        set(gaps.index[:count]) == set(range(count)) and gaps.iloc[count - 1] > 2 * gaps.iloc[count],
        f"Layers 0 and 1 differ by {gaps[0]:.1f} and {gaps[1]:.1f} points, of the others layer "
        f"{gaps.drop(index=[0, 1]).idxmax()} most, by {gaps.drop(index=[0, 1]).max():.1f}; layers 0 and 1 hold "
        f"{first_layers['total_share_squared']:.0f} % of the squared differences and {first_layers['total_share']:.0f} "
        "% of the absolute ones.",
        reported=str(stated_row["printed"]),
        recomputed=float(first_layers["total_share"]),
        n=len(gaps),
    )


@claim("004, 10.4 Key Finding")
def c004_bal_entirely(balance_summary: pd.DataFrame) -> Verdict:
    """The difference that makes DroPE work lies entirely in the first layers."""
    row = pick(balance_summary, layers="2-31")
    return judge(
        row["total_share"] < 5,
        f"Layers 2 to 31 hold {row['total_share']:.0f} % of the summed absolute difference of the shares; that these "
        "differences make DroPE work is not tested at all.",
        recomputed=float(row["total_share"]),
        n=int(row["n"]),
    )


@claim("004, 10.3 Results, Figure 22; Figure G")
def c004_bal_inverted_layers(balance_layers: pd.DataFrame, drope_captions: pd.DataFrame) -> Verdict:
    """In layers 0 and 1 the larger of the two parts, attention and MLP, is not the same in DroPE as in RoPE."""
    inverted_layers = balance_layers[balance_layers["inverted"]]["layer"].tolist()
    layer0 = pick(balance_layers, layer=0)
    captions = [quote(drope_captions, statement=f"fig_{figure}_inverted_layers") for figure in ("22", "g")]
    return judge(
        all(inverted_layers == _layers_in_range(caption) for caption in captions),
        f"Which part is larger changes in layer {', '.join(map(str, inverted_layers))} only; in layer 0 the MLP is the "
        f"larger part in {sum(layer0[f'share_{model}'] < 50 for model in ('rope', 'drope'))} of 2 models (attention "
        f"{layer0['share_rope']:.1f} and {layer0['share_drope']:.1f} %).",
        otherwise="not supported",
        reported=captions[0].printed,
        recomputed=f"layer {', '.join(map(str, inverted_layers))}",
    )


@claim("004, 10.3 Results, Figure 23")
def c004_bal_opposite(balance_layers: pd.DataFrame, drope_captions: pd.DataFrame) -> Verdict:
    """Layers 0 and 1 show opposite patterns."""
    reported = quote(drope_captions, statement="fig_23_opposite_layers")
    gaps = balance_layers.set_index("layer")["difference"].loc[_layers_in_range(reported)]
    gap_0, gap_1 = float(gaps.iloc[0]), float(gaps.iloc[-1])
    return judge(
        len(gaps) == 2 and gap_0 < 0 < gap_1,
        f"DroPE's share of attention is lower by {-gap_0:.1f} points in layer 0 and higher by {gap_1:.1f} in layer 1.",
        reported=reported.printed,
        recomputed=f"{gap_0:.1f} and {gap_1:+.1f}",
    )


@claim("004, 10.4 Key Finding", failure="reading")
def c004_bal_layer0_suppressed(balance_layers: pd.DataFrame) -> Verdict:
    """In layer 0 DroPE suppresses attention."""
    row = pick(balance_layers, layer=0)
    return judge(
        row["attention_ratio"] < 1,
        f"What attention writes grows {row['attention_ratio']:.1f}-fold ({row['attention_rope']:.2f} to "
        f"{row['attention_drope']:.2f}); its share falls because the MLP's output grows {row['mlp_ratio']:.0f}-fold.",
        otherwise="not supported" if row["share_drope"] < row["share_rope"] else "contradicted",
        recomputed=float(row["attention_ratio"]),
    )


@claim("004, 10.4 Key Finding")
def c004_bal_layer1_amplified(balance_layers: pd.DataFrame) -> Verdict:
    """In layer 1 DroPE amplifies attention."""
    row = pick(balance_layers, layer=1)
    return judge(
        row["attention_ratio"] > 1,
        f"What attention writes grows {row['attention_ratio']:.0f}-fold, the MLP's output falls to "
        f"{row['mlp_ratio']:.2f} of RoPE's.",
        recomputed=float(row["attention_ratio"]),
    )


@claim("004, 10.5 Interpretation")
def c004_bal_unchanged(
    balance_layers: pd.DataFrame, balance_summary: pd.DataFrame, drope_stated: pd.DataFrame
) -> Verdict:
    """The remaining 30 layers operate the same way they did before."""
    later_layers = balance_layers[balance_layers["layer"] >= 2]
    row = pick(balance_summary, layers="2-31")
    is_equal = (later_layers["attention_ratio"] - 1).abs().max() <= 0.05 and (
        later_layers["mlp_ratio"] - 1
    ).abs().max() <= 0.05
    reported = quote(drope_stated, statement="s10_5_unchanged_layers")
    return judge(
        bool(is_equal) and len(later_layers) == reported.number,
        f"Attention writes more in {int((later_layers['attention_ratio'] > 1).sum())} of {len(later_layers)} layers "
        f"({row['attention_ratio']:.2f} times as much in the geometric mean), the MLP in "
        f"{int((later_layers['mlp_ratio'] > 1).sum())} ({row['mlp_ratio']:.2f} times); ratios reach "
        f"{later_layers['attention_ratio'].max():.1f} for attention and {later_layers['mlp_ratio'].min():.2f} for the "
        "MLP.",
        reported=reported.printed,
        recomputed=float(row["attention_ratio"]),
        n=len(later_layers),
    )


@claim("004, 10.5 Interpretation")
def c004_bal_back_to_normal(balance_layers: pd.DataFrame) -> Verdict:
    """After layer 1 the balance is back to normal."""
    layer2 = pick(balance_layers, layer=2)
    later_differences = balance_layers[balance_layers["layer"] > 2]["difference"].abs()
    return judge(
        abs(layer2["difference"]) <= later_differences.median(),
        f"In layer 2 attention has {layer2['share_drope']:.1f} % against {layer2['share_rope']:.1f} in RoPE and writes "
        f"{layer2['attention_ratio']:.1f} times as much; the median difference of later layers is "
        f"{later_differences.median():.1f} points.",
        otherwise="not supported",
        recomputed=float(layer2["difference"]),
    )


@claim("004, 10.5 Interpretation")
def c004_bal_two_layers_suffice(drope_stated: pd.DataFrame) -> Verdict:
    """DroPE only needs to restructure its first two layers."""
    return untestable(
        "Recalibration trained every layer; putting DroPE's first two layers into the original model without rotation, "
        "or training only these two, would decide it.",
        reported=printed_text(drope_stated, statement="s10_5_restructured_layers"),
    )
