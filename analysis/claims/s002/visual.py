"""Document 002, values read from figures: claims on distance maps, bundles of heads, mean profiles and weights."""

import math
from itertools import pairwise

import pandas as pd

from analysis.claims._shared import DECILE, decile_values, printed_text
from boundpaper.claims import Verdict, claim, judge, pick, quote, untestable
from boundpaper.claims.words import listed


@claim("002, Visual Analysis: bucket heatmaps")
def c002_heatmaps(reported_landmarks: pd.DataFrame, models: pd.DataFrame) -> list[Verdict]:
    """The heatmaps of plasticity over two distances show the thresholds, onsets and likenesses that are read off."""
    return _untestable_landmarks(
        reported_landmarks,
        "002 heatmaps",
        "No value of a map is printed; mean plasticity binned by inter-key and key-to-query distance, from the "
        "captured queries and keys, would decide.",
        models,
    )


@claim("002, Visual Analysis: per-head plasticity profiles")
def c002_head_bundles(reported_landmarks: pd.DataFrame, models: pd.DataFrame) -> list[Verdict]:
    """The profiles of single heads show the spread, bundles and convergence that the document reads off them."""
    heads = reported_landmarks[reported_landmarks["kind"] == "head bundle"]
    return _untestable_landmarks(
        heads,
        "002 head profiles",
        "No value of a single head is printed; the spread and the bimodality over heads in each bin of the capture "
        "would decide.",
        models,
    )


def _untestable_landmarks(landmarks: pd.DataFrame, place: str, reason: str, models: pd.DataFrame) -> list[Verdict]:
    names = models.set_index("model")["display_name"].to_dict()
    verdicts = []
    for _, row in landmarks[landmarks["source"] == place].iterrows():
        subject = names.get(row["model"]) or row["family"] or "All models"
        statement = f"{subject}, {row['quantity']}: {row['printed']}."
        verdicts.append(untestable(reason, str(row["printed"]), key=str(row["landmark"]), statement=statement))
    return verdicts


@claim("002, Visual Analysis: per-head plasticity profiles")
def c002_profile_11b_dip(reported_landmarks: pd.DataFrame, decile_profiles: pd.DataFrame) -> Verdict:
    """The mean profile of Llama-3.2-11B-Vision dips around 30K to 50K tokens."""
    reported = quote(reported_landmarks, landmark="llama32_11b_dip")
    row = pick(decile_profiles, model="llama3.2-11b")
    values = [float(row[f"d{number}"]) for number in range(8)]
    lowest = values.index(min(values))
    low, high = lowest * DECILE, (lowest + 1) * DECILE
    return judge(
        reported.interval.low <= (low + high) / 2 <= reported.interval.high,
        f"The lowest decile before the recovery, {values[lowest]:.3f}, spans {low / 1000:.0f}K to {high / 1000:.0f}K; "
        f"from {2 * DECILE / 1000:.0f}K to {4 * DECILE / 1000:.0f}K the profile "
        f"{'is still falling' if values[2] > values[3] else 'does not fall'} ({values[2]:.3f}, {values[3]:.3f}).",
        reported=reported.printed,
        recomputed=f"{low / 1000:.0f}K-{high / 1000:.0f}K",
    )


@claim("002, Visual Analysis: per-head plasticity profiles")
def c002_profile_11b_recovery(reported_landmarks: pd.DataFrame, decile_profiles: pd.DataFrame) -> Verdict:
    """The mean profile of Llama-3.2-11B-Vision recovers to about 0.55 around 70K to 100K tokens."""
    level = quote(reported_landmarks, landmark="llama32_11b_recovery_level")
    place = quote(reported_landmarks, landmark="llama32_11b_recovery")
    row = pick(decile_profiles, model="llama3.2-11b")
    values = [
        float(row[f"d{number}"])
        for number in range(10)
        if place.interval.low <= (number + 0.5) * DECILE <= place.interval.high
    ]
    mean = sum(values) / len(values)
    # a level read off a picture may be off by one unit of the second decimal
    return judge(
        abs(mean - level.number) <= 0.01 and min(values) > float(row["d4"]),
        f"The deciles whose middle lies there ({listed([f'{value:.3f}' for value in values])}) average {mean:.3f}, "
        f"{'all' if min(values) > row['d4'] else 'not all'} above the dip of {row['d4']:.3f}.",
        reported=level.printed,
        recomputed=f"{mean:.3f}",
        n=len(values),
    )


