"""Document 004, Experiment 8: claims on what layer 1 writes, and on the norms of its queries and keys."""

import pandas as pd

from analysis.vocabulary import PAIR
from boundpaper.claims import Artifact, Cells, Copies, Relation, Repeats, Verdict, claim, judge, pick, quote
from boundpaper.claims.terms import ArtifactCell, percent_share

CONTENT = Artifact("drope_layer1_content", "the table")
NORMS = Artifact("drope_layer1_norms", "the table")
RATIOS = Artifact("drope_layer1_perplexity", "the table of section 7.3").where(metric="ppl_ratio")
FIGURE_E = Artifact("drope_figures").where(figure="E")
FIGURE_F = Artifact("drope_figures").where(figure="F")
PRINTED = (  # table, and the metrics checked in it
    (CONTENT, ("attention_output_norm", "mlp_output_norm", "attention_contribution", "mlp_contribution")),
    (NORMS, ("query_norm", "key_norm")),
)


def _share_cell(model: str, component: str = "attention") -> ArtifactCell:
    cell = CONTENT(positional=model, metric=f"{component}_contribution")
    return cell.by(f"c004_con_cells.{model}-{component}_contribution")


def _ratio_cell(table: Artifact, metric: str) -> ArtifactCell:
    return table(positional="DroPE", metric=f"{metric}_ratio_to_rope").by(f"c004_con_ratios.{metric}")


def _ablation_ratio_cell(model: str, condition: str) -> ArtifactCell:
    return RATIOS(condition=condition, positional=model).by(f"c004_layer1_ratios.{model}-{condition}")


c004_con_cells = Cells(
    "The norms and contributions of layer 1 are the published ones.",
    "004, 9.3 Results, both tables",
    *(
        Relation(
            each={"metric": metrics, "model": PAIR},
            cell=table(positional="{model}", metric="{metric}"),
            follows=Artifact("layer1_ratios").value("{model!l}_published", metric="{metric}"),
            because="Published mean over the texts.",
            places=3,
            key="{model}-{metric}",
            says="The {metric!w} of {model} in layer 1 is the published one.",
        )
        for table, metrics in PRINTED
    ),
)


c004_con_ratios = Cells(
    "The column of ratios is DroPE's cell over RoPE's.",
    "004, 9.3 Results, both tables",
    *(
        Relation(
            each={"metric": metrics},
            cell=table(positional="DroPE", metric="{metric}_ratio_to_rope"),
            follows=Artifact("layer1_ratios").value(
                "ratio_from_printed", ("ratio_low", "ratio_high"), metric="{metric}"
            ),
            because="{0.row[drope_printed]:g} / {0.row[rope_printed]:g}.",
            places=2,
            key="{metric}",
            says="The ratio of the {metric!w} is that of the printed cells.",
            judged={"attention_contribution": "c004_con_share_grows"},  # this claim compares with the published shares
        )
        for table, metrics in PRINTED
    ),
)


@claim("004, 9.3 Results, contribution table")
def c004_con_share_grows(drope_layer1_content: pd.DataFrame, layer1_ratios: pd.DataFrame) -> Verdict:
    """Attention's contribution to layer 1 is 76 times as large in DroPE as in RoPE."""
    row = pick(layer1_ratios, metric="attention_contribution")
    ratio = quote(drope_layer1_content, positional="DroPE", metric="attention_contribution_ratio_to_rope")
    follows_from_printed = bool(row["ratio_low"] <= ratio.number <= row["ratio_high"])
    return judge(
        ratio.interval.low <= row["ratio_published"] <= ratio.interval.high,
        f"The published shares, {row['drope_published']:.2f} and {row['rope_published']:.3f} %, give "
        f"{row['ratio_published']:.1f}; the source divides shares rounded to one decimal, which leave open "
        f"{row['ratio_low']:.0f} to {row['ratio_high']:.0f}"
        + (": its number follows from them, and they are too coarse for two digits." if follows_from_printed else "."),
        otherwise="not supported" if follows_from_printed else "contradicted",
        failure="number",
        reported=ratio.printed,
        recomputed=f"{row['ratio_published']:.1f}",
    )


