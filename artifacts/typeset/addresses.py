"""Addresses: where each thing of the project has its page, for pages and the PDF to link to.

They are stable: a row of the ledger keeps its address as long as its claim keeps its name.
"""

from __future__ import annotations

from urllib.parse import quote


def claim(name: str) -> str:
    """The row of the ledger of a verdict, such as `c002_t1_n.smollm3-3b`."""
    return f"ledger.html#{quote(name)}"


def exhibit(kind: str, name: str) -> str:
    """The page of a table or figure; `kind` is `table` or `figure`."""
    return f"{kind}/{quote(name)}.html"


def artifact(name: str) -> str:
    """The page of a source, measurement or result."""
    return f"artifact/{quote(name)}.html"


def chapter(name: str) -> str:
    """The page of a chapter: what it shows and cites."""
    return f"chapter/{quote(name)}.html"


def work(key: str) -> str:
    """The entry of a work in the bibliography."""
    return f"bibliography.html#{quote(key)}"


def code(file: str, line: int = 0) -> str:
    """The page of a file of the project, at a line."""
    return f"code/{quote(file)}.html" + (f"#L{line}" if line else "")
