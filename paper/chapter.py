r"""Chapters: Jinja2 templates in LaTeX whose numbers, verdicts and exhibits come from artifacts.

A template `paper/chapters/NAME.tex.j2` writes `<< expression >>`, `<% statement %>` and `<# comment #>`, and calls

- `n('artifact', value='column', key='...')`: the one number that the keys name; fractions need a format: `| fixed(2)`;
- `table('name')` and `figure('name')`: the exhibit, as `\input`;
- `claim('name')`: the verdict's words; `.phrase` as a verb; `.reason` and so on are columns of the ledger.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from artifacts.errors import SpecError, ThesisError
from artifacts.store.text_file import text_of
from paper.lookup import nearest, number

if TYPE_CHECKING:
    from collections.abc import Mapping

    import jinja2
    import pandas as pd

    from artifacts.build.job import Job

FORMATS = (  # of artifacts.typeset.numbers, each a filter here
    "fixed",
    "signed",
    "percent",
    "times",
    "integer",
    "significant",
    "scientific",
    "pvalue",
    "interval",
    "uncertain",
    "printed",
)
_SMALL = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen twenty"""
SMALL = tuple(_SMALL.split())
PHRASES = {
    "holds": "holds",
    "holds after rounding": "holds after rounding",
    "not significant": "is not significant",
    "not supported": "is not supported",
    "contradicted": "is contradicted",
    "not testable": "cannot be tested",
}
PROSE = frozenset({"statement", "reason"})  # columns of the ledger that are written as an author's text


class Latex(str):
    """Text that is LaTeX already; all other text is escaped when it is shown."""

    __slots__ = ()


@dataclass(frozen=True)
class Claim:
    """A row of the ledger, as a template sees it.

    Attributes
    ----------
    name : str
        The claim.
    row : mapping
        Its columns.
    shown : set of str
        The claims whose verdict the chapter has printed, filled as it renders.
    """

    name: str
    row: Mapping[str, Any]
    shown: set[str] = field(repr=False)

    @property
    def phrase(self) -> Latex:
        """The verdict as a verb phrase: "is not supported"."""
        self.shown.add(self.name)
        verdict = str(self.row["verdict"])
        if verdict not in PHRASES:
            raise SpecError(f"claim {self.name!r} has the unknown verdict {verdict!r}{nearest(verdict, PHRASES)}")
        return Latex(PHRASES[verdict])

    @property
    def words(self) -> Latex:
        """The verdict's words."""
        self.shown.add(self.name)
        return escaped(str(self.row["verdict"]))

    def __getattr__(self, column: str) -> Any:
        if column.startswith("__"):
            raise AttributeError(column)
        if column == "verdict":
            return self.words
        if column not in self.row:
            raise SpecError(f"a claim has no {column!r}{nearest(column, self.row)}")
        cell = self.row[column]
        if cell is None or cell != cell or str(cell) in ("", "<NA>"):
            raise SpecError(f"claim {self.name!r} has no {column}: it is empty in the ledger")
        if column in PROSE:
            from artifacts.typeset.text import prose

            return Latex(prose(str(cell), "latex"))
        return cell.item() if hasattr(cell, "item") else cell


def build(job: Job) -> dict[str, str | bytes]:
    """Render a chapter to `out/chapters/NAME.tex`.

    Raises
    ------
    SpecError
        The template is wrong, calls what does not exist, or has typed-in numbers; every message names file and line.
    """
    from paper import lint, metadata

    template = text_of(job.root, job.file, SpecError)
    rules = metadata.read(job.root)
    findings = lint.digits(template, job.file, rules.names, rules.terms)
    if findings:
        raise SpecError("\n".join(map(str, findings)))
    return {f"out/chapters/{job.name}.tex": render(template, job.file, job.frames())}


