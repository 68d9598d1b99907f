"""Random matplotlib drawings lose nothing silently; examples of docs/matplotlib.md are converted as the page says."""

import pytest

from boundpaper.errors import SpecError
from boundpaper.figures import from_matplotlib
from boundpaper.figures.matplotlib import artists
from gallery import draw, examples
from soak.drawings import judge, make, run

pytestmark = pytest.mark.latex


def test_random_drawings_lose_nothing_unreported():
    faults: list[str] = []
    outcomes = run(range(16), say=faults.append)
    assert faults == []
    assert outcomes["converted"] >= 3
    assert outcomes["drawn"] >= 3


@pytest.mark.parametrize("seed", [1, 9])
def test_lost_value_or_text_is_noticed_by_the_check(seed, monkeypatch):
    monkeypatch.setattr(artists, "number", lambda value: f"{value:.2g}")
    outcome, faults = judge(make(seed))
    assert outcome == "converted"
    assert any("the point" in fault for fault in faults)
    monkeypatch.undo()
    drawing = make(seed)
    drawing.texts.append("an extra text")
    assert judge(drawing)[1] == ["the text 'an extra text' is lost"]


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
def test_manual_example_is_converted_as_the_manual_says(example):
    if example.heading == "Refused":
        with pytest.raises(SpecError):
            from_matplotlib(draw(example), caption="c")
        return
    note = from_matplotlib(draw(example), caption="c").conversion_note
    assert note.startswith(example.heading[0].lower() + example.heading[1:])
