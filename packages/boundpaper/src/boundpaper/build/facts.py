"""Read from a source file's text what the file defines, without importing it; cache these facts between runs."""

import ast
import importlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from boundpaper.build.kinds import KINDS
from boundpaper.errors import SpecError, ThesisError
from boundpaper.store.cached_files import keep_value, read_kept
from boundpaper.store.files import Stamp, digest, status_stamp

Facts = dict[str, Any]
_FORMAT = 4
_STEP_CLASSES = {kind.declared for kind in KINDS if kind.declared}
_ARTIFACT_CLASS = "Artifact"  # a declaration names an artifact by a call: Artifact("heights")
SETTLED = 2_000_000_000  # the age of a file in ns from which its time stamps prove that it has not changed


@lru_cache(1024)
def python_facts(text: str) -> Facts:
    """Return the imports, public functions and declared steps of a Python file.

    Returns
    -------
    dict
        `imports`: dotted names (`from module import name` gives `module.name` and, as it may be a module,
        `module.name.*`); `functions`: for each public top-level function its `name`, `line`, `artifacts` (parameters
        without default), `options`, and first docstring paragraph `doc`; `declared`: the same for each declared step,
        with the called class `by`, its first string as `doc`, and the artifacts that it names; `error`: empty, or why
        the file cannot be read.
    """
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        return {"imports": [], "functions": [], "declared": [], "error": f"line {error.lineno}: {error.msg}"}
    imports: list[str] = []
    for node in _statements(tree.body):
        if isinstance(node, ast.Import):
            imports += [name for alias in node.names for name in (alias.name, f"{alias.name}.*")]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            imports += [node.module, *names, *(f"{name}.*" for name in names)]
    functions = [_function_facts(n) for n in tree.body if isinstance(n, ast.FunctionDef) and not n.name.startswith("_")]
    declared = list(_declarations(tree))
    return {"imports": sorted(set(imports)), "functions": functions, "declared": declared, "error": ""}


