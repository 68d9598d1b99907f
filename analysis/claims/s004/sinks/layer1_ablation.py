"""Document 004, Experiment 6: claims on perplexity without parts of layer 1, and on what its ratios show."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims._shared import rows_where
from analysis.vocabulary import PAIR
from boundpaper.claims import Artifact, Cells, Relation, Verdict, about, claim, compare, judge, pick, quote, untestable
from boundpaper.statistics.rounding import Interval

EFFECTS = Artifact("layer1_effects")


def _contrast(frame: pd.DataFrame, name: str, model: str = "both") -> pd.Series:
    return pick(frame, contrast=name, positional=model)


c004_layer1_ratios = Cells(
    "The ratios are the perplexities under ablation over the baseline.",
    "004, 7.3 Results, perplexity table",
    Relation(
        each=EFFECTS.rows("positional", "condition"),
        cell=Artifact("drope_layer1_perplexity")(
            condition="{condition}", positional="{positional}", metric="ppl_ratio"
        ),
        follows=EFFECTS.value("ratio", ("ratio_low", "ratio_high"), positional="{positional}", condition="{condition}"),
        because="{0.row[ablated_printed]} / {0.row[baseline_ppl]:.2f} = {0:.2f}, rounding leaves {within.low:.2f} to "
        "{within.high:.2f}.",
        key="{positional}-{condition}",
        says="The ratio of {positional} under {condition} follows from its perplexities.",
    ),
)


@claim("004, 7.4 Key Findings", failure="reading")
def c004_mlp_over_attention(
    layer1_contrasts: pd.DataFrame, drope_layer1_perplexity: pd.DataFrame, drope_stated: pd.DataFrame
) -> list[Verdict]:
    """RoPE's layer-1 MLP is 725 times more critical than its attention."""
    row = _contrast(layer1_contrasts, "mlp_over_attention", "RoPE")
    reported = quote(drope_stated, statement="s7_4_rope_mlp_over_attention")
    mlp, attention = (
        quote(drope_layer1_perplexity, condition=f"layer1_{component}", positional="RoPE", metric="ppl_ratio")
        for component in ("mlp", "attn")
    )
    return [
        compare(
            reported,
            row["ratio"],
            Interval(row["ratio_low"], row["ratio_high"]),
            reason=f"The baseline cancels: the two perplexities under ablation give {row['ratio']:.1f} "
            f"[{row['ratio_low']:.1f}, {row['ratio_high']:.1f}]; the printed ratios, {mlp.printed} over "
            f"{attention.printed}, give {mlp.number / attention.number:.0f}.",
            key="number",
            statement="The ratio of the two perplexity ratios is 725.",
        ),
        judge(
            row["nats_ratio"] > 100,
            f"A ratio of perplexity ratios is no ratio of effects: in nats the MLP is worth {row['first_nats']:.2f} "
            f"and attention {row['second_nats']:.2f}, {row['nats_ratio']:.1f} times as much; in percent increases the "
            f"factor is {row['increase_ratio']:.0f}.",
            otherwise="not supported",
            reported=reported.printed,
            recomputed=f"{row['nats_ratio']:.1f}× in nats",
            key="meaning",
            statement="The factor of 725 measures how much more critical the MLP is.",
        ),
    ]


@claim("004, 7.4 Key Findings", failure="overreach")
def c004_drope_uniform(
    layer1_effects: pd.DataFrame,
    layer1_contrasts: pd.DataFrame,
    layer1_task_shares: pd.DataFrame,
    drope_stated: pd.DataFrame,
) -> Iterator[Verdict]:
    """In DroPE, MLP and attention of layer 1 are equally important: removing one multiplies perplexity by about 201."""
    reported = quote(drope_stated, statement="s7_4_drope_either")
    names = {"layer1_mlp": "MLP", "layer1_attn": "attention"}
    for condition, name in names.items():
        row = pick(layer1_effects, condition=condition, positional="DroPE")
        yield about(
            reported,
            row["ratio"],
            reason=f"The perplexities give {row['ratio']:.1f}.",
            key=condition,
            statement=f"Removing DroPE's layer-1 {name} raises perplexity about 201 times.",
        )
    both_removed = pick(layer1_effects, condition="layer1_both", positional="DroPE")
    additivity = _contrast(layer1_contrasts, "additivity", "DroPE")
    one_removed = rows_where(layer1_task_shares, positional="DroPE", condition=tuple(names))
    zero_count = int((one_removed["right_high"] == 0).sum())
    yield judge(
        additivity["nats_ratio"] > 0.9,
        f"Removing both raises perplexity {both_removed['ratio_printed']}, {both_removed['nats']:.2f} nats where the "
        f"two alone add up to {additivity['second_nats']:.2f}; with either removed {zero_count} of {len(one_removed)} "
        "task results are 0%. Equal effects at a ceiling say that both are needed, not that they matter equally.",
        otherwise="not supported",
        recomputed=f"{100 * additivity['nats_ratio']:.0f}% of the sum",
        key="equal",
        statement="The equal ratios show equal importance of MLP and attention.",
    )


