"""Styles for entities of a garden, for figures without a paper."""

import pytest

VOCABULARY = """
entities:
  beans: {color: okblue, label: Beans}
  peas: {color: okvermillion, mark: square*, dash: dashed, hatch: north east lines, label: Peas}
  leaf: {color: okpurple, label: leaf}
  stem: {color: okgreen, mark: square*, dash: dashed, hatch: north east lines, label: stem}
"""


@pytest.fixture(scope="session")
def garden(tmp_path_factory):
    """Return a project that contains only styles."""
    root = tmp_path_factory.mktemp("garden")
    (root / "artifacts").mkdir()
    (root / "artifacts/datapackage.yaml").write_text("name: garden\ntitle: Garden\nresources: []\n")
    (root / "paper").mkdir()
    (root / "paper/vocabulary.yaml").write_text(VOCABULARY)
    return root


@pytest.fixture(autouse=True, scope="module")
def _garden_for_the_module(garden):
    """Open the garden project for figures made once per module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BOUNDPAPER_ROOT", str(garden))
        yield


@pytest.fixture(autouse=True)
def _garden(monkeypatch, garden, _opened):
    """Open the garden project instead of the specimen."""
    monkeypatch.setenv("BOUNDPAPER_ROOT", str(garden))
