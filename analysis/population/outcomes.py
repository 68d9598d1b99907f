"""Measure a model's behaviour: keys by distance and length, other tasks by length, and losses on held-out text."""

from __future__ import annotations

import itertools
import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from analysis.population import prompts
from analysis.population.asking import Answer, answers
from analysis.population.recipe import PopulationMember, PopulationRecipe
from keyquery.language import documents
from keyquery.language.words import token_ids, world
from keyquery.models.attention.positions import encoding
from keyquery.models.libraries import need
from keyquery.tasks.answers import EXACT, LETTERS, NO_NUMBER, NO_STOP, error_class

if TYPE_CHECKING:
    from transformers import PreTrainedModel

Row = dict[str, Any]
CONTEXTS = 200  # contexts per length: 500 key questions
FEWER = 80  # contexts under an untrained extension: 200 questions
EXTENDED = (2, 4, 8)  # multiples of the training length with extensions
EXTENSIONS = ("pi", "ntk", "yarn")
OWN_POWER = {"yarn": 2}  # power of the temperature in an extension by default
TEMPERATURE = 0.1  # factor in 1 + .1 ln s on the scores of a model without rotation
SEQUENCES = 48  # held-out sequences for losses
SIGNED = 24  # sequences with signed copies
EDGES = (0, 128, 256, 512)  # bounds of positions for losses


class KeyQuestions:
    """Key questions to one model; answers are cached by encoding and temperature.

    Parameters
    ----------
    model : PreTrainedModel
    which : PopulationMember
        The model; its seed determines the questions.
    recipe : PopulationRecipe
    tell : Callable
        Called with a line of progress before asking.
    """

    def __init__(
        self, model: PreTrainedModel, which: PopulationMember, recipe: PopulationRecipe, tell: Callable[[str], None]
    ) -> None:
        self._model, self._which, self._recipe, self._tell = model, which, recipe, tell
        self._known: dict[tuple[str, int, float], list[Answer]] = {}

    def answers(self, encoding: str, temperature: int, multiple: float, contexts: int) -> list[Answer]:
        """Return answers to the questions about the first contexts of a length.

        Parameters
        ----------
        encoding : str
            "own", or the name of an extension of the rotation.
        temperature : int
            Power of 1 + .1 ln s on all scores, regardless of the encoding's default.
        multiple : float
            Length of the prompts in training lengths.
        contexts : int
            Number of contexts; at most that of the first call with the same encoding, temperature and length.
        """
        asked = prompts.keys(self._which.seed, round(multiple * self._recipe.length), contexts)
        key = (encoding, temperature, multiple)
        if key not in self._known:
            self._tell(f"keys at {multiple:g}x, {encoding} with temperature {temperature}")
            power = temperature - OWN_POWER.get(encoding, 0)
            with with_extension(self._model, encoding, multiple), with_temperature(self._model, multiple, power):
                self._known[key] = answers(self._model, asked, decode=True)
        return self._known[key][: sum(len(context.asks) for context in asked)]


def key_rows(questions: KeyQuestions, which: PopulationMember) -> list[Row]:
    """Return rows `encoding, multiple, asked, right, nats, letters` for keys."""
    rows = []
    for multiple in prompts.MULTIPLES:
        for name in ("own", *(_untrained_extensions(which) if multiple in EXTENDED else ())):
            encoding, power = ("own", 1) if name == "temperature" else (name, OWN_POWER.get(name, 0))
            replies = questions.answers(encoding, power, multiple, CONTEXTS if name == "own" else FEWER)
            rows.append({"encoding": name, "multiple": multiple, **_letter_of_error(replies)})
    return rows


def extension_rows(questions: KeyQuestions, which: PopulationMember) -> list[Row]:
    """Return rows `encoding, temperature, multiple, asked, right, nats, letters`, with temperature as a factor.

    Every encoding is asked with and without a temperature, regardless of its default: `temperature` is the power of 1
    + .1 ln s that multiplies all scores: 0 for none, 2 as in YaRN (whose factor is on queries and on keys), 1 as in
    the plan.
    """
    rotates = which.positional == "rope"
    asked = [(name, power) for name in ("own", *(EXTENSIONS if rotates else ())) for power in (0, 2)]
    rows = []
    for multiple in EXTENDED:
        for name, power in [*asked, *([] if rotates else [("own", 1)])]:
            replies = questions.answers(name, power, multiple, FEWER)
            rows.append({"encoding": name, "temperature": power, "multiple": multiple, **_letter_of_error(replies)})
    return rows


def _untrained_extensions(which: PopulationMember) -> tuple[str, ...]:
    return EXTENSIONS if which.arm in ("A", "B") else ("temperature",) if which.arm == "C" else ()


@contextmanager
def with_extension(model: PreTrainedModel, name: str, multiple: float) -> Iterator[None]:
    """In this block, give the model an untrained extension of its rotation (`pi`, `ntk`, `yarn`), or none.

    The extension is for contexts of `multiple` training lengths.
    """
    with nullcontext() if name == "own" else encoding(model, name, factor=multiple):
        yield


