"""Write `docs/reported.md`, the table of test cases from public reports: `python -m tests.reported.table`.

The source text of the tests is parsed; no test runs. The marker `reported` names the public threads behind a test,
or none for a variant of our own. The first line of the docstring says what was tried.
"""

import ast
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
DOCUMENT = FOLDER.parent.parent / "docs/reported.md"
COMMAND = "python -m tests.reported.table"
OUTCOMES = ("right", "refused")

# How many of the reported situations failed at commit 700a8722, before this folder of tests was begun.
BEFORE = """\
At commit 700a8722, before these tests, 31 situations of public reports failed (figures 14, captures 6, bibliography 4,
tables 3, store 2, scores 2): 21 silently gave a wrong result, 6 crashed, 3 were refused wrongly or without the
reason, and 1 was right but hard to read."""


@dataclass(frozen=True)
class Case:
    """One test: its public threads (none for a variant of ours), and the number of its inputs."""

    name: str
    threads: tuple[str, ...]
    tried: str
    outcome: str
    inputs: int


class IncompleteCase(Exception):
    """A test in this folder lacks a complete marker `reported` or a docstring."""


def _is_mark(node: ast.expr, name: str) -> bool:
    """Return whether an expression is `pytest.mark.NAME`."""
    return isinstance(node, ast.Attribute) and ast.unparse(node) == f"pytest.mark.{name}"


def _elements(node: ast.expr) -> list[ast.expr]:
    """Return the elements of a list, tuple or set, or the values of a dictionary; else a list of only the node."""
    if isinstance(node, ast.Dict):
        return list(node.values)
    return node.elts if isinstance(node, ast.List | ast.Tuple | ast.Set) else [node]


def _inputs(test: ast.FunctionDef, constants: dict[str, ast.expr]) -> int:
    """Return the number of inputs of a test: the product of the lengths of its `parametrize` lists."""
    lists = [
        mark.args[1]
        for mark in test.decorator_list
        if isinstance(mark, ast.Call) and _is_mark(mark.func, "parametrize") and len(mark.args) > 1
    ]
    resolved = [constants.get(values.id, values) if isinstance(values, ast.Name) else values for values in lists]
    return math.prod(len(_elements(values)) for values in resolved)


def _case(test: ast.FunctionDef, constants: dict[str, ast.expr], file: str) -> Case:
    marks = [mark for mark in test.decorator_list if isinstance(mark, ast.Call) and _is_mark(mark.func, "reported")]
    where = f"{file}:{test.lineno}: {test.name}"
    if len(marks) != 1:
        raise IncompleteCase(f'{where}: needs one marker, @pytest.mark.reported("project#1", outcome="right")')
    try:
        threads = tuple(ast.literal_eval(argument) for argument in marks[0].args)
        keywords = {word.arg: ast.literal_eval(word.value) for word in marks[0].keywords}
    except ValueError:
        raise IncompleteCase(
            f"{where}: the marker `reported` takes texts in quotes, since it is parsed and not run; write 'project#1'"
        ) from None
    if set(keywords) != {"outcome"} or keywords["outcome"] not in OUTCOMES:
        raise IncompleteCase(
            f"{where}: the marker `reported` needs outcome='right' or outcome='refused', and nothing else"
        )
    if not all(isinstance(thread, str) and thread.strip() for thread in threads):
        raise IncompleteCase(f"{where}: a thread is a text such as 'project#1'")
    tried = (ast.get_docstring(test) or "").split("\n")[0].strip()
    if not tried:
        raise IncompleteCase(f"{where}: the first line of its docstring must say what was tried")
    return Case(test.name, threads, tried, keywords["outcome"], _inputs(test, constants))


def cases(module: Path) -> Iterator[Case]:
    """Yield the tests of a module in order.

    Raises
    ------
    IncompleteCase
        If a test has no marker `reported`, a marker that is no literal, or no docstring.
    """
    tree = ast.parse(module.read_text("utf-8"))
    constants = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield _case(node, constants, module.name)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _variants(own_cases: list[Case]) -> str:
    inputs = sum(case.inputs for case in own_cases)
    return f"Variants of our own: {_count(len(own_cases), 'test')} on {_count(inputs, 'input')}."


def _section(name: str, cases_of_kind: list[Case]) -> list[str]:
    """Return the Markdown lines of a section: the table of its reported cases, and the number of our variants."""
    reported = [case for case in cases_of_kind if case.threads]
    own_cases = [case for case in cases_of_kind if not case.threads]
    lines = [f"## {name}", ""]
    if reported:
        lines += ["| report | what was tried | outcome | test |", "|---|---|---|---|"]
        lines += [
            f"| {_cell(', '.join(case.threads))} | {_cell(case.tried)} | {case.outcome} | `{case.name}` |"
            for case in reported
        ]
        lines.append("")
    return [*lines, _variants(own_cases), ""]


def document(folder: Path = FOLDER) -> str:
    """Return the text of `docs/reported.md`: a table for each module `test_KIND.py` in a folder, and total counts.

    Raises
    ------
    IncompleteCase
        If a test lacks a complete marker `reported` or a docstring.
    """
    kinds = {path.stem.removeprefix("test_"): list(cases(path)) for path in sorted(folder.glob("test_*.py"))}
    all_cases = [case for cases_of_kind in kinds.values() for case in cases_of_kind]
    reported = [case for case in all_cases if case.threads]
    threads = {thread for case in reported for thread in case.threads}
    outcomes = ", ".join(f"{outcome} {sum(case.outcome == outcome for case in reported)}" for outcome in OUTCOMES)
    own_cases = [case for case in all_cases if not case.threads]
    head = [
        "# Cases from public reports",
        "",
        f"Written by `{COMMAND}` from the tests below `tests/reported/`; do not edit it by hand.",
        "",
        f"{_count(len(reported), 'test')} ({outcomes}) of {_count(len(threads), 'public thread')}.",
        _variants(own_cases),
        "*Right*: the result is what was meant. *Refused*: an error names what cannot be done.",
        "",
        BEFORE,
        "",
    ]
    return "\n".join([*head, *(line for name, kind in kinds.items() for line in _section(name, kind))]).rstrip() + "\n"


def main() -> int:
    """Write the document; if a test is incomplete, print a line to stderr and return 1."""
    try:
        text = document()
    except IncompleteCase as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    DOCUMENT.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
