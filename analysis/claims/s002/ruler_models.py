"""Document 002 on RULER: claims on two Llama generations, and Mistral-7B-Instruct-v0.2 against its successors."""

import pandas as pd

from analysis.claims._shared import min_to_max, printed_text
from boundpaper.claims import Verdict, claim, compare, judge, pick, quote, untestable
from boundpaper.claims.words import listed
from boundpaper.statistics.rounding import Interval
from boundpaper.store.frames import wide

OLD, NEW = "llama3.1-8b", "llama3.2-3b"


@claim("002, RULER analysis: generational comparison")
def c002_generations_lower(reported_llama_generations: pd.DataFrame) -> Verdict:
    """Llama-3.1-8B has a lower drop and a slightly higher last-fifth plasticity than Llama-3.2-3B."""
    table = wide(reported_llama_generations, by=["model"]).set_index("model")
    old, new = table.loc[OLD], table.loc[NEW]
    drop_gap, last_gap = (float(table[name][OLD]) - float(table[name][NEW]) for name in ("ap_drop", "ap_last_20"))
    return judge(
        bool(old["ap_drop"] < new["ap_drop"] and old["ap_last_20"] > new["ap_last_20"]),
        f"The drops are {old['ap_drop']:.3f} and {new['ap_drop']:.3f}, the last-fifth values {old['ap_last_20']:.3f} "
        f"and {new['ap_last_20']:.3f}; of the difference of {drop_gap:+.3f} in drop, the near end contributes "
        f"{drop_gap + last_gap:+.3f}, and the overall values are {old['ap_overall']:.3f} and {new['ap_overall']:.3f}.",
        reported="lower, slightly higher",
        recomputed=f"{drop_gap:+.3f}, {last_gap:+.3f}",
        n=2,
    )


@claim("002, RULER analysis: generational comparison")
def c002_generations_ruler(reported_llama_generations: pd.DataFrame, length_decline: pd.DataFrame) -> Verdict:
    """The lower drop of Llama-3.1-8B matches its better performance at long context on RULER."""
    score = pick(reported_llama_generations, model=NEW, metric="ruler_128k")
    falls = {
        (mode, model): 100 * float(pick(length_decline, mode=mode, model=model)["decline"])
        for mode in ("nonthinking", "thinking")
        for model in (OLD, NEW)
    }
    return judge(
        bool(score["printed"]),
        f"The RULER score of Llama-3.2-3B beside it is {score['printed'] or 'not given'}; on LongBench Pro the older "
        f"model falls by {falls['nonthinking', OLD]:.0f} % to 128K and the newer by {falls['nonthinking', NEW]:.0f} % "
        f"without thinking, by {falls['thinking', OLD]:.0f} and {falls['thinking', NEW]:.0f} % with it.",
        otherwise="not supported",
        reported="better",
        n=2,
    )


@claim("002, RULER analysis: generational comparison")
def c002_generations_distance(captured_models: pd.DataFrame) -> Verdict:
    """The 3.1 generation keeps more plasticity at distance than the 3.2 generation."""
    old = pick(captured_models, model=OLD)
    level = float(old["ap_last_20"])
    newer_models = captured_models[captured_models["model"].str.startswith("llama3.2")]
    higher_models = newer_models[newer_models["ap_last_20"] > level]
    phrases = [f"{row['display_name']} ({row['ap_last_20']:.3f})" for _, row in higher_models.iterrows()]
    return judge(
        higher_models.empty,
        f"{len(higher_models)} of the {len(newer_models)} captured 3.2 models keep more in the last fifth than "
        f"{old['display_name']} ({level:.3f}): {listed(phrases)}.",
        reported="more",
        recomputed=f"{len(newer_models) - len(higher_models)} of {len(newer_models)} below",
        n=1 + len(newer_models),
    )


@claim("002, RULER analysis: generational comparison")
def c002_generations_size(stated_002: pd.DataFrame, models: pd.DataFrame) -> Verdict:
    """The difference between Llama-3.1-8B and Llama-3.2-3B may reflect their numbers of parameters."""
    rows = [pick(stated_002, statement=f"generations_{key}_size") for key in ("llama31_8b", "llama32_3b")]
    sizes = [float(pick(models, model=model)["parameters_nominal_b"]) for model in (OLD, NEW)]
    return untestable(
        f"The models have {sizes[0]:g}B and {sizes[1]:g}B parameters and differ in depth, training and size at once; "
        "captures of one generation in several sizes would tell them apart.",
        reported=" against ".join(str(row["printed"]) for row in rows),
    )


