"""Checks of the public names of both packages: each has an example that runs in an empty folder."""

import doctest
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]


def run_examples(package: ModuleType, name: str) -> int:
    """Run the examples of a public name, or of its class if it is an instance; return the number of examples."""
    member, finder = getattr(package, name), doctest.DocTestFinder()
    examples = [test for each in (member, type(member)) for test in finder.find(each, name, globs={}) if test.examples]
    failures: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for test in examples:
        runner.run(test, out=failures.append)
    assert not failures, "".join(failures)
    return len(examples)


SECTION = re.compile(r"^(\w+)\n-{3,}\n", re.MULTILINE)


def described(found: object) -> set[str]:
    """Return the names explained in the sections Parameters and Attributes of a docstring, base classes included."""
    names: set[str] = set()
    texts = [vars(each).get("__doc__") for each in found.__mro__] if isinstance(found, type) else [found.__doc__]
    for text in texts:
        _, *parts = SECTION.split(inspect.cleandoc(text or ""))
        for heading, entries in zip(parts[::2], parts[1::2], strict=True):
            if heading in ("Parameters", "Attributes"):
                lines = [line for line in entries.splitlines() if line and not line[0].isspace()]
                names |= {name.strip(" *") for line in lines for name in line.partition(" : ")[0].split(",")}
    return names


def explains_itself(found: object) -> bool:
    """Return whether an object is a class or function; constants and type aliases have no docstring of their own."""
    return inspect.isclass(found) or inspect.isfunction(inspect.unwrap(found))  # a cached function is wrapped


def undescribed(name: str, found: object) -> list[str]:
    """Return parameters of a function, or of a class and its public methods, that its docstring does not explain."""
    if not explains_itself(found):
        return []
    known = described(found)
    lacking = [f"{name}({parameter})" for parameter in inspect.signature(found).parameters if parameter not in known]
    for method, function in vars(found).items() if isinstance(found, type) else ():
        if inspect.isfunction(function) and not method.startswith("_") and method not in known:
            lacking += undescribed(f"{name}.{method}", function)
    return [each for each in lacking if not each.endswith("(self)")]


def untyped(name: str, found: object) -> list[str]:
    """Return parameters, results and attributes of a function, class or instance that have no precise type."""
    if inspect.isroutine(found):
        signature = inspect.signature(found)
        written = {each.name: each.annotation for each in signature.parameters.values() if each.name != "self"}
        written["return"] = signature.return_annotation
        return [f"{name}({each})" for each, words in written.items() if _loose(words)]
    lacking = []
    for each in (found if isinstance(found, type) else type(found)).__mro__:
        ours = vars(each) if each.__module__.startswith(("boundpaper", "keyquery")) else {}
        fields = ours.get("__annotations__", {})
        lacking += [f"{name}.{field}" for field, words in fields.items() if not field.startswith("_") and _loose(words)]
        for part, value in ours.items():
            function = getattr(value, "fget", getattr(value, "__func__", value))
            if inspect.isfunction(function) and not part.startswith("_") and part not in fields:
                lacking += untyped(f"{name}.{part}", function)
    return lacking


def _loose(words: object) -> bool:
    """Return whether an annotation is missing or contains `Any`; annotations with numpy types are accepted."""
    text = words if isinstance(words, str) else repr(words)
    return words is inspect.Signature.empty or ("Any" in re.findall(r"\w+", text) and "numpy" not in text)


def public(package: str) -> list[tuple[str, str]]:
    """Return module and name of all imports from a package in `docs/extending.md`, and `__all__` of these modules."""
    text = (ROOT / "docs/extending.md").read_text(encoding="utf-8")
    named = re.findall(rf"^\s*(?:\(`)?from ({package}[\w.]*) import ([\w, ]+)", text, re.MULTILINE)
    modules = dict.fromkeys(module for module, _ in named)
    found = [(module, name) for module, names in named for name in names.split(", ")]
    found += [(module, name) for module in modules for name in getattr(importlib.import_module(module), "__all__", ())]
    return sorted(set(found))


def quick_start(package: str) -> str:
    """Return the code of the quick start in a package's README."""
    [code] = re.findall(r"```python\n(.*?)```", (ROOT / f"packages/{package}/README.md").read_text(), re.DOTALL)
    assert sum(bool(line) and not line.startswith("import") for line in code.splitlines()) <= 5
    return str(code)


def loaded_by(code: str, folder: Path) -> set[str]:
    """Return the top-level modules loaded after `code` has run in a new process."""
    show = f"{code}\nimport sys; print('\\n'.join({{name.partition('.')[0] for name in sys.modules}}))"
    result = subprocess.run([sys.executable, "-c", show], cwd=folder, capture_output=True, text=True, check=True)
    return set(result.stdout.split())
