"""Read the texts for a capture one by one, from a file, a folder, a Hub data set or an installed set."""

import functools
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boundpaper.errors import DataError
from boundpaper.suggestions import suggest
from keyquery.models import text_sets
from keyquery.models.libraries import need
from keyquery.models.text_files import text_of_row, texts_of_file


@dataclass(frozen=True)
class TokenizedDocument:
    """One document as token ids.

    `number` is the document's index in the source, from 0, and the `example_id` of its vectors. `digest` is the BLAKE2
    hash of the text, with 32 hexadecimal digits.
    """

    number: int
    name: str
    digest: str
    tokens: tuple[int, ...]


@dataclass(frozen=True)
class TextSource:
    """A source of texts.

    Parameters
    ----------
    path_or_id : str
        A file (see `text_files`), a folder of .txt files (one text each, in the order of their names), a Hub data set
        as OWNER/NAME or OWNER/NAME:CONFIGURATION, or a set of `text_sets` as NAME or NAME:PART.
    field : str
        The field with the text, in JSON, tables and Hub data sets.
    split : str
        The split of a Hub data set.
    """

    path_or_id: str
    field: str = "text"
    split: str = "train"

    @property
    def path(self) -> Path | None:
        """Path of the file or folder; None if it is missing or the source is of another kind."""
        path = Path(self.path_or_id)
        return path if text_sets.split_set_name(self.path_or_id) is None and path.exists() else None

    @property
    def shown(self) -> str:
        """`path_or_id` in the form for publication: only the name, if it is a file or folder."""
        path = Path(self.path_or_id)
        return path.name if self.path is not None or path.is_absolute() else self.path_or_id

    @functools.cached_property
    def digest(self) -> str | None:
        """BLAKE2 hash of the files' names and bytes, in 32 hexadecimal digits; None unless files are the source."""
        if self.path is None:
            return None
        state = hashlib.blake2b(digest_size=16)
        for file in _text_files(self.path) if self.path.is_dir() else [self.path]:
            with file.open("rb") as stream:
                state.update(f"{file.name} {hashlib.file_digest(stream, 'sha256').hexdigest()}\n".encode())
        return state.hexdigest()


def texts(source: TextSource) -> Iterator[tuple[str, str]]:
    """Yield the name and text of each text of a source, in order.

    Raises DataError if the source is missing, empty or malformed.
    """
    path, set_name = Path(source.path_or_id), text_sets.split_set_name(source.path_or_id)
    if set_name is not None:
        yield from text_sets.texts_of(*set_name)
    elif path.is_dir():
        for file in _text_files(path):
            yield from texts_of_file(file, source.field)
    elif path.is_file():
        yield from texts_of_file(path, source.field)
    elif _is_on_hub(source):
        yield from _hub_texts(source)
    else:
        raise DataError(
            f"{source.path_or_id}: no such file; {suggest(source.path_or_id, text_sets.SETS)}give a file of text, "
            "JSON, JSON lines or a table, a folder of .txt files, a Hub id OWNER/NAME, or an installed set "
            f"({', '.join(text_sets.SETS)})"
        )


def is_local(source: TextSource) -> bool:
    """Return whether a source can be read without network access."""
    return source.path is not None or text_sets.split_set_name(source.path_or_id) is not None


def require_source(source: TextSource) -> None:
    """Raise DataError if a file or folder is missing, or its first text malformed; sets and the Hub are not read."""
    if text_sets.split_set_name(source.path_or_id) is None and not _is_on_hub(source):
        next(texts(source), None)


def _is_on_hub(source: TextSource) -> bool:
    path = Path(source.path_or_id)
    return not (path.exists() or path.suffix or path.is_absolute()) and source.path_or_id.count("/") == 1


def shortage_message(source: TextSource, count: int, limit: int, *, windows: bool) -> str:
    """Return the error message for a source with `count` documents, fewer than the requested `limit`."""
    advice = "" if windows else "--windows cuts long texts into several, "
    return (
        f"{source.shown}: {count} document{'s' * (count != 1)} of this context, and {limit} are asked; {advice}"
        f"--documents {count} asks for no more than there are, and --fewer accepts fewer"
    )