def _statements(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield statements and the statements inside them; expressions, which make up most of a tree, are not visited."""
    for node in nodes:
        yield node
        for name in ("body", "handlers", "orelse", "finalbody", "cases"):
            yield from _statements(getattr(node, name, ()))


def _function_facts(node: ast.FunctionDef) -> Facts:
    positional = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
    n_required = len(positional) - len(node.args.defaults)
    required, optional = positional[:n_required], positional[n_required:]
    for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
        (required if default is None else optional).append(argument.arg)
    doc = " ".join((ast.get_docstring(node) or "").strip().split("\n\n")[0].split())
    return {"name": node.name, "line": node.lineno, "artifacts": required, "options": optional, "doc": doc}


def _declarations(tree: ast.Module) -> Iterator[Facts]:
    """Yield the steps that a file declares as `name = Cells("A statement.", ...)`."""
    variables = {name: value for node in tree.body for name, value in _assigned_variables(node)}
    definitions: dict[str, ast.AST] = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    definitions |= variables
    for name, value in variables.items():
        if _called_name(value) in _STEP_CLASSES and not name.startswith("_"):
            yield {
                "name": name,
                "line": value.lineno,
                "artifacts": list(dict.fromkeys(_artifacts_named(value, definitions, set()))),
                "options": [],
                "doc": " ".join(" ".join(_first_text(value)).split()),
                "by": _called_name(value),
            }


def _called_name(node: ast.AST) -> str:
    """Return the bare name of the called function; empty if the node is not a call."""
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def _first_text(call: ast.AST) -> list[str]:
    """Return the first argument of a call, in a list; the list is empty if the argument is no string literal."""
    arguments = call.args[:1] if isinstance(call, ast.Call) else []
    return [node.value for node in arguments if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def _assigned_variables(node: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """Yield the variables that a statement assigns, each with its expression."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    for target in targets:
        if isinstance(target, ast.Name) and isinstance(node, ast.Assign | ast.AnnAssign) and node.value:
            yield target.id, node.value


def _artifacts_named(node: ast.AST, definitions: Mapping[str, ast.AST], seen: set[str]) -> Iterator[str]:
    """Yield the artifacts that an expression names, directly or through variables of the file, in order."""
    if _called_name(node) == _ARTIFACT_CLASS:
        yield from _first_text(node)
    if isinstance(node, ast.Name) and node.id in definitions and node.id not in seen:
        seen.add(node.id)
        yield from _artifacts_named(definitions[node.id], definitions, seen)
    for child in ast.iter_child_nodes(node):
        yield from _artifacts_named(child, definitions, seen)


def function_named(name: str) -> Callable[..., Any]:
    """Import and return the function named `module:function`."""
    module, _, function = name.partition(":")
    return getattr(importlib.import_module(module), function)  # type: ignore[no-any-return]


class FactReader:
    """A reader of facts: it hashes each file once per run, and keeps facts by content hash in a file `cache`, if any.

    A forgotten file is read again only if its time stamps, size or inode differ, or if it was younger than `SETTLED`
    when it was read, since its stamps would not show a second change in the same moment.
    """

    def __init__(self, root: Path, cache: Path | None = None) -> None:
        self.root = root
        self._root_path = str(root)
        self._cache = cache
        self._hashes: dict[str, str] = {}
        self._settled: dict[str, tuple[Stamp, str]] = {}
        self._changed = False
        self._facts: dict[str, Any] = {}
        try:
            content: dict[str, Any] = read_kept(cache) if cache else {}
            if content.get("format") == _FORMAT and all(_is_entry(entry) for entry in content["facts"].values()):
                self._facts = content["facts"]
        except (OSError, ValueError, KeyError, AttributeError, TypeError, RecursionError):
            pass  # unreadable or damaged cache: read every file again

    def digest(self, path: str) -> str:
        """Return the content hash of a file, memoised for this run."""
        if path not in self._hashes:
            full_path = os.path.join(self._root_path, path)  # for thousands of files, path objects are slow
            self._hashes[path] = self._digest(full_path)
        return self._hashes[path]

    def _digest(self, full_path: str) -> str:
        now, stamp = time.time_ns(), status_stamp(full_path)
        if stamp and (known := self._settled.get(full_path)) and known[0] == stamp:
            return known[1]
        content_hash = digest(full_path)
        if stamp and max(stamp[:2]) < now - SETTLED:
            self._settled[full_path] = stamp, content_hash
        return content_hash

    def digests(self, paths: Iterable[str]) -> dict[str, str]:
        """Return content hashes of files, in order; faster than `digest` for tens of thousands of files."""
        hashes = self._hashes
        return {path: hashes[path] if path in hashes else self.digest(path) for path in paths}

    def forget(self, path: str) -> None:
        """Drop the memoised hash of a file that may have changed."""
        self._hashes.pop(path, None)

    def python(self, path: str) -> Facts:
        """Return the facts of a Python file (see `python_facts`)."""
        return self._cached_facts(path, "", python_facts)

    def calls(self, path: str, reader: str) -> Facts:
        """Return a template's `error` and `calls` (function, name, line), as the function named `reader` reads them."""

        def parse(text: str) -> Facts:
            try:
                return {"calls": [list(call) for call in function_named(reader)(text)], "error": ""}
            except SpecError as error:
                return {"calls": [], "error": str(error)}

        return self._cached_facts(path, reader, parse)

    def _cached_facts(self, path: str, reader: str, parse: Callable[[str], Facts]) -> Facts:
        entry = self._facts.get(path)
        digest_and_reader = f"{self.digest(path)} {reader}"
        if not entry or entry["stamp"] != digest_and_reader:
            try:
                facts = parse((self.root / path).read_text(encoding="utf-8-sig"))
            except UnicodeDecodeError as error:
                line = error.object.count(b"\n", 0, error.start) + 1
                location = str(line) if reader else f"line {line}"
                fault = f"{location}: not UTF-8 (byte {error.start}); save the file in that encoding"
                facts = {"imports": [], "functions": [], "declared": [], "calls": [], "error": fault}
            entry = self._facts[path] = {"stamp": digest_and_reader, **facts}
            self._changed = True
        return entry

    def save(self) -> None:
        """Save the facts if any are new; if the cache cannot be written, the next run reads the facts again."""
        if self._changed and self._cache:
            with suppress(ThesisError):
                keep_value(self._cache, {"format": _FORMAT, "facts": self._facts})
            self._changed = False


def _is_entry(entry: Any) -> bool:
    """Return whether a cached entry has the form that `FactReader` writes."""
    if not isinstance(entry["stamp"], str) or not isinstance(entry["error"], str):
        return False
    if "functions" not in entry:
        return all(
            isinstance(function, str) and isinstance(name, str) and isinstance(line, int)
            for function, name, line in entry["calls"]
        )
    return all(isinstance(name, str) for name in entry["imports"]) and all(
        isinstance(definition["name"], str)
        and isinstance(definition["doc"], str)
        and isinstance(definition["line"], int)
        and all(isinstance(name, str) for name in (*definition["artifacts"], *definition["options"]))
        and isinstance(definition.get("by", ""), str)
        for definition in (*entry["functions"], *entry["declared"])
    )
