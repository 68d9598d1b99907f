"""What the faces of both packages promise: every name has an example, which runs in an empty folder."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]


def run_examples(package: ModuleType, name: str) -> int:
    """Run the examples of an offered name, or of its class where it is an instance; return how many there are."""
    found, finder = getattr(package, name), doctest.DocTestFinder()
    examples = [test for each in (found, type(found)) for test in finder.find(each, name, globs={}) if test.examples]
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for test in examples:
        runner.run(test, out=said.append)
    assert not said, "".join(said)
    return len(examples)


def quick_start(package: str) -> str:
    """The quick start of a package's README."""
    [code] = re.findall(r"```python\n(.*?)```", (ROOT / f"packages/{package}/README.md").read_text(), re.DOTALL)
    assert sum(bool(line) and not line.startswith("import") for line in code.splitlines()) <= 5
    return code


def loaded_by(code: str, folder: Path) -> set[str]:
    """Top-level modules that are loaded once `code` has run in a new process."""
    show = f"{code}\nimport sys; print('\\n'.join({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", show], cwd=folder, capture_output=True, text=True, check=True)
    return set(done.stdout.split())
