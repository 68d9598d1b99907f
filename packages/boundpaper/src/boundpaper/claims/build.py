"""Build a claim: call its function, and write its verdicts with the statement and its place."""

import inspect
import json
import re
from collections.abc import Sequence
from dataclasses import asdict

from boundpaper.build.job import Job
from boundpaper.claims.by_p import refuse_by_p
from boundpaper.claims.statement import ClaimPlace
from boundpaper.claims.typeset import typeset
from boundpaper.claims.verdict import Verdict
from boundpaper.errors import SpecError
from boundpaper.store.documents import documents
from boundpaper.store.paper_vocabulary import read as read_vocabulary
from boundpaper.store.paths import DOCUMENTS
from boundpaper.suggestions import suggest

# A word, but no symbol or name, at the start of a sentence; it gets a capital.
_WORD = re.compile(r"(?<![a-z])(?!(?:r|d|p)\b)[a-z]++(?=[ ,']|-fifth)")
_NO_DIFFERENCE = re.compile(
    r"\b(preserv\w+|unchanged|unaffected|unimpaired|intact|identical|no (?:difference|effect|change)"
    r"|(?:does|do) not differ)\b",
    re.IGNORECASE,
)
_HEADLINE = re.compile(r"abstract|summary|conclusion|key finding|hypothes[ie]s|hypothesis|question$", re.I)

_NOT_IN_LEDGER = ("estimate", "sign", "null", "margin")  # only the check of a new verdict needs these
_DEFAULT_FAILURES = ("overreach", "reading")  # the failure kinds of verdicts that name no kind


def build(job: Job) -> dict[str, str]:
    """Return, by path, the file `out/claims/NAME.json` of a claim, which lists the claim's ledger rows.

    Raises SpecError when the docstring or the decorator is missing, the function returns anything but verdicts, two
    verdicts share a key, or a verdict rests only on a p-value.
    """
    function = job.load()
    context = f"{job.file}: {job.function}()"
    place: ClaimPlace | None = getattr(function, "stated", None)
    statement = " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split())
    if not place or not statement:
        raise SpecError(
            f'{context} needs the statement as its docstring, and the decorator @claim("002, Section name") above it, '
            "which `boundpaper.claims` offers"
        )
    codes = [document.key for document in documents(job.root)]
    if place.document not in codes:
        raise SpecError(
            f"{context}: no document {place.document!r}; {suggest(place.document, codes)}{DOCUMENTS} has "
            f"{', '.join(codes)}: add a row there with its title"
        )
    result = job.call()
    verdicts = result if isinstance(result, list) else [result]
    if not verdicts or not all(isinstance(verdict, Verdict) for verdict in verdicts):
        raise SpecError(f"{context} returned {type(result).__name__}; return a Verdict or a list of Verdicts with keys")
    keys = [verdict.key for verdict in verdicts]
    if len(set(keys)) < len(keys) or (len(keys) > 1 and "" in keys):
        raise SpecError(f"{context} returned several verdicts; give each of them a key of its own")
    refuse_by_p(job.root, job.file, job.function)
    vocabulary = read_vocabulary(job.root)
    for verdict in verdicts:
        _require_margin(verdict, verdict.statement or statement, context)
    rows = [
        {
            **{name: value for name, value in asdict(verdict).items() if name not in _NOT_IN_LEDGER},
            "failure": _failure_kind(verdict, place.failure),
            "severity": severity(verdict, place.section, place.severity, vocabulary.headlines),
            "reason": _as_sentence(typeset(verdict.reason, vocabulary.ledger)),
            "claim": job.name + (f".{verdict.key}" if verdict.key else ""),
            "statement": _as_sentence(typeset(verdict.statement or statement, vocabulary.ledger)),
            "source": place.document,
            "section": place.section,
            "order": [place.document, job.file, job.line],
            "inputs": list(job.artifacts),
        }
        for verdict in verdicts
    ]
    return {f"out/claims/{job.name}.json": json.dumps(rows, indent=1, ensure_ascii=False) + "\n"}


def _require_margin(verdict: Verdict, statement: str, context: str) -> None:
    """Raise SpecError if a statement that nothing differs gets `holds` from a p-value, without a margin."""
    has_p_value = verdict.p_value is not None or verdict.p_adjusted is not None
    if verdict.verdict == "holds" and has_p_value and verdict.margin is None and _NO_DIFFERENCE.search(statement):
        raise SpecError(
            f"{context}: {statement!r} says that nothing differs, but `holds` comes from a test; use equivalent(), "
            "which compares the interval with a margin"
        )


def severity(verdict: Verdict, section: str, declared_severity: str, headlines: Sequence[str] = ()) -> str:
    """Return the severity of a verdict: `detail` for a cell check, else the declared severity if there is one.

    Without a declared severity, a statement is a headline in an abstract, summary, conclusion, hypothesis, section of
    key findings or section that the paper's vocabulary names, and supporting elsewhere.
    """
    if verdict.kind == "cell check":
        return "detail"
    is_named = any(headline.casefold() in section.casefold() for headline in headlines)
    return declared_severity or ("headline" if is_named or _HEADLINE.search(section) else "supporting")


def _failure_kind(verdict: Verdict, declared: str) -> str:
    """Return the failure kind that a verdict names, or else the kind that the decorator declares, or the default."""
    is_default = verdict.verdict in ("not supported", "contradicted") and verdict.failure in _DEFAULT_FAILURES
    return declared if declared and is_default else verdict.failure


def _as_sentence(text: str) -> str:
    """Return a text with a capital and a full stop; a symbol or name at its start stays unchanged."""
    text = text.strip()
    text = text[0].upper() + text[1:] if _WORD.match(text) else text
    return text if text.endswith((".", "?", "!")) else f"{text}."
