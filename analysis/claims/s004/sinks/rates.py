"""Document 004, Experiment 4: claims on attention sinks, their threshold, and the rates by layer."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims._origins import caveat, is_unrotated
from analysis.claims._shared import numbers_of, value_of
from analysis.vocabulary import PAIR
from boundpaper.claims import Verdict, about, claim, compare, judge, pick, quote
from boundpaper.claims.words import listed, p

HIGH = 0.9  # share of a layer's heads above which its sink rate counts as high
NEARLY_ALL = 0.9  # share of the layers that counts as nearly all layers


@claim("004, 5.1 Background")
def c004_sink_threshold_strict(drope_stated: pd.DataFrame) -> Verdict:
    """A head counts as a sink when its mean attention to the first token exceeds the threshold."""
    prose = pick(drope_stated, statement="s5_1_sink_threshold")
    keys = ("s5_1_sink_threshold_formula", "s5_2_sink_threshold_comment", "s5_2_sink_threshold_code")
    later_mentions = [pick(drope_stated, statement=key) for key in keys]
    are_equal = all(mention["qualifier"] == prose["qualifier"] for mention in later_mentions)
    qualifiers = {"more_than": "more than", "at_least": "at least"}
    symbols = {"more_than": "exceeds", "at_least": ">="}
    return judge(
        are_equal,
        "The formula, a comment and the code take "
        f"{listed([qualifiers[mention['qualifier']] + ' ' + mention['printed'] for mention in later_mentions])}; it "
        "matters only for a head exactly at the threshold.",
        reported=f"{symbols[prose['qualifier']]} and {prose['printed']}",
        recomputed=f"{qualifiers[later_mentions[0]['qualifier']]} {later_mentions[0]['printed']}",
    )


@claim("004, 5.1 Background", failure="control")
def c004_sink_threshold_disproportionate(sink_summary: pd.DataFrame, drope_stated: pd.DataFrame) -> Verdict:
    """Heads above the threshold give the first token a disproportionate share of their attention."""
    threshold = quote(drope_stated, statement="s5_1_sink_threshold").number
    shortest, longest = value_of(sink_summary, "even_score_shortest"), value_of(sink_summary, "even_score_longest")
    return judge(
        shortest < threshold,
        f"Attention spread evenly scores H_T / T, {shortest:.3f} to {longest:.3f} on prompts of "
        f"{value_of(sink_summary, 'shortest_prompt'):.0f} to {value_of(sink_summary, 'longest_prompt'):.0f} tokens: up "
        f"to {value_of(sink_summary, 'longest_even_sink'):.0f} tokens per head without any preference passes "
        f"{threshold}.",
        otherwise="not supported",
        reported=f"{threshold}",
        recomputed=f"{longest:.3f} to {shortest:.3f}",
    )


@claim("004, 5.2 Method")
def c004_attention_by_hand(
    models: pd.DataFrame,
    drope_attention_origins: pd.DataFrame,
    drope_first_sink_rates: pd.DataFrame,
    sink_rate_layers: pd.DataFrame,
) -> Verdict:
    """The rotary model's sink rates, computed by hand from queries and keys, are the rates of its own attention."""
    encoding = pick(models, model="llama2-7b-rope")["position_encoding"]
    listing = pick(drope_attention_origins, experiment="4", run="printed", positional="RoPE")
    first_run_mean = 100 * float(drope_first_sink_rates["value"].mean())
    rotated_words = {"yes": "are", "no": "are not"}.get(str(listing["rotated"]), "are not shown to be")
    return judge(
        str(listing["rotated"]) == "yes" or str(listing["taken_from"]) == "model",
        f"The printed listing multiplies queries and keys as they leave the projections, but this model ({encoding}) "
        f"rotates them first, and the printed rates {rotated_words} of rotated ones: no stored script computes them. "
        f"The attention that the model returned in a first run, on padded paragraphs, gave {first_run_mean:.1f}% where "
        f"{sink_rate_layers['rope'].mean():.1f}% are printed.",
        otherwise="not supported",
        failure="control",
        reported=f"{sink_rate_layers['rope'].mean():.1f}%",
        recomputed=f"{first_run_mean:.1f}%",
        n=len(sink_rate_layers),
    )


@claim("004, 5.3 Results, sink-rate table")
def c004_sink_rate_cells(sink_rate_bands: pd.DataFrame, drope_sink_rates: pd.DataFrame) -> Iterator[Verdict]:
    """The sink rates in the table are those of the published series."""
    for _, row in sink_rate_bands.iterrows():
        name = "all layers" if row["layers"] == "average" else f"layer {row['layers']}"
        key = f"{row['positional']}-{row['layers']}"
        printed = quote(drope_sink_rates, layers=row["layers"], positional=row["positional"])
        statement = f"The sink rate of {row['positional']} in {name} is {row['printed_text']}."
        if printed.value is not None:
            reason = f"The published rates average {row['mean']:.2f}% there."
            yield compare(printed, row["mean"], reason=reason, key=key, statement=statement, kind="cell check")
            continue
        yield Verdict(
            verdict=row["agreement"],
            reason=f"The published rates run from {row['smallest']:.2f}% to {row['largest']:.2f}% in these layers.",
            reported=row["printed_text"],
            recomputed=f"{row['smallest']:.1f}-{row['largest']:.1f}%",
            key=key,
            statement=statement,
            kind="cell check",
        )


