"""Subjects: roles, pairs and families come from tables; a name's shape selects nothing."""

import pytest

from boundpaper.errors import DataError
from boundpaper.figures.style import of_family
from boundpaper.store import subjects
from boundpaper.store.paths import FAMILIES, MODELS, SUBJECTS
from conftest import ROOT


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with the tables of subjects, families and models, in which a test writes others."""
    for name in (FAMILIES, MODELS, SUBJECTS):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text())

    def with_subjects(change):
        path = tmp_path / SUBJECTS
        path.write_text(change(path.read_text()))
        known = subjects.subjects(tmp_path)
        monkeypatch.setattr(subjects, "subjects", lambda root=tmp_path: known)
        return tmp_path

    return with_subjects


def test_subjects_of_a_role_come_in_the_order_of_the_table_whatever_their_names(project):
    project(lambda text: text + "mine,lab,,,0,,pair and side: none\n")
    measured = ["tiny-rope-nf4", "mine", "tiny-drope", "tiny-rope", "smollm2-135m"]
    assert list(subjects.of_role(measured)) == ["tiny-rope", "tiny-drope", "mine"]
    assert subjects.of_role(measured)["tiny-rope"].seed == 1
    assert list(subjects.of_role(measured, "pretrained")) == ["smollm2-135m"]


def test_a_new_model_of_a_new_family_has_a_look_of_its_own(tmp_path, project):
    root = project(lambda text: text)
    lines = (root / MODELS).read_text().splitlines()
    new = lines[1].replace("ministral3-3b,Ministral-3-3B,Ministral 3", "gemma3-4b,Gemma-3-4B,Gemma 3")
    (root / MODELS).write_text("\n".join([*lines, new]) + "\n")
    with (root / FAMILIES).open("a") as stream:
        stream.write("Gemma 3,7,gemma3,okyellow,otimes*,solid,,hatch: plain bars\n")
    last = subjects.families(root)[-1]
    looks = of_family(last, subjects.subjects())
    assert looks["gemma3-4b"].label == "Gemma-3-4B"
    assert {look.color for look in looks.values()} == {"okyellow"}


def test_a_model_added_to_a_family_changes_no_look_of_the_others(project):
    root = project(lambda text: text)
    before = {family.name: of_family(family, {}) for family in subjects.families(root)}
    lines = (root / MODELS).read_text().splitlines()
    new = lines[1].replace("ministral3-3b,Ministral-3-3B", "ministral3-24b,Ministral-3-24B")
    (root / MODELS).write_text("\n".join([*lines, new]) + "\n")
    after = {family.name: of_family(family, {}) for family in subjects.families(root)}
    added = after["Ministral 3"].pop("ministral3-24b")
    assert after == before
    assert added not in after["Ministral 3"].values()


def test_a_seed_that_is_no_number_names_the_table(project):
    with pytest.raises(DataError, match=r"subjects.csv: 'one' is no whole number"):
        project(lambda text: text.replace("tiny-drope,lab,,drope,1", "tiny-drope,lab,,drope,one"))
