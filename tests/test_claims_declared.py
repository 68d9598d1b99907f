"""Declared checks of cells: relations between cells, the artifacts that the build finds in them, and refused forms."""

import json

import pandas as pd
import pytest

from boundpaper.build.facts import FactReader, python_facts
from boundpaper.build.graph import load
from boundpaper.build.job import Job
from boundpaper.claims import build as _build
from boundpaper.claims.copies import Copies
from boundpaper.claims.mutate import claims
from boundpaper.claims.relations import Cells, Relation
from boundpaper.claims.terms import Artifact, mean, percent_change, percent_lost, percent_share
from boundpaper.errors import DataError, SpecError
from boundpaper.store.paths import DOCUMENTS
from claims_cases import prints, rows
from conftest import ROOT

TABLE = Artifact("table", "the table")
CELLS = prints("model metric printed", ("a", "one", "0.50"), ("a", "two", "0.20"), ("b", "one", "3"), ("b", "two", "1"))


def judged(follows, printed, **options):
    """Return the verdict on a printed cell that should follow from the cells of model a."""
    relation = Relation(cell=Artifact("copy")(metric="x"), follows=follows, because="{0}.", **options)
    (verdict,) = relation.verdicts({"table": CELLS, "copy": prints("metric printed", ("x", printed))})
    return verdict


A, B = TABLE(model="a", metric="one"), TABLE(model="a", metric="two")


@pytest.mark.parametrize(
    ("follows", "right", "near", "wrong"),
    [
        (A, "0.50", "0.504", "0.51"), (A - B, "0.30", "0.31", "0.32"), (A + B, "0.70", "0.71", "0.72"),
        (A / B, "2.50", "2.58", "2.60"), (-A, "-0.50", "-0.504", "0.50"), (mean(A, B), "0.35", "0.354", "0.36"),
        (percent_change(A, B), "-60.0%", "-61.2%", "60.0%"), (percent_lost(A, B), "60.0%", "61.2%", "40.0%"),
        (percent_share(A, B), "71.43%", "72%", "73%"),
    ],
)  # fmt: skip
def test_a_cell_follows_from_others_up_to_their_rounding(follows, right, near, wrong):
    assert judged(follows, right).verdict == "holds"
    assert judged(follows, near).verdict in ("holds", "holds after rounding")
    assert judged(follows, wrong).verdict == "contradicted"
    assert judged(follows, wrong).failure == "number"


def test_copy_shows_decimals_of_its_origin_and_derived_number_one_more():
    assert judged(A, "0.5").recomputed == "0.50"
    assert judged(-A, "-0.5").recomputed == "-0.50"
    assert judged(A - B, "0.3").recomputed == "0.30"
    assert judged(A - B, "0.3", places=4).recomputed == "0.3000"


def test_relation_keys_expand_over_values_and_rows():
    relation = Relation(
        each={"model": TABLE.where(metric="one").rows("model"), "metric, rank": (("one", 1), ("two", 2))},
        cell=TABLE(model="{model}", metric="{metric}"),
        follows=TABLE(model="{model}", metric="{metric}"),
        because="{rank} of {model!c}: {0}, {value:.1f}, {within.low:.3f}, {cell.row[metric]}.",
        key="{model}-{metric}",
        says="{metric!c} of {model}.",
        n="{rank}",
    )
    verdicts = relation.verdicts({"table": CELLS})
    assert [verdict.key for verdict in verdicts] == ["a-one", "a-two", "b-one", "b-two"]
    assert verdicts[1].reason == "2 of A: 0.20, 0.2, 0.195, two."
    assert (verdicts[1].statement, verdicts[1].n, verdicts[1].kind) == ("Two of a.", 2, "cell check")


def test_column_numbers_are_exact_or_have_the_given_range():
    numbers = Artifact("numbers")
    frames = {"numbers": rows("layer mean low high", (1, 0.54, 0.53, 0.56)), "copy": prints("x printed", ("y", "0.55"))}
    for interval, verdict in (((), "contradicted"), (("low", "high"), "holds after rounding")):
        follows = numbers.value("mean", interval, layer="{layer!i}")
        relation = Relation(each={"layer": ("1",)}, cell=Artifact("copy")(x="y"), follows=follows, because="{0:.1f}.")
        (actual,) = relation.verdicts(frames)
        assert (actual.verdict, actual.reason) == (verdict, "0.5.")


def test_cell_in_words_uses_the_number_beside_it():
    frame = prints("metric printed as_number", ("x", "three to one", 3.0)).assign(low=float("nan"))
    relation = Relation(cell=Artifact("copy")(metric="x"), follows=TABLE(model="b", metric="one"), because="{0}.")
    (actual,) = relation.verdicts({"copy": frame, "table": CELLS})
    assert (actual.verdict, actual.reported) == ("holds", "three to one")


def test_relation_origins_come_from_its_terms_and_its_judged_option():
    relation = Relation(
        each={"model": ("a", "b")},
        cell=TABLE(model="{model}", metric="one"),
        follows=TABLE(model="{model}", metric="one").by("first.{model}"),
        because="{0}.",
        key="{model}",
        judged={"b": "second third"},
    )
    verdicts = relation.verdicts({"table": CELLS})
    assert [vars(each)["repeats"] for each in verdicts] == ["first.a", "first.b second third"]


