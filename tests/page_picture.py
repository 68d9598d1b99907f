"""Draw `docs/page.png`, the page of the thesis that the README shows, from `out/thesis.pdf`.

    python build.py paper && python tests/page_picture.py

Also writes `docs/page.sha256`, the hashes of the figure on this page and of the page's words.
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
    contents = [(golden / f"{FIGURE}{end}").read_bytes() for end in (".tex", ".float.tex")]
    return hashlib.sha256(b"".join(contents)).hexdigest()


def page(thesis: Path) -> tuple[str, str]:
    """Return the number of the page with the figure, and the hash of the page's words."""
    text = subprocess.run(("pdftotext", thesis, "-"), capture_output=True, text=True, check=True).stdout
    pages = [" ".join(page_text.split()) for page_text in text.split("\f")]
    numbers = [number for number, words in enumerate(pages, 1) if f": {CAPTION}" in words]
    if len(numbers) != 1:
        sys.exit(f"{len(numbers)} pages of {thesis} have the caption '{CAPTION}'; expected one")
    return str(numbers[0]), hashlib.sha256(pages[numbers[0] - 1].encode()).hexdigest()


def main() -> None:
    """Write the picture and the file of hashes."""
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
