"""What mkdocs does to the pages beside its plugins: stops of a walk become the source of their functions."""

from __future__ import annotations

import re

STOP = re.compile(r"^\d+\. \[`([\w.]+)`\]\(\.\./\.\./([\w./-]+)\): ", re.MULTILINE)
"""A stop of a walk: a numbered line with the dotted name of a function, a link to its file, and what it does."""


def on_page_markdown(markdown: str, **_: object) -> str:
    """Show the source of each stop of a walk above what the page says of it."""
    return STOP.sub(
        lambda stop: f"## {stop[1].rpartition('.')[2]}\n\n`{stop[2]}`\n\n::: {stop[1]}\n"
        "    options: {show_source: true, show_root_heading: false, show_root_toc_entry: false, members: false}\n\n",
        markdown,
    )
