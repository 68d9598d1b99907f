"""Make samples of needles in generated noise for any tokenizer; they need no download.

The tasks follow RULER's needle tasks (Hsieh et al. 2024): a needle, a sentence with a number, is placed at one of 40
depths of a repetitive text; the prompt ends with a question about the number and the beginning of the answer. Wording
and noise differ from the benchmark's, so the tasks have other names, and their scores are not part of any mean of its
13 tasks.
"""

import functools
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
MANY = 4  # number of keys, values per key or requested keys, in tasks with more than one

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

    `id`, such as `noise_single-4k-0007`, is the same in all runs and models. `question` has the text and, below it, the
    question; `answer_start` is the beginning of the answer, which the model continues, and `references` are the
    expected numbers. `depth` is the position of the (first) requested needle in percent of the noise. `tokens` is the
    number of tokens of `question` and `answer_start` together.
    """

    id: str
    task: str
    length: str
    question: str
    answer_start: str
    references: tuple[str, ...]
    depth: int
    tokens: int


@dataclass(frozen=True)
class _NeedlePlan:
    needles: tuple[tuple[int, str], ...]  # depth and sentence
    question: str
    answer_start: str
    references: tuple[str, ...]
    depth: int

    def text(self, noise_lines: int) -> str:
        """Return `noise_lines` lines of noise with the needles at their depths, and the question below."""
        lines = [NOISE] * noise_lines
        # the deepest needle first, so that the positions of other needles stay valid
        for depth, sentence in sorted(self.needles, reverse=True):
            lines.insert(math.floor(noise_lines * depth / 100 + 0.5), sentence)
        return "\n".join([HEAD, *lines, self.question])


def make_samples(task: str, length: str, tokens: int, number: int, count: Count, seed: int = SEED) -> list[Needle]:
    """Return the first `number` samples of one task and length.

    `tokens` is the budget for prompt and answer together. Sample i asks for a needle at depth i modulo 40, so depths
    occur equally often. A sample depends only on tokenizer, seed, task, length and i. Raises DataError if the task is
    unknown, or the budget is too small for the needles and one line of noise.
    """
    if task not in TASKS:
        raise DataError(f"no needle task {task!r}; needle tasks are {', '.join(TASKS)}")
    needles: list[Needle] = []
    lines = 1
    line_tokens = max(1, count("\n".join([NOISE] * 9), "") - count("\n".join([NOISE] * 8), ""))
    for i in range(number):
        plan = _plan_sample(task, DEPTHS[i % len(DEPTHS)], random.Random(f"{seed}/{task}/{length}/{i}"))
        name = f"{task}-{length}-{i:04d}"
        lines, size = _fill_budget(plan, lines, line_tokens, tokens - NEW_TOKENS, count, name)
        texts = plan.text(lines), plan.answer_start
        needles.append(Needle(name, task, length, *texts, plan.references, plan.depth, size))
    return needles


def _fill_budget(
    plan: _NeedlePlan, start: int, line_tokens: int, budget: int, count: Count, name: str
) -> tuple[int, int]:
    """Return the largest number of noise lines that fits the budget, and the number of tokens of that prompt.

    The search begins with `start` lines; `line_tokens` is the approximate number of tokens of a line.
    """

    @functools.cache
    def size(lines: int) -> int:
        return count(plan.text(lines), plan.answer_start)

    if size(1) > budget:
        raise DataError(
            f"{name}: the needles, the question and one line of noise take {size(1) + NEW_TOKENS} tokens with this "
            f"tokenizer (with {NEW_TOKENS} for the answer), but the length is {budget + NEW_TOKENS}; give a longer one"
        )
    low, high, lines = 1, 0, max(1, start)  # `low` lines fit; `high` lines, if above 0, do not
    while True:
        if size(lines) <= budget:
            low = lines
        else:
            high = lines
        if high and high - low <= 1:
            return low, size(low)
        lines = low + max(1, (budget - size(low)) // line_tokens)
        if high:
            lines = min(lines, high - 1)


def _plan_sample(task: str, depth: int, rng: random.Random) -> _NeedlePlan:
    keys = rng.sample(KEYS, MANY if task in ("noise_multikey", "noise_multiquery") else 1)
    per_key = MANY if task == "noise_multivalue" else 1
    values = [str(value) for value in rng.sample(range(1_000_000, 10_000_000), len(keys) * per_key)]
    values_by_key = {key: values[i * per_key : (i + 1) * per_key] for i, key in enumerate(keys)}
    other_depths = rng.sample([other for other in DEPTHS if other != depth], len(values) - 1)
    sentences = [NEEDLE.format(key=key, value=value) for key, numbers in values_by_key.items() for value in numbers]
    needles = tuple(zip([depth, *other_depths], sentences, strict=True))
    requested = keys if task == "noise_multiquery" else keys[:1]
    if task == "noise_multivalue":
        question, answer_start = ASK_VALUES, BEGIN_VALUES
    else:
        question, answer_start = ASK[min(2, len(requested))], BEGIN[min(2, len(requested))]
    phrase = requested[0] if len(requested) == 1 else f"{', the '.join(requested[:-1])} and the {requested[-1]}"
    references = tuple(value for key in requested for value in values_by_key[key])
    return _NeedlePlan(needles, question.format(keys=phrase), answer_start.format(keys=phrase), references, depth)


def require_numbers(round_trip: Callable[[str], str], values: Sequence[str] = ("7304918", "2056471")) -> None:
    """Raise DataError if a tokenizer changes numbers, since no answer could then be right.

    `round_trip` returns a text after encoding and decoding it.
    """
    for value in values:
        decoded = round_trip(f"the number {value}.")
        if value not in decoded:
            raise DataError(
                f"the tokenizer cannot write the numbers of the needles ({value} comes back as {decoded!r}); no answer "
                "could be right, so this check says nothing about the model"
            )
