"""Tables in the author's class: `tables/NAME.py` as in a project of chapters, set as wide as the author's columns."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from boundpaper.adopt.cells import Data, Grid
from boundpaper.adopt.folder import Folder
from boundpaper.errors import SpecError, ThesisError
from boundpaper.near import or_known

if TYPE_CHECKING:
    import pandas as pd

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
    """What the function `table` of a file returns, given the tables that its parameters name."""
    import importlib.util
    import inspect
    import sys

    from boundpaper.tables.spec import Table

    path = folder.root / "tables" / f"{name}.py"
    if not path.is_file():
        known = [each.stem for each in sorted(path.parent.glob("*.py"))]
        raise SpecError(f"no tables/{name}.py{or_known(name, known)}")
    described = importlib.util.spec_from_file_location(f"adopted_tables_{name}", path)
    assert described is not None
    assert described.loader is not None
    module = importlib.util.module_from_spec(described)
    sys.dont_write_bytecode = True
    try:
        described.loader.exec_module(module)
        function = module.table
        wanted = [each.name for each in inspect.signature(function).parameters.values() if each.default is each.empty]
        grids = {each.replace("-", "_").replace(".", "_"): grid for each, grid in data.grids.items()}
        for each in wanted:
            if each not in grids:
                raise SpecError(f"tables/{name}.py: no table of rows called {each}{or_known(each, grids)}")
        made = function(**{each: frame(grids[each]) for each in wanted})
    except ThesisError:
        raise
    except Exception as error:  # the author's own code may raise anything
        line = _line(error, str(path))
        raise SpecError(f"tables/{name}.py{line}: {type(error).__name__}: {error}") from None
    if not isinstance(made, Table):
        raise SpecError(f"tables/{name}.py: table() returned {type(made).__name__}; end it with `return Table(...)`")
    return made


def _line(error: BaseException, path: str) -> str:
    import traceback

    lines = [each.lineno for each in traceback.extract_tb(error.__traceback__) if each.filename == path]
    if isinstance(error, SyntaxError):
        lines.append(error.lineno)
    return f":{lines[-1]}" if lines else ""


def frame(grid: Grid) -> pd.DataFrame:
    """A table of rows as a frame: a column is one of numbers where all that it holds are."""
    import pandas as pd

    columns = {}
    for column in grid.columns:
        cells = [row[column] for row in grid.rows.values()]
        held = [cell for cell in cells if cell.text]
        if held and all(cell.number is not None for cell in held):
            whole = all(re.fullmatch(r"[-+]?\d+", cell.text) for cell in cells)
            columns[column] = [int(cell.text) if whole else float(cell.text or "nan") for cell in cells]
        else:
            columns[column] = [cell.text for cell in cells]  # type: ignore[misc]
    return pd.DataFrame(columns)
