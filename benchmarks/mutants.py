"""Count how many planted faults in statistics, studies, claims and head geometry the tests notice without golden files.

    python benchmarks/mutants.py --faults 100 --out docs/mutants.csv

The same seed plants the same faults in the same sources. Each fault is written into a copy of the project. Then the
tests that import the changed file, directly or through one other file, run until one fails. A test that names a claim
(`says("c001_...", ...)`) counts as if it imported the claim's file.

Three kinds of test are left out: comparisons with committed files (golden files, the ledger, kernels, the thesis),
which fail at any change; the test of both verdicts of each claim, which cannot tell right from wrong; and tests that
need torch or TeX. The limit is on CPU time, so that a loaded machine changes no outcome. Tests that exceed the limit
run once more with three times the limit; if they exceed this too, the fault counts as not noticed (`timeout`).
"""

import ast
import compileall
import contextlib
import csv
import functools
import importlib
import itertools
import multiprocessing
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import click
import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = {
    "statistics": "packages/boundpaper/src/boundpaper/statistics",
    "studies": "analysis/studies",
    "claims": "analysis/claims",
    "heads": "packages/keyquery/src/keyquery/heads",
    "rotary": "packages/keyquery/src/keyquery/rotary.py",
}
PACKAGES = {"boundpaper": "packages/boundpaper/src/", "keyquery": "packages/keyquery/src/"}
DEFAULT = ("statistics", "studies", "claims")  # each fault in the others takes minutes of compilation
COMPARING = "golden|ledger|kernels|thesis|tour|cli|freshness|changes|paper|figures|tables"
"""Pattern in the names of test files that compare output with committed files."""
BOTH_WAYS = "test_claims_both_ways.py"
SUITES = {"packages/boundpaper/": "not latex", "packages/keyquery/": "not models", "": "not models and not latex"}
"""Marker expressions by suite folder: each suite has its markers and runs separately."""
COMPARE = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
MAX_WALL_SECONDS = 3600  # tests that run longer are ended and count as hanging
CALLS = {"min": "max", "max": "min", "all": "any", "any": "all"}


@dataclass(frozen=True)
class Mutant:
    """A planted fault: the file, its line, the change, and the text of the changed file."""

    file: str
    line: int
    change: str
    text: str


def count_faults(file: Path) -> int:
    """Return how many faults can be planted in a file's functions and claims, outside strings and annotations."""
    return sum(1 for _ in _fault_sites(ast.parse(file.read_text(encoding="utf-8"))))


def plant_fault(file: Path, number: int) -> Mutant:
    """Return the mutant with fault `number` of a file, counted from 0; write nothing."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    node, change = next(itertools.islice(_fault_sites(tree), number, None))
    before = ast.unparse(node)
    change(node)
    edit = " ".join(f"{before} -> {ast.unparse(node)}".split())
    return Mutant(file.relative_to(ROOT).as_posix(), node.lineno, edit, ast.unparse(tree))


def _fault_sites(tree: ast.Module) -> Iterator[tuple[ast.expr, Callable[[Any], None]]]:
    statements = (child for node in tree.body for child in (node.body if isinstance(node, ast.ClassDef) else [node]))
    for statement in statements:
        if not (isinstance(statement, ast.FunctionDef) or declared(statement)):
            continue
        for node in _expressions_of(statement):
            for change in _possible_changes(node):
                yield node, change


def declared(node: ast.stmt) -> str:
    """Return the name of a claim declared by a statement (`name = Cells(...)`), or an empty string."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id="Cells"))):
            return name
    return ""


def _expressions_of(statement: ast.stmt) -> Iterator[ast.expr]:
    waiting: list[ast.AST] = list(statement.body) if isinstance(statement, ast.FunctionDef) else [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.JoinedStr | ast.Raise | ast.AnnAssign):
            continue
        if isinstance(node, ast.expr):
            yield node
        waiting += ast.iter_child_nodes(node)


def _possible_changes(node: ast.expr) -> Iterator[Callable[[Any], None]]:
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARE:
        yield lambda each: setattr(each, "ops", [COMPARE[type(each.ops[0])](), *each.ops[1:]])
    elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC and not _is_text(node):
        yield lambda each: setattr(each, "op", ARITHMETIC[type(each.op)]())
    elif isinstance(node, ast.BoolOp):
        yield lambda each: setattr(each, "op", ast.Or() if isinstance(each.op, ast.And) else ast.And())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
        yield lambda each: setattr(each, "op", ast.UAdd())
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield lambda each: setattr(
            each, "value", each.value + 1 if type(each.value) is int else each.value * 1.5 or 0.5
        )
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS:
        yield lambda each: setattr(each, "func", ast.Name(CALLS[each.func.id], ast.Load()))


