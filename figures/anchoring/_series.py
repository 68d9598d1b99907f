"""How figures of Delta P show the layers that are read and those that are not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boundpaper.figures import Line, Points

if TYPE_CHECKING:
    import pandas as pd

    from boundpaper.figures.series import Series


def read_and_unread(rows: pd.DataFrame, place: str, entity: str, label: str, control: str) -> list[Series]:
    """A line, its band and its dotted control through layers whose probe is above chance; the others as hollow points.

    `control` is the column of the control; it is not drawn if that is empty.
    """
    above = rows["above_chance"].astype(bool)
    read, unread = rows[above], rows[~above]
    series: list[Series] = []
    if len(read):
        ends = {"low": read["delta_p_low"], "high": read["delta_p_high"], "uncertainty": "band"}
        series.append(Line(entity=entity, label=label, x=read[place], y=read["delta_p"], marks=True, **ends))
    cut = read[read[control].notna()] if control else read.head(0)
    if len(cut):
        x, y = cut[place], cut[control]
        series.append(Line(entity=entity, dash="densely dotted", x=x, y=y, marks=False, legend=False))
    if len(unread):
        x, y, alone = unread[place], unread["delta_p"], read.empty
        series.append(Points(entity=entity, label=label, origin="reported", x=x, y=y, legend=alone))
    return series
