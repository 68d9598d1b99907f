"""Document 004, Experiment 5: claims on what attention to the first token writes, and on ablating its values."""

import math
from collections.abc import Iterator

import pandas as pd

from analysis.claims._origins import caveat, is_unrotated
from analysis.claims._shared import pick_each
from analysis.vocabulary import PAIR
from boundpaper.claims import Artifact, Cells, Relation, Verdict, about, claim, compare, judge, pick, quote, untestable

LARGEST_16_BIT = 65504  # largest finite number in 16-bit floating point


def _value(frame: pd.DataFrame, quantity: str, model: str) -> float:
    return float(pick(frame, quantity=quantity)[model.lower()])


c004_bos_write_cells = Cells(
    "Norms, attention mass, write scores and the layers of the largest scores are those of the published series.",
    "004, 6.3 Results, write table",
    Relation(
        each={"metric": ("bos_value_norm", "bos_attention_mass", "effective_write", "max_write_layer"), "model": PAIR},
        cell=Artifact("drope_bos_write")(positional="{model}", metric="{metric}"),
        follows=Artifact("write_summary").value("{model!l}", quantity="{metric}"),
        because="The published series gives {0:.4g}.",
        key="{model}-{metric}",
        says="The cell {model}, {metric} is that of the published series.",
    ),
)


@claim("004, 6.1 Motivation")
def c004_write_is_product(
    write_summary: pd.DataFrame, write_layers: pd.DataFrame, drope_bos_write: pd.DataFrame
) -> Verdict:
    """The effective write score is the attention mass times the value norm."""
    printed = [quote(drope_bos_write, positional=model, metric="effective_write") for model in PAIR]
    products = [_value(write_summary, "product_of_means", model) for model in PAIR]
    layer_means = [float(write_layers[f"product_{model.lower()}"].mean()) for model in PAIR]
    return untestable(
        f"The table's mean norms and masses multiply to {products[0]:.3f} and {products[1]:.3f}, not "
        f"{printed[0].printed} and {printed[1].printed}, and multiplied layer by layer they average "
        f"{layer_means[0]:.3f} and {layer_means[1]:.3f}: the published score is a mean of products per head, whose "
        "values and masses are not published and would decide."
    )


@claim("004, 6.2 Method")
def c004_qk_size(
    drope_stated: pd.DataFrame, drope_published_content: pd.DataFrame, models: pd.DataFrame
) -> Iterator[Verdict]:
    """Queries and keys of layer 1 reach ±394 in DroPE and ±5 in RoPE."""
    for model in PAIR:
        facts = pick(models, model=f"llama2-7b-{model.lower()}")
        entries = float(facts["query_heads"]) * float(facts["head_dim"])
        norms = [
            float(pick(drope_published_content, positional=model, layer=1, metric=metric)["value"])
            for metric in ("q_norm_max", "k_norm_max")
        ]
        yield untestable(
            f"Single entries are not published; the largest norms of a token's queries and keys, {norms[0]:.1f} and "
            f"{norms[1]:.1f}, allow a largest entry from {max(norms) / math.sqrt(entries):.1f} to {max(norms):.0f}. "
            "The entries' maximum would decide.",
            reported=quote(drope_stated, statement=f"s6_2_{model.lower()}_qk_size").printed,
            key=model.lower(),
            statement=f"Queries and keys of {model}'s layer 1 reach the size stated.",
        )


@claim("004, 6.2 Method")
def c004_scores_overflow(
    drope_published_content: pd.DataFrame, models: pd.DataFrame, drope_stated: pd.DataFrame
) -> Verdict:
    """Attention scores of DroPE's layer 1 overflow, so they are clamped to [-100, 100] before the softmax."""
    facts = pick(models, model="llama2-7b-drope")
    norms = [
        float(pick(drope_published_content, positional="DroPE", layer=1, metric=metric)["value"])
        for metric in ("q_norm_mean", "k_norm_mean")
    ]
    bound = norms[0] * norms[1] / math.sqrt(float(facts["head_dim"]))
    low, high = (quote(drope_stated, statement=f"s6_2_clamp_{end}") for end in ("low", "high"))
    return untestable(
        f"The published norms bound a head's scores by {bound:,.0f}, if one head held all of both, and by "
        f"{bound / float(facts['query_heads']):,.0f} if all heads were alike, against {LARGEST_16_BIT:,}, the largest "
        f"16-bit number: overflow is possible. Scores cut at {low.printed} and {high.printed} make every key beyond "
        "them equal, so that the attention mass of this layer is not the model's. Scores in 32 bits would decide both.",
        reported=f"{low.printed}, {high.printed}",
    )


