"""Claims of the thesis on the model that it distilled without rotation, judged at equal tokens with the control.

With one seed, all verdicts are descriptive: they are about these two students on these windows.
"""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from analysis.claims._intervals import by_interval
from boundpaper.claims import Verdict, claim, directed, equivalent, judge
from boundpaper.claims.words import p

RECOVERED = 0.9  # recovered share required by the plan
REMOVED = {  # quantity -> its change if removing the rotation alone, without training, gave the report's contrast
    "massive_query": (-1, "lowers the number of massive values in queries"),
    "layer1_share": (1, "raises attention's share of what layer 1 writes"),
    "local_attention": (-1, "lowers the attention to the five tokens before"),
}
TRAINED = {  # quantity -> how the report's recalibrated model differs from its rotary one
    "massive_query": (-1, "fewer massive values in queries"),
    "layer1_share": (1, "more of what layer 1 writes from attention"),
    "local_attention": (-1, "less attention to the five tokens before"),
    "massive_minus_random": (-1, "less to lose where its massive dimensions are zeroed"),
    "layer1_mlp": (-1, "less to lose where the MLP of layer 1 is zeroed"),
    "layer1_attention": (1, "more to lose where the attention of layer 1 is zeroed"),
    "sink_rate": (-1, "fewer heads that are sinks"),
    "bos_mlp_matching": (-1, "less to lose where the MLP that writes the first token's spike is zeroed there"),
}
KEY_CONTRASTS = {  # contrast of two models -> sign of the expected difference, and statement
    "removed against rotation": (-1, "a pretrained model whose rotation is removed finds fewer passkeys than with it"),
    "distilled against removed": (
        1,
        "its student without rotation finds more passkeys than the model before its training",
    ),
    "distilled against trained on": (-1, "its student without rotation finds fewer passkeys than the control"),
}
SAME_TRAINING = 0.05  # nats per token by which a second training may differ (amendment of the population's plan)
ARM_MARGIN = 0.05  # plasticity by which two arms may differ (the same amendment)
QUARTERS = {
    1024: "second quarter",
    3072: "last quarter",
}  # first token of a quarter of 4,096 tokens -> name of the quarter
HALF = 0.5  # share of the loss without rotation that the plan compares with


@claim("thesis, Pretrained models")
def thesis_distil_comes_back(distillation_outcomes: pd.DataFrame) -> list[Verdict]:
    """Further training lowers the loss of a model without rotation below its loss right after the removal."""
    return [
        _judge_outcome(
            row,
            row["nope"] < row["untouched"],
            f"{row['untouched']:.3f} nats when removed, {row['nope']:.3f} now",
            float(row["untouched"] - row["nope"]),
            f"On held-out {_text(row)}, distillation lowers the loss of the model without rotation.",
        )
        for _, row in distillation_outcomes.iterrows()
    ]


@claim("thesis, Pretrained models")
def thesis_distil_recovers(distillation_outcomes: pd.DataFrame) -> list[Verdict]:
    """A model whose rotation was removed has recovered nine tenths of what the removal cost it."""
    return [
        _judge_outcome(
            row,
            row["recovered"] >= RECOVERED,
            f"a share of {row['recovered']:.3f} of {row['untouched'] - row['teacher']:.3f} nats",
            float(row["recovered"]),
            f"On held-out {_text(row)}, nine tenths of the loss by removing the rotation are recovered.",
        )
        for _, row in distillation_outcomes.dropna(subset=["recovered"]).iterrows()
    ]


@claim("thesis, Pretrained models")
def thesis_distil_costs(distillation_outcomes: pd.DataFrame) -> list[Verdict]:
    """At equal tokens the student without rotation has a higher loss than the control that kept it."""
    return [
        _judge_outcome(
            row,
            row["difference"] > 0,
            f"{row['nope']:.3f} nats without rotation, {row['continued']:.3f} with it",
            float(row["difference"]),
            f"On held-out {_text(row)}, the model without rotation is behind its control at equal tokens.",
        )
        for _, row in distillation_outcomes.iterrows()
    ]


