"""Compute a digest of this process's rounding; with another digest, training ends with other weights."""

import hashlib

from keyquery.models.libraries import need

ROWS, LENGTH, WIDTH, HEADS = 8, 128, 128, 4  # of a step of training
SEPARATOR = "+"


def rounding_digest() -> str:
    """Return a digest of eight hexadecimal digits of a product, an attention and their gradients.

    Sizes are those of a training step. Libraries choose kernels by processor, and kernels sum in different orders.
    With another digest, the same recipe gives other weights; an equal digest only shows that these operations round
    alike.

    Raises
    ------
    MissingDependency
        When torch is absent.
    """
    torch = need("torch", "to tell how it rounds")
    rng = torch.Generator().manual_seed(0)
    x, w = (
        (torch.rand(shape, generator=rng) - 0.5).requires_grad_() for shape in ((ROWS * LENGTH, WIDTH), (WIDTH, WIDTH))
    )
    product = torch.nn.functional.silu(x @ w.T)
    parts = product.view(ROWS, LENGTH, HEADS, WIDTH // HEADS).transpose(1, 2)
    attended = torch.nn.functional.scaled_dot_product_attention(parts, parts, parts, is_causal=True)
    torch.logsumexp(attended, -1).sum().backward()
    digest = hashlib.sha256()
    for tensor in (product, attended, x.grad, w.grad):
        digest.update(tensor.detach().contiguous().numpy().tobytes())
    return digest.hexdigest()[:8]


def joined(*digests: str) -> str:
    """Join the digests of consecutive training runs, without duplicates."""
    return SEPARATOR.join(sorted({part for digest in digests for part in digest.split(SEPARATOR)}))
