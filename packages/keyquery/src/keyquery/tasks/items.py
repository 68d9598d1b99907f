"""Define items: a prompt, the right answer, and facts needed to judge an answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from boundpaper.errors import DataError

TASKS = ("cities", "sports", "sentiment", "passkey")
YES, NO = "yes", "no"


class Unwritable(DataError):
    """A tokenizer cannot encode an item's answer."""


@dataclass(frozen=True)
class Item:
    """One question to a model.

    Parameters
    ----------
    id : str
        Name, such as `cities-0007`, that is the same in all runs and models, so that results can be paired by it.
    task : str
        Name of the task.
    prompt : str
        Text that the model continues, without the beginning token, which the tokenizer adds.
    answer : str
        The right answer.
    options : tuple of str
        All possible answers, such as `("yes", "no")`; empty for an open question.
    facts : mapping
        Further facts for experiments, as plain JSON values: `depth` (0 to 1) and `length` (tokens) of a passkey
        prompt, `form` of the prompt, `subject`, `property` and `group` of a statement.
    """

    id: str
    task: str
    prompt: str
    answer: str
    options: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def chance(self) -> float:
        """Share of right answers when guessing among the options; 0 if the answer is open."""
        return 1 / len(self.options) if self.options else 0.0


class Book(Protocol):
    """A source of items and texts in one language.

    All methods are deterministic: the same call returns the same items in every process.
    """

    @property
    def name(self) -> str:
        """Name of the language in manifests."""
        ...

    def tasks(self) -> Sequence[str]:
        """Return the task names that `items` takes."""
        ...

    def items(
        self,
        task: str,
        count: int,
        seed: int,
        tokenizer: Any,
        *,
        length: int | None = None,
        depth: float | None = None,
        form: str | None = None,
    ) -> list[Item]:
        """Return `count` items of a task.

        Passkey prompts take `length` (tokens of the whole prompt, including the beginning-of-sequence token), `depth`
        (0 to 1, or None for depths spread evenly over the items) and `form` (a name of the prompt's wording). Raises
        DataError if the task is unknown or the tokenizer cannot encode an answer.
        """
        ...

    def texts(self, kind: str, count: int, tokens: int, seed: int, tokenizer: Any) -> list[str]:
        """Return `count` texts of one kind, each of at least `tokens` tokens, of which the BOS token is one.

        Raises DataError when the kind is unknown.
        """
        ...

    def kinds(self) -> Sequence[str]:
        """Return the kinds of text that `texts` takes; the first is the default."""
        ...
