"""Document 000, Question and Findings 1 and 2: claims on two models with one text network, and on adjacent layers."""

import re
from collections.abc import Iterator

import pandas as pd
from scipy.stats import t as student

from analysis.claims._shared import decile_values, printed_text
from boundpaper.claims import ALPHA, Verdict, about, claim, directed, judge, pick, quote
from boundpaper.statistics import wilson_interval

PAIR = ("llama3.1-8b", "llama3.2-11b")
TOLERANCE = 5  # thousands of tokens: the ranges are printed in steps of 5 or 10 thousand
NEARLY_ALL = 0.9  # share of the layers that counts as nearly every layer
FEATURES = ("dip", "recovery")


@claim("000, Question")
def c000_question_profile(
    nope_stated: pd.DataFrame, decile_profiles: pd.DataFrame, nope_recovery_recomputed: pd.DataFrame
) -> Iterator[Verdict]:
    """Both models dip at 50-65K tokens, recover at 70-100K, and are lowest at the end."""
    printed = {name: printed_text(nope_stated, statement=f"question_{name}_range") for name in FEATURES}
    for model in PAIR:
        row = pick(decile_profiles, model=model)
        recovery_row = pick(nope_recovery_recomputed, model=model)
        values = decile_values(row)
        width = float(row["captured_context"]) / len(values) / 1000
        lowest, peak = int(recovery_row["rise_from"]), int(recovery_row["rise_to"])
        edges = {"dip": (lowest * width, (lowest + 1) * width), "recovery": ((lowest + 1) * width, (peak + 1) * width)}
        heights = {"dip": values[lowest], "recovery": values[peak]}
        predicates = {"dip": "is lowest before its rise", "recovery": "lies higher"}
        for feature in FEATURES:
            limits = [int(number) for number in re.findall(r"\d+", printed[feature])]  # thousands of tokens
            deviation = max(abs(edge - end) for edge, end in zip(edges[feature], limits, strict=True))
            yield judge(
                deviation <= TOLERANCE,
                f"It {predicates[feature]} at {edges[feature][0]:.0f}-{edges[feature][1]:.0f}K "
                f"({heights[feature]:.3f}); decile edges are at most {deviation:.1f}K away, and {TOLERANCE}K or less "
                "counts as the same place.",
                reported=printed[feature],
                recomputed=f"{edges[feature][0]:.0f}-{edges[feature][1]:.0f}K",
                n=len(values),
                key=f"{model}-{feature}",
                statement=f"The {feature} of {row['display_name']} lies at {printed[feature]} tokens.",
            )
        smallest = values.index(min(values))
        yield judge(
            smallest == len(values) - 1,
            f"The smallest of {len(values)} deciles is number {smallest + 1} ({min(values):.3f}).",
            recomputed=f"{values[-1]:.3f} at the end",
            n=len(values),
            key=f"{model}-end",
            statement=f"{row['display_name']} is lowest at the end of the context.",
        )


@claim("000, Finding 1")
def c000_f1_not_cause(
    models: pd.DataFrame, nope_models: pd.DataFrame, nope_recovery_recomputed: pd.DataFrame
) -> Verdict:
    """The layers without position encoding do not cause the dip: a model without such layers has the pattern."""
    text_model, vision = (pick(models, model=model) for model in PAIR)
    layer_count = quote(nope_models, model=PAIR[0], metric="nope_layers").number
    recovery_row = pick(nope_recovery_recomputed, model=PAIR[0])
    is_skipped = "skipped on text" in str(vision["attention"])
    return judge(
        layer_count == 0 and recovery_row["shape"] == "rises" and recovery_row["recovery_low"] > 0,
        f"{text_model['display_name']} has {layer_count:.0f} such layers and rises by {recovery_row['draw_up']:.3f}"
        + (
            f"; in {vision['display_name']} they are skipped on text, so that they took no part in what was captured "
            "and could not have been the cause there, whatever the comparison."
            if is_skipped
            else "."
        ),
        reported="ruled out",
        recomputed=f"{recovery_row['draw_up']:+.3f} without such layers",
        n=1,
    )


