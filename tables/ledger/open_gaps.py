"""Open gaps that the documents name, with proposed remedies and what closed each gap or would close it."""

import pandas as pd

from boundpaper.tables import Column, Table
from boundpaper.typeset.numbers import integer

REMEDIES = {
    "head_composition": "Open: patch the output of one head and read the plasticity of heads in later layers.",
    "causal_direction": "Open: ablate heads by plasticity against equally many others and measure retrieval by length.",
    "softmax_globality": "Open: compare attention mass on distant keys with pairwise plasticity, head by head.",
    "dataset_dependence": "Open: repeat the capture on other kinds of text and compare profiles within a model.",
    "content_decay": "Open: print the positional and the content part of the score difference by distance.",
    "range_limit": "Open: capture a model beyond its trained positions, and one with a true sliding window.",
}


def table(gaps_status: pd.DataFrame) -> Table:
    """Return one row per gap or proposal."""
    rows = gaps_status.assign(
        now=[_present_state(row) for _, row in gaps_status.iterrows()],
        asked=[_gap_with_remedy(row) for _, row in gaps_status.iterrows()],
        part=[
            "Proposals for collecting scores by length" if gap.startswith("option") else "Gaps of the narrative"
            for gap in gaps_status["gap"]
        ],
    )
    return Table(
        rows=rows,
        columns=[
            Column("title", "Gap", width=0.16),
            Column("asked", "What is missing, and the remedy where one is proposed", width=0.42),
            Column("now", "What closed it, or would", width=0.38),
        ],
        groups="part",
        size="footnotesize",
        caption=(
            f"The {len(rows)} open gaps and proposals of the narrative [@shcherb2026], with what has closed them or "
            "would."
        ),
        short="Open gaps, and what closes them",
        note=(
            "Scores by length: cells of the study's table of scores without thinking [@longbenchpro2026]. Causal "
            "direction is asked of the population of small models; for the captured models it stays open, and the gaps "
            "on softmax and documents stay open for all."
        ),
    )


def _gap_with_remedy(row: pd.Series) -> str:
    return f"{row['description']}. Proposed: {row['remedy']}" if row["remedy"] else str(row["description"])


def _present_state(row: pd.Series) -> str:
    number = integer()
    if row["gap"] in REMEDIES:
        return REMEDIES[row["gap"]]
    published, total = number.show(row["published"], "plain"), number.show(row["missing"], "plain")
    if row["gap"] == "option_a":
        scores = f"{published} of {total} scores"
        return f"Done: the authors' summaries hold {scores}, in another repository than the one named."
    if row["gap"] == "option_b":
        need = number.show(round(row["memory_gb"]), "plain")
        return f"Not needed; the largest model would take {need} GB with its key-value cache, not its weights alone."
    if row["gap"] == "option_c":
        return "Not needed: the scores are published."
    return f"Closed: {published} of {total} missing scores are published."