@claim("004, 6.3 Results")
def c004_drope_writes_more(
    write_summary: pd.DataFrame, write_layers: pd.DataFrame, drope_attention_origins: pd.DataFrame
) -> Verdict:
    """DroPE's first token has larger values and larger write scores than RoPE's."""
    layer_count = _value(write_summary, "layers_with_more_write", "DroPE")
    rope_mean, drope_mean = (_value(write_summary, "write_without_layer_1", model) for model in PAIR)
    write = pick(write_summary, quantity="effective_write")
    is_larger = bool(write["drope"] > write["rope"]) and layer_count > len(write_layers) / 2
    return judge(
        is_larger and not is_unrotated(drope_attention_origins, 5),
        f"The score is larger in {layer_count:.0f} of {len(write_layers)} layers, without layer 1 {drope_mean:.2f} "
        f"against {rope_mean:.2f} on average.{caveat(drope_attention_origins, 5)}",
        otherwise="not supported" if is_larger else "contradicted",
        failure="control" if is_larger else "",
        reported=f"{write['drope_printed']} against {write['rope_printed']}",
        recomputed=f"{write['drope']:.3f} against {write['rope']:.3f}",
        n=len(write_layers),
    )


@claim("004, 6.5 The Massive Activation Connection")
def c004_max_write(write_summary: pd.DataFrame, drope_stated: pd.DataFrame) -> Verdict:
    """DroPE's largest write score is 1.14."""
    largest = _value(write_summary, "max_write", "DroPE")
    return compare(
        quote(drope_stated, statement="s6_5_drope_max_write"),
        largest,
        reason=f"The published series has {largest:.4f} in layer "
        f"{_value(write_summary, 'max_write_layer', 'DroPE'):.0f}, whose attention was clamped, and "
        f"{_value(write_summary, 'second_write', 'DroPE'):.2f} in layer "
        f"{_value(write_summary, 'second_write_layer', 'DroPE'):.0f}.",
    )


@claim("004, 6.3 Results")
def c004_write_where_massive(drope_published_content: pd.DataFrame, write_summary: pd.DataFrame) -> Verdict:
    """DroPE's largest write is in layer 1, where the activations of its queries and keys are massive."""
    norms = drope_published_content[drope_published_content["metric"].isin(["q_norm_mean", "k_norm_mean"])]
    norms_by_layer = norms[norms["positional"] == "DroPE"].pivot_table(index="layer", columns="metric", values="value")
    layer = int(_value(write_summary, "max_write_layer", "DroPE"))
    top_layers = {
        int(norms_by_layer.index.to_numpy()[norms_by_layer[metric].argmax()]) for metric in norms_by_layer.columns
    }
    layer_row = norms_by_layer.loc[layer] if layer in norms_by_layer.index else norms_by_layer.max()
    other_layers = norms_by_layer.drop(index=layer, errors="ignore")
    return judge(
        top_layers == {layer} and bool((layer_row > 10 * other_layers.max()).all()),
        f"The largest write is in layer {layer}; the published norms of queries and keys are "
        f"{layer_row['q_norm_mean']:,.0f} and {layer_row['k_norm_mean']:,.0f} there, and "
        f"{other_layers['q_norm_mean'].max():,.0f} and {other_layers['k_norm_mean'].max():,.0f} at most in layers "
        f"{', '.join(map(str, other_layers.index))}; none is published after layer {norms_by_layer.index.max()}.",
        recomputed=f"layer {layer}",
        n=len(norms_by_layer),
    )


@claim("004, 6.3 Results")
def c004_bos_value_four(
    bos_ablations: pd.DataFrame,
    bos_ablation_contrasts: pd.DataFrame,
    drope_stated: pd.DataFrame,
    drope_protocols: pd.DataFrame,
) -> Iterator[Verdict]:
    """Removing the first token's values in all layers raises perplexity about fourfold in both models."""
    reported = quote(drope_stated, statement="s6_3_bos_value_ratio")
    for model in PAIR:
        row = pick(bos_ablations, ablation="bos_value_all_layers", positional=model)
        yield about(
            reported,
            row["ratio"],
            reason=f"The table prints {row['ratio_printed']}, {row['nats']:.2f} nats.",
            key=model.lower(),
            statement=f"{model}'s perplexity rises about fourfold.",
        )
    contrast = pick(bos_ablation_contrasts, ablation="bos_value_all_layers")
    texts = pick(drope_protocols, section="6")["items"]
    yield untestable(
        f"One perplexity per model ({texts}) and no spread: they differ by {contrast['gap_nats']:.2f} nats, a factor "
        f"of {contrast['ratio']:.2f}. Perplexities by line would decide whether that is similar.",
        key="similar",
        statement="Both models are similarly sensitive to losing the first token's values.",
    )


