"""Documents: which ones are examined, and that what another one reports changes nothing said about them."""

from __future__ import annotations

import re

import pandas as pd

EXAMINED = ("000", "001", "002", "003", "004")
_CODE = re.compile(r"(\d{3})(?:\s|$)")


def foreign(source: object) -> bool:
    """Whether a `source` cell such as `005 T1` names a document that is not examined; a place in `data/` names none."""
    code = _CODE.match(str(source))
    return bool(code) and code[1] not in EXAMINED  # type: ignore[index]


def others(models: pd.DataFrame) -> frozenset[str]:
    """Names of the models that come from other documents, by the column `source` of the table of models."""
    return frozenset(models.loc[models["source"].map(foreign).astype(bool), "model"])


def examined(frame: pd.DataFrame, others: frozenset[str]) -> pd.DataFrame:
    """The rows of a source that studies and claims read: none of another document, and none about its models.

    A model or a document that is added to the sources is so shown by exhibits that read the sources, and moves neither
    a result nor a verdict about the documents that never saw it.

    Parameters
    ----------
    frame : DataFrame
        A source, or any frame; without the columns `source` and `model` it stays as it is.
    others : frozenset of str
        Models of other documents.
    """
    keep = pd.Series(True, index=frame.index)
    if "source" in frame.columns:
        keep &= ~frame["source"].map(foreign).astype(bool)
    if others and "model" in frame.columns:
        keep &= ~frame["model"].isin(others)
    return frame if keep.all() else frame[keep].reset_index(drop=True)
