"""The vocabulary of a paper: it is checked, its faults are named, and steps that read it depend on it."""

import pandas as pd
import pytest

from boundpaper.build.facts import FactReader
from boundpaper.build.graph import load
from boundpaper.build.new_paper import new_paper
from boundpaper.claims.copies import _quantity_name
from boundpaper.claims.worded_numbers import worded_number
from boundpaper.errors import DataError, SpecError
from boundpaper.figures.style import PALETTE, display, family_looks, style, styles
from boundpaper.store.families import families
from boundpaper.store.looks import COLORS
from boundpaper.store.paper_vocabulary import metric_names, printed_word, read, words
from boundpaper.store.paths import VOCABULARY
from conftest import ROOT

BEANS = """
words:
  metric: {grown_cm: growth, r_2: $R^2$, light: light}
  lamp: {sun: daylight, neon: neon light}
numbers: {a dozen: 12, twin: 2}
stated_of: {bed: heading, lamp: phrase}
headlines: [Which lamp wins]
ledger:
- {find: '\\bgrown_cm\\b', show: the growth}
entities:
  sun: {color: okorange, mark: triangle*, label: daylight}
  neon: {color: okblue!60!white}
named:
  plants: {key: plant, name: title}
families: {table: sorts, members: plants, column: sort, labels: {table: tags, key: plant, label: tag, like: lamp}}
"""
TABLES = {
    "plants": "plant,title,sort\nb1,Bean One,bean\nb2,Bean Two,bean\np1,Pea One,pea\n",
    "sorts": "family,order,entity,color,mark,dash,hatch\npea,2,peas,okgreen,*,solid,\n"
    "bean,1,beans,okpurple,square*,dashed,\n",
    "tags": "plant,tag,lamp\nb2,Second,sun\n",
}


@pytest.fixture
def beans(tmp_path, monkeypatch):
    """Return a function that writes the vocabulary of a sample paper on beans, and returns the paper's folder."""
    (tmp_path / "paper").mkdir()
    (tmp_path / "artifacts/sources").mkdir(parents=True)
    for name, text in TABLES.items():
        (tmp_path / f"artifacts/sources/{name}.csv").write_text(text)
    monkeypatch.setenv("BOUNDPAPER_ROOT", str(tmp_path))

    def write(text):
        (tmp_path / VOCABULARY).write_text(text)
        return tmp_path

    write(BEANS)
    return write


def test_words_are_read_from_the_vocabulary(beans):
    assert (printed_word("metric", "grown_cm"), printed_word("lamp", "neon")) == ("growth", "neon light")
    assert list(words("lamp")) == ["sun", "neon"]
    assert metric_names(read(beans(BEANS))) == {"grown_cm": "growth"}, "no formula, and no common word"
    assert [worded_number(text) for text in ("a twin pot", "ten pots", "no pot", "steepest")] == [2, 10, None, None]
    with pytest.raises(DataError, match=r"no words for the lamp 'nion': did you mean neon\? .*, words.lamp"):
        printed_word("lamp", "nion")
    with pytest.raises(DataError, match=r"no words for the keys of the kind 'lamps': .*; did you mean 'lamp'\?"):
        words("lamps")


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"quantity": "Growth in a week", "bed": "north"}, "growth in a week of north"),
        ({"quantity": "Q of the bed", "bed": ""}, "q of the bed"),
        ({"quantity": "LAI of the leaves", "bed": "south"}, "LAI of the leaves of south"),
        ({"quantity": "Neon against sun", "lamp": "both"}, "Neon against sun of both"),
        ({"quantity": "Weight"}, "Weight"),
    ],
)
def test_stated_value_is_named_by_its_subject(beans, row, expected):
    assert _quantity_name(pd.Series(row)) == expected


def test_entity_styles_are_read_from_the_vocabulary(beans):
    root = beans(BEANS)
    assert [family.name for family in families(root)] == ["bean", "pea"]
    looks = styles()
    assert (looks["b2"].color, looks["b2"].label) == ("okorange", "Second")
    assert looks["b1"].color.startswith("okpurple")
    assert looks["b1"].label == "Bean One"
    assert looks["p1"].mark == "*"
    assert display("daylight") == "daylight"
    assert display("Pea One") == "Pea One"
    with pytest.raises(SpecError, match=r"unknown entity 'neom'; the nearest is 'neon'.*paper/vocabulary.yaml"):
        style("neom", {}, "figure f")
    beans(BEANS.replace("okorange, mark", "okblack, mark"))
    assert styles()["b2"].color == "okblack", "later drawings use the saved style"


