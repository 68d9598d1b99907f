"""Experiments: each measures a model or a capture as tidy rows; torch and the Hub are imported only on use.

The package can be called, `keyquery.experiments()`, since its folder and the list of experiments share a name.
"""

import sys
from types import ModuleType


class Experiments(ModuleType):
    """The module of the experiments; calling it lists them."""

    def __call__(self) -> dict[str, str]:
        """Return what each experiment measures, by its name: experiments of this package, then of the open paper.

        Examples
        --------
        >>> import keyquery as kq
        >>> kq.experiments()["sinks"]
        "attention sinks, the first token's norm, and the layer whose output makes that norm a spike"
        """
        from keyquery.measure.choices import described

        return described()


sys.modules[__name__].__class__ = Experiments
