"""Make needles in generated noise, the part of RULER that needs no download, with our own sentences, for any tokenizer.

The tasks follow the benchmark's needle tasks (Hsieh et al. 2024): a needle is placed at one of 40 depths of a
repetitive text; the prompt ends with a question about it and the beginning of the answer. Wording and noise differ
from the benchmark's, so the tasks have other names, and their scores are not part of any mean of its 13 tasks.
"""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from boundpaper.errors import DataError

TASKS = ("noise_single", "noise_multikey", "noise_multivalue", "noise_multiquery")
MEAN = "mean_noise_4"
NEW_TOKENS = 128
DEPTHS = tuple(int(depth) for depth in np.round(np.linspace(0, 100, 40)))
SEED = 42
MANY = 4  # number of keys, of values per key, and of requested keys in tasks with several

NOISE = "Rain taps at the window. A cart rolls past the gate. Somewhere a door is shut. Nobody looks up."
HEAD = "Read the text below and keep the locker numbers that it names. A question about them follows."
NEEDLE = "The locker of the {key} has the number {value}."
ASK = {1: "Which number does the locker of the {keys} have?", 2: "Which numbers do the lockers of the {keys} have?"}
BEGIN = {1: "The locker of the {keys} has the number", 2: "The lockers of the {keys} have the numbers"}
ASK_VALUES = "Which numbers does the locker of the {keys} have? It has several."
BEGIN_VALUES = "The locker of the {keys} has the numbers"
QUALITIES = (
    *("amber", "brisk", "copper", "dusty", "early", "faded", "gentle", "hollow"),
    *("ivory", "jolly", "little", "merry", "narrow", "olive", "patient", "quiet"),
)
OWNERS = (
    *("baker", "carter", "drummer", "editor", "farmer", "glazier", "hunter", "joiner"),
    *("mason", "nurse", "painter", "potter", "sailor", "tailor", "tinker", "weaver"),
)
KEYS = tuple(f"{quality} {owner}" for quality in QUALITIES for owner in OWNERS)

Count = Callable[[str, str], int]
"""Returns the number of tokens of a prompt, from the question and the beginning of the answer."""


@dataclass(frozen=True)
class Needle:
    """One sample.

    `id`, such as `noise_single-4k-0007`, is stable over runs and models. `question` has text and question, `begin` is
    the beginning of the answer, which the model continues, and `references` are the expected numbers. `depth` is the
    position of the (first) requested needle in percent of the noise. `tokens` is the number of tokens of question and
    beginning together.
    """

    id: str
    task: str
    length: str
    question: str
    begin: str
    references: tuple[str, ...]
    depth: int
    tokens: int


@dataclass(frozen=True)
class _NeedlePlan:
    needles: tuple[tuple[int, str], ...]  # depth and sentence
    question: str
    begin: str
    references: tuple[str, ...]
    depth: int

    def text(self, units: int) -> str:
        """Return the noise with the needles at their depths, and the question below."""
        lines = [NOISE] * units
        # deepest first, so that the other positions stay valid
        for depth, sentence in sorted(self.needles, reverse=True):
            lines.insert(math.floor(units * depth / 100 + 0.5), sentence)
        return "\n".join([HEAD, *lines, self.question])


def make_samples(task: str, length: str, tokens: int, number: int, count: Count, seed: int = SEED) -> list[Needle]:
    """Make the samples of one task and length.

    `tokens` is the budget for prompt and answer together. Sample i asks for a needle at depth i modulo 40, so depths
    occur equally often. A sample depends only on seed, task, length and index, so a smaller set is a prefix of a
    larger one. Raises DataError if the task is unknown, or the budget is too small for the needles and one line of
    noise.
    """
    if task not in TASKS:
        raise DataError(f"no needle task {task!r}; they are {', '.join(TASKS)}")
    needles: list[Needle] = []
    units = 1
    unit = max(1, count("\n".join([NOISE] * 9), "") - count("\n".join([NOISE] * 8), ""))
    for place in range(number):
        plan = _plan_sample(task, DEPTHS[place % len(DEPTHS)], random.Random(f"{seed}/{task}/{length}/{place}"))
        name = f"{task}-{length}-{place:04d}"
        units, used = _fill_budget(plan, units, unit, tokens - NEW_TOKENS, count, name)
        needles.append(Needle(name, task, length, plan.text(units), plan.begin, plan.references, plan.depth, used))
    return needles


def _fill_budget(plan: _NeedlePlan, start: int, unit: int, budget: int, count: Count, name: str) -> tuple[int, int]:
    """Return the largest number of noise lines that fits the budget, and the number of tokens of that prompt."""
    sizes: dict[int, int] = {}

    def size(units: int) -> int:
        if units not in sizes:
            sizes[units] = count(plan.text(units), plan.begin)
        return sizes[units]

    if size(1) > budget:
        raise DataError(
            f"{name}: the needles, the question and one line of noise take {size(1) + NEW_TOKENS} tokens with this "
            f"tokenizer (with {NEW_TOKENS} for the answer), but the length is {budget + NEW_TOKENS}; give a longer one"
        )
    low, high, units = 1, 0, max(1, start)  # invariant: low fits; high, if known, does not
    while True:
        if size(units) <= budget:
            low = units
        else:
            high = units
        if high and high - low <= 1:
            return low, size(low)
        units = low + max(1, (budget - size(low)) // unit)
        if high:
            units = min(units, high - 1)


def _plan_sample(task: str, depth: int, rng: random.Random) -> _NeedlePlan:
    many = task != "noise_single"
    keys = rng.sample(KEYS, MANY if task in ("noise_multikey", "noise_multiquery") else 1)
    per_key = MANY if task == "noise_multivalue" else 1
    values = [str(value) for value in rng.sample(range(1_000_000, 10_000_000), len(keys) * per_key)]
    values_by_key = {key: values[place * per_key : (place + 1) * per_key] for place, key in enumerate(keys)}
    other_depths = rng.sample([place for place in DEPTHS if place != depth], len(values) - 1) if many else []
    sentences = [NEEDLE.format(key=key, value=value) for key, numbers in values_by_key.items() for value in numbers]
    needles = tuple(zip([depth, *other_depths], sentences, strict=True))
    asked_keys = keys if task == "noise_multiquery" else keys[:1]
    if task == "noise_multivalue":
        question, begin = ASK_VALUES, BEGIN_VALUES
    else:
        question, begin = ASK[min(2, len(asked_keys))], BEGIN[min(2, len(asked_keys))]
    phrase = asked_keys[0] if len(asked_keys) == 1 else f"{', the '.join(asked_keys[:-1])} and the {asked_keys[-1]}"
    references = tuple(value for key in asked_keys for value in values_by_key[key])
    return _NeedlePlan(needles, question.format(keys=phrase), begin.format(keys=phrase), references, depth)


def require_numbers(back: Callable[[str], str], values: Sequence[str] = ("7304918", "2056471")) -> None:
    """Raise DataError if a tokenizer cannot encode the answers, since no model could be right with it.

    `back` encodes and decodes a text; each number must survive this.
    """
    for value in values:
        decoded = back(f"the number {value}.")
        if value not in decoded:
            raise DataError(
                f"the tokenizer cannot write the numbers of the needles ({value} comes back as {decoded!r}); no answer "
                "could be right, so this check says nothing about the model"
            )
