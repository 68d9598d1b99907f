"""Files that one command writes and another reads: a damaged file is made again, or refused with its name.

`STORED` lists the kinds of files. The last test fails for a module that stores data and is in no list.
"""

import io
import json
import re
import zipfile
from dataclasses import fields

import numpy as np
import pytest

from boundpaper.build.facts import FactReader
from boundpaper.build.state import State
from boundpaper.build.unchanged import FILE as UNCHANGED
from boundpaper.build.unchanged import _read_kept_stamps as read_unchanged
from boundpaper.errors import DataError, ModelError
from boundpaper.paper.site.history import _load_cache as read_history
from boundpaper.paper.trace.known import FILE as TRACED
from boundpaper.paper.trace.known import NUMBERS, StepCache
from boundpaper.paper.trace.numeral import SearchedNumber
from boundpaper.store import cached_files, manifest
from conftest import ROOT
from keyquery.measure import cache
from keyquery.models.captures import manifest as captures
from keyquery.models.captures import parts
from keyquery.models.checkpoints import gguf
from keyquery.scores import records
from keyquery.scores.lbp import predictions

ENTRY = {"inputs": {"a": "1"}, "outputs": {"out/b": "2"}, "seconds": 0.5}


def state(folder):
    build_state = State(folder / "state.json")
    build_state.record("table:heights", ENTRY)
    build_state.save()
    return folder / "state.json", lambda: State(folder / "state.json").steps


def facts(folder):
    (folder / "heights.py").write_text("def heights(beans): pass\n")
    reader = FactReader(folder, folder / "facts.json")
    reader.python("heights.py")
    reader.save()
    return folder / "facts.json", lambda: FactReader(folder, folder / "facts.json")._facts


def freshness(folder):
    path = folder / UNCHANGED
    cached_files.keep_value(path, {"format": 1, "steps": ["table:heights"], "paths": ["a"], "stamps": "0"})
    return path, lambda: read_unchanged(folder)


def traced(folder):
    cache = StepCache(folder)
    cache.value("table:heights", "1", lambda: [["bean", "0.5"]])
    cache.save()
    return folder / TRACED, lambda: StepCache(folder).values


def numbers(folder):
    (folder / "heights.csv").write_text("height\n0.5\nabout 0.75 m\n")
    cache = StepCache(folder, NUMBERS)
    matches = [cache.may_match(folder, "heights.csv", "1", SearchedNumber.read(text)) for text in ("0.75", "0.6")]
    assert matches == [True, False]
    cache.save()
    return folder / NUMBERS, lambda: StepCache(folder, NUMBERS).values


def revisions(folder):
    cached_files.keep_value(folder / "history.json", {"heights 1 2": "began"})
    return folder / "history.json", lambda: read_history(folder / "history.json")


def cached(folder):
    path = folder / "heights.json"
    cache.JSON.save(path, {"name": "heights"})

    def read():
        cache._memory.clear()
        return cache.cached("heights", lambda: None, folder)[0]

    return path, read


def measurement(folder):
    path = folder / "heights.csv"
    path.write_text("value\n0.5\n")
    path.with_suffix(".json").write_bytes(manifest.sealed_text({"command": "run heights"}, path))
    return path.with_suffix(".json"), lambda: raise_fault(manifest.contradiction(folder, "heights.csv"))


def table(folder):
    path = folder / "means.csv"
    path.write_text("name\nheights\n")
    path.with_suffix(".json").write_bytes(manifest.sealed_text({}, path))
    return path, lambda: raise_fault(manifest.contradiction(folder, "means.csv"))


def raise_fault(fault):
    if fault:
        raise DataError(fault)
    return True


def answers(folder):
    path = folder / "answers.jsonl"
    records.append(path, [{"id": "1", "prediction": "the heights", "thoughts": "½"}])
    return path, lambda: records.saved_records(path)


def answer_settings(folder):
    path = folder / "answers.jsonl"
    records.write_or_match_settings(path, {"model": "heights", "sampling": {"top_p": 0.5}})
    return folder / "answers.settings.json", lambda: records.settings_beside(path)


def scored_answers(folder):
    path = folder / "thinking.jsonl"
    records.append(path, [{"id": "1", "mode": "thinking", "prediction": "the heights"}])
    return path, lambda: predictions.read_predictions([path])


def capture(folder):
    settings = {"context": 8, "buckets": 2, "model": "heights", "captured_heads": [[0, 0, 0]]}
    captures.save(folder, {"complete": True, "settings": settings, "rotations": [], "documents": [{"number": 1}]})
    return folder / captures.FILE, lambda: captures.read(folder)


def captured_part(folder):
    path = folder / "part.zip"
    with zipfile.ZipFile(path, "w") as archive:
        stream = io.BytesIO()
        np.save(stream, np.frombuffer(b"heights.", np.uint8))
        archive.writestr("q00.npy", stream.getvalue())

    def read():
        with parts.PartReader(path) as part:
            return part.array("q00")

    return path, read


def captured_vectors(folder):
    arrow = pytest.importorskip("pyarrow")
    from keyquery.models.captures.layout import schema, writer
    from keyquery.models.captures.reading import _table

    vectors = np.random.default_rng(1).normal(size=(500, 8)).astype(np.float32)
    plain = [arrow.array([0] * 500, schema(8).field(name).type) for name in schema(8).names if name != "vector"]
    columns = [*plain[:3], arrow.array(list(vectors), schema(8).field("vector").type), *plain[3:]]
    with writer(folder / "data.parquet", 8) as stream:
        stream.write_table(arrow.Table.from_arrays(columns, schema=schema(8)))
    return folder / "data.parquet", lambda: _table(folder / "data.parquet", ["vector"])


