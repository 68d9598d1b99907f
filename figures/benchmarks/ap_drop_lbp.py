"""LongBench Pro against the plasticity drop, with one line fitted to the study's models and one to all models."""

import pandas as pd

from boundpaper.figures import Annotation, Axis, Figure, Fit, Panel, Points
from boundpaper.store.frames import pick
from boundpaper.typeset.wording import correlation_phrase, listed


def figure(
    matched_models: pd.DataFrame,
    ap_drop_fit: pd.DataFrame,
    lbp_correlations: pd.DataFrame,
    lbp_correlations_extended: pd.DataFrame,
) -> Figure:
    """Plot one point per matched model and two fitted lines."""
    source_fit, full_fit = (ap_drop_fit[ap_drop_fit["sample"] == sample] for sample in ("source", "all"))
    points = Points(
        x=matched_models["ap_drop"],
        y=matched_models["lbp"],
        labels=matched_models["display_name"],
        entities=matched_models["family"],
        origin="reported",
        legend=False,
    )
    source_count, count = int(source_fit["n"].iloc[0]), int(full_fit["n"].iloc[0])
    label = f"{source_count} models of the study"
    fits = [
        Fit(entity="neutral", label=label, x=source_fit["x"], y=source_fit["fit"], dash="solid"),
        Fit(entity="neutral", label=f"all {count} models", x=full_fit["x"], y=full_fit["fit"], dash="dashed"),
    ]
    added_names = listed(list(matched_models.loc[~matched_models["in_source"].astype(bool), "display_name"]))
    tests = (lbp_correlations, lbp_correlations_extended)
    phrases = [
        f"$n = {n}$: {correlation_phrase(pick(frame, comparison='ap_drop', test='pearson'))}"
        for n, frame in zip((source_count, count), tests, strict=True)
    ]
    return Figure(
        panels=[
            Panel(
                series=[*fits, points],
                x=Axis(label="plasticity drop, first minus last 20 % of positions", low=0.06, high=0.245),
                y=Axis(label="LongBench Pro, overall", low=10, high=50),
                annotations=[
                    Annotation(x=0.242, y=y, text=text.partition(", $p")[0], anchor="left")
                    for y, text in zip((47.5, 44.5), phrases, strict=True)
                ],
            )
        ],
        height=62,
        caption=(
            f"LongBench Pro (without thinking) [@longbenchpro2026] against the plasticity drop [@shcherb2026], {count} "
            "captured models. Unit: one model. Lines: least squares, without a band, since the models are few and "
            f"of three families. {added_names} is not among the models that the metrics study compares."
        ),
        note=f"Pearson with 95 % interval, exact $p$ and Holm over metrics and coefficients, {'; '.join(phrases)}.",
        short="LongBench Pro against the plasticity drop",
    )
