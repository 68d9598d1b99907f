"""What the soak run takes for amiss: how a command on a damaged file ended."""

import json
import random
from pathlib import Path

import pytest

from tests.soak.commands import changed, judged

FILE = Path("artifacts/sources/beans.csv")


@pytest.mark.parametrize(
    ("code", "output", "errors", "outcome"),
    [
        (0, "ok\n", "", "accepted"),
        (0, "beans & nan & 3\n", "", "nan"),
        (0, "information, Nancy, infant\n", "", "accepted"),
        (1, "", "error: artifacts/sources/beans.csv:2: 'x' is no number\n", "told"),
        (1, "", "error: something went wrong\n", "unnamed"),
        (1, "", "Traceback (most recent call last):\n  File beans.csv\nKeyError: 'x'\n", "traceback"),
        (1, "", "table:beans: artifacts/store/reader.py:12: KeyError: 'beans'\n", "code line"),
        (1, "", "beans: KeyError: 1 (caching.py:677)\n", "code line"),
        (1, "", "tables/beans.py:9: KeyError: 'beans'\n", "told"),
        (-27, "", "", "hang"),
    ],
)
def test_how_a_command_ended(code, output, errors, outcome):
    found, why = judged(FILE, code, output, errors)
    assert found == outcome
    assert bool(why) == (outcome not in ("told", "accepted"))


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.csv"])
def test_each_seed_gives_one_change_and_the_same_again(tmp_path, name):
    (tmp_path / name).write_text(json.dumps({"a": [1, 2, {"b": "c"}], "d": None}) + "\n")
    one, same = (changed(tmp_path / name, random.Random(7)) for _ in range(2))
    assert one == same
    assert len({changed(tmp_path / name, random.Random(seed)) for seed in range(40)}) > 20
