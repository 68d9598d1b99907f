"""Compute statistics on plain arrays: tests, intervals, effect sizes, corrections and guards.

Every test takes arrays with the keywords study, comparison and unit, and returns an `Estimate` (a row); `frame` makes a
table of rows. Nothing here knows the project's artifacts. A name of `__init__.pyi` is imported on first use: most steps
need few of them, and scipy is slow to load.

>>> import boundpaper as bp
>>> low, high = bp.statistics.wilson_interval(18, 40)
>>> bp.interval(2).show((low, high), "plain")
'[0.31, 0.60]'
"""


def __getattr__(name: str) -> object:
    """Import a name that the package offers from the module that defines it."""
    from boundpaper.offered import find

    return find(__name__, name)
