"""Check the links from verdicts in a PDF to ledger rows on the site, and from these rows to functions and data.

python packages/boundpaper/tests/support/two_clicks.py out/thesis.pdf out/site
"""

import re
import sys
from pathlib import Path

import pypdf

from site_made import addresses, elements, ids, parsed, target, words

ROW = "ledger.html#"


def rows_linked(pdf: Path, site: str) -> set[str]:
    """Return the ledger rows that a PDF links to; `site` is the address given to the build."""
    rows = set()
    for page in pypdf.PdfReader(pdf).pages:
        for annotation in page.get("/Annots") or []:
            address = str(annotation.get_object()["/A"].get_object().get("/URI", ""))
            if address.startswith(f"{site}/{ROW}"):
                rows.add(address.removeprefix(f"{site}/{ROW}"))
    return rows


def faults(rows: set[str], site: Path) -> list[str]:
    """Return missing links from ledger rows to their functions and data; empty if all exist."""
    ledger = site / "ledger.html"
    by_id = {element.get("id"): element for element in elements(parsed(ledger), "details") if element.get("id")}
    code: dict[Path, dict[str, str]] = {}
    collected = []
    for name in sorted(rows):
        if name not in by_id:
            collected.append(f"{name}: no such row")
            continue
        links = [address for _, address in addresses(by_id[name])]
        functions = [target(ledger, link) for link in links if link.startswith("code/")]
        data = [target(ledger, link)[0] for link in links if link.startswith("artifact/")]
        if len(functions) != 1 or not (data or by_id[name].get("data-verdict") == "not testable"):  # no data exist
            collected.append(f"{name}: links to {len(functions)} functions and {len(data)} tables")
        for file, line in functions:
            if file not in code:
                code[file] = {div.get("id"): words(div) for div in elements(parsed(file), "div") if div.get("id")}
            if not re.search(r"def \w+\(", code[file].get(line, "")):
                collected.append(f"{name}: {file.name}#{line} is not a function")
        collected += [f"{name}: {path.name} shows no data" for path in data if not _shows_data(path)]
    return collected


def _shows_data(page: Path) -> bool:
    tree = parsed(page)
    return "data-title" in ids(tree) and len(elements(tree, "td")) > 0


if __name__ == "__main__":
    linked_rows = rows_linked(Path(sys.argv[1]), Path(sys.argv[2]).name)
    broken_links = faults(linked_rows, Path(sys.argv[2]))
    print(f"{len(linked_rows)} ledger rows are linked; {len(broken_links)} links are broken", *broken_links, sep="\n")
    sys.exit(bool(broken_links) or not linked_rows)
