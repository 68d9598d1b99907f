"""Dependencies of chapters, read from their text."""

import subprocess
import sys
from pathlib import Path

import pytest

from boundpaper.errors import SpecError
from boundpaper.paper.calls import dependencies


def test_every_call_with_its_line() -> None:
    text = (
        "\\chapter{One}\nr is << n('lbp', test='pearson', value='estimate') | fixed(2) >>,\n\n<< table(\"ap_drop\") >> "
        "<< figure( 'ap_drop' ) >>\n<% if n('a', k='v') > n('b') %>x<% endif %>\n<< claim('h1').reason >>"
    )
    assert dependencies(text) == [
        ("n", "lbp", 2), ("table", "ap_drop", 4), ("figure", "ap_drop", 4), ("n", "a", 5), ("n", "b", 5),
        ("claim", "h1", 6),
    ]  # fmt: skip


def test_comments_strings_and_prose_are_not_calls() -> None:
    text = "n('x') <# << n('x') >> #> << 'n(1) >> table(2)' >> << claim('c').n >> << f(n=3) >> $n(x)$"
    assert dependencies(text) == [("claim", "c", 1)]


@pytest.mark.parametrize(
    "call",
    ["n(name)", "n('a' ~ b)", "table()", "figure(names[0])", "claim", "rows | map(n)", "n == 3", "n(artifact='a')"],
)
def test_call_without_a_string_literal_is_refused(call: str) -> None:
    with pytest.raises(SpecError, match=r"^3: \w+\(\.\.\.\) needs a string literal"):
        dependencies(f"a\nb\nc << {call} >>")


def test_only_the_standard_library_is_imported() -> None:
    script = (
        "import sys, paper, boundpaper.paper.calls, boundpaper.build.process\nheavy = {'jinja2', 'pandas', 'numpy', "
        "'yaml', 'pypdf'} & set(sys.modules)\nassert not heavy, heavy"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=Path(__file__).parent.parent, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr


UNCLOSED = {
    "one\n<% set lbp = use('lbp')\nIt's said.\n": "2: the tag <% set lbp = use('lbp') is not closed: close it with %>",
    "<% set lbp = use('a')\nprose << n('b') >>\n": "1: the tag <% set lbp = use('a') is not closed: close it with %>",
    "a\n\n<< n('ab', " + "'cd', " * 40: "3: the tag << n('ab'",
    "<# why": "1: the tag <# why is not closed: close it with #>",
    "<< table('firms' >>": "1: << table('firms' >> does not close its (: write ) before >>",
    "<< rows['a' >> and << n('a') >>": "1: << rows['a' >> does not close its [: write ] before >>",
    "x\n<< n('a, value=2) >>": "2: the text in quotes 'a, value=2) >> is not closed: close it with '",
    "<% raw %> << ": "1: what follows <% raw %> << is not closed: write <% endraw %>",
}


@pytest.mark.parametrize("text", UNCLOSED)
def test_unclosed_tag_is_reported_with_its_line(text: str) -> None:
    with pytest.raises(SpecError) as caught:
        dependencies(text, "a.tex.j2")
    assert str(caught.value).startswith("a.tex.j2:" + UNCLOSED[text])


def test_raw_parts_hold_no_calls() -> None:
    assert dependencies("<% raw %> << ' n('x') <% endraw %> << n('y') >>") == [("n", "y", 1)]
