"""Read installed texts as named sets: Python's manual and library, and books packaged by Debian.

Texts are read at run time and not stored. A hash of a document's name assigns the document to one of three parts, so
its part does not depend on other documents.
"""

import hashlib
import re
import shutil
import subprocess
import sysconfig
import tokenize
from collections.abc import Callable, Iterator
from functools import partial
from html.parser import HTMLParser
from pathlib import Path

from boundpaper.errors import DataError

PARTS = {"calibration": 0.4, "selection": 0.2, "evaluation": 0.4}  # shares of the documents
NOT_CODE = {"site-packages", "dist-packages", "test", "tests", "idlelib", "pydoc_data", "__pycache__"}  # folders
BOOKS = Path("/usr/share/doc")
VERSE = re.compile(r"(\d?[A-Za-z]+)\d+:\d+ (.*)")
SENTENCE = re.compile(r"\b[A-Z][^.?!\n]{30,90}\.")  # within one line
HIDDEN_TAGS = {"script", "style", "head"}
BLOCK_TAGS = set("p div h1 h2 h3 h4 h5 h6 li tr pre blockquote br dt dd table".split())

Texts = Iterator[tuple[str, str]]


def split_set_name(name_and_part: str) -> tuple[str, str | None] | None:
    """Split `NAME` or `NAME:PART` into a set and a part (None: all parts); return None if there is no such set.

    Raises DataError when the set has no such part.
    """
    name, colon, part = name_and_part.partition(":")
    if name not in SETS:
        return None
    if colon and part not in PARTS:
        raise DataError(f"{name_and_part}: the set {name} has no part {part!r}; its parts are {', '.join(PARTS)}")
    return name, part or None


def part_of(document: str) -> str:
    """Return the part that a document belongs to, by a hash of its name."""
    quantile = int.from_bytes(hashlib.sha256(document.encode()).digest()[:8]) / 2**64
    for name, share in PARTS.items():
        if quantile < share:
            return name
        quantile -= share
    return next(reversed(PARTS))


def texts_of(name: str, part: str | None) -> Texts:
    """Yield the name and text of each document of a set, or of its part `part`, sorted by name.

    The short documents of a set in `JOINED` are joined into one text. Raises DataError if the set's source is not
    installed; the message ends with the command that installs it.
    """
    documents = ((title, text) for title, text in SETS[name]() if part in (None, part_of(f"{name}/{title}")))
    if name not in JOINED:
        yield from documents
        return
    yield f"{name}-{part or 'all'}", "\n\n".join(text for _, text in documents)


def _manual_texts() -> Texts:
    from pydoc_data.topics import topics

    for title in sorted(topics):
        yield title, topics[title]


def _library_code() -> Texts:
    library = Path(sysconfig.get_path("stdlib"))
    for path in sorted(library.rglob("*.py")):
        relative_path = path.relative_to(library)
        if not NOT_CODE & set(relative_path.parts):
            try:
                with tokenize.open(path) as stream:
                    yield relative_path.as_posix(), stream.read()
            except (SyntaxError, UnicodeDecodeError):  # some of Python's own tests declare a wrong encoding
                continue


def _kjv_texts() -> Texts:
    if shutil.which("bible") is None:
        raise DataError("kjv: the program bible is not installed; install it: apt-get install bible-kjv")
    command = ["bible", "-f", "Gen1:1-Rev22:21"]
    output = subprocess.run(command, capture_output=True, text=True, errors="replace", check=True).stdout
    books: dict[str, list[str]] = {}
    for line in output.splitlines():
        if verse := VERSE.fullmatch(line.strip()):
            books.setdefault(verse[1], []).append(verse[2])
    for title in sorted(books):
        yield title, "\n".join(books[title])


def _html_pages(package: str, folder: str) -> Texts:
    """Yield the HTML pages of a Debian package, one document per page."""
    paths = sorted((BOOKS / package / folder).glob("*.html"))
    if not paths:
        raise DataError(f"{package}: the package is not installed; install it: apt-get install {package}")
    for path in paths:
        yield path.stem, _visible_text(path.read_text(encoding="utf-8", errors="replace"))


def _visible_text(html: str) -> str:
    """Return the visible text of an HTML page, with one line per block, such as a paragraph."""
    page = _PageParser()
    page.feed(html)
    page.close()
    lines = (" ".join(line.split()) for line in "".join(page.strings).split("\n"))
    return "\n".join(line for line in lines if line)


class _PageParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.strings: list[str] = []
        self.hidden_elements = 0  # number of open elements whose text is not shown

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.hidden_elements += tag in HIDDEN_TAGS
        self.strings += ["\n"] * (tag in BLOCK_TAGS)

    def handle_endtag(self, tag: str) -> None:
        self.hidden_elements -= tag in HIDDEN_TAGS and self.hidden_elements > 0
        self.strings += ["\n"] * (tag in BLOCK_TAGS)

    def handle_data(self, data: str) -> None:
        if not self.hidden_elements:
            self.strings.append(data.replace("\n", " "))


def _repeated_sentences(read: Callable[[], Texts]) -> Texts:
    """Yield each document's first sentence, repeated to about the document's length."""
    for title, text in read():
        if sentence := SENTENCE.search(text):
            yield title, " ".join([sentence[0]] * max(2, len(text) // (len(sentence[0]) + 1)))


_anarchism = partial(_html_pages, "anarchism", "html")
SETS: dict[str, Callable[[], Texts]] = {
    "manual": _manual_texts,
    "code": _library_code,
    "kjv": _kjv_texts,
    "anarchism": _anarchism,
    "anarchism-repeated": partial(_repeated_sentences, _anarchism),
    "debian-handbook": partial(_html_pages, "debian-handbook", "html/en-US"),
}
JOINED = {"manual"}  # sets that are read as one text