def test_member_added_to_a_family_changes_no_other_style(beans):
    root = beans(BEANS)
    before = {name: look for family in families(root) for name, look in family_looks(family, styles()).items()}
    path = root / "artifacts/sources/plants.csv"
    path.write_text(path.read_text() + "b3,Bean Three,bean\n")
    after = {name: look for family in families(root) for name, look in family_looks(family, styles()).items()}
    added = after.pop("b3")
    assert after == before
    assert added not in before.values()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("words:", "word:", "unknown key 'word'; did you mean 'words'?"),
        ("{sun: daylight", "{sun: 3", "words.lamp.sun: 3 is not a text; put it in quotes"),
        ("{a dozen: 12", "{a dozen: many", "numbers.a dozen: 'many' is not a number"),
        ("{a dozen: 12", "{no: 0", "numbers.False: False is not a text; put it in quotes"),
        ("bed: heading", "bed: title", "stated_of.bed: 'title' is not supported; it is one of heading, phrase"),
        ("[Which lamp wins]", "Which lamp wins", "headlines: 'Which lamp wins' is not a list"),
        (r"'\bgrown_cm\b'", "'(grown'", "ledger[0].find: '(grown' is not a regular expression"),
        (r"'\bgrown_cm\b'", "'(g+)+'", "ledger[0].find: '(g+)+' repeats an unbounded repeat"),
        ("show: the growth", r"show: '\1 the growth'", "ledger[0].show:"),
        ("color: okorange", "colour: okorange", "entities.sun: unknown key 'colour'; did you mean 'color'?"),
        ("color: okorange", "color: okpink", "entities.sun.color: 'okpink' is not a colour of the palette"),
        ("mark: triangle*", "mark: triangel", "entities.sun.mark: 'triangel' is not supported; it is one of"),
        ("color: okorange", "dash: dashed dot", "entities.sun.dash: 'dashed dot' is not supported; it is one of solid"),
        ("color: okorange", "color: '#E69F00'", "entities.sun.color: '#E69F00' is not a colour of the palette"),
        ("{key: plant, name: title}", "{key: plant}", "named.plants: the required key `name` is missing"),
        ("members: plants", "members: pots", "families.members: 'pots' is not a table of `named`"),
        ("members: plants, ", "", "families: the required key `members` is missing"),
        ("words:", "words: [", "vocabulary.yaml:"),
    ],
)
def test_vocabulary_fault_is_reported_by_name(beans, old, new, message):
    assert BEANS.count(old) == 1
    root = beans(BEANS.replace(old, new))
    with pytest.raises(DataError) as error:
        read(root)
    assert str(error.value).startswith(VOCABULARY)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("table", "old", "new", "message"),
    [
        ("tags", "Second,sun", "Second,moon", "tags.csv: 'b2' has the look of 'moon', which is not an entity of"),
        ("sorts", "pea,2", "pea,two", "sorts.csv: the order 'two' is not a whole number"),
        ("plants", "plant,title", "plant,name", "plants.csv: no column 'title'; it has plant, name, sort"),
        ("sorts", "okgreen", "green", "sorts.csv: color of 'pea': 'green' is not a colour of the palette"),
        ("sorts", "okgreen,*", "okgreen,x", "sorts.csv: mark of 'pea': 'x' is not supported; it is one of *, o"),
    ],
)
def test_fault_in_a_table_of_styles_is_reported_by_name(beans, table, old, new, message):
    root = beans(BEANS)
    (root / f"artifacts/sources/{table}.csv").write_text(TABLES[table].replace(old, new))
    with pytest.raises(DataError) as error:
        styles()
    assert message in str(error.value)


def test_missing_table_named_in_the_vocabulary_is_reported(beans):
    root = beans(BEANS)
    (root / "artifacts/sources/tags.csv").unlink()
    with pytest.raises(DataError, match=r"artifacts/sources/tags.csv is missing; paper/vocabulary.yaml names it"):
        styles()


def test_vocabulary_palette_equals_the_figure_palette():
    assert tuple(PALETTE) == COLORS


def test_paper_without_a_vocabulary_has_no_words(tmp_path, monkeypatch):
    monkeypatch.setenv("BOUNDPAPER_ROOT", str(tmp_path))
    assert read(tmp_path).words == {}
    assert families(tmp_path) == ()
    assert set(styles()) & {"rope", "query", "mlp"} == set()
    (tmp_path / "paper").mkdir()
    (tmp_path / VOCABULARY).write_text("# nothing yet\n")
    assert read(tmp_path).words == {}


def test_steps_that_read_words_or_styles_depend_on_the_vocabulary():
    """Results, claims and exhibits depend on the vocabulary. Steps that look up names depend on its tables too."""
    steps = load(ROOT, FactReader(ROOT)).steps
    for kind in ("result", "claim", "table", "figure", "chapter"):
        own_steps = [step for step in steps.values() if step.kind.name == kind]
        assert own_steps, kind
        assert all(VOCABULARY in step.inputs for step in own_steps), kind
    looks = {f"artifacts/sources/{name}.csv" for name in ("families", "models", "subjects", "checkpoints")}
    for kind in ("result", "claim", "figure", "source"):
        assert all(looks <= set(step.inputs) for step in steps.values() if step.kind.name == kind), kind


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"metrics: {}\n", ": unknown key 'metrics'; did you mean 'numbers'?"),
        (b"words:\n  lamp: {sun: gr\xfcn}\n", ":2: not UTF-8 (byte 23); save the file in that encoding"),
        (b"- words\n", ": ['words'] is not a mapping of keys to values"),
        (b"words: {lamp: {sun: a, sun: b}}\n", ": the key 'sun' is already at line 1; keep one of them"),
    ],
)
def test_invalid_vocabulary_fails_the_steps_that_read_it(tmp_path, content, message):
    root = tmp_path / "paper"
    new_paper(root, "Beans", "May 2026")
    (root / VOCABULARY).write_bytes(content)
    fault = load(root, FactReader(root)).steps["chapter:introduction"].fault
    assert fault.startswith(VOCABULARY)
    assert message in fault
    assert "\n" not in fault
