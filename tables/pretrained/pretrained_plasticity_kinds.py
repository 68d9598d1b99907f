"""Head metrics of pretrained models on prose and on source code."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, markup
from tables.pretrained.pretrained_noise import ROWS


def table(pretrained_plasticity_kinds: pd.DataFrame) -> Table:
    """Return one row per metric."""
    counts = pretrained_plasticity_kinds.iloc[0]
    names = list(dict.fromkeys(pretrained_plasticity_kinds["display_name"]))
    return Table(
        rows=pretrained_plasticity_kinds.assign(label=pretrained_plasticity_kinds["metric"].map(ROWS)),
        columns=[
            Column("label", "", markup),
            Column("prose", "Prose", fixed(3)),
            Column("code", "Source code", fixed(3)),
            Column("difference", "Difference", fixed(3), ci=("low", "high"), reason="note"),
            Column("r", "Correlation\nover heads", fixed(2)),
        ],
        groups="display_name" if len(names) > 1 else None,
        size="footnotesize",
        caption=(
            f"The same {int(counts['heads'])} heads of {', '.join(names)} on prose and on source code: means over "
            f"heads. Unit: one key head, n = {int(counts['key_heads'])}; in brackets Student's 95 % interval. The "
            "correlation is Spearman's."
        ),
        short="Heads of a pretrained model on prose and code",
        note="The interval covers heads and not texts: of either kind there is one capture.",
    )
