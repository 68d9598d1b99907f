"""Roles of the measured models come from a table of the thesis, not from their names."""

import pytest

from analysis import subjects
from boundpaper.errors import DataError
from conftest import ROOT


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Return a function that writes a changed table of subjects to a test project, which is then the open project."""
    path = tmp_path / subjects.SUBJECTS
    path.parent.mkdir(parents=True)

    def with_subjects(change):
        path.write_text(change((ROOT / subjects.SUBJECTS).read_text()))
        changed = subjects.subjects(tmp_path)
        monkeypatch.setattr(subjects, "subjects", lambda root=tmp_path: changed)

    return with_subjects


def test_subjects_of_a_role_are_in_table_order_regardless_of_name(project):
    project(lambda text: text + "mine,lab,,,0,,pair and side: none\n")
    measured = ["tiny-rope-nf4", "mine", "tiny-drope", "tiny-rope", "smollm2-135m"]
    assert list(subjects.subjects_of_role(measured)) == ["tiny-rope", "tiny-drope", "mine"]
    assert subjects.subjects_of_role(measured)["tiny-rope"].seed == 1
    assert list(subjects.subjects_of_role(measured, "pretrained")) == ["smollm2-135m"]


def test_seed_that_is_no_number_is_refused_with_the_table(project):
    with pytest.raises(DataError, match=r"subjects.csv: 'one' is not a whole number"):
        project(lambda text: text.replace("tiny-drope,lab,,drope,1", "tiny-drope,lab,,drope,one"))
