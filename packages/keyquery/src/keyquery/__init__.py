"""keyquery: queries and keys of language models, captured, analysed and intervened on.

>>> import keyquery as kq
>>> "sinks" in kq.experiments()
True

`__init__.pyi` lists the public names; each is imported on first use. Functions on arrays work without torch. Functions
that load a model raise MissingDependency without torch; the message says how to install torch.
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
