"""Document 000, Hypotheses and Conclusion: claims judged by what the captured models show."""

import math

import pandas as pd

from analysis.claims._shared import printed_text
from boundpaper.claims import Verdict, candidate, claim, judge, pick, quote, untestable
from boundpaper.claims.words import listed
from boundpaper.statistics import wilson_interval

LLAMA = ("llama3.1-8b", "llama3.2-11b", "llama3.2-3b", "llama3.2-1b")


@claim("000, Hypotheses")
def c000_hypotheses_base(nope_stated: pd.DataFrame, models: pd.DataFrame) -> Verdict:
    """Llama 3.1 and 3.2 use a rotary base of 500,000."""
    base = quote(nope_stated, statement="hypotheses_rope_base")
    bases = {model: float(pick(models, model=model)["rope_theta"]) for model in LLAMA}
    return judge(
        all(value == base.number for value in bases.values()),
        f"{sum(value == base.number for value in bases.values())} of {len(bases)} captured Llama models use this base, "
        "whether they recover or not.",
        reported=base.printed,
        recomputed=", ".join(f"{value:.0f}" for value in sorted(set(bases.values()))),
        n=len(bases),
    )


@claim("000, Hypotheses", severity="supporting")
def c000_hypotheses_frequency(
    models: pd.DataFrame, nope_recovery_recomputed: pd.DataFrame, published_facts: pd.DataFrame
) -> Verdict:
    """The recovery may come from the rotary base of Llama, which makes some frequencies cycle at 60-100K tokens.

    The source names a candidate and does not assert it: the claim fails if the data exclude it, and is otherwise open.
    """
    facts = {model: pick(models, model=model) for model in LLAMA}
    rows = nope_recovery_recomputed.set_index("model").loc[list(LLAMA)]
    recovering = [model for model in LLAMA if rows["recovers"][model]]
    same_base_models = [
        model
        for model in LLAMA
        if model not in recovering
        and all(facts[model][name] == facts[recovering[0]][name] for name in ("rope_theta", "head_dim"))
    ]
    factors = {model: int(quote(published_facts, fact=f"rope_factor_{model}").number) for model in LLAMA}
    is_rescaled = bool(same_base_models) and all(factors[model] != factors[recovering[0]] for model in same_base_models)
    is_excluded = bool(same_base_models) and not is_rescaled
    base_in_words = (
        f"{listed([str(facts[model]['display_name']) for model in same_base_models])} has the same base and head "
        "dimension and falls throughout, so the base alone is not the reason"
        if same_base_models
        else "No model with the same base and head dimension fails to recover"
    )
    scaling_note = (
        f"; but the long wavelengths are scaled differently there ({factors[recovering[0]]} where the profile "
        f"recovers, {factors[same_base_models[0]]} there), so that its frequencies are not the same"
        if same_base_models
        else ""
    )
    return candidate(
        is_excluded,
        (
            f"{base_in_words}, and the scaling of the long wavelengths is the same too ({factors[recovering[0]]}).",
            f"{base_in_words}{scaling_note}. A capture of one model with its scaling changed would decide it.",
        ),
        recomputed=f"{len(same_base_models)} model with the same frequencies falls",
        n=len(rows),
    )


@claim("000, Hypotheses")
def c000_hypotheses_cycles(nope_stated: pd.DataFrame, models: pd.DataFrame, published_facts: pd.DataFrame) -> Verdict:
    """Some frequencies of the rotary embedding complete a cycle at distances of 60-100K tokens."""
    configuration = pick(models, model=LLAMA[0])
    base, pairs = float(configuration["rope_theta"]), int(configuration["head_dim"]) // 2
    factor = quote(published_facts, fact=f"rope_factor_{LLAMA[0]}").number
    printed = printed_text(nope_stated, statement="hypotheses_interference_range")
    low, high = (1000 * int(end) for end in printed.removesuffix("K").split("–"))
    wavelengths = [2 * math.pi * base ** (pair / pairs) for pair in range(pairs)]
    unscaled_count = sum(low <= wavelength <= high for wavelength in wavelengths)
    # the scaling multiplies every wavelength that is longer than the family's first context
    scaled_count = sum(low <= factor * wavelength <= high for wavelength in wavelengths)
    return judge(
        unscaled_count > 0 and scaled_count > 0,
        f"{unscaled_count} of {pairs} pairs have wavelengths of {printed} at the base, {scaled_count} once the long "
        f"ones are stretched {factor:.0f}-fold by the scaling; any geometric set of wavelengths has some in such a "
        "range, so this does not single it out.",
        reported=printed,
        recomputed=f"{unscaled_count} and {scaled_count} of {pairs}",
        n=pairs,
    )


