"""`make paper` installs neither torch nor numba, so building the paper must not import them."""

import subprocess
import sys

from conftest import ROOT

HEAVY = ("numba", "torch", "transformers", "datasets", "accelerate", "sklearn", "gguf")
CODE = """
import importlib, sys
sys.path.insert(0, ".")

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {heavy!r}:
            raise ModuleNotFoundError(f"no {{name}}")

sys.meta_path.insert(0, Absent())
for name in sys.stdin.read().split():
    try:
        importlib.import_module(name)
    except Exception as error:
        print(name, type(error).__name__, error)
"""


def test_all_that_the_paper_is_built_from_is_imported_without_heavy_libraries():
    folders = ("analysis/studies", "analysis/claims", "tables", "figures")
    files = [path.relative_to(ROOT) for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    assert len(files) > 300
    names = " ".join(".".join(file.with_suffix("").parts).removesuffix(".__init__") for file in files)
    command = [sys.executable, "-c", CODE.format(heavy=HEAVY)]
    result = subprocess.run(command, cwd=ROOT, input=names, capture_output=True, text=True, check=True)
    assert result.stdout == ""
