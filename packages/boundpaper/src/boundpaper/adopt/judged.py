"""Judge the claims of an adopted paper, which are functions in `claims.py`; the text may print their verdicts."""

import inspect
from dataclasses import dataclass

from boundpaper.adopt.cells import Data
from boundpaper.adopt.folder import Folder
from boundpaper.adopt.functions import call_function, load_functions
from boundpaper.errors import SpecError
from boundpaper.suggestions import or_known

FILE = "claims.py"
UNSUPPORTED = frozenset({"contradicted", "not supported"})
"""Verdicts with which a paper should not be submitted."""


@dataclass(frozen=True)
class JudgedClaim:
    """A claim: its name, its statement, its verdict and the reason of the verdict."""

    name: str
    statement: str
    verdict: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name}: {self.verdict}: {self.statement} {self.reason}"


def judge_claims(folder: Folder, data: Data) -> dict[str, JudgedClaim]:
    """Return all claims with their verdicts, by name; empty if there is no `claims.py`.

    Raises SpecError when a function fails, returns no verdict, or has no docstring with its statement.
    """
    from boundpaper.claims.verdict import Verdict

    path = folder.root / FILE
    claims = {}
    for name, function in load_functions(path, FILE).items() if path.is_file() else ():
        statement = " ".join((inspect.getdoc(function) or "").partition("\n\n")[0].split())
        if not statement:
            raise SpecError(f"{FILE}: {name}: no docstring; write the paper's statement as its first paragraph")
        verdict = call_function(function, FILE, path, data)
        if not isinstance(verdict, Verdict):
            raise SpecError(f"{FILE}: {name}: returned {type(verdict).__name__}; end it with `return judge(...)`")
        claims[name] = JudgedClaim(name, statement, verdict.verdict, verdict.reason)
    return claims


def verdict_word(folder: Folder, data: Data, name: str) -> str:
    """Return the verdict of one claim; raise SpecError for an unknown name, with a suggestion."""
    claims = judge_claims(folder, data)
    if name not in claims:
        raise SpecError(f"no claim {name!r} in {FILE}{or_known(name, claims)}")
    return claims[name].verdict
