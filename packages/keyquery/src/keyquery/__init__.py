"""keyquery: queries and keys of language models, captured, analysed and intervened on.

>>> import keyquery as kq
>>> "sinks" in kq.experiments()
True

The names in `__init__.pyi` are available here; each is imported on first use. Arrays need no torch; a function that
loads a model raises an error that names the package to install.
"""

__version__ = "0.2.0"


def __getattr__(name: str) -> object:
    """Import a public name from the module that defines it."""
    from boundpaper.offered import find

    return find(__name__, name)


def __dir__() -> list[str]:
    """Return the public names of the module."""
    from boundpaper.offered import names

    return [*globals(), *names(__name__)]
