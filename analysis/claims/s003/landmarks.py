"""Document 003, two charts of delta P by layer: claims on their series, axes, layers and lowest points."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims._shared import cell_check, min_to_max
from analysis.claims.s003._delta_p import SIZES, landmark_cell
from boundpaper.claims import Verdict, claim, judge, pick, quote, untestable
from boundpaper.claims.repeats import mark_repeat

TICK = 10  # percentage points between ticks of the vertical axis


@claim("003, Overview")
def c003_series(delta_p_stated: pd.DataFrame) -> Verdict:
    """Each of the two charts shows eight series: two ways of anchoring for each of four data sets."""
    numbers = delta_p_stated.set_index("statement")["as_number"]
    product = numbers["overview_anchorings"] * numbers["overview_data_sets"]
    return judge(
        product == numbers["overview_conditions"] == numbers["axes_series"]
        and numbers["overview_charts"] == numbers["overview_models"],
        f"{numbers['overview_anchorings']:.0f} times {numbers['overview_data_sets']:.0f} is {product:.0f}; the "
        f"overview says {numbers['overview_conditions']:.0f} and the legend {numbers['axes_series']:.0f}, of "
        f"{numbers['overview_charts']:.0f} charts of {numbers['overview_models']:.0f} models.",
        reported=f"{numbers['overview_conditions']:.0f}",
        recomputed=f"{product:.0f}",
        n=int(numbers["overview_charts"]),
    )


@claim("003, Components/Axes")
def c003_axes(delta_p_stated: pd.DataFrame, delta_p_landmarks: pd.DataFrame) -> Iterator[Verdict]:
    """The vertical axes run from 0 to -60 for the 1B model and to -80 for the 3B model."""
    for size, model in SIZES.items():
        high, low = (quote(delta_p_stated, statement=f"axes_{size}_delta_p_{end}") for end in ("high", "low"))
        rows = delta_p_landmarks[
            (delta_p_landmarks["model"] == model) & delta_p_landmarks["metric"].str.startswith("delta_p")
        ]
        is_in_axis = rows["value"].between(low.number, high.number)
        yield cell_check(
            bool(is_in_axis.all()),
            f"The {len(rows)} values that the description gives run from {min_to_max(rows['value'], '.0f')}, "
            f"{int(is_in_axis.sum())} of them inside the axis.",
            reported=f"{high.printed} to {low.printed}",
            recomputed=f"{rows['value'].max():.0f} to {rows['value'].min():.0f}",
            key=size,
            statement=f"The values of {model} lie on its axis.",
            n=len(rows),
        )


@claim("003, Components/Axes")
def c003_axis_ticks(delta_p_stated: pd.DataFrame) -> Iterator[Verdict]:
    """The vertical axes end on round numbers, as axes with ticks do."""
    for size, model in SIZES.items():
        high, low = (quote(delta_p_stated, statement=f"axes_{size}_delta_p_{end}") for end in ("high", "low"))
        is_round = high.number % TICK == low.number % TICK == 0
        yield cell_check(
            is_round,
            f"{high.printed} and {low.printed} are {'' if is_round else 'not both '}multiples of {TICK}.",
            otherwise="not supported",
            failure="number",
            reported=f"{high.printed} to {low.printed}",
            key=size,
            statement=f"The axis of {model} ends on round numbers.",
        )


@claim("003, Components/Axes")
def c003_layers(delta_p_stated: pd.DataFrame, models: pd.DataFrame) -> Iterator[Verdict]:
    """The horizontal axes show the layers of the models: 1 to 15 of the 1B model, 0 to 27 of the 3B model."""
    for size, model in SIZES.items():
        keys = [f"axes_{size}_layer_{end}" for end in ("first", "last")]
        first, last = (quote(delta_p_stated, statement=key) for key in keys)
        # "about" a whole number allows one unit
        slack = [1 if pick(delta_p_stated, statement=key)["qualifier"] == "about" else 0 for key in keys]
        layers = int(pick(models, model=model)["layers"])
        yield judge(
            abs(first.number) <= slack[0] and abs(last.number - (layers - 1)) <= slack[1],
            f"The model has {layers} layers, 0 to {layers - 1}"
            + (f"; {first.printed} is within an approximate reading of 0." if first.number else "."),
            reported=f"{first.printed} to {last.printed}",
            recomputed=f"0 to {layers - 1}",
            key=size,
            statement=f"The chart of {model} shows layers {first.printed} to {last.printed}.",
            n=layers,
        )


@claim("003, Detailed Analysis")
def c003_drawn_ends(delta_p_stated: pd.DataFrame, delta_p_landmarks: pd.DataFrame) -> Iterator[Verdict]:
    """The curves start in the first layer that is drawn and end in the last."""
    for size, model in SIZES.items():
        for end, ordinal in (("start", "first"), ("end", "last")):
            layer = landmark_cell(delta_p_landmarks, size, end, "layer")
            axis = quote(delta_p_stated, statement=f"axes_{size}_layer_{ordinal}")
            yield cell_check(
                layer.number == axis.number,
                f"The axis is read as {'beginning' if end == 'start' else 'ending'} at layer {axis.printed}.",
                reported=layer.printed,
                recomputed=axis.printed,
                key=f"{size}-{end}",
                statement=f"The question-anchored curves of {model} {end} in the {ordinal} layer drawn.",
            )


@claim("003, Detailed Analysis")
def c003_answer_layers(delta_p_stated: pd.DataFrame, models: pd.DataFrame) -> Iterator[Verdict]:
    """The answer-anchored series stay near the top across all layers: 15 of the 1B model, about 27 of the 3B model."""
    for size, model in SIZES.items():
        row = pick(delta_p_stated, statement=f"analysis_{size}_answer_layers")
        printed_count = quote(delta_p_stated, statement=f"analysis_{size}_answer_layers")
        first, last = (quote(delta_p_stated, statement=f"axes_{size}_layer_{end}").number for end in ("first", "last"))
        layer_count = last - first + 1
        layers = int(pick(models, model=model)["layers"])
        # "about" a whole number allows one unit
        slack = 1 if row["qualifier"] == "about" else 0
        verdict = judge(
            abs(layer_count - printed_count.number) <= slack,
            f"The axis is read as layers {first:.0f} to {last:.0f}, {layer_count:.0f} of them; the model has {layers}.",
            reported=printed_count.printed,
            recomputed=f"{layer_count:.0f}",
            key=size,
            statement=f"The answer-anchored series of {model} are said to run over {printed_count.printed} layers, as "
            "many as the axis is read to have.",
            n=layers,
        )
        yield mark_repeat(verdict, f"c003_layers.{size}")


@claim("003, Key Observations")
def c003_restated(delta_p_stated: pd.DataFrame, delta_p_landmarks: pd.DataFrame) -> Iterator[Verdict]:
    """The lowest values of the summary, about -55 and about -70, are those of the detailed analysis."""
    for size, model in SIZES.items():
        statement = quote(delta_p_stated, statement=f"observations_{size}_lowest")
        lowest = landmark_cell(delta_p_landmarks, size, "lowest", "delta_p")
        yield cell_check(
            statement.number == lowest.number,
            f"The analysis prints {lowest.printed}.",
            reported=statement.printed,
            recomputed=lowest.printed,
            key=size,
            statement=f"The lowest value of {model} is the same in both places.",
        )


@claim("003, Detailed Analysis")
def c003_lowest_in_trough(delta_p_landmarks: pd.DataFrame) -> Iterator[Verdict]:
    """The lowest point of each chart, at layer 10 and at layer 12, lies in the trough of its curves."""
    for size, model in SIZES.items():
        layer = landmark_cell(delta_p_landmarks, size, "lowest", "layer")
        low, high = (landmark_cell(delta_p_landmarks, size, "trough", f"layer_{end}") for end in ("low", "high"))
        yield cell_check(
            low.number <= layer.number <= high.number,
            f"The trough is put at layers {low.printed} to {high.printed}.",
            reported=layer.printed,
            recomputed=f"{low.printed} to {high.printed}",
            key=size,
            statement=f"The lowest point of {model} lies in its trough.",
        )


@claim("003, Detailed Analysis")
def c003_points(delta_p_landmarks: pd.DataFrame) -> Iterator[Verdict]:
    """The charts show where the curves start, reach their trough and end, and how low they are there."""
    for (model, anchoring, landmark), rows in delta_p_landmarks.groupby(["model", "anchoring", "landmark"], sort=False):
        listing = ", ".join(f"{str(row['metric']).replace('_', ' ')} {row['printed']}" for _, row in rows.iterrows())
        yield untestable(
            f"Read off by eye ({listing}); no series is given. The points of the curves with their intervals would "
            "decide it.",
            reported=", ".join(str(printed) for printed in rows["printed"]),
            key=f"{model}-{anchoring}-{landmark}".replace(" ", "-"),
            statement=f"The {anchoring}-anchored curves of {model}: {landmark} as read off the chart.",
        )


@claim("003, Key Observations")
def c003_trough_places(delta_p_landmarks: pd.DataFrame) -> Iterator[Verdict]:
    """The degraded layers of the summary, 8 to 15 and 10 to 20, contain the trough of the analysis."""
    for size, model in SIZES.items():
        trough, degraded = (
            [landmark_cell(delta_p_landmarks, size, name, f"layer_{end}") for end in ("low", "high")]
            for name in ("trough", "degraded")
        )
        phrases = [f"{first.printed} to {last.printed}" for first, last in (trough, degraded)]
        yield cell_check(
            degraded[0].number <= trough[0].number and trough[1].number <= degraded[1].number,
            f"The trough is put at layers {phrases[0]}, the degraded layers at {phrases[1]}: they begin "
            f"{abs(degraded[0].number - trough[0].number):.0f} and end "
            f"{abs(degraded[1].number - trough[1].number):.0f} layers apart.",
            reported=phrases[1],
            recomputed=phrases[0],
            key=size,
            statement=f"The degraded layers of {model} contain its trough.",
        )
