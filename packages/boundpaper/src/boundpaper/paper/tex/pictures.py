"""Convert a compiled figure to PNG or SVG, for slides and web pages."""

from pathlib import Path

from boundpaper.build.process import run
from boundpaper.errors import LatexError
from boundpaper.store.files import write

RESOLUTION = 200  # dots per inch of a PNG


def convert(pdf: Path, target: Path) -> None:
    """Convert the only page of `pdf` to PNG or SVG, as the suffix of `target` says.

    Raises MissingDependency without poppler's pdftocairo, and LatexError when it cannot read the file.
    """
    form = target.suffix.removeprefix(".")
    options = ["-png", "-singlefile", "-r", str(RESOLUTION)] if form == "png" else ["-svg"]
    part = target.with_suffix(f".part.{form}")
    output = part.with_suffix("") if form == "png" else part
    done = run(["pdftocairo", *options, str(pdf), str(output)], cwd=pdf.parent, timeout=60)
    try:
        if done.returncode or not part.is_file():
            raise LatexError(f"pdftocairo made no {form}: {done.output.strip()}", str(pdf))
        write(target, part.read_bytes())
    finally:
        part.unlink(missing_ok=True)
