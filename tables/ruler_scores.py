"""RULER by length for the captured models that it scored: averages and effective length, by rule and as stated."""

import pandas as pd

from artifacts.numbers import fixed as fixed_number
from tables import Column, Table, fixed
from tables._house import model_footnotes, model_marks

LENGTHS = ("4k", "8k", "16k", "32k", "64k", "128k")


def table(ruler_summary: pd.DataFrame, ruler_lengths: pd.DataFrame) -> Table:
    """Return the table."""
    full = ruler_summary["captured_context"].max()
    score = fixed_number(1)
    reported = ruler_summary["origin"].str.startswith("self-reported")
    marks = [
        ",".join(filter(None, (mark, "self" if own else "")))
        for mark, own in zip(model_marks(ruler_summary, full), reported, strict=True)
    ]
    rows = ruler_summary.assign(
        mark=marks,
        effective_shown=ruler_summary["effective"].str.upper(),
        stated_shown=ruler_summary["effective_reported"].str.upper(),
        stated_mark=[
            "stated" if a != b else ""
            for a, b in zip(ruler_summary["effective"], ruler_summary["effective_reported"], strict=True)
        ],
    )
    other = ruler_lengths[ruler_lengths["differs"].astype(bool)]
    for length in LENGTHS:
        models = set(other.loc[other["length"] == length, "model"])
        rows[f"mark_{length}"] = ["differs" if model in models else "" for model in rows["model"]]
    said = [
        f"the source prints {score.show(row['ruler_printed'], 'plain')} for {row['display_name']} at "
        f"{row['length'].upper()}, the benchmark {score.show(row['ruler'], 'plain')}"
        for _, row in other.iterrows()
    ]
    threshold = score.show(rows["threshold"].iloc[0], "plain")
    return Table(
        rows=rows,
        columns=[
            Column("display_name", "Model", mark="mark"),
            *(
                Column(length, length.upper(), fixed(1), mark=f"mark_{length}", group="Score at input length (tokens)")
                for length in LENGTHS
            ),
            Column("average", "plain", fixed(1), group="Average"),
            Column("weighted_longer", "longer", fixed(1), group="Average"),
            Column("weighted_shorter", "shorter", fixed(1), group="Average"),
            Column("effective_shown", "rule", group="Effective length", align="right"),
            Column("stated_shown", "stated", mark="stated_mark", group="Effective length", align="right"),
        ],
        size="footnotesize",
        marks={
            **model_footnotes(ruler_summary, full),
            "self": "Self-reported by the model's authors [@qwen2025], listed on the benchmark's page",
            "differs": f"Published score shown: {'; '.join(said)}",
            "stated": f"Not what the rule gives: a score above {threshold} is asked for",
        },
        caption=(
            f"RULER by input length, {len(rows)} captured models that it scored, in falling order at 128K "
            "[@hsieh2024]; completes Table 8 of the source [@shcherb2026]. Unit: one model, mean over tasks."
        ),
        short="RULER by input length and effective length",
        note=(
            "Averages: over the six lengths, and with weights that rise linearly towards longer or towards shorter "
            "inputs. "
            f"Effective length by the rule: the longest whose score is above {threshold}."
        ),
    )
