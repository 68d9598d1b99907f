"""Claims: every public function of this room is a claim; its docstring is the statement, its return value the verdict.

def bias_doubles(stated_002, reported_training) -> Verdict:
    '''The bias per token doubles over pre-training.

    Source: 002, Interpretation of Tables 5-7.
    '''
"""

from analysis.claims._judge import Quoted, compare, judge, pick, quote, untestable
from analysis.claims._verdict import VERDICTS, Verdict

__all__ = ["VERDICTS", "Quoted", "Verdict", "compare", "judge", "pick", "quote", "untestable"]
