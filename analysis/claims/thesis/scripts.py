"""Claims of the thesis on the scripts and stored results behind document 004."""

import pandas as pd

from analysis.claims._origins import is_unrotated
from analysis.claims._shared import min_to_max, rows_where
from boundpaper.claims import Verdict, claim, judge, pick
from boundpaper.claims.words import listed

BILLION = 1.0  # one billion in the column `tokens_billion`
APART = 10.0  # difference of sink rates, in points, that is too large to come from the texts alone


@claim("thesis, Massive values with and without rotary positions")
def thesis_texts_repeat(
    drope_text_repeats: pd.DataFrame, disruption_by_text: pd.DataFrame, drope_layer1_perplexity: pd.DataFrame
) -> Verdict:
    """Every text of Experiments 1 and 2 repeats one passage, so its perplexity measures copying, not language."""
    texts = drope_text_repeats[drope_text_repeats["experiment"].astype(str).isin(["1", "2"])]
    repeats_1, repeats_2 = (texts.loc[texts["experiment"].astype(str) == number, "repeats"] for number in ("1", "2"))
    lines_ppl = rows_where(drope_layer1_perplexity, condition="baseline", metric="ppl")["value"]
    texts_ppl = disruption_by_text["baseline_ppl"]
    return judge(
        bool(texts["repeats"].min() > 1 and texts_ppl.max() < lines_ppl.min()),
        f"Passages stand {repeats_1.min()} to {repeats_1.max()} times in the {len(repeats_1)} texts of Experiment 1 "
        f"and {repeats_2.min()} to {repeats_2.max()} times in the {len(repeats_2)} of Experiment 2, in all its sets. "
        f"The undisturbed perplexities there are {min_to_max(texts_ppl, '.2f')}; on lines of an encyclopedia, in "
        f"Experiment 6, {lines_ppl.min():.1f} and {lines_ppl.max():.1f}.",
        recomputed=f"{texts['repeats'].min()} to {texts['repeats'].max()} times",
        n=len(texts),
    )


@claim("thesis, Massive values with and without rotary positions")
def thesis_answers_unknown(
    functional_shares: pd.DataFrame, layer1_task_shares: pd.DataFrame, knowledge_tasks: pd.DataFrame
) -> Verdict:
    """For most arms of the yes/no tasks it is unknown how many answers the accuracy rests on."""
    ranges = [
        shares.loc[shares["task"].isin(["cities", "sports"]), ["n_low", "n_high"]].to_numpy()
        for shares in (functional_shares, layer1_task_shares)
    ]
    tasks = knowledge_tasks[knowledge_tasks["category"] == "parametric"]
    ranges += [tasks[[f"{arm}_n_low", f"{arm}_n_high"]].to_numpy() for arm in ("base", "disrupted")]
    pairs = [(int(low), int(high)) for rows in ranges for low, high in rows.tolist()]
    open_pairs = [pair for pair in pairs if pair[0] != pair[1]]
    unreadable = sum(high == 0 for _, high in pairs)
    return judge(
        2 * len(open_pairs) > len(pairs),
        f"The scripts leave out answers that read as neither yes nor no. Of {len(pairs)} arms of cities and sports in "
        f"Experiments 3, 4 and 6 the stored share leaves the number of answers open in {len(open_pairs)}, and in "
        f"{unreadable} no answer could be read.",
        recomputed=f"{len(open_pairs)} of {len(pairs)}",
        n=len(pairs),
    )


@claim("thesis, What removing rotary positions changes")
def thesis_attention_unrotated(drope_attention_origins: pd.DataFrame) -> Verdict:
    """RoPE's attention in Experiments 5 and 7 is computed without the rotation, so it is not the model's attention."""
    unrotated = {number: is_unrotated(drope_attention_origins, number) for number in (5, 7)}
    experiments = [f"Experiment {number}" for number, flag in unrotated.items() if flag]
    return judge(
        all(unrotated.values()),
        "Multiplied as the projections give them, without the rotation that the model applies: RoPE in "
        f"{listed(experiments) if experiments else 'neither'}. Dropping the rotation leaves DroPE's untouched.",
        recomputed=f"{len(experiments)} of {len(unrotated)}",
        n=len(unrotated),
    )


