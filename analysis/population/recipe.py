"""Define the recipe: the shape of the models, the arms, and the training of each arm."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

from boundpaper.errors import SpecError
from keyquery.language.words import WORDS
from keyquery.models.libraries import need

BASES = (400, 10_000)  # bases of the rotation; the first one is primary
SEEDS = tuple(range(1, 9))
TUNING = (101, 102)  # seeds on which the recipe was chosen; never reported
ARMS: dict[str, str] = {
    "A": "rotation, from scratch",
    "B": "from A, trained further with rotation kept",
    "C": "from A, trained further without rotation",
    "D": "from A, a fifth of C's steps without rotation",
    "E": "without rotation, from scratch",
}
FROM_START = ("B", "C", "D")
BLIND = ("C", "D", "E")  # arms without rotation
STAGES = {  # first and additional training stages by arm
    "A": ("first", "first_more"),
    "B": ("second", "second_more"),
    "C": ("second", "second_more"),
    "D": ("brief", "second_more"),
    "E": ("scratch", "second_more"),
}


@dataclass(frozen=True)
class Stage:
    """A stage of training with one schedule.

    Parameters
    ----------
    steps : int
    muon, adam : float
        Full learning rates of the two optimizers.
    warm : int
        Steps of linear warm-up.
    shape : {"linear", "cosine"}
        Linear decay to `floor` after the share `flat` of the steps, or a cosine to 0 after the warm-up.
    flat, floor : float
        Shares of steps and of the full rate, for the linear shape.
    average : int
        Number of last steps over which weights are averaged; 0 uses the last weights.
    short_steps, short_length : int
        Number of first steps with short sequences, and length of these.
    rows : int
        Number of sequences per step.
    scores : bool
        Whether Muon also trains the query and key matrices; otherwise AdamW does.
    """

    steps: int
    muon: float
    adam: float
    warm: int = 50
    shape: Literal["linear", "cosine"] = "linear"
    flat: float = 0.6
    floor: float = 0.02
    average: int = 0
    short_steps: int = 0
    short_length: int = 64
    rows: int = 16
    scores: bool = False

    def rate(self, step: int) -> float:
        """Return the share of the full learning rate at a step, counted from 0."""
        warm = min(1.0, (step + 1) / max(1, self.warm))
        if self.shape == "cosine":
            done = max(0, step + 1 - self.warm) / max(1, self.steps - self.warm)
            return warm * 0.5 * (1 + math.cos(math.pi * done))
        done = max(0.0, (step - self.flat * self.steps) / max(1.0, (1 - self.flat) * self.steps))
        return warm * (1 - (1 - self.floor) * done)

    def length(self, step: int, full: int) -> int:
        """Return the sequence length in words at a step, counted from 0."""
        return min(self.short_length, full) if step < self.short_steps else full


@dataclass(frozen=True)
class PopulationRecipe:
    """Everything that, with seed, base and arm, determines a model."""

    first: Stage = Stage(steps=2000, muon=0.01, adam=4e-3, short_steps=300)
    first_more: Stage = Stage(steps=500, muon=0.005, adam=1.5e-3, shape="cosine", average=100)
    second: Stage = Stage(
        steps=5000, muon=0.005, adam=0.01, warm=100, flat=0.7, average=100, short_steps=300, rows=8, scores=True
    )
    second_more: Stage = Stage(steps=500, muon=0.005, adam=0.01, flat=0.2, average=100, rows=8, scores=True)
    brief: Stage = Stage(
        steps=1000, muon=0.005, adam=0.01, warm=20, flat=0.7, average=50, short_steps=60, rows=8, scores=True
    )
    scratch: Stage = Stage(
        steps=9000, muon=0.005, adam=0.01, warm=100, flat=0.7, average=100, short_steps=300, rows=8, scores=True
    )
    rounds: int = 3  # most extensions of an arm with a criterion
    criterion: float = 0.03  # largest nats per word of answers to held-out key questions
    held_out: int = 200  # contexts for the criterion: 500 questions
    layers: int = 5
    width: int = 128
    heads: int = 4
    inner: int = 256
    length: int = 128
    spread: float = 0.02
    every: int = 100  # steps between rows of the curves
    save: int = 100  # steps between checkpoints

    def stage(self, arm: str) -> Stage:
        """Return the first training stage of an arm."""
        stage: Stage = getattr(self, STAGES[arm][0])
        return stage

    def more(self, arm: str) -> Stage:
        """Return the additional training stage for an arm that does not meet the criterion."""
        stage: Stage = getattr(self, STAGES[arm][1])
        return stage

    def facts(self, arm: str = "") -> dict[str, Any]:
        """Return the recipe as plain values; for an arm, all that determines its training but the starting weights."""
        whole = asdict(self)
        if not arm:
            return whole
        stages = {*STAGES[arm], *(("first",) if arm == "E" else ())}  # whose documents end first
        others = {name for names in STAGES.values() for name in names} - stages
        return {name: value for name, value in whole.items() if name not in others}


@dataclass(frozen=True, order=True)
class PopulationMember:
    """One model of the population."""

    base: int
    seed: int
    arm: str

    def __post_init__(self) -> None:
        if self.arm not in ARMS:
            raise SpecError(f"there is no arm {self.arm!r}; arms are {', '.join(ARMS)}")

    @property
    def name(self) -> str:
        """Key of the model, `b400-s1-C`; the arm that never rotates has no base: `none-s1-E`."""
        return f"none-s{self.seed}-E" if self.arm == "E" else f"b{self.base}-s{self.seed}-{self.arm}"

    @property
    def start(self) -> PopulationMember | None:
        """The model whose weights this one starts from."""
        return PopulationMember(self.base, self.seed, "A") if self.arm in FROM_START else None

    @property
    def matched(self) -> PopulationMember | None:
        """The model whose number of training steps this one copies (B copies C)."""
        return PopulationMember(self.base, self.seed, "C") if self.arm == "B" else None

    @property
    def positional(self) -> str:
        """Position encoding: "rope" if the model rotates, else "none"."""
        return "none" if self.arm in BLIND else "rope"


SUBJECTS = {
    "tiny-rope": PopulationMember(400, 1, "A"),
    "tiny-continued": PopulationMember(400, 1, "B"),
    "tiny-drope": PopulationMember(400, 1, "C"),
}
"""The shipped models of the population, by name."""


def architecture(recipe: PopulationRecipe, which: PopulationMember) -> Any:
    """Return a model's configuration for transformers' Llama; dividing positions by 1e30 removes the rotation exactly.

    Raises
    ------
    MissingDependency
        When transformers is absent.
    """
    transformers = need("transformers", "to build the small models")
    rotation: dict[str, Any] = {"rope_type": "default", "rope_theta": float(which.base)}
    if which.positional == "none":
        rotation = {"rope_type": "linear", "factor": 1e30, "rope_theta": float(which.base)}
    return transformers.LlamaConfig(
        vocab_size=len(WORDS),
        hidden_size=recipe.width,
        intermediate_size=recipe.inner,
        num_hidden_layers=recipe.layers,
        num_attention_heads=recipe.heads,
        num_key_value_heads=recipe.heads,
        max_position_embeddings=recipe.length,
        initializer_range=recipe.spread,
        tie_word_embeddings=True,
        rope_parameters=rotation,
        pad_token_id=WORDS.index("<pad>"),
        bos_token_id=WORDS.index("<s>"),
        eos_token_id=WORDS.index("</s>"),
    )