def render(template: str, file: str, frames: Mapping[str, pd.DataFrame]) -> str:
    """Render a chapter's template.

    Parameters
    ----------
    template : str
        Its text.
    file : str
        Its path relative to the project, for messages and the result's first line.
    frames : mapping of str to DataFrame
        The artifacts that it reads.

    Returns
    -------
    str
        LaTeX, with the mark `% source: file` as its last line: lines keep the template's numbers as long as it has
        no statements.
    """
    import jinja2

    shown: set[str] = set()
    cited: dict[str, None] = {}
    environment = _environment(frames, shown, cited)
    try:
        code = environment.compile(template, name=file, filename=file)
        text = jinja2.Template.from_code(environment, code, dict(environment.globals)).render()
    except jinja2.TemplateSyntaxError as error:
        raise SpecError(f"{file}:{error.lineno}: {error.message}") from error
    except jinja2.UndefinedError as error:
        name, _, rest = str(error.message).strip("'").partition("'")
        hint = nearest(name, environment.globals) if rest == " is undefined" else ""
        raise SpecError(f"{file}:{_line(error, file)}: {error.message}{hint}") from error
    except ThesisError as error:
        raise SpecError(f"{file}:{_line(error, file)}: {error}") from error
    except (TypeError, ValueError, AttributeError, KeyError, ZeroDivisionError) as error:
        raise SpecError(f"{file}:{_line(error, file)}: {type(error).__name__}: {error}") from error
    silent = [name for name in cited if name not in shown]
    if silent:
        raise SpecError(
            f"{file}: cites {', '.join(map(repr, silent))} without the verdict; "
            f"print << claim({silent[0]!r}) >> or its .phrase"
        )
    return f"{text.rstrip()}\n% source: {file}\n"


def escaped(text: str) -> Latex:
    """Data text, made safe for LaTeX, its numbers set as all others are."""
    from artifacts.typeset.text import escape, numerals

    return Latex(escape(numerals(text), "latex"))


def words(value: object) -> Latex:
    """A small whole number as a word: 7 becomes seven; from 21 on, digits."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != int(value) or value < 0:
        raise SpecError(f"words takes a whole number from 0, not {value!r}")
    from artifacts.typeset.numbers import integer

    return Latex(SMALL[int(value)] if value < len(SMALL) else integer().show(int(value), "latex"))


def _environment(frames: Mapping[str, pd.DataFrame], shown: set[str], cited: dict[str, None]) -> jinja2.Environment:
    import jinja2

    from artifacts.typeset import numbers
    from artifacts.typeset.text import prose

    def finalize(value: object) -> str:
        if isinstance(value, Latex):
            return value
        if isinstance(value, Claim):
            return value.words
        if isinstance(value, bool) or value is None:
            raise SpecError(f"{value} is not something to print")
        if isinstance(value, int):
            return numbers.integer().show(value, "latex")
        if isinstance(value, float):
            raise SpecError(f"{value!r} needs a format, as in | fixed(2)")
        if isinstance(value, (str, jinja2.Undefined)):
            return escaped(str(value))
        raise SpecError(f"cannot print a {type(value).__name__}")

    def n(artifact: str, /, *, value: str = "value", **where: Any) -> Any:
        return number(_frame(frames, artifact), artifact, value, where)

    def claim(name: str, /) -> Claim:
        ledger = _frame(frames, "claims")
        rows = ledger[ledger["claim"].astype(str) == name]
        if len(rows) != 1:
            problem = f"the ledger has {len(rows)} rows of claim {name!r}" if len(rows) else f"no claim {name!r}"
            raise SpecError(problem + nearest(name, ledger["claim"]))
        cited[name] = None
        row = rows.iloc[0]
        return Claim(name, {str(column): row[column] for column in rows.columns}, shown)

    environment = jinja2.Environment(
        variable_start_string="<<",
        variable_end_string=">>",
        block_start_string="<%",
        block_end_string="%>",
        comment_start_string="<#",
        comment_end_string="#>",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
        optimized=False,  # constants would be finalized at compile time, where an error has no line
        undefined=jinja2.StrictUndefined,
        finalize=finalize,
    )
    environment.globals.clear()
    environment.globals.update(
        n=n,
        claim=claim,
        table=lambda name, /: Latex(rf"\input{{tables/{name}}}"),
        figure=lambda name, /: Latex(rf"\input{{figures/{name}.float}}"),
    )
    environment.filters.update({name: _filter(getattr(numbers, name)) for name in FORMATS})
    environment.filters.update(words=words, prose=lambda text: Latex(prose(str(text), "latex")))
    return environment


def _filter(make: Callable[..., Any]) -> Callable[..., Latex]:
    def show(value: object, *options: Any, **named: Any) -> Latex:
        return Latex(make(*options, **named).show(value, "latex"))

    return show


def _frame(frames: Mapping[str, pd.DataFrame], artifact: str) -> pd.DataFrame:
    if artifact not in frames:
        raise SpecError(f"no artifact {artifact!r}{nearest(artifact, frames)}")
    return frames[artifact]


def _line(error: BaseException, file: str) -> int:
    """Line of the template that raised: Jinja2 rewrites its own frames of the traceback to the template's lines."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return (lines[-1] if lines else 0) or 0
