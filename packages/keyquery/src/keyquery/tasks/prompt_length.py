"""Make prompts of an exact number of tokens, for any tokenizer, with filler sentences around a planted text."""

import random
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice
from typing import Any

from boundpaper.errors import DataError
from keyquery.models.answers.forwards import encode
from keyquery.tasks.english_prose import sentence

POOL = 120  # number of filler sentences; long prompts repeat them
DOTS = 8  # most full stops after meaningless words
ROUNDS = 8  # attempts to reach a length
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

    def around(
        self, head: str, plant: str, tail: str, tokens: int, depth: float, rng: random.Random
    ) -> tuple[str, int]:
        """Return a prompt of exactly `tokens` tokens: head, filler, plant, filler, tail.

        The tail starts with a line break; `depth` is the share of filler before the plant, to the nearest sentence,
        and `tokens` includes special tokens. Return the prompt, and the number of tokens before the plant. Raises
        DataError if the length is too short for the parts, or no choice of filler fits exactly.
        """
        least = self._count(f"{head} {plant}{tail}")
        if tokens < least:
            raise DataError(f"a prompt of {tokens} tokens is too short; with this tokenizer it needs {least} at least")
        sentences: list[str] = []
        room = tokens - least
        mean_cost = round(sum(self._costs.values()) / len(self._costs))
        while room > 3 * mean_cost:  # the last sentences are chosen so that the length fits
            sentences.append(rng.choice(self._sentences))
            room -= self._costs[sentences[-1]]
        for _ in range(ROUNDS):
            excess: int | None = None
            for closing in islice(self._closings(room, rng), 4):
                before, after = self._split_at_depth([*sentences, *closing], depth)
                start = " ".join([head, *before])
                prompt = " ".join([start, plant, *after]) + tail
                excess = tokens - self._count(prompt)
                if excess == 0:
                    return prompt, self._count(start)
            if excess is not None:
                room += excess  # joined sentences may have slightly fewer or more tokens than the sum
            elif sentences:
                room += self._costs[sentences.pop()]
            else:
                break
        lengths = sorted({tokens - 1, tokens + 1, tokens + mean_cost})
        raise DataError(
            f"no filler makes this prompt {tokens} tokens long with this tokenizer; try {', '.join(map(str, lengths))}"
        )

    def _closings(self, room: int, rng: random.Random) -> Iterator[Sequence[str]]:
        """Yield endings of the filler with `room` tokens: no sentence, one or two sentences, else meaningless words."""
        if room == 0:
            yield ()
        for text in self._by_cost.get(room, [])[:2]:
            yield (text,)
        pairs = [(one, second) for one in self._sentences for second in self._by_cost.get(room - self._costs[one], [])]
        yield from rng.sample(pairs, min(4, len(pairs)))
        if room in self._hedges:
            yield (self._hedges[room],)
        for text in self._sentences:
            if room - self._costs[text] in self._hedges:
                yield (text, self._hedges[room - self._costs[text]])

    def _split_at_depth(self, texts: list[str], depth: float) -> tuple[list[str], list[str]]:
        costs = [self._costs.get(text, 1) for text in texts]
        goal = depth * sum(costs)
        sums = list(accumulate(costs, initial=0))
        place = min(range(len(sums)), key=lambda at: abs(sums[at] - goal))
        return texts[:place], texts[place:]

    def _cost_of_sentence(self, text: str) -> int:
        return self._count(f"{self._first} {text}") - self._count(self._first)

    def _count(self, text: str) -> int:
        return len(encode(self._tokenizer, text))
