"""Recognise a reader's copies of documents among the files of a folder, by their sentences or names."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from boundpaper.errors import DataError
from boundpaper.store.sentences import DocumentSentence, sentences
from boundpaper.store.text_file import text_of

SUFFIXES = (".md", ".markdown", ".txt")
SHARE = 0.2  # least fraction of a document's recorded statements that a file must contain to be recognised


@dataclass(frozen=True)
class DocumentCopy:
    """A file recognised as a document: the document's key, the file name, lines and sentences."""

    document: str
    file: str
    lines: tuple[str, ...]
    sentences: tuple[DocumentSentence, ...]


def copies(folder: Path, anchors: Mapping[str, Collection[str]]) -> tuple[list[DocumentCopy], list[str]]:
    """Return the documents among the files of a folder, and the names of the other files.

    A file is recognised by its text if it contains at least the fraction `SHARE` of a document's recorded statements,
    else by its name, if this begins with a document's key. `anchors` has the hashes of the recorded statements by the
    document's key. Raises DataError when the folder is missing, a file is not UTF-8 text, two files are the same
    document, or no file is a document.
    """
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder; give the folder with your copies of the documents")
    copy_by_key: dict[str, DocumentCopy] = {}
    other_files = []
    for path in sorted(path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES and path.is_file()):
        text = "\n".join(text_of(Path(), str(path)).splitlines())
        copy = DocumentCopy("", path.name, tuple(text.split("\n")), tuple(sentences(text)))
        key = _document_with_sentences(copy, anchors) or _document_in_name(path.name, anchors)
        if not key:
            other_files.append(path.name)
        elif key in copy_by_key:
            raise DataError(
                f"{folder}: {copy_by_key[key].file} and {path.name} are both document {key}; keep one of them"
            )
        else:
            copy_by_key[key] = replace(copy, document=key)
    if not copy_by_key:
        names = ", ".join(f"{key}*{SUFFIXES[0]}" for key in anchors)
        raise DataError(f"{folder}: no file here is a judged document; give copies names like {names}")
    return [copy_by_key[key] for key in anchors if key in copy_by_key], other_files


def _document_with_sentences(copy: DocumentCopy, anchors: Mapping[str, Collection[str]]) -> str:
    hashes = {sentence.anchor for sentence in copy.sentences}
    recorded_hashes = {key: set(anchors_of_key) for key, anchors_of_key in anchors.items() if anchors_of_key}
    shares = {key: len(hashes & recorded) / len(recorded) for key, recorded in recorded_hashes.items()}
    best_key = max(shares, key=lambda key: shares[key], default="")
    return best_key if best_key and shares[best_key] >= SHARE else ""


def _document_in_name(name: str, keys: Collection[str]) -> str:
    matches = [key for key in keys if re.match(rf"{re.escape(key)}(?![0-9A-Za-z])", name)]
    return max(matches, key=len, default="")
