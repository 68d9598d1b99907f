"""Document 002, hypotheses H7 and H8: claims on failures that plasticity misses, and on the bump in Llama profiles."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims._shared import cell_check, decile_values, printed_text
from boundpaper.claims import Verdict, claim, compare, judge, pick, quote, untestable
from boundpaper.claims.repeats import mark_repeat
from boundpaper.claims.worded_numbers import stated_number
from boundpaper.claims.words import listed
from boundpaper.statistics.proportion import wilson_interval

MISTRAL = "mistral-v0.2-7b"


@claim("002, Hypothesis H7", failure="control")
def c002_h7_best(stated_002: pd.DataFrame, captured_models: pd.DataFrame, equal_positions: pd.DataFrame) -> Verdict:
    """Mistral-7B-Instruct-v0.2 has the best plasticity of all 13 models: the highest aggregate and the smallest
    drop.
    """
    table = captured_models.set_index("model")
    is_best_in_table = table["ap_overall"].idxmax() == MISTRAL and table["ap_drop"].idxmin() == MISTRAL
    row = pick(equal_positions, model=MISTRAL)
    return judge(
        bool(is_best_in_table and row["ranked"] == 1 and row["dropped"] == 1),
        "The tables print it, but set 32K tokens against 128K; over the first 32K its plasticity of "
        f"{row['mean_32k']:.4f} has rank {row['ranked']} and its drop of {row['drop_32k']:.3f} rank {row['dropped']} "
        f"among the {len(equal_positions)} models with values there.",
        otherwise="not supported" if is_best_in_table else "contradicted",
        reported=printed_text(stated_002, statement="h7_mistral_rank"),
        recomputed=f"rank {row['ranked']} of {len(equal_positions)} over 32K",
        n=len(equal_positions),
    )


@claim("002, Hypothesis H7")
def c002_h7_cause(stated_002: pd.DataFrame, models: pd.DataFrame) -> Verdict:
    """Mistral-7B-Instruct-v0.2 fails at length because a sliding window of 32K caps its attention."""
    row = pick(models, model=MISTRAL)
    return judge(
        str(row["attention"]).startswith("sliding"),
        f"The attention of {row['display_name']} is {row['attention']}; its maker states {row['claimed_context']:,} "
        "positions, so failure beyond them is failure at unseen positions.",
        reported=printed_text(stated_002, statement="h7_cause"),
        recomputed=str(row["attention"]),
    )


@claim("002, Hypothesis H7")
def c002_h7_gradual(ruler_summary: pd.DataFrame, ruler_lengths: pd.DataFrame) -> Verdict:
    """The failure of Mistral-7B-Instruct-v0.2 is a hard cut-off beyond 32K, not a gradual loss."""
    mistral, llama = pick(ruler_summary, model=MISTRAL), pick(ruler_summary, model="llama3.1-8b")
    fall, llama_fall = 100 * (1 - mistral["32k"] / mistral["4k"]), 100 * (1 - llama["128k"] / llama["4k"])
    plasticity = -pick(ruler_lengths, model=MISTRAL, length="32k")["plasticity_change"]
    return judge(
        bool(mistral["32k"] > 0.95 * mistral["4k"]),
        f"Its score falls from {mistral['4k']:.1f} to {mistral['32k']:.1f} ({fall:.0f} %) within 32K, as much as "
        f"{llama['display_name']} loses to 128K ({llama_fall:.0f} %), its effective length is {mistral['effective']}, "
        f"and plasticity falls by {plasticity:.0f} % over the same positions.",
        reported="not a gradual",
        recomputed=f"-{fall:.0f} % within 32K",
    )


@claim("002, Hypothesis H7")
def c002_h7_blind(models: pd.DataFrame) -> Verdict:
    """Plasticity cannot detect the failure of Mistral-7B-Instruct-v0.2 beyond 32K."""
    row = pick(models, model=MISTRAL)
    return untestable(
        f"Plasticity was captured over {row['captured_context']:,} tokens only; since the model attends to every "
        "earlier position, a capture at 128K would show whether plasticity falls where the score does.",
        reported="cannot detect",
    )


@claim("002, Hypothesis H7")
def c002_h7_modes(stated_002: pd.DataFrame, models: pd.DataFrame) -> Verdict:
    """There are two distinct ways to fail, degradation and truncation."""
    captured_models = models[models["subject"] == "captured"]
    windowed_models = captured_models[captured_models["attention"].str.startswith("sliding")]
    # only scores with and without a window could show a second way to fail
    return Verdict(
        verdict="not supported" if windowed_models.empty else "not testable",
        reason=f"{len(windowed_models)} of the {len(captured_models)} captured models have a sliding window"
        + (", so the data contain no truncation" if windowed_models.empty else "")
        + "; scores of one network with and without its window, beyond its length, would decide it.",
        reported=printed_text(stated_002, statement="h7_failure_modes"),
        recomputed=f"{len(windowed_models)} models with a window",
        n=len(captured_models),
    )


@claim("002, Hypothesis H8")
def c002_h8_nope_layers(stated_002: pd.DataFrame, nope_models: pd.DataFrame) -> Verdict:
    """Llama-3.1-8B has no layer without position encoding."""
    statement = pick(stated_002, statement="h8_nope_layers")
    layers = quote(nope_models, model="llama3.1-8b", metric="nope_layers")
    return judge(
        stated_number(statement) == layers.number,
        f"The layer study counts {layers.printed}.",
        reported=statement["printed"],
        recomputed=layers.printed,
    )


@claim("002, Hypothesis H8")
def c002_h8_identical(decile_profiles: pd.DataFrame) -> Verdict:
    """Llama-3.1-8B (dip at 40-50 %, recovery at 70-80 %, collapse) has the pattern of Llama-3.2-11B-Vision."""
    rows = {model: pick(decile_profiles, model=model) for model in ("llama3.1-8b", "llama3.2-11b")}
    profiles = {model: decile_values(row) for model, row in rows.items()}
    deciles = {
        model: (values.index(min(values[:7])), values.index(max(values[5:9])), values.index(min(values)))
        for model, values in profiles.items()
    }
    first, second = deciles.values()
    gap = max(abs(level - other_level) for level, other_level in zip(*profiles.values(), strict=True))
    return judge(
        first == second == (4, 7, 9),
        f"Dip, peak and low fall into {'the same' if first == second else 'other'} deciles "
        f"({', '.join(str(10 * decile) for decile in first)} % on"
        + ("" if first == second else f" against {', '.join(str(10 * decile) for decile in second)} %")
        + f"); the levels differ by up to {gap:.3f}.",
        reported="identical",
        recomputed="same deciles" if first == second else "other deciles",
        n=2,
    )


@claim("002, Hypothesis H8")
def c002_h8_layer_counts(stated_002: pd.DataFrame, nope_stated: pd.DataFrame) -> list[Verdict]:
    """29 of 32 layers of Llama-3.1-8B recover, and 26 of 32 self-attention layers of Llama-3.2-11B-Vision."""
    pairs = {
        "h8_llama31_8b_recovering": "finding_2_llama31_recovering",
        "h8_llama31_8b_layers": "finding_2_llama31_layers",
        "h8_llama32_11b_recovering": "finding_2_llama32_recovering",
        "h8_llama32_11b_layers": "finding_2_llama32_layers",
    }
    return [
        mark_repeat(
            compare(
                quote(stated_002, statement=key),
                quote(nope_stated, statement=origin).number,
                reason=f"The layer study gives {quote(nope_stated, statement=origin).printed}.",
                places=0,
                key=key,
                statement=f"{pick(stated_002, statement=key)['quantity']}, as in the layer study.",
                kind="cell check",
            ),
            *(("c000_f2_counts",) if key.endswith("recovering") else ()),
        )
        for key, origin in pairs.items()
    ]


@claim("002, Hypothesis H8", failure="unit")
def c002_h8_spread(stated_002: pd.DataFrame, published_facts: pd.DataFrame) -> Verdict:
    """The recovery is spread over nearly all self-attention layers."""
    counts = {}
    for key in ("llama31_8b", "llama32_11b"):
        counts[key] = [int(quote(stated_002, statement=f"h8_{key}_{what}").number) for what in ("recovering", "layers")]
    (llama31_count, layer_count), (llama32_count, _) = counts["llama31_8b"], counts["llama32_11b"]
    low, high = wilson_interval(llama32_count, layer_count)
    is_text_twin = printed_text(published_facts, fact="llama32_vision_text") == "llama3.1-8b"
    return judge(
        min(llama31_count, llama32_count) / layer_count >= 0.9 and not is_text_twin,
        f"The counts are {llama31_count} and {llama32_count} of {layer_count} ({100 * llama31_count / layer_count:.0f} "
        f"and {100 * llama32_count / layer_count:.0f} %, the latter [{100 * low:.0f}, {100 * high:.0f}]); "
        + (
            f"both captures run the same text weights, so {abs(llama31_count - llama32_count)} layers change sides "
            "between captures at a threshold that has no test."
            if is_text_twin
            else "the two networks have different text weights."
        ),
        otherwise="not supported",
        reported=printed_text(stated_002, statement="h8_recovery_spread"),
        recomputed=f"{llama31_count} and {llama32_count} of {layer_count}",
        n=layer_count,
    )


@claim("002, Hypothesis H8")
def c002_h8_depths(stated_002: pd.DataFrame, models: pd.DataFrame) -> Iterator[Verdict]:
    """The models without the pattern have 16, 28 and 40 layers."""
    for key in ("llama32_1b", "llama32_3b", "ministral3_14b"):
        statement = pick(stated_002, statement=f"h8_{key}_layers")
        layers = int(pick(models, model=statement["model"])["layers"])
        number = stated_number(statement)
        yield cell_check(
            number == layers,
            f"Its configuration has {layers} layers.",
            reported=statement["printed"],
            recomputed=str(layers),
            key=key,
            statement=f"{statement['model']} has {number:.0f} layers.",
        )


@claim("002, Hypothesis H8")
def c002_h8_absent(decile_profiles: pd.DataFrame) -> Verdict:
    """The non-monotone pattern is absent from the smaller Llama models and from all Ministral and Qwen models."""
    other_models = decile_profiles[
        ~decile_profiles["model"].isin(["llama3.1-8b", "llama3.2-11b"]) & (decile_profiles["family"] != "Mistral")
    ]
    rising_models = other_models[other_models["rise_shown"].astype(bool)]
    phrases = [f"{row['display_name']} (+{row['draw_up']:.3f})" for _, row in rising_models.iterrows()]
    none_recovers = bool((other_models["recovery"] <= 0).all())
    return judge(
        none_recovers and rising_models.empty,
        f"{int((other_models['recovery'] > 0).sum())} of {len(other_models)} recover in the fixed window (mean of "
        f"deciles six and seven above four and five); by more than rounding explains, {listed(phrases)} rise "
        "somewhere.",
        otherwise="not supported" if none_recovers else "contradicted",
        reported="absent",
        recomputed=f"{len(rising_models)} of {len(other_models)} rise",
        n=len(other_models),
    )


@claim("002, Hypothesis H8", failure="unit")
def c002_h8_specific(stated_002: pd.DataFrame, decile_profiles: pd.DataFrame, published_facts: pd.DataFrame) -> Verdict:
    """The pattern is specific to Llama models of 32 layers and more."""
    llama = decile_profiles[decile_profiles["family"] == "Llama 3"]
    least_layers = stated_number(pick(stated_002, statement="h8_layers_least"))
    deep_models = llama[llama["layers"] >= least_layers]
    fact = pick(published_facts, fact="llama32_vision_text")
    network_count = len(deep_models) - int({fact["subject"], fact["printed"]} <= set(deep_models["model"]))
    return judge(
        network_count > 1 and bool((deep_models["recovery"] > 0).all()),
        f"The {len(deep_models)} Llama models of {least_layers:.0f} layers or more are {network_count} "
        f"{'networks' if network_count > 1 else 'network, their text weights being the same'}; size and training "
        f"recipe differ with depth from the {len(llama) - len(deep_models)} smaller ones.",
        otherwise="not supported",
        reported=printed_text(stated_002, statement="h8_layers_least"),
        recomputed=f"{network_count} network",
        n=network_count,
    )