@claim("000, Finding 1")
def c000_f1_all_rope(models: pd.DataFrame, nope_stated: pd.DataFrame) -> Verdict:
    """Llama-3.1-8B has 32 self-attention layers, all with rotary encoding."""
    row = pick(models, model=PAIR[0])
    layers = quote(nope_stated, statement="finding_1_layers")
    all_rope = pick(nope_stated, statement="finding_1_rope_layers")["as_number"]
    return judge(
        row["layers"] == layers.number == all_rope and str(row["position_encoding"]).startswith("RoPE"),
        f"Its configuration has {row['layers']} layers; attention {row['attention']}, position encoding "
        f"{row['position_encoding']}.",
        reported=layers.printed,
        recomputed=str(row["layers"]),
        n=int(row["layers"]),
    )


@claim("000, Finding 1", failure="unit")
def c000_f1_definitive(published_facts: pd.DataFrame, models: pd.DataFrame) -> Verdict:
    """The comparison of two models, of which only one has layers without position encoding, is definitive."""
    origin = pick(published_facts, fact="llama32_vision_text")
    vision = pick(models, model=PAIR[1])
    is_one_network = {origin["subject"], origin["printed"]} == set(PAIR)
    is_skipped = "skipped on text" in str(vision["attention"])
    return judge(
        not (is_one_network and is_skipped),
        (
            f"The text weights of {vision['display_name']} are {'' if is_one_network else 'not '}those of "
            f"{pick(models, model=PAIR[0])['display_name']}, and its cross-attention layers are "
            f"{'' if is_skipped else 'not '}skipped on text: the captures differ in such layers.",
            f"{vision['display_name']} runs the text weights of {pick(models, model=PAIR[0])['display_name']} and "
            "skips its cross-attention layers on text: both captures are of one network without such layers, so the "
            "comparison could not have come out otherwise; the conclusion follows from the architecture alone.",
        ),
        otherwise="not supported",
        reported="definitively",
        recomputed="1 network" if is_one_network else "2 networks",
        n=1 if is_one_network else 2,
    )


@claim("000, Finding 1")
def c000_f1_identical(nope_models: pd.DataFrame, nope_twins: pd.DataFrame) -> Verdict:
    """The recovery has the identical magnitude in both models."""
    first, second = (quote(nope_models, model=model, metric="recovery") for model in PAIR)
    gap = pick(nope_twins, quantity="recovery")
    threshold = pick(nope_twins, quantity="threshold")["value"]
    return judge(
        first.interval.low <= second.interval.high and second.interval.low <= first.interval.high,
        f"{first.printed} and {second.printed} differ by {gap['value']:.3f} ({gap['low']:.3f} to {gap['high']:.3f} "
        f"given the rounding of the deciles), {'' if gap['value'] > threshold else 'no '}more than the {threshold} "
        "above which the study calls a layer recovering.",
        reported="identical",
        recomputed=f"{gap['value']:+.3f}",
        n=2,
    )


@claim("000, Finding 1")
def c000_f1_about(nope_stated: pd.DataFrame, nope_models: pd.DataFrame) -> Verdict:
    """The recovery is about 0.025 in both models."""
    reported = quote(nope_stated, statement="finding_1_recovery")
    recoveries = [quote(nope_models, model=model, metric="recovery") for model in PAIR]
    farthest = max(recoveries, key=lambda recovery: abs(recovery.number - reported.number))
    return about(
        reported,
        farthest.number,
        farthest.interval,
        reason=f"The two models have {recoveries[0].printed} and {recoveries[1].printed}.",
        n=len(recoveries),
    )


@claim("000, Finding 2")
def c000_f2_counts(nope_stated: pd.DataFrame) -> Verdict:
    """29 of 32 layers of Llama-3.1-8B (one is monotone) and 26 of 32 of Llama-3.2-11B recover by more than 0.005."""
    counts = {
        key: int(quote(nope_stated, statement=f"finding_2_{key}").number)
        for key in ("llama31_recovering", "llama31_layers", "llama31_monotone", "llama32_recovering", "llama32_layers")
    }
    is_possible = counts["llama31_recovering"] + counts["llama31_monotone"] <= counts["llama31_layers"]
    sum_in_words = f"{counts['llama31_recovering']} + {counts['llama31_monotone']} of {counts['llama31_layers']}"
    reported = f"{counts['llama31_recovering']} and {counts['llama32_recovering']} of {counts['llama31_layers']}"
    undecided = (
        f"The profiles of single layers are not printed; the counts are possible together ({sum_in_words}). All "
        "recoveries by layer, with the number of heads behind each, would decide it."
    )
    # printed values can refute the claim, but only values by layer could support it
    return Verdict(
        verdict="not testable" if is_possible else "contradicted",
        reason=undecided if is_possible else f"The counts are not possible together ({sum_in_words}).",
        reported=reported,
        failure="" if is_possible else "number",
    )


