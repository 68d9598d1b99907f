"""Document 004, Experiment 10: claims on passkey retrieval within and beyond the training length."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims._shared import numbers_of, rows_where
from boundpaper.claims import Artifact, Repeats, Verdict, claim, compare, judge, pick, quote, untestable
from boundpaper.claims.relations import Cells, Relation
from boundpaper.claims.words import of_trials, p

ERRORS, LENGTHS = "errors", "lengths"
MULTIPLES = Artifact("drope_context_multiples")
ACCURACIES = Artifact("drope_context", "the table of section 11.2")
TRAINING_LENGTH = Artifact("models").value("claimed_context", model="llama2-7b-rope")


@claim("004, 11.1 The Critical Distinction")
def c004_ctx_contexts(drope_stated: pd.DataFrame, context_cells: pd.DataFrame) -> Verdict:
    """Retrieval was tested over the full range, from 512 to 8192 tokens."""
    shortest = quote(drope_stated, statement="s11_1_within_contexts").interval.low + 0.5
    lengths = sorted(set(context_cells["context"]))
    return judge(
        lengths[0] <= shortest,
        f"Results are printed at {', '.join(map(str, lengths))} tokens; none at {shortest:.0f}.",
        otherwise="not supported",
        reported=quote(drope_stated, statement="s11_1_within_contexts").printed,
        recomputed=f"from {lengths[0]}",
    )


@claim("004, 11.1 The Critical Distinction")
def c004_ctx_training_length(drope_stated: pd.DataFrame, models: pd.DataFrame) -> Verdict:
    """The base model was trained at 4096 tokens."""
    row = pick(models, model="llama2-7b-rope")
    return compare(
        quote(drope_stated, statement="s11_1_training_length"),
        float(row["claimed_context"]),
        reason=f"The configuration of {row['display_name']} has {int(row['claimed_context'])} positions.",
        places=0,
    )


c004_ctx_multiples = Cells(
    "The multiples are the context over the training length.",
    "004, 11.2 Results, context table",
    Relation(
        each=MULTIPLES.rows("context", "printed"),
        cell=MULTIPLES(context="{context}"),
        follows=MULTIPLES.value("context", context="{context}") / TRAINING_LENGTH,
        because="{context} / {1:.0f}.",
        key="{context}",
        says="{context} tokens are {printed} of the training length.",
    ),
)


@claim("004, 11.3 The Crossover")
def c004_ctx_rope_collapses(context_cells: pd.DataFrame) -> Verdict:
    """RoPE falls from perfect retrieval within the training length to none beyond it."""
    rope = context_cells[context_cells["positional"] == "RoPE"]
    within_rows, beyond_rows = rope[~rope["beyond"].astype(bool)], rope[rope["beyond"].astype(bool)]
    sums = [f"{int(rows['correct'].sum())} of {int(rows['trials'].sum())}" for rows in (within_rows, beyond_rows)]
    return judge(
        bool((within_rows["share"] == 100).all() and (beyond_rows["share"] == 0).all()),
        f"{sums[0]} right within, {sums[1]} beyond, over three protocols; single intervals leave "
        f"{within_rows['ci_low'].min():.0f} % within and {beyond_rows['ci_high'].max():.0f} % beyond.",
        recomputed=" and ".join(sums),
        n=len(rope),
    )


@claim("004, 11.3 The Crossover")
def c004_ctx_cliff(context_cells: pd.DataFrame) -> Verdict:
    """RoPE's fall comes at the training boundary and is no gradual one."""
    rope = context_cells[context_cells["positional"] == "RoPE"]
    within, past = (rope[rope["beyond"].astype(bool) == beyond]["multiple"] for beyond in (False, True))
    return judge(
        past.min() - within.max() <= 0.1,
        f"No length between {within.max():.1f} and {past.min():.1f} times the training length was tested, so where and "
        "how steeply accuracy falls is not known.",
        otherwise="not supported",
        recomputed=float(past.min()),
    )


@claim("004, 11.3 The Crossover")
def c004_ctx_drope_no_cliff(context_cells: pd.DataFrame) -> Verdict:
    """DroPE, unlike RoPE, has no sudden fall at the training boundary."""
    rows = rows_where(context_cells, protocol=ERRORS, positional="DroPE")
    at_2k, at_4k = (pick(rows, context=context) for context in (2048, 4096))
    return judge(
        at_4k["ci_high"] >= at_2k["share"],
        f"With twenty trials DroPE has {of_trials(at_2k)} at {at_2k['context']} tokens and {of_trials(at_4k)} at "
        f"{at_4k['context']}"
        + (": it fails at the boundary already." if at_4k["ci_high"] < at_2k["share"] else ", which may be as many."),
        recomputed=float(at_4k["share"]),
        n=int(at_4k["trials"]),
    )


@claim("004, 11.3 The Crossover")
def c004_ctx_drope_twice(drope_stated: pd.DataFrame, context_cells: pd.DataFrame) -> Verdict:
    """DroPE's accuracy at twice the training length is still 80 to 100 %."""
    rows = rows_where(context_cells, positional="DroPE", multiple=2)
    first, second = (pick(rows, protocol=protocol) for protocol in (LENGTHS, ERRORS))
    reported = quote(drope_stated, statement="s11_3_drope_beyond")
    return judge(
        bool((rows["share"] >= 80).all()),
        f"At {first['context']} tokens one protocol has {of_trials(first)}, the other {of_trials(second)}: "
        f"{int((rows['share'] >= 80).sum())} of {len(rows)} reach 80 %.",
        reported=reported.printed,
        recomputed=f"{first['share']:.0f} and {second['share']:.0f} %",
        n=int(rows["trials"].sum()),
    )


