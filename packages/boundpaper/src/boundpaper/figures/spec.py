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
    """One axis of a panel.

    Attributes
    ----------
    label : str
        Quantity and unit; plain text with `$math$` and `*emphasis*`, as all text of a figure.
    scale : {"linear", "log", "symlog"}
    low, high : float, optional
        Limits; by default the data's range with a margin. Data outside a limit given is an error, except lines,
        which are cut off.
    ticks : column of float, or mapping of float to str, optional
        Where ticks stand, and what they say.
    categories : column of str
        The order of the categories; by default that of first appearance.
    base : {10, 2}
        Ticks of a log axis stand at powers of this; 2 suits context lengths.
    threshold : float
        Where a symlog axis turns from linear to logarithmic.
    zero : bool
        Make zero part of the range.
    reverse : bool
        Let values grow leftwards or downwards.
    grid : bool, optional
        Light lines at the ticks; by default only those of the value axis.
    percent : bool
        Write a percent sign after each tick (values are in percent already).

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
    """A shaded range behind the data, from `low` to `high` of an axis, with its name at the end.

    It is drawn to these ends and no further; an end that is None lies at the axis' limit.

    Attributes
    ----------
    low, high : float, str or None
        Ends of the range, numbers or categories of the axis.
    label : str
        Its name.
    axis : {"x", "y"}
        The axis along which it runs.
    entity : str
        Whose colour it has; a neutral one by default.

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
        Its name.
    axis : {"x", "y"}
        The axis of the value.
    entity : str
        Whose colour it has.
    dash : str
        How it is dashed.

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
    """A short text at a point of the panel.

    `anchor` is where it lies, seen from the point; an arrow may lead from it to `target`.

    Attributes
    ----------
    x, y : float or str
        The point, as numbers or categories of the axes.
    text : str
        The text.
    anchor : str
        Where the text lies, seen from the point: "above", "below left", "center" and so on.
    entity : str
        Whose colour it has.
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
    """One pair of axes and what it shows.

    Attributes
    ----------
    series : sequence of Series
        What is drawn, in this order.
    x, y : Axis
        The axes.
    title : str
        Set above the panel.
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
        Laid out row by row.
    caption, note : str
        Under the figure; they state n, unit and what error bars are. Plain text with `$math$`, `*emphasis*` and
        `[@key]`.
    short : str
        The entry in the list of figures.
    width : float
        Of the whole figure in mm.
    height : float, optional
        Of each panel's axes in mm; by default in proportion to their width.
    columns : int, optional
        Panels per row; by default up to three.
    legend : {"above", "below", "none"}
    share_x, share_y : bool
        Equal limits in all panels, labels only at the outer ones.
    letters : bool
        Write (a), (b), ... before the panels' titles.
    entities : mapping of str to Style or str
        This figure's own entities: a style each, or the entity of the palette whose look they take.
    template : str
        A Jinja2 template of this figure's own, beside its file, rendered in place of the panels.
    values : mapping
        What that template may use.
    body : str
        TikZ code in place of panels; what `from_matplotlib` fills in.
    files : mapping of str to bytes
        Pictures that `template` or `body` include, by suffix: `-raster.png` becomes `NAME-raster.png`; they write it
        `<< name >>-raster.png`.
    way : str
        How a drawing of matplotlib was taken over, and why so; the build says it.

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
    way: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "panels", tuple(self.panels))

    def save(self, path: str | Path) -> Path:
        """Write the figure to a file, without its caption, and return the path.

        Parameters
        ----------
        path : str or Path
            Ends in `.pdf`, `.png`, `.svg` or `.tex`, the document that the others are made of by pdflatex; pictures
            that it includes are written beside it.

        Raises
        ------
        SpecError
            When the name ends otherwise, there is no such folder, or a column, entity or text cannot be drawn.
        LatexError, MissingDependency
            When LaTeX refuses the figure, or is not installed.
        """
        saved: Path = self._pictures().save(self, Path(path))
        return saved

    def _repr_png_(self) -> bytes:
        content: bytes = self._pictures().content_of(self, "png")
        return content

    @staticmethod
    def _pictures() -> Any:
        """Import the compiling module by its name, since a specification must not depend on how LaTeX is run."""
        return import_module("boundpaper.paper.tex.alone")
