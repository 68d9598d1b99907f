"""Document 004, discussion and summary: statements across experiments, advice, and the summary table."""

from __future__ import annotations

import pandas as pd

from analysis.claims import Quoted, Verdict, compare, judge, pick, quote
from analysis.claims._verdicts.repeats import repeating
from analysis.claims._verdicts.words import of_trials, p
from analysis.statistics.rounding import Interval, mean

MODELS = ("RoPE", "DroPE")
# where the numbers of the summary table are judged; `{model}` stands for the column
JUDGED = {
    "qk_disruption_increase": "c004_disruption_cells.{model}-massive_increase",
    "sink_rate": "c004_sink_rate_cells.{model}-average",
    "bos_mlp_ppl_ratio": "c004_bos_mlp_ratios.{model}",
    "bos_value_norm": "c004_bos_write_cells.{model}-bos_value_norm",
    "effective_write": "c004_bos_write_cells.{model}-effective_write",
    "max_write_layer": "c004_bos_write_cells.{model}-max_write_layer",
    "layer1_mlp_ppl_ratio": "c004_layer1_ratios.{model}-layer1_mlp",
    "layer1_attention_ppl_ratio": "c004_layer1_ratios.{model}-layer1_attn",
    "sink_heads": "c004_pat_head_classes.{model}-sink_heads",
    "layer1_attention_contribution": "c004_con_cells.{model}-attention_contribution",
    "layer1_query_norm": "c004_con_cells.{model}-query_norm",
    "layer1_key_norm": "c004_con_cells.{model}-key_norm",
    "layer0_attention_contribution": "c004_bal_shares.{model}-0",
    "layers_2_31_attention_contribution": "c004_bal_shares.{model}-2-31",
    "dominant_error_share": "c004_ans_shares.2048-off_by_one_length",
}
OF_DROPE = {"qk_disruption_passkey": "c004_dis_passkey", "passkey_8192": "c004_ctx_same_protocols"}
TASKS = {"parametric": ("cities", "sports"), "contextual": ("passkey", "imdb")}


def c004_dis_unusable(drope_functional: pd.DataFrame) -> Verdict:
    """Without massive values RoPE models cannot function, while DroPE models remain usable.

    Source: 004, 12.1 Summary of Findings.
    """
    left = {
        model: {
            task: quote(drope_functional, condition="qk_disruption", positional=model, task=task).number
            for tasks in TASKS.values()
            for task in tasks
        }
        for model in MODELS
    }
    rope, drope = left["RoPE"], left["DroPE"]
    return judge(
        max(rope.values()) == 0 and min(drope[task] for task in TASKS["parametric"]) > 50 and drope["passkey"] > 0,
        f"Under Q/K disruption RoPE keeps {rope['cities']:.0f} and {rope['sports']:.0f} % on the parametric tasks "
        "and DroPE "
        f"{drope['cities']:.0f} and {drope['sports']:.0f} %; on the passkey both have {rope['passkey']:.0f} and "
        f"{drope['passkey']:.0f} %.",
        otherwise="not supported",
        recomputed=f"{rope['sports']:.0f} against {drope['sports']:.0f} % on sports",
        n=len(rope),
    )


def c004_dis_passkey(drope_summary_reported: pd.DataFrame, drope_knowledge: pd.DataFrame) -> Verdict:
    """Q/K disruption takes the passkey task to zero in both models.

    Source: 004, 14 Summary.
    Failure: control.
    """
    rows = {
        (model, metric): quote(drope_knowledge, positional=model, task="passkey", metric=metric).number
        for model in MODELS
        for metric in ("baseline", "disrupted")
    }
    reported = [
        quote(drope_summary_reported, metric="qk_disruption_passkey", positional=model).printed for model in MODELS
    ]
    return judge(
        rows["DroPE", "disrupted"] == 0,
        f"The summary has Experiment 4; Experiment 3 has DroPE at {rows['DroPE', 'baseline']:.0f} % before and "
        f"{rows['DroPE', 'disrupted']:.0f} % after its disruption, at another precision; whether both disrupt the "
        "same dimensions is not stated.",
        otherwise="not supported",
        reported=" and ".join(reported),
        recomputed=f"{rows['RoPE', 'disrupted']:.0f} and {rows['DroPE', 'disrupted']:.0f} %",
    )


