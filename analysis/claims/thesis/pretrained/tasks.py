"""Claims of the thesis on zeroed layers, disrupted dimensions and answers of pretrained models."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from analysis.claims._intervals import by_interval
from boundpaper.claims import ALPHA, Verdict, claim, judge, untestable
from boundpaper.claims.words import p

GUESS = "gives answers whose number right, with its interval, cannot be told from that of a guess."
CHANCE_RANK = 0.5  # chance level of the AUC of yes after the key
QUESTIONS = {
    "cities": "where cities lie",
    "sports": "which sport athletes play",
    "sentiment": "whether a review is kind",
    "passkey": "for a key in the prompt",
}


@claim("thesis, Pretrained models at hand")
def thesis_pretrained_lead(pretrained_ablations: pd.DataFrame) -> Iterator[Verdict]:
    """Zeroing the attention of layer 1 costs a pretrained model more than zeroing the MLP of layer 1."""
    for model, rows in pretrained_ablations[pretrained_ablations["layer"] == 1].groupby("model", sort=False):
        parts = {str(row["part"]): row for _, row in rows.iterrows()}
        statement = (
            f"{rows['display_name'].iloc[0]} loses more when the attention of layer 1 writes nothing than when its MLP "
            "does."
        )
        mlp, attention = parts["mlp"], parts["attention"]
        if pd.isna(mlp["low"]) or pd.isna(attention["low"]):
            yield untestable("one text has no spread; several would decide it.", key=str(model), statement=statement)
            continue
        phrase = ", ".join(f"{name} {_cost(row)}" for name, row in (("MLP", mlp), ("attention", attention)))
        yield judge(
            float(attention["low"]) > float(mlp["high"]),
            f"nats per token: {phrase}, over {int(mlp['n'])} texts",
            otherwise="contradicted" if float(mlp["low"]) > float(attention["high"]) else "not supported",
            recomputed=float(attention["value"]) - float(mlp["value"]),
            n=int(mlp["n"]),
            key=str(model),
            statement=statement,
        )


@claim("thesis, Pretrained models at hand")
def thesis_pretrained_needed(pretrained_ablations: pd.DataFrame) -> Iterator[Verdict]:
    """Zeroing one MLP costs a pretrained model most in the first layer."""
    for model, rows in pretrained_ablations[pretrained_ablations["part"] == "mlp"].groupby("model", sort=False):
        layers = rows.dropna(subset=["low"]).sort_values("layer")
        statement = f"In {rows['display_name'].iloc[0]} no MLP is worth as much as that of the first layer."
        if layers.empty:
            yield untestable("one text has no spread; several would decide it.", key=str(model), statement=statement)
            continue
        first, later_layers = layers.iloc[0], layers.iloc[1:]
        next_ = later_layers.iloc[int(later_layers["value"].astype(float).argmax())]
        yield judge(
            float(first["low"]) > float(next_["high"]),
            f"nats per token: layer {int(first['layer'])} {_cost(first)}, the most of the others in layer "
            f"{int(next_['layer'])} {_cost(next_)}, over {int(first['n'])} texts",
            otherwise="contradicted" if float(first["high"]) < float(next_["low"]) else "not supported",
            recomputed=float(first["value"]) - float(next_["value"]),
            n=int(first["n"]),
            key=str(model),
            statement=statement,
        )


@claim("thesis, Pretrained models at hand")
def thesis_pretrained_disrupted(pretrained_disruption: pd.DataFrame) -> Iterator[Verdict]:
    """Zeroing or levelling massive dimensions costs a model more than as many random ones, or ones of equal norm."""
    rows = pretrained_disruption[pretrained_disruption["select"] == "threshold"]
    for target, words in (("random", "as many random ones"), ("matched", "random ones of equal norm")):
        for _, row in rows[rows["target"] == target].iterrows():
            key = f"{row['model']}_{target}_{row['fill']}"
            verb = {"zero": "Zeroing", "mean": "Levelling"}[str(row["fill"])]
            statement = f"{verb} the massive dimensions of {row['display_name']} costs more than {words}."
            if pd.isna(row["low"]):
                reason = str(row["note"]) if pd.isna(row["value"]) else "one text has no spread"
                yield untestable(f"{reason}: a control that matches would decide it.", key=key, statement=statement)
                continue
            yield by_interval(
                row,
                1,
                f"in nats per token, the difference is {row['less']:.3f} [{row['low']:.3f}, {row['high']:.3f}] over "
                f"{int(row['texts'])} texts",
                columns=("less", "low", "high"),
                n="texts",
                key=key,
                statement=statement,
            )


@claim("thesis, Pretrained models at hand")
def thesis_pretrained_ranked(pretrained_disruption: pd.DataFrame) -> list[Verdict]:
    """Masking the massive dimensions costs a pretrained model more than nearly all random masks of the same size."""
    return [
        judge(
            float(row["p"]) < ALPHA,
            f"p = {row['p']:.3g} among {int(row['masks'])} random masks",
            otherwise="contradicted" if float(row["p"]) > 1 - ALPHA else "not supported",
            p_value=float(row["p"]),
            recomputed=float(row["p"]),
            n=int(row["masks"]),
            key=f"{row['model']}_{row['select']}_{row['fill']}",
            statement=f"Zeroing massive dimensions of {row['display_name']} costs more than random masks of as many.",
        )
        for _, row in pretrained_disruption[pretrained_disruption["p"].notna()].iterrows()
    ]


@claim("thesis, Pretrained models at hand")
def thesis_pretrained_keys(pretrained_retrieval: pd.DataFrame) -> Iterator[Verdict]:
    """A pretrained model retrieves keys better than by guessing, but does not recognise a key that it is shown."""
    for _, row in pretrained_retrieval.iterrows():
        key = f"{row['model']}_{row['task']}_{int(row['tokens'])}"
        length = f"in prompts of {int(row['tokens'])} tokens"
        if row["task"] == "passkey":
            yield _judge_guess(
                row, key, f"{row['display_name']} retrieves keys {length} better than a guess.", above=True
            )
        else:
            beginning = f"Asked whether a key that is shown is the one, {length}, {row['display_name']}"
            yield _judge_guess(row, key, f"{beginning} {GUESS}", above=False)


@claim("thesis, Pretrained models at hand")
def thesis_pretrained_knows(pretrained_answers: pd.DataFrame) -> Iterator[Verdict]:
    """Asked about its prompt, a pretrained model beats guessing; asked about its knowledge, it does not detectably."""
    for _, row in pretrained_answers[pretrained_answers["condition"] == "baseline"].iterrows():
        asked = f"{row['display_name']}, asked {QUESTIONS[str(row['task'])]},"
        unread = f"; {100 * row['unparsed']:.0f} % of the answers are none of those allowed"
        key = f"{row['model']}_{row['task']}"
        if row["held_in"] == "prompt":
            yield _judge_guess(row, key, f"{asked} is right more often than a guess.", unread, above=True)
        else:
            yield _judge_guess(row, key, f"{asked} {GUESS}", unread, above=False)


@claim("thesis, Pretrained models at hand")
def thesis_pretrained_levelled(
    pretrained_answers: pd.DataFrame, pretrained_knowledge_tests: pd.DataFrame
) -> Iterator[Verdict]:
    """Answers from the prompt are worse with each head's largest dimension levelled than with a random one levelled."""
    tests: Any = pretrained_knowledge_tests.set_index(["study", "comparison"])
    for (model, task), rows in pretrained_answers.query("held_in == 'prompt'").groupby(["model", "task"], sort=False):
        by_condition = {str(row["condition"]): row for _, row in rows.iterrows()}
        statement = (
            f"{rows['display_name'].iloc[0]}, asked {QUESTIONS[str(task)]}, is right less often with the largest "
            "dimension of each head levelled than with a random one."
        )
        key, test_key = f"{model}_{task}", (model, f"{task}, largest against random")
        if not {"top1", "random-0"} <= set(by_condition) or test_key not in tests.index:
            yield untestable("one of both was not asked; both would decide it.", key=key, statement=statement)
            continue
        largest_row, random_row, test = by_condition["top1"], by_condition["random-0"], tests.loc[test_key]
        phrase = ", ".join(
            f"{words} {100 * row['share']:.0f} %"
            for words, row in (("the largest levelled", largest_row), ("a random one levelled", random_row))
        )
        yield by_interval(
            test,
            -1,
            f"right: {phrase}, over the same {int(test['n'])} items a difference of {100 * test['estimate']:.0f} "
            f"points [{100 * test['ci_low']:.0f}, {100 * test['ci_high']:.0f}] (McNemar, Holm "
            f"{p(test['p_adjusted'])}); {100 * largest_row['unparsed']:.0f} % of the answers with the largest levelled "
            "are none of those allowed",
            p=("p_value", "p_adjusted"),
            key=key,
            statement=statement,
        )


