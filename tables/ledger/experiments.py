"""Experiments of this project, one row each, and a hash over all tables behind the thesis."""

import hashlib

import pandas as pd

from boundpaper.tables import Column, Table


def table(provenance: pd.DataFrame) -> Table:
    """Return one row per experiment."""
    measurements = provenance[provenance["kind"] == "measurement"]
    rows = (
        measurements.groupby(["artifact", "origin"], sort=False)
        .agg(tables=("file", "size"), rows=("rows", "sum"))
        .reset_index()
        .sort_values("origin", kind="stable", ignore_index=True)
    )
    rows["entry"] = "artifact:" + rows["artifact"].astype(str)
    versions = sorted({version for cell in measurements["versions"].dropna() for version in str(cell).split("; ")})
    counts = provenance["kind"].value_counts()
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
            f"Beside {counts['measurement']} tables of measurements the data package holds {counts['source']} "
            f"transcribed or published ones and {counts['result']} computed from both. Measured with "
            f"{', '.join(versions)}.",
            f"Hash of the data package: {package_hash(provenance)}.",
        ),
    )


def package_hash(provenance: pd.DataFrame) -> str:
    """Return one hash over the name and content of every table (16 hex digits of SHA-256), independent of row order."""
    lines = sorted(f"{file} {digest}" for file, digest in zip(provenance["file"], provenance["hash"], strict=True))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
