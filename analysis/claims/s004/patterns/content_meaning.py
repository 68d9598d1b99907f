"""Document 004, Experiment 8: claims on what the norms in layer 1 mean."""

import pandas as pd

from analysis.claims._shared import min_to_max
from analysis.vocabulary import PAIR
from boundpaper.claims import Verdict, about, claim, judge, pick, quote, untestable


@claim("004, 9.5 The Q/K Magnitude Connection")
def c004_con_hundredfold(drope_stated: pd.DataFrame, layer1_ratios: pd.DataFrame) -> Verdict:
    """Queries and keys of layer 1 are about a hundred times as large in DroPE."""
    query_ratio, key_ratio = (
        float(pick(layer1_ratios, metric=f"{name}_norm")["ratio_published"]) for name in ("query", "key")
    )
    reported = quote(drope_stated, statement="s9_5_qk_norm_ratio")
    return about(
        reported,
        max((query_ratio, key_ratio), key=lambda ratio: abs(ratio - reported.number)),
        reason=f"The published norms give {query_ratio:.0f} for queries and {key_ratio:.0f} for keys.",
    )


@claim("004, 9.4 Key Finding")
def c004_con_inverted(content_layers: pd.DataFrame) -> list[Verdict]:
    """DroPE has completely inverted the balance of attention and MLP in layer 1."""
    rows = content_layers[content_layers["layer"] == 1]
    rope_share, drope_share = (pick(rows, positional=model, scope="all tokens")["share"] for model in PAIR)
    bos_share = pick(rows, positional="DroPE", scope="BOS")["share"]
    content_share = pick(rows, positional="DroPE", scope="content tokens")["share"]
    return [
        judge(
            rope_share < 50 < drope_share,
            f"Attention is {rope_share:.1f} % of the summed norms in RoPE and {drope_share:.1f} % in DroPE.",
            recomputed=f"{rope_share:.1f} and {drope_share:.1f} %",
            key="larger",
            statement="In layer 1 the MLP is the larger part in RoPE and attention in DroPE.",
        ),
        judge(
            bos_share > 50,
            f"At BOS the {'MLP stays' if bos_share < 50 else 'attention is'} the larger part in DroPE (attention "
            f"{bos_share:.1f} %); of the other tokens attention is {content_share:.1f} %.",
            otherwise="not supported",
            recomputed=f"{bos_share:.1f} %",
            key="completely",
            statement="The inversion of layer 1 is complete.",
        ),
    ]


@claim("004, 9.4 Key Finding")
def c004_con_to_residual(content_layers: pd.DataFrame, drope_layer1_content: pd.DataFrame) -> Verdict:
    """Attention contributes 68.8 % of what DroPE's layer 1 adds to the residual stream."""
    row = pick(content_layers, positional="DroPE", layer=1, scope="all tokens")
    reported = quote(drope_layer1_content, positional="DroPE", metric="attention_contribution")
    return judge(
        abs(row["share_of_update"] - row["share_per_text"]) <= 1,
        "The number is a share of summed norms; over the norm of the whole update attention's is "
        f"{row['share_of_update']:.1f} % and the cosine of both parts {row['cosine']:.2f}, so norms do not add up to "
        "the update.",
        otherwise="not supported",
        reported=reported.printed,
        recomputed=float(row["share_of_update"]),
    )


@claim("004, 9.4 Key Finding")
def c004_con_explains_ablation(content_layers: pd.DataFrame, drope_layer1_perplexity: pd.DataFrame) -> Verdict:
    """The shares of attention explain what ablating it does: little in RoPE, much in DroPE."""
    shares = {
        model: float(pick(content_layers, positional=model, layer=1, scope="all tokens")["share"]) for model in PAIR
    }
    ratios = {
        (model, component): quote(
            drope_layer1_perplexity, positional=model, condition=f"layer1_{component}", metric="ppl_ratio"
        )
        for model in PAIR
        for component in ("attn", "mlp")
    }
    # whether the part that writes more also causes the larger loss
    agreements = [
        (ratios[model, "attn"].number > 1.5 * ratios[model, "mlp"].number)
        if shares[model] > 50
        else (ratios[model, "mlp"].number > 1.5 * ratios[model, "attn"].number)
        for model in PAIR
    ]
    phrases = [
        f"In {model} attention writes {shares[model]:.1f} % of the two norms, and ablating it or the MLP multiplies "
        f"perplexity by {ratios[model, 'attn'].printed.rstrip('×')} and {ratios[model, 'mlp'].printed.rstrip('×')}"
        for model in PAIR
    ]
    return judge(
        all(agreements),
        (f"{'. '.join(phrases)}.", f"{'. '.join(phrases)}: the share does not predict the damage."),
        otherwise="not supported",
        recomputed=f"{shares['DroPE']:.1f} and {100 - shares['DroPE']:.1f} %",
    )


@claim("004, 9.5 The Q/K Magnitude Connection")
def c004_con_qk_cause(attention_gain: pd.DataFrame, drope_stated: pd.DataFrame) -> Verdict:
    """The large queries and keys directly cause the larger attention output of layer 1."""
    row = attention_gain.iloc[0]
    return judge(
        row["value_ratio"] < 1.5,
        "Softmax weights average values, so larger scores cannot lift a head's output above its largest value; the "
        f"values themselves are {row['value_ratio']:.1f} times as large, {row['share_of_log']:.0f} % of the growth on "
        f"a log scale, and a factor {row['rest_ratio']:.1f} is left for sharper weights and the output projection.",
        otherwise="not supported",
        reported=quote(drope_stated, statement="s9_5_output_norm_ratio").printed,
        recomputed=float(row["output_ratio"]),
    )


@claim("004, 9.6 Interpretation")
def c004_con_confined(layer_norms: pd.DataFrame) -> Verdict:
    """DroPE amplifies queries and keys at layer 1."""
    norms = layer_norms[layer_norms["tensor"].isin(["query", "key"])]
    layer1, other_layers = norms[norms["layer"] == 1], norms[norms["layer"] != 1]
    layers = ", ".join(map(str, other_layers["layer"].unique()))
    return judge(
        bool((layer1["mean_ratio"] > 2).all()),
        f"At layer 1 the norms are {layer1['mean_ratio'].min():.0f} and {layer1['mean_ratio'].max():.0f} times RoPE's, "
        f"in layers {layers} {min_to_max(other_layers['mean_ratio'], '.2f')} times; whether it is the only layer "
        f"cannot be told, since no norm is published after layer {norms['layer'].max()}.",
        recomputed=float(layer1["mean_ratio"].min()),
        n=len(layer1),
    )


@claim("004, 9.5 The Q/K Magnitude Connection")
def c004_con_sharper(attention_gain: pd.DataFrame) -> Verdict:
    """The larger scores make the attention of layer 1 sharper."""
    return untestable(
        f"Scores may grow up to {attention_gain.iloc[0]['score_bound_ratio']:.0f}-fold, but neither the entropy per "
        "head, which the method of Experiment 7 names, nor the scores are published; the entropy of layer 1 in both "
        "models would decide it."
    )


@claim("004, 9.6 Interpretation")
def c004_con_compensates() -> Verdict:
    """DroPE compensates for the lost positions by amplified queries and keys in layer 1: the mechanism of the
    rewiring.
    """
    return untestable(
        "One recalibrated model is observed; scaling layer 1's queries and keys back, or recalibrating a model that "
        "keeps its rotary positions on the same data, would tell compensation from training."
    )
