"""Claims: functions whose docstring is a statement and whose return value is its verdict.

@claim("beans, Results")
def growth_doubles(bean_heights) -> Verdict:
    '''The growth of beans doubles under the sun.'''

`compare` judges a printed number at its printed precision, `about` an approximate number by the range it allows,
`directed` an asserted effect by its interval, and `equivalent` a statement that nothing differs by a margin. Printed
cells that follow from other cells or repeat them are declared as a variable, `Cells(...)` (`claims/relations.py`).
`claims/verdict.py` defines the verdicts; a `Verdict` that contradicts its definition raises an error.
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
