"""Experiments: each measures a model or a capture and returns tidy rows.

The package is callable: `keyquery.experiments()` lists the experiments. Heavy libraries are imported when needed.
"""

import sys
from types import ModuleType


class Experiments(ModuleType):
    """The module of the experiments; calling it lists them."""

    def __call__(self) -> dict[str, str]:
        """Return what each experiment measures, by name: the experiments of this package, then those of the open paper.

        Examples
        --------
        >>> import keyquery as kq
        >>> kq.experiments()["sinks"]
        "attention sinks, the first token's norm, and the layer whose output makes that norm a spike"
        """
        from keyquery.measure.choices import descriptions

        return descriptions()


sys.modules[__name__].__class__ = Experiments
