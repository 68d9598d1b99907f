"""How this process rounds: a digest that is the same where a training would end at the same weights."""

from __future__ import annotations

import hashlib

from analysis.models.libraries import need

ROWS, LENGTH, WIDTH, INNER, HEADS = 8, 128, 128, 256, 4  # those of a step of training


def arithmetic() -> str:
    """Eight hexadecimal digits of a product, an attention and their gradients, at the sizes of a training step.

    Libraries choose their kernels by processor, and kernels add in different orders. Processes with the same digest
    round these alike; with another one, a training of the same recipe ends at other weights.

    Raises
    ------
    MissingDependency
        When torch is absent.
    """
    torch = need("torch", "to tell how it rounds")
    draw = torch.Generator().manual_seed(0)
    x, w = (
        (torch.rand(shape, generator=draw) - 0.5).requires_grad_() for shape in ((ROWS * LENGTH, WIDTH), (INNER, WIDTH))
    )
    product = torch.nn.functional.silu(x @ w.T)
    parts = product.view(ROWS, LENGTH, HEADS, INNER // HEADS).transpose(1, 2)
    attended = torch.nn.functional.scaled_dot_product_attention(parts, parts, parts, is_causal=True)
    torch.logsumexp(attended, -1).sum().backward()
    digest = hashlib.sha256()
    for tensor in (product, attended, x.grad, w.grad):
        digest.update(tensor.detach().contiguous().numpy().tobytes())
    return digest.hexdigest()[:8]
