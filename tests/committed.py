"""The committed artifacts, as tests of studies and claims read them."""

import pandas as pd

from boundpaper.store.reader import read
from conftest import ROOT


def artifact(name: str) -> pd.DataFrame:
    """Return a source, measurement or result as committed."""
    return read(ROOT, name)


FAMILIES = artifact("test_families")