def training(folder):
    torch = pytest.importorskip("torch")
    from keyquery.models import training_state

    training_state.store_state(folder, {"name": "heights", "weights": torch.zeros(3)}, {"seed": 1})
    return folder / training_state.FILE, lambda: training_state.fetch_state(folder, {"seed": 1})


def converted(folder):
    content = {"file": {"name": "heights"}, "weights": "0", "versions": {}}
    (folder / gguf.CARD).write_text(json.dumps(cached_files.with_hash(content)))
    return folder / gguf.CARD, lambda: gguf.gguf_card(folder)


def survey(folder):
    record = pytest.importorskip("keyquery.models.surveys.record")
    plain = {"text": "heights", "where": "here", "tokens": 9, "first_is_bos": True}
    arrays = {field.name: np.random.default_rng(1).normal(size=50) for field in fields(record.TextSurvey)}
    record.save(folder / "survey.npz", record.TextSurvey(**arrays | plain))
    return folder / "survey.npz", lambda: record.load(folder / "survey.npz")


def job(folder):
    from keyquery.jobs.folder import JobFolder

    job_folder = JobFolder(folder)
    job_folder.save({"name": "heights"})
    return job_folder.result, job_folder.load


# By kind of stored file: the function that writes it, and what happens to a changed file: made again, or refused.
STORED = {
    "out/state/state.json": (state, "made again"),
    "out/state/facts.json": (facts, "made again"),
    "out/state/unchanged.json": (freshness, "made again"),
    "out/state/traced.json": (traced, "made again"),
    "out/state/numbers.json": (numbers, "made again"),
    "out/state/history.json": (revisions, "made again"),
    "cache of measuring": (cached, "made again"),
    "model made from a GGUF file": (converted, "made again"),
    "manifest of a measurement": (measurement, "refused"),
    "table of a measurement": (table, "refused"),
    "answers of a benchmark": (answers, "refused"),
    "answers of a benchmark, scored later": (scored_answers, "refused"),
    "settings beside answers": (answer_settings, "refused"),
    "manifest of a capture": (capture, "refused"),
    "vectors of a capture": (captured_vectors, "refused"),
    "vectors of a document of a capture": (captured_part, "refused"),
    "survey of a text": (survey, "refused"),
    "training that goes on": (training, "refused"),
    "result of a job": (job, "refused"),
}


@pytest.fixture(autouse=True)
def _user_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "user"))


@pytest.mark.parametrize("kind", STORED)
@pytest.mark.parametrize("change", ["another word", "a flipped bit", "cut"])
def test_file_changed_since_it_was_stored_is_never_read(kind, change, tmp_path):
    make, outcome = STORED[kind]
    path, read = make(tmp_path)
    assert read() is not None
    content = path.read_bytes()
    offset = content.index(b"heights") if b"heights" in content else len(content) // 3
    word = b"heights" if b"heights" in content else content[offset : offset + 1]
    if change == "another word":
        changed = content.replace(word, b"weights" if word == b"heights" else bytes([word[0] ^ 255]))
    elif change == "a flipped bit":
        changed = content[:offset] + bytes([content[offset] ^ 1]) + content[offset + 1 :]
    else:
        changed = content[: len(content) // 2] + b"\n" * (path.suffix == ".jsonl")
    assert changed != content
    path.write_bytes(changed)
    if outcome == "made again":
        assert not read()
        return
    with pytest.raises((DataError, ModelError, zipfile.BadZipFile)) as error:
        read()
    assert isinstance(error.value, zipfile.BadZipFile) or path.stem in str(error.value)


def test_record_hash_covers_content_not_layout():
    record = cached_files.with_hash({"id": "½", "score": 0.1, "more": {"b": [1, None], "a": 2}})
    assert cached_files.hash_fault(json.loads(json.dumps(record, indent=3, sort_keys=True))) == ""
    assert cached_files.hash_fault({**record, "score": 0.2})
    assert cached_files.hash_fault({**record, "added": 1})
    assert "no hash" in cached_files.hash_fault({"id": "½"})
    with pytest.raises(ValueError, match="JSON"):
        cached_files.pack_value(float("nan"))


# Modules that write files. Files of CHECKED are tested above. Files of ELSEWHERE are never read back, are made again,
# or are verified by a hash before they are read.
CHECKED = {
    "boundpaper": {"store/manifest"},
    "keyquery": {
        *("jobs/folder", "measure/measurements", "models/captures/manifest", "models/checkpoints/gguf"),
        *("models/surveys/record", "models/training_state", "scores/records"),
    },
}
ELSEWHERE = {
    "boundpaper": set("adopt/begin adopt/generate build/new_paper paper/crate paper/edition paper/site/build".split()),
    "keyquery": {
        "scores/lbp/smoke", "scores/ruler/harness", "measure/heads/captured", "models/null_model",
        "comparisons/comparison",
    },
}  # fmt: skip
SERIALISING = re.compile(r"json\.dumps\(|pickle\.dumps\(|savez|torch\.save\(")
WRITING = re.compile(r"(?<![\w.])write\(|files\.write\(|\.write_(?:bytes|text)\(|\.open\(\"[wax]b?\"")


@pytest.mark.parametrize("package", ["boundpaper", "keyquery"])
def test_every_module_that_stores_data_is_covered(package):
    source = ROOT / f"packages/{package}/src/{package}"
    texts = {path.relative_to(source).with_suffix("").as_posix(): path.read_text() for path in source.rglob("*.py")}
    writers = {name for name, text in texts.items() if SERIALISING.search(text) and WRITING.search(text)} - {
        "store/cached_files"
    }
    known = CHECKED[package] | ELSEWHERE[package]
    assert writers <= known, (
        "write such files with boundpaper.store.cached_files, and list in STORED how they are checked"
    )
    assert known <= texts.keys()
