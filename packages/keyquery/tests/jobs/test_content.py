"""Jobs have equal keys exactly if their functions, arguments and versions are equal."""

import enum
import functools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jobs_work
from boundpaper.errors import SpecError
from keyquery.jobs.content import key

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3), max_leaves=8
)


class Colour(enum.IntEnum):
    RED = 1


def key_of(value: object) -> str:
    return key(jobs_work.square, {"value": value})


def typed_text(value: object) -> str:
    """Return a text that differs if values or types differ, except for the order of mappings."""
    if isinstance(value, list):
        return f"[{','.join(map(typed_text, value))}]"
    if isinstance(value, dict):
        return f"{{{','.join(sorted(f'{name!r}:{typed_text(item)}' for name, item in value.items()))}}}"
    return f"{type(value).__name__}:{value!r}"


@given(VALUES, VALUES)
def test_content_keys_are_equal_exactly_for_equal_values(first: object, second: object) -> None:
    assert (key_of(first) == key_of(second)) == (typed_text(first) == typed_text(second))


def test_similar_values_of_different_types_have_different_keys() -> None:
    values: list[object] = [
        None, False, 0, 0.0, -0.0, "", b"", [], {}, set(), Path(), "None", "0", [None], [[]], 1, True, 1.0, "1",
        Colour.RED, Path("1"), {1}, {"1": 1}, {1: 1}, ["ab", "c"], ["a", "bc"], float("nan"), float("inf"),
        jobs_work.Shard(0, 1), jobs_work.Shard(1, 0), {"index": 0, "count": 1}, jobs_work.square, jobs_work.Shard,
        functools.partial(jobs_work.square, 1), functools.partial(jobs_work.square, number=1),
        np.arange(3), np.arange(3.0), np.arange(4), np.arange(4).reshape(2, 2), np.float32(0.1), 0.1,
    ]  # fmt: skip
    assert len({key_of(value) for value in values}) == len(values)


def test_order_of_arguments_and_sets_does_not_change_the_key() -> None:
    first, second = {"a": 1, "b": {"x": 1, "y": 2}}, {"b": {"y": 2, "x": 1}, "a": 1}
    assert key(jobs_work.square, first) == key(jobs_work.square, second)
    assert key_of({"one", "two", "three"}) == key_of({"three", "one", "two"})
    assert key_of((1, 2)) == key_of([1, 2])
    assert key_of(np.float64(0.5)) == key_of(0.5)
    assert key_of(np.asfortranarray(np.eye(3) + np.arange(3))) == key_of(np.eye(3) + np.arange(3))


def test_function_name_and_version_change_the_key() -> None:
    keys = {key(function, {"number": 1}, v) for function in (jobs_work.square, jobs_work.fail) for v in ("", "2")}
    assert len(keys) == 4


def test_another_process_finds_the_same_key() -> None:
    program = (
        "import jobs_work; from pathlib import Path; from keyquery.jobs.content import key;"
        "print(key(jobs_work.square, {'a': {'x', 'y', 'z'}, 'b': jobs_work.Shard(1, 2), 'c': Path('d')}))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": "1"}
    printed = subprocess.check_output([sys.executable, "-c", program], env=environment, text=True)
    content_key = key(jobs_work.square, {"a": {"x", "y", "z"}, "b": jobs_work.Shard(1, 2), "c": Path("d")})
    assert printed == f"{content_key}\n"


def test_errors_name_the_argument() -> None:
    with pytest.raises(SpecError, match=r"argument value\[1\]\['deep'\] is a builtins.object.*path of a file"):
        key_of([1, {"deep": object()}])
    with pytest.raises(SpecError, match=r"argument value is a numpy\.ndarray"):
        key_of(np.array([object()]))
    with pytest.raises(SpecError, match=r"<lambda> cannot be imported by another process"):
        key(lambda: None, {})
    with pytest.raises(SpecError, match="cannot be imported by another process"):
        key(functools.partial(jobs_work.square, 1), {})
