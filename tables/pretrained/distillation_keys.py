"""Share of keys that the four models of the distillation retrieve, by prompt length."""

import pandas as pd

from boundpaper.tables import Column, Table, percent
from boundpaper.typeset.wording import listed
from tables.pretrained.distillation_quantities import NAMES


def table(distillation_keys: pd.DataFrame) -> Table:
    """Return one row per length and one column per model."""
    columns = [name for name in NAMES if name in set(distillation_keys["column"])]
    values = distillation_keys.pivot(index=["pair", "tokens"], columns="column", values=["share", "low", "high"])
    rows = pd.DataFrame({f"{name}_{end}": values[end, name] for name in columns for end in ("share", "low", "high")})
    counts = [str(n) for n in sorted(set(distillation_keys["n"]))]
    return Table(
        rows=rows.reset_index(),
        columns=[
            Column("tokens", "Tokens"),
            *(
                Column(f"{name}_share", NAMES[name], percent(0, share=True), ci=(f"{name}_low", f"{name}_high"))
                for name in columns
            ),
        ],
        size="footnotesize",
        caption=(
            "Keys of five digits retrieved from English filler by one pretrained model with its rotation, with it "
            "removed, and by its students at equal tokens, in percent. All were asked the same prompts. Unit: one "
            f"prompt, {listed(counts)} a length; in brackets Wilson's 95 % interval."
        ),
        short="Keys retrieved with rotation and without",
        note="The shortest length is that of the windows on which the students were trained.",
    )
