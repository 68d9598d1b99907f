"""Keep measurements made from Python with their origin, until they are saved into a paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boundpaper.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

KEY = "keyquery"
"""Under this name a frame holds in `attrs` what made it."""


@dataclass(frozen=True, eq=False)
class FrameOrigin:
    """Origin of a frame.

    `shown` is which of the tables the frame is; `tables` are all that were measured together, by experiment, and
    `manifest` says what made them.
    """

    shown: str
    tables: Mapping[str, pd.DataFrame]
    manifest: Mapping[str, Any]
    name: str

    def __deepcopy__(self, memo: object) -> FrameOrigin:
        """Return itself, since pandas copies `attrs` whenever it makes a frame from another."""
        return self


def made(shown: str, tables: Mapping[str, pd.DataFrame], manifest: Mapping[str, Any], name: str) -> pd.DataFrame:
    """Return a copy of one of the tables that carries its origin."""
    frame = tables[shown].copy()
    frame.attrs[KEY] = FrameOrigin(shown, tables, manifest, name)
    return frame


def save(
    rows: pd.DataFrame, project: str | Path = ".", name: str | None = None, *, replace: bool = False
) -> list[Path]:
    """Write what `run` or `analyse` returned into a paper, each table with its manifest.

    Parameters
    ----------
    rows : DataFrame
        As it was returned: a measurement is kept whole.
    project : str or Path
        The paper's folder, or one below it.
    name : str, optional
        Of the measurements; left out, that of the model.
    replace : bool
        Overwrite measurements of this name that are of something else.

    Returns
    -------
    list of Path
        The tables, `artifacts/measurements/EXPERIMENT/NAME.csv` or `.parquet`.

    Raises
    ------
    DataError
        When the frame was made otherwise or was changed, there is no paper, or measurements of something else stand
        under this name.

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

    known = rows.attrs.get(KEY)
    if not isinstance(known, FrameOrigin):
        raise DataError("these rows do not say what made them; save what run() or analyse() returned")
    if not rows.equals(known.tables[known.shown]):
        raise DataError("these rows were changed since they were measured; save what was returned, and change a copy")
    root = open_paper(project).root
    chosen = checked_name(name or known.name)
    if not replace:
        tables = [path_of(root, experiment, chosen) for experiment in known.tables]
        refuse_overwriting(root, {table: conflicting_settings(table, known.manifest) for table in tables})
    return write(root, known.tables, chosen, known.manifest)
