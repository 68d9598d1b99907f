"""The page of the thesis shown in the README, and hashes of what it shows: the figure, and the words of the page.

    python build.py paper && python tests/page_picture.py

Draws `docs/page.png` from `out/thesis.pdf`, and stores the hashes of the figure and of the page's words beside it.
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


def page(thesis: Path) -> tuple[str, str]:
    """Return the number of the page with the figure, and the hash of the page's words."""
    text = subprocess.run(("pdftotext", thesis, "-"), capture_output=True, text=True, check=True).stdout
    pages = [" ".join(page_text.split()) for page_text in text.split("\f")]
    numbers = [number for number, words in enumerate(pages, 1) if f": {CAPTION}" in words]
    if len(numbers) != 1:
        sys.exit(f"{len(numbers)} pages of {thesis} have the caption '{CAPTION}'; expected one")
    return str(numbers[0]), hashlib.sha256(pages[numbers[0] - 1].encode()).hexdigest()


def main() -> None:
    """Write the picture and its hashes."""
    thesis = ROOT / "out/thesis.pdf"
    if not thesis.is_file():
        sys.exit("out/thesis.pdf is missing; build it: python build.py paper")
    number, words = page(thesis)
    page_range = (number, "-l", number)
    command = ("pdftoppm", "-f", *page_range, "-r", str(DPI), "-png", "-singlefile", thesis, PICTURE.with_suffix(""))
    subprocess.run(command, check=True)
    RECORD.write_text(f"{source()}\n{words}\n")


if __name__ == "__main__":
    main()
