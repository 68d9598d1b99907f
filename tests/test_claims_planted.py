"""Planted typos: a seed always gives the same typos, each changes the number, and most change a verdict."""

import random

import pytest

from boundpaper.claims import planted as module
from boundpaper.claims.planted import ProjectInMemory, Typo, choose_typos, detector, plant_typo
from boundpaper.errors import DataError
from boundpaper.store import reader as store
from boundpaper.store.documents import judged_sources
from boundpaper.typeset.printed import parse
from conftest import ROOT


@pytest.mark.parametrize("text", ["0.186", "−31%", "1,249×", "50–65K", "7", "~200x", "1.57e-3"])
def test_typo_changes_the_value_of_a_number(text):
    for seed in range(20):
        new, kind = plant_typo(text, random.Random(seed))
        assert kind in ("digit", "exchanged", "lost", "sign")
        assert (parse(new).low, parse(new).high) != (parse(text).low, parse(text).high)


def test_typo_exchanges_neighbouring_digits_only():
    typos = {plant_typo("1.234%", random.Random(seed)) for seed in range(200)}
    assert {text for text, kind in typos if kind == "exchanged"} == {"1.324%", "1.243%"}
    assert {text for text, kind in typos if kind == "lost"} == {"1.34%", "1.24%", "1.23%"}
    changed = [text for text, kind in typos if kind == "digit"]
    assert all(sum(new != old for new, old in zip(text, "1.234%", strict=True)) == 1 for text in changed)


def test_typo_in_a_word_is_refused():
    with pytest.raises(DataError, match="no digit"):
        plant_typo("flat", random.Random(1))


def test_typos_are_reproducible_in_every_document():
    first, again = choose_typos(ROOT, 10), choose_typos(ROOT, 10)
    assert first == again
    assert [each.document for each in first] == [each for each in judged_sources(ROOT) for _ in range(2)]
    assert choose_typos(ROOT, 10, seed=1) != first


def test_typo_in_a_judged_number_is_detected_and_elsewhere_refused():
    project = ProjectInMemory(ROOT)
    frame = store.read(ROOT, "nope_models")
    row = int(frame.index[(frame["metric"] == "recovery")][0]) + 1
    before = frame["printed"].iloc[row - 1]
    by = detector(project, Typo("000", "nope_models", row, before, f"-{before.lstrip('+')}", "sign"))
    assert by.partition(".")[0] in project.claims or by.endswith("(refused)")
    with pytest.raises(DataError, match="prints"):
        detector(project, Typo("000", "nope_models", row, "99.9", "9.99", "digit"))


def test_typo_beyond_the_table_constraints_is_refused():
    frame = store.read(ROOT, "drope_figures")
    row = 1 + next(at for at, metric in enumerate(frame["metric"]) if metric == "passkey_accuracy")
    before = frame["printed"][row - 1]
    beyond = Typo("004", "drope_figures", row, before, "300", "digit")
    assert detector(ProjectInMemory(ROOT), beyond) == "drope_figures (refused)"


def test_command_with_another_seed_prints_but_writes_nothing(capsys, monkeypatch):
    monkeypatch.setattr(module, "detector", lambda project, each: "c000_made")
    monkeypatch.setattr(module, "write", lambda path, content: pytest.fail("the table has the typos of one seed"))
    assert module.main(["5", "7"]) == 0
    printed = capsys.readouterr().out
    assert "all: 5 of 5 detected" in printed
    assert [each.table for each in choose_typos(ROOT, 5, 7)] == [line.split()[1] for line in printed.splitlines()[:5]]


def test_most_planted_typos_are_detected():
    table = store.read(ROOT, "planted_typos")
    assert set(table["document"]) == set(judged_sources(ROOT))
    assert len(table) >= 40
    assert table["detected"].mean() > 0.75
    assert ((table["by"] != "") == table["detected"]).all()
