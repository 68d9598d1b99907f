"""Hash the texts and items that an experiment gave to a model: equal hashes mean equal texts and items."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from keyquery.tasks.items import Book, Item

Hashes = dict[str, dict[str, Any]]


@dataclass
class UsageRecord:
    """Digests of the texts that were used, by kind or source, and of the items that were used, by task."""

    texts: dict[str, set[str]] = field(default_factory=dict)
    items: dict[str, set[str]] = field(default_factory=dict)

    def add_texts(self, kind: str, contents: Iterable[str]) -> None:
        """Record texts; `kind` is one of the book's kinds, or the name of the user's source."""
        self.texts.setdefault(kind, set()).update(map(_digest, contents))

    def add_items(self, items: Iterable[Item]) -> None:
        """Record the prompt, answer and options of each item."""
        for item in items:
            self.items.setdefault(item.task, set()).add(_digest("\0".join((item.prompt, item.answer, *item.options))))

    def clear(self) -> None:
        """Forget everything, for the next experiment."""
        self.texts.clear()
        self.items.clear()

    def record(self) -> dict[str, Hashes]:
        """Return, for a manifest, the count and a BLAKE2 hash of the texts of each kind and the items of each task."""
        return {
            label: {
                name: {"count": len(digests), "blake2": _digest("".join(sorted(digests)))}
                for name, digests in digests_by_name.items()
            }
            for label, digests_by_name in (("texts", self.texts), ("items", self.items))
        }


@dataclass
class RecordingBook:
    """A book that records the items and texts taken from it."""

    book: Book
    used: UsageRecord
    name: str = field(init=False)

    def __post_init__(self) -> None:
        self.name = self.book.name

    def tasks(self) -> Sequence[str]:
        """Return the tasks of the book."""
        return self.book.tasks()

    def kinds(self) -> Sequence[str]:
        """Return the kinds of texts of the book."""
        return self.book.kinds()

    def items(self, task: str, count: int, seed: int, tokenizer: Any, **prompt_options: Any) -> list[Item]:
        """Return items of the book and record them; `prompt_options` may have `length`, `depth` and `form`."""
        book_items = self.book.items(task, count, seed, tokenizer, **prompt_options)
        self.used.add_items(book_items)
        return book_items

    def texts(self, kind: str, count: int, tokens: int, seed: int, tokenizer: Any) -> list[str]:
        """Return texts of the book and record them."""
        book_texts = self.book.texts(kind, count, tokens, seed, tokenizer)
        self.used.add_texts(kind, book_texts)
        return book_texts


def _digest(content: str) -> str:
    return hashlib.blake2b(content.encode(), digest_size=16).hexdigest()
