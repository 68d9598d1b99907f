"""Compile a figure outside a build, for a notebook or a script, in a folder that is removed when the process ends."""

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
    ending = path.suffix.removeprefix(".").lower()
    if ending not in FORMATS:
        raise SpecError(f"{path}: a figure is saved as {', '.join(f'.{name}' for name in FORMATS)}; change the ending")
    if not path.absolute().parent.is_dir():
        raise SpecError(f"{path}: no folder {path.absolute().parent}; create it first")
    name = re.sub(r"[^A-Za-z0-9-]+", "-", path.stem)  # the document includes its pictures by this name
    if ending == "tex":
        for file, content in picture_files(figure, name).items():
            write(path.absolute().parent / file, content)
    write(path, content_of(figure, ending, name))
    return path


def content_of(figure: Figure, ending: str, name: str = "figure", head: str = "") -> bytes:
    """Return the content of a file with a figure; `ending` is one of `FORMATS`.

    `name` begins the names of the pictures that a `.tex` includes. `head` replaces the preamble that figures share.
    """
    if ending == "tex":
        return tex(figure, name, head).encode()
    # in one folder, so that the preamble is compiled once for all figures
    out, job = process_folder(), f"figure-{next(_numbers)}"
    text, pictures = tex(figure, job, head), picture_files(figure, job)
    for file, content in {f"{job}.tex": text.encode(), **pictures}.items():
        write(out / "figures" / file, content)
    pdf = compile_figure(out, job)
    if ending == "pdf":
        return pdf
    write(out / f"{job}.pdf", pdf)
    convert(out / f"{job}.pdf", out / f"{job}.{ending}")
    return (out / f"{job}.{ending}").read_bytes()
