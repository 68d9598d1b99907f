"""Specify a figure as frozen dataclasses: panels with axes, series and marks, and a caption."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, TypeAlias

from boundpaper.figures.series import Series, Values, as_tuple
from boundpaper.figures.style import TEXT_WIDTH_MM, Style

Position: TypeAlias = float | str
Anchor: TypeAlias = Literal[
    "above", "below", "left", "right", "above left", "above right", "below left", "below right", "center"
]


@dataclass(frozen=True, kw_only=True)
class Axis:
    """An axis of a panel.

    Attributes
    ----------
    label : str
        Quantity and unit, in plain text with `$math$` and `*emphasis*`, like all text of a figure.
    scale : {"linear", "log", "symlog"}
    low, high : float, optional
        Limits; by default the data's range with a margin. Data outside a given limit is an error, except for lines,
        which are clipped.
    ticks : column of float, or mapping of float to str, optional
        Tick values, or a mapping of tick values to labels.
    categories : column of str
        The order of the categories; by default the order of first appearance.
    base : {10, 2}
        Ticks of a log axis are at powers of the base; 2 suits context lengths.
    threshold : float
        The absolute value beyond which a symlog axis is logarithmic.
    zero : bool
        Whether the range includes zero.
    reverse : bool
        Whether values increase from right to left, or from top to bottom.
    grid : bool, optional
        Whether there are light grid lines at the ticks; by default only on the value axis.
    percent : bool
        Whether each tick has a percent sign (the values must be in percent).

    Examples
    --------
    >>> import boundpaper as bp
    >>> bp.Axis(label="length (words)", scale="log", base=2, ticks=[1024, 2048]).ticks
    (1024, 2048)
    """

    label: str = ""
    scale: Literal["linear", "log", "symlog"] = "linear"
    low: float | None = None
    high: float | None = None
    ticks: Values | Mapping[float, str] | None = None
    categories: Values = ()
    base: Literal[10, 2] = 10
    threshold: float = 1.0
    zero: bool = False
    reverse: bool = False
    grid: bool | None = None
    percent: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "categories", as_tuple(self.categories, "Axis.categories"))
        if self.ticks is not None and not isinstance(self.ticks, Mapping):
            object.__setattr__(self, "ticks", as_tuple(self.ticks, "Axis.ticks"))


@dataclass(frozen=True, kw_only=True)
class Shade:
    """A range of an axis, shaded behind the data.

    Attributes
    ----------
    low, high : float, str or None
        Ends of the range: numbers or categories of the axis, or None for its limit.
    label : str
        The name of the range, printed at the edge of the panel.
    axis : {"x", "y"}
        The axis of `low` and `high`.
    entity : str
        The entity whose colour is used; by default a neutral grey.

    Examples
    --------
    >>> import boundpaper as bp
    >>> bp.Shade(low=8, high=None, label="after the frost").axis
    'x'
    """

    low: Position | None
    high: Position | None
    label: str = ""
    axis: Literal["x", "y"] = "x"
    entity: str = ""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A reference line at a value of an axis (`axis="y"`: a horizontal line), for example chance level.

    Attributes
    ----------
    at : float or str
        The value, or the category.
    label : str
        The name of the line.
    axis : {"x", "y"}
        The axis of the value.
    entity : str
        The entity whose colour is used.
    dash : str
        A PGF dash style.

    Examples
    --------
    >>> import boundpaper as bp
    >>> bp.Rule(at=0.5, label="chance").dash
    'dashed'
    """

    at: Position
    label: str = ""
    axis: Literal["x", "y"] = "y"
    entity: str = "neutral"
    dash: str = "dashed"


