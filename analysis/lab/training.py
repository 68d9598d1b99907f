"""Training of the pair: a model with rotation from scratch, then its twin without, recalibrated by training on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.lab import card, checkpoint, documents
from analysis.lab.examine import Score, final, look
from analysis.lab.language import LANGUAGE_SEED, world
from analysis.lab.recipe import POSITIONS, Recipe, architecture
from analysis.lab.tokenizer import build
from analysis.lab.weights import publish, rounded
from analysis.models.libraries import need
from artifacts.errors import ModelError

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

Tell = Callable[[int, int, str], None]
"""Called with steps done, steps in total, and a line about them."""

PHASES = {"rope": "pretraining", "drope": "recalibration"}
MUON = ("v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
CLIP = 1.0
BETAS = (0.9, 0.95)


@dataclass(frozen=True)
class Trained:
    """A finished pair.

    Parameters
    ----------
    folders : dict of str to Path
        Of `rope` and `drope`.
    curves : list of dict
        Rows `positional, step, phase, metric, value, n, reason`: losses and accuracies along the steps; phase `final`
        holds the accuracies of the published weights by length.
    evaluation : dict of str to list of Score
        The final accuracies with their intervals, of `rope` and `drope`.
    """

    folders: dict[str, Path]
    curves: list[dict[str, Any]] = field(default_factory=list)
    evaluation: dict[str, list[Score]] = field(default_factory=dict)


def train(
    folder: Path,
    seed: int,
    *,
    work: Path,
    resume: bool = False,
    tell: Tell | None = None,
    recipe: Recipe | None = None,
    threads: int = 1,
) -> Trained:
    """Train a pair and write `tiny-rope` and `tiny-drope` below `folder`.

    The weights are a function of seed, recipe, library versions and number of threads. A killed run goes on from its
    last checkpoint with `resume` and ends in the same weights.

    Parameters
    ----------
    folder : Path
        Where the two models go.
    seed : int
        Of initial weights and documents; the language is the same for all.
    work : Path
        Folder of the checkpoint.
    resume : bool
        Go on where a checkpoint stands; without one, or without `resume`, start anew.
    tell : callable or None
        See `Tell`.
    recipe : Recipe or None
        The default recipe when None.
    threads : int
        Of torch.

    Raises
    ------
    ModelError
        When the checkpoint is damaged or of another training, or the loss is no number.
    MissingDependency
        When torch or transformers are absent.
    """
    torch = need("torch", "to train the tiny pair")
    need("transformers", "to train the tiny pair")
    recipe, tell = recipe or Recipe(), tell or (lambda done, total, text: None)
    made = {"seed": seed, "threads": threads, "recipe": recipe.facts(), "language": LANGUAGE_SEED}
    if not resume:
        checkpoint.drop(work)
    state = checkpoint.fetch(work, made) if resume else None
    trained = Trained({positional: folder / f"tiny-{positional}" for positional in POSITIONS})
    with _threads(torch, threads):
        run = _Run(recipe, seed, work, made, tell, trained)
        run.whole(state)
    checkpoint.drop(work)
    return trained


class _Run:
    """One training under way: the rows so far and what a checkpoint needs."""

    def __init__(
        self, recipe: Recipe, seed: int, work: Path, made: dict[str, Any], tell: Tell, trained: Trained
    ) -> None:
        self.recipe, self.seed, self.work, self.made, self.tell, self.trained = recipe, seed, work, made, tell, trained
        self.total = sum(recipe.phase(positional).steps for positional in POSITIONS)

    def whole(self, state: dict[str, Any] | None) -> None:
        """Both phases, from a checkpoint's state or from the start."""
        torch = need("torch")
        if state is not None:
            self.trained.curves.extend(state["rows"])
            for row in (row for row in state["rows"] if row["phase"] == "final"):
                score = Score.named(row["metric"], round(row["value"] * row["n"]), row["n"])
                self.trained.evaluation.setdefault(row["positional"], []).append(score)
        start = POSITIONS.index(state["positional"]) if state is not None else 0
        weights = state["weights"] if state is not None else None
        for positional in POSITIONS[start:]:
            model = self.model(positional, weights)
            optimizers = _optimizers(model, torch)
            first = 0
            if state is not None:
                first = int(state["step"])
                for optimizer, old in zip(optimizers, state["optimizers"], strict=True):
                    optimizer.load_state_dict(old)
                state = None
            self.phase(positional, model, optimizers, first)
            # The twin starts from the weights as they are published, so it can be made again from those.
            weights = rounded(model)
            model.load_state_dict(weights)
            self.finish(positional, model)
            if positional == "rope":
                self.store("drope", 0, model, _optimizers(model, torch))

    def model(self, positional: str, weights: dict[str, torch.Tensor] | None) -> PreTrainedModel:
        """A fresh model, or one with the weights given."""
        torch, transformers = need("torch"), need("transformers")
        torch.manual_seed(self.seed)
        model: PreTrainedModel = transformers.LlamaForCausalLM(architecture(self.recipe, positional))
        if weights is not None:
            model.load_state_dict(weights)
        return model

    def phase(
        self, positional: str, model: PreTrainedModel, optimizers: list[torch.optim.Optimizer], first: int
    ) -> None:
        """Train from step `first` to the end of the phase, with looks and checkpoints on the way."""
        recipe, phase, torch = self.recipe, self.recipe.phase(positional), need("torch")
        before = recipe.rope.steps if positional == "drope" else 0
        model.train()
        for step in range(first, phase.steps):
            drawn, weighted = documents.batch(
                world(), f"{self.seed}/{positional}/{step}", recipe.rows, phase.length(step, recipe.length)
            )
            tokens, weights = torch.tensor(drawn), torch.tensor(weighted)[:, 1:]
            logits = model(tokens).logits[:, :-1]
            losses = torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), reduction="none")
            losses = losses.view_as(weights)
            loss = (losses * weights).sum() / weights.sum()
            if not torch.isfinite(loss):
                raise ModelError(f"training of tiny-{positional}, seed {self.seed}: no finite loss at step {step + 1}")
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
            for optimizer, rate in zip(optimizers, (phase.muon, phase.adam), strict=True):
                for group in optimizer.param_groups:
                    group["lr"] = rate * phase.rate(step)
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
            done = step + 1
            if done % recipe.every == 0 or done == phase.steps:
                answers = weights > 1
                count = int(answers.sum())
                self.row(positional, done, PHASES[positional], "loss", loss.item(), weights.numel())
                if count:
                    self.row(positional, done, PHASES[positional], "answer_loss", losses[answers].mean().item(), count)
                model.train(False)
                for score in look(model, recipe):
                    self.row(positional, done, PHASES[positional], score.name, score.share, score.n)
                model.train()
            if done % recipe.save == 0 and done < phase.steps:
                self.store(positional, done, model, optimizers)
            self.tell(before + done, self.total, f"{PHASES[positional]}, loss {loss.item():.2f}")

    def finish(self, positional: str, model: PreTrainedModel) -> None:
        """Measure the finished model and write it with its card."""
        model.train(False)
        steps = self.recipe.phase(positional).steps
        done = steps + (self.recipe.rope.steps if positional == "drope" else 0)
        self.tell(done, self.total, f"tiny-{positional}: last evaluation")
        scores = final(model, self.recipe)
        for score in scores:
            self.row(positional, steps, "final", score.name, score.share, score.n)
        self.trained.evaluation[positional] = scores
        facts = {
            "language": "lab",
            "language_seed": LANGUAGE_SEED,
            "positional": positional,
            "training_seed": self.seed,
            "training_length": self.recipe.length,
            "threads": self.made["threads"],
            "parameters": sum(part.numel() for part in model.parameters()),
            "recipe": self.recipe.facts(),
        }
        text = card.text(positional, facts, scores)
        publish(self.trained.folders[positional], model, build(), facts, text, architecture(self.recipe, positional))

    def row(self, positional: str, step: int, phase: str, metric: str, value: float, n: int) -> None:
        """Note one number of the curves."""
        self.trained.curves.append(
            {
                "positional": positional,
                "step": step,
                "phase": phase,
                "metric": metric,
                "value": value,
                "n": n,
                "reason": "",
            }
        )

    def store(
        self, positional: str, step: int, model: PreTrainedModel, optimizers: list[torch.optim.Optimizer]
    ) -> None:
        """Leave a checkpoint: nothing random is in it, for documents are a function of their step."""
        state = {
            "positional": positional,
            "step": step,
            "weights": model.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in optimizers],
            "rows": self.trained.curves,
        }
        checkpoint.store(self.work, state, self.made)


def _optimizers(model: PreTrainedModel, torch: Any) -> list[torch.optim.Optimizer]:
    """Muon for what writes into the residual stream and the MLP; AdamW for queries, keys, embeddings and norms.

    Muon (Jordan et al. 2024) orthogonalises each update. Queries and keys under it did not learn to retrieve here.
    """
    written: list[torch.nn.Parameter] = []
    others: list[torch.nn.Parameter] = []
    for name, part in model.named_parameters():
        (written if any(kind in name for kind in MUON) else others).append(part)
    return [
        torch.optim.Muon(written, weight_decay=0.0),
        torch.optim.AdamW(others, betas=BETAS, weight_decay=0.0),
    ]


@contextmanager
def _threads(torch: Any, count: int) -> Iterator[None]:
    """Fix torch's threads for a while: sums in another order give other weights."""
    old = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(old)
