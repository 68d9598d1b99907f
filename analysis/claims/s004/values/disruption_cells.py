"""Document 004, Experiment 2: cells compared with the published perplexities, and numbers that captions repeat."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims._shared import cell_check
from analysis.vocabulary import PAIR
from boundpaper.claims import Artifact, Cells, Relation, Repeats, Verdict, claim, quote
from boundpaper.claims.terms import percent_change

DISRUPTION = Artifact("drope_disruption", "the table of disruption")
INCREASE = DISRUPTION(positional="{model}", metric="massive_increase")
RELIANCE = Artifact("drope_disruption_statistics", "the list of tests")(statistic="reliance_ratio").by(
    "c004_reliance.reliance"
)
TRIALS = "{0.row[seeds]} published trials on the literary set."
CELLS = (  # metric of the source, column of the recomputed values, reason
    ("baseline_ppl", "baseline_ppl", TRIALS),
    ("massive_zeroed_ppl", "massive_ppl", TRIALS),
    ("random_zeroed_ppl", "random_ppl", TRIALS),
    ("massive_increase", "massive_increase", TRIALS),
    ("random_increase_mean", "random_increase", TRIALS),
    ("random_increase_sd", "random_sd_n", f"{TRIALS[:-1]} with divisor n ({{0.row[random_sd_n1]:.2f}} with n - 1)."),
    ("mr_difference", "mr_difference", TRIALS),
)


c004_disruption_cells = Cells(
    "The perplexities, increases and deviations of the tables are those of the published trials.",
    "004, 3.2 Results",
    Relation(
        each={"model": PAIR, "metric, column, because": CELLS},
        cell=DISRUPTION(positional="{model}", metric="{metric}"),
        follows=Artifact("disruption_trials").value("{column}", positional="{model}"),
        because="{because}",
        n="{0.row[seeds]}",
        key="{model}-{metric}",
        says="{metric} of {model} as the trials give it.",
    ),
)


c004_difference_cells = Cells(
    "The difference between massive and random disruption follows from the two columns beside it.",
    "004, 3.2 Results",
    Relation(
        each={"model": PAIR},
        cell=DISRUPTION(positional="{model}", metric="mr_difference"),
        follows=INCREASE - DISRUPTION(positional="{model}", metric="random_increase_mean"),
        because="{0} minus {1}.",
        key="{model}",
        says="The difference of {model} is its massive minus its random disruption.",
    ),
)


c004_increase_cells = Cells(
    "The increases in percent follow from the perplexities that the table above them prints.",
    "004, 3.2 Results",
    Relation(
        each={"model": PAIR, "arm, metric": (("massive", "massive_increase"), ("random", "random_increase_mean"))},
        cell=DISRUPTION(positional="{model}", metric="{metric}"),
        follows=percent_change(
            DISRUPTION(positional="{model}", metric="baseline_ppl"),
            DISRUPTION(positional="{model}", metric="{arm}_zeroed_ppl"),
        ),
        because="From {0} to {1}, which rounding leaves between {within.low:,.1f} and {within.high:,.1f} %.",
        key="{model}-{arm}",
        says="The increase of {model} with {arm} dimensions zeroed follows from its perplexities.",
    ),
)


@claim("004, 3.3 Consistency")
def c004_text_cells(
    drope_disruption_texts_reported: pd.DataFrame, disruption_by_text: pd.DataFrame
) -> Iterator[Verdict]:
    """The increases by text type are those of the published perplexities."""
    for _, row in disruption_by_text.iterrows():
        reported = quote(drope_disruption_texts_reported, text=row["text"], positional=row["positional"])
        digits = reported.printed.strip("+%").replace(",", "")
        unit = 10.0 ** (len(digits) - len(digits.rstrip("0")))
        yield cell_check(
            abs(row["massive_increase"] - reported.number) <= unit / 2,
            f"Published: {row['baseline_ppl']:.3f} to {row['massive_ppl']:,.1f}, {row['massive_ratio']:,.0f} times; "
            f"the printed value is taken as rounded to {unit:,.0f}.",
            reported=reported.printed,
            recomputed=f"{row['massive_increase']:,.0f}",
            key=f"{row['positional']}-{row['text']}",
            statement=f"The increase of {row['positional']} on {row['text']} text.",
        )


c004_figure_c = Cells(
    "The coordinates of Figure C are the increases of the table.",
    "004, 15 Publication Figures, Figure C",
    Relation(
        each={"model": PAIR},
        cell=Artifact("drope_figures")(figure="C", series="{model}"),
        follows=INCREASE.by("c004_disruption_cells.{model}-massive_increase"),
        because="The table prints {0}.",
        key="{model}",
        says="Figure C draws the increase of {model} as in the table.",
    ),
)


c004_disruption_captions = Cells(
    "The captions of Figures 4 and C repeat the results.",
    "004, Figures 4 and C",
    Repeats(
        Artifact("drope_captions"),
        {
            "fig_4_reliance_ratio": RELIANCE,
            "fig_c_reliance_ratio": RELIANCE,
            **{
                f"fig_c_legend_{model.lower()}": DISRUPTION(positional=model, metric="massive_increase").by(
                    f"c004_disruption_cells.{model}-massive_increase"
                )
                for model in PAIR
            },
        },
    ),
)
