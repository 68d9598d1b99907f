"""Ask many questions about few contexts: each context is read once, and all its questions reuse the key cache.

An answer is exact if greedy decoding gives all its words and then the full stop. One forward pass over the answer
shows this: every word must be the most likely one. Otherwise, the model's words may be decoded.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from keyquery.language.words import STOP, token_ids
from keyquery.models.libraries import need

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

PASS = 6144  # words of contexts per forward pass
NEW = 7  # most words decoded for a wrong answer


@dataclass(frozen=True)
class Question:
    """A question at the end of a context.

    Parameters
    ----------
    words, answer : list of str
        The question, and the answer without the full stop.
    facts : dict
        Facts of the question for tables.
    """

    words: list[str]
    answer: list[str]
    facts: dict[str, Any]


@dataclass(frozen=True)
class Context:
    """Words before the questions, `<s>` first; all contexts in one call have equal length."""

    words: list[str]
    asks: list[Question]


@dataclass(frozen=True)
class Answer:
    """Result of one question.

    Parameters
    ----------
    ask : Question
    exact : bool
        Whether all words, including the full stop, are right.
    nats : float
        Sum of nats over the answer and the full stop.
    tokens : list of int
        The answer up to the full stop, if it was decoded.
    """

    ask: Question
    exact: bool
    nats: float
    tokens: list[int]


def answers(model: PreTrainedModel, contexts: Sequence[Context], *, decode: bool = False) -> list[Answer]:
    """Ask the model every question, in order; with `decode`, wrong answers include the model's words."""
    torch = need("torch")
    model.train(False)
    replies: list[Answer] = []
    rows = max(1, PASS // len(contexts[0].words))
    with torch.inference_mode():
        for at in range(0, len(contexts), rows):
            replies += _answer_chunk(model, contexts[at : at + rows], decode)
    return replies


def _answer_chunk(model: PreTrainedModel, contexts: Sequence[Context], decode: bool) -> list[Answer]:
    torch = need("torch")
    read = model(torch.tensor([token_ids(context.words) for context in contexts]), use_cache=True, logits_to_keep=1)
    flat = [(row, ask) for row, context in enumerate(contexts) for ask in context.asks]
    made: dict[int, Answer] = {}
    for places in _groups_of_equal_shape(flat):
        asked = [token_ids(flat[place][1].words) for place in places]
        wanted = [[*token_ids(flat[place][1].answer), STOP] for place in places]
        rows = [flat[place][0] for place in places]
        inputs = torch.tensor([[*ask, *want] for ask, want in zip(asked, wanted, strict=True)])
        size = len(wanted[0])
        logits = model(inputs, past_key_values=_cache_for_questions(read.past_key_values, rows), use_cache=True).logits
        logprobs = logits[:, -size - 1 : -1].log_softmax(-1)
        right = torch.tensor(wanted)
        exact = (logprobs.argmax(-1) == right).all(1).tolist()
        nats = (-logprobs.gather(-1, right[..., None])).sum((1, 2)).tolist()
        decoded: dict[int, list[int]] = {}
        wrong = [at for at, each in enumerate(exact) if not each]
        if decode and wrong:
            cache = _cache_for_questions(read.past_key_values, [rows[at] for at in wrong])
            decoded = dict(zip(wrong, _greedy(model, cache, torch.tensor([asked[at] for at in wrong])), strict=True))
        for at, place in enumerate(places):
            words = wanted[at] if exact[at] else decoded.get(at, [])
            made[place] = Answer(flat[place][1], exact[at], nats[at], words)
    return [made[place] for place in range(len(flat))]


def _groups_of_equal_shape(flat: Sequence[tuple[int, Question]]) -> Iterator[list[int]]:
    """Yield the indices of questions with equal numbers of words and of answer words."""
    groups: dict[tuple[int, int], list[int]] = defaultdict(list)
    for place, (_, ask) in enumerate(flat):
        groups[len(ask.words), len(ask.answer)].append(place)
    yield from groups.values()


def _cache_for_questions(read: Any, rows: list[int]) -> Any:
    """Return a key cache with a row for each question, copied from its context's row."""
    torch, transformers = need("torch"), need("transformers")
    made, index = transformers.DynamicCache(), torch.tensor(rows)
    for layer, held in enumerate(read.layers):
        made.update(held.keys[index], held.values[index], layer)
    return made


def _greedy(model: PreTrainedModel, cache: Any, inputs: Tensor) -> list[list[int]]:
    torch = need("torch")
    decoded: list[Tensor] = []
    for _ in range(NEW):
        output = model(inputs, past_key_values=cache, use_cache=True, logits_to_keep=1)
        cache, inputs = output.past_key_values, output.logits[:, -1:].argmax(-1)
        decoded.append(inputs)
    rows: list[list[int]] = torch.cat(decoded, 1).tolist()
    return [row[: row.index(STOP) + 1] if STOP in row else row for row in rows]
