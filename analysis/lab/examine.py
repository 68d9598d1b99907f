"""How a tiny model does on items: the share of answers that its own continuation would give, word by word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.lab.book import BOOK, KEYED
from analysis.lab.documents import IDS
from analysis.lab.recipe import Recipe
from analysis.models.libraries import need
from analysis.tasks.items import Item

if TYPE_CHECKING:
    from transformers import PreTrainedModel

TOKENS = 8192  # of a forward pass, at most
SEED = 1_000_000  # of the items here; experiments have small ones
MULTIPLES = {"0.5x": 0.5, "1x": 1.0, "1.5x": 1.5, "2x": 2.0, "4x": 4.0}
LONG = tuple(name for name, multiple in MULTIPLES.items() if multiple >= 1)
TASKS = tuple(task for task in BOOK.tasks() if task != "ranking")  # whose questions are those of `verification`


@dataclass(frozen=True)
class Score:
    """Right answers of a task, in a prompt so many times as long as in training.

    Parameters
    ----------
    task : str
    length : str
        A name of `MULTIPLES`, or `bare` for a question without filler.
    count, n : int
        Right answers, and items.
    """

    task: str
    length: str
    count: int
    n: int

    @classmethod
    def named(cls, name: str, count: int, n: int) -> Score:
        """The score whose `name` is given."""
        task, _, length = name.rpartition("_")
        return cls(task, length, count, n) if length in MULTIPLES else cls(name, "bare", count, n)

    @property
    def name(self) -> str:
        """Name among metrics: `passkey_2x`, and `cities` for a bare question."""
        return self.task if self.length == "bare" else f"{self.task}_{self.length}"

    @property
    def share(self) -> float:
        """Share right."""
        return self.count / self.n

    def interval(self) -> tuple[float, float]:
        """Wilson's interval of 95 % (Wilson 1927)."""
        from statsmodels.stats.proportion import proportion_confint

        low, high = proportion_confint(self.count, self.n, method="wilson")
        return float(low), float(high)


def look(model: PreTrainedModel, recipe: Recipe) -> list[Score]:
    """All tasks on few items: bare questions, keys at the training length; and keys at one and a half and twice it."""
    scores = [score(model, task, "1x" if task in KEYED else "bare", recipe.items, recipe.length) for task in TASKS]
    return [*scores, *(score(model, "passkey", name, recipe.items, recipe.length) for name in ("1.5x", "2x"))]


def final(model: PreTrainedModel, recipe: Recipe) -> list[Score]:
    """All tasks, bare and behind filler, up to four times the training length."""
    return [
        score(model, task, name, recipe.final, recipe.length)
        for task in TASKS
        for name in (MULTIPLES if task in KEYED else ("bare", *LONG))
    ]


def score(model: PreTrainedModel, task: str, length: str, count: int, training_length: int) -> Score:
    """Ask `count` items of a task at a length."""
    tokens = None if length == "bare" else round(MULTIPLES[length] * training_length)
    found = right(model, BOOK.items(task, count, SEED, None, length=tokens))
    return Score(task, length, sum(found), len(found))


def right(model: PreTrainedModel, items: Sequence[Item]) -> list[bool]:
    """Whether each item is answered exactly by greedy decoding over the whole vocabulary.

    One pass with the answer in place tells: greedy decoding gives the answer exactly when every word of it is the
    most likely after the words before it.
    """
    torch = need("torch")
    found: list[bool] = []
    prompts = [[IDS[word] for word in ("<s>", *item.prompt.split())] for item in items]
    answers = [[IDS[word] for word in item.answer.split()] for item in items]
    longest = max(len(prompt) + len(answer) for prompt, answer in zip(prompts, answers, strict=True))
    rows = max(1, TOKENS // longest)
    with torch.no_grad():
        for start in range(0, len(items), rows):
            part = list(zip(prompts, answers, strict=True))[start : start + rows]
            # Padding stands on the right, where no earlier token can see it.
            inputs = [[*prompt, *answer, *[IDS["<pad>"]] * longest][:longest] for prompt, answer in part]
            best = model(torch.tensor(inputs)).logits.argmax(-1)
            for row, (prompt, answer) in zip(best, part, strict=True):
                found.append(row[len(prompt) - 1 : len(prompt) - 1 + len(answer)].tolist() == answer)
    return found
