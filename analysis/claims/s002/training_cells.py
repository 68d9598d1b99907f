"""Document 002 on SmolLM3: checks of derived columns, and of prose that repeats a table."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims._checkpoints import ANNEALED, FIRST, LAST, ONSET
from analysis.claims._shared import cell_check
from analysis.claims._training import captured_windows
from boundpaper.claims import Artifact, Cells, Relation, Verdict, claim, compare, pick, quote

STATED = Artifact("stated_002")
CHECKPOINTS = Artifact("reported_training")
TRAJECTORY = Artifact("training_trajectory")
REPEATED = (  # statement, and the checkpoint and metric of the cell that it repeats
    ("phase1_bias_from", FIRST, "bias_strength"),
    ("phase1_bias_to", ANNEALED, "bias_strength"),
    ("phase1_overall_from", FIRST, "ap_overall"),
    ("phase1_overall_to", ANNEALED, "ap_overall"),
    ("phase2_bias_from", ANNEALED, "bias_strength"),
    ("phase2_bias_to", ONSET, "bias_strength"),
    ("phase2_first_20_from", ANNEALED, "ap_first_20"),
    ("phase2_first_20_to", ONSET, "ap_first_20"),
    ("phase2_last_20", ONSET, "ap_last_20"),
    ("phase2_drop_from", ANNEALED, "ap_drop"),
    ("phase2_drop_to", ONSET, "ap_drop"),
    ("phase3_bias_from", ONSET, "bias_strength"),
    ("phase3_bias_to", LAST, "bias_strength"),
    ("cross_smollm3_drop", LAST, "ap_drop"),
    ("h4_first_20_from", ANNEALED, "ap_first_20"),
    ("h4_first_20_to", LAST, "ap_first_20"),
    ("h4_last_20", LAST, "ap_last_20"),
    ("h4_drop_from", ANNEALED, "ap_drop"),
    ("h4_drop_to", LAST, "ap_drop"),
    ("h6_pretraining_drop", ANNEALED, "ap_drop"),
    ("h6_extended_drop", LAST, "ap_drop"),
    ("h6_excess_minuend", LAST, "ap_drop"),
    ("h6_excess_subtrahend", ANNEALED, "ap_drop"),
)
POSITIONS = {
    "finding_near_positions": (FIRST, "first"),
    "finding_pretraining_positions": (FIRST, "last"),
    "finding_far_positions": (LAST, "last"),
    "candidate_content_positions": (LAST, "last"),
}
CONTEXTS = {
    "training_context_pretraining": FIRST,
    "training_context_first_extension": ONSET,
    "training_context_second_extension": LAST,
    "phase1_context": FIRST,
    "phase2_context_from": ANNEALED,
    "phase2_context_to": ONSET,
    "phase3_context_from": ONSET,
    "phase3_context_to": LAST,
    "h6_pretraining_context": ANNEALED,
    "h6_extended_context": LAST,
}


c002_training_drops = Cells(
    "In the table of checkpoints, ap_drop is ap_first_20 minus ap_last_20.",
    "002, Table 5",
    Relation(
        each=TRAJECTORY.rows("checkpoint", "display_name"),
        cell=CHECKPOINTS(checkpoint="{checkpoint}", metric="ap_drop"),
        follows=TRAJECTORY.value("ap_drop_recomputed", ("ap_drop_low", "ap_drop_high"), checkpoint="{checkpoint}"),
        because="{0.row[ap_first_20]:.3f} - {0.row[ap_last_20]:.3f} = {0:.3f}, give or take the rounding of both",
        places=3,
        key="{checkpoint}",
        says="The ap_drop of {display_name} is its ap_first_20 minus its ap_last_20.",
    ),
)


c002_training_repeated = Cells(
    "The prose on the phases of training and hypotheses H4 and H6 repeat the values of the table of checkpoints.",
    "002, Interpretation of Tables 5 to 7",
    Relation(
        each={"statement, checkpoint, metric": REPEATED},
        cell=STATED(statement="{statement}"),
        follows=CHECKPOINTS(checkpoint="{checkpoint}", metric="{metric}"),
        because="the table of checkpoints prints {0}",
        key="{statement}",
        says="The value given as {statement!w} is {metric} of {checkpoint}.",
    ),
)


@claim("002, Interpretation of Tables 5 to 7")
def c002_training_positions(stated_002: pd.DataFrame, reported_training_positions: pd.DataFrame) -> Iterator[Verdict]:
    """Positions in the critical finding are the last bin of a window, or run from its first bin to the end of a bin."""
    for statement, (checkpoint, end) in POSITIONS.items():
        row = pick(stated_002, statement=statement)
        bins = list(reported_training_positions.loc[reported_training_positions["checkpoint"] == checkpoint, "bin"])
        edges = [tuple(name.split("-")) for name in bins]
        bin_names = [bins[-1]] if end == "last" else [f"{edges[0][0]}-{high}" for _, high in edges]
        yield cell_check(
            str(row["printed"]).replace("–", "-") in bin_names,
            f"the bins of {checkpoint} run from {bins[0]} to {bins[-1]}",
            reported=str(row["printed"]),
            recomputed=bins[-1] if end == "last" else f"from {edges[0][0]} on",
            key=statement,
            statement=f"The {row['quantity']}: {row['printed']}.",
        )


@claim("002, SmolLM3-3B Training Dynamics")
def c002_training_windows(stated_002: pd.DataFrame, checkpoints: pd.DataFrame) -> Iterator[Verdict]:
    """The windows that the prose names are those of the checkpoints."""
    yield from captured_windows(stated_002, checkpoints, CONTEXTS)


@claim("002, Connection to Cross-Model Observations")
def c002_training_comparison_cells(
    reported_training_comparison: pd.DataFrame, reported_plasticity: pd.DataFrame, reported_training: pd.DataFrame
) -> Iterator[Verdict]:
    """The comparison of SmolLM3 with three models repeats their drops and biases from the tables."""
    for _, row in reported_training_comparison.iterrows():
        model, metric = str(row["model"]), str(row["metric"])
        if row["checkpoint"]:
            cell = quote(reported_training, checkpoint=row["checkpoint"], metric=metric)
        else:
            cell = quote(reported_plasticity, model=model, metric=metric)
        yield compare(
            quote(reported_training_comparison, model=model, metric=metric),
            cell.number,
            cell.interval,
            reason=f"the table it comes from prints {cell.printed}",
            places=cell.decimals,
            key=f"{model.replace('.', '')}-{metric}",
            statement=f"{metric} of {model} in the comparison is the one of its own table.",
            kind="cell check",
        )


c002_training_steps = Cells(
    "Pre-training is followed from step 40K to 4.72M, the first extension from its step 4K on.",
    "002, Interpretation of Tables 5 to 7",
    Relation(
        each={
            "statement, checkpoint": (
                ("phase1_steps_from", FIRST),
                ("phase1_steps_to", ANNEALED),
                ("phase2_steps", ONSET),
            )
        },
        cell=STATED(statement="{statement}"),
        follows=Artifact("checkpoints").value("steps_in_phase", checkpoint="{checkpoint}"),
        because="{checkpoint} is at step {0:,.0f}",
        places=0,
        key="{statement}",
        says="The list of checkpoints has one at the step that the text names, {checkpoint}.",
    ),
)
