"""Document 004, discussion and summary: claims across experiments, on the advice given, and on the summary table."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims._shared import min_to_max, printed_text
from analysis.vocabulary import PAIR
from boundpaper.claims import Artifact, Cells, Relation, Verdict, claim, judge, pick, quote
from boundpaper.claims.terms import mean
from boundpaper.claims.words import of_trials, p

TASKS = {"parametric": ("cities", "sports"), "contextual": ("passkey", "imdb")}
SUMMARY = Artifact("drope_summary_reported")
COUNTS = Artifact("drope_massive_counts")
FUNCTIONAL = Artifact("drope_functional")
WRITE = Artifact("drope_bos_write")
LAYER1 = Artifact("drope_layer1_perplexity")
NORMS = Artifact("drope_layer1_norms")
CROSSLAYER = Artifact("drope_crosslayer").where(metric="attention_contribution")
ERRORS = Artifact("drope_errors").where(context=2048, metric="share")
ROWS = {  # row of the summary -> the cell that it repeats, with the ledger row that judges this cell
    "query_massive_mean": COUNTS(tensor="query", metric="count_mean"),
    "query_massive_sd": COUNTS(tensor="query", metric="count_sd"),
    "key_massive_mean": COUNTS(tensor="key", metric="count_mean"),
    "key_massive_sd": COUNTS(tensor="key", metric="count_sd"),
    "qk_disruption_increase": Artifact("drope_disruption")(metric="massive_increase").by(
        "c004_disruption_cells.{model}-massive_increase"
    ),
    "sink_rate": Artifact("drope_sink_rates")(layers="average").by("c004_sink_rate_cells.{model}-average"),
    "bos_mlp_ppl_ratio": Artifact("drope_bos_mlp")(metric="ppl_ratio").by("c004_bos_mlp_ratios.{model}"),
    "qk_disruption_passkey": FUNCTIONAL(condition="qk_disruption", task="passkey"),
    **{
        metric: WRITE(metric=metric).by(f"c004_bos_write_cells.{{model}}-{metric}")
        for metric in ("bos_value_norm", "effective_write", "max_write_layer")
    },
    "bos_value_all_layers_ppl_ratio": Artifact("drope_bos_value_ablation")(
        condition="bos_value_all_layers", metric="ppl_ratio"
    ),
    **{
        f"layer1_{component}_ppl_ratio": LAYER1(condition=condition, metric="ppl_ratio").by(
            f"c004_layer1_ratios.{{model}}-{condition}"
        )
        for component, condition in (("mlp", "layer1_mlp"), ("attention", "layer1_attn"))
    },
    "sink_heads": Artifact("drope_attention")(metric="sink_heads").by("c004_pat_head_classes.{model}-sink_heads"),
    "layer1_attention_contribution": Artifact("drope_layer1_content")(metric="attention_contribution").by(
        "c004_con_cells.{model}-attention_contribution"
    ),
    "layer1_query_norm": NORMS(metric="query_norm").by("c004_con_cells.{model}-query_norm"),
    "layer1_key_norm": NORMS(metric="key_norm").by("c004_con_cells.{model}-key_norm"),
    "layer0_attention_contribution": CROSSLAYER(layers="0").by("c004_bal_shares.{model}-0"),
    "layers_2_31_attention_contribution": CROSSLAYER(layers="2-31").by("c004_bal_shares.{model}-2-31"),
    "passkey_2048": ERRORS(category="exact"),
    "passkey_8192": Artifact("drope_context")(context=8192),
    "dominant_error_share": ERRORS(category="off_by_one_length").by("c004_ans_shares.2048-off_by_one_length"),
}
ONLY_DROPE = ("passkey_2048", "dominant_error_share")  # rows whose cell of RoPE is in no other table
JUDGED_BY = {"qk_disruption_passkey-DroPE": "c004_dis_passkey", "passkey_8192-DroPE": "c004_ctx_same_protocols"}


@claim("004, 12.1 Summary of Findings")
def c004_dis_unusable(drope_functional: pd.DataFrame) -> Verdict:
    """Without massive values RoPE models cannot function, while DroPE models remain usable."""
    accuracies = {
        model: {
            task: quote(drope_functional, condition="qk_disruption", positional=model, task=task).number
            for tasks in TASKS.values()
            for task in tasks
        }
        for model in PAIR
    }
    rope, drope = accuracies["RoPE"], accuracies["DroPE"]
    return judge(
        max(rope.values()) == 0 and min(drope[task] for task in TASKS["parametric"]) > 50 and drope["passkey"] > 0,
        f"Under Q/K disruption RoPE keeps {rope['cities']:.0f} and {rope['sports']:.0f} % on the parametric tasks and "
        f"DroPE {drope['cities']:.0f} and {drope['sports']:.0f} %; on the passkey both have {rope['passkey']:.0f} and "
        f"{drope['passkey']:.0f} %.",
        otherwise="not supported",
        recomputed=f"{rope['sports']:.0f} against {drope['sports']:.0f} % on sports",
        n=len(rope),
    )


@claim("004, 14 Summary", failure="control")
def c004_dis_passkey(drope_summary_reported: pd.DataFrame, drope_knowledge: pd.DataFrame) -> Verdict:
    """Q/K disruption takes the passkey task to zero in both models."""
    accuracies = {
        (model, metric): quote(drope_knowledge, positional=model, task="passkey", metric=metric).number
        for model in PAIR
        for metric in ("baseline", "disrupted")
    }
    reported = [
        quote(drope_summary_reported, metric="qk_disruption_passkey", positional=model).printed for model in PAIR
    ]
    return judge(
        accuracies["DroPE", "disrupted"] == 0,
        f"The summary has Experiment 4; Experiment 3 has DroPE at {accuracies['DroPE', 'baseline']:.0f} % before and "
        f"{accuracies['DroPE', 'disrupted']:.0f} % after its disruption, at another precision; whether both disrupt "
        "the same dimensions is not stated.",
        otherwise="not supported",
        reported=" and ".join(reported),
        recomputed=f"{accuracies['RoPE', 'disrupted']:.0f} and {accuracies['DroPE', 'disrupted']:.0f} %",
    )


c004_dis_baselines = Cells(
    "The baseline averages of the summary are means of the tasks' baselines in Experiment 4.",
    "004, 14 Summary",
    Relation(
        each={
            "category, one, two": (("parametric", "cities", "sports"), ("contextual", "passkey", "imdb")),
            "model": PAIR,
        },
        cell=SUMMARY(metric="{category}_baseline", positional="{model}"),
        follows=mean(
            FUNCTIONAL(condition="baseline", positional="{model}", task="{one}"),
            FUNCTIONAL(condition="baseline", positional="{model}", task="{two}"),
        ),
        because="Mean of {0} and {1}.",
        places=1,
        key="{category}-{model}",
        says="The {category} baseline of {model} is the mean of its two tasks.",
    ),
)


@claim("004, 14 Summary", failure="control")
def c004_dis_drope_weaker(drope_summary_reported: pd.DataFrame, drope_knowledge: pd.DataFrame) -> Iterator[Verdict]:
    """Before any intervention DroPE is weaker than RoPE on parametric and on contextual tasks."""
    for category, tasks in TASKS.items():
        rope, drope = (quote(drope_summary_reported, metric=f"{category}_baseline", positional=model) for model in PAIR)
        rope_mean, drope_mean = (
            sum(quote(drope_knowledge, positional=model, task=task, metric="baseline").number for task in tasks)
            / len(tasks)
            for model in PAIR
        )
        yield judge(
            drope_mean < rope_mean and drope.number < rope.number,
            f"Experiment 4 has {rope.printed} and {drope.printed}; the same tasks in Experiment 3 average "
            f"{rope_mean:.1f} and {drope_mean:.1f} %.",
            otherwise="not supported",
            reported=f"{rope.printed} and {drope.printed}",
            recomputed=f"{rope_mean:.1f} and {drope_mean:.1f} %",
            key=category,
            statement=f"On {category} tasks DroPE's baseline is below RoPE's.",
        )


@claim("004, 12.2 Implications for Context Extension", failure="unit")
def c004_dis_only_option(drope_stated: pd.DataFrame, context_cells: pd.DataFrame) -> Verdict:
    """For any retrieval from 8K tokens on, DroPE is the only option."""
    rows = context_cells[(context_cells["context"] >= 8192) & (context_cells["positional"] == "DroPE")]
    worst_row = rows.sort_values("share").iloc[0]
    return judge(
        bool((rows["ci_low"] > 5).all()),
        f"The worse of {len(rows)} runs has {of_trials(worst_row)} for DroPE; models with scaled rotary positions, the "
        "usual alternative, were not tested.",
        otherwise="not supported",
        reported=printed_text(drope_stated, statement="s12_2_only_option"),
        recomputed=f"{min_to_max(rows['share'], '.0f')} %",
        n=int(rows["trials"].sum()),
    )


@claim("004, 12.2 Implications for Context Extension")
def c004_dis_rope_within(context_cells: pd.DataFrame, context_tests: pd.DataFrame) -> Verdict:
    """For precise retrieval within 4K tokens, RoPE is the better choice."""
    tests = [pick(context_tests, study="models", comparison=f"errors, {context}, single") for context in (2048, 4096)]
    largest_p = max(float(test["p_adjusted"]) for test in tests)
    trained_rows = context_cells[~context_cells["beyond"].astype(bool) & (context_cells["protocol"] == "errors")]
    sums = trained_rows.groupby("positional")[["correct", "trials"]].sum()
    counts_in_words = [f"{int(sums['correct'][model])} of {int(sums['trials'][model])}" for model in PAIR]
    return judge(
        largest_p < 0.05 and sums["correct"]["RoPE"] > sums["correct"]["DroPE"],
        f"{counts_in_words[0]} for RoPE against {counts_in_words[1]} for DroPE up to 4096 tokens (Fisher at each "
        f"length, largest Holm {p(largest_p)}).",
        recomputed=" against ".join(counts_in_words),
        n=int(sums["trials"].sum()),
        p_value=max(float(test["p_value"]) for test in tests),
        p_adjusted=largest_p,
    )


c004_dis_summary_rows = Cells(
    "The rows of the summary are those of the sections before.",
    "004, 14 Summary",
    *(
        Relation(
            each={"model": PAIR[1:] if metric in ONLY_DROPE else PAIR},
            cell=SUMMARY(metric=metric, positional="{model}"),
            follows=origin.at(positional="{model}"),
            because="Its section prints {0}.",
            key=f"{metric}-{{model}}",
            says=f"The summary's {metric.replace('_', ' ')} of {{model}} is that of its section.",
            judged=JUDGED_BY,
        )
        for metric, origin in ROWS.items()
    ),
)


c004_dis_layer1_ratio = Cells(
    "The summary's ratios of MLP to attention ablation in layer 1 follow from the perplexities.",
    "004, 14 Summary",
    Relation(
        each={"model": PAIR},
        cell=SUMMARY(metric="layer1_mlp_over_attention", positional="{model}"),
        follows=LAYER1(condition="layer1_mlp", positional="{model}", metric="ppl")
        / LAYER1(condition="layer1_attn", positional="{model}", metric="ppl"),
        because="{0} / {1}.",
        key="{model}",
        says="The ratio of {model} follows from its two perplexities.",
    ),
)
