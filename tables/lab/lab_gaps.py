"""What the narrative leaves open, asked of the tiny pair: heads, texts, and the whole softmax."""

import pandas as pd

from tables import Column, Table, signed

NAMES = {"rope": "RoPE", "drope": "DroPE"}
METRICS = {"passkey_accuracy": "keys retrieved, points", "delta_nats": "loss, 0.01 nats"}
KINDS = {"ap_overall": "plasticity", "ap_last_20": "late plasticity", "ap_drop": "drop of plasticity"}


def table(
    lab_head_tests: pd.DataFrame,
    lab_head_ablations: pd.DataFrame,
    lab_text_differences: pd.DataFrame,
    lab_globality_means: pd.DataFrame,
) -> Table:
    """Return the table."""
    heads = sorted(lab_head_ablations["heads"].unique())
    draws = int(lab_head_ablations["draws"].min())
    rows = [*_heads(lab_head_tests, heads), *_texts(lab_text_differences), *_softmax(lab_globality_means)]
    shown = pd.DataFrame(rows)
    kinds = lab_text_differences["comparison"].iloc[0]
    return Table(
        rows=shown,
        columns=[
            Column("quantity", "Quantity"),
            Column("rope", "RoPE", signed(2), ci=("rope_low", "rope_high")),
            Column("drope", "DroPE", signed(2), ci=("drope_low", "drope_high")),
        ],
        groups="question",
        space="ranked",
        size="footnotesize",
        reason="note",
        caption=(
            "Three questions that the study leaves open [@shcherb2026], measured on the tiny pair. Unit: one training "
            f"seed ({int(lab_globality_means['seeds'].max())} of each model); means over seeds with 95 % intervals of "
            "Student's t. Two tiny models trained here on a synthetic language."
        ),
        short="Open questions of the study on the tiny pair",
        note=(
            "Heads: without the heads of highest or lowest late plasticity, minus the mean without as many random ones "
            f"({draws} draws). A negative difference in keys, a positive one in loss, means that the ranked heads "
            f"matter more than others. Texts: {kinds}, means over the same heads. Softmax: Pearson's correlation over "
            "heads of "
            "plasticity with how often the heaviest key is another than the query's before."
        ),
    )


def _heads(tests: pd.DataFrame, heads: list[int]) -> list[dict[str, object]]:
    found = tests.set_index("comparison")
    rows = []
    for metric, words in METRICS.items():
        scale = 100.0
        for rank in ("highest", "lowest"):
            for count in heads:
                row: dict[str, object] = {
                    "question": "Do plastic heads carry retrieval?",
                    "quantity": f"without the {count} {rank}: {words}",
                    "ranked": f"{rank}: {words}",
                }
                notes: list[str] = []
                for side in NAMES:
                    test = found.loc[f"{side}, {metric}, {rank} {count} heads - random"]
                    row[side] = scale * test["estimate"]
                    row[f"{side}_low"], row[f"{side}_high"] = scale * test["ci_low"], scale * test["ci_high"]
                    notes += [str(test["note"])] if pd.isna(test["ci_low"]) else []
                rows.append({**row, "note": "; ".join(notes)})
    return rows


def _texts(differences: pd.DataFrame) -> list[dict[str, object]]:
    known = differences.set_index("metric")
    return [
        {
            "question": "Does the kind of text matter?",
            "quantity": f"{words}, 0.01",
            **{
                f"{side}{end}": 100 * float(known[f"{side}{end}"][metric])
                for side in NAMES
                for end in ("", "_low", "_high")
            },
            "note": known.loc[metric, "note"],
        }
        for metric, words in KINDS.items()
    ]


def _softmax(means: pd.DataFrame) -> list[dict[str, object]]:
    row = means.set_index("metric").loc["correlation"]
    return [
        {
            "question": "Do pairs speak for the softmax?",
            "quantity": "correlation over heads",
            **{f"{side}{end}": row[f"{side}{end}"] for side in NAMES for end in ("", "_low", "_high")},
            "note": row["note"],
        }
    ]