@claim("thesis, Pretrained models")
def thesis_distil_own(distillation_outcomes: pd.DataFrame) -> list[Verdict]:
    """The distance from the teacher comes from dropping the rotation: the control's is less than half as large."""
    return [
        _judge_outcome(
            row,
            row["continued_kl"] < HALF * row["nope_kl"],
            f"{row['nope_kl']:.3f} nats from the teacher without rotation, {row['continued_kl']:.3f} with it",
            float(row["continued_kl"] / row["nope_kl"]),
            (
                f"On held-out {_text(row)}, the control is less than half as far from the teacher as the model without "
                "rotation."
            ),
        )
        for _, row in distillation_outcomes.iterrows()
    ]


@claim("thesis, Pretrained models")
def thesis_distil_removed(distillation_quantities: pd.DataFrame) -> Iterator[Verdict]:
    """Removing the rotation without training changes a model in the same direction in which the report's
    recalibrated model differs.
    """
    for _, row in distillation_quantities.dropna(subset=["teacher", "untouched"]).iterrows():
        if row["quantity"] in REMOVED:
            sign, wording = REMOVED[str(row["quantity"])]
            change = float(row["untouched"] - row["teacher"])
            yield judge(
                sign * change > 0,
                f"from {row['teacher']:.3g} to {row['untouched']:.3g} ({row['unit']}), one model on the same texts",
                recomputed=change,
                key=f"{row['pair']}_{row['quantity']}",
                statement=f"In a pretrained model, removing the rotation alone {wording}.",
            )


@claim("thesis, Pretrained models")
def thesis_distil_trained(distillation_quantities: pd.DataFrame) -> Iterator[Verdict]:
    """The student without rotation differs from its control, at equal tokens, as the report's recalibrated model
    does.
    """
    for _, row in distillation_quantities.dropna(subset=["nope", "continued"]).iterrows():
        if row["quantity"] in TRAINED:
            sign, wording = TRAINED[str(row["quantity"])]
            change = float(row["nope"] - row["continued"])
            yield judge(
                sign * change > 0,
                f"{row['nope']:.3g} where the control has {row['continued']:.3g} ({row['unit']}), one model each on "
                "the same texts",
                recomputed=change,
                key=f"{row['pair']}_{row['quantity']}",
                statement=f"A pretrained model distilled without rotation has {wording} than its control.",
            )


@claim("thesis, Pretrained models")
def thesis_distil_neighbours(distillation_quantities: pd.DataFrame) -> list[Verdict]:
    """Further training restores less than half of the attention to neighbours that is lost without rotation."""
    rows = distillation_quantities[distillation_quantities["quantity"] == "local_attention"]
    return [
        judge(
            0 < restored_share < HALF,
            f"{row['teacher']:.1f} % in the teacher, {row['untouched']:.1f} % where the rotation is removed, "
            f"{row['nope']:.1f} % after further training: {100 * restored_share:.0f} % of what was taken is back",
            recomputed=restored_share,
            key=str(row["pair"]),
            statement="Of the attention to neighbours that removing the rotation takes from a pretrained model, "
            "further training without it gives back some, and less than half.",
        )
        for _, row in rows.dropna(subset=["teacher", "untouched", "nope"]).iterrows()
        if row["teacher"] != row["untouched"]
        for restored_share in [float((row["nope"] - row["untouched"]) / (row["teacher"] - row["untouched"]))]
    ]


