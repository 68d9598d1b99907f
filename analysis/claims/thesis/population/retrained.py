"""Claims on the second run: the items of the plan's amendment, by exact tests and margins fixed beforehand."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims.thesis.population._judged import judge_both, judge_equal, models_in_words
from boundpaper.claims import Verdict, claim, judge, pick

LARGER = "_10000"
NO_PREFERENCE = 0.02  # share of the spread within which position prefers no key (the amendment's smaller margin)
REACH = {
    "B_change": (-1, "With rotation kept, plasticity at one position falls from the trained length to the fourth."),
    "A_change": (-1, "In the rotary model that the others start from, plasticity at one position falls as well."),
    "C_change": (1, "With rotation dropped, plasticity rises from the trained length to the fourth."),
    "C_less_B_within": (-1, "Within the trained length, models without rotation are less plastic at one position."),
    "C_less_B": (-1, "Beyond the trained length, models without rotation are less plastic at one position."),
}
EXCHANGE = {
    "B_sway_change": (1, "With rotation kept, position decides more pairs of keys beyond the trained length."),
    "B_position_within": (1, "Within the trained length, rotary models prefer the position of the nearer key."),
    "B_position_beyond": (-1, "Beyond the trained length, rotary models prefer the position of the farther key."),
    "B_content_change": (
        -1,
        "With rotation kept, what the mean query prefers of content is smaller beyond the trained length.",
    ),
    "C_nearer": (1, "Without rotation the nearer key wins more often than not, beyond the trained length."),
    "C_less_B_linear": (1, "The distance between two keys explains more of the mean gap without rotation."),
}
WEIGHTED = {
    f"weighted_{item}": (sign, f"Of the heads that retrieval needs: {statement[0].lower()}{statement[1:]}")
    for item, (sign, statement) in {**REACH, **EXCHANGE}.items()
    if item in ("B_change", "C_less_B_within", "C_less_B", "B_sway_change")
}
LENGTHS = {2: (1, "two"), 4: (-1, "four"), 8: (-1, "eight")}
"""Training lengths of a prompt -> sign of the first run's result at the primary base, and word for the length."""

YARN = {
    f"{key}_{length}x": (
        sign,
        f"At {word} training lengths dropping finds {'more' if sign > 0 else 'fewer'} far passkeys than YaRN on the "
        f"control, both {how} a temperature.",
    )
    for length, (sign, word) in LENGTHS.items()
    for key, how in (("C_less_yarn_plain", "without"), ("C_heated_less_yarn", "with"))
}
RELATIONS = {
    "h1_aligned": (-1, "Models whose late plasticity at one position is higher lose fewer passkeys with length."),
    "drop_aligned": (1, "Models whose plasticity at one position drops more within the window lose more passkeys."),
}
HEADS = {
    "damage_aligned": (1, "Within a layer, the more plastic a head is at one position, the more its removal costs."),
    "damage_aligned_late": (
        1,
        "Within a layer, the more plastic a head is for late queries, the more its removal costs.",
    ),
}
WIDTHS = {
    "B_width_within": "Within the trained length, a bin of 16 words is as plastic as one position.",
    "B_width_beyond": "Beyond the trained length, a bin of 16 words is as plastic as one position.",
    "C_width_within": "Without rotation, within the trained length, a bin of 16 words is as plastic as one position.",
    "C_width_beyond": "Without rotation, beyond the trained length, a bin of 16 words is as plastic as one position.",
}
Items = dict[str, tuple[int, str]]


@claim("thesis, A population of small models")
def thesis_retrained_reach(retrained_tests: pd.DataFrame) -> list[Verdict]:
    """Plasticity at one position changes beyond the trained length, and is lower without rotation (planned)."""
    return _judge_items(retrained_tests, REACH)


@claim("thesis, A population of small models")
def thesis_retrained_exchange(retrained_tests: pd.DataFrame) -> list[Verdict]:
    """The exchange of two keys' positions shows what position decides (planned in the amendment)."""
    return _judge_items(retrained_tests, EXCHANGE)


@claim("thesis, A population of small models")
def thesis_retrained_widths(retrained_tests: pd.DataFrame) -> list[Verdict]:
    """At the primary base, aligned plasticity does not depend on the width of its bins (planned in the amendment)."""
    return [
        judge_equal(row, item, statement, _seeds(row))
        for item, statement in WIDTHS.items()
        for row in [pick(retrained_tests, item=item)]
    ]


