"""Tables in the author's class: `tables/NAME.py` as in a project of chapters, set as wide as the author's columns."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from boundpaper.adopt.cells import Data
from boundpaper.adopt.folder import Folder
from boundpaper.adopt.functions import called, loaded
from boundpaper.errors import SpecError
from boundpaper.near import or_known

if TYPE_CHECKING:
    from boundpaper.tables.cells import Grid as Cells

CITED = {"natbib": r"\citep", "biblatex": r"\parencite", "cite": r"\cite"}
OVER = 5.0
"""Points by which the estimate of a table's width may be wrong."""


def table_of(folder: Folder, data: Data, name: str, part: str) -> str:
    """The LaTeX of `tables/NAME.py`: a float over one column or both, the tabular alone, or its rows.

    Raises
    ------
    SpecError
        No such file, a parameter that names no table of rows, or a table that is wider than the page; what the
        author's own code raises is told with its place.
    """
    from boundpaper.tables.latex import Setting, latex
    from boundpaper.tables.read import read
    from boundpaper.tables.width import Page, fit

    cells: Cells = read(_spec(folder, data, name), name)
    if cells.table.long:
        raise SpecError(f"tables/{name}.py: long=True needs a page of one column; take fewer rows, or landscape=True")
    page, text = folder.page.column, folder.page.text
    narrow = min(250.0, page)
    chosen = fit(cells, Page(page, text, narrow))
    both = chosen.width > page + OVER and text > page and part == "float"
    if both:
        chosen = fit(cells, Page(text, text, narrow))
    room = text if both or cells.table.landscape else page
    if chosen.width > room + OVER and part == "float":
        raise SpecError(
            f"tables/{name}.py: tab:{name} is {chosen.width:.0f} pt wide, {'the text' if both else 'the column'} "
            f'{room:.0f}: take size="scriptsize", landscape=True, or fewer columns'
        )
    setting = Setting(Page(room, text, narrow), both, True, part)  # type: ignore[arg-type]
    made = latex(cells, setting)
    return re.sub(r"\\citep\b", lambda _: CITED[folder.page.cite], made)


def _spec(folder: Folder, data: Data, name: str) -> Any:
    """What the function `table` of a file returns."""
    from boundpaper.tables.spec import Table

    path = folder.root / "tables" / f"{name}.py"
    if not path.is_file():
        known = [each.stem for each in sorted(path.parent.glob("*.py"))]
        raise SpecError(f"no tables/{name}.py{or_known(name, known)}")
    file = f"tables/{name}.py"
    functions = loaded(path, file)
    if "table" not in functions:
        raise SpecError(f"{file}: no function table; write `def table(NAME_OF_DATA): return Table(...)`")
    made = called(functions["table"], file, path, data)
    if not isinstance(made, Table):
        raise SpecError(f"{file}: table() returned {type(made).__name__}; end it with `return Table(...)`")
    return made
