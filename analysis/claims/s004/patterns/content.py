"""Document 004, Experiment 8: what layer 1 writes, and the norms of its queries and keys."""

from __future__ import annotations

import pandas as pd

from analysis.claims import Verdict, compare, pick, quote
from analysis.claims._verdicts.cells import Cell, cell, copies, restated
from analysis.claims._verdicts.repeats import repeating
from analysis.statistics import Interval

MODELS = ("RoPE", "DroPE")
PARTS = ("attention", "mlp")
NORMS = ("query_norm", "key_norm")
METRICS = ("attention_output_norm", "mlp_output_norm", "attention_contribution", "mlp_contribution", *NORMS)


def c004_con_cells(
    drope_layer1_content: pd.DataFrame, drope_layer1_norms: pd.DataFrame, layer1_ratios: pd.DataFrame
) -> list[Verdict]:
    """The norms and contributions of layer 1 are the published ones.

    Source: 004, 9.3 Results, both tables.
    """
    printed = pd.concat([drope_layer1_content, drope_layer1_norms])
    return [
        compare(
            quote(printed, positional=model, metric=metric),
            float(pick(layer1_ratios, metric=metric)[f"{model.lower()}_published"]),
            reason="Published mean over the texts.",
            places=3,
            key=f"{model}-{metric}",
            statement=f"The {metric.replace('_', ' ')} of {model} in layer 1 is the published one.",
            kind="cell check",
        )
        for metric in METRICS
        for model in MODELS
    ]


def c004_con_ratios(
    drope_layer1_content: pd.DataFrame, drope_layer1_norms: pd.DataFrame, layer1_ratios: pd.DataFrame
) -> list[Verdict]:
    """The column of ratios is DroPE's cell over RoPE's.

    Source: 004, 9.3 Results, both tables.
    """
    printed = pd.concat([drope_layer1_content, drope_layer1_norms])
    judged = {"attention_contribution": ("c004_con_share_grows",)}  # against the published shares
    return [
        repeating(
            compare(
                quote(printed, positional="DroPE", metric=f"{metric}_ratio_to_rope"),
                float(row["ratio_from_printed"]),
                Interval(float(row["ratio_low"]), float(row["ratio_high"])),
                reason=f"{row['drope_printed']:g} / {row['rope_printed']:g}.",
                places=2,
                key=metric,
                statement=f"The ratio of the {metric.replace('_', ' ')} is that of the printed cells.",
                kind="cell check",
            ),
            *judged.get(metric, ()),
        )
        for metric in METRICS
        for row in [pick(layer1_ratios, metric=metric)]
    ]


def c004_con_share_grows(drope_layer1_content: pd.DataFrame, layer1_ratios: pd.DataFrame) -> Verdict:
    """Attention's contribution to layer 1 is 76 times as large in DroPE as in RoPE.

    Source: 004, 9.3 Results, contribution table.
    """
    row = pick(layer1_ratios, metric="attention_contribution")
    return compare(
        quote(drope_layer1_content, positional="DroPE", metric="attention_contribution_ratio_to_rope"),
        float(row["ratio_published"]),
        reason=(
            f"The published shares, {row['drope_published']:.2f} and {row['rope_published']:.3f} %, give "
            f"{row['ratio_published']:.1f}; the source divides shares rounded to one decimal, which leave open "
            f"{row['ratio_low']:.0f} to {row['ratio_high']:.0f}."
        ),
    )


def c004_con_share_definition(drope_layer1_content: pd.DataFrame) -> list[Verdict]:
    """A contribution is the part's norm over the sum of both norms, as section 10.2 defines it.

    Source: 004, 9.3 Results, contribution table.
    """
    verdicts = []
    for model in MODELS:
        norms = {part: quote(drope_layer1_content, positional=model, metric=f"{part}_output_norm") for part in PARTS}
        for part, other in (PARTS, PARTS[::-1]):
            one, two = norms[part], norms[other]
            # written so that the part enters once: 1 / (1 + other / part)
            quotient = two.interval / one.interval
            verdicts.append(
                compare(
                    quote(drope_layer1_content, positional=model, metric=f"{part}_contribution"),
                    100 * one.number / (one.number + two.number),
                    Interval(100 / (1 + quotient.high), 100 / (1 + quotient.low)),
                    reason=(
                        f"100 * {one.printed} / ({one.printed} + {two.printed}), a ratio of means; the source averages "
                        "the ratios of single texts here."
                    ),
                    places=2,
                    key=f"{model}-{part}",
                    statement=f"The {part} contribution of {model} follows from the printed norms.",
                    kind="cell check",
                )
            )
    return verdicts


