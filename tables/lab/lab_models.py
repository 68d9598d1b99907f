"""The tiny pair: what its models are and what they were trained on."""

import pandas as pd

from tables import Column, Table, fixed, integer

NAMES = {"rope": "RoPE", "drope": "DroPE"}


def table(lab_pair_models: pd.DataFrame) -> Table:
    """Return the table."""
    rows = lab_pair_models.assign(encoding=lab_pair_models["side"].map(NAMES))
    rows["first"] = ~rows["side"].duplicated()
    first = rows.iloc[0]
    seeds = rows["training_seed"].nunique()
    return Table(
        rows=rows,
        columns=[
            Column("encoding", "Encoding", repeat=False),
            Column("training_seed", "Seed", integer()),
            Column("parameters", "Parameters", integer()),
            Column("steps", "Steps", integer(), group="Training"),
            Column("tokens", "Tokens", integer(), group="Training"),
            Column("loss", "all tokens", fixed(3), group="Last loss", unit="nats"),
            Column("answer_loss", "answers", fixed(3), group="Last loss", unit="nats"),
        ],
        rule_before="first",
        caption=(
            f"The tiny pair, measured: {seeds} training seeds of a Llama with {first['layers']} layers of width "
            f"{first['width']}, {first['heads']} heads each, trained by this project on sequences of "
            f"{first['training_length']} tokens of a synthetic language. Unit: one model."
        ),
        short="The tiny pair of models",
        note=(
            "A DroPE model begins with the weights of the RoPE model of its seed, with the rotation made the identity, "
            "and is trained on: its steps and tokens come on top. The loss over all tokens weighs answers more, as in "
            "training, and is that of the last looks at a batch, not of held-out text. In seeds 0 and 1 the second "
            "phase began with the published weights of the first, which are rounded to half precision."
        ),
    )
