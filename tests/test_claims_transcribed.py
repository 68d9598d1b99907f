"""Every transcribed number that a source states is judged: changed by one digit, it moves a row of the ledger."""

import importlib
import re
from collections import defaultdict

import pytest

from analysis.claims import _judge
from claims_memory import Memory, edited, function, graph, measured, source

TABLES = ("drope_stated", "drope_captions", "stated_001", "stated_002", "nope_stated", "delta_p_stated")
OTHER = str.maketrans("0123456789", "7898912134")

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
    """The text with the first digit of each of its numbers replaced by another one."""
    return re.sub(r"(?<![\d.,⁻⁰¹²³⁴⁵⁶⁷⁸⁹])\d", lambda digit: digit[0].translate(OTHER), text)


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


@pytest.mark.parametrize("name", TABLES)
def test_each_stated_number_moves_a_row_when_it_is_misprinted(name, read):
    picked, memory = read
    frame = source(name)
    base = Memory({name: frame})
    base.frames.update({key: value for key, value in memory.frames.items() if not base.affected(key)})
    direct = base.claims(direct=True)
    through = [step for step in base.claims() if step not in direct and not any(map(measured, step.artifacts))]
    before = base.rows([*direct, *through])
    dead = []
    for row in range(len(frame)):
        text = str(frame.at[row, "printed"])
        if changed(text) == text:
            continue

        def misprint(table, row=row, text=text):
            return table.assign(
                printed=[changed(text) if each == row else cell for each, cell in enumerate(table["printed"])]
            )

        spoilt = Memory({name: edited(name, misprint)})
        spoilt.frames.update({key: value for key, value in base.frames.items() if not spoilt.affected(key)})
        known = picked.get(f"{name}:{row}", ())
        trials = [[step for step in direct if step.name in known]] if known else [direct, through]
        if not any(verdict != before.get(claim) for steps in trials for claim, verdict in spoilt.rows(steps).items()):
            dead.append(frame.at[row, "statement"])
    assert set(dead) == set(LEFT[name]), sorted(set(dead) ^ set(LEFT[name]))
