"""Write `out/gallery/index.html`, the examples of `docs/matplotlib.md` with their pictures: `python -m tests.gallery`.

Each example is a block of code that draws on `axes`, under a heading that says how the drawing is converted.
"""

import html
import re
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
DOCUMENT = ROOT / "docs/matplotlib.md"


class Example(NamedTuple):
    """An example: its name, its heading, and its code."""

    name: str
    heading: str
    code: str


def examples() -> list[Example]:
    """Return the examples of the document, in order."""
    return [
        Example(name, section.splitlines()[0], code)
        for section in re.split(r"(?m)^## ", DOCUMENT.read_text("utf-8"))[1:]
        for name, code in re.findall(r"```python\n# ([\w-]+)\n(.*?)```", section, re.DOTALL)
    ]


def draw(example: Example):
    """Return the matplotlib figure drawn by an example."""
    from matplotlib.figure import Figure as Drawing

    drawing = Drawing(figsize=(5, 3))
    exec(example.code, {"axes": drawing.subplots()})
    return drawing


def main() -> int:
    """Write the page."""
    import matplotlib

    from boundpaper.errors import SpecError
    from boundpaper.figures import from_matplotlib
    from boundpaper.figures.render import picture_files, tex
    from boundpaper.paper.tex.figure_pdf import compile_figure
    from boundpaper.paper.tex.pictures import convert
    from boundpaper.store.files import write

    matplotlib.use("Agg")
    target = ROOT / "out/gallery"
    page = ["<!doctype html><meta charset='utf-8'><title>Drawings of matplotlib</title><h1>Drawings of matplotlib</h1>"]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        heading = ""
        for example in examples():
            if example.heading != heading:
                page.append(f"<h2>{html.escape(example.heading)}</h2>")
                heading = example.heading
            page.append(f"<h3>{example.name}</h3><pre>{html.escape(example.code)}</pre>")
            try:
                figure = from_matplotlib(draw(example), caption="c", width=110)
            except SpecError as error:
                page.append(f"<p><em>{html.escape(str(error))}</em></p>")
                continue
            write(out / f"figures/{example.name}.tex", tex(figure, example.name).encode())
            for file, content in picture_files(figure, example.name).items():
                write(out / "figures" / file, content)
            write(target / f"{example.name}.pdf", compile_figure(out, example.name))
            convert(target / f"{example.name}.pdf", target / f"{example.name}.png")
            page.append(
                f"<p><em>{html.escape(figure.conversion_note)}</em></p><img width='520' src='{example.name}.png'>"
            )
    write(target / "index.html", "\n".join(page).encode())
    print((target / "index.html").relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