@claim("004, 6.3 Results", failure="control")
def c004_bos_mlp_gap(bos_ablation_contrasts: pd.DataFrame, drope_stated: pd.DataFrame) -> Verdict:
    """Removing the first token's MLP output affects RoPE 1249 times more than DroPE."""
    exp4 = pick(bos_ablation_contrasts, ablation="bos_mlp_spike_layer")
    exp6 = pick(bos_ablation_contrasts, ablation="layer1_bos_only")
    return judge(
        bool(exp4["matched"]) and exp4["drope_nats"] > 0,
        f"DroPE's effect is {exp4['drope_nats']:.3f} nats"
        + ("" if exp4["drope_nats"] > 0 else ", so that a multiple of it means nothing")
        + f", and the layers {'match' if exp4['matched'] else 'differ'} ({exp4['rope_layers']} against "
        f"{exp4['drope_layers']}); removing the first token's outputs in layer 1 of both gives {exp6['rope_nats']:.2f} "
        f"and {exp6['drope_nats']:.2f} nats, a ratio of ratios of {exp6['ratio']:.1f}.",
        otherwise="not supported",
        reported=quote(drope_stated, statement="s6_3_bos_mlp_gap").printed,
        recomputed=f"{exp6['ratio']:.1f}× in the matching layer",
    )


@claim("004, 6.4 Interpretation")
def c004_no_op_refuted(bos_value_norms: pd.DataFrame, sink_rate_layers: pd.DataFrame) -> Verdict:
    """The write scores refute the hypothesis that sinks attend without writing."""
    rows = {model: pick(bos_value_norms, positional=model, layer=2) for model in PAIR}
    published_layers = sink_rate_layers[sink_rate_layers["layer"].isin(bos_value_norms["layer"])]
    sink_layers = published_layers.loc[published_layers[["rope", "drope"]].min(axis=1) > 90, "layer"].tolist()
    share_in_words = (
        "the only one of these"
        if sink_layers == [2]
        else f"one of {len(sink_layers)} of these"
        if 2 in sink_layers
        else "not one"
    )
    return judge(
        min(row["percent"] for row in rows.values()) > 50,
        "A score has no scale without the other tokens' values. Those are published for layers "
        f"{published_layers['layer'].min()} to {published_layers['layer'].max()}: in layer 2, {share_in_words} where "
        f"nearly all heads are sinks, the first token's value norm is {rows['RoPE']['percent']:.0f}% of the mean in "
        f"RoPE ({rows['RoPE']['bos']:.2f} of {rows['RoPE']['mean']:.1f}) and {rows['DroPE']['percent']:.0f}% in DroPE, "
        "as in a sink that gives nothing.",
        otherwise="not supported",
        recomputed=f"{rows['RoPE']['percent']:.1f}% and {rows['DroPE']['percent']:.1f}%",
    )


@claim("004, 6.4 Interpretation", failure="control")
def c004_mlp_is_the_difference(bos_ablation_contrasts: pd.DataFrame) -> Verdict:
    """The models differ in what the MLP does at the first token, not in attention or values."""
    exp4, exp5, exp6 = pick_each(
        bos_ablation_contrasts, ablation=("bos_mlp_spike_layer", "bos_value_all_layers", "layer1_bos_only")
    )
    return judge(
        bool(exp4["matched"]),
        f"The contrast sets values in all layers ({exp5['rope_nats']:.2f} and {exp5['drope_nats']:.2f} nats) against "
        f"one layer's MLP, layer {exp4['rope_layers']} of RoPE and layer {exp4['drope_layers']} of DroPE, from runs of "
        f"different baselines; in layer 1 of both the first token's outputs are worth {exp6['rope_nats']:.2f} and "
        f"{exp6['drope_nats']:.2f} nats.",
        otherwise="not supported",
    )


c004_ablation_comparison_cells = Cells(
    "The comparison of ablations repeats the cells of the tables before it.",
    "004, 6.4 Interpretation, ablation table",
    *(
        Relation(
            cell=Artifact("drope_ablation_comparison")(ablation=ablation, positional=model),
            follows=table(positional=model, metric="ppl_ratio"),
            because="The table of the ablation prints {0}.",
            key=f"{model}-{ablation}",
            says=f"The cell {model}, {ablation} repeats its table.",
        )
        for model in PAIR
        for ablation, table in (
            ("bos_value_all_layers", Artifact("drope_bos_value_ablation").where(condition="bos_value_all_layers")),
            ("bos_mlp_spike_layer", Artifact("drope_bos_mlp")),
        )
    ),
)
