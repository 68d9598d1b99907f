"""RULER by length for the captured models: published scores, then the scores of models measured by this project."""

from typing import Any

import pandas as pd

from boundpaper.tables import Column, Table, fixed
from tables._house import model_footnotes, model_marks
from tables.benchmarks._ruler import measured_footnotes, measured_rows

LENGTHS = ("4k", "8k", "16k", "32k", "64k", "128k")
UNSTATED = "stated for published scores only"
AVERAGES = {"average": "plain", "weighted_longer": "longer", "weighted_shorter": "shorter"}


def table(
    ruler_summary: pd.DataFrame,
    ruler_lengths: pd.DataFrame,
    measured_ruler_lengths: pd.DataFrame,
    measured_ruler_models: pd.DataFrame,
) -> Table:
    """Return one row per model, published scores first."""
    longest = ruler_summary["captured_context"].max()
    score = fixed(1)
    is_self_reported = ruler_summary["origin"].str.startswith("self-reported")
    marks = [
        ",".join(filter(None, (mark, "self" if is_own else "")))
        for mark, is_own in zip(model_marks(ruler_summary, longest), is_self_reported, strict=True)
    ]
    rows = ruler_summary.assign(
        mark=marks,
        effective_shown=ruler_summary["effective"].str.upper(),
        stated_shown=ruler_summary["effective_reported"].str.upper(),
        stated_mark=[
            "stated" if rule != stated else ""
            for rule, stated in zip(ruler_summary["effective"], ruler_summary["effective_reported"], strict=True)
        ],
        group="Published scores",
    )
    differing = ruler_lengths[ruler_lengths["differs"].astype(bool)]
    for length in LENGTHS:
        models = set(differing.loc[differing["length"] == length, "model"])
        rows[f"mark_{length}"] = ["differs" if model in models else "" for model in rows["model"]]
    differences = [
        f"the study prints {score.show(row['ruler_printed'], 'plain')} for {row['display_name']} at "
        f"{row['length'].upper()}, the benchmark {score.show(row['ruler'], 'plain')}"
        for _, row in differing.iterrows()
    ]
    threshold = score.show(rows["threshold"].iloc[0], "plain")
    published_count = len(rows)
    effective: dict[str, Any] = {"group": "Effective length", "align": "right"}
    own_rows = measured_rows(measured_ruler_lengths, measured_ruler_models, LENGTHS)
    return Table(
        rows=pd.concat([rows, own_rows], ignore_index=True),
        columns=[
            Column("display_name", "Model", mark="mark"),
            *(
                Column(
                    length,
                    length.upper(),
                    fixed(1),
                    mark=f"mark_{length}",
                    group="Score at input length (tokens)",
                    missing="not measured at this length",
                )
                for length in LENGTHS
            ),
            *(
                Column(name, title, fixed(1), group="Average", missing="needs the 13 tasks at all six lengths")
                for name, title in AVERAGES.items()
            ),
            Column("effective_shown", "rule", **effective, missing="defined for the mean of the 13 tasks"),
            Column("stated_shown", "stated", mark="stated_mark", **effective, missing=UNSTATED),
        ],
        groups="group",
        size="footnotesize",
        marks={
            **model_footnotes(ruler_summary, longest),
            "self": "Self-reported by the model's authors [@qwen2025], listed on the benchmark's page",
            "differs": f"Published score shown: {'; '.join(differences)}",
            "stated": f"Differs from the rule: a score above {threshold} is asked for",
            **measured_footnotes(measured_ruler_lengths, measured_ruler_models),
        },
        caption=(
            f"RULER by input length, {published_count} captured models that it scored, in falling order at 128K "
            "[@hsieh2024]; completes Table 8 of the study [@shcherb2026]. Unit: one model, mean over tasks. Below: "
            "measured by this project, not published."
        ),
        short="RULER by input length and effective length",
        note=(
            "Averages: over the six lengths, and with weights that rise linearly towards longer or towards shorter "
            f"inputs. Effective length by the rule: the longest whose score is above {threshold}."
        ),
    )