@claim("thesis, Pretrained models at hand")
def thesis_pretrained_places(pretrained_retrieval_parts: pd.DataFrame) -> Iterator[Verdict]:
    """A pretrained model misses no key, whatever its wording and its place in the prompt."""
    part_in_words = {"form": "under either wording of the prompt", "depth": "in every fifth of the prompt"}
    rows = pretrained_retrieval_parts[pretrained_retrieval_parts["part"].isin(list(part_in_words))]
    for (model, part), cells in rows.groupby(["model", "part"], sort=False):
        lowest = cells.sort_values(["value", "low"]).iloc[0]
        yield judge(
            float(lowest["value"]) == 1,
            f"of {len(cells)} cells with {int(cells['n'].min())} or more prompts each the least is "
            f"{100 * lowest['value']:.0f} % [{100 * lowest['low']:.0f}, {100 * lowest['high']:.0f}], at "
            f"{int(lowest['tokens'])} tokens",
            recomputed=float(lowest["value"]),
            n=int(cells["n"].sum()),
            key=f"{model}_{part}",
            statement=f"{cells['display_name'].iloc[0]} finds every key {part_in_words[str(part)]}.",
        )


@claim("thesis, Pretrained models at hand")
def thesis_pretrained_shown(pretrained_retrieval_parts: pd.DataFrame) -> Iterator[Verdict]:
    """Asked whether a shown number is the key, a pretrained model says yes to wrong keys more than to the key."""
    shown_rows = pretrained_retrieval_parts[pretrained_retrieval_parts["part"] == "shown"]
    exact_probability = shown_rows[shown_rows["which"] == "exact"].set_index(["model", "tokens"])["value"]
    for _, row in shown_rows[shown_rows["which"] == "wrong"].iterrows():
        is_below, is_significant = float(row["auc"]) < CHANCE_RANK, float(row["p_holm"]) < ALPHA
        yield judge(
            is_below and is_significant,
            f"yes is likelier after the key in {100 * row['auc']:.0f} % of the pairs with a wrong one (half by chance; "
            f"exact {p(row['p'])}, Holm over lengths {p(row['p_holm'])}); its mean probability is "
            f"{exact_probability[row['model'], row['tokens']]:.2f} after the key and {row['value']:.2f} after others",
            otherwise="contradicted" if is_significant and not is_below else "not supported",
            recomputed=float(row["auc"]),
            n=int(row["n"]),
            p_value=float(row["p"]),
            p_adjusted=float(row["p_holm"]),
            key=f"{row['model']}_{int(row['tokens'])}",
            statement=(
                f"{row['display_name']}, in prompts of {int(row['tokens'])} tokens, says yes to wrong keys rather than "
                "to the key."
            ),
        )


def _judge_guess(row: Any, key: str, statement: str, note: str = "", *, above: bool) -> Verdict:
    """Judge whether Wilson's interval lies above the accuracy of guessing, or, without `above`, includes it.

    An interval that includes the accuracy of guessing does not exclude some knowledge.
    """
    chance, low, high = float(row["chance"]), float(row["low"]), float(row["high"])
    return judge(
        low > chance if above else low <= chance <= high,
        f"{100 * row['share']:.0f} % [{100 * low:.0f}, {100 * high:.0f}] of {int(row['n'])}, where a guess gets "
        f"{100 * chance:.0f} %{note}",
        otherwise="not supported" if above and high >= chance else "contradicted",
        recomputed=float(row["share"]),
        n=int(row["n"]),
        key=key,
        statement=statement,
    )


def _cost(row: Any) -> str:
    return f"{row['value']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"
