"""The recipe: shape of the models, and how both phases of their training go."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from analysis.lab.language import WORDS
from analysis.models.libraries import need

# The slowest pair of dimensions turns by .9 radian over the training length and passes a quarter turn beyond it. With
# the usual base of 10000 a model of this size found 95 % of the keys at twice the length: there was little to mend.
THETA = 200.0
POSITIONS = ("rope", "drope")


@dataclass(frozen=True)
class Phase:
    """A stretch of training with one schedule: warm-up, flat, linear decay.

    Parameters
    ----------
    steps : int
    warm : int
        Steps of linear warm-up.
    flat : float
        Share of the steps after which the rate decays.
    floor : float
        Last rate as a share of the full one.
    muon, adam : float
        Full rates of the two optimizers.
    short_steps, short_length : int
        The first steps see sequences of this length only.
    """

    steps: int
    warm: int = 50
    flat: float = 0.6
    floor: float = 0.02
    muon: float = 0.01
    adam: float = 4e-3
    short_steps: int = 0
    short_length: int = 64

    def rate(self, step: int) -> float:
        """Share of the full rate at a step from 0."""
        decay = 1 - (1 - self.floor) * max(
            0.0, (step - self.flat * self.steps) / max(1.0, (1 - self.flat) * self.steps)
        )
        return min(1.0, (step + 1) / max(1, self.warm)) * decay

    def length(self, step: int, full: int) -> int:
        """Tokens of a sequence at a step from 0."""
        return min(self.short_length, full) if step < self.short_steps else full


@dataclass(frozen=True)
class Recipe:
    """Everything that, with a seed, determines the pair."""

    rope: Phase = Phase(steps=1600, short_steps=300)
    drope: Phase = Phase(steps=2600, flat=0.5, short_steps=800)
    layers: int = 5
    width: int = 128
    heads: int = 4
    inner: int = 256
    length: int = 128
    rows: int = 16
    spread: float = 0.02
    every: int = 100  # steps between two looks at the accuracies
    save: int = 50  # steps between two checkpoints
    items: int = 50  # of each task at a look
    final: int = 200  # of each task and length at the end

    def phase(self, positional: str) -> Phase:
        """The phase that trains `rope`, or recalibrates `drope`."""
        return self.rope if positional == "rope" else self.drope

    def facts(self) -> dict[str, Any]:
        """The recipe as plain values."""
        return asdict(self)


def rotation(positional: str) -> dict[str, Any]:
    """Parameters of the position encoding: plain rotation, or one slowed down so far that it is the identity."""
    if positional == "rope":
        return {"rope_type": "default", "rope_theta": THETA}
    return {"rope_type": "linear", "factor": 1e30, "rope_theta": THETA}


def architecture(recipe: Recipe, positional: str) -> Any:
    """The configuration of a model of the pair, of transformers' Llama.

    Raises
    ------
    MissingDependency
        When transformers is absent.
    """
    transformers = need("transformers", "to build the tiny models")
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
        rope_parameters=rotation(positional),
        pad_token_id=WORDS.index("<pad>"),
        bos_token_id=WORDS.index("<s>"),
        eos_token_id=WORDS.index("</s>"),
    )
