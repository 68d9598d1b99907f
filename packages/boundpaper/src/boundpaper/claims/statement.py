"""Define the decorator `claim`, which says which document and section print the statement that a function judges."""

import functools
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ParamSpec, Protocol, TypeVar, overload

from boundpaper.claims.verdict import FAILURES, SEVERITIES, Verdict
from boundpaper.errors import SpecError

_PLACE = re.compile(r"(?P<document>[\w.-]+), (?P<section>.+)")
P = ParamSpec("P")
Judged = TypeVar("Judged", Verdict, list[Verdict])


@dataclass(frozen=True)
class ClaimPlace:
    """The document and the section that print a claim's statement, and the claim's failure kind and severity.

    `failure` is the failure kind of verdicts that name no kind, and `severity` the severity of the claim. If `failure`
    is empty, the verdict decides the kind; if `severity` is empty, the section decides the severity.
    """

    document: str
    section: str
    failure: str = ""
    severity: str = ""


def parse_place(place: str, failure: str = "", severity: str = "") -> ClaimPlace:
    """Return the place of a claim from a text such as `002, Results`.

    Raises SpecError when the text lacks the document or the section, or `failure` or `severity` is unknown.
    """
    match = _PLACE.fullmatch(place)
    if not match:
        raise SpecError(f"a claim's place is {place!r}; write the document and the section, as in `002, Results`")
    for name, word, allowed in (("failure", failure, FAILURES), ("severity", severity, SEVERITIES)):
        if word and word not in allowed:
            raise SpecError(f"a claim of {place!r} has the unknown {name} {word!r}; use one of {', '.join(allowed)}")
    return ClaimPlace(match["document"], match["section"], failure, severity)


class Decorator(Protocol):
    """The type of the decorator that `claim` returns; a decorated generator of verdicts returns a list of verdicts."""

    @overload
    def __call__(self, function: Callable[P, Judged]) -> Callable[P, Judged]: ...
    @overload
    def __call__(self, function: Callable[P, Iterator[Verdict]]) -> Callable[P, list[Verdict]]: ...


def claim(place: str, *, failure: str = "", severity: str = "") -> Decorator:
    """Declare that a function judges a statement of a document; the function's docstring is the statement.

    Parameters
    ----------
    place : str
        The document and section with the statement, as in `002, Results`.
    failure : str
        One of `FAILURES`: the failure kind of verdicts `not supported` or `contradicted` that name no kind.
    severity : str
        One of `SEVERITIES`. By default `headline` for a statement in an abstract, summary, conclusion or hypothesis,
        `supporting` for any other statement, and `detail` for a cell check.

    Returns
    -------
    Decorator
        A decorator that keeps the function's parameters; a decorated generator returns a list of verdicts.

    Raises
    ------
    SpecError
        When the place lacks the document or the section, or `failure` or `severity` is unknown.

    Examples
    --------
    >>> from boundpaper import claim
    >>> from boundpaper.claims import judge
    >>> @claim("beans, Results")
    ... def growth_doubles(heights):
    ...     '''The growth of beans doubles under the sun.'''
    ...     return judge(heights[1] == 2 * heights[0], f"They grow from {heights[0]} to {heights[1]} cm.")
    >>> growth_doubles([9, 18]).verdict, growth_doubles.stated.section
    ('holds', 'Results')
    """
    claim_place = parse_place(place, failure, severity)

    def decorate(function: Callable[..., object]) -> Callable[..., object]:
        decorated = function
        if inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def decorated(*arguments: object, **keywords: object) -> list[Verdict]:
                return list(function(*arguments, **keywords))

        decorated.stated = claim_place  # type: ignore[attr-defined]
        return decorated

    return decorate  # type: ignore[return-value]
