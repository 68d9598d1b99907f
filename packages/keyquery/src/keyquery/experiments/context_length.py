"""Context length: passkey retrieval, verification and ranking at half to four times the training length."""

from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from typing import Any

from boundpaper.errors import DataError, ModelError
from boundpaper.statistics.proportion import wilson_interval
from keyquery.experiments._key_choices import CHOICES, batch_size, choice_rows, key_items
from keyquery.measure.evaluation import ask_once
from keyquery.measure.rows import Row, row
from keyquery.measure.subject import Options, Subject
from keyquery.models.answers.generation import greedy
from keyquery.models.attention.positions import encoding
from keyquery.models.attention.reach import learned, learned_positions
from keyquery.tasks.answers import CLASSES, EXACT, RUN_DELETION, error_class, first_number, is_ambiguous
from keyquery.tasks.items import Item

RATIOS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
BASELINES = ("pi", "yarn")  # encodings to compare with, beyond the training length of a model that rotates
DEPTHS = 5  # number of equal ranges of depth in the context; results are listed for each
LONGEST = 16384  # tokens of a prompt; a longer prompt is not run, and its row gives this as the reason
NEW_TOKENS = 12
ASKS = ("passkey",)
CHOOSES_TEXTS = True
NEEDS_ITEMS = True
SETTINGS: dict[str, Any] = {
    "ratios": list(RATIOS),
    "baselines": list(BASELINES),
    "factor": "of a baseline: the prompt's length over the training length",
    "depth_parts": DEPTHS,
    "longest": LONGEST,
    "new_tokens": NEW_TOKENS,
    "interval": "Wilson, 95 %",
    "near_miss": "same length, one or two digits changed",
    "distance": "tokens from the first digit of a key to the end of the prompt",
    "ties": "m candidates that share the first place count 1/m each",
}


@dataclass(frozen=True)
class Retrieval:
    """Result of one prompt: the item, its seed, the number in the model's answer, the key, and the kind of error."""

    item: Item
    seed: int
    answer: str
    key: str
    kind: str


def measure(
    subject: Subject,
    options: Options,
    *,
    ratios: Sequence[float] = RATIOS,
    baselines: Sequence[str] = BASELINES,
    longest: int = LONGEST,
    choices: Sequence[str] = CHOICES,
) -> list[Row]:
    """Return rows of retrieval, verification and ranking at each length.

    Retrieval is measured under the model's own position encoding and under baseline encodings. Conditions are
    `ENCODING/RATIOx`, such as `own/2x` or `yarn/2x`, with `/form:NAME` or `/depth:LOW-HIGH` for a subset of prompts.
    Metrics of retrieval: `passkey_exact` with `_low` and `_high`, `passkey_right` (one row per item, 1 or 0),
    `key_distance` (one row per item under `own`; all encodings share the prompts), `class_NAME` (number of the n
    answers with this kind of error, see `keyquery.tasks.answers.error_class`) and `class_run_deletion_at_end` (run
    deletions that could also be truncations). `keyquery.experiments._key_choices.choice_rows` describes the metrics of
    verification and ranking.

    `choices` are the tasks besides retrieval, "verification" and "ranking"; a recipe may skip some for a large model.
    If a length is too short for a prompt or above `longest`, or a model does not support a baseline, there is a row
    with the reason and no value. Raises DataError if no length gives items, a choice or ratio is invalid, or
    `options.items` is 0.
    """
    options.need_items("context_length")
    if not ratios or min(ratios) <= 0:
        raise DataError(f"context_length: ratios = {list(ratios)}: give one or more, each above 0")
    if not set(choices) <= set(CHOICES):
        raise DataError(f"context_length: choices = {list(choices)} is not among {', '.join(CHOICES)}")
    rows: list[Row] = []
    measured_lengths, last_error = 0, None
    positions = learned_positions(subject.model)
    for ratio in sorted(ratios):
        length = round(ratio * subject.training_length)
        label = f"{ratio:g}x"
        if length > longest:
            reason = f"{length} tokens, more than the {longest} that are measured"
            rows.append(row("passkey_exact", None, 0, condition=f"own/{label}", reason=reason))
            continue
        if positions is not None and length + NEW_TOKENS > positions:
            reason = (
                f"{length} tokens and an answer do not fit the model's {learned(subject.model)}{positions} positions"
            )
            rows.append(row("passkey_exact", None, 0, condition=f"own/{label}", reason=reason))
            last_error = DataError(f"context_length: {reason}")
            continue
        try:
            items = key_items(subject, "passkey", options, length)
        except DataError as error:
            last_error = error
            rows.append(row("passkey_exact", None, 0, condition=f"own/{label}", reason=str(error)))
            continue
        measured_lengths += 1
        for name in ("own", *(baselines if ratio > 1 and subject.positional == "rope" else ())):
            subject.tell(f"keys at {label}, {name} encoding")
            rows += _retrieval_rows(subject, items, name, ratio, f"{name}/{label}")
            rows += distance_rows(subject, items, f"own/{label}") if name == "own" else []
        subject.tell(f"choices at {label}")
        rows += choice_rows(subject, options, length, f"own/{label}", choices)
    if last_error is not None and not measured_lengths:
        raise last_error
    return rows


