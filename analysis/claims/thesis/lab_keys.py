"""What the thesis says of the keys that its own tiny pair finds, verifies and ranks, and of its twins one by one."""

from __future__ import annotations

import pandas as pd

from analysis.claims import ALPHA, Verdict, judge, pick

NAMES = {"rope": "RoPE", "drope": "DroPE"}
FEW = 0.1  # share of keys that counts as nearly none
MARGIN = 0.1  # of a share: what makes no difference between wordings


def thesis_lab_cliff(lab_key_spans: pd.DataFrame) -> list[Verdict]:
    """The tiny RoPE model falls off a cliff in distance: near keys are found in prompts of any length, far keys not.

    Source: thesis, The same measurements on an open pair.
    """
    near, far, other = (
        pick(lab_key_spans, side=side, span=span)
        for side, span in (("rope", "near"), ("rope", "far"), ("drope", "far"))
    )
    said = (
        ("near", near, near["least"] == 1, near["most"] < 1, "every key that stands nearer than the training length"),
        ("far", far, far["most"] < FEW, far["least"] >= FEW, "fewer than a tenth of the keys that stand far beyond it"),
    )
    found = [
        judge(
            bool(holds),
            f"It finds {_of(row)} of them at {_span(row)}, {_range(row)} in single seeds.",
            otherwise="contradicted" if turned else "not supported",
            recomputed=_of(row),
            n=int(row["seeds"]),
            key=key,
            statement=f"In prompts beyond its training length the tiny RoPE model finds {words}, in every seed.",
        )
        for key, row, holds, turned, words in said
    ]
    return [
        *found,
        judge(
            bool(other["least"] > 0.5),
            f"It finds {_of(other)} of the keys at {_span(other)}, {_range(other)} in single seeds.",
            otherwise="contradicted" if other["most"] < 0.5 else "not supported",
            recomputed=_of(other),
            n=int(other["seeds"]),
            key="without",
            statement="Where the tiny RoPE model finds none, its twin without positions finds most keys, in each seed.",
        ),
    ]


def thesis_lab_ranks(lab_choices: pd.DataFrame) -> list[Verdict]:
    """Within its training length the tiny DroPE model ranks the right key first by likelihood, far above a guess.

    Source: thesis, The same measurements on an open pair.
    """
    found = []
    for metric, words in (("ranking_likelihood", "its likelihood"), ("ranking_yes", "the probability of yes")):
        row = pick(lab_choices, metric=metric, ratio=1.0)
        found.append(
            judge(
                bool(row["drope_surely"] > row["chance"]),
                f"It does so in {100 * row['drope_least']:.0f} to {100 * row['drope_most']:.0f} % of {int(row['n'])} "
                f"items a seed, a guess in {100 * row['chance']:.0f} %; the lower end of the interval is at least "
                f"{100 * row['drope_surely']:.0f} %.",
                otherwise="contradicted" if row["drope_most"] <= row["chance"] else "not supported",
                recomputed=f"{100 * row['drope']:.0f} %",
                n=int(row["seeds"]),
                key=metric,
                statement=(
                    f"At its training length the tiny DroPE model ranks the right key first among four by {words}, "
                    "more often than a guess, in every seed."
                ),
            )
        )
    return found


def thesis_lab_verifies(lab_choices: pd.DataFrame) -> list[Verdict]:
    """Both tiny models tell an exact key from a key with one digit changed by the probability of yes.

    Source: thesis, The same measurements on an open pair.
    """
    row = pick(lab_choices, metric="verification_auc_one-digit", ratio=1.0)
    return [
        judge(
            bool(row[f"{side}_least"] > 0.75),
            f"An exact key has the higher probability in {100 * row[f'{side}_least']:.0f} to "
            f"{100 * row[f'{side}_most']:.0f} % of pairs with a miss, by seed; a guess in {100 * row['chance']:.0f} %.",
            otherwise="contradicted" if row[f"{side}_most"] <= row["chance"] else "not supported",
            recomputed=f"{100 * row[side]:.0f} %",
            n=int(row["seeds"]),
            key=side,
            statement=(
                f"At its training length the tiny {name} model says yes to the exact key more readily than to one with "
                "a digit changed, in more than three pairs of four and in every seed."
            ),
        )
        for side, name in NAMES.items()
    ]