def test_artifact_rows_are_filtered_formatted_and_extended():
    frame = prints("model length printed", ("a", 4, "1"), ("a", 8, ""), ("b", 4, "2"), ("c", 4, "3"))
    chosen = TABLE.where(model=("a", "b")).printed().assign(name="{model}-{length}").frame({"table": frame})
    assert list(chosen["name"]) == ["a-4", "b-4"]
    two = (TABLE.where(model="a").assign(place="one"), TABLE.where(model="b").assign(place="two"))
    copy = prints("place length printed", ("one", 4, "1"), ("two", 4, "3"), ("two", 8, "5"))
    verdicts = Copies(Artifact("copy"), two, ("place", "length")).verdicts({"copy": copy, "table": frame})
    assert {verdict.key: verdict.verdict for verdict in verdicts} == {"one-4": "holds", "two-4": "contradicted"}


def test_an_unknown_key_and_an_absent_cell_are_named():
    with pytest.raises(SpecError, match=r"'\{layer\}.' cannot be filled in: 'layer'; known are value, within, cell"):
        Relation(cell=A, follows=A, because="{layer}.").verdicts({"table": CELLS})
    with pytest.raises(DataError, match="0 rows have model='z'"):
        Relation(cell=A, follows=TABLE(model="z"), because=".").verdicts({"table": CELLS})


def test_declaration_takes_frames_in_order_or_by_name_only():
    copy = Artifact("copy")
    claim = Cells("It is.", "004, Somewhere", Relation(cell=copy(metric="x"), follows=A, because="{0}."))
    frames = {"table": CELLS, "copy": prints("metric printed", ("x", "0.5"))}
    assert claim.artifacts == ("copy", "table")
    assert claim(frames["copy"], CELLS) == claim(**frames)
    for wrong_frames in ({"copy": CELLS}, {**frames, "third": CELLS}):
        with pytest.raises(SpecError, match=r"reads copy, table: .*; write each name out as Artifact\('\.\.\.'\)"):
            claim(**wrong_frames)


DECLARED = '''"""Declared."""

from boundpaper.claims.mutate import claims
from boundpaper.claims.relations import Cells, Relation
from boundpaper.claims.terms import Artifact

TABLE = Artifact("table")
NAMES = {"a": "b"}


def _cell(metric):
    return Artifact("deep")(metric=metric)


c004_it = Cells(
    "It is so, "
    "as said.",
    "004, Results",
    Relation(cell=TABLE(metric="x"), follows=_cell("x") - Artifact("own")(metric="x"), because="{0} minus {1}."),
)
_c004_private = Cells("No.", "004, Results")
c004_too: Cells = Cells("It too.", "004, Results", Relation(cell=TABLE(metric="x"), follows=TABLE(), because="."))
'''


def test_declaration_facts_hold_name_line_and_reached_artifacts():
    facts, too = python_facts(DECLARED)["declared"]
    assert (too["name"], too["line"], too["artifacts"]) == ("c004_too", 22, ["table"])
    assert (facts["name"], facts["line"], facts["doc"]) == ("c004_it", 15, "It is so, as said.")
    assert facts["artifacts"] == ["table", "deep", "own"]


def test_declaration_becomes_a_claim_at_its_line(tmp_path, monkeypatch):
    for path in ("analysis/claims/made_declared.py", "artifacts/sources/table.csv", "artifacts/sources/own.csv"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(DECLARED if path.endswith(".py") else "metric,printed\n")
    (tmp_path / DOCUMENTS).write_text((ROOT / DOCUMENTS).read_text())
    step = load(tmp_path, FactReader(tmp_path)).steps["claim:c004_it"]
    assert (step.file, step.line, step.function) == ("analysis/claims/made_declared.py", 15, "c004_it")
    assert step.fault.startswith("analysis/claims/made_declared.py:15: claim:c004_it reads 'deep', but no artifact")
    assert set(step.artifacts) == {"table", "own"}
    monkeypatch.syspath_prepend(tmp_path / "analysis/claims")
    frames = {
        name: prints("metric printed", ("x", text)) for name, text in (("table", "2"), ("deep", "5"), ("own", "3"))
    }
    monkeypatch.setattr(Job, "frames", lambda job: frames)
    job = Job(tmp_path, "claim", "c004_it", "made_declared.py", "c004_it", dict.fromkeys(frames, ""), (), step.line)
    ((path, content),) = _build.build(job).items()
    (row,) = json.loads(content)
    assert (path, row["order"]) == ("out/claims/c004_it.json", ["004", "made_declared.py", 15])
    assert (row["claim"], row["statement"], row["section"]) == ("c004_it", "It is so, as said.", "Results")
    assert (row["verdict"], row["reason"], row["severity"]) == ("holds", "5 minus 3.", "detail")


def test_artifacts_of_every_declaration_equal_those_found_by_the_build():
    steps = [step for step in load(ROOT, FactReader(ROOT)).steps.values() if step.kind.name == "claim"]
    declared = 0
    for step in steps:
        claim = Job(ROOT, "claim", step.name, step.file, step.function).load()
        if isinstance(claim, Cells):
            declared += 1
            assert set(step.artifacts) == set(claim.artifacts), step.name
    assert declared
    # a declaration that the build misses would never be judged
    assert {step.name for step in steps} == set(claims(ROOT / "analysis/claims"))


def test_a_frame_of_the_wrong_shape_is_no_silent_pass():
    with pytest.raises(DataError, match="no column metric"):
        Relation(cell=A, follows=A, because="{0}.").verdicts(
            {"table": pd.DataFrame({"model": ["a"], "printed": ["1"]})}
        )
