"""The two models of each tiny pair against each other: text by text, item by item, head by head."""

import pandas as pd

from tables import Column, Table, signed

TENSORS = {"q": "queries", "k": "keys", "v": "values"}
SIDES = {"rope": "RoPE", "drope": "DroPE"}
TASKS = {"cities": "cities", "sports": "sports", "sentiment": "tone", "passkey": "key in filler"}
PATTERNS = {
    "first_attention": "attention to the first token",
    "local_attention": "attention to the five tokens before",
    "entropy_share": "entropy over that of even attention",
}


def table(lab_text_pairs: pd.DataFrame, lab_knowledge_tests: pd.DataFrame, lab_head_agreement: pd.DataFrame) -> Table:
    """Return the table."""
    tests = pd.concat([lab_text_pairs, lab_knowledge_tests, lab_head_agreement]).set_index("comparison")
    seeds = sorted({int(each) for each in tests.index.str.extract(r"seed (\d+)", expand=False)})

    def row(block: str, quantity: str, comparison: str, scale: float = 1.0) -> dict[str, object]:
        made: dict[str, object] = {"block": block, "quantity": quantity}
        for seed in seeds:
            test = tests.loc[comparison.format(seed=seed)]
            made |= {f"s{seed}": scale * test["estimate"], f"p{seed}": test["p_adjusted"]}
        return made

    by_text, by_item, by_head = (
        "Text by text: DroPE less RoPE",
        "Item by item: points lost or won without each head's largest dimension",
        "Head by head: correlation of the twins",
    )
    rows = [
        *(
            row(by_text, f"{words}, {what}", f"{metric}_{tensor}, seed {{seed}}, drope - rope", scale)
            for metric, words, scale in (
                ("gini", "concentration (Gini), 0.01", 100.0),
                ("largest_ratio", "largest norm over the mean", 1.0),
            )
            for tensor, what in TENSORS.items()
        ),
        *(
            row(by_item, f"{name}: {words}", f"{task}, {side}, seed {{seed}}, without - with", 100.0)
            for side, name in SIDES.items()
            for task, words in TASKS.items()
        ),
        *(row(by_head, words, f"{metric}, seed {{seed}}, rope and drope") for metric, words in PATTERNS.items()),
    ]
    texts, items, heads = (int(each["n"].min()) for each in (lab_text_pairs, lab_knowledge_tests, lab_head_agreement))
    return Table(
        rows=pd.DataFrame(rows),
        columns=[
            Column("quantity", "Quantity"),
            *(Column(f"s{seed}", f"seed {seed}", signed(2), p=f"p{seed}") for seed in seeds),
        ],
        groups="block",
        size="footnotesize",
        caption=(
            f"The models of each tiny pair against each other, measured. Units: {texts} texts (paired t), {items} "
            f"items (McNemar), {heads} heads (Pearson); Holm's correction over each of the three parts. A test speaks "
            "of one pair of models, not of training runs. Two tiny models trained here on a synthetic language."
        ),
        short="The tiny pair text by text, item by item, head by head",
        note="Norms are those of the dimensions of queries, keys or values over a text, before rotation.",
    )