@claim("002, RULER analysis: generational comparison")
def c002_generations_heads(stated_002: pd.DataFrame) -> Verdict:
    """At 128K the heads of Llama-3.1-8B still differ, while those of Llama-3.2-3B have come together."""
    return untestable(
        "No value per head is printed; the standard deviation over heads in the last bin of both captures would "
        "decide.",
        reported=printed_text(stated_002, statement="generations_heterogeneity"),
    )


@claim("002, RULER analysis: predecessor comparison")
def c002_predecessor_bias(
    stated_002: pd.DataFrame, reported_mistral_predecessor: pd.DataFrame, captured_models: pd.DataFrame
) -> Verdict:
    """Mistral-7B-Instruct-v0.2 has five times the bias of the Ministral 3 models."""
    biases = []
    for model in ("mistral-v0.2-7b", "ministral3-3b"):
        printed = quote(reported_mistral_predecessor, model=model, metric="bias_strength")
        half_width = float(pick(captured_models, model=model)["bias_half"])
        biases.append((printed, Interval(printed.number - half_width, printed.number + half_width)))
    (old, numerator), (new, divisor) = biases
    interval = numerator / divisor
    return compare(
        quote(stated_002, statement="predecessor_bias_ratio"),
        old.number / new.number,
        interval,
        reason=f"{old.printed} over {new.printed}, {interval.low:.1f} to {interval.high:.1f} given their rounding: the "
        "zeros that end all biases of the study's first models are not significant.",
        places=2,
        n=4,
    )


@claim("002, RULER analysis: predecessor comparison")
def c002_predecessor_window(predecessor_ratios: pd.DataFrame, models: pd.DataFrame) -> Verdict:
    """Because its window is short, the bias term of Mistral-7B-Instruct-v0.2 never grows large."""
    ratios = predecessor_ratios["window_ratio"]
    contexts = models.set_index("model")["captured_context"]
    return judge(
        bool((ratios <= 1).all()),
        f"Bias per token times the captured window is {ratios.min():.2f} times that of the Ministral 3 models, over a "
        f"window of {contexts['mistral-v0.2-7b']:,} tokens.",
        reported="never grows large",
        recomputed=f"{ratios.min():.2f} times",
        n=len(predecessor_ratios),
    )


@claim("002, RULER analysis: predecessor comparison")
def c002_predecessor_plane(stated_002: pd.DataFrame, reported_mistral_predecessor: pd.DataFrame) -> Verdict:
    """The plane of Mistral-7B-Instruct-v0.2 holds more variance than that of Ministral 3: 0.410 against about 0.36."""
    rows = reported_mistral_predecessor[reported_mistral_predecessor["metric"] == "plane_var"]
    mistral_row, ministral_rows = pick(rows, model="mistral-v0.2-7b"), rows[rows["model"] != "mistral-v0.2-7b"]
    return compare(
        quote(stated_002, statement="predecessor_ministral_plane_var"),
        float(ministral_rows["value"].mean()),
        reason=f"The mean of {listed(list(ministral_rows['printed']))}; Mistral has {mistral_row['printed']}.",
        n=len(ministral_rows),
    )


@claim("002, RULER analysis: predecessor comparison", failure="control")
def c002_predecessor_plasticity(captured_models: pd.DataFrame, equal_positions: pd.DataFrame) -> Verdict:
    """Within its window, Mistral-7B-Instruct-v0.2 has a higher plasticity than the Ministral 3 models."""
    mistral = pick(equal_positions, model="mistral-v0.2-7b")
    ministral_rows = equal_positions[equal_positions["family"] == "Ministral 3"]
    highest = captured_models[captured_models["family"] == "Ministral 3"]["ap_overall"].max()
    return judge(
        bool(mistral["mean_32k"] > ministral_rows["mean_32k"].max()),
        f"{mistral['ap_overall']:.3f} against {highest:.3f} compares 32K with 128K tokens; over the first 32K tokens "
        f"it is {mistral['mean_32k']:.3f}, and theirs {min_to_max(ministral_rows['mean_32k'])}.",
        otherwise="not supported",
        reported="higher",
        recomputed=f"{mistral['mean_32k']:.3f} against {min_to_max(ministral_rows['mean_32k'])}",
        n=1 + len(ministral_rows),
    )


@claim("002, RULER analysis: predecessor comparison")
def c002_predecessor_achievement(stated_002: pd.DataFrame, models: pd.DataFrame) -> Verdict:
    """Ministral 3 keeps its low bias over a window of 256K."""
    rows = models[models["family"] == "Ministral 3"]
    reported = quote(stated_002, statement="predecessor_ministral_window")
    captured = int(rows["captured_context"].max())
    return judge(
        captured >= reported.interval.low,
        f"The makers claim {rows['claimed_context'].min():,} tokens, but the bias was measured over {captured:,}.",
        otherwise="not supported",
        reported=reported.printed,
        recomputed=f"{captured:,}",
        n=len(rows),
    )
