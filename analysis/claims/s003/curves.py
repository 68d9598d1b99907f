"""Document 003, shape of the curves: claims on middle layers, recovery, and the distance between the two groups."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims._shared import printed_text
from analysis.claims.s003._delta_p import SIZES, landmark_cell, start_range
from boundpaper.claims import Verdict, claim, judge, pick
from boundpaper.claims.words import listed

HALFWAY = 0.5  # share of the fall that a curve must recover to count as a U or V


@claim("003, Key Observations")
def c003_middle_layers(delta_p_landmarks: pd.DataFrame, models: pd.DataFrame) -> Iterator[Verdict]:
    """The degraded layers are the middle ones, followed by a partial recovery in later layers."""
    for size, model in SIZES.items():
        last_layer = int(pick(models, model=model)["layers"]) - 1
        low, high = (landmark_cell(delta_p_landmarks, size, "degraded", f"layer_{end}") for end in ("low", "high"))
        end = landmark_cell(delta_p_landmarks, size, "end", "layer")
        yield judge(
            high.number < end.number,
            f"They run from layer {low.printed} to {high.printed} of 0 to {last_layer}"
            + (
                f", and layer {end.printed} is where the curves are said to have recovered: no layer is left after "
                "them."
                if high.number >= end.number
                else f", {100 * low.number / last_layer:.0f} to {100 * high.number / last_layer:.0f} % of the depth, "
                f"and {end.number - high.number:.0f} layers follow."
            ),
            reported=f"{low.printed} to {high.printed}",
            recomputed=f"last layer {last_layer}",
            key=size,
            statement=f"In {model} the degraded layers lie in the middle and others follow them.",
            n=last_layer + 1,
        )


@claim("003, Detailed Analysis")
def c003_partial_recovery(delta_p_landmarks: pd.DataFrame) -> Iterator[Verdict]:
    """After the trough the question-anchored curves recover in part."""
    for size, model in SIZES.items():
        lowest = landmark_cell(delta_p_landmarks, size, "lowest", "delta_p")
        ends = [landmark_cell(delta_p_landmarks, size, "end", f"delta_p_{end}") for end in ("high", "low")]
        gains = [end.number - lowest.number for end in ends]
        yield judge(
            min(gains) > 0,
            f"The lowest point is {lowest.printed}, the ends lie between {ends[0].printed} and {ends[1].printed}: a "
            f"gain of {min(gains):.0f} to {max(gains):.0f} points"
            + (
                "."
                if min(gains) > 0
                else ", so that one of the four curves may end on the lowest level that any of them reached."
            ),
            otherwise="not supported",
            reported="partial recovery",
            recomputed=f"{min(gains):.0f} to {max(gains):.0f} points",
            key=size,
            statement=f"The question-anchored curves of {model} recover in part.",
            n=4,
        )


@claim("003, Key Observations")
def c003_u_shape(delta_p_landmarks: pd.DataFrame) -> Iterator[Verdict]:
    """The question-anchored curves have the shape of a U or V."""
    for size, model in SIZES.items():
        lowest = landmark_cell(delta_p_landmarks, size, "lowest", "delta_p").number
        lowest_start, _ = start_range(delta_p_landmarks, size)
        highest_end = landmark_cell(delta_p_landmarks, size, "end", "delta_p_high")
        share = (highest_end.number - lowest) / (lowest_start - lowest)
        yield judge(
            share >= HALFWAY,
            f"From a start of {lowest_start:.0f} at the lowest they fall to {lowest:.0f} and come back to "
            f"{highest_end.printed} at best, {100 * share:.0f} % of the way; a U or V is taken to come back "
            f"{100 * HALFWAY:.0f} % of it or more.",
            otherwise="not supported",
            reported='"U" or "V"',
            recomputed=f"{100 * share:.0f} %",
            key=size,
            statement=f"The curves of {model} have the shape of a U or V.",
            n=4,
        )


@claim("003, Key Observations", failure="overreach")
def c003_separation(delta_p_landmarks: pd.DataFrame) -> Iterator[Verdict]:
    """Answer-anchored and question-anchored curves are consistently apart, in both models and for all four data sets.

    "Consistent" means apart in every layer, from first to last.
    """
    for size, model in SIZES.items():
        _, start = start_range(delta_p_landmarks, size)
        floor = landmark_cell(delta_p_landmarks, size, "band", "delta_p_low", "answer")
        highest_end = landmark_cell(delta_p_landmarks, size, "end", "delta_p_high")
        yield judge(
            highest_end.number < floor.number and start < floor.number,
            f"At the last layer all four question-anchored curves lie at least {floor.number - highest_end.number:.0f} "
            "points below the answer-anchored band"
            + (
                f"; at the first they start at {start:.0f} at best, inside a band that reaches down to {floor.printed}."
                if start >= floor.number
                else "."
            ),
            otherwise="not supported" if highest_end.number < floor.number else "contradicted",
            reported="stark, consistent",
            recomputed=f"{floor.number - highest_end.number:.0f} points at the end",
            key=size,
            statement=f"The two groups of curves of {model} are consistently apart for all data sets.",
            n=8,
        )


@claim("003, Key Observations")
def c003_near_zero(delta_p_stated: pd.DataFrame, delta_p_landmarks: pd.DataFrame) -> Verdict:
    """The answer-anchored series are near zero in both models."""
    level_in_words = printed_text(delta_p_stated, statement="observations_answer_level")
    floors = {size: landmark_cell(delta_p_landmarks, size, "band", "delta_p_low", "answer") for size in SIZES}
    _, start = start_range(delta_p_landmarks, "3b")
    return judge(
        all(floor.number > start for floor in floors.values()),
        f"Their bands reach down to {listed([floor.printed for floor in floors.values()])} points, in the larger model "
        f"further than the start of {start:.0f} from which its question-anchored curves are said to fall; no interval "
        "tells whether they differ from zero.",
        otherwise="not supported",
        reported=level_in_words,
        recomputed=listed([floor.printed for floor in floors.values()]),
        n=2,
    )