@claim("002, Visual Analysis: per-head plasticity profiles")
def c002_profile_11b_collapse(reported_landmarks: pd.DataFrame, decile_profiles: pd.DataFrame) -> Verdict:
    """The mean profile of Llama-3.2-11B-Vision collapses from 120K tokens on."""
    row = pick(decile_profiles, model="llama3.2-11b")
    values = decile_values(row)
    steps = [before - after for before, after in pairwise(values)]
    return judge(
        values[9] == min(values) and steps[-1] == max(steps),
        f"The last decile, from {9 * DECILE / 1000:.0f}K on, {'is' if values[9] == min(values) else 'is not'} the "
        f"lowest ({values[9]:.3f}), after {'the largest' if steps[-1] == max(steps) else 'not the largest'} step of "
        f"the profile ({values[9] - values[8]:+.3f}).",
        reported=printed_text(reported_landmarks, landmark="llama32_11b_collapse"),
        recomputed=f"{values[9]:.3f}",
    )


@claim("002, Visual Analysis: component weights")
def c002_weights_models(reported_landmarks: pd.DataFrame, models: pd.DataFrame) -> Verdict:
    """In all models, positional information sits in the dimensions 33 to 70 and 100 to 128 of a head."""
    cluster = quote(reported_landmarks, landmark="weights_second_cluster")
    captured = models[models["subject"] == "captured"]
    narrow_models = captured[captured["head_dim"].astype(float) < cluster.interval.low]
    phrases = [f"{row['display_name']} ({row['head_dim']} dimensions)" for _, row in narrow_models.iterrows()]
    return judge(
        narrow_models.empty,
        f"The heads of {listed(phrases)} have no dimensions {cluster.printed}; for the "
        f"{len(captured) - len(narrow_models)} others the weights themselves are not printed.",
        reported=printed_text(reported_landmarks, landmark="weights_models"),
        recomputed=f"{len(captured) - len(narrow_models)} of {len(captured)} can",
        n=len(captured),
    )


@claim("002, Visual Analysis: component weights")
def c002_weights_pairs(reported_landmarks: pd.DataFrame, models: pd.DataFrame) -> Verdict:
    """The two clusters reflect the structure of the rotary embedding directly."""
    clusters = [quote(reported_landmarks, landmark=f"weights_{name}_cluster").printed for name in ("first", "second")]
    (low, high), (low_two, high_two) = ([int(end) for end in text.replace("–", "-").split("-")] for text in clusters)
    half_width = int(models.loc[models["subject"] == "captured", "head_dim"].max()) // 2
    partner = (low + half_width, min(high, half_width) + half_width)
    distance = max(abs(partner[0] - low_two), abs(partner[1] - high_two))
    tolerance = half_width / 10
    is_within = distance <= tolerance
    # ranges read off a picture can refute the pairing, but only weights by dimension could support it
    return Verdict(
        verdict="not testable" if is_within else "not supported",
        reason=f"Dimensions i and i + {half_width} turn at one frequency, so the partner of {clusters[0]} is "
        f"{partner[0]}-{partner[1]}; {clusters[1]} is off by {distance} at most, {'within' if is_within else 'beyond'} "
        f"the tolerance of {tolerance:.0f} taken for ranges read off a picture. The weights of single dimensions "
        "against their frequencies would decide it.",
        reported=f"{clusters[0]}, {clusters[1]}",
        recomputed=f"{partner[0]}-{partner[1]}",
    )


@claim("002, Visual Analysis: component weights", failure="control")
def c002_weights_zero(reported_landmarks: pd.DataFrame, models: pd.DataFrame) -> Verdict:
    """The dimensions between the clusters carry no positional information, only content."""
    dead_zone = quote(reported_landmarks, landmark="weights_first_dead_zone").printed.replace("–", "-")
    slowest = int(dead_zone.split("-")[1]) - 1
    rotary_models = models[
        (models["subject"] == "captured") & models["rope_theta"].notna() & (models["head_dim"] == 128)
    ]
    turns = [
        float(row["captured_context"])
        * float(row["rope_theta"]) ** (-2 * slowest / float(row["head_dim"]))
        / (2 * math.pi)
        for _, row in rotary_models.iterrows()
    ]
    return judge(
        not turns or max(turns) < 0.5,
        f"The weights measure a linear trend with position; even the slowest of the dimensions {dead_zone} turns "
        f"{min(turns):.0f} times or more over the captured context ({listed(list(rotary_models['display_name']))}, "
        "before any scaling of frequencies), and such a rotation is positional without leaving a linear trend.",
        otherwise="not supported",
        reported=printed_text(reported_landmarks, landmark="weights_dead_share"),
        recomputed=f"{min(turns):.0f} turns",
        n=len(turns),
    )


@claim("002, Visual Analysis: component weights")
def c002_weights_families(reported_landmarks: pd.DataFrame, models: pd.DataFrame) -> list[Verdict]:
    """Positional information is in narrow peaks in Ministral 3, in broader ones in Qwen3, and Llama lies between."""
    rows = reported_landmarks[reported_landmarks["landmark"].str.contains("peaks|qwen_first_cluster")]
    return _untestable_landmarks(
        rows,
        "002 component weights",
        "No weight of a dimension is printed; the share of each dimension in the variance that position explains, from "
        "the capture, would decide.",
        models,
    )