def c004_con_two_shares(drope_layer1_content: pd.DataFrame, drope_crosslayer: pd.DataFrame) -> list[Verdict]:
    """Experiments 8 and 9 print the same share of attention for layer 1.

    Source: 004, 9.3 Results, contribution table.
    """
    one = drope_layer1_content[drope_layer1_content["metric"] == "attention_contribution"]
    two = drope_crosslayer[
        (drope_crosslayer["layers"] == "1") & (drope_crosslayer["metric"] == "attention_contribution")
    ]
    return copies(one, two, ["positional", "metric"], label="the table of section 10.3")


def c004_con_restated(
    drope_stated: pd.DataFrame,
    drope_captions: pd.DataFrame,
    drope_layer1_content: pd.DataFrame,
    drope_layer1_norms: pd.DataFrame,
    drope_layer1_perplexity: pd.DataFrame,
) -> list[Verdict]:
    """The prose of sections 9.1 to 10.1 and the caption of Figure E repeat values of the tables.

    Source: 004, 9.4 Key Finding to 10.1 Motivation, Figure E.
    """

    def share(model: str, part: str = "attention") -> Cell:
        place = cell(drope_layer1_content, "the table", positional=model, metric=f"{part}_contribution")
        return place.by(f"c004_con_cells.{model}-{part}_contribution")

    def ratio(frame: pd.DataFrame, metric: str) -> Cell:
        place = cell(frame, "the table", positional="DroPE", metric=f"{metric}_ratio_to_rope")
        return place.by(f"c004_con_ratios.{metric}")

    def damage(model: str, condition: str) -> Cell:
        where = {"condition": condition, "positional": model, "metric": "ppl_ratio"}
        place = cell(drope_layer1_perplexity, "the table of section 7.3", **where)
        return place.by(f"c004_layer1_ratios.{model}-{condition}")

    in_text = {
        "s9_1_rope_mlp": damage("RoPE", "layer1_mlp"),
        "s9_1_rope_attention": damage("RoPE", "layer1_attn"),
        "s9_4_rope_attention_share": share("RoPE"),
        "s9_4_rope_mlp_share": share("RoPE", "mlp"),
        "s9_4_drope_attention_share": share("DroPE").by("c004_con_to_residual"),
        "s9_4_drope_mlp_share": share("DroPE", "mlp"),
        "s9_4_rope_attention_ablation": damage("RoPE", "layer1_attn"),
        "s9_4_drope_attention_ablation": damage("DroPE", "layer1_attn"),
        "s9_4_rope_attention_share_again": share("RoPE"),
        "s9_4_drope_attention_share_again": share("DroPE"),
        "s9_5_query_norm_ratio": ratio(drope_layer1_norms, "query_norm"),
        "s9_5_key_norm_ratio": ratio(drope_layer1_norms, "key_norm"),
        "s9_5_output_norm_ratio": ratio(drope_layer1_content, "attention_output_norm"),
        "s9_6_rope_attention_share": share("RoPE"),
        "s9_6_drope_attention_share": share("DroPE"),
        "s10_1_drope_attention_share": share("DroPE"),
        "s10_1_rope_attention_share": share("RoPE"),
    }
    in_captions = {
        "fig_e_rope_attention_share": share("RoPE"),
        "fig_e_drope_attention_share": share("DroPE"),
    }
    return [*restated(drope_stated, in_text), *restated(drope_captions, in_captions)]


def c004_con_figure_e(drope_figures: pd.DataFrame, drope_layer1_content: pd.DataFrame) -> list[Verdict]:
    """Figure E draws the contributions of the table.

    Source: 004, 15 Publication Figures, Figure E.
    """
    points = drope_figures[drope_figures["figure"] == "E"].rename(columns={"series": "positional"})
    points = points.assign(metric=[f"{part.lower()}_contribution" for part in points["x"]])
    return copies(points, drope_layer1_content, ["positional", "metric"], label="the table of section 9.3")


def c004_con_figure_f(drope_figures: pd.DataFrame, drope_layer1_norms: pd.DataFrame) -> list[Verdict]:
    """Figure F draws the query and key norms of the table.

    Source: 004, 15 Publication Figures, Figure F.
    """
    points = drope_figures[drope_figures["figure"] == "F"].rename(columns={"series": "positional"})
    points = points.assign(metric=[f"{tensor.lower()}_norm" for tensor in points["x"]])
    # RoPE's key norm is drawn as 52, which is what the published 52.2 rounds to; only the table's 52.0 is not
    return copies(points, drope_layer1_norms, ["positional", "metric"], label="the table of section 9.3")
