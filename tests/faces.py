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
    """Run the docstring examples of a public name and of its class; return the number of docstrings with examples."""
    member, finder = getattr(package, name), doctest.DocTestFinder()
    examples = [
        test for owner in (member, type(member)) for test in finder.find(owner, name, globs={}) if test.examples
    ]
    failures: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for test in examples:
        runner.run(test, out=failures.append)
    assert not failures, "".join(failures)
    return len(examples)


SECTION = re.compile(r"^(\w+)\n-{3,}\n", re.MULTILINE)


def described(member: object) -> set[str]:
    """Return the names that the docstrings of an object and its bases list under Parameters and Attributes."""
    names: set[str] = set()
    texts = [vars(base).get("__doc__") for base in member.__mro__] if isinstance(member, type) else [member.__doc__]
    for text in texts:
        _, *sections = SECTION.split(inspect.cleandoc(text or ""))
        for heading, body in zip(sections[::2], sections[1::2], strict=True):
            if heading in ("Parameters", "Attributes"):
                lines = [line for line in body.splitlines() if line and not line[0].isspace()]
                names |= {name.strip(" *") for line in lines for name in line.partition(" : ")[0].split(",")}
    return names


def explains_itself(member: object) -> bool:
    """Return whether an object can have a docstring of its own: a class or function, not a constant or type alias."""
    return inspect.isclass(member) or inspect.isfunction(inspect.unwrap(member))  # a cached function is wrapped


def undescribed(name: str, member: object) -> list[str]:
    """Return parameters of a function, or of a class and its public methods, that its docstring does not explain."""
    if not explains_itself(member):
        return []
    known = described(member)
    missing = [f"{name}({parameter})" for parameter in inspect.signature(member).parameters if parameter not in known]
    for method, function in vars(member).items() if isinstance(member, type) else ():
        if inspect.isfunction(function) and not method.startswith("_") and method not in known:
            missing += undescribed(f"{name}.{method}", function)
    return [parameter for parameter in missing if not parameter.endswith("(self)")]


def untyped(name: str, member: object) -> list[str]:
    """Return parameters, results and attributes of a function, class or instance that have no precise type."""
    if inspect.isroutine(member):
        signature = inspect.signature(member)
        annotations = {each.name: each.annotation for each in signature.parameters.values() if each.name != "self"}
        annotations["return"] = signature.return_annotation
        return [f"{name}({parameter})" for parameter, annotation in annotations.items() if _vague(annotation)]
    missing = []
    for base in (member if isinstance(member, type) else type(member)).__mro__:
        namespace = vars(base) if base.__module__.startswith(("boundpaper", "keyquery")) else {}
        fields = namespace.get("__annotations__", {})
        missing += [
            f"{name}.{field}"
            for field, annotation in fields.items()
            if not field.startswith("_") and _vague(annotation)
        ]
        for attribute, value in namespace.items():
            function = getattr(value, "fget", getattr(value, "__func__", value))
            if inspect.isfunction(function) and not attribute.startswith("_") and attribute not in fields:
                missing += untyped(f"{name}.{attribute}", function)
    return missing


def _vague(annotation: object) -> bool:
    """Return whether an annotation is missing or contains `Any`; annotations with numpy types are accepted."""
    text = annotation if isinstance(annotation, str) else repr(annotation)
    return annotation is inspect.Signature.empty or ("Any" in re.findall(r"\w+", text) and "numpy" not in text)


def public(package: str) -> list[tuple[str, str]]:
    """Return pairs (module, name): what `docs/extending.md` imports from a package, and `__all__` of these modules."""
    text = (ROOT / "docs/extending.md").read_text(encoding="utf-8")
    imports = re.findall(rf"^\s*(?:\(`)?from ({package}[\w.]*) import ([\w, ]+)", text, re.MULTILINE)
    modules = dict.fromkeys(module for module, _ in imports)
    pairs = [(module, name) for module, names in imports for name in names.split(", ")]
    pairs += [(module, name) for module in modules for name in getattr(importlib.import_module(module), "__all__", ())]
    return sorted(set(pairs))


def quick_start(package: str) -> str:
    """Return the code of the quick start in a package's README."""
    [code] = re.findall(r"```python\n(.*?)```", (ROOT / f"packages/{package}/README.md").read_text(), re.DOTALL)
    assert sum(bool(line) and not line.startswith("import") for line in code.splitlines()) <= 5
    return str(code)


def loaded_by(code: str, folder: Path) -> set[str]:
    """Return the top-level modules loaded after `code` has run in a new process."""
    program = f"{code}\nimport sys; print('\\n'.join({{name.partition('.')[0] for name in sys.modules}}))"
    result = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=True)
    return set(result.stdout.split())