def documents(
    source: TextSource,
    tokenizer: Any,
    context: int,
    *,
    windows: bool = False,
    skip_short: bool = False,
    keep_short: bool = False,
) -> Iterator[TokenizedDocument]:
    """Yield documents of `context` tokens: the first tokens of each text, special tokens included.

    `windows` cuts a text into as many consecutive documents as possible, and drops the tokens that remain; each
    document has the special tokens that the model's `tokenizer` adds to a text, and these count towards the context.
    `skip_short` skips shorter texts instead of raising an error. `keep_short` yields a shorter text, or the remaining
    tokens of a text cut into windows, as a document of fewer tokens. Raises DataError when a text is empty or shorter
    than the context, or no text is long enough.
    """
    number, longest = 0, 0
    for index, (name, text) in enumerate(texts(source)):
        tokens = tokenizer(text, verbose=False)["input_ids"]
        longest = max(longest, len(tokens))
        if not tokens and not skip_short:
            raise DataError(f"{source.path_or_id}: text {name} is empty (0 tokens); remove it, or give --skip-short")
        if len(tokens) < context and not keep_short:
            if not skip_short:
                raise DataError(
                    f"{source.path_or_id}: text {name} has {len(tokens)} tokens, fewer than the context of {context}; "
                    f"give --context {len(tokens)} or less, --skip-short to skip it, or --keep-short to take it whole"
                )
            continue
        digest = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
        if not windows:
            yield TokenizedDocument(index, name, digest, tuple(tokens[:context]))
            continue
        prefix, body, suffix = _split_special_tokens(tokenizer, text, tokens, source.path_or_id)
        size = context - len(prefix) - len(suffix)
        if size < 1:
            raise DataError(
                f"a context of {context} tokens has no room for text beside the {len(prefix) + len(suffix)} that the "
                "tokenizer adds to every text; give a longer --context"
            )
        for window in range(-(-len(body) // size) if keep_short else len(body) // size):
            window_tokens = (*prefix, *body[window * size : (window + 1) * size], *suffix)
            yield TokenizedDocument(number, f"{name}#{window}", digest, window_tokens)
            number += 1
    if longest < (1 if keep_short else context):
        fault = f"the longest text has {longest} tokens, fewer than the context of {context}" if longest else "no texts"
        raise DataError(f"{source.path_or_id}: {fault}; give {f'--context {longest} or less' if longest else 'texts'}")


def _split_special_tokens(
    tokenizer: Any, text: str, tokens: list[int], path_or_id: str
) -> tuple[tuple[int, ...], list[int], tuple[int, ...]]:
    """Split a text's `tokens` into the special tokens before the text, the text's own tokens, and those after it."""
    body = list(tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])
    for start in range(len(tokens) - len(body) + 1):
        if list(tokens[start : start + len(body)]) == body:
            return tuple(tokens[:start]), body, tuple(tokens[start + len(body) :])
    raise DataError(
        f"{path_or_id}: the tokenizer splits texts differently when it adds special tokens, so they cannot be added "
        "to windows; leave --windows out, and give texts of the context's length"
    )


def _text_files(folder: Path) -> list[Path]:
    """Return the text files of a folder, sorted by name; skip hidden files, and raise DataError for other files."""
    paths = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    if other_paths := [path for path in paths if path.suffix.lower() != ".txt" or not path.is_file()]:
        fault = "is a folder" if other_paths[0].is_dir() else "is not a .txt file"
        raise DataError(
            f"{folder}: {other_paths[0].name} {fault} ({len(other_paths)} such), and a folder of texts holds .txt "
            "files alone; move it away, or give one file"
        )
    if not paths:
        raise DataError(f"{folder}: no .txt files in this folder; give a file of texts, or a folder with some")
    return paths


def _hub_texts(source: TextSource) -> Iterator[tuple[str, str]]:
    library = need("datasets", f"to read texts from the Hub data set {source.path_or_id}")
    name, _, configuration = source.path_or_id.partition(":")
    try:
        rows = library.load_dataset(name, configuration or None, split=source.split, streaming=True)
        for index, row in enumerate(rows):
            yield text_of_row(row, source.field, f"{source.path_or_id}: row {index + 1}", index)
    except DataError:
        raise
    except Exception as error:  # the library raises many kinds of errors
        message = (str(error) or type(error).__name__).splitlines()[0]
        raise DataError(
            f"{source.path_or_id}: the Hub data set cannot be read ({message}); check the id and the connection, or "
            "give a local .jsonl file"
        ) from error
