"""Load the author's functions from a file, and call them with the data that their parameters name."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boundpaper.adopt.cells import Data, DataTable
from boundpaper.errors import SpecError, ThesisError
from boundpaper.suggestions import or_known

if TYPE_CHECKING:
    import pandas as pd

Function = Callable[..., Any]


def load_functions(path: Path, file: str) -> dict[str, Function]:
    """Return a file's public functions by name, in the order of the file; raise SpecError if its code fails."""
    import importlib.util
    import inspect
    import sys

    spec = importlib.util.spec_from_file_location(re.sub(r"\W", "_", f"adopted_{file}"), path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    try:
        spec.loader.exec_module(module)
    except ThesisError:
        raise
    except Exception as error:  # the author's own code may raise anything
        raise _located_error(error, file, path) from None
    functions = {
        name: function
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and not name.startswith("_")
    }
    return dict(sorted(functions.items(), key=lambda pair: pair[1].__code__.co_firstlineno))


def call_function(function: Function, file: str, path: Path, data: Data) -> Any:
    """Call a function with the data that its parameters name: a DataFrame for a table, a dict for JSON.

    Raises SpecError, with file and line, when a parameter names no data or the function raises.
    """
    import inspect

    arguments = {}
    tables = {re.sub(r"\W", "_", name): name for name in data.addresses}
    parameters = inspect.signature(function).parameters
    for name in [name for name, parameter in parameters.items() if parameter.default is parameter.empty]:
        if name not in tables:
            raise SpecError(f"{file}: {function.__name__}: no data called {name}{or_known(name, tables)}")
        table = tables[name]
        arguments[name] = frame(data.tables[table]) if table in data.tables else leaf_values(data, table)
    try:
        return function(**arguments)
    except ThesisError as error:
        raise type(error)(f"{file}: {function.__name__}: {error}") from None
    except Exception as error:  # the author's own code may raise anything
        raise _located_error(error, file, path) from None


def _located_error(error: Exception, file: str, path: Path) -> SpecError:
    import traceback

    calls = traceback.extract_tb(error.__traceback__)
    line_numbers = [call.lineno for call in calls if call.filename == str(path)]
    if isinstance(error, SyntaxError):
        line_numbers.append(error.lineno)
    return SpecError(f"{file}{f':{line_numbers[-1]}' if line_numbers else ''}: {type(error).__name__}: {error}")


def leaf_values(data: Data, name: str) -> dict[str, float | str]:
    """Return the leaf values of a JSON file by path; numbers are floats, and all other values are text."""
    cells = (data.cells[address] for address in data.addresses[name])
    return {cell.address.partition("/")[2]: cell.text if cell.number is None else float(cell.number) for cell in cells}


def frame(table: DataTable) -> pd.DataFrame:
    """Return a table as a DataFrame; a column is numeric if all its filled cells are numbers."""
    import pandas as pd

    columns: dict[str, list[Any]] = {}
    for column in table.columns:
        cells = [row[column] for row in table.rows.values()]
        filled_cells = [cell for cell in cells if cell.text]
        if filled_cells and all(cell.number is not None for cell in filled_cells):
            are_whole = all(re.fullmatch(r"[-+]?\d+", cell.text) for cell in cells)
            columns[column] = [int(cell.text) if are_whole else float(cell.text or "nan") for cell in cells]
        else:
            columns[column] = [cell.text for cell in cells]
    return pd.DataFrame(columns)
