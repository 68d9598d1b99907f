"""LongBench Pro by input length: the matched models in both prompt modes, reference models, and plasticity."""

import pandas as pd

from boundpaper.store.paper_vocabulary import words
from boundpaper.tables import Column, Table, printed
from tables._house import model_footnotes, model_marks
from tables.benchmarks._longbench import measured_footnotes, measured_scores

LENGTHS = ("8k", "16k", "32k", "64k", "128k", "256k")
OVERALL = "overall"


def table(
    published_lbp: pd.DataFrame,
    reported_reference_models: pd.DataFrame,
    reported_lbp_lengths: pd.DataFrame,
    reported_length_bins: pd.DataFrame,
    lbp_lengths: pd.DataFrame,
    matched_models: pd.DataFrame,
    measured_lbp_lengths: pd.DataFrame,
) -> Table:
    """Return one row per model and prompt mode, then the plasticity at matched bins and the models measured here."""
    longest = matched_models["captured_context"].max()
    facts = matched_models.set_index("model")
    printed_scores = reported_lbp_lengths.query("metric == 'lbp' and printed != ''")
    in_source = set(zip(printed_scores["model"], printed_scores["mode"], strict=True))
    blocks = []
    for mode, label in words("mode").items():
        scores = _by_length(published_lbp[published_lbp["mode"] == mode], "model").loc[facts.index]
        marks = model_marks(facts, longest)
        marks = [
            ",".join(filter(None, (mark, "printed" if (model, mode) in in_source else "")))
            for model, mark in zip(facts.index, marks, strict=True)
        ]
        blocks.append(scores.assign(name=facts["display_name"], mark=marks, group=f"Score, {label}"))
    reference = _by_length(reported_reference_models, "name")
    blocks.append(reference.assign(name=reference.index, mark="", group="Score, reference models of the study"))
    bins = lbp_lengths[lbp_lengths["plasticity"].notna()].drop_duplicates(["model", "length"])
    printed_cells = reported_length_bins.set_index(["model", "bin"])["printed"]
    bins = bins.assign(printed=[printed_cells[key] for key in zip(bins["model"], bins["bin"], strict=True)])
    plasticity = _by_length(bins, "model")
    plasticity = plasticity.loc[[model for model in facts.index if model in plasticity.index]]
    plasticity = plasticity.assign(
        name=facts.loc[plasticity.index, "display_name"],
        mark="",
        group="Plasticity in the bin that ends at this length",
    )
    own_rows = measured_scores(measured_lbp_lengths, (*LENGTHS, OVERALL))
    rows = pd.concat([*blocks, plasticity, own_rows], ignore_index=True)
    questions = published_lbp[published_lbp["length"] != OVERALL]["questions"].iloc[0]
    unbinned = [name for model, name in facts["display_name"].items() if model not in plasticity.index]
    return Table(
        rows=rows,
        columns=[
            Column("name", "Model", mark="mark"),
            *(
                Column(length, length.upper(), printed(), group="Input length (tokens)", missing=_why_missing(length))
                for length in LENGTHS
            ),
            Column(OVERALL, "All", printed(), missing="not given"),
        ],
        groups="group",
        size="footnotesize",
        long=True,  # measured models make the table too long for one page
        marks={
            **model_footnotes(facts, longest),
            "printed": "The only series that the study prints for these models.",
            **measured_footnotes(measured_lbp_lengths),
        },
        caption=(
            f"LongBench Pro by input length, {len(facts)} matched models in both prompt modes, and plasticity at "
            f"matched bins. Unit: one model; {questions} questions per length. Scores published with the benchmark "
            "[@longbenchpro2026]; reference models and plasticity from Tables 2 and 3 of the study [@shcherb2026]. "
            "Last group: measured by this project, not published."
        ),
        short="LongBench Pro and plasticity by input length",
        note=(
            "The study does not state the prompt mode of its reference models. "
            f"It reports no length bins for {', '.join(unbinned)}."
        ),
    )


def _by_length(frame: pd.DataFrame, key: str) -> pd.DataFrame:
    """Return the printed values: one row per model, one column per length, and empty text for missing values."""
    table = frame.pivot(index=key, columns="length", values="printed").fillna("")
    table = table.reindex(columns=[*LENGTHS, OVERALL], fill_value="")
    return table.loc[frame[key].drop_duplicates()]


def _why_missing(length: str) -> str:
    return "longer than the captured context" if length == LENGTHS[-1] else "not given"
