"""Return the addresses of the site's pages, for links in the pages and in the PDF, and check web addresses.

An address depends only on names. The address of a ledger row stays the same as long as its claim keeps its name.
"""

import re
from urllib.parse import quote, urlsplit

from markupsafe import Markup

SCHEMES = ("http", "https")


def claim(name: str) -> str:
    """Return the address of a row in the ledger; `name` is the verdict's name, such as `recall_drop.reader-s`."""
    return f"ledger.html#{quote(name)}"


def exhibit(kind: str, name: str) -> str:
    """Return the address of the page of a table or figure; `kind` is `table` or `figure`."""
    return f"{kind}/{quote(name)}.html"


def artifact(name: str) -> str:
    """Return the address of the page of a source, measurement or result."""
    return f"artifact/{quote(name)}.html"


def chapter(name: str) -> str:
    """Return the address of a chapter's page."""
    return f"chapter/{quote(name)}.html"


def work(key: str) -> str:
    """Return the address of a work's entry in the bibliography."""
    return f"bibliography.html#{quote(key)}"


def code(file: str, line: int = 0) -> str:
    """Return the address of the page of a project file, at the given line if it is not 0."""
    return f"code/{quote(file)}.html" + (f"#L{line}" if line else "")


def fault_of_address(address: str) -> str:
    """Return what is wrong with a web address, as the end of a sentence; empty if the address is valid."""
    if match := re.search(r"[\s<>\"`{}|\\^\x00-\x1f\x7f]", address):
        sign = "a blank" if match[0].isspace() else f"the sign {match[0]!r}"
        return f"contains {sign}, which is not allowed; write it as {quote(match[0])}, or give only one address"
    try:
        parts = urlsplit(address)
        host = parts.hostname
    except ValueError:
        return "is not a valid address; write it as in https://example.org/page"
    if parts.scheme not in SCHEMES:
        return f"is not a web address; it must begin with {' or '.join(f'{scheme}://' for scheme in SCHEMES)}"
    return "" if host else "has no host; write it as in https://example.org/page"


def doi(number: str) -> str:
    """Return the web address of a DOI."""
    return "https://doi.org/" + quote(number, safe="/:;()@,.-_")


def web_link(address: str, text: Markup) -> Markup:
    """Return `text` with a link to a web address, or without a link if the address is invalid."""
    return text if fault_of_address(address) else Markup('<a href="{}">{}</a>').format(address, text)
