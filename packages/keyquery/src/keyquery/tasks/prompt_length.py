"""Make prompts of an exact number of tokens, for any tokenizer, with filler sentences around a planted text."""

import random
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice
from typing import Any

from boundpaper.errors import DataError
from keyquery.models.answers.forwards import encode
from keyquery.tasks.english_prose import sentence

POOL = 120  # number of filler sentences; long prompts repeat them
DOTS = 8  # largest number of full stops after the words of `HEDGES`
ROUNDS = 8  # largest number of attempts to reach a length
HEDGES = (
    "Well", "so", "then", "and", "there", "it", "was", "as", "ever", "so", "very", "quiet", "and", "calm", "all",
    "day", "and", "on", "and", "on", "as", "far", "as", "we", "know",
)  # fmt: skip


class Filler:
    """Filler sentences, with the number of tokens of each for one tokenizer."""

    def __init__(self, tokenizer: Any, seed: int) -> None:
        rng = random.Random(f"filler/{seed}")
        self._tokenizer = tokenizer
        self._sentences = list(dict.fromkeys(sentence(rng) for _ in range(POOL)))
        self._first = self._sentences[0]
        self._costs = {text: self._cost_of_sentence(text) for text in self._sentences}
        self._by_cost: dict[int, list[str]] = {}
        for text, cost in self._costs.items():
            self._by_cost.setdefault(cost, []).append(text)
        self._hedges: dict[int, str] = {}
        for dots in range(1, DOTS + 1):
            for count in range(1, len(HEDGES) + 1):
                text = " ".join(HEDGES[:count]) + "." * dots
                self._hedges.setdefault(self._cost_of_sentence(text), text)

    def fill_prompt(
        self, head: str, plant: str, tail: str, tokens: int, depth: float, rng: random.Random
    ) -> tuple[str, int]:
        """Return a prompt (head, filler, plant, filler, tail) and the number of tokens before the plant.

        The prompt has exactly `tokens` tokens, including special tokens. The tail starts with a line break; `depth` is
        the share of filler before the plant, to the nearest sentence. Raises DataError if the length is too short for
        head, plant and tail, or no choice of filler fits exactly.
        """
        smallest = self._count(f"{head} {plant}{tail}")
        if tokens < smallest:
            raise DataError(
                f"a prompt of {tokens} tokens is too short; with this tokenizer it needs {smallest} at least"
            )
        sentences: list[str] = []
        open_tokens = tokens - smallest
        mean_cost = round(sum(self._costs.values()) / len(self._costs))
        while open_tokens > 3 * mean_cost:  # the last sentences are chosen so that the length fits
            sentences.append(rng.choice(self._sentences))
            open_tokens -= self._costs[sentences[-1]]
        for _ in range(ROUNDS):
            missing_tokens: int | None = None
            for closing in islice(self._closings(open_tokens, rng), 4):
                before, after = self._split_at_depth([*sentences, *closing], depth)
                start = " ".join([head, *before])
                prompt = " ".join([start, plant, *after]) + tail
                missing_tokens = tokens - self._count(prompt)
                if missing_tokens == 0:
                    return prompt, self._count(start)
            if missing_tokens is not None:
                open_tokens += missing_tokens  # joined sentences may have slightly fewer or more tokens than the sum
            elif sentences:
                open_tokens += self._costs[sentences.pop()]
            else:
                break
        lengths = sorted({tokens - 1, tokens + 1, tokens + mean_cost})
        raise DataError(
            f"no filler makes this prompt {tokens} tokens long with this tokenizer; try {', '.join(map(str, lengths))}"
        )

    def _closings(self, tokens: int, rng: random.Random) -> Iterator[Sequence[str]]:
        """Yield endings of `tokens` tokens for the filler: at most two sentences, of which the last may be a hedge."""
        if tokens == 0:
            yield ()
        for text in self._by_cost.get(tokens, [])[:2]:
            yield (text,)
        pairs = [
            (first, second)
            for first in self._sentences
            for second in self._by_cost.get(tokens - self._costs[first], [])
        ]
        yield from rng.sample(pairs, min(4, len(pairs)))
        if tokens in self._hedges:
            yield (self._hedges[tokens],)
        for text in self._sentences:
            if tokens - self._costs[text] in self._hedges:
                yield (text, self._hedges[tokens - self._costs[text]])

    def _split_at_depth(self, texts: list[str], depth: float) -> tuple[list[str], list[str]]:
        costs = [self._costs.get(text, 1) for text in texts]
        tokens_before = depth * sum(costs)
        sums = list(accumulate(costs, initial=0))
        count = min(range(len(sums)), key=lambda number: abs(sums[number] - tokens_before))
        return texts[:count], texts[count:]

    def _cost_of_sentence(self, text: str) -> int:
        return self._count(f"{self._first} {text}") - self._count(self._first)

    def _count(self, text: str) -> int:
        return len(encode(self._tokenizer, text))
