"""Document 002: claims on its proposal for collecting the missing scores by length."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims._shared import count_check, printed_text, rows_where
from boundpaper.claims import Verdict, claim, compare, judge, pick, quote, untestable
from boundpaper.claims.words import listed

MEMORY = "instructions_memory_"


@claim("002, Instructions: Collecting Per-Length LBP Scores")
def c002_gap_only(
    stated_002: pd.DataFrame,
    reported_plasticity: pd.DataFrame,
    published_lbp: pd.DataFrame,
    published_ruler: pd.DataFrame,
) -> Verdict:
    """Scores by length for six models are the only data gap that remains."""
    cells = reported_plasticity[reported_plasticity["metric"].isin(["lbp", "ruler_128k"])]
    empty_cells = cells[cells["low"].isna()]
    published_cells = {("lbp", model) for model in published_lbp["model"]} | {
        ("ruler_128k", model) for model in published_ruler["model"]
    }
    exceptions = [
        model
        for metric, model in zip(empty_cells["metric"], empty_cells["model"], strict=True)
        if (metric, model) in published_cells
    ]
    return judge(
        empty_cells.empty,
        f"The table of all models also leaves {len(empty_cells)} of {len(cells)} benchmark cells empty, of which "
        f"{len(exceptions)} are published ({listed(exceptions)}).",
        reported=printed_text(stated_002, statement="instructions_gaps"),
        recomputed=f"{len(empty_cells)} more empty cells",
        n=len(cells),
    )


@claim("002, Per-Length LongBench Pro Scores, Table 3, other models")
def c002_gap_published(reported_lbp_lengths: pd.DataFrame, published_lbp: pd.DataFrame) -> Verdict:
    """Scores by length of six of the seven matched models are not in the figure that Table 3 is read from.

    Judged like `c001_gap_missing` in document 001: by what the study lacked, not by what was published.
    """
    scores = reported_lbp_lengths[reported_lbp_lengths["metric"] == "lbp"]
    absent_scores = scores[scores["low"].isna()]
    published_scores = absent_scores.merge(rows_where(published_lbp, mode="nonthinking"), on=["model", "length"])
    model_count, open_count = scores["model"].nunique(), absent_scores["model"].nunique()
    return judge(
        open_count == model_count - 1,
        f"Table 3 lacks the scores of {open_count} of {model_count} models. They were published elsewhere: of the "
        f"{len(absent_scores)} cells the benchmark's own summaries fill {len(published_scores)}.",
        reported="not in Figure 7",
        recomputed=f"{open_count} of {model_count} models",
        n=model_count,
    )


@claim("002, Instructions: Option A")
def c002_option_a(published_facts: pd.DataFrame) -> list[Verdict]:
    """The benchmark's repository is THUDM/LongBench, and each sample carries a field for its length bucket."""
    repository = printed_text(published_facts, fact="lbp_repository")
    field = printed_text(published_facts, fact="lbp_length_field")
    return [
        judge(
            repository == "THUDM/LongBench",
            f"LongBench Pro and its results are in {repository}; the repository named holds other benchmarks.",
            reported="THUDM/LongBench",
            recomputed=repository,
            key="repository",
            statement="The scores by length come from the repository THUDM/LongBench.",
        ),
        judge(
            field == "length_bucket",
            f"The field that holds the length is called {field}.",
            reported="length_bucket",
            recomputed=field,
            key="field",
            statement="Each sample carries its length in the field length_bucket.",
        ),
    ]


@claim("002, Instructions: Option A")
def c002_option_a_lengths(stated_002: pd.DataFrame, published_lbp: pd.DataFrame) -> Verdict:
    """Samples come in six lengths, 8K, 16K, 32K, 64K, 128K and 256K."""
    rows = stated_002[stated_002["statement"].str.startswith("instructions_lengths_")]
    printed_lengths = [length.lower() for length in rows["printed"]]
    lengths = [length for length in dict.fromkeys(published_lbp["length"]) if length != "overall"]
    questions = published_lbp.loc[published_lbp["length"] != "overall", "questions"].unique()
    return judge(
        printed_lengths == lengths,
        f"The published summaries have {', '.join(lengths)}, with {', '.join(str(count) for count in questions)} "
        "questions each.",
        reported=", ".join(rows["printed"]),
        recomputed=", ".join(lengths),
        n=len(lengths),
    )


