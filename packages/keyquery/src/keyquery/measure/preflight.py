"""What is known to fail before weights are loaded: words that a tokenizer cannot write, and texts that are too long."""

from collections.abc import Iterable
from typing import Any

from boundpaper.errors import ModelError, ThesisError
from keyquery.measure.choices import BY_NAME, EXPERIMENTS
from keyquery.measure.subject import LONGEST, Options, check_legible, given_texts
from keyquery.models.answers.forwards import encode
from keyquery.models.texts import is_local
from keyquery.tasks.items import TASKS, Book, Unwritable

TEXTS_OTHERWISE = ("context_length", "geometry", "text_kinds", "anchoring")  # read none of `--texts`, or other parts
ASKS = {  # the tasks of which experiments ask items
    **dict.fromkeys(("sinks", "bos_value", "disruption", "knowledge", "layer_ablation"), TASKS),
    **dict.fromkeys(("head_ablation", "context_length"), ("passkey",)),
}
FEW = 4  # items of a task, and texts, that are tried
FARTHEST = 4  # times the positions that a model was made for, up to which `context_length` goes


def wordless(
    name: str, tokenizer: Any, book: Book, options: Options, length: int, experiments: Iterable[str]
) -> dict[str, ThesisError]:
    """The experiments whose texts or items a tokenizer cannot write, each with the reason; needs no weights.

    `book` has the items and texts that the model is asked, `length` is what it was trained on, and experiments of a
    paper's own are not looked at.
    """
    asked = [each for each in experiments if each in (*EXPERIMENTS, *BY_NAME)]
    refused: dict[str, ThesisError] = {}
    source, size, [seed, *_] = options.texts_source, options.tokens or min(length, LONGEST), options.seeds
    try:
        if source is None:
            size = min(size, 256)
            texts = book.texts(book.kinds()[0], min(options.texts, FEW), size, seed, tokenizer)
            check_legible(name, tokenizer, [encode(tokenizer, each)[:size] for each in texts], f"the book {book.name}")
        elif is_local(source):
            given_texts(name, tokenizer, source, size, options.texts * len(options.seeds))
    except ThesisError as error:
        refused = {each: error for each in asked if source is None or each not in TEXTS_OTHERWISE}
    reasons: dict[str, ThesisError | None] = {}
    for experiment in asked if options.items else ():
        for task in ASKS.get(experiment, ()):
            if task not in reasons:
                reasons[task] = None
                try:
                    book.items(task, min(options.items, FEW), seed, tokenizer)
                except Unwritable as error:
                    reasons[task] = error
                except ThesisError:  # prompts of another length may do
                    pass
            if reason := reasons[task]:
                refused.setdefault(experiment, reason)
    return refused


def too_long(name: str, tokens: int | None, made_for: tuple[int, str] | None, *, anyway: bool = False) -> str:
    """A note on texts that are longer than a model was made for; empty where they are not.

    `made_for` is what `keyquery.models.attention.reach.positions_made_for` gives.

    Raises
    ------
    ModelError
        When they are more than four times as long, unless `anyway`.
    """
    if not tokens or made_for is None or tokens <= made_for[0]:
        return ""
    said = f"{name}: texts of {tokens:,} tokens are longer than the model was made for: {made_for[1]}"
    if tokens > FARTHEST * made_for[0] and not anyway:
        raise ModelError(
            f"{said}; at most {FARTHEST} times that is measured: give --tokens {FARTHEST * made_for[0]} or less, "
            "or --anyway"
        )
    return f"{said}; what lies beyond is measured all the same"
