"""Judge claims: a claim is a function whose docstring is a statement and which returns the verdict on it.

    @claim("beans, Results")
    def growth_doubles(bean_heights) -> Verdict:
        '''The growth of beans doubles under the sun.'''

`compare` judges a printed number at its printed precision, and `about` judges an approximate number by the range that
it allows. `directed` judges a stated effect by its interval, and `equivalent` judges a statement that nothing differs,
by a margin. A module variable `Cells(...)` declares checks of printed cells that follow from other cells or repeat them
(`claims/relations.py`). `claims/verdict.py` defines the verdicts; a `Verdict` that its numbers contradict is an error.
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
