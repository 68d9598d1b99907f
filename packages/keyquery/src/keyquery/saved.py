"""Record how the frames returned by `run` and `analyse` were measured, and save the frames into a paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boundpaper.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

KEY = "keyquery"
"""Key in a frame's `attrs` for the frame's origin."""


@dataclass(frozen=True, eq=False)
class FrameOrigin:
    """How a frame was measured.

    `tables` are all tables that were measured together, by experiment; the frame is a copy of `tables[shown]`.
    `manifest` records how they were measured, and `name` is the name of the measurements.
    """

    shown: str
    tables: Mapping[str, pd.DataFrame]
    manifest: Mapping[str, Any]
    name: str

    def __deepcopy__(self, memo: object) -> FrameOrigin:
        """Return the object itself, since pandas deep-copies `attrs` with every derived frame."""
        return self


def with_origin(shown: str, tables: Mapping[str, pd.DataFrame], manifest: Mapping[str, Any], name: str) -> pd.DataFrame:
    """Return a copy of the table `tables[shown]` that records its origin in `attrs`."""
    frame = tables[shown].copy()
    frame.attrs[KEY] = FrameOrigin(shown, tables, manifest, name)
    return frame


def origin_of(rows: pd.DataFrame) -> FrameOrigin:
    """Return how a frame was measured; raise DataError if it was not returned by `run` or `analyse`, or was changed."""
    origin = rows.attrs.get(KEY)
    if not isinstance(origin, FrameOrigin):
        raise DataError("these rows have no manifest; give rows as run() or analyse() returned them")
    if not rows.equals(origin.tables[origin.shown]):
        raise DataError("these rows were changed since they were measured; give the returned rows unchanged")
    return origin


def save(
    rows: pd.DataFrame, project: str | Path = ".", name: str | None = None, *, replace: bool = False
) -> list[Path]:
    """Write into a paper the rows that `run` or `analyse` returned, each table with a manifest.

    Parameters
    ----------
    rows : DataFrame
        The frame as it was returned, unchanged.
    project : str or Path
        The paper's folder, or a folder inside it.
    name : str, optional
        Name of the measurements; by default the model's name.
    replace : bool
        Overwrite other measurements of this name.

    Returns
    -------
    list of Path
        Paths of the tables, `artifacts/measurements/EXPERIMENT/NAME.csv` or `.parquet`.

    Raises
    ------
    DataError
        If the frame has no origin or was changed, there is no paper, or this name has other measurements.

    Examples
    --------
    >>> import boundpaper as bp, keyquery as kq
    >>> paper = bp.new("paper")
    >>> rows = kq.run("softmax_globality", "tiny-rope", texts=1, items=0)
    >>> [path.relative_to(paper.root).as_posix() for path in kq.save(rows, "paper", "my-model")]
    ['artifacts/measurements/softmax_globality/my-model.csv']
    >>> len(paper.read("softmax_globality")) == len(rows)
    True
    """
    from boundpaper.papers import open as open_paper
    from boundpaper.store.measurement import path_of
    from keyquery.measure.measurements import checked_name, conflicting_settings, refuse_overwriting
    from keyquery.measure.measurements import save as write

    origin = origin_of(rows)
    root = open_paper(project).root
    model = checked_name(name or origin.name)
    if not replace:
        tables = [path_of(root, experiment, model) for experiment in origin.tables]
        refuse_overwriting(root, {table: conflicting_settings(table, origin.manifest) for table in tables})
    return write(root, origin.tables, model, origin.manifest)
