"""Experiments 1-9 on the tiny pair, beside what the report reports of Llama-2-7B, never in one column."""

import pandas as pd

from artifacts.typeset.numbers import fixed as fixed_number
from tables import Column, Table

EXPERIMENTS = {
    1: "massive values",
    2: "disruption",
    3: "knowledge",
    4: "sinks and the first token's norm",
    5: "the first token's value",
    6: "layer ablation",
    7: "attention patterns",
    8: "content of layer 1",
    9: "balance across layers",
}
SIDES = ("rope", "drope")


def table(lab_experiments: pd.DataFrame, lab_directions: pd.DataFrame, sink_summary: pd.DataFrame) -> Table:
    """One row a quantity: reported, measured with the range over seeds, difference with interval, direction."""
    counts = lab_directions.set_index("what")["count"]
    even = sink_summary.set_index("quantity")["value"]
    rows = pd.DataFrame([_shown(row) for _, row in lab_experiments.iterrows()])
    measured = "measured"
    return Table(
        rows=rows,
        columns=[
            Column("label", "Quantity", width=0.37),
            Column("unit", "Unit"),
            Column("place", "Section", reason="unreported", group="Llama-2-7B, reported"),
            Column("reported_rope", "RoPE", align="right", group="Llama-2-7B, reported", reason="unreported"),
            Column(
                "reported_drope",
                "DroPE",
                align="right",
                group="Llama-2-7B, reported",
                mark="caveat",
                reason="unreported",
            ),
            Column("rope", "RoPE", align="right", group="tiny pair, measured", title_mark=measured, reason="absent"),
            Column("drope", "DroPE", align="right", group="tiny pair, measured", title_mark=measured, reason="absent"),
            Column(
                "difference",
                "DroPE\nless RoPE",
                align="right",
                group="tiny pair, measured",
                title_mark=measured,
                reason="absent",
            ),
            Column("appears", "Reported\ndirection"),
        ],
        groups="heading",
        long=True,
        landscape=True,
        marks={
            measured: "Measured by this project on two small models that it trained on a synthetic language.",
            "layer": "Ablated in layer 2, which does not write the spike of that model.",
        },
        caption=(
            f"Headline quantities of experiments 1 to 9: {counts['reported']} that the report reports of Llama-2-7B "
            f"[@africa2026], and all {counts['quantities']} measured here on the tiny pair. Unit: one training seed, "
            f"n = {counts['seeds']} a model. Measured: mean over seeds, in brackets the least and the most; the "
            "difference is paired by seed, in brackets its 95 % interval."
        ),
        short="Experiments 1 to 9, reported and measured on the tiny pair",
        note=(
            "Reported direction: the sign of DroPE less RoPE in the report. *yes*, it appears: the interval of the "
            "measured difference (Student's t over seeds, not corrected for the number of rows) lies on that side of "
            "zero; *opposite*, on the other; *no*, it holds zero, so that seeds do not decide; *not measurable* at "
            "this size: fewer than two seeds have the quantity in both models, or it is zero in all; *no direction*: "
            "the reported values are equal, or the test on their spread does not tell them apart. Losses are in nats "
            "a token, the reported ones from ratios of perplexities.",
            "Section: of the report, with the layers that it publishes; disruption is the mean over its text sets, the "
            "ratio of norms the largest of its Figure 14. Its prompts for sinks are so short "
            f"that even attention gives the first token {100 * even['even_score_longest']:.0f} to "
            f"{100 * even['even_score_shortest']:.0f} %; texts, lengths and layers differ between the two sides of "
            "this table, so that only directions are compared.",
        ),
    )


def _shown(row: pd.Series) -> dict[str, object]:
    """Format a quantity's numbers to its own number of decimals."""
    number = fixed_number(int(row["digits"]))

    def text(value: float) -> str:
        return number.show(value, "plain").replace("-", "\N{MINUS SIGN}")

    def ranged(name: str, low: str, high: str) -> str:
        if pd.isna(row[name]):
            return ""
        ends = [row[f"{name}_{low}"], row[f"{name}_{high}"]]
        if any(pd.isna(end) for end in ends):
            return text(row[name])
        return f"{text(row[name])} [{text(ends[0])}, {text(ends[1])}]"

    shown: dict[str, object] = {
        "heading": f"{int(row['experiment'])}: {EXPERIMENTS[int(row['experiment'])]}",
        "label": row["label"],
        "unit": {"percent": "%", "nats a token": "nats", "dimensions": "count"}.get(row["unit"], row["unit"]),
        "place": str(row["place"]).removeprefix("004 ").split(" T")[0],
        "unreported": _sentence(row["unreported"]),
        "absent": _sentence(row["absent"]) or _sentence(row["note"]),
        "caveat": "layer" if row["caveat"] else "",
        "appears": row["appears"],
    }
    for side in SIDES:
        reported = row[f"reported_{side}"]
        shown[f"reported_{side}"] = "" if pd.isna(reported) else text(reported)
        shown[side] = ranged(side, "least", "most")
    shown["difference"] = ranged("difference", "low", "high")
    return shown


def _sentence(words: str) -> str:
    """Begin a footnote with a capital."""
    return words[:1].upper() + words[1:]
