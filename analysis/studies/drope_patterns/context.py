"""Compare passkey retrieval over context length between models, prompt formats and protocols."""

import re
from itertools import combinations

import pandas as pd

from analysis.vocabulary import PAIR
from boundpaper.statistics import Estimate, attach, fisher, frame, wilson_interval
from boundpaper.statistics.families import corrected
from boundpaper.statistics.guards import mixed_protocol

PROTOCOLS = {"lengths": "11.2", "errors": "11.5", "formats": "11.7"}


def context_cells(
    drope_context: pd.DataFrame,
    drope_errors: pd.DataFrame,
    drope_stated: pd.DataFrame,
    drope_formats: pd.DataFrame,
    drope_protocols: pd.DataFrame,
    models: pd.DataFrame,
) -> pd.DataFrame:
    """Return retrievals by protocol, model, context and prompt format: counts, and Wilson's 95 % interval in percent.

    Counts are printed percentages times the trials of a cell, which must be whole. `beyond` says whether the context
    exceeds the base model's training length. RoPE's answers in 11.5 are stated jointly for all contexts up to the
    training length; they are assigned to the section's two contexts in that range. Raises ValueError if a printed
    percentage is not a whole number of trials.
    """
    limit = int(models[models["model"] == "llama2-7b-rope"]["claimed_context"].iloc[0])
    statements = drope_stated.set_index("statement")["value"]
    cells: list[tuple[str, str, int, str, float | None, str]] = []
    for _, row in drope_context.iterrows():
        cells.append(("lengths", row["positional"], row["context"], "single", row["value"], row["printed"]))
    exact = drope_errors[(drope_errors["category"] == "exact") & (drope_errors["metric"] == "share")]
    shares = exact.set_index("context")["value"].to_dict()
    for context in dict.fromkeys(drope_errors["context"]):
        in_training = context <= limit
        rope_share = (
            statements["s11_5_rope_within_exact"]
            if in_training
            else 100.0 - statements["s11_5_rope_beyond_no_number"] - statements["s11_5_rope_beyond_wrong_length"]
        )
        cells.append(("errors", "RoPE", context, "single", rope_share, ""))
        # if a context has no row for exact answers, the other kinds add up to all trials
        cells.append(("errors", "DroPE", context, "single", shares.get(context, 0.0), ""))
    for _, row in drope_formats.iterrows():
        formats = ("ruler", "simple") if row["format"] == "any" else (row["format"],)
        cells += [
            ("formats", row["positional"], row["context"], name, row["value"], row["printed"]) for name in formats
        ]
    rows = []
    for protocol, model, context, prompt_format, share, printed_text in cells:
        section = PROTOCOLS[protocol]
        trials, precision = _trials_and_precision(drope_protocols, section)
        cell: dict[str, object] = {
            "protocol": protocol,
            "section": f"section {section}",
            "positional": model,
            "context": int(context),
            "format": prompt_format,
            "trials": trials,
            "digits": _passkey_digits(drope_protocols, section, prompt_format),
            "precision": precision,
            "beyond": bool(context > limit),
            "multiple": context / limit,
        }
        if share is None or pd.isna(share):
            rows.append({**cell, "note": f"correct, share, ci_low, ci_high: the source prints {printed_text!r}"})
            continue
        correct = trials * share / 100
        if abs(correct - round(correct)) > 1e-9:
            raise ValueError(
                f"{section} {model} {context}: {share} % of {trials} trials is no whole number of answers; check both"
            )
        low, high = wilson_interval(round(correct), trials)
        cell |= {"correct": round(correct), "share": share, "ci_low": 100 * low, "ci_high": 100 * high, "note": ""}
        if protocol == "formats" and model == "RoPE":
            cell["note"] = "one printed value stands for both formats"
        rows.append(cell)
    table = pd.DataFrame(rows).astype({"correct": "Int64"})
    columns = "protocol section positional context format trials digits precision beyond multiple".split()
    return table[[*columns, "correct", "share", "ci_low", "ci_high", "note"]]


def _trials_and_precision(protocols: pd.DataFrame, section: str) -> tuple[int, str]:
    """Return the number of trials per cell and the precision of a section."""
    row = protocols[protocols["section"] == section].iloc[0]
    match = re.match(r"(\d+) per cell", str(row["items"]))
    if match is None:
        raise ValueError(f"drope_protocols: section {section} has items {row['items']!r}; write, e.g., `50 per cell`")
    return int(match[1]), str(row["precision"])


def _passkey_digits(protocols: pd.DataFrame, section: str, prompt_format: str) -> int:
    """Return how many digits the number to retrieve has; this may depend on the prompt format."""
    cell = str(protocols[protocols["section"] == section]["passkey_digits"].iloc[0])
    by_format = {name.lower(): int(count) for count, name in re.findall(r"(?<!\d)(\d++) \((\w+)", cell)}
    return by_format[prompt_format] if by_format else int(cell)


def context_tests(context_cells: pd.DataFrame, test_families: pd.DataFrame) -> pd.DataFrame:
    """Return Fisher's exact tests in three families, with Holm in each.

    `models`: RoPE against DroPE in every common cell. `protocols`: DroPE at one context under two protocols.
    `formats`: DroPE with two prompt formats, by context and pooled. Prompts are drawn without seeds, so trials are
    not paired; formats also differ in the number of digits.
    """
    counted_cells = context_cells[context_cells["correct"].notna()]
    tests: list[Estimate] = []
    keys = ["protocol", "context", "format"]
    for key, rows in counted_cells.groupby(keys, sort=False):
        if rows["positional"].nunique() == 2:
            rope, drope = (rows[rows["positional"] == name].iloc[0] for name in PAIR)
            tests.append(_fisher_test(rope, drope, "models", ", ".join(map(str, key))))
    drope_cells = counted_cells[counted_cells["positional"] == "DroPE"]
    for context in dict.fromkeys(drope_cells["context"]):
        at_context = drope_cells[drope_cells["context"] == context]
        for (_, first), (_, second) in combinations(at_context.iterrows(), 2):
            if first["protocol"] != second["protocol"]:
                name = f"{context}: {_row_name(first)} against {_row_name(second)}"
                tests.append(_fisher_test(first, second, "protocols", name, "DroPE only"))
    formats = drope_cells[drope_cells["protocol"] == "formats"]
    sums = pd.DataFrame(formats.groupby(["format", "digits", "precision"], as_index=False)[["correct", "trials"]].sum())
    by_context = {str(context): pd.DataFrame(rows) for context, rows in formats.groupby("context")}
    for name, cells in {**by_context, "both contexts": sums}.items():
        ruler, simple = (cells[cells["format"] == prompt_format].iloc[0] for prompt_format in ("ruler", "simple"))
        tests.append(_fisher_test(ruler, simple, "formats", name, "DroPE only"))
    return frame(corrected(tests, test_families, "context_tests"))


def _row_name(row: pd.Series) -> str:
    return f"{row['protocol']} {row['format']}" if row["format"] != "single" else str(row["protocol"])


def _fisher_test(first: pd.Series, second: pd.Series, study: str, comparison: str, note: str = "") -> Estimate:
    counts = [int(row[name]) for row in (first, second) for name in ("correct", "trials")]
    test = fisher(*counts, study=study, comparison=comparison, unit="trial", note=note)
    settings = {
        f"{name} {int(row['correct'])}/{int(row['trials'])}": {key: str(row[key]) for key in ("digits", "precision")}
        for name, row in (("first", first), ("second", second))
    }
    return attach(test, mixed_protocol(settings))
