"""Compute a model's answers and losses under a condition, once for all experiments."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from boundpaper.errors import DataError, ModelError
from keyquery.measure.cache import cache_name, cached
from keyquery.measure.subject import Subject, Text
from keyquery.models import interventions, libraries
from keyquery.models.answers.forwards import encode
from keyquery.models.answers.generation import greedy
from keyquery.models.answers.likelihood import token_nats
from keyquery.models.interventions import Intervention
from keyquery.models.resumed import count_untouched_blocks, skip_stored_blocks
from keyquery.models.undefined import undefined_message
from keyquery.tasks.answers import parse
from keyquery.tasks.items import Item

NEW_TOKENS = {"passkey": 12}
BATCH = 8  # texts per forward pass
BATCH_TOKENS = 4096  # tokens per forward pass of more than BATCH short prompts
WORD_TOKENS = 6  # token limit of a one-word answer


@dataclass(frozen=True)
class Condition:
    """A named set of interventions on a model, such as "baseline" or "bos_mlp:2".

    Interventions are listed in the order in which they act. They act in the prefill and, with `decode`, also in decode
    steps.
    """

    name: str
    interventions: tuple[Intervention, ...] = ()
    decode: bool = False


BASELINE = Condition("baseline")


@dataclass(frozen=True)
class JudgedAnswer:
    """A model's answer to the item `id`: its text, and the verdict "right", "wrong" or "unparsed"."""

    id: str
    text: str
    verdict: str

    @property
    def right(self) -> bool:
        """Whether the answer is right."""
        return self.verdict == "right"


@dataclass(frozen=True)
class Loss:
    """Negative log-likelihood of one text: total nats over `tokens` predicted tokens."""

    id: str
    seed: int
    nats: float
    tokens: int


def answer_tokens(task: str) -> int:
    """Return the largest number of tokens for an answer to an item of a task."""
    return NEW_TOKENS.get(task, WORD_TOKENS)


def answers(subject: Subject, items: Sequence[Item], condition: Condition = BASELINE) -> list[JudgedAnswer]:
    """Return the model's greedy answers to items of one task.

    Interventions act in the prefill, and also in decode steps if the condition says so. Raises DataError when there are
    no items.
    """
    if not items:
        raise DataError("0 items to ask; give --items 1 or more")
    call_record = {"items": [asdict(item) for item in items], **_condition_record(condition)}

    def ask() -> list[dict[str, Any]]:
        change, decode = interventions.phases(subject.model, condition.interventions, decode=condition.decode)
        block_count = _skippable_blocks(subject, condition, cached=True)
        new_tokens = answer_tokens(items[0].task)

        @contextmanager
        def prefill() -> Iterator[None]:
            with skip_stored_blocks(subject.model, block_count), change():
                yield

        prompts = [item.prompt for item in items]
        longest = max(len(encode(subject.tokenizer, prompt)) for prompt in prompts)
        batch = max(BATCH, BATCH_TOKENS // longest)
        texts = greedy(subject.model, subject.tokenizer, prompts, new_tokens, batch, prefill=prefill, decode=decode)
        return [
            {"id": item.id, "text": text, "verdict": parse(item, text)} for item, text in zip(items, texts, strict=True)
        ]

    return [JudgedAnswer(**row) for row in ask_once(subject, "answers", call_record, ask)]


def losses(subject: Subject, texts: Sequence[Text], condition: Condition = BASELINE) -> list[Loss]:
    """Return the negative log-likelihood of each text under a condition (one prefill, no decode steps).

    Raises ModelError when the logits overflow.
    """
    ids = [[text.id, text.seed] for text in texts]
    call_record = {"texts": [text.digest for text in texts], "ids": ids, **_condition_record(condition)}

    def ask() -> list[dict[str, Any]]:
        torch = libraries.torch
        model = subject.model
        prefill, _ = interventions.phases(model, condition.interventions, decode=False)
        block_count = _skippable_blocks(subject, condition, cached=False)
        rows: list[dict[str, Any]] = []
        for start in range(0, len(texts), BATCH):
            batch = texts[start : start + BATCH]
            tokens = torch.cat([text.tokens for text in batch])
            with skip_stored_blocks(model, block_count):
                nats = token_nats(model, tokens, prefill=prefill)
            if not bool(nats.isfinite().all()):
                raise ModelError(f"{condition.name}: the logits are not finite; {undefined_message(subject.model)}")
            totals = nats.double().sum(1).tolist()
            rows += [
                {"id": text.id, "seed": text.seed, "nats": total, "tokens": nats.shape[1]}
                for text, total in zip(batch, totals, strict=True)
            ]
        return rows

    return [Loss(**row) for row in ask_once(subject, "losses", call_record, ask)]


def _skippable_blocks(subject: Subject, condition: Condition, *, cached: bool) -> int:
    """Return how many blocks, from the first on, may be skipped; 0 for a model in memory, since it may change."""
    has_identity = subject.identity is not None
    return count_untouched_blocks(subject.model, condition.interventions, cached=cached) if has_identity else 0


def _condition_record(condition: Condition) -> dict[str, Any]:
    return {"interventions": [change.record() for change in condition.interventions], "decode": condition.decode}


def ask_once(subject: Subject, label: str, call: dict[str, Any], ask: Any) -> Any:
    """Return the JSON value of `ask()`, or the cached value if an earlier run or experiment made the same call.

    The same call has the same `label`, `call`, identity of the weights and code of `ask`. For a model without identity
    (made in memory), nothing is cached.
    """
    if subject.identity is None:
        return ask()
    module = str(getattr(ask, "func", ask).__module__)  # `ask` may be a `partial`
    name = cache_name(ask_once, {"what": label, "asked": call, "identity": subject.identity}, module)
    return cached(name, ask, subject.folder)[0]
