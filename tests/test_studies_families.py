"""Families of tests: each test belongs to one family, is corrected within it, and is reported once."""

from collections import defaultdict
from fnmatch import fnmatchcase

import numpy as np
import pandas as pd
import pytest

from boundpaper.errors import DataError
from boundpaper.statistics import Estimate
from boundpaper.statistics.correlations.contrast import levels_and_differences
from boundpaper.statistics.families import corrected
from boundpaper.statistics.guards import attach, dependent_units, independent_share
from boundpaper.store.descriptor import resource
from boundpaper.store.reader import read
from conftest import ROOT

FIELDS = ("study", "comparison", "test", "unit")


def family_rows(*rows):
    columns = ["result", *FIELDS, "family", "hypothesis", "role"]
    return pd.DataFrame([("r", *row) for row in rows], columns=columns)


def estimate(comparison, p, test="pearson", study="r"):
    return Estimate(study=study, comparison=comparison, test=test, unit="model", n=5, p_value=p, note="made up")


def holm_by_hand(p_values):
    order = np.argsort(p_values, kind="stable")
    stepped = np.maximum.accumulate(np.asarray(p_values)[order] * np.arange(len(p_values), 0, -1)).clip(max=1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = stepped
    return adjusted


def test_a_family_spans_coefficients_and_names_its_role():
    families = family_rows(
        ("*", "*", "pearson", "model", "one", "h", "primary"),
        ("*", "*", "kendall", "model", "one", "h", "post hoc"),
        ("*", "*", "levels", "model", "one", "h", "sensitivity"),
        ("*", "*", "series", "model", "one", "h", "dependent"),
    )
    tests = [estimate("a", 0.01), estimate("b", 0.02), estimate("a", 0.004, "kendall")]
    tests += [estimate("a", 0.001, "levels"), estimate("c", None)]
    tests.append(attach(estimate("a", 0.001, "series"), dependent_units(["a", "b"], ["net", "net"], "one network")))
    rows = corrected(tests, families, "r")
    assert [row.p_adjusted for row in rows] == pytest.approx([0.02, 0.02, 0.012, None, None, None])
    assert [row.adjustment for row in rows] == [
        "Holm over 3 tests of one", "Holm over 3 tests of one", "Holm over 3 tests of one, post hoc",
        "none, sensitivity", "none", "none, dependent",
    ]  # fmt: skip


@pytest.mark.parametrize("role", ["primary", "post hoc"])
@pytest.mark.parametrize(
    ("shared", "refused"),
    [(["net", "net", "net", "net"], True), (["net", "net", "net", "own"], False), (["net", "net", None, None], False)],
)
def test_dependent_units_of_one_network_are_refused_in_a_corrected_family(role, shared, refused):
    families = family_rows(("*", "*", "*", "model", "one", "h", role))
    test = attach(estimate("a", 0.01), dependent_units(["a", "b", "c", "d"], shared, "one network"))
    if not refused:
        assert corrected([test], families, "r")[0].p_adjusted == pytest.approx(0.01)
        return
    with pytest.raises(DataError, match=f"is {role}, but its units are dependent"):
        corrected([test], families, "r")


def test_dependent_points_of_one_series_are_refused_in_a_corrected_family():
    levels, differences = levels_and_differences(
        [1.0, 2.0, 4.0, 5.0, 9.0], [2.0, 1.0, 3.0, 8.0, 9.0], study="r", comparison="a", unit="model"
    )
    assert independent_share(levels.note) == 0
    assert independent_share(differences.note) is None
    with pytest.raises(DataError, match="units are dependent"):
        corrected([levels], family_rows(("*", "*", "*", "model", "one", "h", "primary")), "r")


def test_dependent_test_needs_a_guard_in_its_note():
    with pytest.raises(DataError, match="has no guard"):
        corrected([estimate("a", 0.01)], family_rows(("*", "*", "*", "model", "one", "h", "dependent")), "r")


def test_separately_measured_tests_are_corrected_separately():
    families = family_rows(("*", "*", "*", "model", "one", "h", "primary"))
    tests = [estimate("a", 0.01, study="x/1"), estimate("b", 0.02, study="x/1"), estimate("a", 0.03, study="y/1")]
    rows = corrected(tests, families, "r", lambda row: row.study[0])
    assert [row.p_adjusted for row in rows] == pytest.approx([0.02, 0.02, 0.03])
    assert rows[2].adjustment == "Holm over 1 test of one (y)"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "0 rows match the test 'r' / 'a' / 'pearson' / 'model'"),
        ([("*", "*", "*", "head", "one", "h", "primary")], "0 rows match"),
        (
            [("*", "a*", "*", "model", "one", "h", "primary"), ("*", "*", "pearson", "model", "two", "h", "primary")],
            "2 rows match",
        ),
    ],
)
def test_a_test_without_one_family_is_refused(rows, message):
    with pytest.raises(DataError, match=message):
        corrected([estimate("a", 0.1)], family_rows(*rows), "r")


