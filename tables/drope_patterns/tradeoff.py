"""The trade-off in the report's summary, beside the values in the report's tables."""

import pandas as pd

from analysis.vocabulary import PAIR
from boundpaper.tables import Column, Table, sentences

ASPECTS = {
    "within_training_accuracy": "accuracy within the training length",
    "beyond_training_accuracy": "accuracy beyond it",
    "error_type_within": "errors within",
    "error_type_beyond": "errors beyond",
    "verification_ability": "verification",
    "prompt_sensitivity": "prompt sensitivity",
}


def table(
    drope_tradeoff: pd.DataFrame,
    context_cells: pd.DataFrame,
    context_tests: pd.DataFrame,
    ranking_tests: pd.DataFrame,
    error_shares: pd.DataFrame,
) -> Table:
    """Return one row per aspect of the trade-off."""
    cells = drope_tradeoff.set_index(["aspect", "positional"])["printed"]
    formats = context_tests[
        (context_tests["study"] == "formats") & (context_tests["comparison"] == "both contexts")
    ].iloc[0]
    ranking = ranking_tests.set_index("comparison")
    errors = error_shares[error_shares["positional"] == "DroPE"]
    trained = errors[(errors["context"] == 2048) & (errors["category"] == "off_by_one_length")].iloc[0]
    last = errors[errors["context"] == errors["context"].max()]
    in_tables = {
        "within_training_accuracy": _range_text(context_cells, beyond=False),
        "beyond_training_accuracy": _range_text(context_cells, beyond=True),
        "error_type_within": (
            f"one digit off in {trained['share']:.0f} % of the trials and {trained['share_of_errors']:.0f} % of the "
            "errors at 2048 tokens"
        ),
        "error_type_beyond": (
            f"{last['count'].sum()} of {last['trials'].iloc[0]} of wrong length at {last['context'].iloc[0]} tokens"
        ),
        "verification_ability": (
            f"DroPE {100 * ranking['estimate']['DroPE, all contexts']:.0f} % "
            f"({100 * ranking['ci_low']['DroPE, all contexts']:.0f} to "
            f"{100 * ranking['ci_high']['DroPE, all contexts']:.0f}) over all lengths"
        ),
        "prompt_sensitivity": (
            f"difference of {100 * formats['estimate']:.0f} points ({100 * formats['ci_low']:.0f} to "
            f"{100 * formats['ci_high']:.0f}) for DroPE, Holm p = {formats['p_adjusted']:.2f}"
        ),
    }
    rows = [
        {
            "aspect": name,
            "rope": cells.get((key, "RoPE"), "") or "not applicable",
            "drope": cells[(key, "DroPE")],
            "found": in_tables[key],
        }
        for key, name in ASPECTS.items()
    ]
    return Table(
        rows=pd.DataFrame(rows),
        columns=[
            Column("aspect", "Aspect", sentences, width=0.2),
            Column("rope", "RoPE", sentences, group="Printed", width=0.13),
            Column("drope", "DroPE", sentences, group="Printed", width=0.2),
            Column("found", "In the tables", sentences, width=0.32),
        ],
        caption=(
            "The trade-off of Section 11.8 of the report, beside what the tables of its Section 11 hold [@africa2026]. "
            "Ranges run over cells, intervals are 95 % ones. Unit: trial."
        ),
        short="The trade-off and the tables behind it",
        note=(
            f"Cells of {', '.join(map(str, sorted(set(context_cells['trials']))))} trials for accuracy, each protocol "
            "with prompts of its own."
        ),
    )


def _range_text(cells: pd.DataFrame, *, beyond: bool) -> str:
    rows = cells[(cells["beyond"].astype(bool) == beyond) & cells["share"].notna()]
    phrases = []
    for model in PAIR:
        shares = rows[rows["positional"] == model]["share"]
        text = f"{shares.min():.0f}" if shares.nunique() == 1 else f"{shares.min():.0f} to {shares.max():.0f}"
        phrases.append(f"{model} {text} % in {len(shares)} cells")
    return ", ".join(phrases)
