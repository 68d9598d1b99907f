"""Conclusions on public models, and which of them survive when rotation inside buckets is corrected."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, text

CHAPTERS = {
    "models": "Across models",
    "training": "One model in training",
    "benchmarks": "Plasticity and scores",
    "hypotheses": "The hypotheses of the sources",
}


def table(bin_fates: pd.DataFrame, bin_factors: pd.DataFrame) -> Table:
    """Return one row per conclusion."""
    reasons = (": " + bin_fates["note"].astype("string")).where(bin_fates["needed"].isna(), "").fillna("")
    rows = bin_fates.assign(part=bin_fates["chapter"].map(CHAPTERS), statement=bin_fates["statement"] + reasons)
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
            f"Conclusions on public models if rotation inside buckets is taken into account: {fates}. Unit: one "
            "conclusion."
        ),
        short="Conclusions that rotation inside buckets leaves standing",
        note=(
            "Buckets keep a part of the mean query's squared length and turn the rest into spread. Needed: the factor "
            "by which that part must differ between the two compared sides to reverse the conclusion (for an absence: "
            f"to show an effect); blank where the row says why. Known: the largest factor measured ({captures} "
            "captures, the widest bins); for levels of different captures, that times the effect of rotation and width "
            "on an even mean, up to what their own values allow; for the network of random weights, that of such "
            "networks. Survives: plasticity does not enter, one network is compared with itself, or the needed factor "
            "exceeds the known one. Falls: the bins explain the value."
        ),
    )
