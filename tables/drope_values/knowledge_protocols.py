"""The tasks common to Experiments 3 and 4: settings, baselines, and change when queries and keys are disrupted."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, integer, pvalue, signed
from tables.drope_values.knowledge_tasks import TASKS, UNKNOWN


def table(knowledge_protocols: pd.DataFrame) -> Table:
    """Return one row per model and task."""
    rows = knowledge_protocols.assign(name=knowledge_protocols["task"].map(TASKS))
    facts = {str(name): value for name, value in rows.iloc[0].items()}
    groups = {number: f"Experiment {number}, {facts[f'precision_{number}']}" for number in ("3", "4")}
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
                missing=UNKNOWN,
            ),
        ]
    columns.append(Column("p_base", "Baselines,\nFisher $p$", pvalue(), missing=UNKNOWN))
    columns.append(Column("p_base_holm", "Holm $p$", pvalue(), missing=UNKNOWN))
    first, second = (int(facts[f"digits_{number}"]) for number in groups)
    digits = f"{first} digits in both experiments" if first == second else f"{first} and {second} digits"
    count = int((rows["p_base_holm"] < 0.05).sum())
    return Table(
        rows=rows,
        columns=columns,
        groups="positional",
        caption=(
            "The same tasks in Experiments 3 and 4 of the report: accuracy at baseline, and its change when massive "
            "dimensions of queries and keys are disrupted, with 95 % intervals where every item counts [@africa2026]. "
            "Unit: item; as many items in both experiments."
        ),
        short="The same tasks in Experiments 3 and 4",
        note=(
            f"The passkey has {digits}. "
            f"Fisher's exact test of the two baselines, Holm over {int(rows['p_base'].notna().sum())}: {count} of "
            "them differ at 0.05. Both experiments set the dimension of largest norm of every head to its mean. They "
            "differ in precision and in the reviews of IMDB, drawn in one, the first of each label in the other. "
            "Cities and sports are shares of the answers that could be read."
        ),
    )
