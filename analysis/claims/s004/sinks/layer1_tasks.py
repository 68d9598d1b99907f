"""Document 004, Experiment 6: claims on the four tasks without parts of layer 1."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from analysis.claims._shared import numbers_of, pick_each, rows_where
from boundpaper.claims import EQUIVALENT, Artifact, Cells, Copies, Verdict, claim, equivalent, judge, pick
from boundpaper.claims.worded_numbers import stated_number
from boundpaper.claims.words import listed, p

c004_layer1_task_baselines = Cells(
    "Task accuracies without ablation are those of Experiment 4.",
    "004, 7.3 Results, task table",
    Copies(
        Artifact("drope_layer1_tasks").where(condition="baseline"),
        Artifact("drope_functional", "the condition table of 5.5"),
        ("condition", "positional", "task"),
    ),
)


@claim("004, 7.4 Key Findings")
def c004_attention_preserves_parametric(
    layer1_task_shares: pd.DataFrame, layer1_task_tests: pd.DataFrame
) -> Iterator[Verdict]:
    """Removing RoPE's layer-1 attention preserves the parametric tasks."""
    for task in ("cities", "sports"):
        before, after = pick_each(
            layer1_task_shares, positional="RoPE", condition=("baseline", "layer1_attn"), task=task
        )
        tests = layer1_task_tests[layer1_task_tests["comparison"] == f"RoPE, {task}, layer1_attn against baseline"]
        change = float(after["share"] - before["share"])
        change_in_words = (
            f"{task.capitalize()} goes from {before['share']:.0f} to {after['share']:.1f}% of the answers that can be "
            f"read, {_answers_read(before)} before and {_answers_read(after)} after, with chance at "
            f"{before['chance']:.0f}%: {max(float(after['lost']), 0):.0f}% of what lay above chance is lost"
        )
        fields: dict[str, Any] = {
            "reported": after["printed_text"],
            "recomputed": f"{change:+.0f} points",
            "key": task,
            "statement": f"RoPE's {task} task is preserved.",
        }
        if tests.empty:
            yield Verdict(
                verdict="not supported" if abs(change) <= EQUIVALENT else "contradicted",
                reason=f"{change_in_words}. Without the number of answers there is no test.",
                **fields,
            )
            continue
        test = tests.iloc[0]
        yield equivalent(
            (100 * float(test["ci_low"]), 100 * float(test["ci_high"])),
            EQUIVALENT,
            f"{change_in_words}; the change lies between {100 * test['ci_low']:.0f} and {100 * test['ci_high']:+.0f} "
            f"points ({p(test['p_value'])}, Fisher).",
            **numbers_of(test, "n", "p_value", "p_adjusted"),
            **fields,
        )


def _answers_read(row: pd.Series) -> str:
    """Return a phrase such as `5 to 7 of 20`: how many of the items have an answer that could be read."""
    fewest, most = int(row["n_low"]), int(row["n_high"])
    return f"{most} of {row['items']}" if fewest == most else f"{fewest} to {most} of {row['items']}"


@claim("004, 7.4 Key Findings")
def c004_attention_destroys_passkey(layer1_task_shares: pd.DataFrame, layer1_task_tests: pd.DataFrame) -> Verdict:
    """Removing RoPE's layer-1 attention destroys passkey retrieval."""
    before, after = pick_each(
        layer1_task_shares, positional="RoPE", condition=("baseline", "layer1_attn"), task="passkey"
    )
    test = pick(layer1_task_tests, comparison="RoPE, passkey, layer1_attn against baseline")
    return judge(
        after["count"] == 0 and test["p_adjusted"] < 0.05,
        f"{before['count']} of {before['n']} against {after['count']} of {after['n']} ({p(test['p_adjusted'])}, "
        "Fisher, Holm).",
        reported=after["printed_text"],
        recomputed=f"{after['share']:.0f}%",
        **numbers_of(test, "n", "p_value", "p_adjusted"),
    )


@claim("004, 7.4 Key Findings")
def c004_drope_any_ablation(layer1_task_shares: pd.DataFrame, drope_stated: pd.DataFrame) -> Verdict:
    """Any ablation of DroPE's layer 1 destroys all tasks."""
    rows = layer1_task_shares[
        (layer1_task_shares["positional"] == "DroPE") & (layer1_task_shares["condition"] != "baseline")
    ]
    zero = int((rows["right_high"] == 0).sum())
    stated_rows = [pick(drope_stated, statement=f"s7_4_drope_{what}") for what in ("ablations", "tasks")]
    ablations, tasks = (stated_number(row) for row in stated_rows)
    baseline = rows_where(layer1_task_shares, positional="DroPE", condition="baseline")
    below_chance = baseline[baseline["against_chance"] == "below"]["task"].tolist()
    return judge(
        zero == len(rows) == ablations * tasks,
        f"{zero} of {len(rows)} cells, {ablations:.0f} ablations by {tasks:.0f} tasks, have no right answer, though "
        f"for yes/no tasks it is not stored whether any could be read; {listed(below_chance)} was below chance before, "
        "so that little was left to destroy.",
        reported=", ".join(str(row["printed"]) for row in stated_rows),
        recomputed=f"{zero} of {len(rows)}",
        n=len(rows),
    )


@claim("004, 7.5 Interpretation and Looking at this deeper")
def c004_attention_unimportant(layer1_task_tests: pd.DataFrame, layer1_effects: pd.DataFrame) -> Verdict:
    """In RoPE, attention of layer 1 is relatively unimportant, almost decorative."""
    rows = layer1_task_tests[
        layer1_task_tests["comparison"].str.startswith("RoPE")
        & layer1_task_tests["comparison"].str.contains("layer1_attn")
    ]
    losses = rows[(rows["p_adjusted"] < 0.05) & (rows["estimate"] < 0)]
    falls = [f"{row['comparison'].split(', ')[1]} {100 * row['estimate']:.0f} points" for _, row in losses.iterrows()]
    listing = f": {listed(falls)}" if falls else ""
    effect = pick(layer1_effects, condition="layer1_attn", positional="RoPE")
    return judge(
        len(losses) == 0,
        f"Perplexity rises only {effect['ratio_printed']}, but {len(losses)} of the {len(rows)} tasks that can be "
        f"tested fall significantly{listing} (Fisher, Holm).",
        reported=effect["ratio_printed"],
        recomputed=f"{len(losses)} of {len(rows)} tasks lost",
        n=len(rows),
    )
