"""Read a PDF with pypdf and poppler: its number of pages, text, bookmarks, metadata and fonts."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from boundpaper.build import process
from boundpaper.errors import LatexError, MissingDependency
from boundpaper.store.files import temporary

if TYPE_CHECKING:
    import pypdf


@dataclass(frozen=True, order=True)
class Font:
    """A font of a PDF.

    `kind` is `Type1`, `TrueType`, `Type0` or, for bitmaps, `Type3`; `embedded` says whether its glyphs are in the file.
    """

    name: str
    kind: str
    embedded: bool


def page_count(content: bytes) -> int:
    """Return the number of pages, from poppler's pdfinfo."""
    match = re.search(r"(?m)^Pages:\s+(\d+)$", _run_poppler(content, "pdfinfo", "document.pdf"))
    if not match:
        raise LatexError("pdfinfo printed no number of pages")
    return int(match[1])


def whole_text(content: bytes) -> str:
    """Return all text from poppler's pdftotext, with whitespace collapsed to single blanks.

    pypdf loses spaces in tightly set lines, so that a search for words would fail.
    """
    return " ".join(_run_poppler(content, "pdftotext", "-enc", "UTF-8", "document.pdf", target="document.txt").split())


def _run_poppler(content: bytes, *argv: str, target: str = "") -> str:
    """Return the output of a poppler program for `document.pdf`, or the text that it writes to the file `target`."""
    with temporary() as folder:
        (folder / "document.pdf").write_bytes(content)
        run = process.run((*argv, target) if target else argv, folder, 60)
        if run.returncode:
            raise LatexError(f"{argv[0]} cannot read the PDF: {run.output.strip()}")
        return (folder / target).read_text(encoding="utf-8") if target else run.output


def bookmarks(content: bytes) -> dict[int, list[tuple[int, str]]]:
    """Return the bookmarks of each page in order, as (level, title); pages count from 1, and levels from 0."""
    reader = _pdf_reader(content)
    bookmarks_by_page: dict[int, list[tuple[int, str]]] = {}

    def walk(outline: list[Any], level: int) -> None:
        for bookmark in outline:
            if isinstance(bookmark, list):
                walk(bookmark, level + 1)
            elif (index := reader.get_destination_page_number(bookmark)) is not None:
                bookmarks_by_page.setdefault(index + 1, []).append((level, str(bookmark.title)))

    walk(reader.outline, 0)
    return bookmarks_by_page


def metadata(content: bytes) -> dict[str, str]:
    """Return the fields of the Info dictionary, such as `Title` and `Author`."""
    return {str(key).lstrip("/"): str(value) for key, value in (_pdf_reader(content).metadata or {}).items()}


def fonts(content: bytes) -> list[Font]:
    """Return all fonts, sorted, including those of patterns and of included figures."""
    seen: set[Any] = set()
    return sorted({font for page in _pdf_reader(content).pages for font in _walk_fonts(page.get("/Resources"), seen)})


def faulty_fonts(content: bytes) -> list[Font]:
    """Return fonts that may print badly on other machines: bitmap fonts (Type 3), and fonts that are not embedded."""
    return [font for font in fonts(content) if font.kind == "Type3" or not font.embedded]


def _pdf_reader(content: bytes) -> pypdf.PdfReader:
    try:
        import pypdf
    except ModuleNotFoundError:
        raise MissingDependency.package("pypdf", "test", "to read a PDF") from None
    return pypdf.PdfReader(io.BytesIO(content))


def _walk_fonts(resources: Any, seen: set[Any]) -> Iterator[Font]:
    """Yield the fonts in the resources of a page and of every form, pattern and Type 3 font on it."""
    if resources is None:
        return
    resources = resources.get_object()
    for reference in _resource_values(resources, "/Font"):
        font = reference.get_object()
        yield _font_of(font)
        yield from _fonts_inside(font, reference, seen)
    for kind in ("/XObject", "/Pattern"):
        for reference in _resource_values(resources, kind):
            yield from _fonts_inside(reference.get_object(), reference, seen)


def _fonts_inside(container: Any, reference: Any, seen: set[Any]) -> Iterator[Font]:
    """Yield the fonts in the resources of a form, pattern or font, unless it has been `seen`."""
    key = getattr(reference, "idnum", id(container))
    if key not in seen and "/Resources" in container:
        seen.add(key)
        yield from _walk_fonts(container["/Resources"], seen)


def _resource_values(resources: Any, kind: str) -> list[Any]:
    dictionary: Any = resources[kind].get_object() if kind in resources else {}
    return [dictionary.raw_get(name) for name in dictionary]


def _font_of(font: Any) -> Font:
    kind = str(font["/Subtype"]).lstrip("/")
    name = str(font.get("/BaseFont", font.get("/Name", ""))).lstrip("/")
    if kind == "Type3":
        return Font(name, kind, True)
    descendant = font["/DescendantFonts"][0].get_object() if kind == "Type0" else font
    descriptor = descendant.get("/FontDescriptor")
    files = ("/FontFile", "/FontFile2", "/FontFile3")
    return Font(name, kind, descriptor is not None and any(file in descriptor.get_object() for file in files))
