"""Store what is measured inside a model in one forward pass of one text, as small arrays; torch is not needed."""

import io
import zipfile
import zlib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundpaper.errors import DataError
from boundpaper.store.files import write

Float64Array = NDArray[np.float64]
Float32Array = NDArray[np.float32]
TOKENS = ("all", "first", "content")  # all tokens, the token at position 0, later tokens
VARIANTS = ("squared", "squared_by_rank", "singular")  # of the entropy of hidden states
ENTROPY_TOKENS = ("all", "content")  # tokens for which the entropy is computed


@dataclass(frozen=True)
class TextSurvey:
    """Measurements of one text in L layers, with H query heads and K key heads of d dimensions.

    NaN marks only undefined values (a zero denominator, or parts of a block that cannot be separated). A last axis of
    length three has the mean over all tokens, the value of the first token, and the mean over the content, which is the
    tokens from position 1 on (see `TOKENS`).

    Parameters
    ----------
    text : str
        Id of the text, by which surveys of two models are paired.
    tokens : int
        Number of tokens T, two or more.
    first_is_bos : bool
        Whether the token at position 0 is the model's beginning-of-sequence token.
    where : str
        Whether `norms_q` and `norms_k` are before ("pre") or after ("post") the rotary embedding.
    layers : ndarray, shape (L,)
        Indices of the layers.
    norms_q, norms_k, norms_v : ndarray, shapes (L, H, d), (L, K, d), (L, K, d_v), float32
        L2 norm over the sequence of each dimension of queries, keys and values.
    first, first_later, local, self, entropy, entropy_share, top_first, top_changes : ndarray, shape (L, H)
        Statistics of each query head; see `AttentionStatistics`.
    null, null_later : ndarray, shape (L,)
        Weight on the first token under uniform attention.
    edges : ndarray, shape (bins + 1,)
        Edges of the bins of distances.
    pairs, pairs_content : ndarray, shape (L, bins)
        Number of query-key pairs in each bin, with and without the first token as key.
    decay, decay_content : ndarray, shape (L, H, bins)
        Mean weight of the pairs in each bin, with and without the first token as key.
    value_first, value_content : ndarray, shape (L, K)
        Norm of the value at position 0, and mean norm over later positions.
    residual_first, residual_mean, residual_median : ndarray, shape (L + 1,)
        Norm of the residual stream before layer 0 and after each layer: at position 0, and mean and median over later
        positions.
    hidden_entropy : ndarray, shape (L + 1, 2, 3)
        Entropy of the residual stream's singular values, for all tokens and for the content (`ENTROPY_TOKENS`), in the
        three variants of `hidden_entropy.entropies` (`VARIANTS`). All NaN if the survey skipped the entropy.
    hidden_rank : ndarray, shape (L + 1, 2)
        Rank of the residual stream of these tokens; 0 if the survey skipped the entropy.
    attention_norm, mlp_norm : ndarray, shape (L, 3)
        Norms of the vectors that attention and MLP add to the residual stream.
    share : ndarray, shape (L, 3)
        Share of the attention in the sum of these two norms.
    cosine_attention, cosine_mlp : ndarray, shape (L, 3)
        Cosine of the attention's vector, and of the MLP's, with the sum of both vectors.
    unexplained : ndarray, shape (L,)
        Norm of the difference between the block's update and the sum of both vectors, relative to the norms before and
        after the block, as a mean over tokens. It is rounding error if the model adds both vectors unscaled.
    q_norm, k_norm, v_norm : ndarray, shape (L, 3)
        Norm of a token's queries, keys and values over all heads.
    """

    text: str
    tokens: int
    first_is_bos: bool
    where: str
    layers: NDArray[np.int64]
    norms_q: Float32Array
    norms_k: Float32Array
    norms_v: Float32Array
    first: Float64Array
    first_later: Float64Array
    local: Float64Array
    self: Float64Array
    entropy: Float64Array
    entropy_share: Float64Array
    top_first: Float64Array
    top_changes: Float64Array
    null: Float64Array
    null_later: Float64Array
    edges: NDArray[np.int64]
    pairs: NDArray[np.int64]
    pairs_content: NDArray[np.int64]
    decay: Float64Array
    decay_content: Float64Array
    value_first: Float64Array
    value_content: Float64Array
    residual_first: Float64Array
    residual_mean: Float64Array
    residual_median: Float64Array
    hidden_entropy: Float64Array
    hidden_rank: NDArray[np.int64]
    attention_norm: Float64Array
    mlp_norm: Float64Array
    share: Float64Array
    cosine_attention: Float64Array
    cosine_mlp: Float64Array
    unexplained: Float64Array
    q_norm: Float64Array
    k_norm: Float64Array
    v_norm: Float64Array

    @property
    def heads(self) -> int:
        """Number of query heads per layer."""
        return int(self.first.shape[1])

    def of_query_heads(self, per_key_head: Float64Array) -> Float64Array:
        """Return an array (L, H, ...) in which each query head has the values of its key head in `per_key_head`."""
        return np.repeat(per_key_head, self.heads // per_key_head.shape[1], axis=1)

    @property
    def write(self) -> Float64Array:
        """Attention weight of later tokens on position 0, times the norm of the value there, of shape (L, H)."""
        return np.asarray(self.first_later * self.of_query_heads(self.value_first))

    @property
    def residual_ratio(self) -> Float64Array:
        """Residual norm at position 0 divided by its mean over later tokens, of shape (L + 1,); NaN where that is 0."""
        ratio = np.full(len(self.residual_mean), np.nan)
        np.divide(self.residual_first, self.residual_mean, out=ratio, where=self.residual_mean > 0)
        return ratio


def save(path: Path, survey: TextSurvey) -> None:
    """Write a survey to an .npz file atomically; raise ThesisError when the disk is full or the folder protected."""
    stream = io.BytesIO()
    arrays: dict[str, Any] = {field.name: np.asarray(getattr(survey, field.name)) for field in fields(survey)}
    np.savez_compressed(stream, **arrays)
    write(path, stream.getvalue())


def load(path: Path) -> TextSurvey:
    """Return a stored survey; raise DataError if the file is missing, damaged, or from another version."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays: dict[str, Any] = {name: archive[name] for name in archive.files}
    except FileNotFoundError:
        raise DataError(f"{path}: no such file; run the survey first") from None
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(f"{path}: a damaged survey ({error}); remove the file and run again") from error
    names = {field.name for field in fields(TextSurvey)}
    if set(arrays) != names:
        raise DataError(f"{path}: a survey with the fields of another version; remove the file and run again")
    scalars: dict[str, Any] = {
        "text": str(arrays["text"]),
        "where": str(arrays["where"]),
        "tokens": int(arrays["tokens"]),
        "first_is_bos": bool(arrays["first_is_bos"]),
    }
    return TextSurvey(**(arrays | scalars))
