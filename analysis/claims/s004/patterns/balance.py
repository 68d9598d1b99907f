"""Document 004, Experiment 9: the table of the balance over layers, its figure, and values repeated from them."""

from __future__ import annotations

import pandas as pd

from analysis.claims import Verdict, compare, judge, pick, quote
from analysis.claims._verdicts.cells import cell, restated
from analysis.claims._verdicts.repeats import repeating

MODELS = ("RoPE", "DroPE")
BANDS = ("0", "1", "2-31")
SHARE = "attention_contribution"


def c004_bal_shares(drope_crosslayer: pd.DataFrame, balance_summary: pd.DataFrame) -> list[Verdict]:
    """The printed shares of attention are those of the published layers.

    Source: 004, 10.3 Results, layer table.
    """
    return [
        compare(
            quote(drope_crosslayer, layers=band, positional=model, metric=SHARE),
            float(row[f"mean_{model.lower()}"]),
            reason=f"Mean over {row['n']} published layer{'s' if row['n'] > 1 else ''}.",
            places=2,
            key=f"{model}-{band}",
            statement=f"The share of attention of {model}, layers {band}, is the published one.",
            kind="cell check",
        )
        for band in BANDS
        for row in [pick(balance_summary, layers=band)]
        for model in MODELS
    ]


def c004_bal_differences(drope_crosslayer: pd.DataFrame) -> list[Verdict]:
    """The printed differences are DroPE's share less RoPE's.

    Source: 004, 10.3 Results, layer table.
    """
    verdicts = []
    for band in BANDS:
        rope, drope = (quote(drope_crosslayer, layers=band, positional=model, metric=SHARE) for model in MODELS)
        made = compare(
            quote(drope_crosslayer, layers=band, positional="DroPE", metric="difference_from_rope"),
            drope.number - rope.number,
            drope.interval - rope.interval,
            reason=f"{drope.printed} - {rope.printed}.",
            places=1,
            key=band,
            statement=f"The difference in layers {band} follows from the printed shares.",
            kind="cell check",
        )
        # the third band is judged against the published layers by a statement of its own
        verdicts.append(repeating(made, "c004_bal_later_difference") if band == "2-31" else made)
    return verdicts


def c004_bal_later_difference(
    drope_crosslayer: pd.DataFrame,
    balance_layers: pd.DataFrame,
    balance_summary: pd.DataFrame,
    balance_tests: pd.DataFrame,
) -> Verdict:
    """Over layers 2 to 31 the mean shares of attention differ by half a point.

    Source: 004, 10.3 Results, layer table.
    """
    row = pick(balance_summary, layers="2-31")
    test = pick(balance_tests, comparison="layers 2-31", test="paired_t")
    agree = all(
        printed.low <= float(pick(balance_layers, layer=layer)[f"share_{model.lower()}"]) <= printed.high
        for layer in (0, 1)
        for model in MODELS
        for printed in [quote(drope_crosslayer, layers=str(layer), positional=model, metric=SHARE).interval]
    )
    return compare(
        quote(drope_crosslayer, layers="2-31", positional="DroPE", metric="difference_from_rope"),
        float(row["mean_difference"]),
        reason=(
            f"The published layers average {row['mean_rope']:.1f} and {row['mean_drope']:.1f} %; layers 0 and 1 of "
            f"the same series {'agree' if agree else 'do not agree'} with the table. Interval "
            f"over layers, as if they were independent, {test['ci_low']:.1f} to {test['ci_high']:.1f} points."
        ),
        places=2,
        n=int(row["n"]),
        ci=(float(test["ci_low"]), float(test["ci_high"])),
        p_value=float(test["p_value"]),
    )


def c004_bal_all_layers(drope_stated: pd.DataFrame, balance_layers: pd.DataFrame) -> Verdict:
    """The norms are taken in all 32 layers.

    Source: 004, 10.2 Method.
    """
    return compare(
        quote(drope_stated, statement="s10_2_layers"),
        float(len(balance_layers)),
        reason=f"Norms of {len(balance_layers)} layers are published for both models.",
        places=0,
    )


def c004_bal_figure_g(drope_figures: pd.DataFrame, figure_g_layers: pd.DataFrame) -> list[Verdict]:
    """Figure G draws each layer's share of attention.

    Source: 004, 15 Publication Figures, Figure G.
    """
    return [
        compare(
            quote(drope_figures, figure="G", series=row["positional"], x=str(row["layer"])),
            float(row["published"]),
            reason=f"Published share of layer {row['layer']}.",
            places=2,
            key=f"{row['positional']}-{row['layer']}",
            statement=f"Figure G draws the share of {row['positional']} in layer {row['layer']}.",
            kind="cell check",
        )
        for _, row in figure_g_layers.iterrows()
    ]


def c004_bal_figure_g_mean(drope_crosslayer: pd.DataFrame, figure_g_layers: pd.DataFrame) -> list[Verdict]:
    """The points that Figure G draws for layers 2 to 31 average to the table's row.

    Source: 004, 15 Publication Figures, Figure G.
    """
    later = figure_g_layers[figure_g_layers["layer"] >= 2]
    return [
        compare(
            quote(drope_crosslayer, layers="2-31", positional=model, metric=SHARE),
            float(later[later["positional"] == model]["drawn"].mean()),
            reason=f"Mean of {int((later['positional'] == model).sum())} coordinates.",
            places=2,
            key=model,
            statement=f"The coordinates of {model} in layers 2 to 31 average to the table's mean.",
            kind="cell check",
        )
        for model in MODELS
    ]


def c004_bal_figure_g_measured(figure_g_layers: pd.DataFrame) -> Verdict:
    """The curves of Figure G are the measured shares of the 32 layers.

    Source: 004, 15 Publication Figures, Figure G.
    """
    later = figure_g_layers[figure_g_layers["layer"] >= 2]
    repeated = later[later["layer"] >= 8]
    far = later["difference"].abs()
    return judge(
        bool((far <= 0.5).all()),
        f"From layer 8 on {int(repeated['repeats'].sum())} of {len(repeated)} coordinates repeat the one four layers "
        "before, all "
        f"within {later['drawn'].min():.1f} to {later['drawn'].max():.1f} %, while the published shares of layers 2 "
        "to 31 lie between "
        f"{later['published'].min():.1f} and {later['published'].max():.1f} % (mean distance {far.mean():.1f} points).",
        recomputed=float(far.mean()),
        n=len(later),
    )


def c004_bal_restated(drope_stated: pd.DataFrame, drope_crosslayer: pd.DataFrame) -> list[Verdict]:
    """The prose of sections 10.4 and 10.5 repeats values of the table.

    Source: 004, 10.4 Key Finding and 10.5 Interpretation.
    """
    return restated(
        drope_stated,
        {
            f"{section}_{model.lower()}_layer{layer}": cell(
                drope_crosslayer, "the table of section 10.3", layers=layer, positional=model, metric=SHARE
            ).by(f"c004_bal_shares.{model}-{layer}")
            for section, layers in (("s10_4", "01"), ("s10_5", "0"))
            for layer in layers
            for model in MODELS
        },
    )
