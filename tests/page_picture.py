"""The page of the thesis that the README shows, and whether it is of today's figure.

    python build.py paper && python tests/page_picture.py

Draws `docs/page.png` from `out/thesis.pdf`, and records the hash of the figure that stands on the page beside it.
"""

import hashlib
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIGURE, CAPTION = "population_keys", "At base 400 retrieval with rotation stops"
PICTURE, RECORD = ROOT / "docs/page.png", ROOT / "docs/page.sha256"
DPI = 70


def source() -> str:
    """Hash of the drawing and caption of the figure, as its golden files have them."""
    golden = ROOT / "tests/golden/figures"
    parts = [(golden / f"{FIGURE}{end}").read_bytes() for end in (".tex", ".float.tex")]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def main() -> None:
    """Write picture and record."""
    thesis = ROOT / "out/thesis.pdf"
    if not thesis.is_file():
        sys.exit("out/thesis.pdf is not there; build it: python build.py paper")
    pages = subprocess.run(("pdftotext", thesis, "-"), capture_output=True, text=True, check=True).stdout.split("\f")
    found = [number for number, text in enumerate(pages, 1) if f": {CAPTION}" in " ".join(text.split())]
    if len(found) != 1:
        sys.exit(f"{len(found)} pages of out/thesis.pdf have a caption '{CAPTION}', where one is asked for")
    at = (str(found[0]), "-l", str(found[0]))
    command = ("pdftoppm", "-f", *at, "-r", str(DPI), "-png", "-singlefile", thesis, PICTURE.with_suffix(""))
    subprocess.run(command, check=True)
    RECORD.write_text(f"{source()}\n")


if __name__ == "__main__":
    main()