@contextmanager
def with_temperature(model: PreTrainedModel, multiple: float, power: int) -> Iterator[None]:
    """In this block, multiply a model's scores by (1 + .1 ln s)^power; s is the multiple of the training length."""
    parts: list[Any] = [part for part in model.modules() if hasattr(part, "scaling") and hasattr(part, "layer_idx")]
    before = [part.scaling for part in parts]
    try:
        for part in parts:
            part.scaling *= (1 + TEMPERATURE * math.log(multiple)) ** power
        yield
    finally:
        for part, old in zip(parts, before, strict=True):
            part.scaling = old


def _letter_of_error(found: Sequence[Answer]) -> Row:
    return {
        "asked": len(found),
        "right": sum(each.exact for each in found),
        "nats": math.fsum(each.nats for each in found) / len(found),
        "letters": "".join(class_letter(each) for each in found),
    }


def class_letter(answer: Answer) -> str:
    """Return the letter that codes the class of an answer."""
    if answer.exact:
        return LETTERS[EXACT]
    key = "".join(answer.ask.answer)
    digits = prompts.leading_digits(answer.tokens)
    kind = error_class(digits, key) if digits else NO_NUMBER
    if kind == EXACT:
        return NO_STOP
    return LETTERS[kind]


def prompt_rows(seed: int, recipe: PopulationRecipe) -> list[Row]:
    """Return rows `multiple, item, context, keys, distance` for a seed's prompts, in the order of the answers'
    letters.
    """
    rows: list[Row] = []
    for multiple in prompts.MULTIPLES:
        contexts = prompts.keys(seed, round(multiple * recipe.length), CONTEXTS)
        asks = [(number, ask) for number, context in enumerate(contexts) for ask in context.asks]
        for item, (number, ask) in enumerate(asks):
            keys, distance = ask.facts["keys"], ask.facts["distance"]
            rows.append({"multiple": multiple, "item": item, "context": number, "keys": keys, "distance": distance})
    return rows


def task_rows(
    model: PreTrainedModel, which: PopulationMember, recipe: PopulationRecipe, tell: Callable[[str], None]
) -> list[Row]:
    """Return rows `task, multiple, asked, right, nats` of the other tasks; multiple 0 is the bare question."""
    rows = []
    for multiple in (0, 1, 2, 4):
        tell(f"other tasks at {multiple}x")
        counts: dict[str, list[float]] = defaultdict(lambda: [0, 0, 0.0])
        for each in answers(model, prompts.other_task_questions(which.seed, multiple * recipe.length or None)):
            count = counts[each.ask.facts["task"]]
            count[0] += 1
            count[1] += each.exact
            count[2] += each.nats
        for task in prompts.TASKS:
            asked, right, nats = counts[task]
            mean = nats / asked
            rows.append({"task": task, "multiple": multiple, "asked": int(asked), "right": int(right), "nats": mean})
    return rows


def loss_rows(model: PreTrainedModel, recipe: PopulationRecipe) -> list[Row]:
    """Return rows `text, words, low, high, nats, count`: mean nats of words at positions low to high of held-out text.

    Texts are `mixed`, documents as in training, and `backcopy`; words are `answer` (in `backcopy`, copies after a
    sign) and `other`.
    """
    length = 4 * recipe.length
    mixed = []
    for number in range(SEQUENCES):
        words, weights = documents.sequence(world(True), random.Random(f"population/losses/{number}"), length)
        mixed.append((words, [weight > 1 for weight in weights]))
    rows = []
    for name, texts in (("mixed", mixed), ("backcopy", prompts.backcopy_texts(world(), SIGNED, length))):
        losses = token_nats(model, [words for words, _ in texts])
        torch = need("torch")
        marks = torch.tensor([mark for _, mark in texts])[:, 1:]
        for low, high in itertools.pairwise(EDGES):
            low, high = round(low * recipe.length / 128), round(high * recipe.length / 128)
            part = slice(max(low - 1, 0), high - 1)
            for scored, chosen in (("answer", marks[:, part]), ("other", ~marks[:, part])):
                some = losses[:, part][chosen].double()
                rows.append(
                    {
                        "text": name,
                        "words": scored,
                        "low": low,
                        "high": high,
                        "nats": some.mean().item(),
                        "count": len(some),
                    }
                )
    return rows


def mean_nats(model: PreTrainedModel, recipe: PopulationRecipe, count: int) -> float:
    """Return the mean nats per word of held-out documents at the training length."""
    draws = (random.Random(f"population/text/{number}") for number in range(count))
    texts = [documents.sequence(world(True), rng, recipe.length)[0] for rng in draws]
    return float(token_nats(model, texts).double().mean())


def token_nats(model: PreTrainedModel, texts: Sequence[Sequence[str]]) -> Any:
    """Return the nats of every word but the first of equally long texts, shape (texts, words - 1)."""
    torch = need("torch")
    functional = torch.nn.functional
    model.train(False)
    inputs = torch.tensor([token_ids(words) for words in texts])
    losses = []
    rows = max(1, 4096 // inputs.shape[1])
    with torch.inference_mode():
        for at in range(0, len(inputs), rows):
            part = inputs[at : at + rows]
            logits = model(part, use_cache=False).logits[:, :-1]
            loss = functional.cross_entropy(logits.flatten(0, 1), part[:, 1:].flatten(), reduction="none")
            losses.append(loss.view(len(part), -1))
    return torch.cat(losses)
