"""Statistics on plain arrays: tests, intervals, effect sizes, corrections and guards.

Every test takes arrays with the keywords study, comparison and unit, and returns an `Estimate` (a row); `frame` makes a
table of rows. Nothing here knows the project's artifacts.
"""

from analysis.statistics.accuracy import Outcomes, degradation, tally, three_outcomes
from analysis.statistics.contrast import correlation_difference, levels_and_differences
from analysis.statistics.correlation import correlate, kendall, leave_one_out, pearson, spearman
from analysis.statistics.covariate import partial, within_family
from analysis.statistics.effects import d_s, d_z, hedges_g
from analysis.statistics.estimate import COLUMNS, Estimate, finite, frame, no, with_note
from analysis.statistics.guards import attach, fired
from analysis.statistics.multiplicity import holm, holm_p
from analysis.statistics.paired import paired_t
from analysis.statistics.perplexity import disruption_contrast, log_perplexity_difference
from analysis.statistics.power import correlation_power, smallest_correlation, smallest_d_s, smallest_d_z
from analysis.statistics.proportion import fisher, mcnemar, mcnemar_from_counts, wilson, wilson_interval
from analysis.statistics.pvalue import bound_holds, p_bound, p_text, printed_p_holds
from analysis.statistics.rounding import (
    Interval,
    agreement,
    meets,
    percent_change,
    printed_interval,
    relative_decline,
    rounds_to,
)
from analysis.statistics.trend import draw_up, draw_up_interval, isotonic_distance, measured_trend, reported_trend
from analysis.statistics.welch import welch_t, welch_t_from_stats

__all__ = [
    "COLUMNS",
    "Estimate",
    "Interval",
    "Outcomes",
    "agreement",
    "attach",
    "bound_holds",
    "correlate",
    "correlation_difference",
    "correlation_power",
    "d_s",
    "d_z",
    "degradation",
    "disruption_contrast",
    "draw_up",
    "draw_up_interval",
    "finite",
    "fired",
    "fisher",
    "frame",
    "hedges_g",
    "holm",
    "holm_p",
    "isotonic_distance",
    "kendall",
    "leave_one_out",
    "levels_and_differences",
    "log_perplexity_difference",
    "mcnemar",
    "mcnemar_from_counts",
    "measured_trend",
    "meets",
    "no",
    "p_bound",
    "p_text",
    "paired_t",
    "partial",
    "pearson",
    "percent_change",
    "printed_interval",
    "printed_p_holds",
    "relative_decline",
    "reported_trend",
    "rounds_to",
    "smallest_correlation",
    "smallest_d_s",
    "smallest_d_z",
    "spearman",
    "tally",
    "three_outcomes",
    "welch_t",
    "welch_t_from_stats",
    "wilson",
    "wilson_interval",
    "with_note",
    "within_family",
]
