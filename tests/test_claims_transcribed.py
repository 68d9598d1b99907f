"""Every number in the summary of document 004 is judged: a changed number changes a verdict."""

import re

import pytest

from claims_memory import Memory, edited, graph, source

NUMBER = re.compile(r"(?<![\d.e⁻⁰¹²³⁴⁵⁶⁷⁸⁹])(?<!e[-+])\d[\d,]*(?:\.\d+)?")
SUMMARY = "analysis/claims/s004/summary.py"


def changed(text):
    """Return the text with the first nonzero digit of each number raised by two; a range stays a range."""

    def larger(number):
        digits = number[0]
        place = next((at for at, digit in enumerate(digits) if digit in "123456789"), len(digits) - 1)
        return f"{digits[:place]}{int(digits[place]) + 2}{digits[place + 1 :]}"

    return NUMBER.sub(larger, text)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("94.3%", "114.3%"), ("0%", "2%"), ("0.9%", "0.11%"), ("30-80%", "50-100%"), ("80-100%", "100-300%"),
        ("0-1", "2-3"), ("−39%", "−59%"), ("1249×", "3249×"), ("ALL", "ALL"),
    ],
)  # fmt: skip
def test_a_misprint_changes_the_numbers_of_a_text(text, other):
    assert changed(text) == other


def test_each_misprinted_summary_number_changes_a_verdict():
    steps = [step for step in graph().steps.values() if step.kind.name == "claim" and step.file == SUMMARY]
    frame = source("drope_stated")
    base = Memory({})
    good = {claim: row["verdict"] for claim, row in base.rows(steps).items()}
    assert {verdict for claim, verdict in good.items() if "." in claim} <= {"holds", "holds after rounding"}
    numbers = [
        row
        for row, (statement, text) in enumerate(zip(frame["statement"], frame["printed"], strict=True))
        if statement.startswith("s12_1_") and changed(text) != text
    ]
    assert len(numbers) > 40
    texts = [changed(text) if row in numbers else text for row, text in enumerate(frame["printed"])]
    spoilt = Memory({"drope_stated": edited("drope_stated", lambda table: table.assign(printed=texts))})
    spoilt.frames.update({name: frame for name, frame in base.frames.items() if not spoilt.affected(name)})
    judged = {claim.partition(".")[2]: row["verdict"] for claim, row in spoilt.rows(steps).items() if "." in claim}
    single = {"s12_1_rewired_layers": "c004_sum_rewired", "s12_1_discrimination": "c004_sum_discrimination"}
    alone = spoilt.rows([step for step in steps if step.name in single.values()])
    judged |= {statement: alone[claim]["verdict"] for statement, claim in single.items()}
    quiet = [frame.at[row, "statement"] for row in numbers if judged.get(frame.at[row, "statement"]) != "contradicted"]
    assert quiet == []