@claim("thesis, A population of small models")
def thesis_retrained_weighted(retrained_tests: pd.DataFrame) -> list[Verdict]:
    """Planned items hold with each head weighted by how much its removal raises the passkey loss (secondary items)."""
    return _judge_items(retrained_tests, WEIGHTED)


@claim("thesis, A population of small models")
def thesis_retrained_yarn(retrained_tests: pd.DataFrame) -> list[Verdict]:
    """Dropping the rotation finds more far passkeys than YaRN at two training lengths, fewer at four and eight."""
    return _judge_items(retrained_tests, YARN)


@claim("thesis, A population of small models")
def thesis_retrained_relations(retrained_tests: pd.DataFrame) -> list[Verdict]:
    """Plasticity at one position correlates with how many passkeys models lose with length (secondary items)."""
    return _judge_items(retrained_tests, RELATIONS)


@claim("thesis, A population of small models")
def thesis_retrained_heads(retrained_tests: pd.DataFrame) -> list[Verdict]:
    """Within a layer, a head's plasticity at one position correlates with the cost of its removal (secondary items)."""
    return _judge_items(retrained_tests, HEADS)


@claim("thesis, A population of small models")
def thesis_retrained_apart(retrained_apart: pd.DataFrame, retrained_distances: pd.DataFrame) -> Iterator[Verdict]:
    """With rotation kept, position matters less among keys equally far apart than over all pairs (post hoc)."""
    for base, base_in_words in ((400, "400"), (10_000, "10,000")):
        rows = retrained_apart.query(f"base == {base} and arm == 'B' and quantity == 'sway'")
        widest = int((rows["apart_high"] - rows["apart_low"]).to_numpy().argmax())
        all_pairs, bands = rows.iloc[widest], rows.drop(index=rows.index[widest])
        largest_growth = float(bands["value"].max())
        units = f"{int(all_pairs['seeds'])} of {int(all_pairs['planned'])} seeds"
        yield judge(
            largest_growth < float(all_pairs["value"]) / 2,
            f"Sway grows by {bands['value'].min():.3f} to {largest_growth:.3f} at one distance and by "
            f"{all_pairs['value']:.3f} over all pairs, {units}; exploratory, nothing is tested.",
            otherwise="not supported",
            recomputed=f"{largest_growth:+.3f} against {all_pairs['value']:+.3f}",
            key=f"sway-{base}",
            statement=(
                f"At base {base_in_words}: of keys equally far apart, sway grows beyond the trained length by less "
                "than half of what it grows over all pairs."
            ),
        )
        positions = retrained_distances.query(
            f"base == {base} and arm == 'B' and quantity == 'position_part' and away_low == 0 and away_high == high"
        )
        last = positions[positions["low"] == positions["low"].max()]
        close_pairs = last.sort_values("apart_high").iloc[0]
        yield judge(
            bool(close_pairs["ci_low"] > -NO_PREFERENCE and close_pairs["ci_high"] < NO_PREFERENCE),
            f"Position part {close_pairs['value']:+.3f} of the spread [{close_pairs['ci_low']:+.3f}, "
            f"{close_pairs['ci_high']:+.3f}] of keys under {int(close_pairs['apart_high'])} words apart, {units}; "
            "exploratory.",
            otherwise="not supported",
            recomputed=f"{close_pairs['value']:+.3f}",
            key=f"position-{base}",
            statement=(
                f"At base {base_in_words}: beyond the trained length, position prefers neither of two keys under "
                f"{int(close_pairs['apart_high'])} words apart."
            ),
        )


def _judge_items(tests: pd.DataFrame, items: Items) -> list[Verdict]:
    """Return a verdict per base and item."""
    verdicts = []
    for suffix, where in (("", "At base 400"), (LARGER, "At base 10,000")):
        for item, (sign, statement) in items.items():
            row = pick(tests, item=f"{item}{suffix}")
            units = models_in_words(row) if row["models"] else _seeds(row)
            sentence = f"{where}: {statement[0].lower()}{statement[1:]}"
            verdicts.append(judge_both(row, "value", sign, f"{item}{suffix}", sentence, units))
    return verdicts


def _seeds(row: pd.Series) -> str:
    """Return the numbers of measured and of planned seeds behind a row, in words."""
    return f"{int(row['seeds'])} of {int(row['planned'])} seeds"
