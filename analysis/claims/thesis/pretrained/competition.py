"""Claims of the thesis on position against content at a fixed distance of the keys, in pretrained models."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims._shared import min_to_max
from boundpaper.claims import Verdict, claim, directed, judge, untestable

MARGIN = 0.1  # share of its value in the first bin by which the spread may fall
FAR = 1024  # tokens between keys above which the mean difference is claimed to shrink
NULL = "random-llama"
UNCHANGED = 0.02  # a smaller change of plasticity counts as none (amendment of the plan)
COMMON = 1024  # tokens between keys up to which both the second and the last quarter have such keys


@claim("thesis, Pretrained models at hand")
def thesis_pretrained_competition(pretrained_competition: pd.DataFrame) -> Iterator[Verdict]:
    """At a fixed distance between keys, neither the spread by content nor the mean gap explains why plasticity falls.

    Post hoc and descriptive: means over heads by query bin, without intervals.
    """
    for model, rows in pretrained_competition[pretrained_competition["model"] != NULL].groupby("model", sort=False):
        name = str(rows["display_name"].iloc[0])
        all_pairs, by_distance = rows[rows["distance"] == 0], rows[rows["distance"] > 0]
        spread_statement = (
            f"At no fixed distance of the keys does the spread of {name} fall by a tenth along the context."
        )
        gap_statement = (
            f"At each fixed distance of a thousand tokens and more the mean difference of {name} shrinks along the "
            "context, while over all pairs it grows."
        )
        far_rows = by_distance[by_distance["distance"] > FAR]
        if by_distance.empty or far_rows.empty or all_pairs.empty:
            reason = "No distance of the keys has two bins of queries; a longer capture would decide it."
            yield from [
                untestable(reason, key=f"{model}_{key}", statement=statement)
                for key, statement in (("spread", spread_statement), ("gap", gap_statement))
            ]
            continue
        yield judge(
            bool((by_distance["spread_change"] > -MARGIN).all()),
            f"The spread changes by {min_to_max(by_distance['spread_change'], '+.0%')} from the first bin to the last "
            f"over {len(by_distance)} distances, over all pairs by {all_pairs['spread_change'].iloc[0]:+.0%}. Rotation "
            "turns the queries of one bin by different angles, which adds to the spread.",
            recomputed=min_to_max(by_distance["spread_change"], "+.0%"),
            n=len(by_distance),
            key=f"{model}_spread",
            statement=spread_statement,
        )
        yield judge(
            bool((far_rows["gap_change"] < 0).all() and (all_pairs["gap_change"] > 0).all()),
            f"The mean difference changes by {min_to_max(far_rows['gap_change'], '+.0%')} over {len(far_rows)} "
            f"distances, over all pairs by {all_pairs['gap_change'].iloc[0]:+.0%}.",
            recomputed=min_to_max(far_rows["gap_change"], "+.0%"),
            n=len(far_rows),
            key=f"{model}_gap",
            statement=gap_statement,
        )


@claim("thesis, Pretrained models at hand")
def thesis_pretrained_exchange(pretrained_exchange_levels: pd.DataFrame) -> Iterator[Verdict]:
    """At one position and a fixed distance between keys plasticity does not fall; late on, position decides more pairs.

    Exploratory (asked by an amendment): means over heads with equal weights. Only the change of sway has an interval.
    """
    levels = pretrained_exchange_levels.query("weights == 'all' and role == 'pretrained'")
    for model, rows in levels.groupby("model", sort=False):
        name = f"{rows['display_name'].iloc[0]} on {rows['texts'].iloc[0]}"
        is_every_pair = rows["apart_high"] - rows["apart_low"] == rows["apart_high"].max()
        all_pairs = rows[is_every_pair].set_index("quantity")
        by_distance = rows[~is_every_pair].sort_values("apart_low")
        close = by_distance[(by_distance["quantity"] == "plasticity") & (by_distance["apart_high"] <= COMMON)]
        changes = {
            str(quantity): values["last"] / values["first"] - 1 for quantity, values in by_distance.groupby("quantity")
        }
        far_gaps = changes["gap"][by_distance["apart_low"].reindex(changes["gap"].index) >= COMMON]
        totals = {
            quantity: float(all_pairs.loc[quantity, "last"] / all_pairs.loc[quantity, "first"] - 1)
            for quantity in ("gap", "spread")
        }
        fall, sway = float(all_pairs.loc["plasticity", "change"]), all_pairs.loc["sway"]
        cases = (
            ("spread", changes["spread"], bool((changes["spread"] > -MARGIN).all()), f"{totals['spread']:+.0%}",
             f"At one position the spread of {name} falls by a tenth at no fixed distance of the keys."),
            ("gap", far_gaps, bool((far_gaps < 0).all() and totals["gap"] > 0), f"{totals['gap']:+.0%}",
             f"At one position the mean difference of keys far apart of {name} shrinks along the context, while over "
             "all pairs it grows."),
            ("distance", close["change"], bool(fall < -UNCHANGED and (close["change"].abs() < UNCHANGED).all()),
             f"{fall:+.3f}",
             f"At one position plasticity of {name} falls over all pairs and at no fixed distance of the keys."),
        )  # fmt: skip
        for key, values, true, total, statement in cases:
            form = "+.3f" if key == "distance" else "+.0%"
            limits = dict.fromkeys(f"{value:{form}}" for value in (values.min(), values.max()))
            extent = " to ".join(limits)
            reason = f"At a fixed distance {extent} along the context (ranges: {len(values)}), over all pairs {total}."
            yield judge(true, reason, recomputed=extent, n=len(values), key=f"{model}_{key}", statement=statement)
        yield directed(
            float(sway["change"]),
            (float(sway["low"]), float(sway["high"])),
            1,
            f"from {sway['first']:.3f} to {sway['last']:.3f}, by {sway['change']:+.3f} [{sway['low']:.3f}, "
            f"{sway['high']:.3f}] over {int(sway['key_heads'])} key heads",
            recomputed=float(sway["change"]),
            n=int(sway["key_heads"]),
            key=f"{model}_sway",
            statement=f"In {name} position decides more pairs of keys late in the context than early.",
        )
