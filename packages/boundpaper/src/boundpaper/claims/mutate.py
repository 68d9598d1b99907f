"""Test whether a claim's verdict changes when its inputs are changed in memory: shifted, negated, reordered or cut.

    python -m boundpaper.claims.mutate [NAME...]

lists the verdicts that no change of an input changes. A claim whose verdict cannot change tests nothing.
"""

import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
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
_FIXED = re.compile(r"\b(no|none|not|never|neither|nor|nothing|cannot|all|every|each|both|only)\b", re.IGNORECASE)
_NOT_READ = {"source", "reason", "note"}
# Errors that a claim may raise on mutated inputs: it noticed the mutation, but its verdict did not change.
NOTICED = (ThesisError, ValueError, KeyError, IndexError, ZeroDivisionError, TypeError, AttributeError)


@dataclass
class MutationOutcome:
    """Outcome of all mutations for one verdict.

    `turned` is the first mutation that changed the verdict, `reworded` the first that changed its reason or values, and
    `unexplained` the first that changed the verdict but not its words (`_reason_unchanged`); all may be empty.
    """

    claim: str
    verdict: str
    turned: str = ""
    reworded: str = ""
    unexplained: str = ""


@dataclass
class Tally:
    """The outcomes of one claim by key, with the number of mutations tried and the number that raised an error."""

    answers: dict[str, MutationOutcome] = field(default_factory=dict)
    tried: int = 0
    noticed: int = 0

    @property
    def done(self) -> bool:
        """Return whether every verdict has changed."""
        return all(answer.turned for answer in self.answers.values())

    @property
    def any_changed(self) -> bool:
        """Return whether any verdict or reason has changed."""
        return any(answer.turned or answer.reworded for answer in self.answers.values())


def claims(folder: Path) -> dict[str, Claim]:
    """Return every claim in the folder of claims, by name."""
    return dict(public_steps(folder))


def public_steps(folder: Path) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield a folder's steps by name, functions or declarations; names that begin with `_` are helpers."""
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder.parents[1]).with_suffix("").parts
        if any(part.startswith("_") for part in parts):
            continue
        module = importlib.import_module(".".join(parts))
        for name, step in inspect.getmembers(module):
            is_defined_here = inspect.isfunction(step) and step.__module__ == module.__name__
            if not name.startswith("_") and (is_defined_here or isinstance(step, Cells)):
                yield name, step


def read_inputs(root: Path, claim: Claim) -> dict[str, pd.DataFrame]:
    """Return the artifacts that a claim reads, by name."""
    parameters = inspect.signature(claim).parameters.values()
    return {item.name: store.read(root, item.name) for item in parameters if item.default is item.empty}


def mutate_claim(name: str, claim: Claim, frames: Frames, most: int = 4000, words: bool = False) -> Tally:
    """Change the inputs of a claim one at a time, until each of its verdicts has changed.

    At most `most` mutations are tried; with `words`, stop once one verdict or reason has changed. Return for each
    verdict the mutations that changed it.
    """
    tally = Tally()
    base = verdicts_by_key(claim, frames)
    for key, verdict in base.items():
        tally.answers[key] = MutationOutcome(f"{name}.{key}" if key else name, verdict.verdict)
    for mutation, changed_frames in mutations(frames, base.values()):
        if tally.done or tally.tried >= most or (words and tally.any_changed):
            break
        tally.tried += 1
        try:
            now = verdicts_by_key(claim, changed_frames)
        except NOTICED:
            tally.noticed += 1
            continue
        for key, verdict in now.items():
            if key in base:
                _record_outcome(tally.answers[key], base[key], verdict, mutation)
    return tally


def verdicts_by_key(claim: Claim, frames: Frames) -> dict[str, Verdict]:
    """Return the verdicts of a claim, computed from these artifacts, by key."""
    verdicts = claim(**frames)
    return {verdict.key: verdict for verdict in (verdicts if isinstance(verdicts, list) else [verdicts])}


def _record_outcome(answer: MutationOutcome, old_verdict: Verdict, now: Verdict, mutation: str) -> None:
    values = [(verdict.reason, verdict.reported, verdict.recomputed) for verdict in (old_verdict, now)]
    if old_verdict.verdict != now.verdict:
        answer.turned = answer.turned or mutation
        if _reason_unchanged(old_verdict, now):
            answer.unexplained = answer.unexplained or mutation
    if values[0] != values[1]:
        answer.reworded = answer.reworded or mutation


def _reason_unchanged(old: Verdict, now: Verdict) -> bool:
    """Return whether a verdict has changed while its reason has not.

    The same reason is acceptable only if a number beside it explains the change: the reported value, the interval or
    the p-value changed, or the recomputed value changed and the reason has no "none", "not", "all" or "only".
    """
    if old.reason != now.reason or old.reported != now.reported or _test_numbers(old) != _test_numbers(now):
        return False
    is_number_check = "number" in (old.failure, now.failure)
    return old.recomputed == now.recomputed or (not is_number_check and bool(_FIXED.search(now.reason)))


