"""A warmed interpreter that has imported the libraries of models as well."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "packages/boundpaper/tests/support"))

import warmed

if __name__ == "__main__":
    warmed.main((*warmed.LIBRARIES, "torch", "transformers", "safetensors", "pyarrow.parquet", "tokenizers"))
