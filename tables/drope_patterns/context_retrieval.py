"""Passkey retrieval over context length, one group per protocol."""

import pandas as pd

from boundpaper.store.frames import pick
from boundpaper.tables import Column, Table, fixed, integer, pvalue

NAMES = {"lengths": "Lengths", "errors": "Error analysis", "formats": "Prompt formats"}
FORMATS = {"single": "single", "ruler": "RULER", "simple": "simple"}


def table(context_cells: pd.DataFrame, context_tests: pd.DataFrame) -> Table:
    """Return one row per protocol, context and format."""
    rows = []
    for (protocol, context, prompt), cells in context_cells.groupby(["protocol", "context", "format"], sort=False):
        models = cells.set_index("positional")
        facts = models.loc["RoPE"]
        row = {
            "group": (
                f"{NAMES[str(protocol)]} ({facts['section']}): {facts['trials']} trials per cell, {facts['precision']}"
            ),
            "context": context,
            "multiple": facts["multiple"],
            "format": FORMATS[str(prompt)],
            "digits": facts["digits"],
        }
        for name, model in (("rope", "RoPE"), ("drope", "DroPE")):
            row |= {f"{name}_{field}": models[field][model] for field in ("share", "ci_low", "ci_high")}
        name = f"{protocol}, {context}, {prompt}"
        tests = context_tests[(context_tests["study"] == "models") & (context_tests["comparison"] == name)]
        if len(tests):
            row |= {"p": tests["p_value"].iloc[0], "holm": tests["p_adjusted"].iloc[0]}
        rows.append(row)
    contrast = pick(context_tests, study="protocols", comparison="8192: lengths against errors")
    family = int((context_tests["study"] == "models").sum())
    not_given = "The report says that it varies."
    return Table(
        rows=pd.DataFrame(rows),
        columns=[
            Column("context", "Context", integer(), unit="tokens"),
            Column("multiple", "Multiple", fixed(2)),
            Column("format", "Prompt"),
            Column("digits", "Digits", integer()),
            Column("rope_share", "RoPE, %", fixed(0), ci=("rope_ci_low", "rope_ci_high")),
            Column("drope_share", "DroPE, %", fixed(0), ci=("drope_ci_low", "drope_ci_high"), missing=not_given),
            Column("p", "Fisher $p$", pvalue(), missing=not_given),
            Column("holm", "Holm $p$", pvalue(), missing=not_given),
        ],
        groups="group",
        space=0,
        caption=(
            "Passkey retrieval of both models by context length, by protocol of Section 11 of the report: "
            "accuracy with 95 % Wilson interval [@africa2026]. Unit: trial, unseeded; "
            "multiples are of the training length; single: the protocol has one prompt."
        ),
        short="Passkey retrieval by context length",
        note=(
            f"RoPE against DroPE: Fisher's exact test, Holm over {family} cells. For DroPE at 8192 tokens the first "
            f"two protocols differ by {100 * contrast['estimate']:.0f} points (Fisher, Holm over three $p = "
            f"{contrast['p_adjusted']:.4f}$). For RoPE one printed value stands for both prompt formats, and for all "
            "lengths up to training in the error analysis."
        ),
    )