@claim("004, 7.4 Key Findings")
def c004_drope_more_resilient(
    layer1_contrasts: pd.DataFrame, layer1_task_shares: pd.DataFrame, drope_stated: pd.DataFrame
) -> list[Verdict]:
    """DroPE is 9 times more resilient than RoPE to removing the layer-1 MLP."""
    row = _contrast(layer1_contrasts, "mlp_rope_over_drope")
    reported = quote(drope_stated, statement="s7_4_resilience_ratio")
    tasks = layer1_task_shares[layer1_task_shares["condition"] == "layer1_mlp"]
    zero_count = int((tasks["right_high"] == 0).sum())
    return [
        compare(
            reported,
            row["ratio"],
            Interval(row["ratio_low"], row["ratio_high"]),
            reason=f"The ratio of the two perplexity ratios is {row['ratio']:.2f}.",
            key="number",
            statement="RoPE's ratio under MLP ablation is 9 times DroPE's.",
        ),
        judge(
            zero_count == 0,
            f"In nats, in which effects add, removing the MLP costs RoPE {row['first_nats']:.2f} and DroPE "
            f"{row['second_nats']:.2f}, {row['nats_ratio']:.2f} times as much; and {zero_count} of the {len(tasks)} "
            "task cells of both models are then at 0%"
            + (
                ": a smaller factor of perplexity is no resilience where no task survives."
                if zero_count == len(tasks)
                else "."
            ),
            otherwise="not supported",
            reported=reported.printed,
            recomputed=f"{row['nats_ratio']:.2f}× in nats",
            key="meaning",
            statement="The factor of 9 is a gain in resilience.",
        ),
    ]


@claim("004, 7.5 Interpretation")
def c004_total_criticality(layer1_contrasts: pd.DataFrame, drope_stated: pd.DataFrame) -> Verdict:
    """The total effect of DroPE's layer 1 is 9 times lower than that of RoPE's MLP alone."""
    row = _contrast(layer1_contrasts, "rope_mlp_over_drope_both")
    return compare(
        quote(drope_stated, statement="s7_5_total_gap"),
        row["ratio"],
        Interval(row["ratio_low"], row["ratio_high"]),
        reason=f"RoPE's ratio without MLP over DroPE's without both is {row['ratio']:.2f}; in nats "
        f"{row['nats_ratio']:.2f}.",
    )


@claim("004, 7.5 Interpretation")
def c004_position_in_mlp(layer1_contrasts: pd.DataFrame, layer1_effects: pd.DataFrame) -> Verdict:
    """RoPE keeps positional processing in the layer-1 MLP, DroPE spreads it over MLP and attention."""
    shares = {
        model: 100 * float(_contrast(layer1_contrasts, "bos_only_over_mlp", model)["nats_ratio"]) for model in PAIR
    }
    both_removed = pick(layer1_effects, condition="layer1_both", positional="RoPE")
    mlp = pick(layer1_effects, condition="layer1_mlp", positional="RoPE")
    return judge(
        max(shares.values()) < 50,
        f"Removing layer 1's outputs at the first token alone has {shares['RoPE']:.0f}% of the MLP's effect in RoPE "
        f"and {shares['DroPE']:.0f}% in DroPE (nats): "
        + (
            "most of what is lost sits at one token whose state no text changes"
            if min(shares.values()) >= 50
            else "in one model most of what is lost sits at one token whose state no text changes"
            if max(shares.values()) >= 50
            else "most of what is lost sits at other tokens"
        )
        + f". Removing both parts takes RoPE's perplexity to {both_removed['ratio_printed']}, the MLP alone to "
        f"{mlp['ratio_printed']}.",
        otherwise="not supported",
        recomputed=f"{shares['RoPE']:.0f}% and {shares['DroPE']:.0f}%",
    )


@claim("004, 7.5 Interpretation")
def c004_positional_substitute(drope_stated: pd.DataFrame) -> Verdict:
    """DroPE's massive values in layer 1 serve as a substitute for positional encoding."""
    statement = quote(drope_stated, statement="s7_5_layer1_ratio")
    return untestable(
        f"Counts that differ {statement.printed} and ablations that break every task say nothing about position. "
        "Removing these values and testing what depends on order, against equally many others, would decide.",
        reported=statement.printed,
    )
