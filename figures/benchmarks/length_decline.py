"""Relative decline of LongBench Pro from 8K to 128K tokens against the plasticity drop, in both prompt modes."""

import pandas as pd

from boundpaper.figures import Annotation, Axis, Figure, Fit, Panel, Points
from boundpaper.store.frames import pick
from boundpaper.store.paper_vocabulary import words
from boundpaper.typeset.numbers import pvalue
from boundpaper.typeset.wording import correlation_phrase, listed

SIGN = ", $p"  # the coefficient and its interval precede this text


def figure(
    length_decline: pd.DataFrame, length_decline_fit: pd.DataFrame, length_decline_tests: pd.DataFrame
) -> Figure:
    """Plot one panel per prompt mode, with one point per model and two fitted lines."""
    panels, correlations, p = [], [], pvalue()
    tests = length_decline_tests[length_decline_tests["test"] == "pearson"]
    least, in_source = length_decline_tests["p_adjusted"].min(), length_decline["in_source"].astype(bool)
    added = listed(list(length_decline.loc[~in_source, "display_name"].unique()))
    for mode, label in words("mode").items():
        rows = length_decline[length_decline["mode"] == mode]
        fits = length_decline_fit[length_decline_fit["mode"] == mode]
        source, every = (fits[fits["sample"] == name] for name in ("source", "all"))
        fewer, more = int(source["n"].iloc[0]), int(every["n"].iloc[0])
        series = [
            Fit(entity="neutral", label=f"{fewer} models of the study", x=source["x"], y=source["fit"], dash="solid"),
            Fit(entity="neutral", label=f"all {more} models", x=every["x"], y=every["fit"], dash="dashed"),
            Points(
                x=rows["ap_drop"],
                y=100 * rows["decline"],
                labels=rows["display_name"],
                entities=rows["family"],
                origin="recomputed",
                legend=False,
            ),
        ]
        tests_by_n = {n: pick(tests, comparison=f"ap_drop, {mode}, n = {n}") for n in (fewer, more)}
        texts = [
            f"$n = {n}$: {correlation_phrase(test).partition(SIGN)[0]}, Holm $p$ " + p.show(test["p_adjusted"], "plain")
            for n, test in tests_by_n.items()
        ]
        panels.append(
            Panel(
                series=series,
                x=Axis(label="plasticity drop", low=0.03, high=0.25, ticks=[0.05, 0.1, 0.15, 0.2, 0.25]),
                y=Axis(label="score lost, 8K to 128K", percent=True, low=0, high=60),
                title=f"prompts {label}",
                annotations=[
                    Annotation(x=0.032, y=y, text=text, anchor="right")
                    for y, text in zip((57.3, 53.5), texts, strict=True)
                ],
            )
        )
        correlations += [f"{p.show(test['p_value'], 'plain')} ({label}, $n = {n}$)" for n, test in tests_by_n.items()]
    return Figure(
        panels=panels,
        share_y=True,
        letters=True,
        height=60,
        caption=(
            "Models whose plasticity drops more lose a larger share of their LongBench Pro score from 8K to 128K "
            "tokens, but from family to family, and no single test is significant after correction: the smallest $p$ "
            f"after Holm's over {len(length_decline_tests)} tests is {least:.3f}. Inside a family (colour) no relation "
            "is seen. Unit: one model. Scores published [@longbenchpro2026], drop as printed [@shcherb2026]. Least "
            f"squares; dashed: with {added}."
        ),
        note=(
            "In the panels: Pearson's $r$ with its 95 % interval, and exact $p$ after Holm's correction; before it $p$ "
            f"is {listed(correlations)}."
        ),
        short="Relative decline of LongBench Pro against the plasticity drop",
    )
