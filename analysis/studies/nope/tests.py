"""Test what the printed counts, means and top layers of the study of layers without position encoding allow."""

import math
from collections.abc import Sequence

import pandas as pd
from scipy import stats

from analysis.studies._weights import shared_text_weights
from boundpaper.errors import DataError
from boundpaper.statistics import fisher, mcnemar_from_counts, wilson, with_note
from boundpaper.statistics.estimate import Estimate, frame, join_notes, no
from boundpaper.statistics.families import corrected
from boundpaper.statistics.guards import Notes, attach, dependent_units, same_data

PAIR = ("llama3.1-8b", "llama3.2-11b")
COUNTS = ("finding_2_llama31", "finding_2_llama32")
DEEP = 32


def nope_count_tests(
    nope_stated: pd.DataFrame, published_facts: pd.DataFrame, test_families: pd.DataFrame
) -> pd.DataFrame:
    """Layers that recover in either model: Wilson intervals, Fisher's test, and McNemar's for the extreme pairings.

    The two models run the same text layers, so the counts are paired; which layers recover in which model is not
    printed, and McNemar's p is given for the pairing with the fewest and with the most discordant layers. Layers of one
    network are no independent units.
    """
    said = nope_stated.set_index("statement")["value"]
    counts = [int(said[f"{key}_recovering"]) for key in COUNTS]
    layers = [int(said[f"{key}_layers"]) for key in COUNTS]
    guard = shared_text_weights(list(PAIR), published_facts)
    study = "nope_count_tests"
    tests = [
        wilson(count, n, study=study, comparison=model, unit="layer")
        for model, count, n in zip(PAIR, counts, layers, strict=True)
    ]
    tests.append(
        attach(
            fisher(counts[0], layers[0], counts[1], layers[1], study=study, comparison="between models", unit="layer"),
            guard,
            _guard_of_one_network(sum(layers)),
        )
    )
    if layers[0] != layers[1]:
        raise DataError(f"{layers[0]} and {layers[1]} text layers; the pairing needs the same layers in both models")
    n = layers[0]
    for word, both in (("fewest", min(counts)), ("most", max(0, sum(counts) - n))):
        table = (both, counts[0] - both, counts[1] - both, n - sum(counts) + both)
        row = mcnemar_from_counts(*table, study=study, comparison=f"{word} discordant layers", unit="layer")
        pairing = with_note(row, "the pairing is not printed, this one is an extreme of those possible")
        tests.append(attach(pairing, _guard_of_one_network(n)))
    return frame(corrected(tests, test_families, "nope_count_tests"))


def _guard_of_one_network(layers: int) -> Notes:
    return dependent_units([str(layer) for layer in range(layers)], ["net"] * layers, "one residual stream")


def nope_adjacency_bounds(
    nope_adjacency: pd.DataFrame, nope_layers: pd.DataFrame, nope_groups: pd.DataFrame
) -> pd.DataFrame:
    """Adjacency to cross-attention layers: the most that any test of the printed group means could have shown.

    The study prints means and numbers of layers, no standard deviations, so no test can be computed. But five layers
    are printed singly, and they spread their groups: whatever the others are, the sum of squares within a group is at
    least that of its printed layers with all others equal. This bounds the pooled t (and F over three groups) from
    above and p from below; rounding is taken in the direction that favours an effect. The bound needs the printed
    recoveries of layers and groups to be the same quantity.

    `difference` is first minus second in units of plasticity, `p_at_least` two-sided; `sd_at_least` is pooled.
    """
    cells = nope_adjacency[nope_adjacency["metric"] == "mean_recovery"].set_index("group")
    means, lows, highs = ({str(g): float(v) for g, v in cells[part].items()} for part in ("value", "low", "high"))
    sizes = nope_adjacency[nope_adjacency["metric"] == "layers"].set_index("group")["value"]
    n = {str(group): int(size) for group, size in sizes.items()}
    single = nope_layers[(nope_layers["model"] == PAIR[1]) & (nope_layers["metric"] == "recovery")]
    group_of = nope_groups.set_index("layer")["group"]
    known = {group: list(single.loc[single["layer"].map(group_of) == group, "low"]) for group in n}
    least = {group: _least_squares(known[group], n[group], highs[group]) for group in n}
    adjacent = n["after"] + n["before"]
    centre, low, high = (
        sum(n[group] * values[group] for group in ("after", "before")) / adjacent for values in (means, lows, highs)
    )
    rows = []
    # the two adjacent groups as one: their own spread is left out of the sum of squares, which only weakens the bound
    cases = [("adjacent", adjacent, centre, low, high, least["after"] + least["before"])]
    cases += [(g, n[g], means[g], lows[g], highs[g], least[g]) for g in ("after", "before")]
    for name, size, value, value_low, value_high, squares in cases:
        difference = value - means["far"]
        ends = value_low - highs["far"], value_high - lows["far"]
        df = size + n["far"] - 2
        sd = math.sqrt((squares + least["far"]) / df)
        largest = max(abs(end) for end in ends)
        bound = largest / (sd * math.sqrt(1 / size + 1 / n["far"]))
        rows.append(
            {
                "comparison": f"{name} - far",
                "n_first": size,
                "n_second": n["far"],
                "difference": round(difference, 12),
                "difference_low": round(ends[0], 12),
                "difference_high": round(ends[1], 12),
                "sd_at_least": sd,
                "statistic": "t",
                "statistic_at_most": bound,
                "df": df,
                "p_at_least": float(2 * stats.t.sf(bound, df)),
                "note": "",
            }
        )
    rows.append(_three_groups(n, means, lows, highs, least))
    return pd.DataFrame(rows)


