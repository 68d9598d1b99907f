"""Claims of the thesis on position against content at a fixed distance of the keys, in pretrained models."""

from collections.abc import Iterator

import pandas as pd

from boundpaper.claims import Verdict, claim, judge, untestable

MARGIN = 0.1  # of the value at the first bin
FAR = 1024  # tokens between keys: from here on the mean difference is asked to shrink
NULL = "random-llama"
SAME = 0.02  # of plasticity; a smaller change counts as none (the amendment of the plan)
WHOLE = 4096  # tokens: the range of distances that leaves no pair out


@claim("thesis, Pretrained models at hand")
def thesis_pretrained_competition(pretrained_competition: pd.DataFrame) -> Iterator[Verdict]:
    """At a fixed distance of two keys neither the content's part nor the mean difference explains the fall.

    Post hoc, and a description: means over heads in bins of queries, which no interval goes with.
    """
    for model, rows in pretrained_competition[pretrained_competition["model"] != NULL].groupby("model", sort=False):
        name = str(rows["display_name"].iloc[0])
        every, fixed = rows[rows["distance"] == 0], rows[rows["distance"] > 0]
        spread = f"At no fixed distance of the keys does the spread of {name} fall by a tenth along the context."
        gap = (
            f"At each fixed distance of a thousand tokens and more the mean difference of {name} shrinks along the "
            "context, while over all pairs it grows."
        )
        far = fixed[fixed["distance"] > FAR]
        if fixed.empty or far.empty or every.empty:
            why = "No distance of the keys has two bins of queries; a longer capture would decide it."
            yield from [
                untestable(why, key=f"{model}_{key}", statement=s) for key, s in (("spread", spread), ("gap", gap))
            ]
            continue
        yield judge(
            bool((fixed["spread_change"] > -MARGIN).all()),
            f"The spread changes by {fixed['spread_change'].min():+.0%} to {fixed['spread_change'].max():+.0%} "
            f"from the first bin to the last over {len(fixed)} distances, over all pairs by "
            f"{every['spread_change'].iloc[0]:+.0%}. Queries of one bin are turned by different angles, which the "
            "spread holds as well.",
            recomputed=f"{fixed['spread_change'].min():+.0%} to {fixed['spread_change'].max():+.0%}",
            n=len(fixed),
            key=f"{model}_spread",
            statement=spread,
        )
        yield judge(
            bool((far["gap_change"] < 0).all() and (every["gap_change"] > 0).all()),
            f"The mean difference changes by {far['gap_change'].min():+.0%} to {far['gap_change'].max():+.0%} over "
            f"{len(far)} distances, over all pairs by {every['gap_change'].iloc[0]:+.0%}.",
            recomputed=f"{far['gap_change'].min():+.0%} to {far['gap_change'].max():+.0%}",
            n=len(far),
            key=f"{model}_gap",
            statement=gap,
        )


@claim("thesis, Pretrained models at hand")
def thesis_pretrained_exchange(pretrained_exchange_levels: pd.DataFrame) -> Iterator[Verdict]:
    """The same at one position, by an amendment of the plan that was written before; means over heads.

    Statements on gap and spread are those of pooled bins; none is a test, except that an interval over key heads
    stands behind the change of sway.
    """
    for model, rows in pretrained_exchange_levels[pretrained_exchange_levels["weights"] == "all"].groupby("model"):
        name = f"{rows['display_name'].iloc[0]} on {rows['texts'].iloc[0]}"
        every = rows[rows["apart_high"] - rows["apart_low"] == WHOLE].set_index("quantity")
        fixed = rows[rows["apart_high"] - rows["apart_low"] < WHOLE]
        share = {each: part["change"] / part["first"] for each, part in fixed.groupby("quantity")}
        fall, at = float(every.loc["plasticity", "change"]), fixed.query("quantity == 'plasticity'")["change"]
        sway = every.loc["sway"]
        few = f"over {len(at)} ranges of distances, {int(sway['heads'])} heads"
        said = (
            ("spread", bool((share["spread"] > -MARGIN).all()), share["spread"],
             f"At no fixed distance of the keys does the spread of {name} fall by a tenth at one position."),
            ("gap", bool((share["gap"].iloc[-1:] < 0).all() and every.loc["gap", "change"] > 0), share["gap"],
             f"At one position the mean difference of far keys of {name} shrinks along the context, while over all "
             "pairs it grows."),
            ("distance", bool(fall < -SAME and (at.abs() < SAME).all()), at,
             f"At one position plasticity of {name} falls over all pairs and at no fixed distance of the keys."),
        )  # fmt: skip
        for key, true, values, statement in said:
            form = "+.2f" if key == "distance" else "+.0%"
            range_ = f"{values.min():{form}} to {values.max():{form}}"
            reason = f"Changes from {range_} {few}; plasticity over all pairs {fall:+.2f}."
            yield judge(true, reason, recomputed=range_, n=len(at), key=f"{model}_{key}", statement=statement)
        yield judge(
            bool(sway["low"] > 0),
            f"From {sway['first']:.2f} to {sway['last']:.2f}, by {sway['change']:+.3f} [{sway['low']:.3f}, "
            f"{sway['high']:.3f}] over {int(sway['key_heads'])} key heads.",
            otherwise="contradicted" if sway["high"] < 0 else "not supported",
            recomputed=float(sway["change"]),
            n=int(sway["key_heads"]),
            ci=(float(sway["low"]), float(sway["high"])),
            key=f"{model}_sway",
            statement=f"In {name} position decides more pairs late in the context than early.",
        )
