"""Recognise the reader's copies of the documents: files of a folder, by their sentences or their names."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from boundpaper.errors import DataError
from boundpaper.store.sentences import DocumentSentence, sentences
from boundpaper.store.text_file import text_of

SUFFIXES = (".md", ".markdown", ".txt")
SHARE = 0.2  # of a document's recorded statements, which a file must hold to be taken for it


@dataclass(frozen=True)
class DocumentCopy:
    """A file recognised as a document: its key, its name, its lines and its sentences."""

    document: str
    file: str
    lines: tuple[str, ...]
    sentences: tuple[DocumentSentence, ...]


def copies(folder: Path, anchors: Mapping[str, Collection[str]]) -> tuple[list[DocumentCopy], list[str]]:
    """Return the documents among the files of a folder, and the names of the other files.

    A file is taken for the document of whose recorded statements it holds the largest share, if that is at least a
    fifth; else for the document whose key its name begins with. `anchors` has the hashes of each document's statements
    as recorded, by the document's key. Raises DataError when the folder is missing, a file is not UTF-8 text, two files
    are the same document, or none is any.
    """
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder; give the one that holds your copies of the documents")
    by_source: dict[str, DocumentCopy] = {}
    others = []
    for path in sorted(path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES and path.is_file()):
        text = _file_text(path)
        parts = tuple(sentences(text))
        key = _recognised_document({part.anchor for part in parts}, anchors) or _source_key(path.name, anchors)
        if not key:
            others.append(path.name)
        elif key in by_source:
            raise DataError(
                f"{folder}: {by_source[key].file} and {path.name} are both document {key}; keep one of them"
            )
        else:
            by_source[key] = DocumentCopy(key, path.name, tuple(text.split("\n")), parts)
    if not by_source:
        known = ", ".join(f"{key}*{SUFFIXES[0]}" for key in anchors)
        raise DataError(f"{folder}: its files include no document that is judged here; those are {known}")
    return [by_source[key] for key in anchors if key in by_source], others


def _file_text(path: Path) -> str:
    return "\n".join(text_of(Path(), str(path)).splitlines())


def _recognised_document(held: Collection[str], anchors: Mapping[str, Collection[str]]) -> str:
    shares = {key: sum(each in held for each in set(own)) / len(set(own)) for key, own in anchors.items() if own}
    best = max(shares, key=lambda key: shares[key], default="")
    return best if best and shares[best] >= SHARE else ""


def _source_key(name: str, known: Collection[str]) -> str:
    fitting = [key for key in known if re.match(rf"{re.escape(key)}(?![0-9A-Za-z])", name)]
    return max(fitting, key=len, default="")
