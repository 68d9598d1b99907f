"""Analyse the models' answers: ranking against chance, kinds of errors, and positions of missing digits."""

import re

import pandas as pd
from scipy import stats

from analysis.vocabulary import PAIR
from boundpaper.statistics import Estimate, fisher, frame, wilson_interval
from boundpaper.statistics.families import corrected

DISTRACTORS = "s11_4_distractors"


def ranking_cells(
    drope_ranking: pd.DataFrame, drope_stated: pd.DataFrame, drope_protocols: pd.DataFrame
) -> pd.DataFrame:
    """Return ranking accuracy by model and context with exact 95 % interval (Clopper-Pearson), and chance."""
    trials = _trial_count(drope_protocols, "11.4")
    chance = 1 / (1 + float(drope_stated.set_index("statement")["value"][DISTRACTORS]))
    rows = []
    for _, row in drope_ranking.iterrows():
        correct = round(trials * row["value"] / 100)
        interval = stats.binomtest(correct, trials, chance).proportion_ci(0.95, method="exact")
        rows.append(
            {
                "context": int(row["context"]),
                "positional": row["positional"],
                "correct": correct,
                "trials": trials,
                "share": 100 * correct / trials,
                "ci_low": 100 * float(interval.low),
                "ci_high": 100 * float(interval.high),
                "chance": 100 * chance,
            }
        )
    return pd.DataFrame(rows)


def ranking_tests(ranking_cells: pd.DataFrame, models: pd.DataFrame, test_families: pd.DataFrame) -> pd.DataFrame:
    """Test ranking accuracy against chance by model and context, and RoPE against DroPE; Holm within each family.

    `against_chance` is the two-sided exact binomial test in each of six cells, `pooled` this test over all contexts of
    a model. `models` is Fisher's exact test per context, `models_within` this test over the contexts up to the
    training length, chosen post hoc after no single context showed a difference.
    """
    tests: list[Estimate] = []
    for _, row in ranking_cells.iterrows():
        tests.append(_binomial_test(row, "against_chance", f"{row['positional']}, {row['context']}"))
    for model in PAIR:
        rows = ranking_cells[ranking_cells["positional"] == model]
        totals = {"correct": rows["correct"].sum(), "trials": rows["trials"].sum(), "chance": rows["chance"].iloc[0]}
        tests.append(_binomial_test(pd.Series(totals), "pooled", f"{model}, all contexts"))
    limit = int(models[models["model"] == "llama2-7b-rope"]["claimed_context"].iloc[0])
    trained = ranking_cells[ranking_cells["context"] <= limit]
    comparisons = [("models", str(context), rows) for context, rows in ranking_cells.groupby("context")]
    comparisons.append(("models_within", " and ".join(map(str, trained["context"].unique())), trained))
    for study, comparison, rows in comparisons:
        sums = {model: rows[rows["positional"] == model][["correct", "trials"]].sum() for model in PAIR}
        counts = [int(sums[model][field]) for model in PAIR for field in ("correct", "trials")]
        tests.append(fisher(*counts, study=study, comparison=comparison, unit="trial", note="RoPE minus DroPE"))
    return frame(corrected(tests, test_families, "ranking_tests"))


def _binomial_test(row: pd.Series, study: str, comparison: str) -> Estimate:
    chance, correct, trials = float(row["chance"]) / 100, int(row["correct"]), int(row["trials"])
    test = stats.binomtest(correct, trials, chance)
    interval = test.proportion_ci(0.95, method="exact")
    # power: how often a one-sided test at 2.5 % would detect a true share of 0.4 or 0.5
    fewest = next(count for count in range(trials + 1) if stats.binom.sf(count - 1, trials, chance) <= 0.025)
    power = {share: float(stats.binom.sf(fewest - 1, trials, share)) for share in (0.4, 0.5)}
    return Estimate(
        study=study,
        comparison=comparison,
        test="binomial_exact",
        unit="trial",
        n=trials,
        estimate=correct / trials,
        ci_low=float(interval.low),
        ci_high=float(interval.high),
        p_value=float(test.pvalue),
        note=(
            f"{correct} of {trials} against chance {chance:g}; exact two-sided p, Clopper-Pearson interval; "
            f"from {fewest} right on, the upper tail is at most 0.025, which a true share of 0.4 reaches with "
            f"probability {power[0.4]:.2f} and 0.5 with {power[0.5]:.2f}; no statistic, df, effect: an exact test"
        ),
    )