def retrieve(subject: Subject, items: Sequence[tuple[int, Item]], name: str, ratio: float) -> list[Retrieval]:
    """Return the model's answer to each prompt under a named position encoding ("own", "pi", "yarn").

    Raises ModelError if the model does not support the encoding.
    """
    prompts = [item.prompt for _, item in items]
    length = int(items[0][1].facts["length"])

    def ask() -> list[str]:
        with _named_encoding(subject, name, ratio):
            return greedy(subject.model, subject.tokenizer, prompts, NEW_TOKENS, batch=batch_size(length))

    question = {"items": [asdict(item) for _, item in items], "encoding": name, "ratio": ratio, "new": NEW_TOKENS}
    retrievals = []
    for (seed, item), text in zip(items, ask_once(subject, "retrieval", question, ask), strict=True):
        digits = item.facts.get("digits")
        number, key = first_number(text, digits), first_number(item.answer, digits)
        retrievals.append(Retrieval(item, seed, number, key, error_class(number, key)))
    return retrievals


def _named_encoding(subject: Subject, name: str, ratio: float) -> AbstractContextManager[None]:
    if name == "own":
        return nullcontext()
    return encoding(subject.model, name, factor=ratio, length=subject.training_length)


def _retrieval_rows(
    subject: Subject, items: Sequence[tuple[int, Item]], name: str, ratio: float, condition: str
) -> list[Row]:
    try:
        retrievals = retrieve(subject, items, name, ratio)
    except ModelError as error:
        if name == "own":
            raise
        return [row("passkey_exact", None, 0, condition=condition, reason=str(error))]
    rows = [_accuracy_row(retrievals, condition)]
    low, high = wilson_interval(sum(retrieval.kind == EXACT for retrieval in retrievals), len(retrievals))
    rows.append(row("passkey_exact_low", low, len(retrievals), condition=condition))
    rows.append(row("passkey_exact_high", high, len(retrievals), condition=condition))
    counts = Counter(retrieval.kind for retrieval in retrievals)
    for kind in CLASSES:
        rows.append(row(f"class_{kind}", float(counts[kind]), len(retrievals), condition=condition))
    ambiguous = sum(is_ambiguous(each.answer, each.key) for each in retrievals)
    rows.append(row(f"class_{RUN_DELETION}_at_end", float(ambiguous), len(retrievals), condition=condition))
    for form in sorted({str(each.item.facts["form"]) for each in retrievals}):
        with_form = [each for each in retrievals if each.item.facts["form"] == form]
        rows.append(_accuracy_row(with_form, f"{condition}/form:{form}"))
    for depth in range(DEPTHS):
        at_depth = [each for each in retrievals if min(int(each.item.facts["depth"] * DEPTHS), DEPTHS - 1) == depth]
        if at_depth:
            rows.append(_accuracy_row(at_depth, f"{condition}/depth:{depth / DEPTHS:g}-{(depth + 1) / DEPTHS:g}"))
    rows += [
        row("passkey_right", float(each.kind == EXACT), 1, condition=condition, unit_id=each.item.id, seed=each.seed)
        for each in retrievals
    ]
    return rows


def distance_rows(subject: Subject, items: Sequence[tuple[int, Item]], condition: str) -> list[Row]:
    """Return rows of each passkey's distance: the tokens from its first digit to the end of the prompt.

    If a key occurs twice, the last occurrence counts.
    """
    rows = []
    for seed, item in items:
        start = item.prompt.rfind(item.answer.strip())
        tail = subject.tokenizer(item.prompt[start:], add_special_tokens=False, verbose=False)["input_ids"]
        distance = len(tail) if start >= 0 else None
        reason = "" if start >= 0 else "the prompt does not hold the key as it is answered"
        rows.append(row("key_distance", distance, 1, condition=condition, unit_id=item.id, seed=seed, reason=reason))
    return rows


def _accuracy_row(retrievals: Sequence[Retrieval], condition: str) -> Row:
    exact_count = sum(retrieval.kind == EXACT for retrieval in retrievals)
    return row("passkey_exact", exact_count / len(retrievals), len(retrievals), condition=condition)
