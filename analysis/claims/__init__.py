"""Claims: every public function of this room is a claim; its docstring is the statement, its return value the verdict.

def bias_doubles(stated_002, reported_training) -> Verdict:
    '''The bias per token doubles over pre-training.

    Source: 002, Interpretation of Tables 5-7.
    '''

A printed number is judged at its printed precision (`compare`), a number that the source calls approximate at its last
digit that is not zero (`about`), a value of the prose that repeats a table's cell by `_cells.restated`.
"""

from analysis.claims._judge import Quoted, about, compare, judge, pick, quote, untestable
from analysis.claims._verdict import VERDICTS, Verdict

__all__ = ["VERDICTS", "Quoted", "Verdict", "about", "compare", "judge", "pick", "quote", "untestable"]
