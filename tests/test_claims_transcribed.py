"""Every transcribed number that a source states is judged: changed by one digit, it moves a row of the ledger."""

import importlib
import re
from collections import defaultdict

import pytest

from analysis.claims import _judge
from claims_memory import Memory, edited, function, graph, measured, source

TABLES = ("drope_stated", "drope_captions", "stated_001", "stated_002", "nope_stated", "delta_p_stated")
NUMBER = re.compile(r"(?<![\d.e⁻⁰¹²³⁴⁵⁶⁷⁸⁹])(?<!e[-+])\d[\d,]*(?:\.\d+)?")

# Numbers that nothing here can judge, each with the reason.
LEFT = {
    "drope_stated": {},
    "drope_captions": {},
    "stated_001": {},
    "stated_002": {},
    "nope_stated": {},
    "delta_p_stated": {},
}


def changed(text):
    """The text with each of its numbers one larger in its first digit that is not zero, so that ranges stay ranges."""

    def larger(number):
        digits = number[0]
        place = next((at for at, digit in enumerate(digits) if digit in "123456789"), len(digits) - 1)
        return f"{digits[:place]}{int(digits[place]) + 1}{digits[place + 1 :]}"

    return NUMBER.sub(larger, text)


@pytest.fixture(scope="module")
def read():
    """Which rows of the tables each claim picks, found by calling it on frames whose rows know their number."""
    found = defaultdict(set)
    steps = [step for step in graph().steps.values() if step.kind.name == "claim" and set(step.artifacts) & set(TABLES)]
    modules = {importlib.import_module(step.file.removesuffix(".py").replace("/", ".")) for step in steps}
    now = []

    def pick(frame, **where):
        row = original(frame, **where)
        if "_row" in row:
            found[row["_row"]].add(now[-1].name)
        return row

    original = _judge.pick
    memory = Memory({})
    with pytest.MonkeyPatch.context() as patch:
        for module in [*(module for module in modules if hasattr(module, "pick")), _judge]:
            patch.setattr(module, "pick", pick)
        patch.setattr("analysis.claims._cells.pick", pick)
        for step in steps:
            frames = {name: memory.frame(name) for name in step.artifacts}
            for name in set(TABLES) & set(frames):
                frames[name]["_row"] = [f"{name}:{row}" for row in range(len(frames[name]))]
            now.append(step)
            function(step)(**frames)
    return found, memory


def misprinted(name, rows):
    """The table with the numbers of some rows changed."""

    def change(table):
        texts = [changed(str(text)) if row in rows else text for row, text in enumerate(table["printed"])]
        return table.assign(printed=texts)

    return edited(name, change)


@pytest.mark.parametrize("name", TABLES)
def test_each_stated_number_moves_a_row_when_it_is_misprinted(name, read):
    picked, memory = read
    frame = source(name)
    base = Memory({name: frame})
    base.frames.update({key: value for key, value in memory.frames.items() if not base.affected(key)})
    direct = base.claims(direct=True)
    through = [step for step in base.claims() if step not in direct and not any(map(measured, step.artifacts))]
    before = base.rows([*direct, *through])

    def moves(rows, steps):
        spoilt = Memory({name: misprinted(name, rows)})
        spoilt.frames.update({key: value for key, value in base.frames.items() if not spoilt.affected(key)})
        return any(verdict != before.get(claim) for claim, verdict in spoilt.rows(steps).items())

    def dead_of(rows):
        """Those of some rows that move nothing, by halves: where all together move nothing, each one does not."""
        if not rows or not moves(rows, [*direct, *through]):
            return rows
        half = len(rows) // 2
        return [] if not half else [*dead_of(rows[:half]), *dead_of(rows[half:])]

    numbers = [row for row in range(len(frame)) if changed(str(frame.at[row, "printed"])) != frame.at[row, "printed"]]
    known = [row for row in numbers if picked.get(f"{name}:{row}")]
    dead = [row for row in known if not moves([row], [step for step in direct if step.name in picked[f"{name}:{row}"]])]
    dead += dead_of([row for row in numbers if row not in known])
    found = {str(frame.at[row, "statement"]) for row in dead}
    assert found == set(LEFT[name]), sorted(found ^ set(LEFT[name]))
