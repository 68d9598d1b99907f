"""Damage files of every class with a seed, and read them: a reader accepts a file, or raises an error that names it."""

import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from boundpaper.build.facts import FactReader
from boundpaper.build.state import State, keep_steps
from boundpaper.errors import ThesisError
from boundpaper.store.cached_files import with_hash
from boundpaper.store.descriptor import full_package
from boundpaper.store.manifest import manifest
from boundpaper.store.reader import read
from boundpaper.store.schema import check

PIECES = (
    *(b"", b"\xff", b"\x00", b"\r", b"\n", b",", b'"', b"'", b"\\", b"$", b"&a [*a]", b"*a", b"{", b"]", b": ", b"- "),
    *(
        b"0,5",
        b"1e400",
        b"-inf",
        b"NaN",
        b"9" * 400,
        b"\xe2\x88\x92",
        b"http://127.0.0.1:9/x",
        b"../../x",
        b"/etc/passwd",
    ),
    *(b"null", b"true", b"[" * 2000, b"x" * 20000, "\u202e\U0010ff24".encode(), b"=cmd|' /C x'!A0"),
)


def damaged(content: bytes, chance: random.Random) -> bytes:
    """Return content with one random change: cut off, without a line, with a line repeated, or with other bytes."""
    at = chance.randrange(len(content) + 1)
    match chance.randrange(7):
        case 0:
            return content[:at]
        case 1:
            lines = content.splitlines(keepends=True)
            del lines[chance.randrange(len(lines))]
            return b"".join(lines)
        case 2:
            lines = content.splitlines(keepends=True)
            return b"".join([*lines, chance.choice(lines)])
        case 3:
            return content[:at] + content[at + chance.randrange(1, 40) :]
        case 4 if at < len(content):
            return content[:at] + bytes([content[at] ^ 1 << chance.randrange(8)]) + content[at + 1 :]
        case 5:
            end = min(len(content), at + chance.randrange(1, 12))
            return content[:at] + chance.choice(PIECES) + content[end:]
        case _:
            return content[:at] + chance.choice(PIECES) + content[at:]


def _checked(root: Path, file: Path) -> str:
    name = file.stem if file.parent.name in ("sources", "results") else file.parent.name
    faults = check(root, name)
    if not faults:
        read(root, name)
        manifest(root, file.relative_to(root).as_posix())
    return "\n".join(map(str, faults))


def _described(root: Path, file: Path) -> str:
    full_package(root)
    return "\n".join(str(fault) for name in ("models", "reported_plasticity") for fault in check(root, name))


def _metadata(root: Path, file: Path) -> str:
    from boundpaper.paper import metadata

    metadata.read(root)
    return ""


def _recipe(root: Path, file: Path) -> str:
    from keyquery.measure.recipes import load_recipe

    load_recipe(file)
    return ""


def _caches(root: Path, file: Path) -> str:
    if file.name == "state.json":
        outside = [
            path for step in State(file).steps.values() for path in step["outputs"] if not path.startswith("out/")
        ]
        assert all(path.startswith("artifacts/results/") for path in outside), outside
    else:
        reader = FactReader(root, file)
        assert all(
            "functions" in reader.python(path)
            for path in ("packages/boundpaper/src/boundpaper/store/files.py", "tables/benchmarks/ap_drop.py")
        )
    return ""


def _capture(root: Path, file: Path) -> str:
    from keyquery.models.captures import manifest as manifests
    from keyquery.models.captures import reading as captures

    captures.read(file) if file.suffix == ".parquet" else manifests.read(file.parent)
    return ""


def _results(root: Path, file: Path) -> str:
    from keyquery.scores.ruler.results import read as scores

    scores([file])
    return ""


def _predictions(root: Path, file: Path) -> str:
    from keyquery.scores.lbp import predictions

    predictions.read_predictions([file])
    return ""


def _samples(root: Path, file: Path) -> str:
    from keyquery.scores.lbp import data

    data.load_samples(str(file), ["8k"])
    return ""


def _needles(root: Path, file: Path) -> str:
    from keyquery.scores import records
    from keyquery.scores.ruler.run import RulerSettings, score_records

    records.write_or_match_settings(root / "needles.jsonl", {"seed": 0})
    score_records(root / "needles.jsonl", RulerSettings(tasks=("niah_single_1",), lengths=("4k",), samples=4))
    return ""


def _texts(root: Path, file: Path) -> str:
    from keyquery.models.texts import TextSource, texts

    for _ in texts(TextSource(str(file))):
        pass
    return ""


