"""Claims of the thesis on the captures: sampled heads, their noise, scaled rotations, shared texts."""

import pandas as pd

from analysis.claims._shared import min_to_max, value_of
from analysis.studies.crossmodel._kept import one_position_plasticity
from boundpaper.claims import Verdict, claim, judge, pick
from boundpaper.claims.words import listed

FLAT_FAMILY = "Ministral 3"


@claim("thesis, Methods")
def thesis_heads_sampled(capture_heads: pd.DataFrame) -> Verdict:
    """Every capture holds a sample of the query heads; the same number was drawn from each model, whatever its size."""
    counts = sorted(set(capture_heads["drawn"]))
    incomplete = capture_heads[capture_heads["sampled"] != capture_heads["drawn"]]
    incomplete_in_words = listed([f"{row['display_name']} {row['sampled']}" for _, row in incomplete.iterrows()])
    return judge(
        bool((capture_heads["drawn"] < capture_heads["heads"]).all() and len(counts) == 1),
        f"{listed([str(count) for count in counts])} of {capture_heads['heads'].min()} to "
        f"{capture_heads['heads'].max():,} heads were drawn; {min_to_max(capture_heads['share'], '.0f')} % were "
        "analysed" + (f", of {incomplete_in_words}." if len(incomplete) else "."),
        recomputed=f"{min_to_max(capture_heads['share'], '.0f')} %",
        n=len(capture_heads),
    )


@claim("thesis, Methods")
def thesis_heads_left(
    twin_heads: pd.DataFrame, analysed_heads: pd.DataFrame, capture_heads: pd.DataFrame
) -> list[Verdict]:
    """The heads that were drawn in layers of cross-attention are those that the author's counts lack."""
    text_heads = int(value_of(twin_heads, "kept_crossed"))
    listed_heads = int(pick(analysed_heads, model="llama3.2-11b")["query_heads"])
    listed_models = capture_heads[capture_heads["model"].isin(analysed_heads["model"])]
    drawn_count, analysed_count = int(listed_models["drawn"].sum()), int(analysed_heads["query_heads"].sum())
    common_count, chance_count = (value_of(twin_heads, quantity) for quantity in ("common", "common_by_chance"))
    return [
        judge(
            text_heads == listed_heads,
            f"Drawn again with the configuration's seed, {text_heads} heads lie in layers that attend to text; the "
            f"notes count {listed_heads}.",
            recomputed=str(text_heads),
            reported=str(listed_heads),
            key="draw",
            statement="The draw of Llama-3.2-11B-Vision without its layers of cross-attention gives the heads counted.",
        ),
        judge(
            drawn_count - analysed_count == int(pick(capture_heads, model="llama3.2-11b")["drawn"]) - text_heads,
            f"{analysed_count:,} heads of {len(analysed_heads)} models are counted, {drawn_count:,} were drawn of "
            f"them; of the draw with layers of cross-attention {text_heads} are left.",
            recomputed=f"{analysed_count:,}",
            n=len(analysed_heads),
            key="all",
            statement="Over the author's eleven models only the heads in layers of cross-attention are missing.",
        ),
        judge(
            common_count > chance_count,
            f"{common_count:.0f} heads of the text network are in both draws; by chance {chance_count:.0f} would be.",
            recomputed=f"{common_count:.0f}",
            key="common",
            statement="The draws of the two captures of one text network share more heads than two independent ones.",
        ),
    ]


@claim("thesis, Methods")
def thesis_capture_noise(nope_twins: pd.DataFrame, matched_models: pd.DataFrame) -> Verdict:
    """Two captures of one network differ in overall plasticity by more than the scored models deviate from their
    mean.
    """
    gap = value_of(nope_twins, "decile_mean")
    scored_values = matched_models[matched_models["in_source"].astype(bool)]["ap_overall"]
    spread = float(scored_values.std(ddof=1))
    return judge(
        gap > spread,
        f"{gap:.3f} on average over the deciles between the two, a standard deviation of {spread:.3f} over the "
        f"{len(scored_values)} scored models: what differs in overall plasticity between models is "
        f"{'no larger' if gap > spread else 'larger'} than between two captures of one, whose noise lowers "
        "correlations with it.",
        recomputed=f"{gap:.3f} against {spread:.3f}",
        n=len(scored_values),
    )