@claim("000, Hypotheses", severity="supporting")
def c000_hypotheses_specialists(nope_stated: pd.DataFrame) -> Verdict:
    """Llama models of 32 layers or more develop heads that peak at 60-100K tokens, smaller ones lack the capacity."""
    span = printed_text(nope_stated, statement="hypotheses_specialist_range")
    depth = quote(nope_stated, statement="hypotheses_depth").printed
    return untestable(
        f"Profiles of single heads are not printed; the share of heads that peak at {span}, in Llama models of equal "
        f"size below and above {depth} layers, would decide it.",
        reported=f"{depth}+ layers, {span}",
    )


@claim("000, Hypotheses", severity="supporting")
def c000_hypotheses_documents(nope_stated: pd.DataFrame) -> Verdict:
    """Llama's pre-training documents, typically around 60-100K tokens long, cause the recovery zone."""
    length = printed_text(nope_stated, statement="hypotheses_document_length")
    return untestable(
        "The lengths of the training documents are not published; two models trained alike on documents of different "
        "length would decide it.",
        reported=length,
    )


@claim("000, Conclusion")
def c000_conclusion_deep(nope_stated: pd.DataFrame, nope_recovery_recomputed: pd.DataFrame) -> Verdict:
    """The profile is a trait of the Llama family that appears in models with 32 layers or more."""
    networks = nope_recovery_recomputed[nope_recovery_recomputed["family"] == "Llama 3"].drop_duplicates("network")
    recovering = networks[networks["recovers"].astype(bool)]
    return judge(
        len(recovering) > len(networks) / 2 and recovering["text_layers"].nunique() > 1,
        f"{len(recovering)} of {len(networks)} Llama networks recovers, the one of {recovering['text_layers'].max()} "
        f"layers; a threshold between {networks['text_layers'].nlargest(2).min()} and "
        f"{recovering['text_layers'].max()} layers cannot be told from any other difference between the networks.",
        otherwise="not supported",
        reported=printed_text(nope_stated, statement="conclusion_depth"),
        recomputed=f"{len(recovering)} of {len(networks)} networks",
        n=len(networks),
    )


@claim("000, Conclusion")
def c000_conclusion_uniform(nope_stated: pd.DataFrame, nope_layer_cells: pd.DataFrame) -> Verdict:
    """In Llama-3.2-11B the recovery is distributed uniformly over all self-attention layers."""
    count, layers = (
        int(quote(nope_stated, statement=f"finding_2_llama32_{name}").number) for name in ("recovering", "layers")
    )
    threshold = quote(nope_stated, statement="finding_2_threshold").number
    highest = nope_layer_cells[nope_layer_cells["model"] == "llama3.2-11b"]["recovery"].max()
    low, high = wilson_interval(count, layers)
    return judge(
        count == layers,
        f"By the study's own count {layers - count} of {layers} layers do not recover ({count} do, [{100 * low:.0f}, "
        f"{100 * high:.0f}] %), and the recoveries range from {threshold} or less to {highest:.3f}.",
        reported=printed_text(nope_stated, statement="conclusion_uniform"),
        recomputed=f"{count} of {layers}",
        n=layers,
        ci=(low, high),
    )


@claim("000, Conclusion")
def c000_conclusion_mechanism() -> Verdict:
    """The recovery is likely due to the frequencies of the rotary embedding or to how Llama is trained."""
    return untestable(
        "No analysis by frequency is printed; the share of each rotary pair in the position dependence, by distance "
        "and against shuffled positions, in models with and without the recovery, would decide the first part."
    )
