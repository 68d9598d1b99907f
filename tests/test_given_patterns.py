"""Patterns in the metadata: patterns that could run forever are refused, those of the thesis are accepted."""

import re

import pytest

from boundpaper.errors import SpecError
from boundpaper.paper import metadata
from boundpaper.paper.lint import find_typed_digits
from boundpaper.store.pattern import pattern_fault
from conftest import ROOT


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+b",
        "(a*)*",
        "(?:a|ab)*c",
        "(?:a|a)+",
        "(?:x?y?)*z",
        "([0-9]+[a-z]?)+!",
        "(a)\\1",
        "a?" * 20,
        "\\d+" * 5,
        "(",
    ],
)
def test_regex_with_unbounded_backtracking_is_refused(pattern):
    assert pattern_fault(pattern)


@pytest.mark.parametrize("pattern", [*metadata.read(ROOT).names, "v\\d+(?:\\.\\d+)?", "(?:[- ](?:A|B))*", "x{1,3}"])
def test_regexes_of_the_thesis_and_simple_ones_are_accepted(pattern):
    assert not pattern_fault(pattern)
    word = ("Llama-3-" + "1" * 3000) * 3
    find_typed_digits(word, "c.tex.j2", [pattern])  # terminates
    assert re.compile(pattern)


def test_metadata_error_names_the_refused_regex(tmp_path):
    (tmp_path / "paper").mkdir()
    (tmp_path / "paper/metadata.yaml").write_text("title: T\nauthor: A\ndate: D\nnames: ['GPT-[234]', '(a+)+']\n")
    with pytest.raises(SpecError, match=r"metadata.yaml: '\(a\+\)\+' in names repeats an unbounded repeat"):
        metadata.read(tmp_path)
