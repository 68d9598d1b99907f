"""Keys that the tiny pair retrieves, by wording of the prompt and by depth of the key."""

import pandas as pd

from tables import Column, Table, fixed

SIDES = {"rope": "RoPE", "drope": "DroPE"}
FORMS = ("key", "code")


def table(lab_key_prompts: pd.DataFrame) -> Table:
    """Return the table."""
    depths = sorted(lab_key_prompts.loc[lab_key_prompts["kind"] == "depth", "part"].unique())
    rows = []
    for side, name in SIDES.items():
        for ratio, part in lab_key_prompts.groupby("ratio", sort=True):
            shares = part.set_index(["kind", "part"])[side]
            row: dict[str, object] = {"side": name, "length": f"{ratio:g}×"}
            row |= {form: 100 * float(shares["form", form]) for form in FORMS}
            row |= {depth: 100 * float(shares["depth", depth]) for depth in depths}
            rows.append(row)
    return Table(
        rows=pd.DataFrame(rows),
        columns=[
            Column("side", "Model", repeat=False),
            Column("length", "Prompt"),
            *(Column(form, f"“{form}”", fixed(0), group="Wording") for form in FORMS),
            *(Column(depth, depth.replace("-", "–"), fixed(0), group="Depth of the key, share") for depth in depths),
        ],
        groups="side",
        group_style="rule",
        caption=(
            "Percent of keys retrieved by the tiny pair, measured, by wording of the prompt and by the part of the "
            f"context in which the key lies. Unit: one training seed; means over {int(lab_key_prompts['seeds'].max())} "
            "seeds. Two tiny models trained here on a synthetic language."
        ),
        short="Keys retrieved by the tiny pair, by wording and depth",
        note="Prompt: in multiples of the training length. Depth: from the beginning of the context.",
    )