def c004_dis_baselines(drope_summary_reported: pd.DataFrame, drope_functional: pd.DataFrame) -> list[Verdict]:
    """The baseline averages of the summary are means of the tasks' baselines in Experiment 4.

    Source: 004, 14 Summary.
    """
    verdicts = []
    for category, tasks in TASKS.items():
        for model in MODELS:
            cells = [quote(drope_functional, condition="baseline", positional=model, task=task) for task in tasks]
            verdicts.append(
                compare(
                    quote(drope_summary_reported, metric=f"{category}_baseline", positional=model),
                    sum(each.number for each in cells) / len(cells),
                    mean(each.interval for each in cells),
                    reason=f"Mean of {' and '.join(each.printed for each in cells)}.",
                    places=1,
                    key=f"{category}-{model}",
                    statement=f"The {category} baseline of {model} is the mean of its two tasks.",
                    kind="cell check",
                )
            )
    return verdicts


def c004_dis_drope_weaker(drope_summary_reported: pd.DataFrame, drope_knowledge: pd.DataFrame) -> list[Verdict]:
    """Before any intervention DroPE is weaker than RoPE on parametric and on contextual tasks.

    Source: 004, 14 Summary.
    Failure: control.
    """
    verdicts = []
    for category, tasks in TASKS.items():
        rope, drope = (
            quote(drope_summary_reported, metric=f"{category}_baseline", positional=model) for model in MODELS
        )
        one, two = (
            sum(quote(drope_knowledge, positional=model, task=task, metric="baseline").number for task in tasks)
            / len(tasks)
            for model in MODELS
        )
        verdicts.append(
            judge(
                two < one and drope.number < rope.number,
                f"Experiment 4 has {rope.printed} and {drope.printed}; the same tasks in Experiment 3 average "
                f"{one:.1f} and {two:.1f} %.",
                otherwise="not supported",
                reported=f"{rope.printed} and {drope.printed}",
                recomputed=f"{one:.1f} and {two:.1f} %",
                key=category,
                statement=f"On {category} tasks DroPE's baseline is below RoPE's.",
            )
        )
    return verdicts


def c004_dis_only_option(drope_stated: pd.DataFrame, context_cells: pd.DataFrame) -> Verdict:
    """For any retrieval from 8K tokens on, DroPE is the only option.

    Source: 004, 12.2 Implications for Context Extension.
    Failure: unit.
    """
    rows = context_cells[(context_cells["context"] >= 8192) & (context_cells["positional"] == "DroPE")]
    worst = rows.sort_values("share").iloc[0]
    return judge(
        bool((rows["ci_low"] > 5).all()),
        f"The worse of {len(rows)} runs has {of_trials(worst)} for DroPE; models with scaled rotary positions, the "
        "usual alternative, were not tested.",
        otherwise="not supported",
        reported=str(pick(drope_stated, statement="s12_2_only_option")["printed"]),
        recomputed=f"{rows['share'].min():.0f} to {rows['share'].max():.0f} %",
        n=int(rows["trials"].sum()),
    )


def c004_dis_rope_within(context_cells: pd.DataFrame, context_tests: pd.DataFrame) -> Verdict:
    """For precise retrieval within 4K tokens, RoPE is the better choice.

    Source: 004, 12.2 Implications for Context Extension.
    """
    tests = [pick(context_tests, study="models", comparison=f"errors, {context}, single") for context in (2048, 4096)]
    worst = max(float(test["p_adjusted"]) for test in tests)
    within = context_cells[~context_cells["beyond"].astype(bool) & (context_cells["protocol"] == "errors")]
    sums = within.groupby("positional")[["correct", "trials"]].sum()
    counts = [f"{int(sums['correct'][model])} of {int(sums['trials'][model])}" for model in MODELS]
    return judge(
        worst < 0.05 and sums["correct"]["RoPE"] > sums["correct"]["DroPE"],
        f"{counts[0]} for RoPE against {counts[1]} for DroPE up to 4096 tokens (Fisher at each length, largest Holm "
        f"{p(worst)}).",
        recomputed=" against ".join(counts),
        n=int(sums["trials"].sum()),
        p_value=max(float(test["p_value"]) for test in tests),
        p_adjusted=worst,
    )