def _test_numbers(verdict: Verdict) -> tuple[float | None, ...]:
    """Return the interval ends and the p-value by which an effect is judged."""
    return (verdict.ci_low, verdict.ci_high, verdict.p_value, verdict.p_adjusted)


def mutations(frames: Frames, verdicts: Iterable[Verdict] = ()) -> Iterator[tuple[str, dict[str, pd.DataFrame]]]:
    """Yield changed inputs, each with a description: first repairs, tests and whole columns, then single cells and
    rows.

    Reported values are replaced by recomputed values; an estimate with interval and p-value is made clear, clear with
    the other sign, and null; numbers are shifted up and down by a third, far beyond printed precision, negated, set to
    0 and to 1, made equal, sorted and reversed; true and false are exchanged; words are all set to one word, and
    exchanged between rows; rows are removed one by one. `verdicts` are the claim's verdicts on its unchanged inputs,
    for the repairs.
    """
    repairs = {verdict.reported: verdict.recomputed for verdict in verdicts if verdict.reported and verdict.recomputed}
    for name, frame in frames.items():
        for mutation, changed_frame in _repaired_frames(frame, repairs):
            yield f"{name}: {mutation}", {**frames, name: changed_frame}
    for size in ("test", "column", "cell", "row"):
        for name, frame in frames.items():
            for mutation, changed_frame in _SIZES[size](frame):
                yield f"{name}: {mutation}", {**frames, name: changed_frame}


