"""Compute the tests that the printed counts, means and top layers of the study of NoPE layers permit."""

import math
from collections.abc import Sequence
from itertools import product

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
    """Compare recovering layers of two models: Wilson intervals, Fisher's test, and McNemar's for extreme pairings.

    The two models run the same text layers, so the counts are paired; the pairing is not printed, so McNemar's p is
    given for the pairings with the fewest and the most discordant layers. Layers of one network are not independent
    units.
    """
    statements = nope_stated.set_index("statement")["value"]
    counts = [int(statements[f"{key}_recovering"]) for key in COUNTS]
    layers = [int(statements[f"{key}_layers"]) for key in COUNTS]
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
    for extent, recovering in (("fewest", min(counts)), ("most", max(0, sum(counts) - n))):
        table = (recovering, counts[0] - recovering, counts[1] - recovering, n - sum(counts) + recovering)
        row = mcnemar_from_counts(*table, study=study, comparison=f"{extent} discordant layers", unit="layer")
        pairing = with_note(row, "the pairing is not printed, this one is an extreme of those possible")
        tests.append(attach(pairing, _guard_of_one_network(n)))
    return frame(corrected(tests, test_families, "nope_count_tests"))


def _guard_of_one_network(layers: int) -> Notes:
    return dependent_units([str(layer) for layer in range(layers)], ["net"] * layers, "one residual stream")


def nope_adjacency_bounds(
    nope_adjacency: pd.DataFrame, nope_layers: pd.DataFrame, nope_groups: pd.DataFrame
) -> pd.DataFrame:
    """Bound what any test of the printed group means could show about adjacency to cross-attention layers.

    The study prints means and numbers of layers, no standard deviations, so no test can be computed. But five layers
    are printed individually, and a group's sum of squares is at least its value if all other layers are equal. This
    bounds the pooled t (and F over three groups) from above and p from below; rounding is resolved in favour of an
    effect. The bound assumes that the printed recoveries of layers and groups are the same quantity.

    `difference` is first minus second in units of plasticity, `p_at_least` two-sided; `sd_at_least` is pooled.
    """
    cells = nope_adjacency[nope_adjacency["metric"] == "mean_recovery"].set_index("group")
    means, lows, highs = ({str(g): float(v) for g, v in cells[column].items()} for column in ("value", "low", "high"))
    layer_counts = nope_adjacency[nope_adjacency["metric"] == "layers"].set_index("group")["value"]
    sizes = {str(group): int(size) for group, size in layer_counts.items()}
    layers = nope_layers[(nope_layers["model"] == PAIR[1]) & (nope_layers["metric"] == "recovery")]
    group_of = nope_groups.set_index("layer")["group"]
    lows_of = {group: list(layers.loc[layers["layer"].map(group_of) == group, "low"]) for group in sizes}
    least_squares = {group: _least_squares(lows_of[group], sizes[group], highs[group]) for group in sizes}
    adjacent = sizes["after"] + sizes["before"]
    value, low, high = (
        sum(sizes[group] * values[group] for group in ("after", "before")) / adjacent for values in (means, lows, highs)
    )
    rows = []
    # treat the two adjacent groups as one: omitting the variance between them only weakens the bound
    cases = [("adjacent", adjacent, value, low, high, least_squares["after"] + least_squares["before"])]
    cases += [(g, sizes[g], means[g], lows[g], highs[g], least_squares[g]) for g in ("after", "before")]
    for name, size, value, value_low, value_high, squares in cases:
        difference = value - means["far"]
        limits = value_low - highs["far"], value_high - lows["far"]
        df = size + sizes["far"] - 2
        sd = math.sqrt((squares + least_squares["far"]) / df)
        largest_t = max(abs(end) for end in limits) / (sd * math.sqrt(1 / size + 1 / sizes["far"]))
        rows.append(
            {
                "comparison": f"{name} - far",
                "n_first": size,
                "n_second": sizes["far"],
                "difference": round(difference, 12),
                "difference_low": round(limits[0], 12),
                "difference_high": round(limits[1], 12),
                "sd_at_least": sd,
                "statistic": "t",
                "statistic_at_most": largest_t,
                "df": df,
                "p_at_least": float(2 * stats.t.sf(largest_t, df)),
                "note": "",
            }
        )
    rows.append(_three_groups_row(sizes, means, lows, highs, least_squares))
    return pd.DataFrame(rows)


def _least_squares(values: Sequence[float], size: int, mean: float) -> float:
    """Return the least sum of squared deviations of `size` values with the given mean; `values` are the known ones.

    It is reached if the unknown values are equal.
    """
    unknown = size - len(values)
    surplus = sum(value - mean for value in values)
    return sum((value - mean) ** 2 for value in values) + surplus**2 / unknown


