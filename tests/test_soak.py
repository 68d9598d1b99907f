"""The machinery of the soak tests: detected faults, seeded damage, and forked commands that act like new processes."""

import json
import os
import random
import signal
import struct
import sys
from pathlib import Path

import pytest

from soak.commands import judged
from soak.damage import broken, changed
from soak.forks import Ended, Forks

FILE = Path("artifacts/sources/beans.csv")


@pytest.mark.parametrize(
    ("code", "output", "errors", "outcome"),
    [
        (0, "ok\n", "", "accepted"), (0, "beans & nan & 3\n", "", "nan"),
        (0, "information, Nancy, infant\n", "", "accepted"),
        (1, "", "error: artifacts/sources/beans.csv:2: 'x' is not a number\n", "told"),
        (1, "", "error: something went wrong\n", "unnamed"),
        (1, "", "error: beans.csv: odd\n" + "more of it\n" * 9, "long"),
        (1, "", f"error: beans.csv: {'x' * 2000}\n", "long"),
        (0, "", "lib/x.py:3: FutureWarning: soon\n", "warning"), (3, "", "error: beans.csv: odd\n", "status"),
        (1, "", "Traceback (most recent call last):\n  File beans.csv\nKeyError: 'x'\n", "traceback"),
        (1, "", "table:beans: packages/boundpaper/src/boundpaper/store/reader.py:12: KeyError: 'beans'\n", "code line"),
        (1, "", "beans: KeyError: 1 (caching.py:677)\n", "code line"),
        (1, "", "tables/beans.py:9: KeyError: 'beans'\n", "told"), (-27, "", "", "hang"),
    ],
)  # fmt: skip
def test_command_outcome_is_classified(code, output, errors, outcome):
    actual, why = judged(FILE, ("beans",), Ended(code, output, errors, 0.1, 0))
    assert actual == outcome
    assert bool(why) == (outcome not in ("told", "accepted"))


def test_process_that_outlives_its_command_is_reported():
    assert judged(FILE, ("beans",), Ended(0, "", "", 0.1, 2))[0] == "left"


CONTENTS = {
    "a.json": json.dumps({"a": [1, 2, {"b": "c"}], "d": None}),
    "a.jsonl": '{"a": 1, "b": "c"}\n{"a": 2, "b": "d"}\n',
    "a.csv": "name,value\nx,1\ny,2\n",
    "a.yaml": "a: [1, 2]\nb: {c: d}\n",
    "a.tex.j2": "\\chapter{Beans}\n<< n('a') >>\n",
    "a.py": "def f(x):\n    return x + 1\n",
}


@pytest.mark.parametrize("name", CONTENTS)
def test_each_seed_gives_one_reproducible_change(tmp_path, name):
    (tmp_path / name).write_text(CONTENTS[name])
    first, second = (changed(tmp_path / name, random.Random(7)) for _ in range(2))
    assert first == second
    assert len({changed(tmp_path / name, random.Random(seed)) for seed in range(60)}) > 20
    assert broken((tmp_path / name).suffix, CONTENTS[name].encode()) == ""


@pytest.mark.parametrize(
    ("suffix", "content"),
    [
        (".json", b'{"a": 1, "a": 2}'), (".json", b'{"a": 1'), (".jsonl", b'{"a": 1}\n{"a"}\n'),
        (".yaml", b"a: 1\na: 2\n"), (".yaml", b"a: [1\n"), (".csv", b"a,b\n1,2\n1\n"), (".csv", b"a,a\n1,2\n"),
        (".csv", b"\xff,b\n1,2\n"), (".py", b"def f(:\n"), (".tex", b"a\x00b"), (".npz", b"PK\x03\x04"),
        (".safetensors", struct.pack("<Q", 2) + b"{}x"),
    ],
)  # fmt: skip
def test_broken_file_of_each_format_is_recognised(suffix, content):
    assert broken(suffix, content)


def test_forked_command_is_isolated_and_returns_its_output(tmp_path):
    """A forked command reads current files, gets its arguments, and reports output, exit status and orphans."""
    (tmp_path / "build.py").write_text(
        "import os, subprocess, sys, time\nfrom pathlib import Path\nimport learned\nprint(Path('told').read_text(), "
        "learned.VALUE, *sys.argv[1:])\nif 'leave' in sys.argv: subprocess.Popen(['sleep', '30'])\nif 'kill' in "
        "sys.argv: os.abort()\nsys.exit(int('fail' in sys.argv))\n"
    )
    (tmp_path / "learned.py").write_text("VALUE = 'first'\n")
    (tmp_path / "odd.py").write_text("raise SystemExit\n")
    (tmp_path / "told").write_text("one")
    forks = Forks(tmp_path)
    try:
        assert forks.learn("a", "b").output == "one first a b\n"
        (tmp_path / "learned.py").write_text("VALUE = 'second'\n")
        (tmp_path / "told").write_text("two")
        result = forks.run("fail")
        assert (result.code, result.output, result.errors, result.orphans) == (1, "two first fail\n", "", 0)
        assert forks.run("leave").orphans == 1
        assert forks.run("kill").code == -6
        assert forks.run("ends").code == 0
    finally:
        forks.end()
    fresh = Forks(tmp_path, [tmp_path / "learned.py"])
    try:
        fresh.learn()
        (tmp_path / "learned.py").write_text("VALUE = 'third'\n")
        assert fresh.run().output == "two third\n", "the command itself imports a file that is to be damaged"
    finally:
        fresh.end()
    assert "learned" not in sys.modules


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_forked_command_ended_before_it_starts_is_awaited_once(tmp_path, number):
    """The command has no output, since it has opened no output file; the next command runs as usual."""
    (tmp_path / "build.py").write_text("import time\ntime.sleep(20)\n")
    forks = Forks(tmp_path)
    try:
        for _ in range(5):
            with forks.running("sleep") as running:
                os.kill(running.pid, number)
                ended = running.end()
                assert running.end() is ended
            assert ended.code in (-number, 1, 130)
            assert not ended.output
        (tmp_path / "build.py").write_text("print('still there')\n")
        assert forks.run("again").output == "still there\n"
    finally:
        forks.end()
