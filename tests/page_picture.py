"""The page of the thesis shown in the README, and a check that the page has the current figure.

    python build.py paper && python tests/page_picture.py

Draws `docs/page.png` from `out/thesis.pdf`, and stores the hash of the figure on that page beside the picture.
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
    """Return the hash of the figure's drawing and caption, taken from its golden files."""
    golden = ROOT / "tests/golden/figures"
    parts = [(golden / f"{FIGURE}{end}").read_bytes() for end in (".tex", ".float.tex")]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def main() -> None:
    """Write the picture and its hash."""
    thesis = ROOT / "out/thesis.pdf"
    if not thesis.is_file():
        sys.exit("out/thesis.pdf is missing; build it: python build.py paper")
    pages = subprocess.run(("pdftotext", thesis, "-"), capture_output=True, text=True, check=True).stdout.split("\f")
    numbers = [number for number, text in enumerate(pages, 1) if f": {CAPTION}" in " ".join(text.split())]
    if len(numbers) != 1:
        sys.exit(f"{len(numbers)} pages of out/thesis.pdf have the caption '{CAPTION}'; expected one")
    at = (str(numbers[0]), "-l", str(numbers[0]))
    command = ("pdftoppm", "-f", *at, "-r", str(DPI), "-png", "-singlefile", thesis, PICTURE.with_suffix(""))
    subprocess.run(command, check=True)
    RECORD.write_text(f"{source()}\n")


if __name__ == "__main__":
    main()