def _three_groups_row(
    n: dict[str, int],
    means: dict[str, float],
    lows: dict[str, float],
    highs: dict[str, float],
    squares: dict[str, float],
) -> dict[str, object]:
    total, groups = sum(n.values()), list(n)
    # the means are farthest apart at the ends of their rounding ranges
    corners = [dict(zip(groups, ends, strict=True)) for ends in product(*((lows[g], highs[g]) for g in groups))]
    between_groups = max(
        sum(n[g] * (corner[g] - sum(n[k] * corner[k] for k in groups) / total) ** 2 for g in groups)
        for corner in corners
    )
    df = len(groups) - 1, total - len(groups)
    sd = math.sqrt(sum(squares.values()) / df[1])
    largest_f = between_groups / df[0] / sd**2
    return {
        "comparison": "after, before, far",
        "n_first": n["after"] + n["before"],
        "n_second": n["far"],
        "difference": max(means.values()) - min(means.values()),
        "difference_low": None,
        "difference_high": None,
        "sd_at_least": sd,
        "statistic": "F",
        "statistic_at_most": largest_f,
        "df": df[1],
        "p_at_least": float(stats.f.sf(largest_f, *df)),
        "note": f"difference: the largest of three; df of the denominator, {df[0]} of the numerator; "
        "difference_low, difference_high: no single difference",
    }


def nope_depth_tests(
    nope_layer_cells: pd.DataFrame, nope_groups: pd.DataFrame, test_families: pd.DataFrame
) -> pd.DataFrame:
    """Test whether the five printed top layers have a typical depth: exact rank-sum tests, and overlap between models.

    Layers are indexed along the text network, so equal indices have equal weights. `estimate` is the mean index of the
    top layers minus the mean index of the others; the last row counts the layers among both models' top five, with the
    exact p of as few or fewer. Every p assumes exchangeable layers, which layers of one network are not; each row has a
    guard that says so.
    """
    depth = len(nope_groups)
    tests, top_sets = [], []
    for model in PAIR:
        top_layers = [int(layer) for layer in nope_layer_cells.loc[nope_layer_cells["model"] == model, "text_layer"]]
        other_layers = sorted(set(range(depth)) - set(top_layers))
        outcome = stats.mannwhitneyu(top_layers, other_layers, alternative="two-sided", method="exact")
        top_sets.append(set(top_layers))
        tests.append(
            Estimate(
                study="nope_depth_tests",
                comparison=model,
                test="rank_sum_exact",
                unit="layer",
                n=depth,
                estimate=sum(top_layers) / len(top_layers) - sum(other_layers) / len(other_layers),
                statistic=float(outcome.statistic),
                p_value=float(outcome.pvalue),
                note=join_notes(
                    f"{len(top_layers)} layers with the largest recovery against {len(other_layers)} others",
                    no("interval", "df", "effect", because="only the numbers of the top layers are printed"),
                ),
            )
        )
    shared, size = len(top_sets[0] & top_sets[1]), len(top_sets[0])
    chance = stats.hypergeom(depth, size, len(top_sets[1]))
    tests.append(
        Estimate(
            study="nope_depth_tests",
            comparison="layers in both fives",
            test="hypergeometric",
            unit="layer",
            n=depth,
            estimate=shared,
            statistic=float(chance.mean()),
            p_value=float(chance.cdf(shared)),
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
    """Test whether recovery depends on family or depth, by exact tests of counts of recovering models.

    Llama is compared with all others, and 32 or more text layers with fewer, over the study's models and over all
    captured ones. Each test is run with all models, and again with models of shared text weights counted as one.
    """
    tests = []
    recoveries = nope_recovery_recomputed
    for scope, rows in (("study", recoveries[recoveries["agreement"] != ""]), ("all captured", recoveries)):
        for unit, units in (("model", rows), ("network", rows.drop_duplicates("network"))):
            splits = {
                "Llama against others": units["family"] == "Llama 3",
                f"{DEEP} layers or more against fewer": units["text_layers"] >= DEEP,
            }
            for split, is_member in splits.items():
                test = fisher(
                    *_recovering_counts(units, is_member),
                    study="nope_family_tests",
                    comparison=f"{split}, {scope}",
                    unit=unit,
                )
                names = [str(model) for model in units["model"]]
                reason = [f"the same {len(units)} {unit}s, which suggested the split"]
                tests.append(attach(test, shared_text_weights(names, published_facts), same_data(reason, reason)))
    llama = recoveries[recoveries["family"] == "Llama 3"].drop_duplicates("network")
    counts = _recovering_counts(llama, llama["text_layers"] >= DEEP)
    comparison = "depth within Llama, all captured"
    tests.append(fisher(*counts, study="nope_family_tests", comparison=comparison, unit="network"))
    return frame(corrected(tests, test_families, "nope_family_tests"))


def _recovering_counts(models: pd.DataFrame, is_member: pd.Series) -> list[int]:
    """Return the numbers of recovering models and of all models, where `is_member` is true and where it is false."""
    arms = [models.loc[mask, "recovers"].astype(bool) for mask in (is_member, ~is_member)]
    return [count for arm in arms for count in (int(arm.sum()), len(arm))]
