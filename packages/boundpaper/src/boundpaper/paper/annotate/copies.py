"""Recognise the reader's copies of documents among the files of a folder, by sentences or file names."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from boundpaper.errors import DataError
from boundpaper.store.sentences import DocumentSentence, sentences
from boundpaper.store.text_file import text_of

SUFFIXES = (".md", ".markdown", ".txt")
SHARE = 0.2  # least fraction of a document's recorded statements in a file that is recognised as the document


@dataclass(frozen=True)
class DocumentCopy:
    """A file recognised as a document: the document's key, the file name, lines and sentences."""

    document: str
    file: str
    lines: tuple[str, ...]
    sentences: tuple[DocumentSentence, ...]


def copies(folder: Path, anchors: Mapping[str, Collection[str]]) -> tuple[list[DocumentCopy], list[str]]:
    """Return the documents among the files of a folder, and the names of the other files.

    A file is recognised as the document of which it contains the largest fraction of recorded statements, if at least a
    fifth; else as the document whose key begins the file's name. `anchors` has the recorded hashes of statements by
    document key. Raises DataError when the folder is missing, a file is not UTF-8 text, two files are the same
    document, or no file is a document.
    """
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder; give the folder with your copies of the documents")
    by_source: dict[str, DocumentCopy] = {}
    others = []
    for path in sorted(path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES and path.is_file()):
        text = "\n".join(text_of(Path(), str(path)).splitlines())
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
        raise DataError(f"{folder}: no file here is a judged document; those are {known}")
    return [by_source[key] for key in anchors if key in by_source], others


def _recognised_document(hashes: Collection[str], anchors: Mapping[str, Collection[str]]) -> str:
    shares = {key: sum(each in hashes for each in set(own)) / len(set(own)) for key, own in anchors.items() if own}
    best = max(shares, key=lambda key: shares[key], default="")
    return best if best and shares[best] >= SHARE else ""


def _source_key(name: str, known: Collection[str]) -> str:
    fitting = [key for key in known if re.match(rf"{re.escape(key)}(?![0-9A-Za-z])", name)]
    return max(fitting, key=len, default="")
