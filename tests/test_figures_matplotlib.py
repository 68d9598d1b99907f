"""Figures drawn in matplotlib: legends and error bars come out right, texts escaped, pictures plain."""

from __future__ import annotations

import io

import pytest

from artifacts.errors import SpecError
from figures import from_matplotlib, matplotlib_style
from figures._press.render import assets, tex

matplotlib = pytest.importorskip("matplotlib")
pytest.importorskip("matplot2tikz")
matplotlib.use("Agg")


@pytest.fixture
def drawing():
    import matplotlib.pyplot as plt
    import numpy as np

    figure, (left, right) = plt.subplots(1, 2, figsize=(6, 2.6))
    left.errorbar(
        [1, 2, 3],
        [1, 2, 1.5],
        yerr=[0.1, 0.2, 0.3],
        xerr=0.05,
        capsize=2,
        label="with_error 100%",
        **matplotlib_style("rope"),
    )
    left.plot([1, 2, 3], [0.5, 0.6, 0.7], "--", label="plain")
    left.set(title="A & B", xlabel="$a$ (x_1)", ylabel="value #1")
    left.legend()
    right.imshow(np.arange(16).reshape(4, 4), extent=(0, 2, 0, 2), aspect="auto")
    right.bar([0.5, 1.5], [1, 1.5], width=0.4, yerr=[0.2, 0.1], label="bars", color="white")
    right.scatter([0.2], [0.4], label="dots")
    right.annotate("50% off", (1, 0.2))
    right.legend()
    yield figure
    plt.close(figure)


def test_golden(drawing, golden):
    written = tex(from_matplotlib(drawing, caption="c"), "drawn").split("endofdump\\endcsname\n")[1]
    golden("kinds/matplotlib.tex", written)


def test_one_legend_entry_per_name_and_real_error_bars(drawing):
    text = tex(from_matplotlib(drawing, caption="c"), "drawn")
    entries = [line for line in text.splitlines() if line.startswith("\\addlegendentry")]
    assert entries == [f"\\addlegendentry{{{t}}}" for t in ("plain", r"with\_error 100\%", "dots", "bars")]
    assert text.count("\\addlegendimage") == 4
    image = text[: text.index(entries[1])].splitlines()[-1]
    assert "{rgb,255:red,0;green,114;blue,178}" in image
    assert "mark=*" in image
    assert text.count("y dir=both, y explicit") == 2
    assert text.count("x dir=both, x explicit") == 1
    assert "x y half\n1 1 0.1\n2 2 0.2\n3 1.5 0.3\n" in text
    assert "x y half\n0.5 1 0.2\n1.5 1.5 0.1\n" in text
    for said in (r"title={A \& B}", r"xlabel={$a$ (x\_1)}", r"ylabel={value \#1}", r"{50\% off}"):
        assert said in text
    assert "scale=" not in text.split("endofdump\\endcsname\n")[1]


def test_hollow_marks_are_hollow_in_the_legend_too():
    from matplotlib.figure import Figure as Drawing

    drawing = Drawing(figsize=(3, 2))
    axes = drawing.subplots()
    axes.plot([1, 2], [1, 2], **{**matplotlib_style("query"), "markerfacecolor": "white"}, label="hollow")
    axes.plot([1, 2], [2, 3], **matplotlib_style("key"), label="filled")
    axes.legend()
    lines = tex(from_matplotlib(drawing, caption="c"), "d").splitlines()
    hollow, filled = (line for line in lines if line.startswith("\\addlegendimage"))
    assert "mark options={solid, fill={rgb,255:red,255;green,255;blue,255}}" in hollow
    assert "mark options={solid}" in filled


def test_the_drawing_is_left_alone(drawing):
    before = [len(a.get_children()) for a in drawing.axes]
    from_matplotlib(drawing, caption="c")
    assert [len(a.get_children()) for a in drawing.axes] == before
    assert drawing.axes[0].get_legend() is not None


def test_pictures_are_plain_rgb(drawing):
    from PIL import Image

    figure = from_matplotlib(drawing, caption="c")
    ((name, content),) = assets(figure, "drawn").items()
    assert f"{{{name}}}" in tex(figure, "drawn")
    picture = Image.open(io.BytesIO(content))
    assert (picture.mode, picture.size, picture.info) == ("RGB", (32, 32), {})
    assert picture.getpixel((0, 0)) == picture.getpixel((7, 7)) == (68, 1, 84)


def test_what_cannot_be_converted_is_said(drawing):
    drawing.legend()
    with pytest.raises(SpecError, match="legends of the whole figure"):
        from_matplotlib(drawing, caption="c")


def test_entities_look_the_same_in_matplotlib():
    assert matplotlib_style("drope") == {
        "color": pytest.approx((213 / 255, 94 / 255, 0)),
        "marker": "s",
        "linestyle": "--",
    }
    assert matplotlib_style("reported")["markerfacecolor"] == "white"
