"""Readers of the committed artifacts."""

import csv
from functools import cache

import pandas as pd

from boundpaper.store.reader import read
from conftest import ROOT


def artifact(name: str) -> pd.DataFrame:
    """Return a committed source, measurement or result."""
    return read(ROOT, name)


@cache
def source_rows(name: str) -> list[dict[str, str]]:
    """Return the rows of a source as texts."""
    with (ROOT / f"artifacts/sources/{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


FAMILIES = artifact("test_families")