@claim("thesis, Sinks, the first token, and layer 1")
def thesis_sinks_first_run(drope_first_sink_rates: pd.DataFrame, sink_rate_layers: pd.DataFrame) -> Verdict:
    """Sink rates read from the RoPE model's own attention differ from the rates that the report prints."""
    rates = 100 * drope_first_sink_rates.sort_values("layer")["value"].to_numpy(dtype=float)
    rope_rates = sink_rate_layers.sort_values("layer")["rope"].to_numpy(dtype=float)
    gaps = abs(rates - rope_rates)
    layers_apart = [int(layer) for layer in range(len(gaps)) if gaps[layer] > APART]
    return judge(
        bool(layers_apart),
        f"A first run read them from the model's own attention, on paragraphs padded to one length: {rates.mean():.1f} "
        f"% on average where {rope_rates.mean():.1f} are printed, {rates[0]:.1f} and {rates[1]:.1f} % in layers 0 and "
        f"1 where the printed ones are {rope_rates[0]:.1f} and {rope_rates[1]:.1f}; {len(layers_apart)} of {len(gaps)} "
        f"layers differ by more than {APART:.0f} points. Padding and texts differ too.",
        recomputed=f"{rates.mean():.1f} %",
        n=len(gaps),
    )


@claim("thesis, Sinks, the first token, and layer 1")
def thesis_factor_not_stored(drope_first_perplexity: pd.DataFrame, bos_mlp_effects: pd.DataFrame) -> Verdict:
    """No stored result has the perplexities behind the report's largest factor; the stored ones give another factor."""
    rows = drope_first_perplexity[drope_first_perplexity["positional"] == "RoPE"].set_index("condition")["value"]
    stored_factor = float(rows["bos_mlp_ablation"] / rows["baseline"])
    printed_row = pick(bos_mlp_effects, experiment=4, positional="RoPE")
    return judge(
        not printed_row["ratio_low"] <= stored_factor <= printed_row["ratio_high"],
        f"Stored are {rows['baseline']:.2f} and {rows['bos_mlp_ablation']:,.0f}, on five paragraphs, a factor of "
        f"{stored_factor:.0f}; printed are {printed_row['baseline_printed']} and {printed_row['ablated_printed']}, "
        f"{printed_row['ratio_printed']} ({printed_row['ratio_low']:.0f} to {printed_row['ratio_high']:.0f} by their "
        "rounding).",
        reported=str(printed_row["ratio_printed"]),
        recomputed=f"{stored_factor:.0f}×",
    )


@claim("thesis, Massive values with and without rotary positions")
def thesis_removal_alone(massive_removal: pd.DataFrame) -> Verdict:
    """Removing rotation alone removes few massive values; DroPE's loss of massive values comes from recalibration."""
    untrained, trained = (
        massive_removal[massive_removal["recalibrated"] == word].set_index("tensor")["change"] for word in ("no", "yes")
    )
    return judge(
        bool(trained["query"] < untrained["query"] < 0 and trained["key"] < 0 < untrained["key"]),
        f"In SmolLM-360M queries change by {untrained['query']:+.0f} % and keys by {untrained['key']:+.0f} % when the "
        f"rotation goes and nothing is trained; in Llama-2-7B after recalibration by {trained['query']:+.0f} and "
        f"{trained['key']:+.0f} %. Two models of different size, one run each.",
        recomputed=f"{untrained['query']:+.1f} % and {untrained['key']:+.1f} %",
        n=len(untrained),
    )


@claim("thesis, Massive values with and without rotary positions")
def thesis_recalibration_is_training(recalibration_tokens: pd.DataFrame) -> Verdict:
    """What follows the removal of the rotation is training on billions of tokens, not an adjustment."""
    fewest = recalibration_tokens.sort_values("tokens_billion").iloc[0]
    return judge(
        bool(fewest["tokens_billion"] > BILLION),
        f"By the authors' configurations from {fewest['tokens_billion']:.1f} billion tokens ({fewest['model']}) to "
        f"{recalibration_tokens['tokens_billion'].max():.0f} billion.",
        recomputed=f"{fewest['tokens_billion']:.1f} billion",
        n=len(recalibration_tokens),
    )
