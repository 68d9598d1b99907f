"""Texts to capture on: a file, a folder, JSON lines, a data set of the Hub, or an installed set; read one by one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.models import text_sets
from analysis.models.libraries import need
from artifacts.errors import DataError
from artifacts.store.json_lines import values
from artifacts.store.validation import short, short_words


@dataclass(frozen=True)
class Document:
    """One document as token ids.

    Parameters
    ----------
    number : int
        Its place in the source, from 0: the `example_id` of its vectors.
    name : str
        Its id in the source.
    digest : str
        BLAKE2 of the text, 32 hexadecimal digits.
    tokens : tuple of int
        Exactly as many as the context.
    """

    number: int
    name: str
    digest: str
    tokens: tuple[int, ...]


@dataclass(frozen=True)
class Source:
    """Where texts come from.

    Parameters
    ----------
    place : str
        A .txt file (one document), a folder of .txt files (one each, by name), a .jsonl file (one per line), a Hub
        data set as OWNER/NAME, OWNER/NAME:CONFIGURATION, or a set of `text_sets` as NAME, NAME:PART.
    field : str
        The field that holds the text, in JSON lines and Hub data sets.
    split : str
        The split of a Hub data set.
    """

    place: str
    field: str = "text"
    split: str = "train"


def texts(source: Source) -> Iterator[tuple[str, str]]:
    """Names and texts of a source, in order.

    Raises
    ------
    DataError
        When the source is absent, empty or malformed; the message names the line.
    """
    path, named = Path(source.place), text_sets.split(source.place)
    if named is not None:
        yield from text_sets.texts_of(*named)
    elif path.is_dir():
        files = sorted(path.glob("*.txt"))
        if not files:
            raise DataError(f"{path}: no .txt files in this folder")
        for file in files:
            yield file.stem, _text(file)
    elif path.suffix == ".jsonl" and path.is_file():
        yield from _lines(path, source.field)
    elif path.is_file():
        yield path.stem, _text(path)
    elif path.suffix or source.place.count("/") != 1 or path.is_absolute():
        raise DataError(
            f"{source.place}: no such file; give a .txt or .jsonl file, a folder, a Hub id OWNER/NAME, "
            f"or an installed set ({', '.join(text_sets.SETS)})"
        )
    else:
        yield from _hub(source)


def count(source: Source) -> int | None:
    """How many texts a local source holds; None for what is read as it streams: the Hub, and installed sets."""
    path = Path(source.place)
    if text_sets.split(source.place) is not None:
        return None
    if path.is_dir():
        return len(list(path.glob("*.txt")))
    if path.suffix == ".jsonl" and path.is_file():
        with path.open("rb") as stream:
            return sum(1 for line in stream if line.strip())
    return 1 if path.is_file() else None


def documents(
    source: Source, tokenizer: Any, context: int, *, windows: bool = False, skip_short: bool = False
) -> Iterator[Document]:
    """Documents of exactly `context` tokens: the first ones of each text, special tokens included.

    Parameters
    ----------
    source : Source
        Where the texts come from.
    tokenizer : PreTrainedTokenizer
        The model's own.
    context : int
        Tokens of a document.
    windows : bool
        Cut a text into as many consecutive documents as it gives, and leave its rest.
    skip_short : bool
        Pass over texts that are shorter, in place of the error.

    Raises
    ------
    DataError
        When a text is shorter than the context, or no text is long enough.
    """
    number, longest = 0, 0
    for index, (name, text) in enumerate(texts(source)):
        tokens = tokenizer(text, verbose=False)["input_ids"]
        longest = max(longest, len(tokens))
        if len(tokens) < context:
            if not skip_short and not tokens:
                raise DataError(
                    f"{source.place}: text {name} is empty (0 tokens); remove it, or give --skip-short to pass over it"
                )
            if not skip_short:
                raise DataError(
                    f"{source.place}: text {name} has {len(tokens)} tokens, fewer than the context of {context}; "
                    f"give --context {len(tokens)} or less, longer texts, or --skip-short to pass over it"
                )
            continue
        digest = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
        if not windows:
            yield Document(index, name, digest, tuple(tokens[:context]))
            continue
        for part in range(len(tokens) // context):
            yield Document(number, f"{name}#{part}", digest, tuple(tokens[part * context : (part + 1) * context]))
            number += 1
    if longest < context:
        what = f"the longest text has {longest} tokens, fewer than the context of {context}" if longest else "no texts"
        raise DataError(f"{source.place}: {what}")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 at byte {error.start}; convert it") from None


def _lines(path: Path, field: str) -> Iterator[tuple[str, str]]:
    for where, row in values(path):
        number = int(where.rpartition(":")[2])
        yield _document(row, field, where, number - 1)


def _document(row: Any, field: str, where: str, number: int) -> tuple[str, str]:
    """Name and text of a row; what is no text is no document, and is never written out as one."""
    if not isinstance(row, dict) or field not in row:
        have = ", ".join(map(str, row)) if isinstance(row, dict) else type(row).__name__
        raise DataError(
            f"{where}: no text field {field!r} (it has: {short_words(have)}); `capture` takes its name from --field"
        )
    if not isinstance(row[field], str):
        raise DataError(f"{where}: {field!r} is {short(row[field])}, not a text; mend or remove the line")
    return str(row.get("id", row.get("_id", number))), row[field]


def _hub(source: Source) -> Iterator[tuple[str, str]]:
    library = need("datasets", f"to read texts from the Hub data set {source.place}")
    name, _, configuration = source.place.partition(":")
    try:
        rows = library.load_dataset(name, configuration or None, split=source.split, streaming=True)
        for index, row in enumerate(rows):
            yield _document(row, source.field, f"{source.place}: row {index + 1}", index)
    except DataError:
        raise
    except Exception as error:  # the library raises many kinds; all mean that the texts cannot be had
        said = (str(error) or type(error).__name__).splitlines()[0]
        raise DataError(
            f"{source.place}: the Hub data set cannot be read ({said}); check the id and the connection, or give a "
            "local .jsonl file"
        ) from error