def test_family_declarations_are_consistent():
    families = read(ROOT, "test_families")
    assert not families.duplicated(["result", *FIELDS]).any()
    counts = families.groupby("family")[["hypothesis", "result", "unit"]].nunique()
    assert (counts == 1).all(axis=None), counts[(counts != 1).any(axis=1)]
    assert set(families["role"]) == {"primary", "post hoc", "sensitivity", "dependent"}


def results(built_project):
    """Return the results that contain statistical tests, by name."""
    by_name = {}
    for path in sorted((built_project / "artifacts/results").glob("*.csv")):
        if resource(built_project, path.stem) is None:
            continue  # left by a study that no longer exists
        frame = read(built_project, path.stem)
        if {"study", "comparison", "test", "p_value", "adjustment"} <= set(frame.columns):
            by_name[path.stem] = frame
    return by_name


SEPARATE = {  # families that are corrected separately for each subject, as their studies state
    "anchoring_tests": lambda row: "/".join(row["study"].split("/")[:2]),
    "pretrained_knowledge_tests": lambda row: row["study"],
    "pretrained_text_tests": lambda row: (row["study"], row["comparison"].split(":")[0]),
}


def test_every_test_belongs_to_one_family_and_its_adjusted_p_follows(built_project):
    families = read(built_project, "test_families")
    used = set()
    for name, tests in results(built_project).items():
        by_family = defaultdict(list)
        for position, row in tests.iterrows():
            declarations = [
                declaration
                for declaration in families[families["result"] == name].itertuples()
                if all(fnmatchcase(row[field], getattr(declaration, field)) for field in FIELDS)
            ]
            used |= {declaration.Index for declaration in declarations}
            if pd.isna(row["p_value"]):
                continue
            assert len(declarations) == 1, (name, *(row[field] for field in FIELDS))
            if declarations[0].role in ("sensitivity", "dependent"):
                assert pd.isna(row["p_adjusted"]), (name, row["comparison"])
            else:
                subject = SEPARATE[name](row) if name in SEPARATE else ""
                by_family[(declarations[0].family, subject)].append(position)
        for positions in by_family.values():
            family = tests.loc[positions]
            expected = holm_by_hand(family["p_value"].to_numpy(dtype=float))
            assert family["p_adjusted"].to_numpy(dtype=float) == pytest.approx(expected, rel=1e-6), name
            assert family["adjustment"].str.startswith(f"Holm over {len(family)} test").all()
    unused = families.drop(index=sorted(used))
    # one result is not a table of tests: it has p values beside rates
    assert set(unused["result"]) <= {"knowledge_protocols"}, unused


def test_no_test_occurs_twice_with_different_adjusted_p(built_project):
    """Tests with equal numbers are one test; tests of ranks and counts may agree by chance, so names must agree too.

    A test without correction may be repeated.
    """
    first_seen: dict[tuple, tuple[str, object]] = {}
    for name, tests in results(built_project).items():
        for _, row in tests[tests["p_adjusted"].notna()].iterrows():
            continuous = row["test"].startswith("pearson") or row["test"].endswith(("_t", "_difference", "_contrast"))
            exact = pd.isna(row["estimate"]) or float(row["estimate"]) == round(float(row["estimate"]), 6)
            comparison = "" if continuous and not exact else row["comparison"]
            key = (comparison, row["test"], row["n"], row["estimate"], row["p_value"])
            first_name, adjusted = first_seen.setdefault(key, (name, row["p_adjusted"]))
            assert first_name == name or adjusted == row["p_adjusted"], (name, first_name, row["comparison"])
