"""Test the published perplexities with zeroed massive dimensions, by seed and by text.

The source runs its tests over ten seeds. A seed changes only the random control; the massive dimensions are always the
same, so their perplexity is one number repeated ten times. The unit that varies in both arms is the text set, of which
there are three.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from analysis.vocabulary import PAIR
from boundpaper.statistics import (
    Estimate,
    attach,
    disruption_contrast,
    frame,
    log_perplexity_difference,
    paired_t,
    pooled_t,
    welch_t,
    with_note,
)
from boundpaper.statistics.families import corrected
from boundpaper.statistics.guards import copied_replicates, same_data, zero_variance
from boundpaper.store.frames import wide

SELECTED_ON = ("literary",)  # the massive dimensions were chosen on this text set (drope_protocols)
ARMS = ("baseline", "massive", "random")


def disruption_trials(drope_published_disruption_trials: pd.DataFrame) -> pd.DataFrame:
    """Return by model, over the published trials: perplexities, percent increases, and standard deviations over seeds.

    `massive_values` counts the distinct perplexities in the massive arm. Columns `*_sd_n1` have the divisor n - 1,
    `*_sd_n` the divisor n. `mr_*` is the increase of perplexity when massive values are disrupted, minus its increase
    when random values are disrupted, both in percent. `mr_d` is Cohen's d by model, as in the source's script: the mean
    over seeds divided by the deviation with divisor n.
    """
    rows = []
    for model in PAIR:
        trials = _increases_by_seed(drope_published_disruption_trials, model)
        rows.append(
            {
                "positional": model,
                "seeds": len(trials),
                "baseline_ppl": trials["baseline"].mean(),
                "massive_ppl": trials["massive"].mean(),
                "random_ppl": trials["random"].mean(),
                "massive_values": trials["massive"].nunique(),
                "random_values": trials["random"].nunique(),
                "massive_increase": trials["massive_increase"].mean(),
                "random_increase": trials["random_increase"].mean(),
                "random_sd_n1": trials["random_increase"].std(ddof=1),
                "random_sd_n": trials["random_increase"].std(ddof=0),
                "mr_difference": trials["difference"].mean(),
                "mr_sd_n1": trials["difference"].std(ddof=1),
                "mr_d": trials["difference"].mean() / trials["difference"].std(ddof=0),
                "massive_ratio": trials["massive"].mean() / trials["baseline"].mean(),
                "massive_nats": float(np.log(trials["massive"] / trials["baseline"]).mean()),
                "random_nats": float(np.log(trials["random"] / trials["baseline"]).mean()),
            }
        )
    return pd.DataFrame(rows)


def disruption_by_text(
    drope_published_disruption_texts: pd.DataFrame, drope_disruption_texts_reported: pd.DataFrame
) -> pd.DataFrame:
    """Return by text set and model: perplexities, increases in percent and nats, and the printed increase.

    `selected` says whether the zeroed dimensions were chosen on this set; `times_printed` is the published increase
    divided by the printed one.
    """
    table = wide(drope_published_disruption_texts, by=["positional", "text"])
    table = table.rename(columns={f"{arm}{end}_ppl": f"{arm}_ppl" for arm in ARMS for end in ("", "_zeroed")})
    for arm in ("massive", "random"):
        ratio = table[f"{arm}_ppl"] / table["baseline_ppl"]
        table[f"{arm}_ratio"] = ratio
        table[f"{arm}_increase"] = 100 * (ratio - 1)
        table[f"{arm}_nats"] = np.log(ratio)
    table["mr_nats"] = table["massive_nats"] - table["random_nats"]
    table["selected"] = table["text"].isin(SELECTED_ON)
    printed_increases = drope_disruption_texts_reported[["positional", "text", "value"]].rename(
        columns={"value": "increase_printed"}
    )
    table = table.merge(printed_increases, on=["positional", "text"], how="left")
    table["nats_printed"] = np.log1p(table["increase_printed"] / 100)
    table["times_printed"] = table["massive_increase"] / table["increase_printed"]
    return table


def disruption_ratios(disruption_by_text: pd.DataFrame) -> pd.DataFrame:
    """Compare RoPE with DroPE by text set: ratios of the increases in percent and in nats, and difference in nats."""
    columns = ["massive_increase", "massive_nats", "massive_ratio"]
    table = disruption_by_text.pivot(index="text", columns="positional", values=columns)
    rope, drope = (table.xs(model, axis=1, level="positional") for model in PAIR)
    order = disruption_by_text["text"].drop_duplicates()
    ratios = pd.DataFrame(
        {
            "ratio_of_percentages": rope["massive_increase"] / drope["massive_increase"],
            "ratio_of_nats": rope["massive_nats"] / drope["massive_nats"],
            "difference_nats": rope["massive_nats"] - drope["massive_nats"],
        }
    )
    return ratios.loc[order].reset_index()


def disruption_tests(
    drope_published_disruption_trials: pd.DataFrame,
    drope_published_disruption_texts: pd.DataFrame,
    test_families: pd.DataFrame,
) -> pd.DataFrame:
    """Return the source's tests over seeds, recomputed and with warnings, and similar tests over text sets in nats.

    Holm corrects the tests over text sets; the tests over seeds repeat the source's and are not corrected.
    """
    tests = [*_over_seeds(drope_published_disruption_trials), *_over_texts(drope_published_disruption_texts)]
    return frame(corrected(tests, test_families, "disruption_tests"))


def _increases_by_seed(trials: pd.DataFrame, model: str) -> pd.DataFrame:
    """Return one row per seed: the perplexity of each arm, the increases in percent, and their difference."""
    table = wide(trials[trials["positional"] == model], by=["seed"])
    table = table.rename(columns={f"{arm}{end}_ppl": arm for arm in ARMS for end in ("", "_zeroed")})
    for arm in ("massive", "random"):
        table[f"{arm}_increase"] = 100 * (table[arm] / table["baseline"] - 1)
    return table.assign(difference=table["massive_increase"] - table["random_increase"])


def _over_seeds(trials: pd.DataFrame) -> list[Estimate]:
    tables = {model: _increases_by_seed(trials, model) for model in PAIR}
    labels: dict[str, Any] = {"study": "disruption_tests", "unit": "seed"}
    percent = "percent of the baseline perplexity"
    tests = []
    for model, table in tables.items():
        perplexities = pd.concat([table["baseline"], table["massive"], table["random"]])
        conditions = [arm for arm in ARMS for _ in range(len(table))]
        test = paired_t(
            table["massive_increase"],
            table["random_increase"],
            comparison=f"{model}: massive against random",
            names=("massive", "random"),
            note=f"the source's test, {percent}",
            **labels,
        )
        tests.append(attach(test, copied_replicates(perplexities, conditions), same_data(SELECTED_ON, SELECTED_ON)))
        tests.append(
            paired_t(
                table["random"],
                table["baseline"],
                comparison=f"{model}: random against baseline",
                names=("random", "baseline"),
                note="perplexity",
                **labels,
            )
        )
    rope, drope = (tables[model] for model in PAIR)
    joint = pooled_t(
        rope["difference"],
        drope["difference"],
        comparison="RoPE against DroPE: massive minus random",
        names=PAIR,
        note=f"the source's test, {percent}",
        **labels,
    )
    # the massive arms do not vary: an interval of d would only describe the random control
    note = "no d_s interval: its sd is that of the random control alone, the massive arms have none"
    joint = with_note(replace(joint, effect_ci_low=None, effect_ci_high=None), note)
    guard = zero_variance({f"massive increase of {model}": tables[model]["massive_increase"] for model in PAIR})
    tests.append(attach(joint, guard))
    massive_test = welch_t(
        rope["massive_increase"],
        drope["massive_increase"],
        comparison="RoPE against DroPE: massive increase alone",
        names=PAIR,
        note=percent,
        **labels,
    )
    return [*tests, massive_test]


def _over_texts(texts: pd.DataFrame) -> list[Estimate]:
    table = wide(texts, by=["positional", "text"])
    perplexities = {
        (model, condition): table.loc[table["positional"] == model, f"{condition}_ppl"].to_numpy(float)
        for model in PAIR
        for condition in ("baseline", "massive_zeroed", "random_zeroed")
    }
    guard = same_data(SELECTED_ON, list(table["text"].unique()))
    labels: dict[str, Any] = {"study": "disruption_tests", "unit": "text set"}
    tests = []
    for model in PAIR:
        for condition, control in (
            ("massive_zeroed", "baseline"),
            ("random_zeroed", "baseline"),
            ("massive_zeroed", "random_zeroed"),
        ):
            comparison = f"{model}: {condition.split('_')[0]} against {control.split('_')[0]}"
            arms = (perplexities[model, control], perplexities[model, condition])
            test = log_perplexity_difference(*arms, comparison=comparison, note="one random mask a set", **labels)
            tests.append(attach(test, guard))
    zeroed = (perplexities[model, condition] for model in PAIR for condition in ("random_zeroed", "massive_zeroed"))
    contrast = disruption_contrast(*zeroed, comparison="RoPE against DroPE: massive minus random", **labels)
    return [*tests, attach(contrast, guard)]
