"""The tour of the README works as written in a copy of the project."""

import re

import pytest

from conftest import ROOT, run

README = (ROOT / "README.md").read_text()
FILES = re.findall(r"`((?:tables|figures)/qwen_drop\.py)`", README)
BLOCKS = dict(zip(FILES, re.findall(r"```python\n(.*?)```", README, re.DOTALL), strict=True))


def test_tour_has_one_table_and_one_figure_of_few_lines():
    assert set(BLOCKS) == {"tables/qwen_drop.py", "figures/qwen_drop.py"}
    assert all(len(text.splitlines()) < 30 for text in BLOCKS.values())


@pytest.mark.latex
def test_tour_table_and_figure_work_as_one_file_each(project):
    for path, text in BLOCKS.items():
        (project / path).write_text(text)
    table = run(project, "table", "qwen_drop")
    assert table.returncode == 0, table.stderr
    assert "Qwen3-14B" in table.stdout
    figure = run(project, "figure", "qwen_drop", "--format", "png")
    assert figure.returncode == 0, figure.stderr
    assert (project / figure.stdout.strip()).stat().st_size > 5000


def test_every_command_that_the_readme_lists_exists():
    listed = set(re.findall(r"^\| `([a-z]+)", README.split("## Commands")[1].split("## Layout")[0], re.MULTILINE)) | {
        "list",
        "why",
        "completion",
        "publish",
        "lint",
        "zip",
        "html",
    }
    existing = set(re.findall(r"^  ([a-z]+) ", run(ROOT, "--help").stdout, re.MULTILINE))
    assert listed == existing


def test_every_file_that_the_readme_names_exists():
    for name in re.findall(r"\]\(([\w/.]+)\)|`((?:docs|artifacts|paper)/[\w.]+\.\w+)`", README):
        assert (ROOT / (name[0] or name[1])).is_file(), name
