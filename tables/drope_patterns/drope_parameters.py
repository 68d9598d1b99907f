"""Settings of each run of each experiment, and settings that the report states for all experiments."""

import pandas as pd

from boundpaper.tables import Column, Table, sentences, text


def table(drope_protocols: pd.DataFrame, drope_parameters: pd.DataFrame, drope_stated: pd.DataFrame) -> Table:
    """Return one row per run."""
    values = drope_parameters.set_index("parameter")["printed"]
    bits = drope_stated.set_index("statement")["printed"]["s13_bits"]
    rows = drope_protocols.assign(items=[_items_and_digits(row) for _, row in drope_protocols.iterrows()])
    fp16 = int((drope_protocols["precision"] == "fp16").sum())
    return Table(
        rows=rows,
        columns=[
            Column("section", "Section", text),
            Column("experiment", "Exp."),
            Column("items", "Items", sentences, width=0.31),
            Column("precision", "Precision", text, width=0.21),
            Column("note", "Remark", sentences, width=0.21, blank=True),
        ],
        space=0,
        size="scriptsize",
        caption=(
            "Settings of the report's experiments, according to its scripts [@africa2026]. Unit: run; sections are "
            "the report's."
        ),
        short="Settings of the DroPE experiments",
        note=(
            f"Section 13 of the report states for all of them: {bits}-bit NF4, sequences of "
            f"{values['sequence_length']} tokens, {values['text_samples']} texts, {values['random_seeds']} seeds, "
            f"threshold {values['massive_threshold']}. Of {len(rows)} runs {fp16} used fp16. FP4 and NF4 are two 4-bit "
            "formats with different levels, fp16 is half precision."
        ),
    )


def _items_and_digits(row: pd.Series) -> str:
    """Return the number of items of a run, and the number of digits of its passkeys."""
    items = str(row["items"]).replace("imdb", "IMDB")
    return f"{items}; passkeys of {row['passkey_digits']} digits" if row["passkey_digits"] else items