@dataclass(frozen=True, kw_only=True)
class Annotation:
    """A short text at a point of the panel, with an optional arrow from the text to `target`.

    Attributes
    ----------
    x, y : float or str
        The point, as numbers or categories of the axes.
    text : str
        The text.
    anchor : str
        Position of the text relative to the point: "above", "below left", "center" and so on.
    entity : str
        The entity whose colour is used.
    target : pair of float or str, optional
        The x and y to which an arrow leads.

    Examples
    --------
    >>> import boundpaper as bp
    >>> bp.Annotation(x=14, y=18.4, text="harvest", anchor="above left").text
    'harvest'
    """

    x: Position
    y: Position
    text: str
    anchor: Anchor = "right"
    entity: str = ""
    target: tuple[Position, Position] | None = None


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A pair of axes and the series drawn on them.

    Attributes
    ----------
    series : sequence of Series
        The series, in drawing order.
    x, y : Axis
        The axes.
    title : str
        Title above the panel.
    shades, rules, annotations : sequence of Shade, Rule, Annotation
        Ranges behind the data, reference lines, and texts.

    Examples
    --------
    >>> import boundpaper as bp
    >>> panel = bp.Panel(series=[bp.Bars(x=["sun", "shade"], y=[18.4, 3.1])], y=bp.Axis(label="height (cm)"))
    >>> panel.series[0].x
    ('sun', 'shade')
    """

    series: Sequence[Series]
    x: Axis = field(default_factory=Axis)
    y: Axis = field(default_factory=Axis)
    title: str = ""
    shades: Sequence[Shade] = ()
    rules: Sequence[Rule] = ()
    annotations: Sequence[Annotation] = ()

    def __post_init__(self) -> None:
        for name in ("series", "shades", "rules", "annotations"):
            object.__setattr__(self, name, tuple(getattr(self, name)))


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure: panels, a caption and a note.

    Attributes
    ----------
    panels : sequence of Panel
        The panels, laid out row by row.
    caption, note : str
        Text below the figure, which states n, unit and the meaning of error bars: plain text with `$math$`,
        `*emphasis*` and `[@key]`.
    short : str
        The entry in the list of figures.
    width : float
        Width of the whole figure in mm.
    height : float, optional
        Height of each panel's axes in mm; by default in proportion to their width.
    columns : int, optional
        Panels per row; by default at most three.
    legend : {"above", "below", "none"}
    share_x, share_y : bool
        Whether all panels have equal limits, with labels only at the outer panels.
    letters : bool
        Whether panel titles begin with (a), (b), ...
    entities : mapping of str to Style or str
        Entities of this figure, each with a style, or with the name of the palette entity whose look it copies.
    template : str
        Name of a Jinja2 template beside the figure's file, rendered instead of the panels.
    values : mapping
        Variables of the template.
    body : str
        TikZ code instead of panels; `from_matplotlib` sets it.
    files : mapping of str to bytes
        Pictures that `template` or `body` include, by suffix: the picture of `-raster.png` is stored as
        `NAME-raster.png` and included as `<< name >>-raster.png`.
    conversion_note : str
        Whether a matplotlib drawing was converted or drawn by matplotlib, and why; the build prints this note.

    Examples
    --------
    >>> import boundpaper as bp
    >>> growth = bp.Panel(series=[bp.Line(x=[1, 7, 14], y=[0.5, 8.1, 18.4])], x=bp.Axis(label="day"))
    >>> bp.Figure(panels=[growth], caption="Growth of a bean.").save("growth.tex").name
    'growth.tex'
    """

    panels: Sequence[Panel] = ()
    caption: str
    short: str = ""
    note: str = ""
    width: float = TEXT_WIDTH_MM
    height: float | None = None
    columns: int | None = None
    legend: Literal["above", "below", "none"] = "above"
    share_x: bool = False
    share_y: bool = False
    letters: bool = False
    entities: Mapping[str, Style | str] = field(default_factory=dict)
    template: str = ""
    values: Mapping[str, object] = field(default_factory=dict)
    body: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)
    conversion_note: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "panels", tuple(self.panels))

    def save(self, path: str | Path) -> Path:
        """Write the figure to a file, without its caption, and return the path.

        Parameters
        ----------
        path : str or Path
            A path that ends in `.pdf`, `.png`, `.svg` or `.tex` (the source of the other formats); included pictures
            are written beside the `.tex`.

        Raises
        ------
        SpecError
            When the ending is unknown, the folder is absent, or a column, entity or text cannot be drawn.
        LatexError, MissingDependency
            When LaTeX cannot compile the figure, or is not installed.
        """
        saved: Path = self._pictures().save(self, Path(path))
        return saved

    def _repr_png_(self) -> bytes:
        picture: bytes = self._pictures().content_of(self, "png")
        return picture

    @staticmethod
    def _pictures() -> Any:
        """Return the module that compiles figures, imported late because it depends on this one."""
        return import_module("boundpaper.paper.tex.alone")
