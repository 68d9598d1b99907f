"""Document 004, Experiment 7: claims on attention patterns of the two models, over all layers and in layer 1."""

import re
from collections.abc import Iterator

import pandas as pd

from analysis.claims._origins import caveat, is_unrotated
from analysis.claims._shared import numbers_of, pick_each
from analysis.vocabulary import PAIR
from boundpaper.claims import Artifact, Cells, Relation, Verdict, about, claim, compare, judge, pick, quote, untestable
from boundpaper.claims.repeats import mark_repeat
from boundpaper.claims.words import p

PRINTED = (
    ("bos", "bos_attention"),
    ("local", "local_attention"),
)  # kind of the published series, and metric of the table


c004_pat_means = Cells(
    "The printed mean attention to BOS and to neighbours is the mean of the published layers.",
    "004, 8.3 Results, pattern table",
    Relation(
        each={"kind, metric": PRINTED, "model": PAIR},
        cell=Artifact("drope_attention")(positional="{model}", metric="{metric}"),
        follows=Artifact("attention_agreement").value("mean_{model!l}", kind="{kind}", layers="all layers"),
        because="Mean of {0.row[n]} published layers.",
        places=2,
        key="{model}-{metric}",
        says="The mean {metric!w} of {model} is that of the published layers.",
    ),
)


c004_pat_layer1 = Cells(
    "The printed attention of layer 1 is the published one.",
    "004, 8.3 Results, layer-1 table",
    Relation(
        each={"kind, metric": PRINTED, "model": PAIR},
        cell=Artifact("drope_attention_layer1")(positional="{model}", metric="{metric}"),
        follows=Artifact("attention_layers").value("{kind}_{model!l}", layer=1),
        because="Layer 1 of the published series.",
        places=2,
        key="{model}-{metric}",
        says="The {metric!w} of {model} in layer 1 is the published one.",
    ),
)


@claim("004, 8.3 Results, pattern table")
def c004_pat_head_classes(drope_attention: pd.DataFrame) -> list[Verdict]:
    """Of the heads of RoPE and DroPE, 93.5 % and 93.1 % are sinks, 6.4 % and 6.2 % local."""
    return [
        untestable(
            "Attention is published per layer only; attention per head and text would decide it.",
            reported=quote(drope_attention, positional=model, metric=metric).printed,
            key=f"{model}-{metric}",
            statement=f"The share of {metric.replace('_', ' ')} of {model} is as printed.",
        )
        for metric in ("sink_heads", "local_heads")
        for model in PAIR
    ]


@claim("004, 8.2 Method")
def c004_pat_texts(drope_stated: pd.DataFrame, drope_protocols: pd.DataFrame) -> Verdict:
    """The attention analysis runs on eight texts."""
    items = str(pick(drope_protocols, experiment="7")["items"])
    match = re.match(r"\d+", items)
    return compare(
        quote(drope_stated, statement="s8_2_texts"),
        float(match[0]) if match else float("nan"),
        reason=f"The script runs on {items}.",
        places=0,
    )


@claim("004, 8.2 Method")
def c004_pat_threshold(drope_stated: pd.DataFrame) -> Verdict:
    """The threshold of attention to BOS, above which a head counts as a sink, is the same as in Experiment 4."""
    formula = quote(drope_stated, statement="s5_1_sink_threshold_formula")
    return compare(
        quote(drope_stated, statement="s8_2_sink_threshold"),
        formula.number,
        reason=f"The formula of section 5.1 has {formula.printed}.",
        kind="cell check",
    )


@claim("004, 8.1 Motivation", failure="control")
def c004_pat_sink_rate_recalled(drope_stated: pd.DataFrame, attention_experiments: pd.DataFrame) -> Verdict:
    """The sink rates of about 97 % are those of the heads whose attention patterns are analysed."""
    exp4, exp7 = pick_each(attention_experiments, quantity="sink heads", layers="all layers", experiment=(4, 7))
    reported = quote(drope_stated, statement="s8_1_sink_rate")
    return judge(
        all(about(reported, exp7[model], reason="Here.").verdict != "contradicted" for model in ("rope", "drope")),
        f"Experiment 4 prints {exp4['rope']:.1f} and {exp4['drope']:.1f} % on {exp4['texts']}, this experiment "
        f"{exp7['rope']:.1f} and {exp7['drope']:.1f} % on {exp7['texts']} with the same threshold: the rate depends on "
        "the length of the texts.",
        otherwise="not supported",
        reported=reported.printed,
        recomputed=f"{exp7['rope']:.1f} and {exp7['drope']:.1f}",
    )


@claim("004, 8.4 Key Finding")
def c004_pat_sink_heads_alike(drope_stated: pd.DataFrame, drope_attention: pd.DataFrame) -> Iterator[Verdict]:
    """In both models about 93 % of the heads are sinks."""
    for model in PAIR:
        cell = quote(drope_attention, positional=model, metric="sink_heads")
        verdict = about(
            quote(drope_stated, statement="s8_4_sink_heads"),
            cell.number,
            reason=f"The table prints {cell.printed}.",
            key=model,
            statement=f"About 93 % of the heads of {model} are sinks.",
        )
        yield mark_repeat(verdict, f"c004_pat_head_classes.{model}-sink_heads")


