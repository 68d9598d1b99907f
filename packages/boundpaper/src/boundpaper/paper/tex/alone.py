"""Compile a figure outside a build, for a notebook or script, in a folder that is removed when the process ends."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import TYPE_CHECKING

from boundpaper.errors import SpecError
from boundpaper.figures.render import picture_files, tex
from boundpaper.paper.tex.figure_pdf import compile_figure
from boundpaper.paper.tex.pictures import convert
from boundpaper.store.files import process_folder, write

if TYPE_CHECKING:
    from boundpaper.figures.spec import Figure

FORMATS = ("pdf", "png", "svg", "tex")
_numbers = itertools.count(1)


def save(figure: Figure, path: Path) -> Path:
    """Write a figure to `path`; see `Figure.save`."""
    form = path.suffix.removeprefix(".").lower()
    if form not in FORMATS:
        raise SpecError(f"{path}: a figure is saved as {', '.join('.' + each for each in FORMATS)}; change the ending")
    if not path.absolute().parent.is_dir():
        raise SpecError(f"{path}: no folder {path.absolute().parent}; create it first")
    name = re.sub(r"[^A-Za-z0-9-]+", "-", path.stem)  # the document includes its pictures by this name
    if form == "tex":
        for file, content in picture_files(figure, name).items():
            write(path.absolute().parent / file, content)
    write(path, content_of(figure, form, name))
    return path


def content_of(figure: Figure, form: str, name: str = "figure", head: str = "") -> bytes:
    """Return a figure as bytes in one of `FORMATS`; `name` is used in messages and for the pictures of a `.tex`.

    `head` replaces the preamble that figures share.
    """
    if form == "tex":
        return tex(figure, name, head).encode()
    # all figures of a process share the preamble, which is compiled once
    out, job = process_folder(), f"figure-{next(_numbers)}"
    text, pictures = tex(figure, job, head), picture_files(figure, job)
    for file, content in {f"{job}.tex": text.encode(), **pictures}.items():
        write(out / "figures" / file, content)
    pdf = compile_figure(out, job)
    if form == "pdf":
        return pdf
    write(out / f"{job}.pdf", pdf)
    convert(out / f"{job}.pdf", out / f"{job}.{form}")
    return (out / f"{job}.{form}").read_bytes()
