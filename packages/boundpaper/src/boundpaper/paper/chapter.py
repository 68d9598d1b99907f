r"""Render chapters: Jinja2 templates in LaTeX whose numbers, verdicts and exhibits come from artifacts.

A template `paper/chapters/NAME.tex.j2` writes `<< expression >>`, `<% statement %>` and `<# comment #>`, and calls

- `n('artifact', value='column', key='...')`: a number from the row with these keys; floats need a format: `| fixed(2)`;
- `table('name')` and `figure('name')`: the exhibit, as `\input`;
- `supplement('table/name')`: the linked words "table in the supplement", for an exhibit that no chapter shows;
- `claim('name')`: the verdict; `.phrase` is the verdict as a verb, and `.reason` is the reason in the ledger;
- `mark('name')`: the verdict as a small mark after a sentence, linked to its ledger row;
- `r('artifact', 'word', column='key')`: the row with these words, printed as its estimate with interval and p;
- `use('artifact', column='key')`: a function that returns rows of the artifact that have this cell.
"""

from __future__ import annotations

import inspect
import json
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from boundpaper.errors import SpecError, ThesisError
from boundpaper.paper.bound import bound, link_to_origin, origin, origins_of
from boundpaper.paper.limits import limit_resources
from boundpaper.paper.lookup import find_cell
from boundpaper.paper.row import Row, row, row_reader
from boundpaper.paper.verdict import Claim, Latex
from boundpaper.store.text_file import text_of
from boundpaper.suggestions import or_known
from boundpaper.typeset import templates

if TYPE_CHECKING:
    from collections.abc import Mapping

    import jinja2
    import pandas as pd

    from boundpaper.build.job import Job

FORMATS = (  # functions of boundpaper.typeset.numbers that a template calls as filters
    *("fixed", "signed", "percent", "points", "times", "integer", "significant", "scientific", "pvalue", "interval"),
    *("uncertain", "printed"),
)
NUMBER_WORDS = tuple(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty".split()
)
SECONDS = 60.0  # most seconds of processor time for the text of a chapter
MEMORY = 1 << 30  # most bytes of memory for the text of a chapter


def build(job: Job) -> dict[str, str | bytes]:
    """Render a chapter to `out/chapters/NAME.tex`.

    Raises SpecError, with file and line, when the template is invalid, calls unknown names, or has typed numbers.
    """
    from boundpaper.paper import lint, metadata

    template = text_of(job.root, job.file, SpecError)
    paper = metadata.read(job.root)
    if findings := lint.find_typed_digits(template, job.file, paper.names, paper.terms):
        raise SpecError("\n".join(map(str, findings)))
    printed: list[dict[str, Any]] = []
    return {
        f"out/chapters/{job.name}.tex": render(template, job.file, job.frames(), printed),
        f"out/bound/{job.name}.json": json.dumps(printed, ensure_ascii=False, indent=1) + "\n",
    }