def thesis_lab_wording(lab_key_prompts: pd.DataFrame) -> list[Verdict]:
    """The shares of keys that two wordings of the prompt find differ by less than ten points on average over seeds.

    Source: thesis, The same measurements on an open pair.
    """
    forms = lab_key_prompts[lab_key_prompts["kind"] == "form"]
    found = []
    for side, name in NAMES.items():
        shares = forms.pivot(index="ratio", columns="part", values=side)
        gaps = dict(zip(shares.index.to_numpy(dtype=float), shares["key"] - shares["code"], strict=True))
        widest = max(gaps, key=lambda ratio: abs(gaps[ratio]))
        found.append(
            judge(
                abs(gaps[widest]) < MARGIN,
                f"Means over {int(forms['seeds'].max())} seeds differ most at {widest:g} times the training length: "
                f"{100 * gaps[widest]:+.1f} points.",
                otherwise="contradicted",
                recomputed=f"{100 * gaps[widest]:+.1f} points",
                n=len(gaps),
                key=side,
                statement=(
                    f"The shares of keys that the tiny {name} model finds by two wordings of the prompt differ by less "
                    "than ten points at any length, on average over seeds."
                ),
            )
        )
    return found


def thesis_lab_concentration(lab_text_pairs: pd.DataFrame) -> list[Verdict]:
    """Over the same texts a tensor is less concentrated in few dimensions without positions, in every tiny pair.

    Source: thesis, The same measurements on an open pair.
    """
    words = {"q": "queries", "k": "keys", "v": "values"}
    return [
        _signed(
            lab_text_pairs[lab_text_pairs["comparison"].str.startswith(f"gini_{tensor},")],
            -1,
            "text",
            tensor,
            f"Over the same texts the norms of {name} are less concentrated without positions, in every tiny pair.",
        )
        for tensor, name in words.items()
    ]


def thesis_lab_levelled(lab_knowledge_tests: pd.DataFrame) -> list[Verdict]:
    """Without the largest dimension of each head a tiny model loses keys of the context, in every seed.

    Source: thesis, The same measurements on an open pair.
    """
    return [
        _signed(
            lab_knowledge_tests[lab_knowledge_tests["comparison"].str.startswith(f"passkey, {side},")],
            -1,
            "item",
            side,
            f"Without the largest dimension of each head the tiny {name} model finds fewer keys, in every seed.",
        )
        for side, name in NAMES.items()
    ]


def thesis_lab_levelled_facts(lab_knowledge_tests: pd.DataFrame) -> Verdict:
    """Without the largest dimension of each head no tiny model loses or wins an answer that rests on its weights.

    Source: thesis, The same measurements on an open pair.
    """
    rows = lab_knowledge_tests[lab_knowledge_tests["comparison"].str.match(r"(?:cities|sports),")]
    moved = rows[rows["estimate"] != 0]
    return judge(
        moved.empty,
        f"{len(rows) - len(moved)} of {len(rows)} shares, two tasks in each model, are the same with and without over "
        f"{int(rows['n'].min())} items.",
        otherwise="not supported" if (moved["p_adjusted"] >= ALPHA).all() else "contradicted",
        recomputed=f"{len(moved)} of {len(rows)} differ",
        n=len(rows),
    )


def thesis_lab_heads_keep(lab_head_agreement: pd.DataFrame) -> list[Verdict]:
    """A head of the tiny pair attends without positions as it did with them: the twins' heads correlate.

    Source: thesis, The same measurements on an open pair.
    """
    words = {
        "first_attention": "to the first token",
        "local_attention": "to the tokens just before",
        "entropy_share": "as widely or narrowly",
    }
    return [
        _signed(
            lab_head_agreement[lab_head_agreement["comparison"].str.startswith(f"{metric},")],
            1,
            "head",
            metric,
            f"Heads that attend more than others {name} do so with and without positions, in every tiny pair."
            if metric != "entropy_share"
            else "Heads that attend more widely than others do so with and without positions, in every tiny pair.",
        )
        for metric, name in words.items()
    ]


def _signed(rows: pd.DataFrame, sign: int, unit: str, key: str, statement: str) -> Verdict:
    """Whether each seed's test finds an effect of one sign after Holm's correction."""
    agree = rows["estimate"] * sign > 0
    sure = agree & (rows["p_adjusted"] < ALPHA)
    against = (rows["estimate"] * sign < 0) & (rows["p_adjusted"] < ALPHA)
    values = ", ".join(f"{value:+.3f}" for value in rows["estimate"])
    return judge(
        bool(sure.all()) and len(rows) > 0,
        f"The {len(rows)} seeds have {values} over {int(rows['n'].min())} {unit}s each; {int(sure.sum())} are "
        f"significant in this direction after Holm's correction and {int(against.sum())} in the other.",
        otherwise="contradicted" if against.all() else "not supported",
        recomputed=f"{int(sure.sum())} of {len(rows)} seeds",
        n=len(rows),
        key=key,
        statement=statement,
    )


def _of(row: pd.Series) -> str:
    return f"{int(row['right'])} of {int(row['n'])}"


def _range(row: pd.Series) -> str:
    return f"{100 * row['least']:.0f} to {100 * row['most']:.0f} %"


def _span(row: pd.Series) -> str:
    return f"{row['low']:g} to {row['high']:g} times the training length"