@claim("thesis, Pretrained models")
def thesis_distil_keys(distillation_key_tests: pd.DataFrame) -> Iterator[Verdict]:
    """Without rotation a model finds fewer passkeys, further training brings some back, and the control finds more."""
    for _, row in distillation_key_tests.iterrows():
        contrast, tokens = str(row["comparison"]).removesuffix(" tokens").rsplit(", ", 1)
        sign, wording = KEY_CONTRASTS[contrast]
        yield by_interval(
            row,
            sign,
            f"over the same {int(row['n'])} prompts a difference of {100 * row['estimate']:.0f} points "
            f"[{100 * row['ci_low']:.0f}, {100 * row['ci_high']:.0f}] (McNemar, Holm {p(row['p_adjusted'])})",
            p=("p_value", "p_adjusted"),
            key=f"{row['study']}_{contrast.replace(' ', '_')}_{tokens}",
            statement=f"In prompts of {tokens} tokens, {wording}.",
        )


@claim("thesis, Pretrained models")
def thesis_distil_again(distillation_again: pd.DataFrame) -> Iterator[Verdict]:
    """A second training of both students, in float32, ends as far from the teacher as the first, in bfloat16."""
    for arm, rows in distillation_again.groupby("arm"):
        top_row = rows.iloc[int(rows["difference"].abs().to_numpy().argmax())]
        yield judge(
            abs(top_row["difference"]) <= SAME_TRAINING,
            f"On text of the set {top_row['text']} {top_row['first']:.3f} nats in the first and {top_row['again']:.3f} "
            f"in the second; the margin is {SAME_TRAINING}",
            recomputed=float(top_row["difference"]),
            n=len(rows),
            key=f"{top_row['pair']}_{arm}",
            statement=f"Trained again in float32, `{arm}` ends as far from its teacher as in bfloat16.",
        )


@claim("thesis, Pretrained models")
def thesis_distil_exchange(distilled_exchange: pd.DataFrame) -> Iterator[Verdict]:
    """At one position the student without rotation differs from its control (asked by a plan's amendment).

    Exploratory: one pair of students; intervals are over key heads.
    """
    rows = distilled_exchange[distilled_exchange["quantity"].isin(["plasticity", "linear_share"])].dropna(subset="low")
    for _, row in rows[rows["from_token"].isin(QUARTERS)].iterrows():
        difference, interval = float(row["difference"]), (float(row["low"]), float(row["high"]))
        numbers: dict[str, Any] = {"recomputed": difference, "n": int(row["key_heads"])}
        quarter = QUARTERS[int(row["from_token"])]
        reason = (
            f"in the {quarter} {row['nope']:.3f} without rotation and {row['continued']:.3f} with it, a difference of "
            f"{difference:+.3f} [{interval[0]:.3f}, {interval[1]:.3f}] over {numbers['n']} key heads"
        )
        key = f"{row['pair']}_{row['quantity']}_{row['from_token']}"
        if row["quantity"] == "linear_share":
            statement = f"In the {quarter}, distance carries a smaller part of the gap in the student without rotation."
            yield directed(difference, interval, -1, reason, key=key, statement=statement, **numbers)
            continue
        statement = f"In the {quarter}, the query's content decides more keys in the student without rotation."
        yield directed(difference, interval, 1, reason, key=f"{key}_more", statement=statement, **numbers)
        statement = f"In the {quarter}, the query's content decides as many keys in the student without rotation."
        yield equivalent(interval, ARM_MARGIN, reason, key=f"{key}_same", statement=statement, **numbers)


def _judge_outcome(row: pd.Series, true: bool, reason: str, recomputed: float, statement: str) -> Verdict:
    """Judge an outcome on held-out text; the reason begins with the tokens and steps of training."""
    return judge(
        true,
        f"after {int(row['tokens'])} tokens ({int(row['step'])} of {int(row['of'])} steps), one seed: {reason}",
        recomputed=recomputed,
        n=int(row["n"]),
        key=f"{row['pair']}_{row['text']}" + (f"_s{row['seed']}" if row["seed"] else ""),
        statement=statement,
    )


def _text(row: pd.Series) -> str:
    return "text" if row["text"] == "all" else f"text of the set {row['text']}"
