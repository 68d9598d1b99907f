"""Lay out the legend: pictures and names in one row, or in several rows if they do not fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from boundpaper.errors import SpecError
from boundpaper.figures.draw import needs_marks_for_bars
from boundpaper.figures.layout import PageLayout
from boundpaper.figures.margins import LINE_HEIGHT
from boundpaper.figures.metrics import width
from boundpaper.figures.ready import series_entities
from boundpaper.figures.series import Bars, Bundle, Fit, Forest, Heatmap, Line, Points, Series
from boundpaper.figures.style import Look, look, style
from boundpaper.figures.text import data_latex

if TYPE_CHECKING:
    from boundpaper.figures.spec import Axis, Figure

IMAGE_MM = 7.0
COLUMN_GAP_MM = 4.0


@dataclass(frozen=True, kw_only=True)
class LegendEntry:
    """A picture and its name; `image` is the kind of the picture: "line", "points", "bar" or "reported"."""

    label: str
    look: Look
    image: str
    has_marks: bool = True

    @property
    def image_width(self) -> float:
        """Return the picture's width in mm."""
        return IMAGE_MM if self.image == "line" else 4.0

    @property
    def picture(self) -> tuple[object, ...]:
        """Return all properties of the picture, by which pictures are compared."""
        if self.image == "reported":
            return ("reported",)
        if self.image == "line":
            mark = (self.look.mark, self.look.hollow) if self.has_marks else None
            return ("line", self.look.color, self.look.dash, mark)
        if self.image == "points":
            return ("points", self.look.color, self.look.mark, self.look.hollow)
        return ("bar", self.look.color, self.look.hatch, self.look.hollow)


@dataclass(frozen=True, kw_only=True)
class Legend:
    """Entries in rows, with the widths of their columns in mm."""

    rows: tuple[tuple[LegendEntry, ...], ...] = ()
    columns: tuple[float, ...] = ()

    @property
    def width(self) -> float:
        """Return the width in mm."""
        return sum(self.columns) + COLUMN_GAP_MM * (len(self.columns) - 1)

    @property
    def height(self) -> float:
        """Return the height in mm of all rows and the space below them; 0 for an empty legend."""
        return len(self.rows) * (LINE_HEIGHT + 0.4) + 1.6 if self.rows else 0.0


def make_legend(figure: Figure, name: str) -> Legend:
    """Return the legend of all distinct names in the fewest rows that fit the width; empty for fewer than two names.

    Raises SpecError when two names have the same picture, or one name has two pictures, in any of the panels.
    """
    by_label: dict[str, LegendEntry] = {}
    if figure.legend == "none":
        return Legend()
    for i, panel in enumerate(figure.panels, 1):
        for series, entity in series_entities(panel):
            location = f"figure {name}, panel {i}, {series.title}"
            series_look = look(style(entity, figure.entities, location), series)
            value_axis = panel.x if isinstance(series, Bars) and series.horizontal else panel.y
            for entry in _series_entries(series, series_look, figure, location, value_axis):
                previous = by_label.get(entry.label)
                if previous is not None and previous.image == entry.image and _pictures_differ(previous, entry):
                    raise SpecError(f"figure {name}: legend entry '{entry.label}' has two styles; use one entity")
                if previous is None or (previous.image != "line" and entry.image == "line"):
                    by_label[entry.label] = entry
    if len(by_label) < 2:
        return Legend()
    pictures: dict[tuple[object, ...], str] = {}
    for entry in by_label.values():
        label = pictures.setdefault(entry.picture, entry.label)
        if label != entry.label:
            raise SpecError(
                f"figure {name}: the legend's '{label}' and '{entry.label}' look the same; give one of them another "
                "entity, or give both the same label"
            )
    entries = sorted(by_label.values(), key=lambda entry: entry.image == "reported")  # `reported` last
    legends = (_in_rows(entries, count) for count in range(len(entries), 0, -1))
    fitting = next(legend for legend in legends if legend.width <= figure.width or len(legend.columns) == 1)
    return _in_rows(entries, math.ceil(len(entries) / len(fitting.rows)))  # rows of similar length


def _in_rows(entries: Sequence[LegendEntry], count: int) -> Legend:
    """Return the legend with `count` entries per row."""
    rows = tuple(tuple(entries[k : k + count]) for k in range(0, len(entries), count))
    columns = tuple(max(r[c].image_width + 1.5 + width(r[c].label) for r in rows if c < len(r)) for c in range(count))
    return Legend(rows=rows, columns=columns)


def _pictures_differ(first: LegendEntry, second: LegendEntry) -> bool:
    """Return whether the pictures of two entries differ, apart from the marks of a line."""
    return replace(first, has_marks=True).picture != replace(second, has_marks=True).picture


def _series_entries(series: Series, series_look: Look, figure: Figure, location: str, axis: Axis) -> list[LegendEntry]:
    """Return the entries of a series in the legend; `axis` is its value axis."""
    if not series.legend or isinstance(series, Heatmap):
        return []
    if isinstance(series, Line) and series.direct:
        return []
    if isinstance(series, Fit) and not series.label:
        return []
    entities = getattr(series, "entities", None)
    if entities is not None:
        unlabelled = Series(origin=series.origin)
        looks = dict.fromkeys(look(style(entity, figure.entities, location), unlabelled) for entity in entities)
        return [LegendEntry(label=look.label, look=look, image="points") for look in looks if look.label]
    entries = []
    if series_look.label:
        image = "bar"
        if isinstance(series, Line | Fit | Bundle):
            image = "line"
        elif isinstance(series, Points | Forest) or (isinstance(series, Bars) and needs_marks_for_bars(axis)):
            image = "points"
        has_marks = isinstance(series, Line) and series.has_marks
        entries.append(LegendEntry(label=series_look.label, look=series_look, image=image, has_marks=has_marks))
    if isinstance(series, Bars) and series.reported is not None:
        entries.append(LegendEntry(label=series.reported_label, look=series_look, image="reported"))
    return entries


def placed_entries(legend: Legend, page: PageLayout) -> list[dict[str, Any]]:
    """Return each entry as the fields that the templates need, with positions in mm."""
    fields = []
    for r, row in enumerate(legend.rows):
        x = max(0.0, (page.width - legend.width) / 2)
        y = page.legend_low + legend.height - (r + 0.5) * (LINE_HEIGHT + 0.4)
        for c, entry in enumerate(row):
            fields.append(
                {
                    "image": entry.image,
                    "look": entry.look,
                    "marks": entry.has_marks,
                    "label": data_latex(entry.label),
                    "x": f"{x:.2f}",
                    "y": f"{y:.2f}",
                    "middle": f"{x + entry.image_width / 2:.2f}",
                    "text_x": f"{x + entry.image_width + 1.5:.2f}",
                }
            )
            x += legend.columns[c] + COLUMN_GAP_MM
    return fields
