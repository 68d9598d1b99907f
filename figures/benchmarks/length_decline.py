"""Relative decline of LongBench Pro from 8K to 128K tokens against the plasticity drop, in both prompt modes."""

import pandas as pd

from boundpaper.figures import Annotation, Axis, Figure, Fit, Panel, Points
from boundpaper.store.frames import pick
from boundpaper.store.paper_vocabulary import words
from boundpaper.typeset.numbers import pvalue
from boundpaper.typeset.wording import correlation_phrase, listed

P_START = ", $p"  # where p begins in the phrase on a correlation


def figure(
    length_decline: pd.DataFrame, length_decline_fit: pd.DataFrame, length_decline_tests: pd.DataFrame
) -> Figure:
    """Plot one panel per prompt mode, with one point per model and two fitted lines."""
    panels, correlations, p = [], [], pvalue()
    tests = length_decline_tests[length_decline_tests["test"] == "pearson"]
    smallest_p, in_source = length_decline_tests["p_adjusted"].min(), length_decline["in_source"].astype(bool)
    added_names = listed(list(length_decline.loc[~in_source, "display_name"].unique()))
    for mode, label in words("mode").items():
        rows = length_decline[length_decline["mode"] == mode]
        fits = length_decline_fit[length_decline_fit["mode"] == mode]
        source_fit, full_fit = (fits[fits["sample"] == sample] for sample in ("source", "all"))
        source_count, count = int(source_fit["n"].iloc[0]), int(full_fit["n"].iloc[0])
        source_label = f"{source_count} models of the study"
        series = [
            Fit(entity="neutral", label=source_label, x=source_fit["x"], y=source_fit["fit"], dash="solid"),
            Fit(entity="neutral", label=f"all {count} models", x=full_fit["x"], y=full_fit["fit"], dash="dashed"),
            Points(
                x=rows["ap_drop"],
                y=100 * rows["decline"],
                labels=rows["display_name"],
                entities=rows["family"],
                origin="recomputed",
                legend=False,
            ),
        ]
        tests_by_n = {n: pick(tests, comparison=f"ap_drop, {mode}, n = {n}") for n in (source_count, count)}
        texts = [
            f"$n = {n}$: {correlation_phrase(test).partition(P_START)[0]}, Holm $p$ "
            f"{p.show(test['p_adjusted'], 'plain')}"
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
            f"after Holm's over {len(length_decline_tests)} tests is {smallest_p:.3f}. Inside a family (colour) no "
            "relation is seen. Unit: one model. Scores published [@longbenchpro2026], drop as printed [@shcherb2026]. "
            f"Least squares; dashed: with {added_names}."
        ),
        note=(
            "In the panels: Pearson's $r$ with its 95 % interval, and exact $p$ after Holm's correction; before it $p$ "
            f"is {listed(correlations)}."
        ),
        short="Relative decline of LongBench Pro against the plasticity drop",
    )
