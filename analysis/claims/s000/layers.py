"""Document 000, single layers: claims on the depth of the layers that recover most, and on plasticity extremes."""

import re
from collections.abc import Iterator

import pandas as pd

from analysis.claims._shared import DECILES, cell_check, printed_text
from boundpaper.claims import Verdict, claim, compare, judge, pick, quote, untestable
from boundpaper.claims.words import listed
from boundpaper.store.frames import wide

PAIR = ("llama3.1-8b", "llama3.2-11b")
EXTREMES = ("most plastic", "least plastic")  # categories of the table


@claim("000, Finding 1")
def c000_models_layers(nope_models: pd.DataFrame, nope_recovery_recomputed: pd.DataFrame) -> Iterator[Verdict]:
    """In the table of two models, the numbers of layers and of NoPE layers are those of the configuration."""
    for model in dict.fromkeys(nope_models["model"]):
        configuration = pick(nope_recovery_recomputed, model=model)
        self_count = int(configuration["text_layers"])
        cross_count = int(configuration["layers"]) - self_count
        for metric, expected in (
            ("layers", [self_count, cross_count] if cross_count else [self_count]),
            ("nope_layers", [cross_count]),
        ):
            printed = printed_text(nope_models, model=model, metric=metric)
            yield cell_check(
                [int(number) for number in re.findall(r"\d+", printed)] == expected,
                f"The configuration has {self_count} self-attention layers and {cross_count} of cross-attention.",
                reported=printed,
                recomputed=" + ".join(map(str, expected)),
                key=f"{model}-{metric}",
                statement=f"{metric.replace('nope_', 'NoPE ')} of {model}: {printed}.",
            )


@claim("000, Per-Layer Anatomy")
def c000_anatomy_collapse(nope_layer_cells: pd.DataFrame) -> Verdict:
    """In each listed layer, plasticity dips, recovers, and collapses at the end of the context."""
    rows = nope_layer_cells
    has_shape = (rows["d01"] > rows["d67"]) & (rows["d67"] > rows["d45"]) & (rows["d67"] > rows["d89"])
    rows_at_dip = rows[~rows["below_dip"].astype(bool)]
    phrases = [f"layer {row['layer']} of {row['model']} ({row['d89']:.3f})" for _, row in rows_at_dip.iterrows()]
    return judge(
        bool(has_shape.all()),
        f"{int(has_shape.sum())} of {len(rows)} fall after the recovery; {listed(phrases)} ends on the level of its "
        "dip, the others below theirs.",
        reported="collapse",
        recomputed=f"{int(has_shape.sum())} of {len(rows)}",
        n=len(rows),
    )


@claim("000, Per-Layer Anatomy")
def c000_anatomy_no_depth(nope_depth_tests: pd.DataFrame, nope_layer_cells: pd.DataFrame) -> Verdict:
    """The layers that recover show no pattern over depth, they lie early, in the middle and late."""
    tests = [pick(nope_depth_tests, comparison=model) for model in PAIR]
    layer_lists = [sorted(nope_layer_cells.loc[nope_layer_cells["model"] == model, "text_layer"]) for model in PAIR]
    n = int(tests[0]["n"])
    # only if at least half of the layers are printed can they show that there is no pattern
    half_are_printed = min(len(layers) for layers in layer_lists) >= n / 2
    lists_in_words = [", ".join(str(layer) for layer in layers) for layers in layer_lists]
    return judge(
        half_are_printed and all(row["p_value"] > 0.05 for row in tests),
        f"{len(layer_lists[0])} of {n} layers are printed for either model: text layers {lists_in_words[0]} (exact "
        f"rank-sum p = {tests[0]['p_value']:.2f}) and {lists_in_words[1]} (p = {tests[1]['p_value']:.2f})"
        + ("." if half_are_printed else "; this few cannot show that there is no pattern."),
        otherwise="not supported",
        reported="No depth pattern",
        recomputed=f"p = {tests[0]['p_value']:.2f} and {tests[1]['p_value']:.2f}",
        n=n,
    )


