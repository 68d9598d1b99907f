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

SAMPLE_SIZE = 4  # number of items per task, and of texts, to try
MAX_RATIO = 4  # largest ratio of a text's tokens to a model's intended length, as in `context_length`


def unwritable_experiments(
    name: str, tokenizer: Any, book: Book, options: Options, length: int, experiments: Iterable[str]
) -> dict[str, ThesisError]:
    """Return errors, by experiment, for experiments whose texts or items a tokenizer cannot encode.

    `book` has the items and texts for the model, and `length` is the model's training length. The paper's own
    experiments are not checked.
    """
    shipped = [experiment for experiment in experiments if experiment in (*EXPERIMENTS, *BY_NAME)]
    errors: dict[str, ThesisError] = {}
    source, tokens, [seed, *_] = options.texts_source, options.tokens or min(length, LONGEST), options.seeds
    try:
        if source is None:
            tokens = min(tokens, 256)
            texts = book.texts(book.kinds()[0], min(options.texts, SAMPLE_SIZE), tokens, seed, tokenizer)
            rows = [encode(tokenizer, text)[:tokens] for text in texts]
            check_legible(name, tokenizer, rows, f"the book {book.name}")
        elif is_local(source):
            given_texts(name, tokenizer, source, tokens, options.texts * len(options.seeds))
    except ThesisError as error:
        errors = {each: error for each in shipped if source is None or not declared_value(each, "CHOOSES_TEXTS")}
    task_errors: dict[str, ThesisError | None] = {}
    for experiment in shipped if options.items else ():
        for task in declared_value(experiment, "ASKS") or ():
            if task not in task_errors:
                task_errors[task] = None
                try:
                    book.items(task, min(options.items, SAMPLE_SIZE), seed, tokenizer)
                except Unwritable as error:
                    task_errors[task] = error
                except ThesisError:  # prompts of another length may work
                    pass
            if task_error := task_errors[task]:
                errors.setdefault(experiment, task_error)
    return errors


def intended_length(config: Any, training_length: int = 0) -> tuple[int, str] | None:
    """Return the number of tokens that a model was made for, and why; a given `training_length` has priority."""
    return (
        (training_length, f"it was trained on {training_length:,}") if training_length else positions_made_for(config)
    )


def note_if_too_long(name: str, tokens: int | None, limit: tuple[int, str] | None, *, anyway: bool = False) -> str:
    """Return a note if texts of `tokens` tokens are longer than a model was made for, else an empty string.

    `limit` is the result of `intended_length`. Raises ModelError if texts are more than four times as long, unless
    `anyway` is set.
    """
    if not tokens or limit is None or tokens <= limit[0]:
        return ""
    note = f"{name}: texts of {tokens:,} tokens are longer than the model was made for: {limit[1]}"
    if tokens > MAX_RATIO * limit[0] and not anyway:
        raise ModelError(
            f"{note}; at most {MAX_RATIO} times this length is measured: give --tokens {MAX_RATIO * limit[0]} or less, "
            "or --anyway"
        )
    return f"{note}; the tokens beyond this length are measured as well"


def require_positions(name: str, model: Any, tokens: int | None) -> None:
    """Raise ModelError, with the largest valid number of tokens, if texts are longer than a model's position table."""
    rows = learned_positions(model)
    if rows is not None and (tokens or 0) > rows:
        raise ModelError(
            f"{name}: texts of {tokens:,} tokens are too long: the model's table of {learned(model)}positions "
            f"has {rows:,} rows; give --tokens {rows} or less"
        )
