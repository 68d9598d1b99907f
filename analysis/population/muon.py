"""Muon optimizer in single precision; matrices of one shape are orthogonalised together.

torch's version works matrix by matrix in bfloat16, which on a processor without bfloat16 units takes eight times as
long as the rest of a step. Definition: Jordan et al. 2024; coefficients, momentum and rate scaling are those of
torch.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from keyquery.models.libraries import need

if TYPE_CHECKING:
    from torch import Tensor

COEFFICIENTS = (3.4445, -4.7750, 2.0315)
STEPS = 5
MOMENTUM = 0.95
SMALL = 1e-7


class Muon:
    """Momentum with orthogonalised updates for matrices.

    Parameters
    ----------
    parts : iterable of Parameter
        Weight matrices to train.
    """

    def __init__(self, parts: Iterable[Tensor]) -> None:
        torch = need("torch")
        shapes: dict[tuple[int, ...], list[Tensor]] = {}
        for part in parts:
            shapes.setdefault(tuple(part.shape), []).append(part)
        self.groups = [(members, torch.zeros(len(members), *shape)) for shape, members in shapes.items()]

    def step(self, rate: float) -> None:
        """Update once from the gradients: Nesterov momentum, orthogonalised, scaled by sqrt(max(1, rows / columns))."""
        torch = need("torch")
        with torch.no_grad():
            for members, moments in self.groups:
                slopes = torch.stack([part.grad for part in members])
                moments.lerp_(slopes, 1 - MOMENTUM)
                update = orthogonalised(slopes.lerp(moments, MOMENTUM))
                scale = rate * max(1.0, update.shape[1] / update.shape[2]) ** 0.5
                for part, change in zip(members, update, strict=True):
                    part.sub_(change, alpha=scale)

    def state(self) -> list[Tensor]:
        """Return the moments, for a checkpoint."""
        return [moments for _, moments in self.groups]

    def load(self, state: list[Tensor]) -> None:
        """Load moments from a checkpoint."""
        for (_, moments), old in zip(self.groups, state, strict=True):
            moments.copy_(old)


def orthogonalised(matrices: Any) -> Any:
    """Return matrices (n, rows, columns) with singular values brought near 1 by five Newton-Schulz steps."""
    a, b, c = COEFFICIENTS
    tall = matrices.shape[1] > matrices.shape[2]
    iterate = matrices.transpose(1, 2) if tall else matrices
    iterate = iterate / iterate.flatten(1).norm(dim=1).clamp(min=SMALL)[:, None, None]
    for _ in range(STEPS):
        square = iterate @ iterate.transpose(1, 2)
        iterate = a * iterate + (b * square + c * square @ square) @ iterate
    return iterate.transpose(1, 2) if tall else iterate
