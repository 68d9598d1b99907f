"""Experiments: each turns a model or a capture into tidy measurements; torch and the Hub are imported only on use.

The package can be called, `keyquery.experiments()`, since the name is both that of its folder and that of the list.
"""

import sys
from types import ModuleType


class Experiments(ModuleType):
    """The module of experiments; calling it lists them."""

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
