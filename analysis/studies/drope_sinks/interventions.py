"""Analyse interventions on the first token's MLP output and on Q and K: perplexity in nats, and the four tasks."""

import pandas as pd

from analysis.studies._perplexity import agreement_of_ratio, effect, number
from analysis.studies.drope_sinks._tasks import against_baseline, shares
from analysis.vocabulary import PAIR
from boundpaper.statistics import frame
from boundpaper.store.frames import pick
from boundpaper.typeset.numbers import finite

TASKS = "5 (tasks)"


def bos_mlp_effects(
    drope_bos_mlp: pd.DataFrame,
    drope_layer1_perplexity: pd.DataFrame,
    drope_stated: pd.DataFrame,
    drope_published_content: pd.DataFrame,
    phase_layers: pd.DataFrame,
) -> pd.DataFrame:
    """Return perplexity when a layer's output at the first token is removed, with the norm of this output.

    `mlp at BOS` is Experiment 4, which removes the MLP output in layer 1 of RoPE and layer 2 of DroPE; `both at BOS` is
    Experiment 6, which removes MLP and attention output in layer 1 of both models. `mlp_write` is the published norm of
    the layer's MLP output at the first token, `norm_after` the norm of the first token after the layer, and
    `write_share` their ratio in percent, which is how much of the state the intervention can remove. Nats are
    differences of mean log-perplexity per token.
    """
    rows = []
    for model in PAIR:
        layer = int(pick(drope_stated, statement=f"s5_2_{model.lower()}_spike_layer")["value"])
        labels = {"experiment": 4, "removed": "mlp at BOS", "positional": model, "layer": layer}
        metrics = ("baseline_ppl", "ablated_ppl", "ppl_ratio")
        cells = (pick(drope_bos_mlp, positional=model, metric=metric) for metric in metrics)
        rows.append(labels | _effect_columns(*cells))
    for model in PAIR:
        labels = {"experiment": 6, "removed": "both at BOS", "positional": model, "layer": 1}
        cells = (
            pick(drope_layer1_perplexity, positional=model, condition=condition, metric=metric)
            for condition, metric in (("baseline", "ppl"), ("layer1_bos_only", "ppl"), ("layer1_bos_only", "ppl_ratio"))
        )
        rows.append(labels | _effect_columns(*cells))
    for row in rows:
        layer = int(str(row["layer"]))
        write = pick(drope_published_content, positional=row["positional"], layer=layer, metric="mlp_output_norm_bos")
        norm_after = number(phase_layers, f"norm_{str(row['positional']).lower()}", layer=layer)
        row |= {
            "mlp_write": write["value"],
            "norm_after": norm_after,
            "write_share": 100 * float(write["value"]) / norm_after,
        }
    return pd.DataFrame(rows)


def _effect_columns(baseline: pd.Series, ablated: pd.Series, printed_ratio: pd.Series) -> dict[str, object]:
    change = effect(baseline, ablated)
    return {
        "baseline_ppl": baseline["value"],
        "baseline_printed": baseline["printed"],
        "ablated_ppl": ablated["value"],
        "ablated_printed": ablated["printed"],
        "ratio_printed": printed_ratio["printed"],
        **change.columns,
        "agreement": agreement_of_ratio(change, printed_ratio),
    }


def functional_shares(
    drope_functional: pd.DataFrame, drope_script_rates: pd.DataFrame, drope_protocols: pd.DataFrame
) -> pd.DataFrame:
    """Return the accuracy of both models on four tasks under four conditions, in percent of counted answers."""
    return shares(drope_functional, drope_script_rates, drope_protocols, TASKS, "4")


def functional_tests(functional_shares: pd.DataFrame, test_families: pd.DataFrame) -> pd.DataFrame:
    """Return Fisher's exact tests of interventions against the baseline where counts are known; Holm over all tests."""
    return frame(against_baseline(functional_shares, "functional_tests", test_families))


def functional_categories(functional_shares: pd.DataFrame) -> pd.DataFrame:
    """Return the mean accuracy over a category's two tasks, in percent, with the change from the baseline in points.

    A cell is empty if one of the tasks has no share because no answer could be parsed.
    """
    keys = ["positional", "condition", "category"]
    rows = []
    for (model, condition, category), tasks in functional_shares.groupby(keys, sort=False):
        base_tasks = functional_shares[
            (functional_shares["positional"] == model)
            & (functional_shares["category"] == category)
            & (functional_shares["condition"] == "baseline")
        ]
        baseline = float(base_tasks["share"].mean())
        is_complete = bool(tasks["share"].notna().all())
        mean = float(finite(tasks["share"].mean())) if is_complete else None
        rows.append(
            {
                "positional": model,
                "condition": condition,
                "category": category,
                "mean": mean,
                "smallest": float(tasks["share"].min()) if is_complete else None,
                "largest": float(tasks["share"].max()) if is_complete else None,
                "tasks": len(tasks),
                "baseline": baseline,
                "change": None if mean is None else float(finite(mean) - finite(baseline)),
                "note": "" if is_complete else "mean, smallest, largest, change: no answer of a task could be read",
            }
        )
    return pd.DataFrame(rows)
