"""Statistics on plain arrays: tests, intervals, effect sizes, corrections and guards.

Every test takes arrays with the keywords study, comparison and unit, and returns an `Estimate` (a row); `frame` makes a
table of rows. Nothing here knows the project's artifacts. A name is imported on first use: most steps need
few of them, and scipy is slow to load.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from boundpaper.statistics.accuracy import degradation
    from boundpaper.statistics.correlations.contrast import correlation_difference, levels_and_differences
    from boundpaper.statistics.correlations.correlation import correlate, kendall, leave_one_out, pearson, spearman
    from boundpaper.statistics.correlations.covariate import partial, within_family
    from boundpaper.statistics.correlations.dependent import dependent_correlations
    from boundpaper.statistics.effects import d_s, d_z, hedges_g
    from boundpaper.statistics.estimate import COLUMNS, Estimate, finite, frame, no, with_note
    from boundpaper.statistics.guards import attach, fired
    from boundpaper.statistics.locations.paired import paired_t
    from boundpaper.statistics.locations.signed_rank import wilcoxon
    from boundpaper.statistics.locations.student import student_interval
    from boundpaper.statistics.locations.welch import pooled_t, welch_t, welch_t_from_stats
    from boundpaper.statistics.multiplicity import holm, holm_p
    from boundpaper.statistics.perplexity import disruption_contrast, log_perplexity_difference
    from boundpaper.statistics.power import smallest_correlation, smallest_d_flips, smallest_d_s, smallest_d_z
    from boundpaper.statistics.proportion import (
        clopper_pearson,
        fisher,
        mcnemar,
        mcnemar_from_counts,
        wilson,
        wilson_interval,
    )
    from boundpaper.statistics.pvalue import bound_holds, p_bound
    from boundpaper.statistics.rounding import (
        Interval,
        agreement,
        meets,
        percent_change,
        printed_interval,
        relative_decline,
        rounds_to,
    )
    from boundpaper.statistics.trend import draw_up, draw_up_interval, isotonic_distance

__all__ = [
    "COLUMNS",
    "Estimate",
    "Interval",
    "agreement",
    "attach",
    "bound_holds",
    "clopper_pearson",
    "correlate",
    "correlation_difference",
    "d_s",
    "d_z",
    "degradation",
    "dependent_correlations",
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
    "meets",
    "no",
    "p_bound",
    "paired_t",
    "partial",
    "pearson",
    "percent_change",
    "pooled_t",
    "printed_interval",
    "relative_decline",
    "rounds_to",
    "smallest_correlation",
    "smallest_d_flips",
    "smallest_d_s",
    "smallest_d_z",
    "spearman",
    "student_interval",
    "welch_t",
    "welch_t_from_stats",
    "wilcoxon",
    "wilson",
    "wilson_interval",
    "with_note",
    "within_family",
]

_HOMES = {
    "accuracy": "degradation",
    "correlations.contrast": "correlation_difference levels_and_differences",
    "correlations.correlation": "correlate kendall leave_one_out pearson spearman",
    "correlations.covariate": "partial within_family",
    "correlations.dependent": "dependent_correlations",
    "effects": "d_s d_z hedges_g",
    "estimate": "COLUMNS Estimate finite frame no with_note",
    "guards": "attach fired",
    "multiplicity": "holm holm_p",
    "locations.paired": "paired_t",
    "perplexity": "disruption_contrast log_perplexity_difference",
    "power": "smallest_correlation smallest_d_flips smallest_d_s smallest_d_z",
    "proportion": "clopper_pearson fisher mcnemar mcnemar_from_counts wilson wilson_interval",
    "pvalue": "bound_holds p_bound",
    "rounding": "Interval agreement meets percent_change printed_interval relative_decline rounds_to",
    "locations.signed_rank": "wilcoxon",
    "locations.student": "student_interval",
    "trend": "draw_up draw_up_interval isotonic_distance",
    "locations.welch": "pooled_t welch_t welch_t_from_stats",
}
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Import a name from its module."""
    if name not in _HOME:
        raise AttributeError(f"module 'boundpaper.statistics' has no attribute {name!r}")
    return getattr(importlib.import_module(f"boundpaper.statistics.{_HOME[name]}"), name)
