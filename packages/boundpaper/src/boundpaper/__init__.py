"""boundpaper builds papers whose numbers are bound to artifacts and whose claims are checked.

>>> import boundpaper as bp
>>> bp.fixed(1).show(18.42, "plain")
'18.4'

The package offers the names listed in `__init__.pyi`. It imports a name on first use, so that a build with nothing to
do imports neither pandas nor YAML.
"""

__version__ = "0.2.0"


def __getattr__(name: str) -> object:
    """Import a name of the package from the module that defines it."""
    from boundpaper.offered import find

    return find(__name__, name)


def __dir__() -> list[str]:
    """Return the module's globals and all names that the package offers."""
    from boundpaper.offered import names

    return [*globals(), *names(__name__)]
