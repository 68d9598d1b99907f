"""Compare texts by embeddings from an embedding model."""

from collections.abc import Callable, Sequence

from boundpaper.errors import ModelError
from keyquery.models.libraries import need


def load_similarity(name: str, device: str = "auto") -> Callable[[Sequence[str], str], float]:
    """Return a function that compares several texts with one text by an embedding model.

    `name` is a folder or a Hub id that sentence-transformers loads, such as `Qwen/Qwen3-Embedding-8B`. The function
    returns the highest cosine similarity, from -1 to 1; the model's query prompts are not used. Raises ModelError
    when the model cannot be loaded, and MissingDependency when sentence-transformers is absent.
    """
    library = need("sentence_transformers", "to compare summaries by an embedding model")
    try:
        model = library.SentenceTransformer(name, device=None if device == "auto" else device)
        model.tokenizer.padding_side = "left"  # models that pool the last token must not get padding there
    except Exception as error:  # sentence-transformers and its libraries raise errors of many kinds
        message = (str(error) or type(error).__name__).strip().splitlines()[0]
        raise ModelError(
            f"{name}: not an embedding model that can be loaded ({message}); give a folder or a Hub id"
        ) from error

    def compare(texts: Sequence[str], text: str) -> float:
        vectors = model.encode([*texts, text], normalize_embeddings=True, show_progress_bar=False)
        return float((vectors[:-1] @ vectors[-1]).max())

    return compare
