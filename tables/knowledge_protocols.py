"""The same tasks in Experiments 3 and 4: settings, baselines, and change under disruption of queries and keys."""

import pandas as pd

from tables import Column, Table, fixed, integer, pvalue, signed
from tables.knowledge_tasks import TASKS


def table(knowledge_protocols: pd.DataFrame) -> Table:
    """One row per model and task."""
    rows = knowledge_protocols.assign(name=knowledge_protocols["task"].map(TASKS))
    first = {str(name): value for name, value in rows.iloc[0].items()}
    groups = {number: f"Experiment {number}, {first[f'precision_{number}']}" for number in ("3", "4")}
    columns = [Column("name", "Task"), Column("n_3", "n", integer())]
    for number, group in groups.items():
        columns += [
            Column(f"base_{number}", "base, %", fixed(1), group=group),
            Column(
                f"change_{number}",
                "change, points",
                signed(1),
                ci=(f"change_low_{number}", f"change_high_{number}"),
                group=group,
            ),
        ]
    columns.append(Column("p_base", "Baselines,\nFisher $p$", pvalue()))
    columns.append(Column("p_base_holm", "Holm $p$", pvalue()))
    each = [int(first[f"digits_{number}"]) for number in groups]
    digits = f"{each[0]} digits in both experiments" if each[0] == each[1] else f"{each[0]} and {each[1]} digits"
    differing = int((rows["p_base_holm"] < 0.05).sum())
    return Table(
        rows=rows,
        columns=columns,
        groups="positional",
        caption=(
            "The same tasks in Experiments 3 and 4 of the source: accuracy at baseline, and its change when massive "
            "dimensions of queries and keys are disrupted, with 95 % intervals [@africa2026]. Unit: item; as many "
            "items in both experiments."
        ),
        short="The same tasks in Experiments 3 and 4",
        note=(
            f"The passkey has {digits}. "
            f"Fisher's exact test of the two baselines, Holm over {len(rows)}: {differing} of them differ at 0.05. The "
            "experiments differ in precision; whether they use the same items and the same disruption is not stated."
        ),
    )
