"""Test whether a claim's verdict changes when its inputs are changed in memory: shifted, negated, reordered or cut.

    python -m boundpaper.claims.mutate [NAME...]

The command lists the verdicts that no mutation of an input changes. A claim whose verdict cannot change tests nothing.
"""

import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from boundpaper import places
from boundpaper.claims.relations import Cells
from boundpaper.claims.verdict import Verdict
from boundpaper.errors import ThesisError
from boundpaper.store import reader as store
from boundpaper.store.frames import PARSED, parsed

Claim = Callable[..., Verdict | list[Verdict]]
Frames = Mapping[str, pd.DataFrame]

_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_ABSOLUTE = re.compile(r"\b(no|none|not|never|neither|nor|nothing|cannot|all|every|each|both|only)\b", re.IGNORECASE)
_REMARKS = {"source", "reason", "note"}  # columns that no claim reads
# Errors with which a claim may refuse mutated inputs; they do not count as a changed verdict.
REFUSALS = (ThesisError, ValueError, KeyError, IndexError, ZeroDivisionError, TypeError, AttributeError)


@dataclass
class MutationOutcome:
    """For each of three effects on one verdict, the first mutation that had the effect; empty if no mutation had it.

    `changed_by` changed the verdict, and `reworded_by` its reason or values. `unexplained` changed the verdict without
    changing the reason (`_is_unexplained`).
    """

    claim: str
    verdict: str
    changed_by: str = ""
    reworded_by: str = ""
    unexplained: str = ""


@dataclass
class Tally:
    """The outcomes of one claim by key, and the number of mutations tried."""

    outcomes: dict[str, MutationOutcome] = field(default_factory=dict)
    tried: int = 0

    @property
    def all_changed(self) -> bool:
        """Return whether every verdict has changed."""
        return all(outcome.changed_by for outcome in self.outcomes.values())

    @property
    def any_changed(self) -> bool:
        """Return whether any verdict or reason has changed."""
        return any(outcome.changed_by or outcome.reworded_by for outcome in self.outcomes.values())


def claims(folder: Path) -> dict[str, Claim]:
    """Return every claim in the folder of claims, by name."""
    return dict(public_steps(folder))


def public_steps(folder: Path) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield each step in a folder as its name and its function or declaration; skip names that begin with `_`."""
    for path in sorted(folder.rglob("*.py")):
        names = path.relative_to(folder.parents[1]).with_suffix("").parts
        if any(name.startswith("_") for name in names):
            continue
        module = importlib.import_module(".".join(names))
        for name, step in inspect.getmembers(module):
            is_defined_here = inspect.isfunction(step) and step.__module__ == module.__name__
            if not name.startswith("_") and (is_defined_here or isinstance(step, Cells)):
                yield name, step


def reads(step: Callable[..., Any]) -> list[str]:
    """Return the artifacts that a step reads, which are its parameters without a default."""
    parameters = inspect.signature(step).parameters.values()
    return [parameter.name for parameter in parameters if parameter.default is parameter.empty]


def read_inputs(root: Path, claim: Claim) -> dict[str, pd.DataFrame]:
    """Return the artifacts that a claim reads, by name."""
    return {name: store.read(root, name) for name in reads(claim)}


def mutate_claim(name: str, claim: Claim, frames: Frames, most: int = 4000, words: bool = False) -> Tally:
    """Return the outcomes of changing the inputs of a claim, one change at a time.

    Mutations stop when each verdict has changed, after `most` mutations, or with `words`, when one verdict or reason
    has changed.
    """
    tally = Tally()
    old_verdicts = verdicts_by_key(claim, frames)
    for key, verdict in old_verdicts.items():
        tally.outcomes[key] = MutationOutcome(f"{name}.{key}" if key else name, verdict.verdict)
    for mutation, changed_frames in mutations(frames, old_verdicts.values()):
        if tally.all_changed or tally.tried >= most or (words and tally.any_changed):
            break
        tally.tried += 1
        try:
            new_verdicts = verdicts_by_key(claim, changed_frames)
        except REFUSALS:
            continue
        for key in old_verdicts.keys() & new_verdicts.keys():
            _record_outcome(tally.outcomes[key], old_verdicts[key], new_verdicts[key], mutation)
    return tally


def verdicts_by_key(claim: Claim, frames: Frames) -> dict[str, Verdict]:
    """Return the verdicts of a claim, computed from these artifacts, by key."""
    verdicts = claim(**frames)
    return {verdict.key: verdict for verdict in (verdicts if isinstance(verdicts, list) else [verdicts])}


def _record_outcome(outcome: MutationOutcome, old: Verdict, new: Verdict, mutation: str) -> None:
    if old.verdict != new.verdict:
        outcome.changed_by = outcome.changed_by or mutation
        if _is_unexplained(old, new):
            outcome.unexplained = outcome.unexplained or mutation
    if (old.reason, old.reported, old.recomputed) != (new.reason, new.reported, new.recomputed):
        outcome.reworded_by = outcome.reworded_by or mutation


def _is_unexplained(old: Verdict, new: Verdict) -> bool:
    """Return whether neither the reason nor the numbers of a verdict explain why the verdict has changed.

    Any change of reason, reported value, interval or p-value is an explanation. A changed recomputed value is one only
    if a printed number is compared with it, or if the reason has no word such as "not", "all" or "only".
    """
    if old.reason != new.reason or old.reported != new.reported or _test_numbers(old) != _test_numbers(new):
        return False
    is_number_check = "number" in (old.failure, new.failure)
    return old.recomputed == new.recomputed or (not is_number_check and bool(_ABSOLUTE.search(new.reason)))


def _test_numbers(verdict: Verdict) -> tuple[float | None, ...]:
    """Return the interval ends and the raw and the corrected p-value by which an effect is judged."""
    return (verdict.ci_low, verdict.ci_high, verdict.p_value, verdict.p_adjusted)


def mutations(frames: Frames, verdicts: Iterable[Verdict] = ()) -> Iterator[tuple[str, dict[str, pd.DataFrame]]]:
    """Yield changed inputs, each with a description of its mutation.

    First, reported values are replaced by the recomputed values of `verdicts`, the verdicts on the unchanged inputs.
    Then estimates with an interval and p-values are made significant, not significant or zero, with either sign. Then
    columns are changed: numbers are shifted by a third (far beyond their printed precision), negated, set to 0 or 1,
    scaled, made equal, sorted or reversed; truth values are negated; words are all set to one word or reversed. Then
    single cells are changed in the same ways. Finally, single rows are removed.
    """
    repairs = {verdict.reported: verdict.recomputed for verdict in verdicts if verdict.reported and verdict.recomputed}
    repaired_frames = partial(_repaired_frames, repairs)
    for changed_copies in (repaired_frames, _changed_tests, _changed_columns, _changed_cells, _without_rows):
        for name, frame in frames.items():
            for mutation, changed_frame in changed_copies(frame):
                yield f"{name}: {mutation}", {**frames, name: changed_frame}


def _repaired_frames(repairs: Mapping[str, str], frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the frame in which each printed value that is a key of `repairs` is replaced by its recomputed value."""
    if "printed" not in frame.columns or not set(frame["printed"]) & set(repairs):
        return
    texts = [repairs.get(text, text) for text in frame["printed"]]
    yield from _reprinted_frames("reported values replaced by recomputed values", frame, texts)


