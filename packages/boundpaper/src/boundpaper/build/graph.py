"""Read the graph of steps from file names, parameters and docstrings; a step makes an artifact or exhibit.

A step is a function or a chapter template; parameters without default name the artifacts that a function reads. No
project file is imported for this, and this module uses only the standard library.
"""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from boundpaper.build.closure import Closures
from boundpaper.build.facts import FactReader, Facts
from boundpaper.build.kinds import KINDS, VOCABULARY_TABLES, Kind
from boundpaper.build.outline import Node
from boundpaper.errors import SpecError
from boundpaper.places import file_of
from boundpaper.store.paths import DOCUMENTS, PLACES, SCHEMA, SUFFIXES, TABLES, VOCABULARY
from boundpaper.suggestions import suggest

_TABLES = "boundpaper.store.paper_vocabulary:tables_named"


@dataclass(frozen=True)
class Step:
    """A step: its artifacts, the steps it needs, its files and its builder.

    The key is `kind:name`. `artifacts` has the file or folder of each artifact that the step reads, by name; `needs`
    has the keys of steps to build first; `inputs` are further files that the step depends on.
    """

    key: str
    kind: Kind
    name: str
    file: str
    line: int = 1
    function: str = ""
    doc: str = ""
    artifacts: dict[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    fault: str = ""

    @property
    def targets(self) -> tuple[str, ...]:
        """Return the files that the step must make."""
        return tuple(target.format(name=self.name) for target in self.kind.targets)

    def about(self, root: Path) -> str:
        """Return one line on the step: the first docstring line of an exhibit's file, else of the step's function."""
        title = None
        if self.kind.name in ("table", "figure"):
            title = ast.get_docstring(ast.parse((root / self.file).read_text(encoding="utf-8")))
        return (title or self.doc).partition("\n")[0]


@dataclass(frozen=True)
class Graph:
    """All steps of a project by key, and faults that belong to no step."""

    steps: dict[str, Step]
    artifacts: dict[str, str]
    faults: tuple[str, ...]

    def find(self, name: str, kinds: Iterable[str]) -> Step:
        """Return the step called `name` (or `kind:name`) among `kinds`.

        Raises SpecError when no step has the name (it suggests the nearest) or several do (it lists them).
        """
        kinds = list(kinds)
        keys = [name] if ":" in name else [f"{kind}:{name}" for kind in kinds]
        steps = [self.steps[key] for key in keys if key in self.steps and self.steps[key].kind.name in kinds]
        if len(steps) > 1:
            raise SpecError(f"{name!r} is ambiguous: write one of {', '.join(step.key for step in steps)}")
        if steps:
            return steps[0]
        kind, _, step_name = name.rpartition(":")
        if kind and kind not in kinds:
            raise SpecError(f"{name!r}: unknown kind {kind!r}; {suggest(kind, kinds)}kinds: {', '.join(kinds)}")
        kinds = [kind] if kind else kinds
        names = [step.name for step in self.steps.values() if step.kind.name in kinds]
        label = " or ".join(kinds) if len(kinds) < 4 else "step"
        raise SpecError(f"no {label} called {step_name!r}; {suggest(step_name, names)}`python build.py list` shows all")

    def order(self, targets: Iterable[str]) -> list[str]:
        """Return `targets` and all steps they need, each step after those that it needs.

        Raises SpecError when steps need each other in a circle.
        """
        ordered: dict[str, None] = {}
        chain: list[str] = []  # from a target to the step that is visited

        def visit(key: str) -> None:
            if key in ordered:
                return
            if key in chain:
                circle = " -> ".join([*chain[chain.index(key) :], key])
                raise SpecError(f"steps depend on each other in a circle: {circle}; remove one of these dependencies")
            chain.append(key)
            for need in self.steps[key].needs:
                visit(need)
            chain.pop()
            ordered[key] = None

        for target in targets:
            visit(target)
        return list(ordered)


def load(root: Path, reader: FactReader) -> Graph:
    """Read the graph of the project in `root`."""
    loader = _Loader(root, reader)
    loader.collect()
    steps = {key: loader._connect(step) for key, step in loader.steps.items()}
    reader.save()
    return Graph(steps=steps, artifacts=loader.artifacts, faults=tuple(loader.faults))


def outline_nodes(steps: Iterable[Step]) -> list[Node]:
    """Return a node for each step, except for steps that follow another (a figure's picture) and share its node."""
    return [
        Node(
            key=step.key,
            kind=step.kind.name,
            name=step.name,
            file=step.file,
            line=step.line,
            doc=step.doc,
            makes=bool(step.kind.artifact),
            reads=tuple(step.artifacts),
        )
        for step in steps
        if not step.kind.follows
    ]


class _Loader:
    def __init__(self, root: Path, reader: FactReader) -> None:
        self.root, self.reader = root, reader
        self.steps: dict[str, Step] = {}
        self.makers: dict[str, str] = {}
        self.artifacts: dict[str, str] = {}
        self.faults: list[str] = []
        self.unreadable: dict[str, list[str]] = {}  # faults of unreadable files, whose steps are unknown, by kind
        self._closures = Closures(reader)
        self._matches: dict[str, frozenset[str]] = {}
        self._tables: dict[tuple[str, bool], frozenset[str]] = {}

    def collect(self) -> None:
        for kind in KINDS:
            for path in sorted(self._files_of_kind(kind)):
                for step in self._steps_in_file(kind, path):
                    self._add_step(step)

    def _files_of_kind(self, kind: Kind) -> Iterator[str]:
        if kind.single:
            file = kind.single if "/" in kind.single else file_of(self.root, kind.single)
            if (self.root / file).is_file():
                yield file
        if not kind.folder:
            return
        folder = self.root / kind.folder
        for path in folder.glob(kind.pattern):
            is_hidden = any(part.startswith(("_", ".")) for part in path.relative_to(folder).parts)
            if not is_hidden and path.is_dir() == kind.is_folder:
                yield path.relative_to(self.root).as_posix()

    def _steps_in_file(self, kind: Kind, path: str) -> Iterator[Step]:
        name = kind.step or Path(path).name.removesuffix(kind.pattern.rpartition("*")[2])
        if kind.function is None:
            yield Step(key=f"{kind.name}:{name}", kind=kind, name=name, file=path)
            return
        facts = self.reader.python(path)
        if facts["error"]:
            self.faults.append(f"{path}: {facts['error']}")
            self.unreadable.setdefault(kind.name, []).append(self.faults[-1])
        functions = [function for function in facts["functions"] if kind.function in ("", function["name"])]
        declarations = [declaration for declaration in facts["declared"] if declaration["by"] == kind.declared]
        for definition in sorted([*functions, *declarations], key=lambda definition: int(definition["line"])):
            step_name = definition["name"] if kind.function == "" else name
            yield Step(
                key=f"{kind.name}:{step_name}",
                kind=kind,
                name=step_name,
                file=path,
                line=definition["line"],
                function=definition["name"],
                doc=definition["doc"],
                artifacts=dict.fromkeys(definition["artifacts"], ""),
            )
        if kind.function and not functions:
            fault = facts["error"] or f"no function {kind.function}(); define it with its artifacts as parameters"
            yield Step(key=f"{kind.name}:{name}", kind=kind, name=name, file=path, fault=f"{path}: {fault}")

    def _add_step(self, step: Step) -> None:
        if step.key in self.steps:
            first = self.steps[step.key]
            fault = f"{step.file}:{step.line}: {step.key} is also defined in {first.file}"
            self.faults.append(fault)
            self.steps[step.key] = replace(first, fault="\n".join(filter(None, (first.fault, fault))))
            return
        self.steps[step.key] = step
        if step.kind.artifact:
            if step.name in self.makers:
                file = self.steps[self.makers[step.name]].file
                self.faults.append(f"{step.file}:{step.line}: the artifact name {step.name!r} is taken by {file}")
                return
            self.makers[step.name] = step.key
            self.artifacts[step.name] = step.kind.artifact.format(name=step.name)
        for kind in KINDS:
            if kind.follows == step.kind.name:
                self._add_step(Step(key=f"{kind.name}:{step.name}", kind=kind, name=step.name, file=step.file))

    def _connect(self, step: Step) -> Step:
        """Return the step with its needs, inputs and faults; the names of all steps must be known."""
        kind = step.kind
        faults = [step.fault] if step.fault else []
        needs: dict[str, None] = {}
        reads = dict(step.artifacts)
        if kind.follows:
            needs[f"{kind.follows}:{step.name}"] = None
        if kind.calls:
            reads, read_faults = self._chapter_reads(step)
            faults += read_faults
        for need in kind.gathers:
            needs.update(dict.fromkeys(key for key, other in self.steps.items() if other.kind.name == need))
            faults += self.unreadable.get(need, ())
        if kind.name == "thesis":
            for other in self.steps.values():
                if other.kind.calls:
                    needs.update(dict.fromkeys(self._exhibits_shown(other)))
        artifacts = {}
        for name in reads:
            if name not in self.makers:
                fault = f"{step.key} reads {name!r}, but no artifact has this name; {suggest(name, self.makers)}"
                faults.append(f"{step.file}:{reads[name] or step.line}: {fault.rstrip('; ')}")
                continue
            artifacts[name] = self.artifacts[name]
            needs[self.makers[name]] = None
        needs.pop(step.key, None)
        inputs = self._input_files(step, artifacts)
        if VOCABULARY in inputs and (facts := self._vocabulary_facts()) and (error := facts["error"]):
            faults.append(error if error.startswith(VOCABULARY) else f"{VOCABULARY}:{error}")
        return replace(step, artifacts=artifacts, needs=tuple(needs), inputs=inputs, fault="\n".join(faults))

    def _input_files(self, step: Step, artifacts: dict[str, str]) -> tuple[str, ...]:
        files = {*self._closures.of_module(step.kind.builder.partition(":")[0])} if step.kind.builder else set()
        if step.file.endswith(".py") and step.function:
            files |= self._closures.of(step.file)
        elif not step.kind.follows and step.file and not step.kind.is_folder:
            files.add(step.file)
        if step.kind.checks:
            files |= {SCHEMA, DOCUMENTS, PLACES, *self._matching_files(VOCABULARY_TABLES)}
        for pattern in step.kind.extra_inputs:
            files |= self._matching_files(pattern)
        if SCHEMA in files:
            files |= {f"{folder}/{TABLES}" for folder in self._closures.folders.values()}
        for path in [*artifacts.values(), *([step.file] if step.kind.is_folder else [])]:
            files |= self._tables_at(path, step.kind.checks)
        return tuple(sorted(files))

    def _matching_files(self, pattern: str) -> frozenset[str]:
        """Return the files that match a pattern, from a cache, since hundreds of steps use the same pattern."""
        if pattern not in self._matches and pattern == VOCABULARY_TABLES:
            facts = self._vocabulary_facts()
            self._matches[pattern] = frozenset(path for _, path, _ in facts["calls"]) if facts else frozenset()
        if pattern not in self._matches:
            package, _, package_pattern = pattern.partition("/")
            folder = self._closures.folders.get(package, "")
            paths = (self.root / folder).glob(package_pattern if folder else pattern)
            prefix = str(self.root) + "/" if not Path(folder).is_absolute() else ""
            self._matches[pattern] = frozenset(p.as_posix().removeprefix(prefix) for p in paths if p.is_file())
        return self._matches[pattern]

    def _vocabulary_facts(self) -> Facts | None:
        """Return the facts of the vocabulary, with the tables that it names as `calls`; None without a vocabulary."""
        return self.reader.calls(VOCABULARY, _TABLES) if (self.root / VOCABULARY).is_file() else None

    def _tables_at(self, path: str, with_manifests: bool) -> frozenset[str]:
        """Return the tables in a folder, and their manifests on request; for a file, return that file alone."""
        if (path, with_manifests) not in self._tables:
            tables = frozenset({path})
            if (self.root / path).is_dir():
                suffixes = (*SUFFIXES, ".json") if with_manifests else SUFFIXES
                files = (file for suffix in suffixes for file in (self.root / path).glob(f"*{suffix}"))
                tables = frozenset(file.relative_to(self.root).as_posix() for file in files)
            self._tables[path, with_manifests] = tables
        return self._tables[path, with_manifests]

    def _facts(self, step: Step) -> Facts:
        return self.reader.calls(step.file, step.kind.calls)

    def _chapter_reads(self, step: Step) -> tuple[dict[str, str], list[str]]:
        """Return the artifacts that a chapter reads, each with the line of its first use, and the chapter's faults."""
        facts = self._facts(step)
        faults = [f"{step.file}:{facts['error']}"] if facts["error"] else []
        reads: dict[str, str] = {}
        for function, name, line in facts["calls"]:
            if function in ("n", "r", "use"):
                reads.setdefault(name, str(line))
            elif function in ("claim", "mark"):
                reads.setdefault("claims", str(line))
                if f"claim:{name.partition('.')[0]}" not in self.steps:
                    hint = suggest(name, [other.name for other in self.steps.values() if other.kind.name == "claim"])
                    faults.append(f"{step.file}:{line}: no claim called {name!r}; {hint}".rstrip("; "))
            else:
                kind, exhibit = function, name
                if function == "supplement":
                    kind, _, exhibit = name.partition("/")
                if kind not in ("table", "figure"):
                    faults.append(f"{step.file}:{line}: supplement({name!r}): write 'table/NAME' or 'figure/NAME'")
                elif f"{kind}:{exhibit}" not in self.steps:
                    names = [other.name for other in self.steps.values() if other.kind.name == kind]
                    fault = f"{step.file}:{line}: no {kind} called {exhibit!r}; {suggest(exhibit, names)}"
                    faults.append(fault.rstrip("; "))
        return reads, faults

    def _exhibits_shown(self, chapter: Step) -> Iterator[str]:
        for function, name, _ in self._facts(chapter)["calls"]:
            kinds = {"table": ("table",), "figure": ("figure", "picture")}.get(function, ())
            yield from (f"{kind}:{name}" for kind in kinds if f"{kind}:{name}" in self.steps)
