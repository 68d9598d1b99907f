"""Document 004, Experiment 10: claims on the quoted wrong answers, digit by digit."""

from collections.abc import Iterator

import pandas as pd

from boundpaper.claims import Verdict, claim, judge, pick, quote


@claim("004, 11.5 Error Analysis")
def c004_ans_off_by_one(drope_error_examples: pd.DataFrame, drope_stated: pd.DataFrame) -> Verdict:
    """An output one digit off in length is a truncation of the number."""
    digits = int(quote(drope_stated, statement="s11_4_passkey_digits").number)
    generic = drope_error_examples[drope_error_examples["example"].str.startswith("generic")]
    off_by_one = [str(output) for output in generic["output"] if abs(len(str(output)) - digits) == 1]
    return judge(
        not off_by_one,
        (
            f"None of the {len(generic)} outputs that the section calls generic patterns is one digit longer or "
            f"shorter than the {digits} asked for.",
            f"Of the outputs that the section calls generic patterns, {', '.join(off_by_one)} is one digit off the "
            f"{digits} asked for: the category counts a default as a truncation, and by its name also numbers that are "
            "too long.",
        ),
        otherwise="not supported",
        recomputed=", ".join(off_by_one),
        n=len(generic),
    )


@claim("004, 11.6 Revised Interpretation")
def c004_ans_cut_off(run_deletions: pd.DataFrame, digit_errors: pd.DataFrame) -> Verdict:
    """DroPE cuts numbers off early, as if attention did not span them."""
    row = run_deletions.iloc[0]
    return judge(
        row["prefixes"] == row["examples"],
        f"Of the {row['examples']} examples {row['prefixes']} is the number's beginning and {row['last_kept']} end in "
        f"its last digit; in {row['in_run']} the missing digit stood in a run of equal ones, which a random deletion "
        f"hits in {row['chance_in_run']:.0f} % of the cases.",
        recomputed=f"{row['prefixes']} of {row['examples']}",
        n=int(row["examples"]),
    )


@claim("004, 11.5 Error Analysis")
def c004_ans_missing_digit(drope_error_examples: pd.DataFrame, digit_errors: pd.DataFrame) -> Iterator[Verdict]:
    """The digits named as missing are the ones that the outputs lack."""
    for _, row in digit_errors[digit_errors["shorter_by_one"]].iterrows():
        target, output = (str(row[name]).lstrip("'") for name in ("target", "output"))
        yield judge(
            str(row["stated"]) == str(row["deleted"]),
            f"{target} without a {row['deleted']} (place {row['position'].replace(' ', ' or ')}) is {output}.",
            reported=str(row["stated"]),
            recomputed=str(row["deleted"]),
            key=str(row["example"]),
            statement=f"The output {output} for {target} lacks the {row['stated']}.",
        )


@claim("004, 11.5 Error Analysis")
def c004_ans_near_miss_example(drope_error_examples: pd.DataFrame, digit_errors: pd.DataFrame) -> Verdict:
    """The near-miss given as an example has one wrong digit."""
    row = pick(digit_errors, example="near_miss_1")
    wrong_digits = pick(drope_error_examples, example="near_miss_1")["wrong_digits"]
    return judge(
        int(row["substituted"]) == int(wrong_digits),
        f"{int(row['substituted'])} places differ; the runs of equal digits are "
        f"{'the same' if row['runs_alike'] else 'others'}.",
        reported=str(int(wrong_digits)),
        recomputed=str(int(row["substituted"])),
    )
