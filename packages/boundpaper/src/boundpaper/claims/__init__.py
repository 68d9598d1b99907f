"""Claims: functions whose docstring is a statement and whose return value is its verdict.

@claim("beans, Results")
def growth_doubles(bean_heights) -> Verdict:
    '''The growth of beans doubles under the sun.'''

A printed number is judged at its printed precision (`compare`), a number that the source calls approximate by the range
that such a number stands for (`about`), an asserted effect by its interval (`directed`), a statement that nothing
differs by a margin (`equivalent`). Printed cells that follow from others, or repeat them, are declared: a claim is then
a variable, `Cells(...)` (`claims/relations.py`). What each verdict means is said in `claims/verdict.py`, and a
verdict that breaks its meaning cannot be made.
"""

from boundpaper.claims.copies import Copies, Repeats
from boundpaper.claims.effects import directed, equivalent
from boundpaper.claims.judge import QuotedCell, about, candidate, compare, judge, quote, untestable
from boundpaper.claims.relations import Cells, Relation
from boundpaper.claims.statement import claim
from boundpaper.claims.terms import Artifact
from boundpaper.claims.verdict import ALPHA, EQUIVALENT, FAILURES, MEANINGS, SEVERITIES, VERDICTS, Verdict
from boundpaper.store.frames import pick

__all__ = [
    "ALPHA",
    "EQUIVALENT",
    "FAILURES",
    "MEANINGS",
    "SEVERITIES",
    "VERDICTS",
    "Artifact",
    "Cells",
    "Copies",
    "QuotedCell",
    "Relation",
    "Repeats",
    "Verdict",
    "about",
    "candidate",
    "claim",
    "compare",
    "directed",
    "equivalent",
    "judge",
    "pick",
    "quote",
    "untestable",
]
