"""Guards, which warn about a test: cases where each applies, and cases where it does not."""

import pytest

from boundpaper.statistics import Estimate, attach, fired, guards

ROW = Estimate(study="s", comparison="c", test="t", unit="model", n=3, note="made up")


def test_guard_fires_on_zero_variance():
    assert guards.zero_variance({"rope": [0.64, 0.64], "drope": [0.5, 0.6]}) == (
        "guard zero variance: rope is 0.64 in all 2 units",
    )
    assert guards.zero_variance({"rope": [0.64], "drope": [0.5, 0.6]}) == ()


def test_guard_fires_on_zero_standard_deviation():
    assert guards.zero_sd({"a": (0.0, 10), "b": (0.1, 10)}) == (
        "guard zero variance: a has a standard deviation of 0 over 10 units",
    )
    assert guards.zero_sd({"a": (0.0, 1)}) == ()


def test_guard_fires_on_few_distinct_values():
    assert guards.few_distinct({"x": [0, 0, 1, 1]}) == (
        "guard few distinct values: x has 2 distinct values in 4 units",
    )
    assert "1 distinct value in 3" in guards.few_distinct({"x": [1, 1, 1]})[0]
    assert guards.few_distinct({"x": [0, 1, 2], "y": [0, 1]}) == ()


def test_guard_fires_on_copied_replicates():
    condition = ["8k", "8k", "16k", "16k", "32k"]
    assert guards.copied_replicates([0.5, 0.5, 0.4, 0.3, 0.1], condition) == (
        "guard copied replicates: one number stands for all replicates of 8k (1 of 3 conditions)",
    )
    assert guards.copied_replicates([0.5, 0.6, 0.4, 0.3, 0.1], condition) == ()
    with pytest.raises(ValueError, match="2 values but 1 conditions"):
        guards.copied_replicates([1, 2], ["a"])


def test_guard_fires_where_no_p_can_be_small():
    assert guards.smallest_p(1 / 3) == ("guard smallest attainable p: no outcome could give a p below 0.3333",)
    assert guards.smallest_p(1 / 24) == ()
    assert guards.smallest_p(1 / 24, family=2) == (
        "guard smallest attainable p: after Holm over 2 tests no outcome could give a p below 0.08333",
    )
    assert guards.smallest_p(1 / 24, alpha=0.01) != ()
    with pytest.raises(ValueError, match="family is 0"):
        guards.smallest_p(0.1, family=0)


def test_guard_fires_on_dependent_units():
    units = ["llama-3.1", "llama-3.2", "qwen3"]
    assert guards.dependent_units(units, ["text", "text", None], "text weights") == (
        "guard dependent units: llama-3.1+llama-3.2 share text weights, so 3 units are 2 independent ones",
    )
    assert guards.dependent_units(units, ["a", "b", "c"], "weights") == ()
    assert guards.dependent_units(units, [None, None, None], "weights") == ()
    heads = [str(head) for head in range(20)]
    note = guards.dependent_units(heads, [head // 5 for head in range(20)], "keys")[0]
    assert "5 units, 5 units, 5 units, 1 more group share keys, so 20 units are 4 independent ones" in note
    with pytest.raises(ValueError, match="3 units but 1 keys in"):
        guards.dependent_units(units, ["a"], "weights")


def test_guard_fires_on_selection_and_evaluation_on_the_same_data():
    assert guards.same_data(["t1", "t2"], ["t2", "t3"]) == ("guard selected and evaluated on the same data: t2",)
    assert guards.same_data(["t1"], ["t2"]) == ()
    assert "d and 2 more" in guards.same_data("abcdef", "abcdef")[0]


def test_guard_fires_on_mixed_protocols():
    notes = guards.mixed_protocol(
        {
            "rope": {"precision": "4 bit", "prompt": "chat"},
            "drope": {"precision": "bf16", "prompt": "chat"},
            "other": {"prompt": "chat", "checkpoint": "base"},
        }
    )
    assert notes == (
        "guard mixed protocol: precision 4 bit (rope) against bf16 (drope) against not stated (other)",
        "guard mixed protocol: checkpoint not stated (rope, drope) against base (other)",
    )
    assert guards.mixed_protocol({"a": {"precision": "bf16"}, "b": {"precision": "bf16"}}) == ()


def test_attached_guards_are_read_back_from_the_note():
    row = attach(
        ROW,
        guards.mixed_protocol({"a": {"unit": "x"}, "b": {"unit": "y; z"}}),
        guards.same_data(["t"], ["u"]),
        guards.zero_variance({"a": [1, 1]}),
    )
    assert row.note.startswith("made up; guard mixed protocol: unit x (a) against y, z (b); guard zero variance")
    assert fired(row.note) == ("mixed protocol", "zero variance")
    assert fired(ROW.note) == ()
    assert attach(ROW) == ROW


def test_every_guard_name_is_recognised_in_a_note():
    for name in guards.NAMES:
        assert fired(attach(ROW, guards.guard_note(name, "seen")).note) == (name,)
