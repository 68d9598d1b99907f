"""Define recipes for distilling a student; a run may stop early, but never changes its recipe's schedule."""

import math
from dataclasses import asdict, dataclass
from typing import Any

from boundpaper.errors import SpecError

ARMS = {"nope": "drope", "continued": "as configured"}  # arm -> student's position encoding
TEXTS = ("manual", "anarchism")
BF16, FP32 = "bf16", "fp32"


@dataclass(frozen=True)
class DistilRecipe:
    """The settings of a distillation, shared by both arms.

    Parameters
    ----------
    steps : int
        Number of steps of the whole schedule.
    warm : int
        Steps of linear warm-up; a cosine to 0 follows.
    rate, decay, clip : float
        AdamW's full learning rate, weight decay, and gradient clipping norm.
    betas : tuple of float
        AdamW's decay rates of both moments.
    rows, length : int
        Windows per step, and tokens per window.
    texts : tuple of str
        Installed sets of texts. The part `calibration` of a set is for training, `evaluation` for held-out windows.
    held_out : int
        Number of held-out windows per set.
    every : int
        Steps between evaluations; also the steps that an arm trains before the other arm's turn.
    precision : {"bf16", "fp32"}
        Precision of products in the forward pass (weights, moments, softmax and loss are float32).
    """

    steps: int
    warm: int = 10
    rate: float = 6e-4
    decay: float = 0.0
    clip: float = 1.0
    betas: tuple[float, float] = (0.9, 0.95)
    rows: int = 4
    length: int = 256
    texts: tuple[str, ...] = TEXTS
    held_out: int = 4
    every: int = 5
    precision: str = BF16

    def __post_init__(self) -> None:
        for name in ("steps", "rows", "held_out", "every"):
            if getattr(self, name) < 1:
                raise SpecError(f"recipe: {name} is {getattr(self, name)}; give 1 or more")
        if self.length < 2:
            raise SpecError(f"recipe: a window of {self.length} tokens has no next token; give 2 or more")
        if self.precision not in (BF16, FP32):
            raise SpecError(f"recipe: precision {self.precision!r} is unknown; give {BF16} or {FP32}")

    def learning_rate(self, step: int) -> float:
        """Return the learning rate of a step, counted from 0."""
        ramp = min(1.0, (step + 1) / max(1, self.warm))
        progress = max(0, step + 1 - self.warm) / max(1, self.steps - self.warm)
        return self.rate * ramp * 0.5 * (1 + math.cos(math.pi * min(1.0, progress)))

    @property
    def tokens(self) -> int:
        """Number of tokens per step."""
        return self.rows * self.length

    def facts(self) -> dict[str, Any]:
        """Return the recipe as plain values, for checkpoints and manifests."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}


RECIPES = {
    "short": DistilRecipe(steps=80),
    "short-fp32": DistilRecipe(steps=80, precision=FP32),
    "long": DistilRecipe(steps=3500, warm=100, every=50, held_out=16),
}


def recipe_of(name: str) -> DistilRecipe:
    """Return a recipe by name.

    Raises SpecError if the name is unknown.
    """
    if name not in RECIPES:
        raise SpecError(f"recipe {name!r} is unknown; give one of {', '.join(RECIPES)}")
    return RECIPES[name]
