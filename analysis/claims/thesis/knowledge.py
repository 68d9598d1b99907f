"""Claims of the thesis on baselines of the knowledge tasks: they differ between experiments, or lie below chance."""

import pandas as pd

from boundpaper.claims import ALPHA, Verdict, claim, judge, pick


@claim("thesis, Massive values with and without rotary positions")
def thesis_knowledge_baselines(knowledge_protocols: pd.DataFrame) -> Verdict:
    """The two experiments that run the same tasks differ in accuracy even before any disruption."""
    tested_tasks = knowledge_protocols[knowledge_protocols["p_base_holm"].notna()]
    differing_tasks = tested_tasks[tested_tasks["p_base_holm"] < ALPHA]
    phrases = [
        f"{row['positional']} {row['task']} {row['base_3']:.1f} against {row['base_4']:.1f} %"
        for _, row in differing_tasks.iterrows()
    ]
    return judge(
        not differing_tasks.empty,
        f"{len(differing_tasks)} of the {len(tested_tasks)} baselines that count every item differ (Fisher, Holm): "
        f"{', '.join(phrases) or 'none'}. The reviews of IMDB are drawn at random in one experiment and are the first "
        "of each label in the other.",
        recomputed=f"{len(differing_tasks)} of {len(tested_tasks)} differ",
        n=len(tested_tasks),
        p_value=float(tested_tasks["p_base"].min()),
        p_adjusted=float(tested_tasks["p_base_holm"].min()),
    )


@claim("thesis, Massive values with and without rotary positions")
def thesis_imdb_below_chance(knowledge_tasks: pd.DataFrame) -> Verdict:
    """The undisturbed IMDB accuracy of DroPE lies below chance, so it counts answers that are neither option as
    wrong.
    """
    row = pick(knowledge_tasks, positional="DroPE", task="imdb")
    return judge(
        bool(row["p_below_chance"] < ALPHA),
        f"{row['base_right']} of {row['n']} [{row['base_low']:.0f}, {row['base_high']:.0f}] against a chance of "
        f"{row['chance']:.0f} %, one-sided binomial test"
        + ("; guessing does not fall so low, unparsed answers do." if row["p_below_chance"] < ALPHA else "."),
        otherwise="not supported",
        recomputed=f"{row['base']:.1f}%",
        n=int(row["n"]),
        p_value=float(row["p_below_chance"]),
        ci=(float(row["base_low"]), float(row["base_high"])),
    )
