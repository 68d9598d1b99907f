"""keyquery: queries and keys of language models, captured, analysed and intervened on.

>>> import keyquery as kq
>>> "sinks" in kq.experiments()
True

The names of `__init__.pyi` are offered here, and each is imported on its first use: arrays need no torch, and what
loads a model says by itself what is to be installed.
"""

__version__ = "0.2.0"


def __getattr__(name: str) -> object:
    """Import an offered name from its module."""
    from boundpaper.offered import find

    return find(__name__, name)


def __dir__() -> list[str]:
    """Return the names of everything that the module offers."""
    from boundpaper.offered import names

    return [*globals(), *names(__name__)]