@claim("004, 5.3 Results")
def c004_sink_rates_high(
    sink_summary: pd.DataFrame,
    sink_rate_layers: pd.DataFrame,
    drope_first_sink_rates: pd.DataFrame,
    drope_attention: pd.DataFrame,
) -> Verdict:
    """Both models have high sink rates in nearly all layers, so removing the rotation does not remove sinks."""
    layer_count, high_count = value_of(sink_summary, "layers"), value_of(sink_summary, "layers_above_90_in_both")
    merged = drope_first_sink_rates.merge(sink_rate_layers, on="layer")
    high_in_both = int(((merged["value"] > HIGH) & (merged["drope"] > 100 * HIGH)).sum())
    drope = quote(drope_attention, positional="DroPE", metric="sink_heads").printed
    return judge(
        high_count >= layer_count - 2 and high_in_both >= NEARLY_ALL * layer_count,
        f"{high_count:.0f} of {layer_count:.0f} layers have printed rates above 90% in both models. Those of RoPE are "
        f"not shown to be rates of its attention; with the rates of a first run, which read it, {high_in_both} layers "
        "have. On prompts this short the threshold alone says little, but texts of "
        f"{value_of(sink_summary, 'shortest_pattern_text'):.0f} to "
        f"{value_of(sink_summary, 'longest_pattern_text'):.0f} tokens give DroPE {drope} (Experiment 7).",
        reported="nearly all",
        recomputed=f"{high_in_both} of {layer_count:.0f}",
        n=int(layer_count),
    )


@claim("004, 5.3 Results, Figure 12")
def c004_fig12_converge(
    sink_rate_layers: pd.DataFrame,
    sink_summary: pd.DataFrame,
    drope_sink_rates: pd.DataFrame,
    drope_captions: pd.DataFrame,
) -> Iterator[Verdict]:
    """Both models converge to a sink rate of about 97% by layer 2."""
    reported = quote(drope_captions, statement="fig_12_sink_rate")
    layer = int(quote(drope_captions, statement="fig_12_layer").number)
    row = pick(sink_rate_layers, layer=layer)
    for model in PAIR:
        later_rate = value_of(sink_summary, f"{model.lower()}_after_layer_1")
        average = quote(drope_sink_rates, layers="average", positional=model).printed
        yield about(
            reported,
            later_rate,
            reason=f"{model} has {row[model.lower()]:.1f}% in layer {layer} and {later_rate:.1f}% on average from "
            f"there on; the printed average over all layers, layers 0 and 1 included, is {average}.",
            key=model.lower(),
            statement=f"{model}'s sink rate is about {reported.number:.0f}% from layer {layer} on.",
        )


@claim("004, 6.1 Motivation")
def c004_sink_rates_about_97(drope_sink_rates: pd.DataFrame, drope_stated: pd.DataFrame) -> Iterator[Verdict]:
    """Both models have sink rates of about 97%."""
    reported = quote(drope_stated, statement="s6_1_sink_rate")
    for model in PAIR:
        average = quote(drope_sink_rates, layers="average", positional=model)
        yield about(
            reported,
            average.number,
            reason=f"The sink-rate table gives {average.printed}.",
            key=model.lower(),
            statement=f"{model}'s sink rate is about {reported.number:.0f}%.",
        )


@claim("004, 5.5 Interpretation")
def c004_sink_rates_nearly_identical(sink_summary: pd.DataFrame, sink_rate_tests: pd.DataFrame) -> Verdict:
    """The sink rates of the two models are nearly identical."""
    layers_apart = value_of(sink_summary, "layers_apart")
    layer1 = pick(sink_rate_tests, comparison="layer 1")
    return judge(
        layers_apart == 0,
        f"The averages differ by {value_of(sink_summary, 'gap_average'):.1f} points, but layer 1 by "
        f"{layer1['estimate']:.1f} [{layer1['ci_low']:.1f}, {layer1['ci_high']:.1f}] ({p(layer1['p_adjusted'])}, Welch "
        f"over prompts, Holm); {layers_apart:.0f} of {value_of(sink_summary, 'layers_tested'):.0f} layers that vary "
        "differ.",
        otherwise="not supported",
        reported="nearly identical",
        recomputed=f"{layer1['estimate']:.1f} points in layer 1",
        **numbers_of(layer1, "n", "p_value", "p_adjusted", "ci"),
    )


@claim("004, 6.5 The Massive Activation Connection")
def c004_later_layers_free(
    sink_summary: pd.DataFrame, write_layers: pd.DataFrame, drope_attention_origins: pd.DataFrame
) -> Verdict:
    """Early processing in DroPE leaves the later layers free for attention to content."""
    later_layers = write_layers[write_layers["layer"] >= 2]
    rope_share, drope_share = 100 * later_layers["mass_rope"].mean(), 100 * later_layers["mass_drope"].mean()
    gap = rope_share - drope_share
    rates = [value_of(sink_summary, f"{model}_after_layer_1") for model in ("rope", "drope")]
    return judge(
        gap > 10 and not is_unrotated(drope_attention_origins, 5),
        f"From layer 2 on {rates[1]:.1f}% of DroPE's heads are sinks against {rates[0]:.1f}% of RoPE's, and the first "
        f"token takes {drope_share:.1f}% of later tokens' attention against "
        f"{rope_share:.1f}%{': no layer is freed' if gap <= 10 else ''}.{caveat(drope_attention_origins, 5)}",
        otherwise="not supported",
        recomputed=f"{gap:.1f} points less attention to the first token",
        n=len(later_layers),
    )
