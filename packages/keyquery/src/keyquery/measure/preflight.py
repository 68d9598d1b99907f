"""Detect failures before weights are loaded: texts that a tokenizer cannot encode, and texts that are too long."""

from collections.abc import Iterable
from typing import Any

from boundpaper.errors import ModelError, ThesisError
from keyquery.measure.choices import BY_NAME, EXPERIMENTS, declared_value
from keyquery.measure.subject import LONGEST, Options, check_legible, given_texts
from keyquery.models.answers.forwards import encode
from keyquery.models.attention.reach import learned, learned_positions, positions_made_for
from keyquery.models.texts import is_local
from keyquery.tasks.items import Book, Unwritable

SAMPLE_SIZE = 4  # items per task, and texts, to try
FARTHEST = 4  # most times a model's positions, as in `context_length`


def unwritable_experiments(
    name: str, tokenizer: Any, book: Book, options: Options, length: int, experiments: Iterable[str]
) -> dict[str, ThesisError]:
    """Return the experiments whose texts or items a tokenizer cannot encode, with reasons; needs no weights.

    `book` has the items and texts for the model, and `length` is the model's training length. The paper's own
    experiments are not checked.
    """
    asked = [experiment for experiment in experiments if experiment in (*EXPERIMENTS, *BY_NAME)]
    refused: dict[str, ThesisError] = {}
    source, size, [seed, *_] = options.texts_source, options.tokens or min(length, LONGEST), options.seeds
    try:
        if source is None:
            size = min(size, 256)
            texts = book.texts(book.kinds()[0], min(options.texts, SAMPLE_SIZE), size, seed, tokenizer)
            check_legible(name, tokenizer, [encode(tokenizer, text)[:size] for text in texts], f"the book {book.name}")
        elif is_local(source):
            given_texts(name, tokenizer, source, size, options.texts * len(options.seeds))
    except ThesisError as error:
        refused = {each: error for each in asked if source is None or not declared_value(each, "CHOOSES_TEXTS")}
    reasons: dict[str, ThesisError | None] = {}
    for experiment in asked if options.items else ():
        for task in declared_value(experiment, "ASKS") or ():
            if task not in reasons:
                reasons[task] = None
                try:
                    book.items(task, min(options.items, SAMPLE_SIZE), seed, tokenizer)
                except Unwritable as error:
                    reasons[task] = error
                except ThesisError:  # prompts of another length may work
                    pass
            if reason := reasons[task]:
                refused.setdefault(experiment, reason)
    return refused


def length_made_for(config: Any, training_length: int = 0) -> tuple[int, str] | None:
    """Return the longest text that a model was made for, and why; a given `training_length` has priority."""
    return (
        (training_length, f"it was trained on {training_length:,}") if training_length else positions_made_for(config)
    )


def note_if_too_long(name: str, tokens: int | None, longest: tuple[int, str] | None, *, anyway: bool = False) -> str:
    """Return a note if texts are longer than a model was made for; empty if they are not.

    `longest` is the result of `length_made_for`. Raises ModelError if texts exceed it more than four times, unless
    `anyway` is set.
    """
    if not tokens or longest is None or tokens <= longest[0]:
        return ""
    note = f"{name}: texts of {tokens:,} tokens are longer than the model was made for: {longest[1]}"
    if tokens > FARTHEST * longest[0] and not anyway:
        raise ModelError(
            f"{note}; at most {FARTHEST} times that is measured: give --tokens {FARTHEST * longest[0]} or less, "
            "or --anyway"
        )
    return f"{note}; the part beyond that is measured as well"


def require_positions(name: str, model: Any, tokens: int | None) -> None:
    """Raise ModelError if texts are longer than a model's table of positions.

    The error names the largest valid number of tokens.
    """
    rows = learned_positions(model)
    if rows is not None and (tokens or 0) > rows:
        raise ModelError(
            f"{name}: texts of {tokens:,} tokens are too long: the model's table of {learned(model)}positions "
            f"has {rows:,} rows; give --tokens {rows} or less"
        )
