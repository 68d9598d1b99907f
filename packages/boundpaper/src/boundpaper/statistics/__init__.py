"""Compute statistics on plain arrays: tests, intervals, effect sizes, corrections and guards.

Every test takes arrays and the keywords study, comparison and unit, and returns an `Estimate` (a row); `frame` makes a
table of rows. Nothing here depends on artifacts. The names in `__init__.pyi` are imported on first use, since most
steps need few of them and scipy is slow to load.

>>> import boundpaper as bp
>>> low, high = bp.statistics.wilson_interval(18, 40)
>>> bp.interval(2).show((low, high), "plain")
'[0.31, 0.60]'
"""


def __getattr__(name: str) -> object:
    """Import a name of the package from the module that defines it."""
    from boundpaper.offered import find

    return find(__name__, name)
