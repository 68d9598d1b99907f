"""Define `Job`, which tells a builder what to build."""

from __future__ import annotations

import importlib
import itertools
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boundpaper.errors import SpecError, ThesisError
from boundpaper.places import put_steps_first
from boundpaper.suggestions import similar_names

if TYPE_CHECKING:
    import pandas as pd


_QUOTED = re.compile(r"[^'\"\[\](),]+")

MOST_NAMED = 5  # most artifacts that a message names
_TYPESETTING_KINDS = frozenset({"table", "figure", "chapter"})
_EXAMINING_KINDS = frozenset({"result", "claim"})


def _ignore_note(text: str) -> None:
    """Discard a note; this function is the default of `Job.note`."""


@dataclass(frozen=True)
class Job:
    """A step to build.

    All paths are relative to `root`, the project's folder. `function` is empty for steps that are not Python functions,
    `artifacts` has the file or folder of each artifact that the step reads, and `inputs` are all files that it depends
    on. A builder calls `note` with a line to report.
    """

    root: Path
    kind: str
    name: str
    file: str
    function: str = ""
    artifacts: Mapping[str, str] = field(default_factory=dict)
    inputs: tuple[str, ...] = ()
    line: int = 1
    note: Callable[[str], None] = field(default=_ignore_note, compare=False)

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return every artifact of the step as a DataFrame, by name.

        Steps that typeset text get armoured text (`boundpaper.typeset.armour`). Studies and claims get source rows only
        of the documents that they are about (`boundpaper.store.documents`).
        """
        from boundpaper.store.reader import read
        from boundpaper.typeset import armour

        frames = {name: read(self.root, name) for name in self.artifacts}
        if self.kind in _TYPESETTING_KINDS:
            return {name: armour.frame(frame) for name, frame in frames.items()}
        return self._examined_rows(frames) if self.kind in _EXAMINING_KINDS else frames

    def _examined_rows(self, frames: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
        """Return the frames: sources without rows on documents outside the step's group, results with all rows."""
        from boundpaper.store.documents import THESIS, document_scope
        from boundpaper.store.paper_vocabulary import read as vocabulary

        sources = {name for name, path in self.artifacts.items() if path.startswith("artifacts/sources/")}
        if not sources:
            return frames
        statement = getattr(self.load(), "stated", None)
        scope = document_scope(self.root, statement.document if statement else THESIS)
        tables = [named for named in vocabulary(self.root).named if named.table in frames]
        foreign_keys = {named.key: scope.foreign_keys(frames[named.table], named.key) for named in tables}
        examined = {name: scope.examined(frames[name], foreign_keys) for name in frames if name in sources}
        return frames | examined

    def load(self) -> Callable[..., Any]:
        """Import the step's file and return its function."""
        put_steps_first(self.root)  # needed again in each worker process
        module = importlib.import_module(self.file.removesuffix(".py").replace("/", "."))
        try:
            function = getattr(module, self.function)
        except AttributeError:
            raise SpecError(f"{self.file}: no function {self.function}(); define it") from None
        if not callable(function):
            raise SpecError(f"{self.file}: {self.function} is not a function; define it with def")
        return function  # type: ignore[no-any-return]

    def call(self) -> Any:
        """Call the step's function with its artifacts and return the result.

        Raises what the function raises. A KeyError gets a note that lists the existing columns; any other error that is
        not a ThesisError gets a note that lists the artifacts, since one of them may be the cause.
        """
        import pandas as pd

        function, frames = self.load(), self.frames()
        try:
            with pd.option_context("mode.string_storage", "python"):  # faster for small tables than Arrow
                return function(**frames)
        except KeyError as error:
            error.add_note(_column_list(error, frames) or _artifact_list(frames))
            raise
        except ThesisError:
            raise
        except Exception as error:
            error.add_note(_artifact_list(frames))
            raise

    def artifact_with(self, message: str) -> str:
        """Return which artifact contains a text that a message quotes; empty if the message names an artifact."""
        from boundpaper.store.reader import read

        if not self.function or any(name in message for name in self.artifacts):
            return ""
        quoted_texts = set(re.findall(r"'([^']+)'", message))
        columns = set(re.findall(r"\b(\w+)='", message))  # `pick` quotes them if a row is absent
        for name in self.artifacts:
            with suppress(ThesisError):
                frame = read(self.root, name)
                if columns and not columns <= {*frame.columns}:
                    continue
                for column in frame.select_dtypes(exclude="number"):
                    if common := quoted_texts & set(map(str, frame[column].unique())):
                        return f" ({min(common)!r} is in {name}, column {column})"
        return ""


def _artifact_list(frames: Mapping[str, pd.DataFrame]) -> str:
    """Return a note that names the first artifacts that a step reads, and counts the others."""
    more = f" and {len(frames) - MOST_NAMED} more" if len(frames) > MOST_NAMED else ""
    return f"; it reads {', '.join(list(frames)[:MOST_NAMED])}{more}" if frames else ""


def _column_list(error: KeyError, frames: Mapping[str, pd.DataFrame]) -> str:
    """Return a note with the columns of the only frame, or of the frame with a column named like the missing column."""
    missing_words = [word for argument in error.args for word in _QUOTED.findall(repr(argument))]
    columns = {name: [str(column) for column in frame.columns] for name, frame in frames.items()}
    for word in missing_words:
        for column in similar_names(word, itertools.chain(*columns.values()), most=1):
            name = next(name for name, names in columns.items() if column in names)
            return f"; {name} has the columns {', '.join(columns[name])}; did you mean {column!r}?"
    if len(columns) != 1:
        return ""
    ((name, names),) = columns.items()
    return f"; {name} has the columns {', '.join(names)}"