def render(
    template: str, file: str, frames: Mapping[str, pd.DataFrame], printed: list[dict[str, Any]] | None = None
) -> str:
    """Return the LaTeX of a chapter's template.

    `file` is the path in messages. If `printed` is given, exhibits and values with origins become links, and each such
    value is appended to `printed`, with its `line` in the template, its LaTeX (`shown`) and its `origins`. The last
    line of the LaTeX is the comment `% source: file`. If the template has no statements, its lines keep their numbers.
    """
    import jinja2

    shown_claims: set[str] = set()
    cited_claims: dict[str, None] = {}
    environment = _environment(frames, shown_claims, cited_claims)
    try:
        code = environment.compile(template, name=file, filename=file)
        compiled = jinja2.Template.from_code(environment, code, dict(environment.globals))
        if printed is not None:
            _link(environment, compiled, file, printed)
        with limit_resources(SECONDS, MEMORY):
            text = compiled.render()
    except jinja2.TemplateSyntaxError as error:
        raise SpecError(f"{file}:{error.lineno}: {error.message}") from error
    except jinja2.exceptions.SecurityError as error:
        raise SpecError(f"{file}:{_line(error, file)}: not allowed in a chapter: {error.message}") from error
    except jinja2.TemplateNotFound as error:
        raise SpecError(
            f"{file}:{_line(error, file)}: includes {error.name!r}; a chapter must not include files, so insert the "
            "text here"
        ) from error
    except jinja2.UndefinedError as error:
        name, _, ending = str(error.message).strip("'").partition("'")
        suggestion = or_known(name, environment.globals) if ending == " is undefined" else ""
        raise SpecError(f"{file}:{_line(error, file)}: {error.message}{suggestion}") from error
    except ThesisError as error:
        raise SpecError(f"{file}:{_line(error, file)}: {error}") from error
    except RecursionError as error:
        raise SpecError(f"{file}:{_line(error, file)}: a macro calls itself endlessly") from error
    except MemoryError as error:
        raise SpecError(f"{file}:{_line(error, file)}: this would use too much memory") from error
    except (TypeError, ValueError, AttributeError, KeyError, ArithmeticError) as error:
        raise SpecError(f"{file}:{_line(error, file)}: {type(error).__name__}: {error}") from error
    if unprinted := [name for name in cited_claims if name not in shown_claims]:
        raise SpecError(
            f"{file}: cites {', '.join(map(repr, unprinted))} without printing the verdict; print << "
            f"claim({unprinted[0]!r}) >> or its .phrase"
        )
    return f"{text.rstrip()}\n% source: {file}\n"


def escape_latex(text: str) -> Latex:
    """Return a text of the data escaped for LaTeX, so that each character is printed as itself."""
    from boundpaper.typeset.text import escape

    return Latex.of(escape(text, "latex"), origins_of(text))


