"""Damaged files of scores and predictions from elsewhere give a one-line error."""

import copy
import json

import pytest

from boundpaper.errors import DataError
from keyquery.scores.lbp import command
from keyquery.scores.lbp import data as lbp_data
from keyquery.scores.lbp.run import LbpSettings
from keyquery.scores.ruler.results import read
from ruler_made import REAL

GOOD = json.loads(REAL.read_text())
TASK = next(name for name in GOOD["configs"])


@pytest.mark.parametrize(
    ("keys", "value", "message"),
    [
        (("results",), [], "`results` is not an object"),
        (("configs",), "x", "`configs` is not an object"),
        (("n-samples",), 3, "`n-samples` is not an object"),
        (("results", TASK), 3, f"`results` of {TASK} is not an object"),
        (("configs", TASK), None, f"`configs` of {TASK} is not an object"),
        (("n-samples", TASK), [1], f"`n-samples` of {TASK} is not an object"),
        (("configs", TASK, "metadata"), {"max_seq_lengths": 4096}, "not a list of lengths"),
        (("configs", TASK, "metadata"), {"max_seq_lengths": ["4k"]}, "not a list of lengths"),
        (("configs", TASK, "metadata"), {"max_seq_lengths": ["9" * 5000]}, "not a list of lengths"),
    ],
)
def test_results_of_unexpected_structure_are_refused(keys, value, message, tmp_path):
    content = copy.deepcopy(GOOD)
    parent = content
    for name in keys[:-1]:
        parent = parent.setdefault(name, {})
    parent[keys[-1]] = value
    path = tmp_path / "results_x.json"
    path.write_text(json.dumps(content))
    with pytest.raises(DataError, match=message) as error:
        read([path])
    assert str(error.value).startswith(f"{path}: ")


def test_deeply_nested_results_are_refused(tmp_path):
    path = tmp_path / "results_x.json"
    path.write_text('{"results": ' + "[" * 100_000)
    with pytest.raises(DataError, match="not valid JSON"):
        read([path])


def test_predictions_are_read_before_samples_are_fetched(tmp_path, monkeypatch):
    def fail(*arguments):
        raise AssertionError("samples were fetched for unreadable predictions")

    monkeypatch.setattr(lbp_data, "load_samples", fail)
    for content, message in ((None, "no such prediction file"), (b"{", "not JSON"), (b"", "the file is empty")):
        path = tmp_path / f"{message[-5:].strip()}.jsonl"
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(DataError, match=message):
            command.run(tmp_path, model="m", predictions=[path])


@pytest.mark.parametrize("temperature", [float("nan"), float("inf"), -1.0])
def test_temperature_that_is_no_number_is_refused(temperature):
    with pytest.raises(DataError, match=r"--temperature .*: give 0 or more"):
        LbpSettings(temperature=temperature)
