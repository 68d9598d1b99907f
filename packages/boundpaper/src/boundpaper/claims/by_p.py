"""Refuse claims that a large p-value alone would contradict, since a large p-value contradicts nothing."""

import ast
import functools
import re
from pathlib import Path

from boundpaper.errors import SpecError

LARGEST_LEVEL = 0.1  # the largest number that counts as a significance level
_P = re.compile(r"p|p_\w+|pvalue|pval|p_?values?|\w+_p")
_WRAPPERS = ("bool", "float")


def refuse_by_p(root: Path, file: str, function: str) -> None:
    """Raise SpecError if a claim's function calls `judge(p < .05, ...)`, which returns `contradicted` for p = .10."""
    if lines := _p_judgements(str(root / file)).get(function):
        raise SpecError(
            f"{file}:{lines[0]}: judge(p < ...) says `contradicted` where p is large, and a large p contradicts "
            "nothing; use directed(estimate, ci, sign, reason, p_value=p), or give otherwise='not supported'"
        )


@functools.cache
def _p_judgements(path: str) -> dict[str, list[int]]:
    """Return the lines of calls `judge(p < level, ...)` by function; empty for a file that cannot be parsed."""
    try:
        tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return {}
    return {
        node.name: [call.lineno for call in ast.walk(node) if isinstance(call, ast.Call) and _is_judged_by_p(call)]
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
    }


def _is_judged_by_p(call: ast.Call) -> bool:
    """Return whether a call is `judge(p < level, ...)` without `otherwise`."""
    if not (isinstance(call.func, ast.Name) and call.func.id == "judge" and call.args):
        return False
    if any(keyword.arg in ("otherwise", None) for keyword in call.keywords):
        return False
    condition = _without_conversion(call.args[0])
    if not (isinstance(condition, ast.Compare) and len(condition.ops) == 1):
        return False
    left, right = _without_conversion(condition.left), _without_conversion(condition.comparators[0])
    if isinstance(condition.ops[0], ast.Gt | ast.GtE):
        left, right = right, left
    elif not isinstance(condition.ops[0], ast.Lt | ast.LtE):
        return False
    return bool(_P.fullmatch(_last_name(left))) and _is_significance_level(right)


def _without_conversion(node: ast.expr) -> ast.expr:
    """Return an expression without an enclosing `bool()` or `float()`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _WRAPPERS and node.args:
        return _without_conversion(node.args[0])
    return node


def _last_name(node: ast.expr) -> str:
    """Return the last name in `p`, `test.p_value` or `row["p_holm"]`; empty for anything else."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=str(name))):
            return name
    return ""


def _is_significance_level(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant) and isinstance(node.value, float):
        return node.value <= LARGEST_LEVEL
    return _last_name(node).lower() == "alpha"
