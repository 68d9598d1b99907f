"""Document 002, Table 4: claims on the shapes of the decile profiles."""

import pandas as pd

from analysis.claims._shared import decile_values, min_to_max, printed_text
from boundpaper.claims import Verdict, claim, judge, pick
from boundpaper.claims.words import listed
from boundpaper.store.frames import wide


@claim("002, Decile Plasticity Profile, Table 4")
def c002_t4_ministral_linear(profile_shapes: pd.DataFrame) -> Verdict:
    """The Ministral 3 profiles decline near-linearly."""
    ministral = profile_shapes[profile_shapes["family"] == "Ministral 3"]
    qwen = profile_shapes[profile_shapes["family"] == "Qwen3"]
    steps = 9
    return judge(
        bool(ministral["r_squared"].min() >= qwen["r_squared"].min()),
        f"A straight line explains {min_to_max(ministral['r_squared'], '.2f')} of the variance, in Qwen3 "
        f"{min_to_max(qwen['r_squared'], '.2f')}; the first of {steps} steps takes "
        f"{min_to_max(100 * ministral['first_step'], '.0f')} % of the fall, where a line has {100 / steps:.0f} %.",
        otherwise="not supported",
        reported="near-linear",
        recomputed=f"R2 {min_to_max(ministral['r_squared'], '.2f')}",
        n=len(ministral),
    )


@claim("002, Decile Plasticity Profile, Table 4")
def c002_t4_ministral_flattest(profile_shapes: pd.DataFrame) -> Verdict:
    """The Ministral 3 profiles are the flattest of all families."""
    ministral_falls = profile_shapes[profile_shapes["family"] == "Ministral 3"]["whole"]
    other_falls = profile_shapes[~profile_shapes["family"].isin(["Ministral 3", "Mistral"])]["whole"]
    mistral_falls = profile_shapes[profile_shapes["family"] == "Mistral"]["whole"]
    return judge(
        bool(ministral_falls.max() < other_falls.min()),
        f"They fall by {min_to_max(ministral_falls)} from the first decile to the last, the {len(other_falls)} Qwen3 "
        f"and Llama models by {other_falls.min():.3f} or more; Mistral-7B-Instruct-v0.2 falls by "
        f"{mistral_falls.iloc[0]:.3f}, but over a quarter of the context.",
        reported="flattest",
        recomputed=f"{ministral_falls.max():.3f} < {other_falls.min():.3f}",
        n=len(ministral_falls) + len(other_falls),
    )


@claim("002, Decile Plasticity Profile, Table 4")
def c002_t4_qwen_accelerating(profile_shapes: pd.DataFrame, decile_profiles: pd.DataFrame) -> Verdict:
    """The decline of the Qwen3 profiles accelerates in the second half of the context."""
    qwen = profile_shapes[profile_shapes["family"] == "Qwen3"]
    is_faster = qwen["second_half"] > qwen["first_half"]
    is_faster_late = qwen["late"] > qwen["early"]
    rows = decile_profiles[decile_profiles["family"] == "Qwen3"]
    steps = [[float(row[f"d{end}"] - row[f"d{end + 1}"]) for end in (5, 6, 7, 8)] for _, row in rows.iterrows()]
    growing_count = sum(falls == sorted(falls) and falls[0] < falls[-1] for falls in steps)
    keeps_growing = growing_count == len(steps)
    return judge(
        bool(is_faster.all()) and keeps_growing,
        f"Read as faster than the first half it is {'' if is_faster.all() else 'not '}so: over four steps each, they "
        f"fall by {min_to_max(qwen['first_half'])} in the first half of the context and by "
        f"{min_to_max(qwen['second_half'])} in the second, faster in {int(is_faster.sum())} of {len(qwen)} models, and "
        f"in {int(is_faster_late.sum())} without the steep first step. Read as ever faster within the second half it "
        f"is {'' if keeps_growing else 'not '}so: its four steps grow in {growing_count} of {len(steps)}.",
        otherwise="not supported" if keeps_growing or is_faster.all() else "contradicted",
        reported="accelerating",
        recomputed=f"{int(is_faster.sum())} of {len(qwen)} faster, {growing_count} growing",
        n=len(qwen),
    )


