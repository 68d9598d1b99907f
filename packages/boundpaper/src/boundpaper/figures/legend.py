"""Lay out the legend: marks and names in one row, or in several rows if they do not fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from boundpaper.errors import SpecError
from boundpaper.figures.draw import length_means_nothing
from boundpaper.figures.layout import PageLayout
from boundpaper.figures.margins import FOOT
from boundpaper.figures.metrics import width
from boundpaper.figures.series import Bars, Bundle, Fit, Forest, Heatmap, Line, Points, Series
from boundpaper.figures.style import Look, look, style
from boundpaper.figures.text import cell

if TYPE_CHECKING:
    from boundpaper.figures.spec import Axis, Figure, Panel

IMAGE_MM = 7.0
APART_MM = 4.0


@dataclass(frozen=True, kw_only=True)
class LegendEntry:
    """A mark and its name."""

    label: str
    look: Look
    image: str
    marks: bool = True

    @property
    def image_width(self) -> float:
        """Return the mark's width in mm."""
        return IMAGE_MM if self.image == "line" else 4.0

    @property
    def seen(self) -> tuple[object, ...]:
        """Return a key of the entry's picture: names with equal pictures could not be distinguished."""
        shown = self.look
        if self.image == "reported":
            return ("reported",)
        if self.image == "line":
            mark = (shown.mark, shown.hollow) if self.marks else None
            return ("line", shown.color, shown.dash, mark)
        if self.image == "points":
            return ("points", shown.color, shown.mark, shown.hollow)
        return ("bar", shown.color, shown.hatch, shown.hollow)


@dataclass(frozen=True, kw_only=True)
class Legend:
    """Entries in rows; `columns` are the column widths, and `height` is that of all rows and the space below."""

    rows: tuple[tuple[LegendEntry, ...], ...] = ()
    columns: tuple[float, ...] = ()
    height: float = 0.0


def rows_of(figure: Figure, name: str) -> Legend:
    """Return the legend of all distinct names, in few rows; empty if there is only one name.

    Raises SpecError when two names have the same picture, or one name has two pictures, in any panels.
    """
    by_label: dict[str, LegendEntry] = {}
    if figure.legend == "none":
        return Legend()
    for i, panel in enumerate(figure.panels, 1):
        free = 0
        for series in panel.series:
            if not series.entity:
                free += 1
            base = style(
                series.entity or f"series-{(free - 1) % 8 + 1}",
                figure.entities,
                f"figure {name}, panel {i}, {series.title}",
            )
            place = f"figure {name}, panel {i}, {series.title}"
            for entry in _series_entries(series, look(base, series), figure, place, _value_axis(series, panel)):
                same_label = by_label.get(entry.label)
                if same_label is not None and same_label.image == entry.image and _pictures_differ(same_label, entry):
                    raise SpecError(f"figure {name}: the legend's '{entry.label}' has two styles; give it one entity")
                if same_label is None or (same_label.image != "line" and entry.image == "line"):
                    by_label[entry.label] = entry
    if len(by_label) < 2:
        return Legend()
    pictures: dict[tuple[object, ...], str] = {}
    for entry in by_label.values():
        label = pictures.setdefault(entry.seen, entry.label)
        if label != entry.label:
            raise SpecError(
                f"figure {name}: the legend's '{label}' and '{entry.label}' look the same; give one of them another "
                "entity, or give both the same label"
            )
    items = sorted(by_label.values(), key=lambda e: e.image == "reported")  # `reported` last
    for count in range(len(items), 0, -1):
        rows = tuple(tuple(items[k : k + count]) for k in range(0, len(items), count))
        columns = tuple(
            max(r[c].image_width + 1.5 + width(r[c].label) for r in rows if c < len(r)) for c in range(count)
        )
        if sum(columns) + APART_MM * (count - 1) <= figure.width or count == 1:
            even = -(-len(items) // len(rows))
            if even < count:
                rows = tuple(tuple(items[k : k + even]) for k in range(0, len(items), even))
                columns = tuple(
                    max(r[c].image_width + 1.5 + width(r[c].label) for r in rows if c < len(r)) for c in range(even)
                )
            return Legend(rows=rows, columns=columns, height=len(rows) * (FOOT + 0.4) + 1.6)
    return Legend()


def _pictures_differ(first: LegendEntry, second: LegendEntry) -> bool:
    """Return whether two entries of one name have different pictures; a line with many points may lack marks."""
    return replace(first, marks=True).seen != replace(second, marks=True).seen


def _value_axis(series: Series, panel: Panel) -> Axis:
    """Return the axis along which a series' values lie."""
    return panel.x if isinstance(series, Bars) and series.horizontal else panel.y


def _series_entries(series: Series, shown: Look, figure: Figure, place: str, axis: Axis) -> list[LegendEntry]:
    if not series.legend or isinstance(series, Heatmap):
        return []
    if isinstance(series, Line) and series.direct:
        return []
    if isinstance(series, Fit) and not series.label:
        return []
    entities = getattr(series, "entities", None)
    if entities is not None:
        looks = dict.fromkeys(look(style(e, figure.entities, place), Series(origin=series.origin)) for e in entities)
        return [LegendEntry(label=shown_.label, look=shown_, image="points") for shown_ in looks if shown_.label]
    entries = []
    if shown.label:
        image = (
            "line"
            if isinstance(series, Line | Fit | Bundle)
            else "points"
            if isinstance(series, Points | Forest) or (isinstance(series, Bars) and length_means_nothing(axis))
            else "bar"
        )
        marks = isinstance(series, Line) and (series.marks if series.marks is not None else len(series.x) <= 20)
        entries.append(LegendEntry(label=shown.label, look=shown, image=image, marks=marks))
    if isinstance(series, Bars) and series.reported is not None:
        entries.append(LegendEntry(label=series.reported_label, look=shown, image="reported"))
    return entries


def placed_entries(legend: Legend, page: PageLayout) -> list[dict[str, Any]]:
    """Return every entry with its place in mm."""
    total_width = sum(legend.columns) + APART_MM * (len(legend.columns) - 1)
    start = max(0.0, (page.width - total_width) / 2)
    top = page.legend_low + legend.height
    fields = []
    for r, row in enumerate(legend.rows):
        x = start
        y = top - (r + 0.5) * (FOOT + 0.4)
        for c, entry in enumerate(row):
            fields.append(
                {
                    "image": entry.image,
                    "look": entry.look,
                    "marks": entry.marks,
                    "label": cell(entry.label),
                    "x": f"{x:.2f}",
                    "y": f"{y:.2f}",
                    "middle": f"{x + entry.image_width / 2:.2f}",
                    "bar": f"{x:.2f}",
                    "text_x": f"{x + entry.image_width + 1.5:.2f}",
                }
            )
            x += legend.columns[c] + APART_MM
    return fields
