"""Experiments of this project, one row each, and a hash over all tables behind the thesis."""

import hashlib

import pandas as pd

from boundpaper.tables import Column, Table


def table(provenance: pd.DataFrame) -> Table:
    """Return the table."""
    measured = provenance[provenance["kind"] == "measurement"]
    rows = (
        measured.groupby(["artifact", "origin"], sort=False)
        .agg(tables=("file", "size"), rows=("rows", "sum"))
        .reset_index()
        .sort_values("origin", kind="stable", ignore_index=True)
    )
    rows["entry"] = "artifact:" + rows["artifact"].astype(str)
    versions = sorted({each for cell in measured["versions"].dropna() for each in str(cell).split("; ")})
    counted = provenance["kind"].value_counts()
    return Table(
        rows=rows,
        columns=[Column("origin", "Experiment", width=0.6), Column("tables", "Tables"), Column("rows", "Rows")],
        entry="entry",
        long=True,
        size="footnotesize",
        space=0,
        caption=(
            f"The {len(rows)} experiments of this thesis: how many tables of measurements each has (one per model, "
            "training seed or population), and their rows."
        ),
        short="Experiments and their measurements",
        note=(
            f"Beside {counted['measurement']} tables of measurements the data package holds {counted['source']} "
            f"transcribed or published ones and {counted['result']} computed from both. Measured with "
            f"{', '.join(versions)}.",
            f"Hash of the data package: {package_hash(provenance)}.",
        ),
    )


def package_hash(provenance: pd.DataFrame) -> str:
    """Return one hash over the name and content of every table (16 hex digits of SHA-256), independent of row order."""
    lines = sorted(f"{file} {digest}" for file, digest in zip(provenance["file"], provenance["hash"], strict=True))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