@claim("002, Decile Plasticity Profile, Table 4")
def c002_t4_qwen_scale(profile_shapes: pd.DataFrame, captured_models: pd.DataFrame) -> Verdict:
    """Larger Qwen3 models have slightly flatter profiles."""
    qwen = captured_models[captured_models["family"] == "Qwen3"].sort_values("parameters_nominal_b")
    falls = qwen.merge(profile_shapes[["model", "whole"]], on="model")
    drops = [f"{size:g}B {drop:.3f}" for size, drop in zip(qwen["parameters_nominal_b"], qwen["ap_drop"], strict=True)]
    return judge(
        bool(qwen["ap_drop"].is_monotonic_decreasing and falls["whole"].is_monotonic_decreasing),
        f"ap_drop by size is {listed(drops)}.",
        reported="slightly flatter",
        recomputed="; ".join(drops),
        n=len(qwen),
    )


@claim("002, Decile Plasticity Profile, Table 4")
def c002_t4_llama32_steepest(profile_shapes: pd.DataFrame) -> Verdict:
    """Llama 3.2 has the steepest decline of all families."""
    llama = profile_shapes[profile_shapes["model"].str.startswith("llama3.2")]
    other_families = profile_shapes[~profile_shapes["family"].eq("Llama 3")]
    means = other_families.groupby("family")["whole"].mean()
    flat_models = llama[llama["whole"] < other_families["whole"].max()]
    steepest_other = other_families.sort_values("whole").iloc[-1]
    return judge(
        bool(llama["whole"].mean() > means.max()),
        f"The mean fall of {len(llama)} models is {llama['whole'].mean():.3f}, of {means.idxmax()} {means.max():.3f}; "
        f"{listed(list(flat_models['display_name']))} alone falls by less ({flat_models['whole'].min():.3f}) than "
        f"{steepest_other['display_name']} ({steepest_other['whole']:.3f}).",
        reported="steepest",
        recomputed=f"{llama['whole'].mean():.3f}",
        n=len(llama),
    )


@claim("002, Decile Plasticity Profile, Table 4")
def c002_t4_llama32_11b_rises(decile_profiles: pd.DataFrame) -> Verdict:
    """The profile of Llama-3.2-11B-Vision is non-monotone: a dip before 50 %, a rise at 60-80 %, the lowest value at
    the end.
    """
    return _judge_bump(decile_profiles, "llama3.2-11b", recovery=(6, 7))


@claim("002, Decile Plasticity Profile, Table 4")
def c002_t4_llama31_8b_rises(decile_profiles: pd.DataFrame) -> Verdict:
    """The profile of Llama-3.1-8B dips at 40-50 %, recovers at 70-80 % and collapses in the last decile."""
    return _judge_bump(decile_profiles, "llama3.1-8b", recovery=(7,))


def _judge_bump(decile_profiles: pd.DataFrame, model: str, recovery: tuple[int, ...], dip: int = 4) -> Verdict:
    row = pick(decile_profiles, model=model)
    values = decile_values(row)
    inner_values = values[1:9]
    lowest = values.index(min(inner_values[: max(recovery)]))
    return judge(
        lowest == dip
        and bool(row["rise_shown"])
        and max(values[dip:]) in [values[decile] for decile in recovery]
        and values[9] == min(values),
        f"It falls to {values[lowest]:.3f} at {10 * lowest}-{10 * lowest + 10} %, rises by {row['draw_up']:.3f} "
        f"(rounding explains {row['rounding']:.3f}) to {max(values[dip:]):.3f}, and ends at {values[9]:.3f}.",
        recomputed=f"draw-up {row['draw_up']:.3f}",
    )


