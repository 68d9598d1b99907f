"""Measure whether the model recognises the right passkey when shown one key (verification) or four (ranking)."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from boundpaper.errors import DataError
from keyquery.measure.evaluation import ask_once
from keyquery.measure.rows import Row, row
from keyquery.measure.subject import Options, Subject, standard_deviation
from keyquery.models.answers.scoring import Question, Scores, grouped_logprobs
from keyquery.tasks.items import NO, YES, Item

EXACT = "exact"
CHOICES = ("verification", "ranking")
TOKENS = 16384  # largest number of tokens of a batch of prompts
ROWS = 32  # largest number of prompts of a batch
TIE = 1e-6  # nats; rounding may make equal answers differ by this much
SeededItem = tuple[int, Item]


def choice_rows(
    subject: Subject, options: Options, length: int, condition: str, tasks: Sequence[str] = CHOICES
) -> list[Row]:
    """Return rows of verification and ranking of passkeys at one length, under the model's own position encoding.

    Verification: `p_yes_KIND` is the mean of p(yes) / (p(yes) + p(no)), where KIND says whether the key shown is exact
    or how it is wrong (a digit changed, two swapped, one left out, another key). `p_yes_KIND_sd` is the sd of the same
    quantity over items, and `p_yes_raw_KIND` is the mean of p(yes). `verification_accuracy` is the share of items whose
    likelier answer is right. `verification_auc_KIND` and `verification_auc` are the share of pairs in which an exact
    key has a higher probability of yes than a wrong key (ties count one half).

    Ranking of four candidates: `ranking_likelihood` ranks candidates by their likelihood as the answer, and
    `ranking_yes` by the probability of yes when the model is asked about each. Both are mean credits: 1/m if the right
    candidate shares the first place with m - 1 other candidates, else 0. `..._tied` is the share of items whose first
    place is shared, and `ranking_chance` is the expected credit of a guess.

    A task that the book lacks has a row without a value; a task that is not in `tasks` has no row.
    """
    rows: list[Row] = []
    for task, metric, make_rows in (
        ("verification", "verification_auc", _verification_rows),
        ("ranking", "ranking_likelihood", _ranking_rows),
    ):
        if task not in tasks:
            continue
        if task not in subject.book.tasks():
            reason = f"the book {subject.book.name} has no task {task}"
            rows.append(row(metric, None, 0, condition=condition, reason=reason))
            continue
        try:
            items = key_items(subject, task, options, length)
        except DataError as error:
            rows.append(row(metric, None, 0, condition=condition, reason=str(error)))
            continue
        rows += make_rows(subject, items, condition)
    return rows


def key_items(subject: Subject, task: str, options: Options, length: int) -> list[SeededItem]:
    """Return the items of a passkey task, each with its seed.

    Raises DataError if the length is too short for the prompt, or the book generates no items.
    """
    items = [
        (seed, item)
        for seed in options.seeds
        for item in subject.book.items(task, options.items, seed, subject.tokenizer, length=length)
    ]
    if not items:
        raise DataError(f"no items of {task} to ask; give --items of 1 or more")
    return items


def batch_size(length: int) -> int:
    """Return how many prompts of this length are run in one batch."""
    return max(1, min(ROWS, TOKENS // length))


def score_options(subject: Subject, groups: Sequence[Sequence[Question]], length: int) -> list[list[Scores]]:
    """Return log-probabilities of the answer options of grouped prompts, each of about `length` tokens.

    Prompts of one group share a prefix, which is run once. The result is saved, so that a rerun does not ask again.
    """

    def ask() -> list[list[dict[str, Any]]]:
        scores_by_group = grouped_logprobs(subject.model, subject.tokenizer, groups, batch_size(length))
        return [[asdict(scores) for scores in scores_of_group] for scores_of_group in scores_by_group]

    questions = [[[prompt, list(options)] for prompt, options in group] for group in groups]
    records_by_group = ask_once(subject, "options", {"asked": questions}, ask)
    return [
        [Scores(tuple(record["options"]), tuple(record["logprobs"]), tuple(record["tokens"])) for record in records]
        for records in records_by_group
    ]


def ranking_credit(values: Sequence[float], right: int) -> tuple[float, int]:
    """Return the credit of an item, and the number m of candidates that tie for the first place.

    The credit is 1/m if the right candidate is one of the m, else 0.
    """
    highest = max(values)
    leaders = [candidate for candidate, value in enumerate(values) if value >= highest - TIE]
    return (1 / len(leaders) if right in leaders else 0.0), len(leaders)


def share_higher(values: Sequence[float], others: Sequence[float]) -> float:
    """Return the share of pairs (value, other) with value > other; ties count half (Mann and Whitney)."""
    wins = sum((value > other + TIE) + 0.5 * (abs(value - other) <= TIE) for value in values for other in others)
    return wins / (len(values) * len(others))


def _log_odds(scores: Scores) -> float:
    return scores.logprobs[scores.options.index(YES)] - scores.logprobs[scores.options.index(NO)]


def _verification_rows(subject: Subject, items: Sequence[SeededItem], condition: str) -> list[Row]:
    groups = [[(item.prompt, item.options)] for _, item in items]
    scores_of_items = [scores for [scores] in score_options(subject, groups, int(items[0][1].facts["length"]))]
    by_kind: dict[str, list[Scores]] = {}
    right = 0
    for (_, item), scores in zip(items, scores_of_items, strict=True):
        by_kind.setdefault(str(item.facts["kind"]), []).append(scores)
        right += (_log_odds(scores) > 0) == (item.answer == YES)
    rows = [row("verification_accuracy", right / len(items), len(items), condition=condition)]
    exact = [_log_odds(scores) for scores in by_kind.get(EXACT, [])]
    misses = [_log_odds(scores) for kind, kind_scores in by_kind.items() if kind != EXACT for scores in kind_scores]
    for kind, kind_scores in sorted(by_kind.items()):
        n = len(kind_scores)
        shares = [scores.normalised(YES) for scores in kind_scores]
        rows.append(row(f"p_yes_{kind}", sum(shares) / n, n, condition=condition))
        raw = sum(scores.raw(YES) for scores in kind_scores) / n
        rows.append(row(f"p_yes_raw_{kind}", raw, n, condition=condition))
        sd = standard_deviation(shares)
        reason = "one item has no spread" if sd is None else ""
        rows.append(row(f"p_yes_{kind}_sd", sd, n, condition=condition, reason=reason))
        if kind != EXACT and exact:
            auc = share_higher(exact, [_log_odds(scores) for scores in kind_scores])
            rows.append(row(f"verification_auc_{kind}", auc, n + len(exact), condition=condition))
    if exact and misses:
        rows.append(row("verification_auc", share_higher(exact, misses), len(items), condition=condition))
    else:
        reason = "exact keys and misses are compared; one of them was not asked for"
        rows.append(row("verification_auc", None, 0, condition=condition, reason=reason))
    return rows


def _ranking_rows(subject: Subject, items: Sequence[SeededItem], condition: str) -> list[Row]:
    length = int(items[0][1].facts["length"])
    candidates = [tuple(str(key) for key in item.facts["candidates"]) for _, item in items]
    answers = [keys.index(item.answer) for keys, (_, item) in zip(candidates, items, strict=True)]
    groups = [
        [(item.prompt, keys), *((prompt, (YES, NO)) for prompt in item.facts["prompts"])]
        for keys, (_, item) in zip(candidates, items, strict=True)
    ]
    scores_of_items = score_options(subject, groups, length)
    rows = []
    values_by_metric = {
        "ranking_likelihood": [list(by_prompt[0].logprobs) for by_prompt in scores_of_items],
        "ranking_yes": [[_log_odds(scores) for scores in by_prompt[1:]] for by_prompt in scores_of_items],
    }
    for metric, values_of_items in values_by_metric.items():
        credits = [ranking_credit(values, answer) for values, answer in zip(values_of_items, answers, strict=True)]
        rows.append(row(metric, sum(credit for credit, _ in credits) / len(items), len(items), condition=condition))
        tied_share = sum(leaders > 1 for _, leaders in credits) / len(items)
        rows.append(row(f"{metric}_tied", tied_share, len(items), condition=condition))
    chance = sum(1 / len(keys) for keys in candidates) / len(items)
    rows.append(row("ranking_chance", chance, len(items), condition=condition))
    return rows