def error_shares(drope_errors: pd.DataFrame, drope_stated: pd.DataFrame, drope_protocols: pd.DataFrame) -> pd.DataFrame:
    """Return answers by kind, model and context, as shares of all trials and of errors, with Wilson's 95 % intervals.

    RoPE's answers are counted from statements in the text. Shares are in percent; exact answers are no errors.
    """
    trials = _trial_count(drope_protocols, "11.5")
    statements = drope_stated.set_index("statement")["value"]
    counts = drope_errors[drope_errors["metric"] == "count"]
    records = [
        (row["positional"], int(row["context"]), row["category"], int(row["value"])) for _, row in counts.iterrows()
    ]
    for context in dict.fromkeys(drope_errors["context"]):
        if context <= statements["s11_5_rope_within_context"]:
            records.append(("RoPE", int(context), "exact", round(trials * statements["s11_5_rope_within_exact"] / 100)))
        else:
            for category in ("no_number", "wrong_length"):
                count = round(trials * statements[f"s11_5_rope_beyond_{category}"] / 100)
                records.append(("RoPE", int(context), category, count))
    table = pd.DataFrame(records, columns=["positional", "context", "category", "count"])
    totals = table.groupby(["positional", "context"])["count"].transform("sum")
    wrong = table["count"].where(table["category"] != "exact", 0)
    errors = wrong.groupby([table["positional"], table["context"]]).transform("sum")
    rows = []
    for (_, row), total, error_count in zip(table.iterrows(), totals, errors, strict=True):
        if total != trials:
            raise ValueError(
                f"{row['positional']} at {row['context']}: {total} answers, but {trials} trials; check drope_errors"
            )
        low, high = wilson_interval(row["count"], trials)
        is_error = row["category"] != "exact"
        interval = wilson_interval(row["count"], error_count) if is_error else (None, None)
        rows.append(
            {
                **row.to_dict(),
                "trials": trials,
                "errors": error_count,
                "share": 100 * row["count"] / trials,
                "ci_low": 100 * low,
                "ci_high": 100 * high,
                "share_of_errors": 100 * row["count"] / error_count if is_error else None,
                "errors_ci_low": None if interval[0] is None else 100 * interval[0],
                "errors_ci_high": None if interval[1] is None else 100 * interval[1],
                "note": "" if is_error else "share_of_errors, errors_ci_*: no error",
            }
        )
    return pd.DataFrame(rows)


def error_totals(error_shares: pd.DataFrame) -> pd.DataFrame:
    """Return DroPE's errors over all contexts, by kind: count and share of all errors in percent."""
    wrong = error_shares[(error_shares["positional"] == "DroPE") & (error_shares["category"] != "exact")]
    table = wrong.groupby("category", as_index=False, sort=False)["count"].sum()
    table["errors"] = table["count"].sum()
    table["share"] = 100 * table["count"] / table["errors"]
    return pd.DataFrame(table)


def digit_errors(drope_error_examples: pd.DataFrame) -> pd.DataFrame:
    """Return the source's examples with target and output: which digit is missing, and where.

    `deleted` is the digit whose removal gives the output, `position` the places (from 1) where removing a digit does
    so, `in_run` whether they lie in a run of equal digits, `prefix` whether the output is the target's beginning,
    `last_kept` whether target and output have the same last digit, `substituted` the number of places that differ at
    equal length, and `runs_alike` whether both are equal after each run of equal digits is cut to one digit. `stated`
    is the missing digit according to the source. A leading quote keeps a number as text.
    """
    rows = []
    examples = drope_error_examples[
        drope_error_examples["target"].astype(str).str.isdigit() & drope_error_examples["context"].notna()
    ]
    for _, row in examples.iterrows():
        target, output = str(row["target"]), str(row["output"])
        places = [k for k in range(len(target)) if target[:k] + target[k + 1 :] == output]
        same_length = len(output) == len(target)
        stated_digit = row["missing_digit"]
        rows.append(
            {
                "example": row["example"],
                "target": f"'{target}",
                "output": f"'{output}",
                "deleted": target[places[0]] if places else "none",
                "position": " ".join(str(k + 1) for k in places) or "none",
                "in_run": bool(places and any(_is_in_run(target, k) for k in places)),
                "prefix": target.startswith(output),
                "last_kept": target[-1] == output[-1],
                "shorter_by_one": len(output) == len(target) - 1,
                "substituted": sum(a != b for a, b in zip(target, output, strict=False)) if same_length else 0,
                "runs_alike": _without_runs(target) == _without_runs(output),
                "stated": "none" if pd.isna(stated_digit) or stated_digit == "" else str(int(stated_digit)),
            }
        )
    return pd.DataFrame(rows)


def run_deletions(digit_errors: pd.DataFrame) -> pd.DataFrame:
    """Return how often a digit deleted at random lies in a run of equal digits, compared with the source's examples.

    A digit has one neighbour at the ends and two inside, each equal with probability 1/10, so for d digits the share
    (2 * 1/10 + (d - 2) * (1 - (9/10)^2)) / d is in a run. `p_value` is the probability that at least `in_run` of as
    many random deletions are.
    """
    deletions = digit_errors[digit_errors["shorter_by_one"]]
    digits = len(str(deletions["target"].iloc[0]).lstrip("'"))
    share = (2 * 0.1 + (digits - 2) * (1 - 0.9**2)) / digits
    in_run = int(deletions["in_run"].sum())
    return pd.DataFrame(
        [
            {
                "examples": len(deletions),
                "in_run": in_run,
                "prefixes": int(deletions["prefix"].sum()),
                "last_kept": int(deletions["last_kept"].sum()),
                "digits": digits,
                "chance_in_run": 100 * share,
                "p_value": float(stats.binom.sf(in_run - 1, len(deletions), share)),
                "note": "examples chosen by the source's author, not a sample",
            }
        ]
    )


def _is_in_run(number: str, place: int) -> bool:
    return number[place] in (number[place - 1 : place] or " ", number[place + 1 : place + 2] or " ")


def _without_runs(number: str) -> str:
    """Return the number with each run of equal digits collapsed to one."""
    return re.sub(r"(.)\1+", r"\1", number)


def _trial_count(protocols: pd.DataFrame, section: str) -> int:
    match = re.match(r"(\d+) per cell", str(protocols[protocols["section"] == section]["items"].iloc[0]))
    if match is None:
        raise ValueError(f"drope_protocols: section {section} has no number of trials; write one, as in `50 per cell`")
    return int(match[1])