@claim("004, 15 Publication Figures, Figure H; 14 Summary", failure="control")
def c004_ctx_same_protocols(
    drope_captions: pd.DataFrame, context_cells: pd.DataFrame, context_tests: pd.DataFrame
) -> Verdict:
    """DroPE retrieves 80 % of the passkeys at twice the training length."""
    test = pick(context_tests, study="protocols", comparison="8192: lengths against errors")
    rows = rows_where(context_cells, positional="DroPE", context=8192)
    first, second = (pick(rows, protocol=protocol) for protocol in (LENGTHS, ERRORS))
    return judge(
        test["p_adjusted"] > 0.05,
        f"Section 11.2 has {of_trials(first)}, section 11.5 {of_trials(second)} for the same model, length and number "
        f"of digits (Fisher, Holm {p(test['p_adjusted'])}): "
        + (
            "the two runs are not told apart"
            if test["p_adjusted"] > 0.05
            else "the two runs do not measure one accuracy"
        )
        + ", and neither is seeded.",
        otherwise="not supported",
        reported=quote(drope_captions, statement="fig_h_drope_accuracy").printed,
        recomputed=f"{first['share']:.0f} and {second['share']:.0f} %",
        **numbers_of(test, "n", "p_value", "p_adjusted", "ci"),
    )


@claim("004, 11.3 The Crossover")
def c004_ctx_confirms(drope_context: pd.DataFrame) -> Verdict:
    """The crossover confirms what the DroPE paper claims."""
    return untestable(
        f"The {len(drope_context)} cells rest on five trials each; the paper's own benchmarks and lengths, with its "
        "released recipe, would be needed."
    )


@claim("004, 11.3 The Crossover")
def c004_ctx_layer1_essential(drope_context: pd.DataFrame) -> Verdict:
    """The restructured layer 1 becomes essential beyond the training length."""
    longest = int(drope_context["context"].max())
    return untestable(
        f"No ablation was run at long context; ablating or rescaling layer 1 at {longest} tokens would decide it."
    )


@claim("004, 15 Publication Figures, Figure H")
def c004_ctx_figure_h(drope_figures: pd.DataFrame, context_cells: pd.DataFrame) -> Iterator[Verdict]:
    """Figure H draws the accuracies of section 11.2, and at 2048 tokens those of section 11.5."""
    for _, point in drope_figures[drope_figures["figure"] == "H"].iterrows():
        same_context = context_cells[
            (context_cells["positional"] == point["series"])
            & (context_cells["context"] == int(point["x"]))
            & context_cells["share"].notna()
        ]
        expected = LENGTHS if LENGTHS in set(same_context["protocol"]) else ERRORS
        row = pick(same_context, protocol=expected)
        yield compare(
            quote(drope_figures, figure="H", series=point["series"], x=point["x"]),
            float(row["share"]),
            reason=f"{str(row['section']).capitalize()} has {int(row['correct'])} of {row['trials']}"
            + (", section 11.2 no number." if expected == ERRORS and int(point["x"]) >= 4096 else "."),
            places=0,
            key=f"{point['series']}-{point['x']}",
            statement=f"Figure H draws the accuracy of {point['series']} at {point['x']} tokens.",
            kind="cell check",
        )


@claim("004, 15 Publication Figures, Figure H", failure="control")
def c004_ctx_figure_h_one_line(drope_figures: pd.DataFrame, context_cells: pd.DataFrame) -> Verdict:
    """The points of Figure H form one curve per model."""
    lengths = sorted({int(x) for x in drope_figures[drope_figures["figure"] == "H"]["x"]})
    complete_protocols = [
        str(name)
        for name, rows in context_cells.groupby("protocol")
        if set(lengths) <= set(rows[rows["share"].notna()]["context"])
    ]
    trials = {name: int(rows["trials"].iloc[0]) for name, rows in context_cells.groupby("protocol")}
    return judge(
        bool(complete_protocols),
        (
            f"All lengths {', '.join(map(str, lengths))} are of one protocol ({' or '.join(complete_protocols)}).",
            f"No protocol has all lengths {', '.join(map(str, lengths))}: the line joins cells of {trials[ERRORS]} "
            f"trials (2048) with cells of {trials[LENGTHS]}, and at 4096 a point for which no table has a number.",
        ),
        otherwise="not supported",
        n=len(lengths),
    )


@claim("004, 15 Publication Figures, Figure H")
def c004_ctx_figure_h_boundary(drope_figure_axes: pd.DataFrame, models: pd.DataFrame) -> Verdict:
    """Figure H marks the training boundary at the training length."""
    return compare(
        quote(drope_figure_axes, figure="H", element="training_boundary"),
        float(pick(models, model="llama2-7b-rope")["claimed_context"]),
        reason="The configuration of the base model.",
        places=0,
        kind="cell check",
    )


c004_ctx_restated = Cells(
    "The prose and captions repeat accuracies and multiples of the table.",
    "004, 11.3 The Crossover, 11.4 Investigating Failure Modes, Figure H",
    Repeats(
        Artifact("drope_stated"),
        {
            "s11_3_rope_within": ACCURACIES(positional="RoPE", context=4096),
            "s11_3_rope_beyond": ACCURACIES(positional="RoPE", context=8192),
            "s11_4_drope_copy": ACCURACIES(positional="DroPE", context=8192).by("c004_ctx_same_protocols"),
        },
    ),
)