@claim("000, Most/Least Plastic Layers")
def c000_extremes_most(
    nope_extremes: pd.DataFrame, nope_layer_cells: pd.DataFrame, nope_layer_kinds: pd.DataFrame
) -> Verdict:
    """Layer 16 is the most plastic of Llama-3.2-11B and layer 0 the least."""
    plasticity = nope_extremes[nope_extremes["metric"] == "ap_overall"].set_index("layer")["value"]
    llama_layers = nope_layer_cells[nope_layer_cells["model"] == PAIR[1]].set_index("layer")
    pairs = llama_layers[["d01", "d45", "d67", "d89"]]
    # the fifth pair of deciles is not printed: assume a value between the smallest and the largest of the four
    limits = [(pairs.sum(axis=1) + fifth) / (pairs.shape[1] + 1) for fifth in (pairs.min(axis=1), pairs.max(axis=1))]
    printed_count = len(set(plasticity.index) | set(pairs.index))
    layer_count = int((nope_layer_kinds["kind"] == "self-attention").sum())
    low, high = float(limits[0].min()), float(limits[1].max())
    named_layers = [
        int(nope_extremes.loc[nope_extremes["category"].str.contains(word), "layer"].iloc[0]) for word in EXTREMES
    ]
    agrees = (
        [plasticity.idxmax(), plasticity.idxmin()] == named_layers
        and plasticity.max() > high
        and plasticity.min() < low
    )
    evidence = (
        f"Of the {printed_count} layers with printed values, {plasticity.idxmax()} has the highest "
        f"({plasticity.max():.3f}) and {plasticity.idxmin()} the lowest ({plasticity.min():.3f}); the five top "
        f"recovery layers lie between {low:.3f} and {high:.3f}."
    )
    unprinted = (
        f" The other {layer_count - printed_count} of {layer_count} layers, which would decide it, are not printed."
    )
    # printed values can refute the claim, but only values of all layers could support it
    return Verdict(
        verdict="not testable" if agrees and printed_count < layer_count else "holds" if agrees else "contradicted",
        reason=evidence + (unprinted if agrees and printed_count < layer_count else ""),
        reported=", ".join(map(str, named_layers)),
        recomputed=f"{plasticity.idxmax()}, {plasticity.idxmin()}",
        n=printed_count,
    )


@claim("000, Most/Least Plastic Layers")
def c000_extremes_sensitivity(nope_extremes: pd.DataFrame) -> Verdict:
    """The least plastic layer has the highest sensitivity to position, the most plastic layer has almost none."""
    table = wide(nope_extremes, by=["layer"]).set_index("layer")
    ranked = table.sort_values("ap_overall")
    least_plastic, most_plastic = int(ranked.index[0]), int(ranked.index[-1])
    beta, r2 = table["beta_norm"], table["r2_pos"]
    return judge(
        beta.idxmax() == r2.idxmax() == least_plastic and beta.idxmin() == r2.idxmin() == most_plastic,
        f"Of the {len(table)} printed layers, layer {least_plastic} has the largest slope ({beta[least_plastic]:.6f}) "
        f"and R2 ({r2[least_plastic]:.3f}) and layer {most_plastic} the smallest ({beta[most_plastic]:.6f}, "
        f"{r2[most_plastic]:.3f}); that is still {100 * beta[most_plastic] / beta[least_plastic]:.0f} % of the largest "
        "slope.",
        reported="highest, near-zero",
        recomputed=f"R2 {r2[least_plastic]:.3f}, {r2[most_plastic]:.3f}",
        n=len(table),
    )


@claim("000, Most/Least Plastic Layers")
def c000_extremes_r2(nope_stated: pd.DataFrame, nope_extremes: pd.DataFrame) -> Iterator[Verdict]:
    """Layers 16 and 17 have an R2 of position of about 0.02."""
    reported = quote(nope_stated, statement="extremes_r2_pos")
    table = wide(nope_extremes, by=["layer"]).set_index("layer")
    for layer in (16, 17):
        value = quote(nope_extremes, layer=layer, metric="r2_pos")
        equal_layers = table.index[(table["r2_pos"] == value.number) & (table.index != layer)]
        equal_in_words = [
            f"layer {index} with a plasticity of {table['ap_overall'][index]:.3f}" for index in equal_layers
        ]
        yield compare(
            reported,
            value.number,
            value.interval,
            reason=f"The table prints {value.printed} for layer {layer}"
            + (f", the same as for {listed(equal_in_words)}." if equal_in_words else "."),
            places=value.decimals,
            key=str(layer),
            statement=f"Layer {layer} has an R2 of position of about {reported.number}.",
            n=1,
        )


