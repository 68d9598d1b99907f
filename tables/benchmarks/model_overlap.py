"""Benchmark checkpoint of each captured model, and whether the study calls it a match."""

import pandas as pd

from boundpaper.tables import Column, Table


def table(
    models: pd.DataFrame, reported_overlap: pd.DataFrame, published_lbp: pd.DataFrame, published_ruler: pd.DataFrame
) -> Table:
    """Return one row per captured model."""
    captured = models[models["subject"] == "captured"]
    lbp = _checkpoints_by_model(published_lbp, "lbp_checkpoint")
    ruler = _checkpoints_by_model(published_ruler, "ruler_checkpoint")
    study_match = reported_overlap[["model", "benchmark_model", "match"]].rename(columns={"match": "called"})
    rows = captured.merge(lbp, on="model", how="left").merge(ruler, on="model", how="left")
    rows = rows.merge(study_match, on="model", how="left")
    is_exact = rows["called"] == "exact"
    is_base = rows["checkpoint_match"].str.startswith("base captured")
    is_unseen = rows["lbp_checkpoint"].notna() & ~is_exact
    rows = rows.assign(
        captured=rows["captured_checkpoint"].str.partition("/")[2],
        match_mark=["not_exact" if flag else "" for flag in is_exact & is_base],
        lbp_mark=["unseen" if flag else "" for flag in is_unseen],
    )
    return Table(
        rows=rows,
        columns=[
            Column("captured", "Captured checkpoint"),
            Column("lbp_checkpoint", "In LongBench Pro", mark="lbp_mark", width="37mm", missing="not scored"),
            Column("ruler_checkpoint", "In RULER", width="21mm", missing="not scored"),
            Column("called", "Called in the study", mark="match_mark", width="22mm", missing="not in the study's list"),
            Column("checkpoint_match", "Captured against scored", width="22mm"),
        ],
        groups="family",
        size="scriptsize",
        column_space=3,
        space=0,
        marks={
            "not_exact": "Called exact, but a base checkpoint was captured and the instruction-tuned one scored",
            "unseen": "Scored by the benchmark, though not among the matches that the study lists",
        },
        caption=(
            f"The {len(rows)} captured models in the benchmarks. The study lists {len(reported_overlap)} models and "
            f"calls {int(is_exact.sum())} matches with LongBench Pro exact [@shcherb2026]; of these, "
            f"{int((is_exact & ~is_base).sum())} were captured as the checkpoint that was scored "
            "[@longbenchpro2026; @hsieh2024]."
        ),
        short="Captured models in the benchmarks",
    )


def _checkpoints_by_model(scores: pd.DataFrame, name: str) -> pd.DataFrame:
    return scores[["model", "scored_checkpoint"]].drop_duplicates().rename(columns={"scored_checkpoint": name})