def c004_dis_summary_rows(
    drope_summary_reported: pd.DataFrame,
    drope_massive_counts: pd.DataFrame,
    drope_disruption: pd.DataFrame,
    drope_sink_rates: pd.DataFrame,
    drope_bos_mlp: pd.DataFrame,
    drope_functional: pd.DataFrame,
    drope_bos_write: pd.DataFrame,
    drope_bos_value_ablation: pd.DataFrame,
    drope_layer1_perplexity: pd.DataFrame,
    drope_attention: pd.DataFrame,
    drope_layer1_content: pd.DataFrame,
    drope_layer1_norms: pd.DataFrame,
    drope_crosslayer: pd.DataFrame,
    drope_errors: pd.DataFrame,
    drope_context: pd.DataFrame,
) -> list[Verdict]:
    """The rows of the summary are those of the sections before.

    Source: 004, 14 Summary.
    """
    places: dict[str, tuple[pd.DataFrame, dict[str, object]]] = {
        "query_massive_mean": (drope_massive_counts, {"tensor": "query", "metric": "count_mean"}),
        "query_massive_sd": (drope_massive_counts, {"tensor": "query", "metric": "count_sd"}),
        "key_massive_mean": (drope_massive_counts, {"tensor": "key", "metric": "count_mean"}),
        "key_massive_sd": (drope_massive_counts, {"tensor": "key", "metric": "count_sd"}),
        "qk_disruption_increase": (drope_disruption, {"metric": "massive_increase"}),
        "sink_rate": (drope_sink_rates, {"layers": "average"}),
        "bos_mlp_ppl_ratio": (drope_bos_mlp, {"metric": "ppl_ratio"}),
        "qk_disruption_passkey": (drope_functional, {"condition": "qk_disruption", "task": "passkey"}),
        "bos_value_norm": (drope_bos_write, {"metric": "bos_value_norm"}),
        "effective_write": (drope_bos_write, {"metric": "effective_write"}),
        "max_write_layer": (drope_bos_write, {"metric": "max_write_layer"}),
        "bos_value_all_layers_ppl_ratio": (
            drope_bos_value_ablation,
            {"condition": "bos_value_all_layers", "metric": "ppl_ratio"},
        ),
        "layer1_mlp_ppl_ratio": (drope_layer1_perplexity, {"condition": "layer1_mlp", "metric": "ppl_ratio"}),
        "layer1_attention_ppl_ratio": (drope_layer1_perplexity, {"condition": "layer1_attn", "metric": "ppl_ratio"}),
        "sink_heads": (drope_attention, {"metric": "sink_heads"}),
        "layer1_attention_contribution": (drope_layer1_content, {"metric": "attention_contribution"}),
        "layer1_query_norm": (drope_layer1_norms, {"metric": "query_norm"}),
        "layer1_key_norm": (drope_layer1_norms, {"metric": "key_norm"}),
        "layer0_attention_contribution": (drope_crosslayer, {"layers": "0", "metric": "attention_contribution"}),
        "layers_2_31_attention_contribution": (
            drope_crosslayer,
            {"layers": "2-31", "metric": "attention_contribution"},
        ),
        "passkey_2048": (drope_errors, {"context": 2048, "category": "exact", "metric": "share"}),
        "passkey_8192": (drope_context, {"context": 8192}),
        "dominant_error_share": (drope_errors, {"context": 2048, "category": "off_by_one_length", "metric": "share"}),
    }
    verdicts = []
    for metric, (frame, where) in places.items():
        for model in [name for name in MODELS if name in set(frame["positional"])]:
            original = quote(frame, positional=model, **where)
            made = compare(
                quote(drope_summary_reported, metric=metric, positional=model),
                original.number,
                original.interval,
                reason=f"Its section prints {original.printed}.",
                places=original.decimals,
                key=f"{metric}-{model}",
                statement=f"The summary's {metric.replace('_', ' ')} of {model} is that of its section.",
                kind="cell check",
            )
            origin = (OF_DROPE if model == "DroPE" and metric in OF_DROPE else JUDGED).get(metric)
            verdicts.append(repeating(made, *([origin.format(model=model)] if origin else [])))
    return verdicts


def c004_dis_layer1_ratio(drope_summary_reported: pd.DataFrame, drope_layer1_perplexity: pd.DataFrame) -> list[Verdict]:
    """The summary's ratios of MLP to attention ablation in layer 1 follow from the perplexities.

    Source: 004, 14 Summary.
    """
    verdicts = []
    for model in MODELS:
        mlp, attention = (
            quote(drope_layer1_perplexity, condition=f"layer1_{part}", positional=model, metric="ppl")
            for part in ("mlp", "attn")
        )
        row = pick(drope_summary_reported, metric="layer1_mlp_over_attention", positional=model)
        wanted = float(row["as_number"])
        verdicts.append(
            compare(
                Quoted(str(row["printed"]), wanted, 0, Interval(wanted - 0.5, wanted + 0.5)),
                mlp.number / attention.number,
                mlp.interval / attention.interval,
                reason=f"{mlp.printed} / {attention.printed}.",
                key=model,
                statement=f"The ratio of {model} follows from its two perplexities.",
                kind="cell check",
            )
        )
    return verdicts