@claim("000, Finding 2", failure="unit")
def c000_f2_every_layer(nope_stated: pd.DataFrame, nope_twins: pd.DataFrame) -> Verdict:
    """Nearly every layer of Llama-3.1-8B contributes to the recovery.

    Judged like the same statement in document 002 (`c002_h8_spread`): by counts over an untested threshold.
    """
    count = int(quote(nope_stated, statement="finding_2_llama31_recovering").number)
    layers = int(quote(nope_stated, statement="finding_2_llama31_layers").number)
    low, high = wilson_interval(count, layers)
    is_nearly_all = count / layers >= NEARLY_ALL
    threshold = quote(nope_stated, statement="finding_2_threshold")
    noise = float(pick(nope_twins, quantity="recovery")["value"])
    return judge(
        is_nearly_all and noise < threshold.number,
        f"{count} of {layers} layers, {100 * count / layers:.0f} % [{100 * low:.0f}, {100 * high:.0f}], by the study's "
        f"own count of those above {threshold.number}; two captures of the same text weights differ by {noise:.3f} in "
        "the recovery of the whole model.",
        otherwise="not supported" if is_nearly_all else "contradicted",
        reported=printed_text(nope_stated, statement="finding_2_llama31_contributing"),
        recomputed=f"{count} of {layers}",
        n=layers,
        ci=(low, high),
    )


@claim("000, Finding 2")
def c000_f2_not_few(nope_layer_cells: pd.DataFrame, nope_models: pd.DataFrame, nope_stated: pd.DataFrame) -> Verdict:
    """The recovery is not driven by a few anomalous layers."""
    layers = int(quote(nope_stated, statement="finding_2_llama31_layers").number)
    recovery = quote(nope_models, model=PAIR[0], metric="recovery").number
    top_recoveries = nope_layer_cells[nope_layer_cells["model"] == PAIR[0]]["recovery"]
    share = float(top_recoveries.sum()) / (layers * recovery)
    mean_of_others = (layers * recovery - float(top_recoveries.sum())) / (layers - len(top_recoveries))
    threshold = quote(nope_stated, statement="finding_2_threshold").number
    return judge(
        mean_of_others > threshold,
        f"The {len(top_recoveries)} layers with the largest recovery carry {100 * share:.0f} % of the sum over "
        f"{layers} layers; without them the mean of the others is {mean_of_others:+.3f}, if the model's recovery is "
        "the mean over layers.",
        reported="not driven by a few",
        recomputed=f"{mean_of_others:+.3f} without {len(top_recoveries)}",
        n=layers,
    )


@claim("000, Finding 2", failure="unit")
def c000_f2_threshold(nope_stated: pd.DataFrame, nope_twins: pd.DataFrame) -> Verdict:
    """A difference above 0.005 separates layers that recover from layers that do not."""
    threshold = quote(nope_stated, statement="finding_2_threshold")
    recovery_noise, decile_noise = (pick(nope_twins, quantity=name)["value"] for name in ("recovery", "decile_mean"))
    return judge(
        recovery_noise < threshold.number,
        f"Two captures of the same text weights differ by {recovery_noise:.3f} in the recovery of the whole model and "
        f"by {decile_noise:.3f} in a decile on average; one layer rests on fewer heads than the model"
        + (
            ", so its noise is larger than the threshold, for which no test or interval is given."
            if recovery_noise >= threshold.number
            else ", so its noise is larger than that, and the threshold has no test or interval."
        ),
        otherwise="not supported",
        reported=threshold.printed,
        recomputed=f"{recovery_noise:.3f} between captures",
        n=2,
    )


