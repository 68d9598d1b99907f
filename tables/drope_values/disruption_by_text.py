"""Disruption of massive dimensions per text set: printed increases, and increases of the published perplexities."""

import pandas as pd

from analysis.vocabulary import PAIR
from boundpaper.tables import Column, Table, fixed, integer, printed, significant
from boundpaper.typeset.wording import listed

CLOSE = 0.05  # relative difference below which values agree


def table(
    disruption_by_text: pd.DataFrame, disruption_ratios: pd.DataFrame, drope_disruption_texts_reported: pd.DataFrame
) -> Table:
    """Return one row per text set: printed and published increases of both models, their ratio and difference."""
    cells = drope_disruption_texts_reported.set_index(["text", "positional"])["printed"]
    published_rows = disruption_by_text.set_index(["text", "positional"])
    rows = []
    for _, ratio in disruption_ratios.iterrows():
        row = {"text": ratio["text"], "mark": ""}
        for model in PAIR:
            cell = published_rows.loc[(ratio["text"], model)]
            row |= {
                f"printed_{model}": cells[(ratio["text"], model)],
                f"increase_{model}": cell["massive_increase"],
                f"nats_{model}": cell["massive_nats"],
            }
            if cell["selected"]:
                row["mark"] = "selected"
        row |= {"ratio": ratio["ratio_of_percentages"], "difference": ratio["difference_nats"]}
        row["ratio_nats"] = ratio["ratio_of_nats"]
        rows.append(row)
    sets = len(rows)
    times = disruption_by_text.groupby("text", sort=False)["times_printed"]
    agreeing = [str(text) for text, ratios in times if ((ratios - 1).abs() < CLOSE).all()]
    disagreeing = disruption_by_text[~disruption_by_text["text"].isin(agreeing)]["times_printed"]
    return Table(
        rows=pd.DataFrame(rows),
        columns=[
            Column("text", "Text set", mark="mark"),
            Column("printed_RoPE", "printed, %", printed(), group="RoPE"),
            Column("increase_RoPE", "published, %", integer(sign=True), group="RoPE"),
            Column("nats_RoPE", "nats", fixed(2), group="RoPE"),
            Column("printed_DroPE", "printed, %", printed(), group="DroPE"),
            Column("increase_DroPE", "published, %", integer(sign=True), group="DroPE"),
            Column("nats_DroPE", "nats", fixed(2), group="DroPE"),
            Column("ratio", "of %", significant(2), group="RoPE over DroPE"),
            Column("ratio_nats", "of nats", fixed(2), group="RoPE over DroPE"),
            Column("difference", "RoPE minus\nDroPE, nats", fixed(2)),
        ],
        marks={"selected": "The massive dimensions were chosen on this set."},
        caption=(
            f"Increase of perplexity with massive dimensions zeroed on {sets} text sets: the percentages of the "
            "report's Section 3.3 and those of the perplexities published with it, also as differences of "
            "log-perplexity in nats [@africa2026]. Unit: text set."
        ),
        short="Disruption of massive dimensions by text set",
        note=(
            "One perplexity per model and text set. Printed and published percentages agree within "
            f"{100 * CLOSE:.0f} % for the set: {listed(agreeing)}; for the others the published increase is "
            f"{disagreeing.min():.1f} to {disagreeing.max():.1f} times the printed one."
        ),
    )