def _repaired_frames(frame: pd.DataFrame, repairs: Mapping[str, str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the frame in which all printed cells that verdicts report are replaced by recomputed values at once."""
    if "printed" not in frame.columns or not set(frame["printed"]) & set(repairs):
        return
    texts = [repairs.get(text, text) for text in frame["printed"]]
    yield from _reprinted_frames("reported values replaced by recomputed values", frame, texts)


def _changed_tests(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield copies whose estimates are all significant or all not, of either sign, or all 0; skip parsed columns."""
    parsed_too = set(PARSED) if "printed" in frame.columns else set()
    triples = [
        (middle, low, high)
        for low in frame.columns
        if low not in parsed_too and str(low).endswith("low") and (high := str(low)[:-3] + "high") in frame.columns
        for middle in (str(low)[:-4], "estimate", "mean_difference", "difference", "rho", "value")
        if middle in frame.columns
    ]
    if not triples:
        return
    for mutation, sign, reach, p in (
        ("sure", 1, 0.1, 1e-9),
        ("clear, with the other sign", -1, 0.1, 1e-9),
        ("unsure", 1, 3.0, 0.9),
        ("unclear, with the other sign", -1, 3.0, 0.9),
        ("nothing", 0, 0.1, 1.0),
    ):
        new_frame = frame.copy()
        for middle, low, high in triples:
            size = frame[middle].abs().astype(float).where(lambda values: values > 0, 1.0)
            new_frame[middle] = sign * size if sign else 0 * size
            half_width = reach * size if sign else 1e-6 * size
            new_frame[low], new_frame[high] = new_frame[middle] - half_width, new_frame[middle] + half_width
        for column in [name for name in frame.columns if re.match(r"p_", str(name)) and frame[name].dtype == float]:
            new_frame[column] = p
        yield f"every estimate made {mutation}", new_frame


def _changed_columns(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    if "printed" in frame.columns:
        for description, change in _PRINTED.items():
            yield from _reprinted_frames(f"printed {description}", frame, [change(text) for text in frame["printed"]])
        yield from _reprinted_frames("printed in the opposite order", frame, list(frame["printed"])[::-1])
    for column in _changeable_columns(frame):
        values = frame[column]
        if pd.api.types.is_bool_dtype(values):
            yield f"{column} negated", frame.assign(**{column: ~values})
        elif pd.api.types.is_numeric_dtype(values):
            for description, number in {**_NUMBERS, **_SERIES}.items():
                yield f"{column} {description}", frame.assign(**{column: number(values)})
        else:
            for word in dict.fromkeys((values.iloc[0], values.iloc[-1], "another word") if len(frame) else ()):
                yield f"{column} all {word!r}", frame.assign(**{column: word})
        if len(frame) > 1 and not values.equals(values.iloc[::-1]):
            yield f"{column} in the opposite order", frame.assign(**{column: values.to_numpy()[::-1]})


def _changed_cells(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    numeric = [name for name in _changeable_columns(frame) if pd.api.types.is_numeric_dtype(frame[name])]
    for row in range(len(frame)):
        if "printed" in frame.columns:
            for label, change in _PRINTED.items():
                texts = list(frame["printed"])
                texts[row] = change(texts[row])
                if texts[row] != frame["printed"].iloc[row]:
                    yield from _reprinted_frames(f"row {row + 2}, printed {label}", frame, texts)
        for column in numeric:
            for label, number in _NUMBERS.items() if not pd.api.types.is_bool_dtype(frame[column]) else _BOOLS.items():
                new_frame = frame.copy()
                values = number(frame[column])
                new_frame[column] = [
                    new if at == row else old for at, (old, new) in enumerate(zip(frame[column], values, strict=True))
                ]
                yield f"row {row + 2}, {column} {label}", new_frame


def _without_rows(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    for row in range(len(frame) if len(frame) > 1 else 0):
        yield f"row {row + 2} left out", frame.drop(index=frame.index[row]).reset_index(drop=True)


def _changeable_columns(frame: pd.DataFrame) -> list[str]:
    """Return the columns that mutations change one by one; omit remarks and numbers parsed from printed text."""
    parsed_too = {"printed", *PARSED} if "printed" in frame.columns else set()
    return [name for name in frame.columns if name not in _NOT_READ | parsed_too]


def _reprinted_frames(description: str, frame: pd.DataFrame, texts: list[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the frame that prints these texts, unless one of them is not a valid number, such as a negated bound."""
    try:
        yield description, reprinted(frame, texts)
    except ThesisError:
        return


def reprinted(frame: pd.DataFrame, texts: list[str]) -> pd.DataFrame:
    """Return a long source that prints these texts, with the numbers parsed again."""
    unparsed = frame.drop(columns=[name for name in PARSED if name in frame.columns])
    return parsed(unparsed.assign(printed=texts), words=True)


def shift_numbers(text: str, share: float) -> str:
    """Return a printed text with each number changed by a fraction of itself (zero by 0.5), with the same decimals."""

    def number(match: re.Match[str]) -> str:
        digits = match[0].replace(",", "")
        decimals = len(digits.partition(".")[2])
        value = float(digits)
        new_value = value * (1 + share) if value else 5.0 * 10.0**-decimals
        if f"{new_value:.{decimals}f}" == f"{value:.{decimals}f}":
            new_value = value + 10.0**-decimals
        return f"{new_value:,.{decimals}f}" if "," in match[0] else f"{new_value:.{decimals}f}"

    return _NUMBER.sub(number, text)


def flip_sign(text: str) -> str:
    """Return a printed text with the sign of its first number changed."""
    match = re.search(r"[-+−]?\d", text)
    if not match:
        return text
    sign = "" if match[0][0] in "-−" else "-"
    return text[: match.start()] + sign + match[0].lstrip("-+−") + text[match.end() :]


_PRINTED = {
    "moved up": lambda text: shift_numbers(text, 1 / 3),
    "moved down": lambda text: shift_numbers(text, -1 / 3),
    "flipped": flip_sign,
}
_NUMBERS: dict[str, Callable[[pd.Series], pd.Series]] = {
    "moved up": lambda values: values.astype(float) * (4 / 3) + 0.01 * values.astype(float).eq(0),
    "moved down": lambda values: values.astype(float) * (2 / 3) - 0.01 * values.astype(float).eq(0),
    "flipped": lambda values: -values.astype(float),
    "set to zero": lambda values: values.astype(float) * 0,
    "set to one": lambda values: values.astype(float) * 0 + 1,
    "a hundredfold": lambda values: values.astype(float) * 100,
    "a hundredth": lambda values: values.astype(float) / 100,
}
_SERIES: dict[str, Callable[[pd.Series], pd.Series]] = {
    "levelled": lambda values: values.astype(float) * 0 + float(values.median()),
    "rising": lambda values: pd.Series(sorted(values.astype(float)), index=values.index),
    "falling": lambda values: pd.Series(sorted(values.astype(float), reverse=True), index=values.index),
}
_BOOLS: dict[str, Callable[[pd.Series], pd.Series]] = {"negated": lambda values: ~values.astype(bool)}
_SIZES = {"test": _changed_tests, "column": _changed_columns, "cell": _changed_cells, "row": _without_rows}


def main(names: list[str]) -> int:
    """Print verdicts that no mutation changes, and verdicts that change without a new reason; return 1 if any exist."""
    root = places.project()
    selected = {name: claim for name, claim in claims(root / "analysis/claims").items() if not names or name in names}
    stuck = 0
    for name, claim in selected.items():
        for answer in mutate_claim(name, claim, read_inputs(root, claim)).answers.values():
            if not answer.turned:
                print(f"{answer.claim}: {answer.verdict}, never turns{'' if answer.reworded else ', nor is reworded'}")
            elif answer.unexplained:
                print(f"{answer.claim}: changes without a new reason or value ({answer.unexplained})")
            stuck += not answer.turned or bool(answer.unexplained)
    print(f"{len(selected)} claims, {stuck} verdicts stuck or silent")
    return int(stuck > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