@claim("000, Finding 2", failure="unit")
def c000_f2_replication(nope_count_tests: pd.DataFrame, published_facts: pd.DataFrame) -> Verdict:
    """In each of two models, most layers recover."""
    origin = pick(published_facts, fact="llama32_vision_text")
    count_tests = [pick(nope_count_tests, comparison=model) for model in PAIR]
    fisher = pick(nope_count_tests, comparison="between models")
    paired_p_values = nope_count_tests[nope_count_tests["test"] == "mcnemar_exact"]["p_value"]
    phrases = [
        f"{100 * row['estimate']:.0f} % [{100 * row['ci_low']:.0f}, {100 * row['ci_high']:.0f}]" for row in count_tests
    ]
    are_two_networks = {origin["subject"], origin["printed"]} != set(PAIR)
    evidence = (
        f"{phrases[0]} and {phrases[1]} of the layers recover (Fisher p = {fisher['p_value']:.2f}; paired, p lies "
        f"between {paired_p_values.min():.2f} and {paired_p_values.max():.2f} whatever the pairing)"
    )
    return judge(
        are_two_networks,
        (
            f"{evidence}, and the text weights are not shared.",
            f"{evidence}, but the text weights are the same: this is one network captured twice.",
        ),
        otherwise="not supported",
        reported="Within Both Models",
        recomputed="2 networks" if are_two_networks else "1 network",
        n=2 if are_two_networks else 1,
        p_value=float(fisher["p_value"]),
    )


@claim("000, Finding 2")
def c000_f2_no_effect(nope_adjacency_bounds: pd.DataFrame, nope_models: pd.DataFrame) -> Verdict:
    """Adjacency to layers without position encoding has no effect on the recovery."""
    three_groups = pick(nope_adjacency_bounds, comparison="after, before, far")
    two_groups = pick(nope_adjacency_bounds, comparison="adjacent - far")
    # a non-significant difference does not show equality; a narrow interval around zero would
    has_interval = {"ci_low", "ci_high"} <= set(nope_adjacency_bounds.columns)
    recovery = quote(nope_models, model=PAIR[1], metric="recovery").number
    return judge(
        bool(has_interval and three_groups["p_at_least"] > 0.05),
        ("The" if has_interval else "Without standard deviations no interval can be given; the")
        + f" spread of the layers printed singly bounds F by {three_groups['statistic_at_most']:.2f} (p at least "
        f"{three_groups['p_at_least']:.2f}), so {'no' if three_groups['p_at_least'] > 0.05 else 'an'} effect is "
        f"{'shown, and none is excluded' if three_groups['p_at_least'] > 0.05 else 'possible'}: the means differ by "
        f"{abs(two_groups['difference']):.3f}, {100 * abs(two_groups['difference']) / recovery:.0f} % of the model's "
        "recovery.",
        otherwise="not supported",
        reported="no effect",
        recomputed=f"p >= {three_groups['p_at_least']:.2f}",
        n=int(two_groups["n_first"] + two_groups["n_second"]),
    )


@claim("000, Finding 2")
def c000_f2_adjacent_less(nope_adjacency_bounds: pd.DataFrame) -> Verdict:
    """Layers next to those without position encoding recover less than distant ones."""
    row = pick(nope_adjacency_bounds, comparison="adjacent - far")
    # the largest possible t gives the smallest standard error, so this is the narrowest possible interval
    half_width = float(student.ppf(1 - ALPHA / 2, row["df"])) * abs(row["difference"]) / row["statistic_at_most"]
    return directed(
        float(row["difference"]),
        (float(row["difference"]) - half_width, float(row["difference"]) + half_width),
        -1,
        f"The means differ by {row['difference']:+.3f}, but whatever the unprinted layers are, |t| is at most "
        f"{row['statistic_at_most']:.2f} and p at least {row['p_at_least']:.2f} ({row['n_first']:.0f} against "
        f"{row['n_second']:.0f} layers).",
        p_value=float(row["p_at_least"]),
        reported="less",
        recomputed=f"{row['difference']:+.3f}",
        n=int(row["n_first"] + row["n_second"]),
    )