def classes(root: Path, chance: random.Random) -> dict[str, tuple[list[Path], Callable[[Path, Path], str]]]:
    """Return the files to damage and the function that reads them, for each class of files."""
    sources = sorted((root / "artifacts/sources").glob("*.csv"))
    measurements = sorted((root / "artifacts/measurements").glob("*/*.[cp]*"))
    return {
        "sources": (chance.sample(sources, 12), _checked),
        "measurements": (chance.sample(measurements, 12), _checked),
        "results": (chance.sample(sorted((root / "artifacts/results").glob("*.csv")), 12), _checked),
        "manifests": ([path.with_suffix(".json") for path in chance.sample(measurements, 12)], _checked),
        "datapackage.yaml": ([root / "artifacts/datapackage.yaml"], _described),
        "metadata.yaml": ([root / "paper/metadata.yaml"], _metadata),
        "recipes": (sorted((root / "artifacts/recipes").glob("*.yaml")), _recipe),
        "state": ([root / "out/state/state.json", root / "out/state/facts.json"], _caches),
        "captures": ([root / "capture/data.parquet", root / "capture/manifest.json"], _capture),
        "scores": ([root / "ruler_results.json"], _results),
        "predictions": ([root / "predictions.jsonl"], _predictions),
        "samples": ([root / "samples.jsonl"], _samples),
        "needles": ([root / "needles.jsonl", root / "needles.settings.json"], _needles),
        "texts": ([root / "texts.jsonl", root / "text.txt"], _texts),
    }


RECORDS: dict[str, Callable[[int], dict[str, object]]] = {
    "predictions": lambda number: {"id": f"s{number}", "mode": "thinking", "prediction": "[Answer]\nthe hall, 3.5"},
    "samples": lambda number: {
        "id": f"s{number}",
        "context": "The lamp is in the hall.",
        "language": "English",
        "token_length": "8k",
        "secondary_task": "T1.1 Global Cohesive Retrieval",
        "question_nonthinking": "Where?",
        "question_thinking": "Where? Think.",
        "answer": ["the hall", "3.5"],
    },
    "needles": lambda number: {
        "id": f"niah_single_1-4k-{number:04d}",
        "task": "niah_single_1",
        "length": "4k",
        "prediction": "it is 7314",
        "references": ["7314"],
    },
    "texts": lambda number: {"id": number, "text": "The lamp is in the hall."},
}
"""By name of a small file of JSON lines: the function that returns the record with a given number."""


def copy_inputs(project: Path) -> Path:
    """Copy the files that readers need to a new folder, add a small state and a small capture; return the folder."""
    import json

    import pyarrow as pa
    from pyarrow import parquet

    root = Path(tempfile.mkdtemp(prefix="soak-"))
    for folder in ("artifacts", "paper", "tables"):
        shutil.copytree(project / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__", "models"))
    entry = {"inputs": {"a": "1"}, "outputs": {"out/tables/a.tex": "2", "artifacts/results/a.csv": "3"}, "seconds": 1.0}
    (root / "out/state").mkdir(parents=True)
    keep_steps(root / "out/state/state.json", {"table:a": entry, "table:b": entry})
    reader = FactReader(root, root / "out/state/facts.json")
    for path in ("packages/boundpaper/src/boundpaper/store/files.py", "tables/benchmarks/ap_drop.py"):
        reader.python(path)
    reader.save()
    (root / "capture").mkdir()
    columns = {name: pa.array(range(200), pa.int32()) for name in ("bucket", "example_id", "position")}
    vectors = pa.array([[0.5] * 8] * 200, pa.list_(pa.float32()))
    parquet.write_table(pa.table({**columns, "vector": vectors}), root / "capture/data.parquet")
    settings = {"context": 8, "buckets": 2, "model": "m", "layers": [], "captured_heads": [[0, 0, 0]]}
    note = {"format": 1, "complete": True, "settings": settings, "versions": {}, "documents": []}
    (root / "capture/manifest.json").write_text(json.dumps(note, indent=1))
    shutil.copy(project / "packages/keyquery/tests/ruler_results.json", root)
    (root / "needles.settings.json").write_text(json.dumps(with_hash({"seed": 0})))
    for name, make in RECORDS.items():
        (root / f"{name}.jsonl").write_text("".join(json.dumps(with_hash(make(number))) + "\n" for number in range(4)))
    (root / "text.txt").write_text("The lamp is in the hall, and nobody has the key.\n" * 20)
    return root


def run(
    project: Path, mutations: int, seed: int, only: Sequence[str] = ()
) -> Iterator[tuple[str, Counter[str], list[str]]]:
    """Damage files of each class in `only`, or of all; yield the class, counts of outcomes, and faults."""
    root, chance = copy_inputs(project), random.Random(seed)
    try:
        by_name = classes(root, chance)
        if unknown := [name for name in only if name not in by_name]:
            raise SystemExit(f"no class {unknown[0]!r}; classes: {', '.join(by_name)}")
        for name, (paths, reader) in by_name.items():
            if only and name not in only:
                continue
            counts, faults = Counter[str](), []
            for _ in range(mutations):
                path = chance.choice(paths)
                content = path.read_bytes()
                path.write_bytes(damaged(content, chance))
                try:
                    outcome = reader(root, path)
                except ThesisError as error:
                    outcome = str(error)
                except Exception as error:  # an error that is not one of the project's
                    counts["other error"] += 1
                    faults.append(f"{path.name}: {type(error).__name__}: {str(error)[:200]}")
                    continue
                finally:
                    path.write_bytes(content)
                counts["told" if outcome else "good"] += 1
                if outcome and path.stem not in outcome and path.parent.name not in outcome:
                    faults.append(f"{path.name}: not named in {outcome[:200]!r}")
                if len(outcome) > 20_000:
                    faults.append(f"{path.name}: {len(outcome)} characters in the message")
            yield name, counts, faults
    finally:
        shutil.rmtree(root)