@claim("thesis, Attention plasticity across models")
def thesis_pooled_rotation(
    bin_kept: pd.DataFrame, bin_bounds: pd.DataFrame, bin_factors: pd.DataFrame, decile_profiles: pd.DataFrame
) -> list[Verdict]:
    """Pooling queries turned by different angles raises plasticity, and can explain a part of its fall (post hoc)."""
    widest = bin_kept[bin_kept["width"] == bin_kept.groupby("model")["width"].transform("max")]
    added_shares = ((widest["pooled"] - widest["aligned"]) / widest["pooled"]).groupby(widest["model"]).mean()
    growth = bin_factors.set_index("factor")["value"].astype(float)
    first, last = (decile_profiles[name].astype(float) for name in ("d0", "d9"))
    rises = {name: one_position_plasticity(last, growth[name]) - last for name in ("along", "random")}
    shares = {name: pd.Series(values / (first - last)) for name, values in rises.items()}
    ranges = [f"{min_to_max(100 * values, '.0f')} %" for values in (added_shares, shares["along"], shares["random"])]
    return [
        judge(
            bool((added_shares > 0).all()),
            f"{ranges[0]} of plasticity in the widest bins of {len(added_shares)} captures is what rotation inside the "
            f"bin adds. Of an even mean query the sources' buckets would keep {100 * bin_bounds['kept_low'].min():.0f} "
            f"to {100 * bin_bounds['kept_high'].max():.0f} % of the square, and their values need "
            f"{100 * bin_bounds['kept_least'].min():.0f} % and more, so that up to all of a late value can be of it.",
            recomputed=ranges[0],
            n=len(added_shares),
            key="level",
            statement="Where both estimators were measured, pooling queries that rotation turned raises plasticity.",
        ),
        judge(
            bool((shares["along"] < 1).all()),
            f"What bins keep grows at most by {growth['along']:.2f} along a context, in bins of up to "
            f"{int(widest['width'].max()):,} tokens; that much makes {ranges[1]} of the fall from the first decile to "
            f"the last of {len(first)} models. The {growth['random']:.2f} of random weights would make {ranges[2]}.",
            otherwise="not supported",
            recomputed=ranges[1],
            n=len(first),
            key="fall",
            statement="As far as trained models were measured both ways, rotation inside bins explains part of the "
            "fall of the captured models, not all of it.",
        ),
    ]


@claim("thesis, Methods")
def thesis_captured_beyond(capture_heads: pd.DataFrame) -> Verdict:
    """Two models are captured to four times the context that their makers state."""
    rows = capture_heads[capture_heads["beyond"] > 0]
    ratios = sorted(set((rows["captured"] / rows["stated"]).tolist()))
    return judge(
        len(rows) == 2 and ratios == [4.0],
        f"{listed(rows['display_name'].tolist())}: "
        f"{listed([f'{int(tokens):,}' for tokens in sorted(set(rows['stated']))])} tokens stated, captured to "
        f"{listed([f'{ratio:g}' for ratio in ratios])} times as many; up to "
        f"{rows['beyond'].max() if len(rows) else 0:.0f} % of the captured window lies beyond.",
        recomputed=f"{len(rows)} models",
        n=len(capture_heads),
    )


@claim("thesis, Attention plasticity across models")
def thesis_flat_family_scaled(capture_heads: pd.DataFrame, captured_models: pd.DataFrame) -> Verdict:
    """The one flat family is the one whose own rotation is scaled by YaRN, and the one made for the longest context."""
    self_scaled = capture_heads[
        (capture_heads["scaled_by"] == "model") & capture_heads["scaling"].str.startswith("YaRN")
    ]
    drops = captured_models.groupby("family")["ap_drop"].mean()
    # Mistral is left out, since it was captured over a shorter context
    other_drops = drops.drop([FLAT_FAMILY, "Mistral"], errors="ignore")
    longest = capture_heads.groupby("family")["stated"].min()
    families = sorted(set(self_scaled["family"]))
    return judge(
        families == [FLAT_FAMILY] and longest.idxmax() == FLAT_FAMILY and drops[FLAT_FAMILY] < other_drops.min(),
        f"{listed(families)} comes with {listed(sorted(set(self_scaled['scaling'])))}, stated for "
        f"{int(longest.max()):,} tokens, and has a mean drop of {drops[FLAT_FAMILY]:.3f} where the other families "
        f"captured over as much text have {other_drops.min():.3f} and more. Training at length, scaling and family "
        "cannot be told apart.",
        recomputed=f"{drops[FLAT_FAMILY]:.3f}",
        n=len(drops),
    )


@claim("thesis, Methods")
def thesis_shared_texts(capture_heads: pd.DataFrame) -> Verdict:
    """Plasticity was captured on documents of the benchmark that it is correlated with."""
    texts = sorted(set(capture_heads["texts"]))
    benchmark_texts = [text for text in texts if "longbench-pro" in text]
    return judge(
        texts == benchmark_texts,
        f"All {len(capture_heads)} captures read {listed(texts)}; a text that is hard for the benchmark is hard for "
        "the capture as well."
        if texts == benchmark_texts
        else f"{len(benchmark_texts)} of {len(texts)} datasets are of the benchmark.",
        recomputed=f"{len(benchmark_texts)} of {len(texts)}",
        n=len(capture_heads),
    )
