"""Document 001, values read from figures: claims on two distances, bundles of heads and component weights."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims._shared import cell_check, judge_recovery_depth, rows_where
from boundpaper.claims import Verdict, claim, pick, quote, untestable

MAPS = {
    "narrative_ministral_warm_level": "ministral_warm_level",
    "narrative_ministral_separation": "ministral_separation",
    "narrative_qwen_dark_distance": "qwen_dark_distance",
    "narrative_llama_dark_distance": "llama32_dark_distance",
}
BUNDLES = {
    "narrative_qwen_upper_bundle": "qwen3_4b_upper_bundle",
    "narrative_qwen_lower_bundle": "qwen3_4b_lower_bundle",
    "narrative_llama32_3b_converged_from": "llama32_3b_converged_from",
    "narrative_llama32_3b_converged_level": "llama32_3b_converged_level",
}
WEIGHTS = {
    "narrative_weights_first_cluster": "weights_first_cluster",
    "narrative_weights_second_cluster": "weights_second_cluster",
    "narrative_weights_first_dead_zone": "weights_first_dead_zone",
    "narrative_weights_second_dead_zone": "weights_second_dead_zone",
}


@claim("001, Cross-Model Results: plasticity over two distances")
def c001_visual_same(reported_landmarks: pd.DataFrame) -> Iterator[Verdict]:
    """Both documents read the same numbers off the same maps over two distances."""
    yield from _compare_landmarks(reported_landmarks, MAPS)


@claim("001, Cross-Model Results: head heterogeneity")
def c001_heads_same(reported_landmarks: pd.DataFrame) -> Iterator[Verdict]:
    """Both documents read the same numbers off the same bundles of heads."""
    yield from _compare_landmarks(reported_landmarks, BUNDLES)


@claim("001, Cross-Model Results: component weights")
def c001_weights_same(reported_landmarks: pd.DataFrame) -> Iterator[Verdict]:
    """Both documents read the same dimensions off the same component weights."""
    yield from _compare_landmarks(reported_landmarks, WEIGHTS)


def _compare_landmarks(reported_landmarks: pd.DataFrame, pairs: dict[str, str]) -> Iterator[Verdict]:
    """Judge whether the printed ranges of each pair of landmarks, one from each document, have the same ends."""
    for key, original_key in pairs.items():
        row, original = (pick(reported_landmarks, landmark=landmark) for landmark in (key, original_key))
        ends, original_ends = _landmark_ends(row), _landmark_ends(original)
        yield cell_check(
            ends == original_ends,
            f"The other document prints {original['printed']}, read as {_in_words(original_ends)} against "
            f"{_in_words(ends)} here.",
            reported=str(row["printed"]),
            recomputed=str(original["printed"]),
            key=key,
            statement=f"{row['model'] or row['family'] or 'All models'}, {row['quantity']}, in both documents.",
        )


def _in_words(ends: tuple[float, float]) -> str:
    return " to ".join(f"{end:g}" for end in dict.fromkeys(ends))


def _landmark_ends(row: pd.Series) -> tuple[float, float]:
    """Return the two ends of a printed range, or a single number twice; a leading sign such as `~` does not count."""
    for column in ("as_number", "value"):
        if pd.notna(row[column]):
            return float(row[column]), float(row[column])
    return float(row["low"]), float(row["high"])


@claim("001, Cross-Model Results: head heterogeneity")
def c001_heads_depth(stated_001: pd.DataFrame, nope_recovery_recomputed: pd.DataFrame) -> Verdict:
    """The recovery appears in Llama models with 32 layers or more."""
    return judge_recovery_depth(stated_001, "heads_layers_from", nope_recovery_recomputed)


@claim("001, Cross-Model Results: plasticity over two distances")
def c001_two_distances(reported_landmarks: pd.DataFrame) -> Verdict:
    """Plasticity depends on the distances between keys and to the query; families differ in where it begins to fall."""
    onsets = [
        quote(reported_landmarks, landmark=f"narrative_{name}_dark_distance").printed for name in ("qwen", "llama")
    ]
    return untestable(
        "No value of a map is printed; plasticity binned by both distances, with the residual of either alone, would "
        "decide.",
        reported=" and ".join(onsets),
    )


@claim("001, Cross-Model Results: head heterogeneity")
def c001_head_bundles(reported_landmarks: pd.DataFrame) -> list[Verdict]:
    """Heads are homogeneous in Ministral 3, bimodal in Qwen3 and converge at distance in Llama-3.2-3B."""
    rows = rows_where(reported_landmarks, source="001 heads", kind="head bundle")
    return [
        untestable(
            "No value of a single head is printed; the spread and the bimodality over heads in each bin would decide.",
            reported=str(row["printed"]),
            key=str(row["landmark"]),
            statement=f"{row['family']}, {row['quantity']}: {row['printed']}.",
        )
        for _, row in rows.iterrows()
    ]
