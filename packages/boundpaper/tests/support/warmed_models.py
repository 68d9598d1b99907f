"""A warmed interpreter that also has the libraries of language models, whose import takes seconds."""

import sys
from pathlib import Path

PROGRAM = __file__
MODELS = (
    *("numba", "torch", "transformers.models.auto.modeling_auto", "transformers.models.auto.tokenization_auto"),
    *("transformers.models.llama.modeling_llama", "safetensors.torch"),
)
MEASURING = frozenset(("capture", "compare", "heads", "run"))
"""Commands that load a model, or compile functions."""

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    import warmed

    sys.path.pop(0)
    warmed.main((*warmed.LIBRARIES, *MODELS))
