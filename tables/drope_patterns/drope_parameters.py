"""What each experiment ran with, run by run, against the settings that the report states for all."""

import pandas as pd

from tables import Column, Table, text


def table(drope_protocols: pd.DataFrame, drope_parameters: pd.DataFrame, drope_stated: pd.DataFrame) -> Table:
    """One row per run."""
    stated = drope_parameters.set_index("parameter")["printed"]
    bits = drope_stated.set_index("statement")["printed"]["s13_bits"]
    rows = drope_protocols.assign(items=drope_protocols["items"].str.replace("imdb", "IMDB"))
    half = int((drope_protocols["precision"] == "fp16").sum())
    return Table(
        rows=rows,
        columns=[
            Column("section", "Section", text),
            Column("experiment", "Exp."),
            Column("items", "Items", text, width=0.3),
            Column("passkey_digits", "Digits", text, width=0.12, missing="The run has no passkey task."),
            Column("precision", "Precision", text, width=0.17),
            Column("note", "Remark", text, width=0.17, blank=True),
        ],
        space=0,
        size="scriptsize",
        caption=(
            "What the experiments of the report ran with, as its scripts tell [@africa2026]. Unit: run; sections are "
            "the report's."
        ),
        short="Settings of the DroPE experiments",
        note=(
            f"Section 13 of the report states for all of them: {bits}-bit NF4, sequences of "
            f"{stated['sequence_length']} tokens, "
            f"{stated['text_samples']} texts, {stated['random_seeds']} seeds, threshold "
            f"{stated['massive_threshold']}. Of "
            f"{len(rows)} runs {half} used fp16. FP4 and NF4 are two 4-bit formats with different levels, fp16 is half "
            "precision."
        ),
    )