def _least_squares(known: Sequence[float], size: int, mean: float) -> float:
    """Return the least sum of squares of `size` values with this mean, some of them known: the others are equal."""
    rest = size - len(known)
    off = sum(value - mean for value in known)
    return sum((value - mean) ** 2 for value in known) + off**2 / rest


def _three_groups(
    n: dict[str, int], means: dict[str, float], lows: dict[str, float], highs: dict[str, float], least: dict[str, float]
) -> dict[str, object]:
    total, groups = sum(n.values()), list(n)
    # the means lie farthest apart where each one's rounding is at an end
    corners: list[dict[str, float]] = [{}]
    for group in groups:
        corners = [{**one, group: end} for one in corners for end in (lows[group], highs[group])]
    spread = max(
        sum(n[g] * (one[g] - sum(n[k] * one[k] for k in groups) / total) ** 2 for g in groups) for one in corners
    )
    df = len(groups) - 1, total - len(groups)
    sd = math.sqrt(sum(least.values()) / df[1])
    bound = spread / df[0] / sd**2
    return {
        "comparison": "after, before, far",
        "n_first": n["after"] + n["before"],
        "n_second": n["far"],
        "difference": max(means.values()) - min(means.values()),
        "difference_low": None,
        "difference_high": None,
        "sd_at_least": sd,
        "statistic": "F",
        "statistic_at_most": bound,
        "df": df[1],
        "p_at_least": float(stats.f.sf(bound, *df)),
        "note": f"difference: the largest of three; df of the denominator, {df[0]} of the numerator; "
        "difference_low, difference_high: no single difference",
    }


def nope_depth_tests(
    nope_layer_cells: pd.DataFrame, nope_groups: pd.DataFrame, test_families: pd.DataFrame
) -> pd.DataFrame:
    """Do the five printed top layers lie at a certain depth? Exact rank-sum tests, and the overlap of the two fives.

    Layers are counted along the text network, so the same number is the same weights. `estimate` is the mean number of
    the top layers less that of the others; the last row counts the layers in both fives, with the exact p of as few.
    Every p takes layers for exchangeable, which layers of one network are not; each row carries the guard.
    """
    depth = len(nope_groups)
    tests, fives = [], []
    for model in PAIR:
        top = [int(layer) for layer in nope_layer_cells.loc[nope_layer_cells["model"] == model, "text_layer"]]
        rest = sorted(set(range(depth)) - set(top))
        outcome = stats.mannwhitneyu(top, rest, alternative="two-sided", method="exact")
        fives.append(set(top))
        tests.append(
            Estimate(
                study="nope_depth_tests",
                comparison=model,
                test="rank_sum_exact",
                unit="layer",
                n=depth,
                estimate=sum(top) / len(top) - sum(rest) / len(rest),
                statistic=float(outcome.statistic),
                p_value=float(outcome.pvalue),
                note=join_notes(
                    f"{len(top)} layers with the largest recovery against {len(rest)} others",
                    no("interval", "df", "effect", because="only the numbers of the top layers are printed"),
                ),
            )
        )
    common, size = len(fives[0] & fives[1]), len(fives[0])
    chance = stats.hypergeom(depth, size, len(fives[1]))
    tests.append(
        Estimate(
            study="nope_depth_tests",
            comparison="layers in both fives",
            test="hypergeometric",
            unit="layer",
            n=depth,
            estimate=common,
            statistic=float(chance.mean()),
            p_value=float(chance.cdf(common)),
            note=join_notes(
                "statistic: the number expected by chance",
                "p: as few or fewer by chance",
                no("interval", "df", "effect", because="one count"),
            ),
        )
    )
    guarded = [attach(test, _guard_of_one_network(depth)) for test in tests]
    return frame(corrected(guarded, test_families, "nope_depth_tests"))


def nope_family_tests(
    nope_recovery_recomputed: pd.DataFrame, published_facts: pd.DataFrame, test_families: pd.DataFrame
) -> pd.DataFrame:
    """Is the recovery a matter of family or of depth? Exact counts of models that recover.

    Llama against all others and 32 text layers or more against fewer, over the models of the study and over all
    captured ones, each with every model counted and with every network counted once (the pair that shares text weights
    is one network).
    """
    tests = []
    everyone = nope_recovery_recomputed
    for scope, rows in (("study", everyone[everyone["agreement"] != ""]), ("all captured", everyone)):
        for unit, units in (("model", rows), ("network", rows.drop_duplicates("network"))):
            splits = {
                "Llama against others": units["family"] == "Llama 3",
                f"{DEEP} layers or more against fewer": units["text_layers"] >= DEEP,
            }
            for words, inside in splits.items():
                arms = [units.loc[chosen, "recovers"].astype(bool) for chosen in (inside, ~inside)]
                row = fisher(
                    int(arms[0].sum()),
                    len(arms[0]),
                    int(arms[1].sum()),
                    len(arms[1]),
                    study="nope_family_tests",
                    comparison=f"{words}, {scope}",
                    unit=unit,
                )
                seen = [str(model) for model in units["model"]]
                split = [f"the same {len(units)} {unit}s, which suggested the split"]
                tests.append(attach(row, shared_text_weights(seen, published_facts), same_data(split, split)))
    llama = everyone[everyone["family"] == "Llama 3"].drop_duplicates("network")
    deep = llama["text_layers"] >= DEEP
    recovering = llama["recovers"].astype(bool)
    tests.append(
        attach(
            fisher(
                int((deep & recovering).sum()),
                int(deep.sum()),
                int((~deep & recovering).sum()),
                int((~deep).sum()),
                study="nope_family_tests",
                comparison="depth within Llama, all captured",
                unit="network",
            )
        )
    )
    return frame(corrected(tests, test_families, "nope_family_tests"))