def _changed_tests(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield copies whose estimates are all 0, or, with either sign, all significant or all not significant."""
    # The numbers that the store parses from printed text are no estimates.
    parsed_columns = set(PARSED) if "printed" in frame.columns else set()
    triples = [
        (estimate, low, high)
        for low in frame.columns
        if low not in parsed_columns and str(low).endswith("low") and (high := str(low)[:-3] + "high") in frame.columns
        for estimate in (str(low)[:-4], "estimate", "mean_difference", "difference", "rho", "value")
        if estimate in frame.columns
    ]
    if not triples:
        return
    for mutation, sign, relative_width, p in (
        ("sure", 1, 0.1, 1e-9),
        ("clear, with the other sign", -1, 0.1, 1e-9),
        ("unsure", 1, 3.0, 0.9),
        ("unclear, with the other sign", -1, 3.0, 0.9),
        ("nothing", 0, 0.1, 1.0),
    ):
        new_frame = frame.copy()
        for estimate, low, high in triples:
            size = frame[estimate].abs().astype(float).where(lambda values: values > 0, 1.0)
            new_frame[estimate] = sign * size
            half_width = relative_width * size if sign else 1e-6 * size
            new_frame[low], new_frame[high] = new_frame[estimate] - half_width, new_frame[estimate] + half_width
        for column in [name for name in frame.columns if re.match(r"p_", str(name)) and frame[name].dtype == float]:
            new_frame[column] = p
        yield f"every estimate made {mutation}", new_frame


def _changed_columns(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    if "printed" in frame.columns:
        for description, change_text in _TEXT_CHANGES.items():
            yield from _reprinted_frames(f"printed {description}", frame, list(map(change_text, frame["printed"])))
        yield from _reprinted_frames("printed in the opposite order", frame, list(frame["printed"])[::-1])
    for column in _changeable_columns(frame):
        values = frame[column]
        if pd.api.types.is_bool_dtype(values):
            yield f"{column} negated", frame.assign(**{column: ~values})
        elif pd.api.types.is_numeric_dtype(values):
            for description, change in {**_NUMBER_CHANGES, **_SERIES_CHANGES}.items():
                yield f"{column} {description}", frame.assign(**{column: change(values)})
        else:
            for word in dict.fromkeys((values.iloc[0], values.iloc[-1], "another word") if len(frame) else ()):
                yield f"{column} all {word!r}", frame.assign(**{column: word})
        if len(frame) > 1 and not values.equals(values.iloc[::-1]):
            yield f"{column} in the opposite order", frame.assign(**{column: values.to_numpy()[::-1]})


def _changed_cells(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    numeric_columns = [name for name in _changeable_columns(frame) if pd.api.types.is_numeric_dtype(frame[name])]
    for row in range(len(frame)):
        if "printed" in frame.columns:
            for description, change_text in _TEXT_CHANGES.items():
                texts = list(frame["printed"])
                texts[row] = change_text(texts[row])
                if texts[row] != frame["printed"].iloc[row]:
                    yield from _reprinted_frames(f"row {row + 2}, printed {description}", frame, texts)
        for column in numeric_columns:
            changes = _BOOL_CHANGES if pd.api.types.is_bool_dtype(frame[column]) else _NUMBER_CHANGES
            for description, change_number in changes.items():
                values = list(frame[column])
                values[row] = change_number(frame[column]).iloc[row]
                yield f"row {row + 2}, {column} {description}", frame.assign(**{column: values})


def _without_rows(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    for row in range(len(frame) if len(frame) > 1 else 0):
        yield f"row {row + 2} left out", frame.drop(index=frame.index[row]).reset_index(drop=True)


def _changeable_columns(frame: pd.DataFrame) -> list[str]:
    """Return the columns that mutations change: all except remarks, printed text and the numbers parsed from it."""
    printed_columns = {"printed", *PARSED} if "printed" in frame.columns else set()
    return [name for name in frame.columns if name not in _REMARKS | printed_columns]


def _reprinted_frames(description: str, frame: pd.DataFrame, texts: list[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the frame that prints these texts, or nothing if a text, such as a negated bound, cannot be parsed."""
    try:
        yield description, reprinted(frame, texts)
    except ThesisError:
        return


def reprinted(frame: pd.DataFrame, texts: list[str]) -> pd.DataFrame:
    """Return a source table with these texts in its column `printed`, and with the numbers parsed again."""
    unparsed = frame.drop(columns=[name for name in PARSED if name in frame.columns])
    return parsed(unparsed.assign(printed=texts), words=True)


def shift_numbers(text: str, share: float) -> str:
    """Return a printed text with each number changed by a share of itself, at least by one unit of its last digit."""

    def shift(match: re.Match[str]) -> str:
        digits = match[0].replace(",", "")
        decimals = len(digits.partition(".")[2])
        value = float(digits)
        new_value = value * (1 + share) if value else 5.0 * 10.0**-decimals
        if f"{new_value:.{decimals}f}" == f"{value:.{decimals}f}":
            new_value = value + 10.0**-decimals
        return f"{new_value:,.{decimals}f}" if "," in match[0] else f"{new_value:.{decimals}f}"

    return _NUMBER.sub(shift, text)


def flip_sign(text: str) -> str:
    """Return a printed text with the sign of its first number changed."""
    match = re.search(r"[-+−]?\d", text)
    if not match:
        return text
    sign = "" if match[0][0] in "-−" else "-"
    return text[: match.start()] + sign + match[0].lstrip("-+−") + text[match.end() :]


_TEXT_CHANGES = {
    "moved up": lambda text: shift_numbers(text, 1 / 3),
    "moved down": lambda text: shift_numbers(text, -1 / 3),
    "flipped": flip_sign,
}
_NUMBER_CHANGES: dict[str, Callable[[pd.Series], pd.Series]] = {
    "moved up": lambda values: values.astype(float) * (4 / 3) + 0.01 * values.astype(float).eq(0),
    "moved down": lambda values: values.astype(float) * (2 / 3) - 0.01 * values.astype(float).eq(0),
    "flipped": lambda values: -values.astype(float),
    "set to zero": lambda values: values.astype(float) * 0,
    "set to one": lambda values: values.astype(float) * 0 + 1,
    "a hundredfold": lambda values: values.astype(float) * 100,
    "a hundredth": lambda values: values.astype(float) / 100,
}
_SERIES_CHANGES: dict[str, Callable[[pd.Series], pd.Series]] = {
    "levelled": lambda values: values.astype(float) * 0 + float(values.median()),
    "rising": lambda values: pd.Series(sorted(values.astype(float)), index=values.index),
    "falling": lambda values: pd.Series(sorted(values.astype(float), reverse=True), index=values.index),
}
_BOOL_CHANGES: dict[str, Callable[[pd.Series], pd.Series]] = {"negated": lambda values: ~values.astype(bool)}


def main(names: list[str]) -> int:
    """Print verdicts that no mutation changes, and verdicts that change without a new reason; return 1 if any exist."""
    root = places.project()
    all_claims = claims(root / "analysis/claims")
    selected_claims = {name: claim for name, claim in all_claims.items() if not names or name in names}
    n_stuck = 0
    for name, claim in selected_claims.items():
        for outcome in mutate_claim(name, claim, read_inputs(root, claim)).outcomes.values():
            if not outcome.changed_by:
                effect = "never turns" if outcome.reworded_by else "never turns, nor is reworded"
                print(f"{outcome.claim}: {outcome.verdict}, {effect}")
            elif outcome.unexplained:
                print(f"{outcome.claim}: changes without a new reason or value ({outcome.unexplained})")
            n_stuck += not outcome.changed_by or bool(outcome.unexplained)
    print(f"{len(selected_claims)} claims, {n_stuck} verdicts stuck or silent")
    return int(n_stuck > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