def number_in_words(value: object) -> Latex:
    """Return a whole number up to 20 as a word (7 becomes seven), a larger number as digits."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != int(value) or value < 0:
        raise SpecError(f"`| words` takes a whole number of at least 0, not {value!r}")
    from boundpaper.typeset.numbers import integer

    text = NUMBER_WORDS[int(value)] if value < len(NUMBER_WORDS) else integer().show(int(value), "latex")
    return Latex.of(text, origins_of(value))


def range_text(pair: object, digits: int = 0, *, percent: bool = False) -> Latex:
    r"""Return a range `(low, high)` as `97--100`, or `$-$2 to 67` if an end is below zero.

    With `percent`, a percent sign follows; the numbers must be percentages.
    """
    from boundpaper.typeset.numbers import fixed

    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise SpecError(f"`| span` takes two numbers, as in (low, high) | span(1), not {pair!r}")
    low, high = (fixed(digits).show(end, "latex") for end in pair)
    separator = " to " if pair[0] < 0 or pair[1] < 0 else "--"
    return Latex.of(f"{low}{separator}{high}" + (r"\%" if percent else ""), origins_of(pair))


def _environment(
    frames: Mapping[str, pd.DataFrame], shown_claims: set[str], cited_claims: dict[str, None]
) -> jinja2.Environment:
    import jinja2

    from boundpaper.typeset import numbers
    from boundpaper.typeset.text import prose

    def finalize(value: object) -> str:
        if isinstance(value, Latex):
            return value
        if isinstance(value, Claim):
            return value.words
        if isinstance(value, Row):
            return Latex.of(value.latex(), value.origins)
        if isinstance(value, bool) or value is None:
            raise SpecError(f"{value} cannot be printed")
        if isinstance(value, int):
            return Latex.of(numbers.integer().show(value, "latex"), origins_of(value))
        if isinstance(value, float):
            raise SpecError(f"{value!r} needs a format, as in | fixed(2)")
        if isinstance(value, (str, jinja2.Undefined)):
            return Latex.of(escape_latex(str(value)), origins_of(value))
        raise SpecError(f"cannot print a {type(value).__name__}")

    def n(artifact: str, /, *, value: str = "value", **where: Any) -> Any:
        cell = find_cell(_require_frame(frames, artifact), artifact, value, where)
        return bound(cell, [origin(artifact, value, where)])

    def claim(name: str, /) -> Claim:
        ledger = _require_frame(frames, "claims")
        rows = ledger[ledger["claim"].astype(str) == name]
        if len(rows) != 1:
            problem = f"the ledger has {len(rows)} rows of claim {name!r}" if len(rows) else f"no claim {name!r}"
            raise SpecError(problem + or_known(name, ledger["claim"]))
        cited_claims[name] = None
        row = rows.iloc[0]
        return Claim(name, {str(column): row[column] for column in rows.columns}, shown_claims)

    def r(artifact: str, /, *names: str, **where: Any) -> Row:
        return row(_require_frame(frames, artifact), artifact, names, where)

    def use(artifact: str, /, **conditions: Any) -> Callable[..., Row]:
        return row_reader(_require_frame(frames, artifact), artifact, conditions)

    # with optimisation, Jinja2 would evaluate constants at compile time, where an error has no line
    environment = templates.environment(optimized=False, finalize=finalize)
    # the result of a macro is already LaTeX
    environment.concat = lambda parts: Latex("".join(parts))  # type: ignore[method-assign]
    environment.globals.clear()
    environment.globals.update(
        n=n,
        claim=claim,
        mark=lambda name, /: claim(name).mark,
        r=r,
        use=use,
        table=lambda name, /: Latex(rf"\input{{tables/{name}}}"),
        figure=lambda name, /: Latex(rf"\input{{figures/{name}.float}}"),
        supplement=lambda name, /: Latex(rf"\supplement{{{name}}}{{{name.partition('/')[0]} in the supplement}}"),
    )
    environment.filters.update({name: _format_filter(getattr(numbers, name)) for name in FORMATS})
    environment.filters.update(words=number_in_words, span=range_text)
    environment.filters["prose"] = lambda text: Latex.of(prose(str(text), "latex"), origins_of(text))
    return environment


def _link(environment: jinja2.Environment, compiled: jinja2.Template, file: str, printed: list[dict[str, Any]]) -> None:
    """Make the environment print values and exhibits as links, and append each value with origins to `printed`."""
    show = environment.finalize
    assert show is not None

    def finalize(value: object) -> str:
        text: str = show(value)
        origins = origins_of(text)
        if origins:
            frame = inspect.currentframe()
            while frame and frame.f_code.co_filename != file:
                frame = frame.f_back
            line = compiled.get_corresponding_lineno(frame.f_lineno) if frame else 0
            printed.append({"line": line, "shown": str(text), "origins": [source.record() for source in origins]})
        return link_to_origin(text, origins)

    environment.finalize = finalize
    for kind in ("table", "figure"):
        include = environment.globals[kind]
        compiled.globals[kind] = lambda name, /, kind=kind, include=include: Latex(
            rf"\exhibit{{{kind}/{name}}}{include(name)}\ignorespaces"  # so that TeX does not print two spaces
        )


def _format_filter(format_of: Callable[..., Any]) -> Callable[..., Latex | Row]:
    def show(value: object, *arguments: Any, **options: Any) -> Latex | Row:
        form = format_of(*arguments, **options)
        if isinstance(value, Row):
            return value.formatted(form)
        return Latex.of(form.show(value, "latex"), origins_of(value))

    return show


def _require_frame(frames: Mapping[str, pd.DataFrame], artifact: str) -> pd.DataFrame:
    if artifact not in frames:
        raise SpecError(f"no artifact {artifact!r}{or_known(artifact, frames)}")
    return frames[artifact]


def _line(error: BaseException, file: str) -> int:
    """Return the line of the template that raised an error, from the traceback; 0 if it is unknown."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return (lines[-1] if lines else 0) or 0