@claim("002, Decile Plasticity Profile, Table 4")
def c002_t4_nope_cause(decile_profiles: pd.DataFrame, models: pd.DataFrame) -> Verdict:
    """The bump of Llama-3.2-11B-Vision may come from its layers without position encoding or from the vision
    encoder.
    """
    llama31 = pick(models, model="llama3.1-8b")
    vision_rise, llama31_rise = (
        pick(decile_profiles, model=model)["draw_up"] for model in ("llama3.2-11b", "llama3.1-8b")
    )
    has_cross = "cross-attention" in str(llama31["attention"])
    return judge(
        has_cross or llama31_rise < vision_rise,
        f"{llama31['display_name']} has {llama31['attention']} attention in its {llama31['layers']} layers and rises "
        f"by {llama31_rise:.3f}, against {vision_rise:.3f}.",
        recomputed=f"{llama31_rise:.3f} without such layers",
    )


@claim("002, Decile Plasticity Profile, Table 4", failure="unit")
def c002_t4_llama_family(decile_profiles: pd.DataFrame, published_facts: pd.DataFrame) -> Verdict:
    """Llama-3.1-8B has the same non-monotone pattern as Llama-3.2-11B-Vision, which confirms a trait of the family."""
    origin = pick(published_facts, fact="llama32_vision_text")
    llama = decile_profiles[decile_profiles["family"] == "Llama 3"]
    vision, text_model = (pick(llama, model=str(origin[name])) for name in ("subject", "printed"))
    other_llamas = llama[~llama["model"].isin([vision["model"], text_model["model"]])]
    recovering = other_llamas[other_llamas["recovery"] > 0]
    return judge(
        len(recovering) == len(other_llamas),
        f"{vision['display_name']} is built on the text weights of {text_model['display_name']}, so that their "
        f"recoveries of {vision['recovery']:+.3f} and {text_model['recovery']:+.3f} are one network seen twice; "
        f"{len(recovering)} of the {len(other_llamas)} other Llama models "
        f"({listed(list(other_llamas['display_name']))}) recover.",
        otherwise="not supported",
        reported="same, confirmed",
        recomputed=f"{len(recovering)} of {len(other_llamas)} others",
        n=len(llama),
    )


@claim("002, Decile Plasticity Profile, Table 4", failure="control")
def c002_t4_mistral_flattest(
    stated_002: pd.DataFrame, profile_shapes: pd.DataFrame, equal_positions: pd.DataFrame
) -> Verdict:
    """Mistral-7B-Instruct-v0.2 has the flattest profile of all models."""
    flattest = profile_shapes.sort_values("whole").iloc[0]
    mistral = pick(equal_positions, model="mistral-v0.2-7b")
    flatter_models = equal_positions[equal_positions["drop_32k"] < mistral["drop_32k"]]
    return judge(
        flattest["model"] == "mistral-v0.2-7b" and flatter_models.empty,
        f"Its fall of {flattest['whole']:.3f} is the smallest printed, but it spans 32K tokens and the others 128K; "
        f"over the first 32K tokens it falls by {mistral['drop_32k']:.3f}, and "
        f"{listed(list(flatter_models['display_name']))} fall by {min_to_max(flatter_models['drop_32k'])}.",
        otherwise="not supported",
        reported=printed_text(stated_002, statement="t4_mistral_rank"),
        recomputed=f"rank {mistral['dropped']} of {len(equal_positions)} over 32K",
        n=len(equal_positions),
    )


@claim("002, Decile Plasticity Profile, Table 4")
def c002_t4_all_deciles(reported_deciles: pd.DataFrame) -> Verdict:
    """Each profile has ten bins, each of one tenth of the context."""
    table = wide(
        reported_deciles.assign(decile="d" + reported_deciles["decile"].astype(str)), metric="decile", by=["model"]
    )
    columns = [name for name in table.columns if name != "model"]
    count = int(table[columns].notna().all(axis=1).sum())
    return judge(
        len(columns) == 10 and count == len(table),
        f"{count} of {len(table)} models have a value in each of {len(columns)} bins.",
        reported="10",
        recomputed=str(len(columns)),
        n=len(table),
    )
