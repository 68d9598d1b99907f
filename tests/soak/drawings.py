"""Convert seeded random matplotlib drawings and check that nothing is lost: `python -m tests.soak.drawings`.

Each drawing mixes artists, scales, offsets, texts, legends and axes; odd seeds mostly use features that can be
converted. There are three valid outcomes:

- A converted drawing has every value and text in its PGFPlots code.
- A drawing drawn by matplotlib itself has every text, each point of its lines at matplotlib's position, and a reason.
- A refused drawing raises an error of one or two lines.

With `--compile`, LaTeX also compiles each drawing.
"""

import argparse
import datetime as dt
import math
import re
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import numpy as np
from matplotlib.figure import Figure as Drawing

from boundpaper.errors import ThesisError
from boundpaper.figures import from_matplotlib
from boundpaper.figures.matplotlib.words import latex_words
from boundpaper.figures.render import picture_files, tex

TEXTS = (
    "plain",
    "50% of a_b",
    "#1 & more",
    "x^2 {y}",
    "α and β",
    r"$x_1^2$ \$5",
    "",
    "a, b; c",
    "~tilde",
    "Größe → 1",
    "*a*",
)
NUMBER = r"[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|nan)"


@dataclass
class Sample:
    """A drawing with the points, line points and texts that it must show, and the names of its features."""

    drawing: Drawing
    points: list[tuple[Any, float, float]] = field(default_factory=list)
    lines: list[tuple[Any, float, float]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    features: list[str] = field(default_factory=list)


def make(seed: int) -> Sample:
    """Return a random drawing; odd seeds mostly use features that can be converted."""
    rng = np.random.default_rng(seed)
    sample = Sample(Drawing(figsize=(float(rng.uniform(3, 8)), float(rng.uniform(2.5, 5)))))
    tame = bool(seed % 2)
    kind = (
        rng.choice(["one", "grid"])
        if tame
        else rng.choice(["one"] * 8 + ["grid"] * 3 + ["polar", "3d", "twin", "inset", "secondary", "spans"])
    )
    sample.features.append(str(kind))
    fig = sample.drawing
    if kind == "grid":
        rows, columns = int(rng.integers(1, 3)), int(rng.integers(1, 3))
        axes = list(np.ravel(fig.subplots(rows, columns, sharex=bool(rng.random() < 0.3))))
    elif kind == "polar":
        axes = [fig.add_subplot(projection="polar")]
    elif kind == "3d":
        axes = [fig.add_subplot(projection="3d")]
    elif kind == "spans":
        grid = fig.add_gridspec(2, 2)
        axes = [fig.add_subplot(grid[0, :]), fig.add_subplot(grid[1, 0])]
    else:
        axes = [fig.subplots()]
    if kind == "twin":
        axes.append(axes[0].twinx())
    if kind == "inset":
        axes.append(axes[0].inset_axes([0.6, 0.6, 0.3, 0.3]))
    for panel in axes:
        _fill_axes(panel, rng, sample, str(kind), tame)
    if kind == "secondary":
        axes[0].secondary_xaxis("top", functions=(lambda x: 2 * x, lambda x: x / 2))
    if tame:
        return sample
    if rng.random() < 0.1:
        fig.suptitle(_random_text(rng, sample))
    if rng.random() < 0.05:
        fig.supxlabel(_random_text(rng, sample))
    if rng.random() < 0.05:
        fig.legend(*axes[0].get_legend_handles_labels())
        sample.texts += axes[0].get_legend_handles_labels()[1]
    return sample


def _random_text(rng: np.random.Generator, sample: Sample) -> str:
    text = str(rng.choice(TEXTS))
    sample.texts.append(text)
    return text


def _fill_axes(axes: Any, rng: np.random.Generator, sample: Sample, kind: str, tame: bool) -> None:
    """Draw one to three artists on the axes, and change some properties of the axes."""
    if kind == "3d":
        axes.plot([0, 1, 2], [1, 2, 3], [2, 1, 3])
        axes.set_title(_random_text(rng, sample))
        return
    plane = kind != "polar"
    wild = rng.random() < (0.05 if tame else 0.3)
    scale = 10.0 ** rng.integers(-6, 10) if wild else 1.0
    shift = float(rng.choice([0.0, 0.0, 0.0, 1e4, 1.7e9])) if wild else 0.0
    content = str(rng.choice(["numbers"] * 6 + ["positive"] * 3 + ["names", "years"] + ["dates"] * (not tame)))
    sample.features += [content] if plane else []
    count = int(rng.integers(3, 12))
    x: Any = np.sort(rng.uniform(0.5, 10, count)) * scale + shift
    if content == "dates":
        x = [dt.datetime(2024, 1, 1) + dt.timedelta(hours=float(h)) for h in np.sort(rng.uniform(0, 2000, count))]
    elif content == "names":
        x = [f"{TEXTS[i % 5]}{i}" for i in range(count)]
    elif content == "years":
        x = np.arange(2015, 2015 + count)
    y = rng.normal(size=count) * scale
    if content == "positive" or rng.random() < 0.4:
        y = np.abs(y) + 0.01 * scale
    if rng.random() < 0.15:
        y[rng.integers(count)] = np.nan
    if rng.random() < 0.1:
        y = np.ma.masked_where(y > np.nanmax(y) * 0.9, y)
    for _ in range(int(rng.integers(1, 4))):
        _draw_artist(axes, x, y, rng, sample, scale, tame)
    if plane:
        for name in ("x", "y"):
            if (name == "y" or content in ("numbers", "positive")) and rng.random() < 0.3:
                if tame and content != "positive":
                    continue
                scales = ["log"] if tame else ["log", "log", "symlog", "asinh", "logit", "function"]
                scale_name = str(rng.choice(scales))
                sample.features.append(scale_name)
                options = {"functions": (np.cbrt, lambda v: v**3)} if scale_name == "function" else {}
                getattr(axes, f"set_{name}scale")(scale_name, **options)
    _decorate(axes, rng, sample, plane, content, tame)


def _draw_artist(
    axes: Any, x: object, y: np.ndarray, rng: np.random.Generator, sample: Sample, scale: float, tame: bool
) -> None:
    label = str(rng.choice(TEXTS[:6])) + str(len(sample.texts)) if rng.random() < 0.6 else "_none"
    kinds = (
        ["plot"] * 5 + ["marks"] * 3 + ["scatter"] * 2 + ["colours", "sizes", "bar", "bar", "hist", "step", "errorbar"]
    )
    kinds += ["errorbar", "limits", "fill", "fill", "stack", "rule", "span", "text", "arrow", "stem", "image", "mesh"]
    kinds += "contour quiver hexbin box violin hlines stairs hatch raster histstep drawstep".split()
    tame_kinds = "plot plot marks scatter bar hist errorbar limits fill rule span hlines".split()
    kind = str(rng.choice([*tame_kinds, "text", "stack", "box", "violin", "histstep"] if tame else kinds))
    sample.features.append(kind)
    plain = kind in ("plot", "marks")
    points = sample.lines if plain else sample.points
    n = len(x)

    def keep(xs: object, ys: object) -> None:
        numbers = axes.xaxis.convert_units(xs)
        for a, b in zip(
            np.atleast_1d(numbers).astype(float), np.ma.filled(np.ma.asarray(ys, float), np.nan), strict=True
        ):
            if math.isfinite(a) and math.isfinite(b):
                points.append((axes, float(a), float(b)))

    if plain:
        style = {"marker": str(rng.choice(list("os^vx+P*d.")))} if kind == "marks" else {}
        ls = str(rng.choice(["-", "--", ":", "-.", "None" if kind == "marks" else "-"]))
        axes.plot(x, y, ls=ls, label=label, alpha=float(rng.choice([1, 0.5])), **style)
        keep(x, y)
    elif kind == "scatter":
        marker, color = str(rng.choice(["o", "D", "h"])), str(rng.choice(["none", "C1"]))
        axes.scatter(x, y, marker=marker, label=label, facecolors=color)
        keep(x, y)
    elif kind == "colours":
        axes.scatter(x, y, c=np.arange(n), label=label)
    elif kind == "sizes":
        axes.scatter(x, y, s=10 * np.arange(1, n + 1), label=label)
    elif kind in ("bar", "hatch"):
        axes.bar(x, y, label=label, **({"hatch": "//"} if kind == "hatch" else {}))
    elif kind in ("hist", "histstep"):
        finite = np.ma.masked_invalid(y).compressed()
        axes.hist(
            finite, bins=5, label=label, histtype="step" if kind == "histstep" else "bar", log=bool(rng.random() < 0.2)
        )
    elif kind == "step":
        axes.step(x, y, label=label)
    elif kind == "drawstep":
        axes.plot(x, y, drawstyle="steps-mid", label=label)
    elif kind == "errorbar":
        axes.errorbar(x, y, yerr=0.3 * scale, fmt="o", capsize=int(rng.choice([0, 3])), label=label)
        keep(x, y)
    elif kind == "limits":
        axes.errorbar(x, y, yerr=0.3 * scale, uplims=True, fmt="s", label=label)
        keep(x, y)
    elif kind == "fill":
        axes.fill_between(x, np.zeros(n), y, alpha=0.4, label=label)
    elif kind == "stack":
        axes.stackplot(x, np.abs(np.ma.filled(y, 0)), np.ones(n) * scale, labels=[label, "_b"])
    elif kind == "rule":
        axes.axhline(0.5 * scale, color="r", ls="--", label=label)
    elif kind == "span":
        axes.axhspan(0.1 * scale, 0.2 * scale, alpha=0.3, label=label)
    elif kind in ("text", "arrow"):
        point = (x[1], float(np.ma.filled(np.ma.masked_invalid(y), 1.0)[1]))
        text = _random_text(rng, sample)
        if kind == "text":
            axes.text(*point, text, clip_on=True)
        else:
            axes.annotate(text, point, xytext=(0.5, 0.5), textcoords="axes fraction", arrowprops={"arrowstyle": "->"})
        sample.texts.pop()  # not shown if the arrow points outside the axes
    elif kind == "stem":
        axes.stem(x, y, label=label)
    elif kind == "image":
        axes.imshow(rng.normal(size=(4, 5)))
    elif kind == "mesh":
        axes.pcolormesh(rng.normal(size=(4, 5)))
    elif kind == "contour":
        axes.contourf(rng.normal(size=(6, 7)))
    elif kind == "quiver":
        axes.quiver([1, 2], [1, 2], [1, 0], [0, 1])
    elif kind == "hexbin":
        axes.hexbin(rng.normal(size=50), rng.normal(size=50), gridsize=5)
    elif kind == "box":
        axes.boxplot(np.ma.masked_invalid(y).compressed())
    elif kind == "violin":
        axes.violinplot(np.ma.masked_invalid(y).compressed())
    elif kind == "hlines":
        axes.hlines(y, x[0], x[-1], label=label)
    elif kind == "stairs":
        axes.stairs(np.abs(np.ma.filled(y, 0)), label=label)
    elif kind == "raster":
        axes.plot(x, y, rasterized=True, label=label)


def _decorate(axes: Any, rng: np.random.Generator, sample: Sample, plane: bool, what: str, tame: bool) -> None:
    from matplotlib.ticker import EngFormatter, PercentFormatter

    if rng.random() < 0.5:
        axes.set_title(_random_text(rng, sample), loc="center" if tame else str(rng.choice(["center"] * 4 + ["left"])))
    if plane:
        axes.set_ylabel(_random_text(rng, sample))
        if axes.xaxis.get_visible():  # a twin's is hidden
            axes.set_xlabel(_random_text(rng, sample))
    chance = rng.random
    names = axes.get_legend_handles_labels()[1]
    if names and chance() < 0.7:
        options: dict[str, object] = {"loc": str(rng.choice(["best", "upper left", "lower right", "center"]))}
        if not tame and chance() < 0.15:
            options["title"] = _random_text(rng, sample)
        if not tame and chance() < 0.15:
            options["ncols"] = 2
        if not tame and chance() < 0.1:
            options["bbox_to_anchor"] = (1.02, 1)
        axes.legend(**options)
        sample.texts += names
    if not plane:
        return
    if chance() < 0.2:
        axes.grid(True)
    if tame:
        return
    if chance() < 0.1:
        axes.invert_yaxis()
    if chance() < 0.1:
        axes.tick_params(axis="x", rotation=45)
    if chance() < 0.1:
        axes.set_aspect("equal", adjustable="datalim") if what == "numbers" else None
    if chance() < 0.1:
        axes.minorticks_on()
    if chance() < 0.1:
        axes.spines[["top", "right"]].set_visible(False)
    if chance() < 0.1 and axes.get_yscale() == "linear":
        axes.yaxis.set_major_formatter(PercentFormatter() if chance() < 0.5 else EngFormatter(unit="B"))
    if chance() < 0.1 and axes.get_yscale() == "linear":
        low, high = axes.get_ylim()
        axes.set_ylim(low + 0.3 * (high - low), high)


def judge(sample: Sample) -> tuple[str, list[str]]:
    """Return the outcome of a drawing, and its faults."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sample.drawing.draw_without_rendering()
    except Exception as error:
        return f"matplotlib cannot draw it ({type(error).__name__})", _refusal(sample)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            figure = from_matplotlib(sample.drawing, caption="c")
    except ThesisError as error:
        short = 1 <= len(str(error).splitlines()) <= 2
        return f"refused: {str(error)[:90]}", [] if short else [f"a refusal of many lines: {error}"]
    except Exception as error:
        return "crashed", [f"{type(error).__name__}: {error}"]
    body = figure.body
    faults = [f"the text {text!r} is lost" for text in sample.texts if text.strip() and latex_words(text) not in body]
    if figure.conversion_note == "converted to PGFPlots":
        return "converted", faults + _lost_values(sample, body)
    if "because of" not in figure.conversion_note:
        faults.append(f"no reason given: {figure.conversion_note!r}")
    if "during conversion" in figure.conversion_note:
        faults.append(f"conversion failed: {figure.conversion_note}")
    reason = figure.conversion_note.partition("because of ")[2].partition(";")[0]
    return f"drawn: {reason}", faults + _misplaced(sample, body)


def _refusal(sample: Sample) -> list[str]:
    try:
        from_matplotlib(sample.drawing, caption="c")
    except ThesisError:
        return []
    except Exception as error:
        return [f"{type(error).__name__}: {error}"]
    return []


def _lost_values(sample: Sample, body: str) -> list[str]:
    """Return a fault for each point of a converted drawing that is missing from the tables in its code."""
    rows = re.findall(rf"(?m)^({NUMBER}) ({NUMBER})$", body)
    points = np.array([(float(a), float(b)) for a, b in rows]).reshape(-1, 2)
    return [
        f"the point ({x!r}, {y!r}) is lost"
        for _, x, y in (*sample.points, *sample.lines)
        if not np.any(np.isclose(points[:, 0], x, rtol=1e-8, atol=0) & np.isclose(points[:, 1], y, rtol=1e-8, atol=0))
    ]


def _misplaced(sample: Sample, body: str) -> list[str]:
    """Return a fault for each point of a plotted line that matplotlib's PGF code does not have at its position."""
    width, height = sample.drawing.get_size_inches()
    if f"{{\\pgfqpoint{{{width:f}in}}{{{height:f}in}}}}" not in body:
        return []  # the drawing was enlarged, which moves all points
    pairs = re.findall(rf"(?:qpoint|transformshift){{({NUMBER})in}}{{({NUMBER})in}}", body)
    points = np.array([(float(a), float(b)) for a, b in pairs])
    faults = []
    for axes, x, y in sample.lines:
        if axes.name != "rectilinear" or (axes.get_xscale(), axes.get_yscale()) in (("logit", "logit"),):
            continue
        low, high = sorted(axes.get_ylim())
        left, right = sorted(axes.get_xlim())
        if not (left < x < right and low < y < high):
            continue
        position = axes.transData.transform((x, y)) / sample.drawing.dpi
        if np.all(np.isfinite(position)) and not np.any(np.all(np.abs(points - position) < 2e-3, axis=1)):
            faults.append(f"the point ({x!r}, {y!r}) is not at ({position[0]:.3f}, {position[1]:.3f}) in")
    return faults


def run(seeds: range, compile_: bool = False, say: Callable[[str], object] = print) -> Counter[str]:
    """Judge the drawings of `seeds`, report each fault with `say`, and return counts of outcomes and faults."""
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            try:
                sample = make(seed)
            except ValueError:  # matplotlib refuses values outside a scale
                outcomes["not drawn by matplotlib"] += 1
                continue
            outcome, faults = judge(sample)
            if compile_ and outcome.split(":")[0] in ("converted", "drawn"):
                faults += _compile(make(seed), Path(folder), f"drawing_{seed}")
            outcomes[outcome.split(":")[0]] += 1
            outcomes["faults"] += bool(faults)
            for fault in faults:
                say(f"{seed} ({', '.join(sample.features)}): {outcome}: {fault}")
    return outcomes


def _compile(sample: Sample, out: Path, name: str) -> list[str]:
    """Compile a drawing with LaTeX; return the errors."""
    from boundpaper.paper.tex.figure_pdf import compile_figure

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        figure = from_matplotlib(sample.drawing, caption="c")
    (out / "figures").mkdir(exist_ok=True)
    (out / f"figures/{name}.tex").write_text(tex(figure, name), encoding="utf-8")
    for file, content in picture_files(figure, name).items():
        (out / "figures" / file).write_bytes(content)
    try:
        compile_figure(out, name)
    except ThesisError as error:
        return [f"LaTeX: {error}"]
    return []


def main() -> int:
    """Judge the drawings that the options select; return 1 if any has a fault."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--compile", action="store_true", help="also compile each drawing with LaTeX")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # matplotlib's warnings about unusual options
    outcomes = run(range(options.first, options.first + options.count), options.compile)
    faults = outcomes.pop("faults", 0)
    counts = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common())
    print(f"{options.count} drawings: {counts}; {faults} with a fault")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
