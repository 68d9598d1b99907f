"""Measure whether the model recognises the right passkey: shown one alone (verification), or among four (ranking)."""

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
TOKENS = 16384  # of a batch of prompts
ROWS = 32  # most prompts of a batch
TIE = 1e-6  # nats: what rounding makes of two equal answers
Seeded = tuple[int, Item]


def choice_rows(
    subject: Subject, options: Options, length: int, condition: str, tasks: Sequence[str] = CHOICES
) -> list[Row]:
    """Measure verification and ranking of passkeys at one length, under the model's own position encoding.

    Verification: `p_yes_KIND` is the mean of p(yes) / (p(yes) + p(no)) where KIND says whether the key shown is exact
    or how it is wrong (a digit changed, two swapped, one left out, another key), `p_yes_KIND_sd` its sd over items,
    and `p_yes_raw_KIND` the mean of p(yes) itself. `verification_accuracy` scores the likelier of the two answers.
    `verification_auc_KIND` and `verification_auc` are the chance that an exact key has a higher probability than a
    wrong one (ties count one half).

    Ranking of four candidates: `ranking_likelihood` by the likelihood of the candidate after the question for the key,
    `ranking_yes` by the probability of yes to each, both as mean credit, which is 1/m if m candidates share the first
    place; `..._tied` is the share of items with such a tie, `ranking_chance` the expected credit of a guess.

    A task that the book lacks has a row without a value; a task that is not in `tasks` has no row.
    """
    rows: list[Row] = []
    for task, metric, make in (
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
        rows += make(subject, items, condition)
    return rows


def key_items(subject: Subject, task: str, options: Options, length: int) -> list[Seeded]:
    """Return the items of a task that has a passkey, each with its seed.

    Raises DataError if the length is too short for the prompt, or the book generates no items.
    """
    seeded = [
        (seed, item)
        for seed in options.seeds
        for item in subject.book.items(task, options.items, seed, subject.tokenizer, length=length)
    ]
    if not seeded:
        raise DataError(f"the book {subject.book.name} gives no items of {task}; ask for 1 or more")
    return seeded


def batch_size(length: int) -> int:
    """Return the number of prompts of a length that share a batch."""
    return max(1, min(ROWS, TOKENS // length))


def score_options(subject: Subject, groups: Sequence[Sequence[Question]], length: int) -> list[list[Scores]]:
    """Return log-probabilities of the answers to groups of prompts of about `length` tokens; cached for the next run.

    Prompts of one group share a prefix, which is run once.
    """

    def ask() -> list[list[dict[str, Any]]]:
        by_group = grouped_logprobs(subject.model, subject.tokenizer, groups, batch_size(length))
        return [[asdict(scores) for scores in group] for group in by_group]

    questions = [[[prompt, list(options)] for prompt, options in group] for group in groups]
    by_group = ask_once(subject, "options", {"asked": questions}, ask)
    return [
        [Scores(tuple(record["options"]), tuple(record["logprobs"]), tuple(record["tokens"])) for record in records]
        for records in by_group
    ]


def ranking_credit(values: Sequence[float], right: int) -> tuple[float, int]:
    """Score a ranking: 1/m if the right candidate is one of m that tie for the first place, else 0; also return m."""
    highest = max(values)
    leaders = [place for place, value in enumerate(values) if value >= highest - TIE]
    return (1 / len(leaders) if right in leaders else 0.0), len(leaders)


def share_higher(values: Sequence[float], others: Sequence[float]) -> float:
    """Return the share of pairs in which a value is above one of the others; ties count half (Mann and Whitney)."""
    wins = sum((higher > lower + TIE) + 0.5 * (abs(higher - lower) <= TIE) for higher in values for lower in others)
    return wins / (len(values) * len(others))


def _odds(scores: Scores) -> float:
    return scores.logprobs[scores.options.index(YES)] - scores.logprobs[scores.options.index(NO)]


def _verification_rows(subject: Subject, items: Sequence[Seeded], condition: str) -> list[Row]:
    groups = [[(item.prompt, item.options)] for _, item in items]
    verified = [scores for [scores] in score_options(subject, groups, int(items[0][1].facts["length"]))]
    kinds: dict[str, list[Scores]] = {}
    for (_, item), scores in zip(items, verified, strict=True):
        kinds.setdefault(str(item.facts["kind"]), []).append(scores)
    right = sum((_odds(scores) > 0) == (item.answer == YES) for (_, item), scores in zip(items, verified, strict=True))
    rows = [row("verification_accuracy", right / len(items), len(items), condition=condition)]
    exact = [_odds(scores) for scores in kinds.get(EXACT, [])]
    misses = [_odds(scores) for kind, of_kind in kinds.items() if kind != EXACT for scores in of_kind]
    for kind, group in sorted(kinds.items()):
        shares = [scores.normalised(YES) for scores in group]
        rows.append(row(f"p_yes_{kind}", sum(shares) / len(group), len(group), condition=condition))
        raw = sum(scores.raw(YES) for scores in group) / len(group)
        rows.append(row(f"p_yes_raw_{kind}", raw, len(group), condition=condition))
        wide = standard_deviation(shares)
        reason = "one item has no spread" if wide is None else ""
        rows.append(row(f"p_yes_{kind}_sd", wide, len(group), condition=condition, reason=reason))
        if kind != EXACT and exact:
            n = len(group) + len(exact)
            auc = share_higher(exact, [_odds(scores) for scores in group])
            rows.append(row(f"verification_auc_{kind}", auc, n, condition=condition))
    if exact and misses:
        rows.append(row("verification_auc", share_higher(exact, misses), len(items), condition=condition))
    else:
        reason = "exact keys and misses are compared; one of them was not asked for"
        rows.append(row("verification_auc", None, 0, condition=condition, reason=reason))
    return rows


def _ranking_rows(subject: Subject, items: Sequence[Seeded], condition: str) -> list[Row]:
    length = int(items[0][1].facts["length"])
    candidates = [tuple(str(key) for key in item.facts["candidates"]) for _, item in items]
    places = [keys.index(item.answer) for keys, (_, item) in zip(candidates, items, strict=True)]
    groups = [
        [(item.prompt, keys), *((prompt, (YES, NO)) for prompt in item.facts["prompts"])]
        for keys, (_, item) in zip(candidates, items, strict=True)
    ]
    ranked = score_options(subject, groups, length)
    rows = []
    ways = {
        "ranking_likelihood": [list(group[0].logprobs) for group in ranked],
        "ranking_yes": [[_odds(scores) for scores in group[1:]] for group in ranked],
    }
    for metric, values in ways.items():
        earned = [ranking_credit(group, place) for group, place in zip(values, places, strict=True)]
        rows.append(row(metric, sum(share for share, _ in earned) / len(items), len(items), condition=condition))
        tied = sum(ties > 1 for _, ties in earned) / len(items)
        rows.append(row(f"{metric}_tied", tied, len(items), condition=condition))
    chance = sum(1 / len(keys) for keys in candidates) / len(items)
    rows.append(row("ranking_chance", chance, len(items), condition=condition))
    return rows
