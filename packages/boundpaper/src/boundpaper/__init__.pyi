# What `import boundpaper` offers: the names, where they live and their types; `boundpaper.offered` finds them by this.
from boundpaper import errors as errors
from boundpaper import statistics as statistics
from boundpaper.claims.judge import Quoted as Quoted
from boundpaper.claims.judge import about as about
from boundpaper.claims.judge import compare as compare
from boundpaper.claims.judge import quote as quote
from boundpaper.claims.verdict import Verdict as Verdict
from boundpaper.figures import from_matplotlib as from_matplotlib
from boundpaper.figures.grouped import lines as lines
from boundpaper.figures.series import Bars as Bars
from boundpaper.figures.series import Bundle as Bundle
from boundpaper.figures.series import Fit as Fit
from boundpaper.figures.series import Forest as Forest
from boundpaper.figures.series import Heatmap as Heatmap
from boundpaper.figures.series import Line as Line
from boundpaper.figures.series import Points as Points
from boundpaper.figures.series import Stacked as Stacked
from boundpaper.figures.spec import Annotation as Annotation
from boundpaper.figures.spec import Axis as Axis
from boundpaper.figures.spec import Figure as Figure
from boundpaper.figures.spec import Panel as Panel
from boundpaper.figures.spec import Rule as Rule
from boundpaper.figures.spec import Shade as Shade
from boundpaper.figures.style import Style as Style
from boundpaper.papers import Paper as Paper
from boundpaper.papers import new as new
from boundpaper.papers import open as open
from boundpaper.tables.spec import Column as Column
from boundpaper.tables.spec import Table as Table
from boundpaper.typeset.numbers import fixed as fixed
from boundpaper.typeset.numbers import integer as integer
from boundpaper.typeset.numbers import interval as interval
from boundpaper.typeset.numbers import markup as markup
from boundpaper.typeset.numbers import percent as percent
from boundpaper.typeset.numbers import points as points
from boundpaper.typeset.numbers import printed as printed
from boundpaper.typeset.numbers import pvalue as pvalue
from boundpaper.typeset.numbers import scientific as scientific
from boundpaper.typeset.numbers import sentences as sentences
from boundpaper.typeset.numbers import signed as signed
from boundpaper.typeset.numbers import significant as significant
from boundpaper.typeset.numbers import text as text
from boundpaper.typeset.numbers import times as times
from boundpaper.typeset.numbers import uncertain as uncertain

__all__: list[str]
__version__: str
