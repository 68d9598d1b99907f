"""Define the decorator of a claim, which names the document and section that state the docstring's sentence."""

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
    """Where a document states what a claim judges.

    `failure` is the kind of failure of a verdict that leaves it open, and `severity` that of the claim; they are empty
    where the verdict and the section decide.
    """

    document: str
    section: str
    failure: str = ""
    severity: str = ""


def parse_place(place: str, failure: str = "", severity: str = "") -> ClaimPlace:
    """Read a place such as `002, Results`.

    Raises SpecError when the place lacks the document or the section, or no failure or severity has the name given.
    """
    parts = _PLACE.fullmatch(place)
    if not parts:
        raise SpecError(f"a claim's place is {place!r}; write the document and the section, as in `002, Results`")
    for what, word, known in (("failure", failure, FAILURES), ("severity", severity, SEVERITIES)):
        if word and word not in known:
            raise SpecError(f"a claim of {place!r} has the {what} {word!r}, which is none of {', '.join(known)}")
    return ClaimPlace(parts["document"], parts["section"], failure, severity)


class Decorator(Protocol):
    """What `claim` returns: a decorator that turns a function which yields verdicts into one that returns a list."""

    @overload
    def __call__(self, function: Callable[P, Judged]) -> Callable[P, Judged]: ...
    @overload
    def __call__(self, function: Callable[P, Iterator[Verdict]]) -> Callable[P, list[Verdict]]: ...


def claim(place: str, *, failure: str = "", severity: str = "") -> Decorator:
    """Declare that a function judges a statement of a document; its docstring is the statement.

    Parameters
    ----------
    place : str
        The document and the section that state it, as in `002, Results`.
    failure : str
        One of `FAILURES`: what is wrong when a verdict is `not supported` or `contradicted` and does not say why.
    severity : str
        One of `SEVERITIES`; by default a headline in an abstract, a summary, a conclusion or a hypothesis, a detail if
        a single cell is checked, and supporting elsewhere.

    Returns
    -------
    Decorator
        It keeps the function's parameters; verdicts that the function yields are returned as a list.

    Raises
    ------
    SpecError
        When the place lacks the document or the section, or no failure or severity has the name given.

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
    where = parse_place(place, failure, severity)

    def decorate(function: Callable[..., object]) -> Callable[..., object]:
        made = function
        if inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def made(*arguments: object, **named: object) -> list[Verdict]:
                return list(function(*arguments, **named))

        made.stated = where  # type: ignore[attr-defined]
        return made

    return decorate  # type: ignore[return-value]
