"""Recompute every result, the ledger, every table and every figure of a project, and print what differs.

    python tests/recompute.py PROJECT

The script writes no file of the project. Each result is recomputed from committed artifacts; if all agree, a build from
scratch gives the same results. check_kernels.py runs this script with other BLAS kernels.
"""

import json
import sys
from pathlib import Path

from frozen import frozen

# Tables that repeat whole artifacts. They have no golden file, since the artifacts themselves are compared.
DUMPS = {"standing", "claims_failures", "claims_further", "claims_coverage", "experiments"}


def differences(root: Path) -> list[str]:
    """Return the paths of results that differ from the committed ones, and of outputs that differ from golden files."""
    from boundpaper.build.facts import FactReader
    from boundpaper.build.graph import load
    from boundpaper.build.job import Job

    steps = [step for step in load(root, FactReader(root)).steps.values() if not step.fault]
    differing, verdicts = [], []
    for step in steps:
        kind = step.kind.name
        if kind not in ("result", "claim", "table", "figure") or (step.name in DUMPS and kind == "table"):
            continue
        job = Job(root, kind, step.name, step.file, step.function, step.artifacts, step.inputs, step.line)
        outputs = _outputs(job)
        if kind == "claim":
            verdicts += json.loads(outputs[f"out/claims/{step.name}.json"])
        else:
            differing += [path for path, content in outputs.items() if content != _stored(root, path)]
    return differing + _ledger(root, verdicts)


def _outputs(job) -> dict[str, str | bytes]:
    from boundpaper.build.facts import function_named
    from boundpaper.build.kinds import KINDS

    (builder,) = (kind.builder for kind in KINDS if kind.name == job.kind)
    outputs = function_named(builder)(job)
    skipped = (".png", f"out/checked/{job.name}.json")  # the JSON file contains hashes of compared files
    return {path: _compared(path, text) for path, text in outputs.items() if not path.endswith(skipped)}


def _compared(path: str, text: str | bytes) -> str | bytes:
    """Return the part of a text that its golden file keeps."""
    return frozen(text) if path.startswith("out/figures/") and path.endswith(".tex") and ".float." not in path else text


def _ledger(root: Path, verdicts: list[dict]) -> list[str]:
    from boundpaper.claims.ledger import ledger_frame, order_rows
    from boundpaper.store.results import bytes_to_keep, text

    path = root / "artifacts/results/claims.csv"
    new = bytes_to_keep(path, text(ledger_frame(order_rows(verdicts)), "claims").encode())
    return [] if new == path.read_bytes() else ["artifacts/results/claims.csv"]


def _stored(root: Path, path: str) -> str | bytes | None:
    file = root / (path if path.startswith("artifacts/") else path.replace("out/", "tests/golden/"))
    if not file.is_file():
        return None
    return file.read_bytes() if path.startswith("artifacts/") else file.read_text()


if __name__ == "__main__":
    project = Path(sys.argv[1]).resolve()
    sys.path.insert(0, str(project))
    print(json.dumps(differences(project)))