@claim("004, 8.4 Key Finding")
def c004_pat_nearly_identical(
    attention_agreement: pd.DataFrame, attention_tests: pd.DataFrame, drope_attention_origins: pd.DataFrame
) -> Verdict:
    """The attention patterns of the two models are nearly identical."""
    bos, local = (pick(attention_agreement, kind=kind, layers="all layers") for kind in ("bos", "local"))
    pearson = pick(attention_tests, comparison="bos, all layers", test="pearson")
    gap = pick(attention_tests, comparison="bos, all layers", test="paired_t")
    return judge(
        bos["mean_absolute_difference"] < 1
        and local["mean_absolute_difference"] < 1
        and not is_unrotated(drope_attention_origins, 7),
        f"The profiles over {bos['n']} layers run together (r = {pearson['estimate']:.2f}), but single layers differ "
        f"by {bos['mean_absolute_difference']:.1f} points of attention to BOS on average and "
        f"{bos['largest_difference']:.1f} in layer {bos['largest_difference_layer']}; the last {bos['late_run']} "
        f"layers all attend more to BOS in DroPE (mean difference {gap['estimate']:.1f} points; {p(gap['p_value'])} if "
        f"layers were independent). Means over heads cannot show that heads agree.{caveat(drope_attention_origins, 7)}",
        otherwise="not supported",
        recomputed=float(bos["mean_absolute_difference"]),
        n=int(bos["n"]),
        p_value=float(gap["p_value"]),
    )


@claim("004, 8.4 Key Finding")
def c004_pat_routed_identically(
    attention_agreement: pd.DataFrame, attention_tests: pd.DataFrame, drope_attention_origins: pd.DataFrame
) -> Verdict:
    """The two models route attention identically."""
    local = pick(attention_agreement, kind="local", layers="all layers")
    gap = pick(attention_tests, comparison="local, all layers", test="paired_t")
    lacks_rotation = is_unrotated(drope_attention_origins, 7)
    return judge(
        local["layers_drope_less"] < 0.75 * local["n"] and not lacks_rotation,
        f"DroPE attends less to neighbours in {local['layers_drope_less']} of {local['n']} layers, by "
        f"{-gap['estimate']:.1f} points on average ({p(gap['p_value'])} if layers were "
        f"independent).{caveat(drope_attention_origins, 7)}",
        otherwise="not supported" if lacks_rotation else "contradicted",
        failure="control" if lacks_rotation else "",
        recomputed=float(gap["estimate"]),
        n=int(local["n"]),
        **numbers_of(gap, "p_value", "ci"),
    )


@claim("004, 8.4 Key Finding")
def c004_pat_similarity_against_function(
    attention_experiments: pd.DataFrame, drope_attention_origins: pd.DataFrame
) -> Verdict:
    """Similar patterns with different importance of layer 1 show that similarity need not mean equal function."""
    all_layers = pick(attention_experiments, quantity="sink heads", layers="all layers", experiment=7)
    layer1 = pick(attention_experiments, quantity="sink heads", layers="layer 1", experiment=4)
    return judge(
        abs(layer1["difference"]) <= 5 and not is_unrotated(drope_attention_origins, 7),
        f"The similarity ({all_layers['rope']:.1f} against {all_layers['drope']:.1f} % sink heads) is that of all "
        f"layers, the importance that of layer 1, where Experiment 4 finds {layer1['rope']:.0f} against "
        f"{layer1['drope']:.0f} %: the compared layers are not the same.{caveat(drope_attention_origins, 7)}",
        otherwise="not supported",
        recomputed=float(layer1["difference"]),
    )


@claim("004, 8.3 Results, pattern table", failure="control")
def c004_pat_bos_order(attention_experiments: pd.DataFrame, drope_attention_origins: pd.DataFrame) -> Verdict:
    """In both experiments, mean attention to BOS is higher in DroPE than in RoPE."""
    exp7, exp5 = pick_each(attention_experiments, quantity="attention to BOS", layers="all layers", experiment=(7, 5))
    return judge(
        exp7["difference"] > 0 and exp5["difference"] > 0 and not is_unrotated(drope_attention_origins, 7),
        f"Here {exp7['drope']:.1f} against {exp7['rope']:.1f} %, in Experiment 5 {exp5['drope']:.1f} against "
        f"{exp5['rope']:.1f} % on other "
        f"texts{': the order turns' if exp5['difference'] < 0 else ''}.{caveat(drope_attention_origins, 7)}",
        otherwise="not supported",
        recomputed=f"{exp7['difference']:+.1f} and {exp5['difference']:+.1f} points",
    )
