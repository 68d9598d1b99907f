"""What the commands of the experiments offer: names only, so that `--help` needs none of their libraries.

Experiments are found by folder: a file of `analysis/experiments` with `SETTINGS` and `measure(subject, options)`, or
`write(root, subject, options)`, is one. With `BY_NAME = True` it runs only where it is named, never by `--all`.
"""

import re
from pathlib import Path

ESTIMATORS = ("bucket_full", "pooled_full", "pooled_diag", "bucket_diag", "empirical")
PAIRS = ("earlier", "earlier_bucket", "same_bucket")
SEPARATIONS = ("distance", "centroid")
DTYPES = ("auto", "bf16", "fp16", "fp32")
QUANTIZATIONS = ("nf4", "fp4", "int8")
POSITIONS = ("as configured", "rope", "drope")
EXECUTORS = ("local", "slurm")
STATEMENTS = ("planted", "popqa", "triviaqa", "hotpotqa", "nq")

_MEASURES = re.compile(
    r"^def (?:measure|write)\(\s*(?:root: Path,\s*)?subject: Subject,\s*options: Options", re.MULTILINE
)


def experiments(folder: Path, *, named: bool = False) -> tuple[str, ...]:
    """Names of the experiments in a folder: those of `--all`, or where `named` those that run by name only."""
    names = []
    for path in sorted(folder.glob("[!_]*.py")):
        text = path.read_text(encoding="utf-8")
        by_name = re.search(r"^BY_NAME = True\b", text, re.MULTILINE) is not None
        if _MEASURES.search(text) and re.search(r"^SETTINGS\b", text, re.MULTILINE) and by_name == named:
            names.append(path.stem)
    return tuple(names)


FOLDER = Path(__file__).parents[1] / "experiments"
EXPERIMENTS = experiments(FOLDER)
BY_NAME = experiments(FOLDER, named=True)
