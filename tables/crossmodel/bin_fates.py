"""What rotation inside buckets leaves of the conclusions on public models."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, text

CHAPTERS = {
    "models": "Across models",
    "training": "One model in training",
    "benchmarks": "Plasticity and scores",
    "hypotheses": "The hypotheses of the sources",
}


def table(bin_fates: pd.DataFrame, bin_factors: pd.DataFrame) -> Table:
    """One row per conclusion."""
    rows = bin_fates.assign(part=bin_fates["chapter"].map(CHAPTERS))
    counts = rows["fate"].value_counts()
    words = {"survives": "survive", "open": "open", "falls": "lost"}
    fates = ", ".join(f"{int(counts[fate])} {word}" for fate, word in words.items() if fate in counts)
    captures = int(bin_factors["captures"].iloc[0])
    return Table(
        rows=rows,
        columns=[
            Column("statement", "Conclusion", text, width=0.5),
            Column("verdicts", "In the ledger", text, width=0.15),
            Column("needed", "Needed", fixed(2), blank=True),
            Column("seen", "Known", fixed(2), blank=True),
            Column("fate", "Left", text),
        ],
        groups="part",
        long=True,
        size="footnotesize",
        caption=(
            f"Conclusions on public models if what rotation turns inside buckets is counted: {fates}. Unit: one "
            "conclusion."
        ),
        short="What rotation inside buckets leaves of conclusions",
        note=(
            "Buckets keep a part of the mean query's squared length and turn the rest into spread. Needed: by which "
            "factor that part has to differ between the two sides that are compared for the conclusion to turn (of an "
            "absence: for an effect to show); blank where no plasticity enters or no factor turns it. Known: the "
            f"largest such factor measured ({captures} captures, the widest bins), and between levels of captures that "
            "times what their rotations and widths make of an even mean, at most what their own values allow. "
            "Survives: nothing enters, one network is compared with itself, or more is needed than is known. Falls: "
            "it is the value of its bins."
        ),
    )