c004_con_share_definition = Cells(
    "A contribution is the part's norm over the sum of both norms, as section 10.2 defines it.",
    "004, 9.3 Results, contribution table",
    Relation(
        each={"model": PAIR, "part, other": (("attention", "mlp"), ("mlp", "attention"))},
        cell=CONTENT(positional="{model}", metric="{part}_contribution"),
        follows=percent_share(
            CONTENT(positional="{model}", metric="{part}_output_norm"),
            CONTENT(positional="{model}", metric="{other}_output_norm"),
        ),
        because="100 * {0} / ({0} + {1}), a ratio of means; the source averages the ratios of single texts here.",
        places=2,
        key="{model}-{part}",
        says="The {part} contribution of {model} follows from the printed norms.",
    ),
)


c004_con_two_shares = Cells(
    "Experiments 8 and 9 print the same share of attention for layer 1.",
    "004, 9.3 Results, contribution table",
    Copies(
        CONTENT.where(metric="attention_contribution"),
        Artifact("drope_crosslayer", "the table of section 10.3").where(layers="1", metric="attention_contribution"),
        ("positional", "metric"),
    ),
)


c004_con_restated = Cells(
    "The prose of sections 9.1 to 10.1 and the caption of Figure E repeat values of the tables.",
    "004, 9.4 Key Finding to 10.1 Motivation, Figure E",
    Repeats(
        Artifact("drope_stated"),
        {
            "s9_1_rope_mlp": _ablation_ratio_cell("RoPE", "layer1_mlp"),
            "s9_1_rope_attention": _ablation_ratio_cell("RoPE", "layer1_attn"),
            "s9_4_rope_attention_share": _share_cell("RoPE"),
            "s9_4_rope_mlp_share": _share_cell("RoPE", "mlp"),
            "s9_4_drope_attention_share": _share_cell("DroPE").by("c004_con_to_residual"),
            "s9_4_drope_mlp_share": _share_cell("DroPE", "mlp"),
            "s9_4_rope_attention_ablation": _ablation_ratio_cell("RoPE", "layer1_attn"),
            "s9_4_drope_attention_ablation": _ablation_ratio_cell("DroPE", "layer1_attn"),
            "s9_4_rope_attention_share_again": _share_cell("RoPE"),
            "s9_4_drope_attention_share_again": _share_cell("DroPE"),
            "s9_5_query_norm_ratio": _ratio_cell(NORMS, "query_norm"),
            "s9_5_key_norm_ratio": _ratio_cell(NORMS, "key_norm"),
            "s9_5_output_norm_ratio": _ratio_cell(CONTENT, "attention_output_norm"),
            "s9_6_rope_attention_share": _share_cell("RoPE"),
            "s9_6_drope_attention_share": _share_cell("DroPE"),
            "s10_1_drope_attention_share": _share_cell("DroPE"),
            "s10_1_rope_attention_share": _share_cell("RoPE"),
        },
    ),
    Repeats(
        Artifact("drope_captions"),
        {"fig_e_rope_attention_share": _share_cell("RoPE"), "fig_e_drope_attention_share": _share_cell("DroPE")},
    ),
)


c004_con_figure_e = Cells(
    "Figure E draws the contributions of the table.",
    "004, 15 Publication Figures, Figure E",
    Relation(
        each=FIGURE_E.rows("series", "x"),
        cell=FIGURE_E(series="{series}", x="{x}"),
        follows=CONTENT(positional="{series}", metric="{x!l}_contribution"),
        because="The table of section 9.3 prints {0}.",
        key="{series}-{x!l}_contribution",
        says="The cell {series}, {x!l}_contribution equals the table of section 9.3.",
    ),
)


# Figure F draws RoPE's key norm as 52, the published 52.2 without decimals; the table prints 52.0
c004_con_figure_f = Cells(
    "Figure F draws the query and key norms of the table.",
    "004, 15 Publication Figures, Figure F",
    Relation(
        each=FIGURE_F.rows("series", "x"),
        cell=FIGURE_F(series="{series}", x="{x}"),
        follows=NORMS(positional="{series}", metric="{x!l}_norm"),
        because="The table of section 9.3 prints {0}.",
        key="{series}-{x!l}_norm",
        says="The cell {series}, {x!l}_norm equals the table of section 9.3.",
    ),
)
