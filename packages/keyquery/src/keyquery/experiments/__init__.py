"""Experiments: a model or a capture in, tidy measurements out; torch and the Hub are imported only when they run.

The package can be called, `keyquery.experiments()`, since the name is both that of its folder and that of the list.
"""

from __future__ import annotations

import sys
from types import ModuleType


class Experiments(ModuleType):
    """The folder of experiments, which lists them when it is called."""

    def __call__(self) -> dict[str, str]:
        """Return what each experiment measures, by its name: those of this package, then those of the open paper.

        Examples
        --------
        >>> import keyquery as kq
        >>> kq.experiments()["sinks"]
        "attention sinks, the first token's norm, and the layer whose output makes it a spike"
        """
        from keyquery.measure.choices import described

        return described()


sys.modules[__name__].__class__ = Experiments
