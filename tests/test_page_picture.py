"""The README's picture of a page of the thesis is current."""

import page_picture


def test_readme_picture_shows_the_current_figure():
    recorded = page_picture.RECORD.read_text().split()[0]
    assert recorded == page_picture.source(), "run: python build.py paper && python tests/page_picture.py"
    assert page_picture.PICTURE.read_bytes()[:4] == b"\x89PNG"
    assert page_picture.PICTURE.name in (page_picture.ROOT / "README.md").read_text()
