"""A measured model with a long name fits every table and figure, and its whole name is printed."""

import importlib
import inspect

import pandas as pd
import pytest

from boundpaper.figures.render import tex
from boundpaper.store.reader import read as artifact
from boundpaper.tables.read import read
from boundpaper.tables.render import render
from boundpaper.tables.width import LANDSCAPE_LINE, LINE, fit_table
from boundpaper.typeset.wording import abbreviated_names
from conftest import ROOT

LONG = "an-organisation-smollm2-135m-instruct-long.q4_1-b179c952aabb"
TABLES = {
    "tables.crossmodel.model_plasticity": "measured_models",
    "tables.benchmarks.needles": "",
    "tables.benchmarks.ruler_scores": "",
    "tables.benchmarks.length_decline": "",
}


def frames(function, added: str) -> dict[str, pd.DataFrame]:
    """Return an exhibit's artifacts; `added` names the one to which a long-named model is added (if empty: all)."""
    tables = {name: artifact(ROOT, name).copy() for name in inspect.signature(function).parameters}
    for name, frame in tables.items():
        if "display_name" in frame and (name == added or not added):
            last = frame[frame["display_name"] == frame["display_name"].iloc[-1]]
            long_rows = last.assign(display_name=LONG, model=LONG)
            tables[name] = pd.concat([frame, long_rows], ignore_index=True)
    return tables


@pytest.mark.parametrize("name", TABLES)
def test_table_fits_its_width_and_shows_the_whole_model_name(name: str) -> None:
    function = importlib.import_module(name).table
    table = function(**frames(function, TABLES[name]))
    grid = read(table, "t")
    assert fit_table(grid).width <= (LANDSCAPE_LINE if table.landscape else LINE)
    assert LONG in render(table, "t", "markdown").replace("\\", "")


def test_figure_shortens_a_long_model_name_and_gives_it_in_its_note() -> None:
    function = importlib.import_module("figures.crossmodel.decile_profiles").figure
    figure = function(**frames(function, "measured_profiles"))
    assert "an-orga" in tex(figure, "t")
    assert LONG in figure.note


def test_short_names_stay_distinct() -> None:
    names = ["a" * 20 + "1" + "b" * 20, "a" * 20 + "2" + "b" * 20, "short"]
    short = abbreviated_names(names, longest=12)
    assert len(set(short.values())) == 3
    assert short["short"] == "short"
    assert abbreviated_names(["abcdefghijklmnop"], longest=9) == {"abcdefghijklmnop": "abcd…mnop"}
