"""List the choices that the experiment commands offer, by name only, so that `--help` imports none of their libraries.

An experiment is a file in `keyquery/experiments`, or in the paper's `analysis/experiments`, with `SETTINGS` and a
function `measure(subject, options)` or `write(root, subject, options)`. Further constants describe it:

- `BY_NAME = True`: it runs only if named, never by `--all`.
- `ASKS`: the tasks whose items it gives to the model; with `NEEDS_ITEMS = True` it measures nothing else.
- `CHOOSES_TEXTS = True`: it selects or changes the texts of `--texts`; with `REFUSES_TEXTS = True` it rejects them.
"""

import ast
import re
from pathlib import Path
from typing import Any

from boundpaper.errors import DataError
from boundpaper.places import project, project_or_none
from boundpaper.store import rules
from boundpaper.store.text_file import text_of

ESTIMATORS = ("aligned_full", "bucket_full", "pooled_full", "pooled_diag", "bucket_diag", "empirical")
PAIRS = ("earlier", "earlier_bucket", "same_bucket")
SEPARATIONS = ("distance", "centroid")
DTYPES = ("auto", "bf16", "fp16", "fp32")
QUANTIZATIONS = ("nf4", "fp4", "int8")
POSITIONS = ("as configured", "rope", "drope")
EXECUTORS = ("local", "slurm")
PARTS = ("values", "outputs", "residual", "mlp")  # optional parts of a capture
BY = ("text", "item", "seed", "head")  # units by which models are paired
STATEMENTS = ("planted", "popqa", "triviaqa", "hotpotqa", "nq")

_EXPERIMENT_FUNCTION = re.compile(
    r"^def (?:measure|write)\(\s*(?:root: Path,\s*)?subject: Subject,\s*options: Options", re.MULTILINE
)


def experiments_in(folder: Path, *, named: bool = False) -> tuple[str, ...]:
    """Return the names of a folder's experiments: those that `--all` runs or, with `named`, those that it omits."""
    names = []
    for path in sorted(folder.glob("[!_]*.py")):
        text = _experiment_text(path)
        is_by_name = re.search(r"^BY_NAME = True\b", text, re.MULTILINE) is not None
        has_settings = re.search(r"^SETTINGS\b", text, re.MULTILINE) is not None
        if _EXPERIMENT_FUNCTION.search(text) and has_settings and is_by_name == named:
            names.append(path.stem)
    return tuple(names)


def _experiment_text(path: Path) -> str:
    """Return the text of an experiment's file; raise DataError, with the path, if it cannot be read as text."""
    return text_of(path.parents[2], "/".join(path.parts[-3:]))


FOLDER = Path(__file__).parents[1] / "experiments"
EXPERIMENTS = experiments_in(FOLDER)
BY_NAME = experiments_in(FOLDER, named=True)
OF_THE_PAPER = "analysis/experiments"
"""Folder of the paper's own experiments."""


def experiments_for_all() -> tuple[str, ...]:
    """Return the names of the experiments that `--all` runs: those of this package, then those of the open paper."""
    return (*EXPERIMENTS, *_experiments_of_paper(named=False))


def every_experiment() -> tuple[str, ...]:
    """Return the names of all experiments: those of `experiments_for_all`, then those that run only if named."""
    return (*experiments_for_all(), *BY_NAME, *_experiments_of_paper(named=True))


def descriptions() -> dict[str, str]:
    """Return the description of each experiment by name: the first sentence of its file."""
    return {name: _summary_line(ast.get_docstring(_tree(name)) or "") for name in every_experiment()}


def _summary_line(docstring: str) -> str:
    line = " ".join(docstring.partition("\n\n")[0].split())
    return re.sub(r"^Experiment[^:]*: ", "", line).rstrip(".")


def declared_value(name: str, constant: str) -> Any:
    """Return the value of a constant in an experiment's file, read from the source text; None if it is not defined."""
    constants = (statement for statement in _tree(name).body if isinstance(statement, ast.Assign))
    return next((ast.literal_eval(node.value) for node in constants if ast.unparse(node.targets[0]) == constant), None)


def _tree(name: str) -> ast.Module:
    folder = FOLDER if name in (*EXPERIMENTS, *BY_NAME) else project() / OF_THE_PAPER
    return ast.parse(_experiment_text(folder / f"{name}.py"))


def module_of(name: str) -> str:
    """Return the dotted name of an experiment's module."""
    return f"keyquery.experiments.{name}" if name in (*EXPERIMENTS, *BY_NAME) else f"analysis.experiments.{name}"


def _experiments_of_paper(*, named: bool) -> tuple[str, ...]:
    root = project_or_none()
    names = experiments_in(root / OF_THE_PAPER, named=named) if root else ()
    for name in names:
        if name in (*EXPERIMENTS, *BY_NAME):
            raise DataError(f"{OF_THE_PAPER}/{name}.py: keyquery has an experiment of this name; rename the file")
    return names


_COMMAND_PARAMETERS = ("root", "subject", "options", "replace")  # set by the command, so no experiment's own options
_RULES = {
    "str": rules.text,
    "int": rules.whole,
    "float": rules.positive,
    "bool": rules.flag,
    "None": rules.one_of(None),
}


def settings_of(name: str) -> dict[str, rules.Rule]:
    """Return the rule for each of an experiment's own options, read from its signature without importing it."""
    [function] = [
        node for node in _tree(name).body if isinstance(node, ast.FunctionDef) and node.name in ("measure", "write")
    ]
    parameters = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return {node.arg: _rule(node.annotation) for node in parameters if node.arg not in _COMMAND_PARAMETERS}


def _rule(annotation: ast.expr | None) -> rules.Rule:
    """Return the rule for values of a parameter with this annotation; a capitalised type without a rule means text."""
    if isinstance(annotation, ast.BinOp):
        return rules.either(_rule(annotation.right), _rule(annotation.left))
    if isinstance(annotation, ast.Subscript):
        outer = ast.unparse(annotation.value)
        if outer == "Literal":
            return rules.one_of(*ast.literal_eval(f"[{ast.unparse(annotation.slice).strip('()')}]"))
        return rules.listed(_rule(annotation.slice)) if outer in ("Sequence", "list", "tuple") else rules.anything
    word = "None" if annotation is None else ast.unparse(annotation)
    return _RULES.get(word, rules.text if word[:1].isupper() else rules.anything)
