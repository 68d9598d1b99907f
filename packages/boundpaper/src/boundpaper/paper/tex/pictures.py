"""Convert a compiled figure to PNG or SVG, for slides and web pages."""

from pathlib import Path

from boundpaper.build import process
from boundpaper.errors import LatexError
from boundpaper.store.files import write

RESOLUTION = 200  # dots per inch of a PNG


def convert(pdf: Path, target: Path) -> None:
    """Convert the only page of `pdf` to PNG or SVG, as the suffix of `target` says.

    Raises MissingDependency without poppler's pdftocairo, and LatexError when it cannot read the file.
    """
    ending = target.suffix.removeprefix(".")
    options = ["-png", "-singlefile", "-r", str(RESOLUTION)] if ending == "png" else ["-svg"]
    draft = target.with_suffix(f".part.{ending}")
    output = draft.with_suffix("") if ending == "png" else draft
    run = process.run(["pdftocairo", *options, str(pdf), str(output)], cwd=pdf.parent, timeout=60)
    try:
        if run.returncode or not draft.is_file():
            raise LatexError(f"pdftocairo made no {ending}: {run.output.strip()}", str(pdf))
        write(target, draft.read_bytes())
    finally:
        draft.unlink(missing_ok=True)
