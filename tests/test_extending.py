"""Each recipe of docs/extending.md works as written in a project other than the thesis."""

import importlib
import inspect
import re
import shlex
import shutil
import subprocess
import sys

import pytest
import yaml

from boundpaper.store.descriptor import resource
from conftest import ROOT, run
from specimens import begin

TEXT = (ROOT / "docs/extending.md").read_text()
RECIPES = dict(part.split("\n", 1) for part in re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:] if "```" in part)
BLOCK = re.compile(r"^(Into|Append to) `([\w./]+)`:\n\n```\w+\n(.*?)```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^    python (.+)$", re.MULTILINE)
OUTPUTS = {
    "A document": "nothing wrong", "A source": "nothing wrong",
    "A model": "of 'bean-1b', required by artifacts/sources/models.csv", "A measured model": "| tiny-rope |",
    "A claim": "1 passed", "A cell check": "18.4 minus 12.1.", "A statistic": "", "A result": "nothing wrong",
    "An exhibit": "out/figures/model_sizes.tex", "An experiment": "nothing wrong",
}  # fmt: skip
CONTINUES = {"A cell check": ("A source",)}  # recipes that continue an earlier one


READERS = """\
reader-s,Reader-Small,Reader,0.1,6,8,8,64,4096,4096,512,full,RoPE,invented/reader-s,,,10000,captured,none,recall T1
reader-l,Reader-Large,Reader,0.4,12,16,16,64,4096,4096,512,full,RoPE,invented/reader-l,,,10000,captured,none,recall T1
"""
SCORES = """
- name: scores
  title: Scores
  origin: [{document: recall, section: Scores}]
  covers: {resource: models, key: model, when: {subject: captured}, field: length, values: ["512"]}
  fields: [{model*: Key of the model, refers: models}, {length*: Length of the text}]
"""


@pytest.fixture(scope="module")
def other_paper(tmp_path_factory):
    """Return the other paper with scores and a table of models, which has the columns of the thesis' table."""
    root = begin(tmp_path_factory.mktemp("extending") / "paper")
    sources, package_file = root / "artifacts/sources", root / "artifacts/datapackage.yaml"
    header = (ROOT / "artifacts/sources/models.csv").read_text().splitlines()[0]
    (sources / "models.csv").write_text(f"{header}\n{READERS}")
    (sources / "scores.csv").write_text("model,length\nreader-s,512\nreader-l,512\n")
    models = yaml.safe_dump([resource(ROOT, "models")], sort_keys=False)
    package_file.write_text(package_file.read_text() + models + SCORES)
    result = run(root, "analyze")
    assert result.returncode == 0, result.stderr
    return root


def test_every_recipe_has_at_most_three_files():
    assert set(RECIPES) == set(OUTPUTS)
    for name, text in RECIPES.items():
        assert 1 <= len({path for _, path, _ in BLOCK.findall(text)}) <= 3, name
        assert COMMAND.search(text), name


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_recipe_works_as_written(name, other_paper, tmp_path):
    if name in ("A measured model", "An experiment"):
        pytest.importorskip("torch")
    root = tmp_path / "paper"
    shutil.copytree(other_paper, root)
    for mode, path, text in BLOCK.findall("".join(RECIPES[recipe] for recipe in (*CONTINUES.get(name, ()), name))):
        assert (root / path).exists() == (mode == "Append to"), path
        text = text.replace(",thesis\n", ",recall text\n")  # a document section that the project has
        (root / path).parent.mkdir(parents=True, exist_ok=True)  # a new folder needs only its name
        with (root / path).open("a") as stream:
            stream.write(text)
    printed = ""
    for command in COMMAND.findall(RECIPES[name]):
        arguments = shlex.split(command.removesuffix(" || true"))
        is_build = arguments[0] == "build.py"
        result = (
            run(root, *arguments[1:])
            if is_build
            else subprocess.run([sys.executable, *arguments], cwd=root, text=True, check=False, capture_output=True)
        )
        assert result.returncode == 0 or command.endswith("|| true"), f"{command}\n{result.stderr}"
        printed += result.stdout + result.stderr
    assert OUTPUTS[name] in printed


CALL = re.compile(r"`(\w+)\(([^`]*)\)`")


@pytest.mark.parametrize("package", ["boundpaper.claims", "boundpaper.tables"])
def test_listed_calls_match_the_existing_functions(package):
    """Every function is listed, and each listed call has only existing parameters and all required ones."""
    module = importlib.import_module(package)
    functions = {name: value for name in module.__all__ if inspect.isfunction(value := getattr(module, name))}
    listed = {name: arguments for name, arguments in CALL.findall(TEXT) if name in functions}
    assert functions.keys() - listed.keys() == set()
    for name, arguments in listed.items():
        known = inspect.signature(functions[name]).parameters
        parameters = [word.partition("=")[0].strip() for word in arguments.split(",") if word.strip()]
        has_keywords = any(item.kind is item.VAR_KEYWORD for item in known.values())
        assert has_keywords or set(parameters) <= set(known), name
        required = [
            item.name for item in known.values() if item.default is item.empty and item.kind < item.KEYWORD_ONLY
        ]
        assert parameters[: len(required)] == required, name
