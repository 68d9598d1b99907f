"""What chapters depend on, read from their text."""

import subprocess
import sys
from pathlib import Path

import pytest

from artifacts.errors import SpecError
from paper.calls import dependencies


def test_every_call_with_its_line() -> None:
    text = (
        "\\chapter{One}\n"
        "r is << n('lbp', test='pearson', value='estimate') | fixed(2) >>,\n\n"
        "<< table(\"ap_drop\") >> << figure( 'ap_drop' ) >>\n"
        "<% if n('a', k='v') > n('b') %>x<% endif %>\n"
        "<< claim('h1').reason >>"
    )
    assert dependencies(text) == [
        ("n", "lbp", 2),
        ("table", "ap_drop", 4),
        ("figure", "ap_drop", 4),
        ("n", "a", 5),
        ("n", "b", 5),
        ("claim", "h1", 6),
    ]


def test_comments_strings_and_prose_are_not_calls() -> None:
    text = "n('x') <# << n('x') >> #> << 'n(1) >> table(2)' >> << claim('c').n >> << f(n=3) >> $n(x)$"
    assert dependencies(text) == [("claim", "c", 1)]


@pytest.mark.parametrize(
    "call",
    ["n(name)", "n('a' ~ b)", "table()", "figure(names[0])", "claim", "rows | map(n)", "n == 3", "n(artifact='a')"],
)
def test_what_cannot_be_read_from_the_text_is_refused(call: str) -> None:
    with pytest.raises(SpecError, match=r"^3: \w+\(\.\.\.\) needs a string literal"):
        dependencies(f"a\nb\nc << {call} >>")


def test_only_the_standard_library_is_imported() -> None:
    script = (
        "import sys, paper, paper.calls, artifacts.build.process\n"
        "heavy = {'jinja2', 'pandas', 'numpy', 'yaml', 'pypdf'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=Path(__file__).parent.parent, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