@claim("002, Instructions: Option B")
def c002_option_b_protocol(stated_002: pd.DataFrame, published_facts: pd.DataFrame) -> list[Verdict]:
    """Without thinking, the benchmark allows 1K new tokens and truncates in the middle."""
    budget = quote(published_facts, fact="lbp_output_budget")
    truncation = printed_text(published_facts, fact="lbp_truncation")
    dataset = printed_text(published_facts, fact="lbp_dataset")
    return [
        compare(
            quote(stated_002, statement="instructions_output_budget"),
            budget.number,
            reason=f"The authors give {budget.printed}.",
            places=0,
            key="budget",
            statement="The output budget without thinking is 1K tokens.",
        ),
        judge(
            truncation == "middle",
            f"The authors truncate in the {truncation}.",
            reported="middle",
            recomputed=truncation,
            key="truncation",
            statement="Inputs are truncated in the middle.",
        ),
        judge(
            dataset == "caskcsg/LongBench-Pro",
            f"The data card is {dataset}.",
            reported="caskcsg/LongBench-Pro",
            recomputed=dataset,
            key="dataset",
            statement="The data set is caskcsg/LongBench-Pro.",
        ),
    ]


@claim("002, Instructions: Option B")
def c002_option_b_models(stated_002: pd.DataFrame, reported_lbp_lengths: pd.DataFrame) -> list[Verdict]:
    """Six models are to be run, and the authors are to be asked for scores of seven."""
    scores = reported_lbp_lengths[reported_lbp_lengths["metric"] == "lbp"]
    counts = {"to_run": scores.loc[scores["low"].isna(), "model"].nunique(), "to_ask_for": scores["model"].nunique()}
    reasons = {
        "to_run": "Table 3 lacks the scores of this many models.",
        "to_ask_for": "Table 3 has this many models; Ministral-3-14B has scores with thinking only.",
    }
    return [
        count_check(stated_002, f"instructions_models_{key}", count, reasons[key], key=key, kind="statement")
        for key, count in counts.items()
    ]


@claim("002, Instructions: Option B")
def c002_option_b_memory(stated_002: pd.DataFrame, inference_memory: pd.DataFrame) -> Iterator[Verdict]:
    """The models need about 7, 7, 9, 17, 17 and 30 GB of GPU memory."""
    for _, row in stated_002[stated_002["statement"].str.startswith(MEMORY)].iterrows():
        memory = pick(inference_memory, model=row["model"])
        yield judge(
            bool(memory["total_gb"] <= row["as_number"]),
            f"The weights take {memory['weights_gb']:.0f} GB at 16 bits, and the key-value cache of one input of 128K "
            f"tokens {memory['cache_gb']:.0f} GB more.",
            otherwise="not supported",
            reported=str(row["printed"]),
            recomputed=f"{memory['total_gb']:.0f} GB",
            key=str(row["model"]),
            statement=f"{memory['display_name']} needs {row['printed']} of GPU memory.",
        )


@claim("002, Instructions: Option B")
def c002_option_b_order(stated_002: pd.DataFrame, inference_memory: pd.DataFrame) -> Verdict:
    """The models are listed in order of the memory they need."""
    rows = stated_002[stated_002["statement"].str.startswith(MEMORY)]
    memory_needs = rows.merge(inference_memory, on="model").sort_values("as_number", kind="stable")
    highest = memory_needs.groupby("as_number")["total_gb"].max()
    lowest = memory_needs.groupby("as_number")["total_gb"].min()
    is_ordered = all(lowest.iloc[index + 1] >= highest.iloc[index] for index in range(len(highest) - 1))
    return judge(
        is_ordered,
        f"With the cache {'no model needs' if is_ordered else 'a model needs'} less than one listed with a smaller "
        "number: "
        + ", ".join(
            f"{name} {total:.0f} GB"
            for name, total in zip(memory_needs["display_name"], memory_needs["total_gb"], strict=True)
        )
        + ".",
        n=len(memory_needs),
    )


@claim("002, Instructions: Option B")
def c002_option_b_hours(stated_002: pd.DataFrame) -> Verdict:
    """The runs take about 12 to 24 GPU hours on an A100."""
    return untestable(
        "A timed run of one model over the 1,500 samples on that device would decide; none is among the sources.",
        reported=printed_text(stated_002, statement="instructions_gpu_hours"),
    )
