"""Train one model of the population: stages, averaged weights, and the criterion to meet."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.population import prompts
from analysis.population.arithmetic import joined, rounding_digest
from analysis.population.asking import answers
from analysis.population.muon import Muon
from analysis.population.recipe import PopulationMember, PopulationRecipe, Stage, architecture
from boundpaper.errors import ModelError
from keyquery.language import documents
from keyquery.language.words import world
from keyquery.models import training_state as checkpoint
from keyquery.models.libraries import need

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

Tell = Callable[[int, int, str], None]
"""Called with the number of finished steps, that of all known steps, and a line of progress."""

ORTHOGONAL = ("v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
SCORES = ("q_proj", "k_proj")
CLIP = 1.0
BETAS = (0.9, 0.95)
VERSION = 2  # format version of a checkpoint
HELD_OUT = 0  # seed of the criterion's questions; not a model's seed


@dataclass
class TrainingOutcome:
    """A trained model.

    Parameters
    ----------
    weights : dict of str to Tensor
        The weights as published: float32 values that are exact in half precision.
    steps : int
        Number of training steps of this arm, including extensions.
    rounds : int
        Number of extensions.
    key_loss : float
        Nats per word of answers to held-out key questions, which the criterion bounds.
    reached : bool
        Whether the criterion is met.
    curves : list of dict
        Rows `step, metric, value`.
    arithmetic : str
        Digest of the training process's rounding (`arithmetic.rounding_digest`); several are joined by `+` if
        training was resumed, or its start was trained, by a process that rounds differently.
    """

    weights: dict[str, Tensor]
    steps: int
    rounds: int
    key_loss: float
    reached: bool
    curves: list[dict[str, Any]] = field(default_factory=list)
    arithmetic: str = ""


def model_of(recipe: PopulationRecipe, which: PopulationMember, weights: dict[str, Tensor] | None) -> PreTrainedModel:
    """Return a model of an arm, with given weights or initialised from the seed (the same for all arms and bases)."""
    torch, transformers = need("torch"), need("transformers")
    torch.manual_seed(which.seed)
    model: PreTrainedModel = transformers.LlamaForCausalLM(architecture(recipe, which))
    if weights is not None:
        model.load_state_dict(weights)
    return model


def train(
    recipe: PopulationRecipe,
    which: PopulationMember,
    start: dict[str, Tensor] | None,
    work: Path,
    tell: Tell = lambda done, total, text: None,
    least: int = 0,
) -> TrainingOutcome:
    """Train one model; a rerun resumes from the last checkpoint below `work` and gives the same weights.

    All arms that continue training see the same documents, step by step; the arm that never rotates sees the documents
    of both phases in order.

    Parameters
    ----------
    recipe : PopulationRecipe
    which : PopulationMember
    start : dict or None
        The published weights that the arm starts from.
    work : Path
        Folder of the checkpoint.
    tell : callable
        See `Tell`.
    least : int
        Least number of extensions: that of the arm for which this one is the control.

    Raises
    ------
    ModelError
        If the checkpoint is damaged or of another recipe, or the loss is not finite.
    """
    torch = need("torch", "to train the population")
    made = {"model": which.name, "recipe": recipe.facts(which.arm), "threads": torch.get_num_threads()}
    made["version"] = VERSION
    run = _Training(recipe, which, start, work, made, tell, least)
    trained = run.whole(checkpoint.fetch_state(work, made))
    checkpoint.drop_state(work)
    return trained


class _Training:
    """One training run in progress."""

    def __init__(
        self,
        recipe: PopulationRecipe,
        which: PopulationMember,
        start: dict[str, Tensor] | None,
        work: Path,
        made: dict[str, Any],
        tell: Tell,
        least: int = 0,
    ) -> None:
        self.recipe, self.which, self.work, self.made, self.tell = recipe, which, work, made, tell
        self.least = least
        self.model = model_of(recipe, which, start)
        self.curves: list[dict[str, Any]] = []
        self.rounding = {rounding_digest()}
        self.round, self.step, self.before = 0, 0, 0
        self._begin_stage()

    def _begin_stage(self) -> None:
        """Make new optimizers and a new average, for a new stage."""
        torch = need("torch")
        written: list[Tensor] = []
        others: list[Tensor] = []
        kinds = (*ORTHOGONAL, *SCORES) if self._current_stage().scores else ORTHOGONAL
        for name, part in self.model.named_parameters():
            (written if any(kind in name for kind in kinds) else others).append(part)
        self.muon = Muon(written)
        self.adam = torch.optim.AdamW(others, betas=BETAS, weight_decay=0.0)
        self.sums: dict[str, Tensor] = {}

    def _current_stage(self) -> Stage:
        """Return the current stage: the arm's first stage, or an additional one."""
        return self.recipe.stage(self.which.arm) if self.round == 0 else self.recipe.more(self.which.arm)

    def whole(self, state: dict[str, Any] | None) -> TrainingOutcome:
        """Train the first stage, and further ones until the criterion is met or no more are allowed."""
        if state is not None:
            self._restore(state)
        while True:
            stage = self._current_stage()
            self._train_stage(stage)
            self.before += stage.steps
            self._use_average(stage)
            loss = key_loss(self.model, self.recipe)
            self._add_row(self.before, "held_out_key_loss", loss)
            reached = loss < self.recipe.criterion
            # the brief arm is defined by its number of steps, so it has no criterion
            if self.which.arm == "D" or self.round == self.recipe.rounds or (reached and self.round >= self.least):
                break
            self.round, self.step = self.round + 1, 0
            self._begin_stage()
            self._save_checkpoint()
        weights = {name: part.detach().clone() for name, part in self.model.state_dict().items()}
        return TrainingOutcome(weights, self.before, self.round, loss, reached, self.curves, joined(*self.rounding))

    def _train_stage(self, stage: Stage) -> None:
        torch, recipe = need("torch"), self.recipe
        self.model.train()
        most = self.before + stage.steps
        for step in range(self.step, stage.steps):
            second, name = self._is_second_phase(self.before + step)
            drawn, weighted = documents.batch(world(second), name, stage.rows, stage.length(step, recipe.length))
            tokens, weights = torch.tensor(drawn), torch.tensor(weighted)[:, 1:]
            losses = _word_losses(self.model, tokens)
            loss = (losses * weights).sum() / weights.sum()
            if not torch.isfinite(loss):
                raise ModelError(f"training of {self.which.name}: no finite loss at step {self.before + step + 1}")
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), CLIP)
            rate = stage.rate(step)
            self.muon.step(stage.muon * rate)
            for group in self.adam.param_groups:
                group["lr"] = stage.adam * rate
            self.adam.step()
            self.model.zero_grad(set_to_none=True)
            self.step = step + 1
            if self.step > stage.steps - stage.average:
                for part, value in self.model.state_dict().items():
                    self.sums[part] = self.sums[part] + value if part in self.sums else value.clone()
            if self.step % recipe.every == 0 or self.step == stage.steps:
                self._add_row(self.before + self.step, "loss", loss.item())
                answers = losses.detach()[weights > 1]
                if len(answers):
                    self._add_row(self.before + self.step, "answer_loss", answers.mean().item())
            if self.step % recipe.save == 0:
                self._save_checkpoint()
            self.tell(self.before + self.step, most, f"{self.which.name}, loss {loss.item():.3f}")

    def _is_second_phase(self, step: int) -> tuple[bool, str]:
        """Return whether a step of this arm is in the second phase, and the name of its documents."""
        seed = self.which.seed
        if self.which.start is not None:
            return True, f"{seed}/second/{step}"
        first = self.recipe.first.steps
        if self.which.arm == "A" or step < first:
            return False, f"{seed}/first/{step}"
        return True, f"{seed}/second/{step - first}"

    def _use_average(self, stage: Stage) -> None:
        """Load the averaged weights into the model, rounded as they are published."""
        held = self.model.state_dict()
        if stage.average:
            held = {name: value / stage.average for name, value in self.sums.items()}
        self.model.load_state_dict({name: value.half().float() for name, value in held.items()})

    def _add_row(self, step: int, metric: str, value: float) -> None:
        self.curves.append({"step": step, "metric": metric, "value": value})

    def _save_checkpoint(self) -> None:
        state = {
            "round": self.round,
            "step": self.step,
            "before": self.before,
            "weights": self.model.state_dict(),
            "muon": self.muon.state(),
            "adam": self.adam.state_dict(),
            "sums": self.sums,
            "curves": self.curves,
            "rounding": sorted(self.rounding),
        }
        checkpoint.store_state(self.work, state, self.made)

    def _restore(self, state: dict[str, Any]) -> None:
        self.round, self.step, self.before = state["round"], state["step"], state["before"]
        self._begin_stage()
        self.model.load_state_dict(state["weights"])
        self.muon.load(state["muon"])
        self.adam.load_state_dict(state["adam"])
        self.sums, self.curves = state["sums"], state["curves"]
        self.rounding |= set(state["rounding"])


def _word_losses(model: PreTrainedModel, tokens: Tensor) -> Tensor:
    """Return the nats of every word but the first, shape (rows, words - 1)."""
    functional: Any = need("torch").nn.functional
    logits = model(tokens, use_cache=False).logits[:, :-1]
    losses: Tensor = functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), reduction="none")
    return losses.view(tokens.shape[0], -1)


def key_loss(model: PreTrainedModel, recipe: PopulationRecipe) -> float:
    """Return the nats per word, full stop included, of answers to held-out key questions at the training length."""
    replies = answers(model, prompts.keys(HELD_OUT, recipe.length, recipe.held_out))
    return math.fsum(each.nats for each in replies) / sum(len(each.ask.answer) + 1 for each in replies)