@claim("000, Most/Least Plastic Layers")
def c000_extremes_outliers(nope_extremes: pd.DataFrame) -> Verdict:
    """Layers 16 and 17 stand apart from all other layers in plasticity, slope and R2 of position."""
    table = wide(nope_extremes, by=["layer"]).set_index("layer")
    pair, other_layers = table.loc[[16, 17]], table.drop([16, 17])
    is_separate = {
        "plasticity": pair["ap_overall"].min() > other_layers["ap_overall"].max(),
        "slope": pair["beta_norm"].max() < other_layers["beta_norm"].min(),
        "R2": pair["r2_pos"].max() < other_layers["r2_pos"].min(),
    }
    overlapping_measures = [name for name, holds in is_separate.items() if not holds]
    return judge(
        not overlapping_measures,
        f"Among the {len(table)} printed layers the two differ from the rest in "
        f"{listed([name for name, holds in is_separate.items() if holds])}"
        + (f", not in {listed(overlapping_measures)}" if overlapping_measures else "")
        + f": the higher R2 of the two is {pair['r2_pos'].max():.3f}, the lowest of the others "
        f"{other_layers['r2_pos'].min():.3f}.",
        otherwise="not supported",
        reported="outliers",
        recomputed=f"{len(is_separate) - len(overlapping_measures)} of {len(is_separate)} measures",
        n=len(table),
    )


@claim("000, Most/Least Plastic Layers")
def c000_extremes_range(nope_stated: pd.DataFrame, decile_profiles: pd.DataFrame) -> Verdict:
    """The profile of layer 16 is nearly flat: its range across the deciles is 0.087."""
    reported = quote(nope_stated, statement="extremes_range")
    layer = quote(nope_stated, statement="extremes_range_layer").printed
    deciles = decile_profiles.set_index("model")[DECILES]
    spread = deciles.max(axis=1) - deciles.min(axis=1)
    model_range = spread[PAIR[1]]
    names = decile_profiles.set_index("model")["display_name"]
    flat_models = spread[spread <= reported.interval.high + 0.001]
    return untestable(
        f"The deciles of layer {layer} are not printed and would decide; {reported.printed} would be "
        f"{100 * reported.number / model_range:.0f} % of the range of the whole model ({model_range:.3f}) and as much "
        f"as the mean profile of {listed([str(names[model]) for model in flat_models.index])} ranges.",
        reported=reported.printed,
    )


@claim("000, Most/Least Plastic Layers")
def c000_extremes_flat_pair(nope_layer_pairs: pd.DataFrame) -> Verdict:
    """Layer 17 has a profile that is nearly flat over all positions."""
    row = pick(nope_layer_pairs, layer=17)
    return judge(
        row["gap"] == 0,
        f"Its profile is not printed; captured in Llama-3.1-8B, the same text layer ({row['text_layer']}) ranges over "
        f"at least {row['least_range']:.3f}, is among the five that recover most ({row['recovery']:+.3f}), and has a "
        f"plasticity of {row['overall_low']:.3f} to {row['overall_high']:.3f}, here {row['ap_overall']:.3f}: "
        f"{row['gap']:.3f} apart.",
        otherwise="not supported",
        reported="nearly flat",
        recomputed=f"range >= {row['least_range']:.3f} in the other capture",
        n=2,
    )


@claim("000, Most/Least Plastic Layers")
def c000_extremes_after(nope_extremes: pd.DataFrame, nope_groups: pd.DataFrame) -> Verdict:
    """Layer 4, of low plasticity, follows the cross-attention layer 3."""
    named_layers = nope_extremes[nope_extremes["category"].str.contains("cross-attention")]["layer"].unique()
    groups = nope_groups.set_index("layer")["group"]
    named_groups = [str(groups[layer]) for layer in named_layers]
    least_plastic = nope_extremes[nope_extremes["metric"] == "ap_overall"].set_index("layer")["value"].nsmallest(3)
    phrases = [f"{layer} ({groups[layer]})" for layer in least_plastic.index]
    return judge(
        named_groups == ["after"],
        ("It does" if named_groups == ["after"] else f"It is {listed(named_groups)} by the groups")
        + f"; the three least plastic of the printed layers are {listed(phrases)}"
        + (", so they do not share adjacency." if len({groups[layer] for layer in least_plastic.index}) > 1 else "."),
        reported="after",
        recomputed=", ".join(named_groups),
        n=len(least_plastic),
    )


@claim("000, Most/Least Plastic Layers")
def c000_extremes_pure(nope_extremes: pd.DataFrame, nope_stated: pd.DataFrame) -> Verdict:
    """Layers 16 and 17 are pure content-routing layers."""
    layers = printed_text(nope_stated, statement="extremes_outlier_layers")
    plasticity = nope_extremes[nope_extremes["metric"] == "ap_overall"].set_index("layer")["value"]
    return untestable(
        f"Plasticities of {plasticity[16]:.3f} and {plasticity[17]:.3f} let position influence which key wins (1 would "
        "exclude that), and nothing is printed on what these layers route; interventions on their heads would decide "
        "it.",
        reported=f"layers {layers}",
    )