def _is_text(node: ast.BinOp) -> bool:
    """Return whether an operation joins texts or lists; a minus instead of the plus would only crash."""
    return any(
        isinstance(operand, ast.JoinedStr | ast.List | ast.Tuple)
        or (isinstance(operand, ast.Constant) and isinstance(operand.value, str))
        for operand in (node.left, node.right)
    )


@functools.cache
def imported_files(file: Path) -> set[str]:
    """Return the paths in the project of the files that a file imports."""
    files = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            path = ROOT / (PACKAGES.get(name.partition(".")[0], "") + name.replace(".", "/") + ".py")
            if path.is_file():
                files.add(path.relative_to(ROOT).as_posix())
    return files


@functools.cache
def called_claims(test: Path) -> set[str]:
    """Return the files of the claims whose names stand as strings in a test or in a module that it imports."""
    tree = ast.parse(test.read_text(encoding="utf-8"))
    modules = [node.module for node in tree.body if isinstance(node, ast.ImportFrom) and node.module]
    helpers = [path for path in (test.parent / f"{module}.py" for module in modules) if path.is_file()]
    strings = {
        node.value
        for parsed in (tree, *(ast.parse(path.read_text(encoding="utf-8")) for path in helpers))
        for node in ast.walk(parsed)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    return {file for name, file in claim_files().items() if name in strings}


@functools.cache
def claim_files() -> dict[str, str]:
    """Return the file of each claim, by the claim's name."""
    return {
        name: path.relative_to(ROOT).as_posix()
        for path in sorted((ROOT / "analysis/claims").glob("[!_]*/**/[!_]*.py"))
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if (name := node.name if isinstance(node, ast.FunctionDef) else declared(node)) and not name.startswith("_")
    }


@functools.cache
def tests_of(mutated: str) -> list[str]:
    """Return the tests that call a file's claims or import it, directly or through one file; the most direct first."""
    room = next((name for name, folder in ROOMS.items() if mutated.startswith(folder)), "")
    direct, indirect = [], []
    for test in sorted([*(ROOT / "tests").glob("test_*.py"), *ROOT.glob("packages/*/tests/**/test_*.py")]):
        if re.search(COMPARING, test.name):
            continue
        imported, name = imported_files(test) | called_claims(test), test.relative_to(ROOT).as_posix()
        if mutated in imported:
            direct.append(name)
        elif test.name == BOTH_WAYS:
            continue
        elif any(mutated in imported_files(ROOT / file) for file in imported) or _through_package(mutated, test):
            indirect.append(name)
    if room in ("heads", "rotary"):  # only with tests of head geometry, since tests of experiments read models
        geometry = [name for name in direct + indirect * (room == "heads") if "/heads/" in name]
        return sorted(geometry, key=lambda name: Path(mutated).stem not in name)
    return sorted(direct, key=lambda name: f"test_{room}" not in name and f"/{room}/" not in name) + indirect


def _through_package(mutated: str, test: Path) -> bool:
    """Return whether a test imports a name from a file's package, and the file itself defines this name."""
    path = ROOT / mutated
    package = ".".join(path.parent.relative_to(ROOT).parts).rpartition("src.")[2]
    body = ast.parse(path.read_text()).body
    defined = {node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    imported = {
        alias.name
        for node in ast.walk(ast.parse(test.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module == package
        for alias in node.names
    }
    return bool(defined & imported)


def run_tests(copy: Path, fault: Mutant, seconds: int) -> str:
    """Return `killed` with the first failing test, `survived`, or `timeout` if the tests exceed their time twice."""
    tests = tests_of(fault.file)
    if not tests:
        return "survived: no test imports it"
    target = copy / fault.file
    original = target.read_text(encoding="utf-8")
    target.write_text(fault.text, encoding="utf-8")
    try:
        for _, suite in itertools.groupby(sorted(tests, key=_test_folder), key=_test_folder):
            files = list(suite)
            outcome = _outcome(copy, files, seconds) or _outcome(copy, files, 3 * seconds)
            outcome = outcome or f"timeout: {3 * seconds} s"
            if outcome != "survived":
                return outcome
        return "survived"
    finally:
        target.write_text(original, encoding="utf-8")


def _test_folder(test: str) -> str:
    """Return the folder of a test's suite, or an empty string for tests of the thesis."""
    return next(folder for folder in SUITES if test.startswith(folder))


def _outcome(copy: Path, tests: list[str], seconds: int) -> str:
    """Return the outcome of the tests, or an empty string if they exceed `seconds` of CPU time.

    The tests run in a fork of this process, which has imported the libraries but no module of the project.
    """
    fork = multiprocessing.get_context("fork")
    receiver, sender = fork.Pipe(duplex=False)
    child = fork.Process(target=_run_in_child, args=(copy, tests, seconds, sender))
    child.start()
    sender.close()
    try:
        child.join(MAX_WALL_SECONDS)
        if child.exitcode is None or child.exitcode in (-signal.SIGXCPU, -signal.SIGKILL):
            return ""
        failed = ""
        with contextlib.suppress(EOFError):  # a fault in compiled code may kill the child before it answers
            failed = receiver.recv() if receiver.poll() else ""
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid or 0, signal.SIGKILL)  # also ends processes that the tests started
        child.join()
    if child.exitcode == pytest.ExitCode.USAGE_ERROR:
        raise click.ClickException(
            f"pytest does not accept these tests or its options: {', '.join(tests)}; run pytest by hand to see why"
        )
    if child.exitcode in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        return "survived"
    return f"killed: {failed or f'pytest ends with {child.exitcode}'}"


class _FirstFailure:
    """A pytest plugin that records the first failing test or test file."""

    failed = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record a test that fails."""
        self._note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Record a test file that cannot be collected."""
        self._note(report)

    def _note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid


def _run_in_child(copy: Path, tests: list[str], seconds: int, sender: Connection) -> None:
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    os.chdir(copy)
    sys.path[:0] = [str(copy), *(str(copy / source) for source in PACKAGES.values())]
    sys.dont_write_bytecode = True
    os.environ |= {"PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    plugin = _FirstFailure()
    options = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "--tb=no", "-m", SUITES[_test_folder(tests[0])]]
    exit_code = pytest.main([*options, *tests], plugins=[plugin])
    sender.send(plugin.failed)
    os._exit(int(exit_code))


@click.command()
@click.option("--faults", default=100, show_default=True, help="Number of faults, spread evenly over --room.")
@click.option("--seed", default=0, show_default=True, help="Seed for choosing faults.")
@click.option("--seconds", default=120, show_default=True, help="Maximum CPU seconds of the tests of one fault.")
@click.option("--room", "only", multiple=True, type=click.Choice([*ROOMS]), help="Part of the code; may be repeated.")
@click.option("--file", "names", multiple=True, help="Only plant in files of this name (exchange.py); may be repeated.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="CSV file of outcomes; a rerun resumes it.")
def main(faults: int, seed: int, seconds: int, only: tuple[str, ...], names: tuple[str, ...], out: Path) -> None:
    """Plant faults one by one, and write which test fails for each."""
    chosen: list[Mutant] = []
    rooms = only or DEFAULT
    for number, room in enumerate(rooms):
        folder = ROOT / ROOMS[room]
        files = sorted([folder] if folder.is_file() else folder.rglob("*.py"), key=lambda file: (file.name, file))
        files = [file for file in files if not names or file.name in names]
        sites = [(file, fault) for file in files for fault in range(count_faults(file))]
        random.Random(f"{seed}/{room}").shuffle(sites)  # more faults include those of a run with fewer faults
        chosen += [plant_fault(*site) for site in sites[: faults // len(rooms) + (number < faults % len(rooms))]]
    known: dict[tuple[str, ...], list[str]] = {}  # two faults in a line can have the same text
    for row in csv.DictReader(out.read_text(encoding="utf-8").splitlines() if out.is_file() else ()):
        known.setdefault((row["file"], row["line"], row["change"]), []).append(row["outcome"])
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "project"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns("out", ".*", "golden"))
        compileall.compile_dir(copy, quiet=1)
        importlib.import_module("scipy.stats")
        importlib.import_module("pandas")
        rows = []
        for fault in chosen:
            key = (fault.file, str(fault.line), fault.change)
            outcome = known[key].pop(0) if known.get(key) else run_tests(copy, fault, seconds)
            rows.append((*key, outcome))
            click.echo(f"{fault.file}:{fault.line}: {fault.change}: {outcome}")
            with out.open("w", encoding="utf-8", newline="") as stream:
                csv.writer(stream, lineterminator="\n").writerows([("file", "line", "change", "outcome"), *rows])
    for room in rooms:
        outcomes = [outcome for file, *_, outcome in rows if file.startswith(ROOMS[room])]
        click.echo(f"{room}: {sum(text.startswith('killed') for text in outcomes)} of {len(outcomes)} noticed")


if __name__ == "__main__":
    main()
