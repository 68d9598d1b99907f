"""Document 004, Experiment 9: checks of attention's share by layer in the table, in Figure G and in the prose."""

import pandas as pd

from analysis.claims._shared import min_to_max, numbers_of
from analysis.vocabulary import PAIR
from boundpaper.claims import Artifact, Cells, Relation, Repeats, Verdict, claim, compare, judge, pick, quote

BANDS = (("0", "layer"), ("1", "layer"), ("2-31", "layers"))
SHARE = "attention_contribution"
CROSSLAYER = Artifact("drope_crosslayer", "the table of section 10.3")
FIGURE_G = Artifact("figure_g_layers")


c004_bal_shares = Cells(
    "The printed shares of attention are those of the published layers.",
    "004, 10.3 Results, layer table",
    Relation(
        each={"band, noun": BANDS, "model": PAIR},
        cell=CROSSLAYER(layers="{band}", positional="{model}", metric=SHARE),
        follows=Artifact("balance_summary").value("mean_{model!l}", layers="{band}"),
        because="Mean over {0.row[n]} published {noun}.",
        places=2,
        key="{model}-{band}",
        says="The share of attention of {model}, layers {band}, is the published one.",
    ),
)


c004_bal_differences = Cells(
    "The printed differences are DroPE's share minus RoPE's.",
    "004, 10.3 Results, layer table",
    Relation(
        each={"band, noun": BANDS},
        cell=CROSSLAYER(layers="{band}", positional="DroPE", metric="difference_from_rope"),
        follows=CROSSLAYER(layers="{band}", positional="DroPE", metric=SHARE)
        - CROSSLAYER(layers="{band}", positional="RoPE", metric=SHARE),
        because="{0} - {1}.",
        places=1,
        key="{band}",
        says="The difference in layers {band} follows from the printed shares.",
        # another claim judges the third band against the published layers
        judged={"2-31": "c004_bal_later_difference"},
    ),
)


@claim("004, 10.3 Results, layer table")
def c004_bal_later_difference(
    drope_crosslayer: pd.DataFrame,
    balance_layers: pd.DataFrame,
    balance_summary: pd.DataFrame,
    balance_tests: pd.DataFrame,
) -> Verdict:
    """Over layers 2 to 31 the two models' mean shares of attention differ by half a point."""
    row = pick(balance_summary, layers="2-31")
    test = pick(balance_tests, comparison="layers 2-31", test="paired_t")
    layers_agree = all(
        printed.low <= float(pick(balance_layers, layer=layer)[f"share_{model.lower()}"]) <= printed.high
        for layer in (0, 1)
        for model in PAIR
        for printed in [quote(drope_crosslayer, layers=str(layer), positional=model, metric=SHARE).interval]
    )
    return compare(
        quote(drope_crosslayer, layers="2-31", positional="DroPE", metric="difference_from_rope"),
        float(row["mean_difference"]),
        reason=(
            f"The published layers average {row['mean_rope']:.1f} and {row['mean_drope']:.1f} %; layers 0 and 1 of the "
            f"same series {'agree' if layers_agree else 'do not agree'} with the table. Interval over layers, as if "
            f"they were independent, {test['ci_low']:.1f} to {test['ci_high']:.1f} points."
        ),
        places=2,
        n=int(row["n"]),
        **numbers_of(test, "p_value", "ci"),
    )


@claim("004, 10.2 Method")
def c004_bal_all_layers(drope_stated: pd.DataFrame, balance_layers: pd.DataFrame) -> Verdict:
    """The norms are taken in all 32 layers."""
    return compare(
        quote(drope_stated, statement="s10_2_layers"),
        float(len(balance_layers)),
        reason=f"Norms of {len(balance_layers)} layers are published for both models.",
        places=0,
    )


c004_bal_figure_g = Cells(
    "Figure G draws each layer's share of attention.",
    "004, 15 Publication Figures, Figure G",
    Relation(
        each=FIGURE_G.rows("positional", "layer"),
        cell=Artifact("drope_figures")(figure="G", series="{positional}", x="{layer:d}"),
        follows=FIGURE_G.value("published", positional="{positional}", layer="{layer}"),
        because="Published share of layer {layer}.",
        places=2,
        key="{positional}-{layer}",
        says="Figure G draws the share of {positional} in layer {layer}.",
    ),
)


@claim("004, 15 Publication Figures, Figure G")
def c004_bal_figure_g_mean(drope_crosslayer: pd.DataFrame, figure_g_layers: pd.DataFrame) -> list[Verdict]:
    """The points that Figure G draws for layers 2 to 31 average to the table's row."""
    later_layers = figure_g_layers[figure_g_layers["layer"] >= 2]
    return [
        compare(
            quote(drope_crosslayer, layers="2-31", positional=model, metric=SHARE),
            float(later_layers[later_layers["positional"] == model]["drawn"].mean()),
            reason=f"Mean of {int((later_layers['positional'] == model).sum())} coordinates.",
            places=2,
            key=model,
            statement=f"The coordinates of {model} in layers 2 to 31 average to the table's mean.",
            kind="cell check",
        )
        for model in PAIR
    ]


@claim("004, 15 Publication Figures, Figure G")
def c004_bal_figure_g_measured(figure_g_layers: pd.DataFrame) -> Verdict:
    """The curves of Figure G are the measured shares of the 32 layers."""
    later_layers = figure_g_layers[figure_g_layers["layer"] >= 2]
    from_layer8 = later_layers[later_layers["layer"] >= 8]
    distances = later_layers["difference"].abs()
    return judge(
        bool((distances <= 0.5).all()),
        f"From layer 8 on {int(from_layer8['repeats'].sum())} of {len(from_layer8)} coordinates repeat the one four "
        f"layers before, all within {min_to_max(later_layers['drawn'], '.1f')} %, while the published shares of layers "
        f"2 to 31 lie between {later_layers['published'].min():.1f} and {later_layers['published'].max():.1f} % (mean "
        f"distance {distances.mean():.1f} points).",
        recomputed=float(distances.mean()),
        n=len(later_layers),
    )


c004_bal_restated = Cells(
    "The prose of sections 10.4 and 10.5 repeats values of the table.",
    "004, 10.4 Key Finding and 10.5 Interpretation",
    Repeats(
        Artifact("drope_stated"),
        {
            f"{section}_{model.lower()}_layer{layer}": CROSSLAYER(layers=layer, positional=model, metric=SHARE).by(
                f"c004_bal_shares.{model}-{layer}"
            )
            for section, layers in (("s10_4", "01"), ("s10_5", "0"))
            for layer in layers
            for model in PAIR
        },
    ),
)
