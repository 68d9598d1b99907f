"""Read the table of judged documents, and select from the source tables the rows that belong to a document.

Documents of one group report the same work and are judged on the same rows. A claim gets the rows of the group of the
document that its decorator names (`@claim("CODE, Section")`). The row `thesis` names the group that this thesis
examines: studies, and claims on the thesis itself, get the rows of this group.
"""

import functools
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from boundpaper.errors import DataError
from boundpaper.store.files import stamp_of
from boundpaper.store.paths import DOCUMENTS
from boundpaper.store.table_file import rows

THESIS = "thesis"
_CODE = re.compile(r"\d{3}")
_COLUMNS = ("document", "group", "title", "citation", "coverage")


@dataclass(frozen=True)
class JudgedDocument:
    """A row of the table of documents.

    Attributes
    ----------
    key : str
        Code of the document in claims and in the column `source` of sources.
    group : str
        Name of the group; its documents report the same work and are judged on the same rows.
    title, citation : str
        Title of the document, and its key in the bibliography.
    coverage : str
        `every section` if the table of coverage lists all sections of the document, else `claims`.
    """

    key: str
    group: str
    title: str
    citation: str
    coverage: str


def documents(root: Path) -> tuple[JudgedDocument, ...]:
    """Return the documents of a project in order, including `thesis`.

    Raises DataError when the table is missing or lacks a column.
    """
    try:
        return _read_documents(root / DOCUMENTS, stamp_of(root / DOCUMENTS))
    except FileNotFoundError:
        raise DataError(f"{DOCUMENTS} is missing; restore it, since it lists the judged documents") from None


@functools.lru_cache(maxsize=8)
def _read_documents(path: Path, stamp: tuple[int, int]) -> tuple[JudgedDocument, ...]:
    try:
        return tuple(JudgedDocument(*(row[name] for name in _COLUMNS)) for _, row in rows(path))
    except KeyError as error:
        raise DataError(f"{DOCUMENTS}: no column {error}; the table needs the columns {', '.join(_COLUMNS)}") from None


def judged_sources(root: Path) -> tuple[str, ...]:
    """Return the keys of the judged documents, except the thesis itself."""
    return tuple(document.key for document in documents(root) if document.key != THESIS)


@dataclass(frozen=True)
class DocumentScope:
    """The keys of the documents whose rows a step receives, and of all judged documents."""

    received_keys: frozenset[str]
    judged_keys: frozenset[str]

    def is_foreign(self, source: object) -> bool:
        """Return whether a `source` cell such as `005 T1` names a document whose rows the step does not receive.

        A three-digit code that is not in the table counts as such a document; a path in `data/` does not.
        """
        code = str(source).partition(" ")[0]
        return code not in self.received_keys and (code in self.judged_keys or bool(_CODE.fullmatch(code)))

    def foreign_keys(self, frame: pd.DataFrame, key: str) -> frozenset[str]:
        """Return the cells of the column `key` in the rows whose `source` cell `is_foreign`."""
        if not {"source", key} <= set(frame.columns):
            return frozenset()
        return frozenset(frame.loc[frame["source"].map(self.is_foreign).astype(bool), key])

    def examined(self, frame: pd.DataFrame, foreign_keys: Mapping[str, Collection[str]]) -> pd.DataFrame:
        """Return the rows of a source that a step receives, so that a new document changes no result about another.

        Left out are rows whose `source` cell `is_foreign`, and rows with a key in `foreign_keys`, which maps columns to
        keys.
        """
        mask = pd.Series(True, index=frame.index)
        if "source" in frame.columns:
            mask &= ~frame["source"].map(self.is_foreign).astype(bool)
        for column, keys in foreign_keys.items():
            if keys and column in frame.columns:
                mask &= ~frame[column].isin(keys)
        return frame if mask.all() else frame[mask].reset_index(drop=True)


def document_scope(root: Path, document: str = THESIS) -> DocumentScope:
    """Return the scope of steps about `document`, which receive the rows of all documents in its group.

    Raises DataError when the table has no such document.
    """
    groups = {judged.key: judged.group for judged in documents(root)}
    if document not in groups:
        raise DataError(
            f"no document {document!r} in {DOCUMENTS}, which has {', '.join(groups)}; add a row with its title"
        )
    return DocumentScope(
        frozenset(key for key, group in groups.items() if group == groups[document]), frozenset(groups)
    )
