"""Train the student of one arm, evaluate it on held-out text, and store its checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.distil.recipe import ARMS, BF16, DistilRecipe
from analysis.distil.windows import Windows
from boundpaper.errors import ModelError
from keyquery.models import training_state as checkpoint
from keyquery.models.checkpoints.loading import LoadedModel, ModelSource, load
from keyquery.models.libraries import need

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

Row = dict[str, Any]


def load_model(folder: Path, encoding: str) -> LoadedModel:
    """Load a model from a folder in float32, with positions "as configured" or "drope"."""
    return load(ModelSource(str(folder), dtype="fp32", device="cpu", position=encoding))


def logits(model: PreTrainedModel, tokens: Tensor, precision: str) -> Tensor:
    """Return logits, shape (batch, tokens, vocabulary), with matrix products in the given precision."""
    torch = need("torch")
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == BF16):
        scores: Tensor = model(tokens, use_cache=False).logits
    return scores


def divergence(student_logits: Tensor, teacher_logits: Tensor) -> Tensor:
    """Return the Kullback-Leibler divergence of the student's next-token distribution from the teacher's.

    Parameters
    ----------
    student_logits, teacher_logits : Tensor, shape (..., vocabulary)

    Returns
    -------
    Tensor
        Nats per token, averaged over all positions.
    """
    functional: Any = need("torch").nn.functional
    student, teacher = (tensor.float().flatten(0, -2).log_softmax(-1) for tensor in (student_logits, teacher_logits))
    nats: Tensor = functional.kl_div(student, teacher, reduction="batchmean", log_target=True)
    return nats


def next_token_loss(logits: Tensor, tokens: Tensor) -> Tensor:
    """Return the cross-entropy of the next token in nats, averaged over all positions but the last."""
    functional: Any = need("torch").nn.functional
    loss: Tensor = functional.cross_entropy(logits[:, :-1].float().flatten(0, 1), tokens[:, 1:].flatten())
    return loss


class Teacher:
    """A teacher in evaluation mode, whose logits are computed once for both arms.

    Parameters
    ----------
    model : PreTrainedModel
    recipe : DistilRecipe
    windows : Windows
    """

    def __init__(self, model: PreTrainedModel, recipe: DistilRecipe, windows: Windows) -> None:
        self.model, self.recipe, self.windows = model, recipe, windows
        torch = need("torch")
        self.held_out = {
            name: [self._with_logits(torch.from_numpy(window[None].astype("int64"))) for window in held_out]
            for name, held_out in windows.held_out.items()
        }
        self._logits: dict[tuple[int, int], Tensor] = {}

    def batch(self, seed: int, step: int) -> tuple[Tensor, Tensor]:
        """Return the token ids of a step, and the teacher's logits for them."""
        tokens = self.windows.batch(self.recipe, seed, step)
        key = seed, step
        if key not in self._logits:
            self._logits = {
                cached: tensor for cached, tensor in self._logits.items() if step - cached[1] < self.recipe.every
            }
            self._logits[key] = self._with_logits(tokens)[1]
        return tokens, self._logits[key]

    def _with_logits(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Return the tokens and the teacher's logits for them."""
        with need("torch").no_grad():
            return tokens, logits(self.model, tokens, self.recipe.precision)


class Student:
    """An arm that is trained in turns with the other arm, newly created or loaded from its checkpoint.

    Parameters
    ----------
    arm : {"nope", "continued"}
    recipe : DistilRecipe
    seed : int
        Seed for the order of the windows.
    folder : Path
        Folder of the teacher, whose weights the student starts from.
    teacher : Teacher
    work : Path
        Folder of the checkpoint.
    facts : mapping
        Everything else that determines the training: teacher, texts, threads, versions.

    Raises
    ------
    ModelError
        If the checkpoint is damaged, or belongs to a run with other facts; the message names these.
    """

    def __init__(
        self,
        arm: str,
        recipe: DistilRecipe,
        seed: int,
        folder: Path,
        teacher: Teacher,
        work: Path,
        facts: dict[str, Any],
    ) -> None:
        torch = need("torch", "to distil a model")
        self.arm, self.recipe, self.seed, self.teacher, self.work = arm, recipe, seed, teacher, work
        self.facts = {"arm": arm, **facts}
        self.identity = {"arm": arm, "seed": seed, **recipe.facts(), **facts}
        self.model = load_model(folder, ARMS[arm]).model
        self.model.train()
        self.adam = torch.optim.AdamW(
            self.model.parameters(), lr=recipe.rate, betas=recipe.betas, weight_decay=recipe.decay
        )
        self.step = 0
        self.rows: list[Row] = []
        state = checkpoint.fetch_state(work, self.identity)
        if state is not None:
            self.model.load_state_dict(state["weights"])
            self.adam.load_state_dict(state["adam"])
            self.step, self.rows = state["step"], state["rows"]
        else:
            self._evaluate()

    def train_to(self, until: int) -> None:
        """Train up to step `until`, evaluate, and write a checkpoint."""
        torch, recipe = need("torch"), self.recipe
        loss_sum, start = 0.0, self.step
        while self.step < until:
            tokens, teacher_logits = self.teacher.batch(self.seed, self.step)
            loss = divergence(logits(self.model, tokens, recipe.precision), teacher_logits)
            if not torch.isfinite(loss):
                raise ModelError(
                    f"distillation, {self.arm}: no finite loss at step {self.step + 1}; use a recipe with a lower rate"
                )
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), recipe.clip)
            for group in self.adam.param_groups:
                group["lr"] = recipe.learning_rate(self.step)
            self.adam.step()
            self.model.zero_grad(set_to_none=True)
            self.step += 1
            loss_sum += loss.item()
        if self.step > start:
            self._add_row("trained", "train_kl", loss_sum / (self.step - start), (self.step - start) * recipe.tokens)
            self._evaluate()
            self.save_checkpoint()

    def save_checkpoint(self) -> None:
        """Store weights, optimizer moments, step and rows, atomically."""
        state = {
            "weights": self.model.state_dict(),
            "adam": self.adam.state_dict(),
            "step": self.step,
            "rows": self.rows,
        }
        checkpoint.store_state(self.work, state, self.identity)

    def _evaluate(self) -> None:
        """Add this step's held-out rows; at step 0, also the teacher's loss and the effect of reduced precision."""
        torch, recipe = need("torch"), self.recipe
        self.model.train(False)
        with torch.no_grad():
            for name, pairs in self.teacher.held_out.items():
                means: dict[str, float] = {"kl": 0.0, "loss": 0.0, "teacher_loss": 0.0}
                gaps: list[float] = []
                for tokens, teacher_logits in pairs:
                    student_logits = logits(self.model, tokens, recipe.precision)
                    means["kl"] += divergence(student_logits, teacher_logits).item() / len(pairs)
                    means["loss"] += next_token_loss(student_logits, tokens).item() / len(pairs)
                    means["teacher_loss"] += next_token_loss(teacher_logits, tokens).item() / len(pairs)
                    if self.step == 0 and len(gaps) < 2:
                        exact_loss = next_token_loss(logits(self.model, tokens, "fp32"), tokens)
                        gaps.append(abs(exact_loss - next_token_loss(student_logits, tokens)).item())
                for metric, value in means.items():
                    self._add_row(name, metric, max(0.0, value), len(pairs) * (recipe.length - (metric != "kl")))
                if gaps:
                    self._add_row(name, "rounding", max(gaps), len(gaps))
        self.model.train()

    def _add_row(self, text: str, metric: str, value: float, count: int) -> None:
        self.rows.append(
            {
                "seed": self.seed,
                "step": self.step,
                "tokens": self.step * self.recipe.tokens,
                "text": text,
                "metric": metric,
                "value": value,
                "n": count,
            }
        )
