"""Measurements from a capture of known structure: their values, their reuse, their errors, and the final table."""

import csv
import dataclasses
import io
import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from analysis.studies.measured.models import measured_models
from boundpaper.errors import DataError, ThesisError
from boundpaper.store.measurement import path_of
from boundpaper.store.paths import SCHEMA
from boundpaper.store.schema import check
from boundpaper.store.table_file import table_text
from conftest import PACKAGES, ROOT, copy_project, run
from keyquery.heads.laws import ESTIMATORS
from keyquery.heads.pairs import PAIR_MODES
from keyquery.heads.plasticity import PlasticityOptions
from keyquery.heads.rotation import SEPARATIONS
from keyquery.jobs import Resources
from keyquery.measure import choices
from keyquery.measure.heads import analysis as heads
from keyquery.measure.heads import finding
from keyquery.measure.heads import jobs as head_jobs
from keyquery.measure.heads.finding import load_or_analyse
from keyquery.measure.heads.frames import measurement_frames
from keyquery.measure.measurements import slug
from keyquery.models.captures import manifest as capture_manifest
from keyquery.models.captures import reading as captures
from keyquery.models.captures import sampling
from keyquery.models.captures.reading import open_capture
from waiting import gone, until

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

CONTEXT, BUCKETS, DOCUMENTS, D = 1600, 8, 60, 8
BIAS = 3.0
KINDS = ("content", "drift")


def planted_vectors(kind, name, seed):
    """Return vectors at four positions per bucket and document: noise and, for "drift", patterns on two axes."""
    rng, size = np.random.default_rng(seed), CONTEXT // BUCKETS
    # queries and keys at the same positions: distance causes no drift
    position_rng = np.random.default_rng(0)
    draws = [np.sort(position_rng.choice(size, 4, replace=False)) + size * bucket for bucket in range(BUCKETS)]
    position = np.tile(np.concatenate(draws), DOCUMENTS)
    document = np.repeat(np.arange(DOCUMENTS), 4 * BUCKETS)
    vectors = rng.normal(size=(position.size, D))
    if kind == "drift":
        vectors *= 0.5
        vectors[:, 0] += BIAS if name == "q" else 4 * position / CONTEXT
        vectors[:, 1] += 3 if name == "q" else -3
    return position, document, vectors


def write_vectors(folder, position, document, vectors):
    folder.mkdir(parents=True)
    rows = {
        "bucket": arrow.array(position * BUCKETS // CONTEXT, arrow.int32()),
        "example_id": arrow.array(document, arrow.int32()),
        "position": arrow.array(position, arrow.int32()),
        "vector": arrow.array(vectors.astype(np.float32).tolist(), arrow.list_(arrow.float32(), D)),
    }
    parquet.write_table(arrow.table(rows), folder / "data.parquet")


POOLED = PlasticityOptions(estimator="bucket_full")  # as in captures that do not say how queries are rotated


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """Return a capture of two layers with two query heads per key head: noise in layer 0, planted patterns in 1."""
    root = tmp_path_factory.mktemp("captures") / "Planted Model"
    for layer, kind in enumerate(KINDS):
        write_vectors(root / f"l{layer:02d}h00k", *planted_vectors(kind, "k", 10 + layer))
        for head in range(2):
            write_vectors(root / f"l{layer:02d}h{head:02d}q", *planted_vectors(kind, "q", 20 + 2 * layer + head))
    return root


@pytest.fixture
def target(tmp_path):
    (tmp_path / "out").mkdir()
    return tmp_path


def with_schema(root):
    """Copy the data package's description to a folder; return the folder."""
    (root / "artifacts").mkdir(exist_ok=True)
    shutil.copy(ROOT / SCHEMA, root / SCHEMA)
    return root


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Return a copy of the project for the command line."""
    return copy_project(tmp_path_factory.mktemp("cli") / "project")


def read(root, name, model="planted-model"):
    return pd.read_csv(io.StringIO(table_text(path_of(root, name, model))))


def measure(root, planted, **changes):
    options = {"estimator": "bucket_full", "pairs": "earlier", "bins": None, "min_queries": 30}
    options |= {"jobs": 1, "context": CONTEXT, "group": 2}
    return heads.run(with_schema(root), str(planted), **(options | changes))


def test_halves_of_a_capture_are_disjoint_and_written_separately(planted, target, monkeypatch):
    capture = open_capture(str(planted), context=CONTEXT, group=2)
    with pytest.raises(DataError, match="halves need two documents, but its manifest lists 0"):
        measure(target, planted, halves=True)
    listed = dataclasses.replace(capture, manifest={"documents": [{"number": number} for number in range(DOCUMENTS)]})
    splits = listed.halves()
    first_half, second_half = splits[0]
    assert len(first_half.documents) == len(second_half.documents) == 30
    assert not set(first_half.documents) & set(second_half.documents)
    signs = np.array([[1 if number in first.documents else -1 for number in range(DOCUMENTS)] for first, _ in splits])
    assert signs.shape == (7, DOCUMENTS)
    groups = signs[:, :8]
    assert (groups @ groups.T == 8 * np.eye(7)).all()  # the splits are orthogonal over the groups
    assert (signs == groups[:, np.arange(DOCUMENTS) % 8]).all()
    all_queries, first, second = (half.queries(listed.heads[0]) for half in (listed, first_half, second_half))
    assert set(first.document) == set(first_half.documents)
    assert len(first.position) + len(second.position) == len(all_queries.position)
    measure(target, planted)
    before = read(target, "model_metrics")
    monkeypatch.setattr(heads, "open_capture", lambda folder, **options: listed)
    files = measure(target, planted, halves=True, replace=True)
    assert "artifacts/measurements/capture_halves/planted-model.parquet" in files
    pd.testing.assert_frame_equal(read(target, "model_metrics"), before)
    halves_table = read(target, "capture_halves")
    assert sorted(set(halves_table["split"])) == list(range(7))
    halves = halves_table[halves_table["split"] == 0].pivot(index="metric", columns="half", values="value")
    values = before.set_index("metric")["value"]
    assert halves.loc["bias_window", 0] != halves.loc["bias_window", 1]
    np.testing.assert_allclose(halves.loc["bias_window"].mean(), values["bias_window"], rtol=0.05)
    assert (halves_table[halves_table["split"] == 0]["documents"] == 30).all()
    assert (halves_table.groupby(["split", "metric"])["documents"].sum() == DOCUMENTS).all()


def test_planted_head_structure_is_recovered(planted, target):
    files = measure(target, planted)
    assert len(files) == 8
    table = read(target, "head_metrics").set_index(["layer", "head"])
    assert list(table.index) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert (table["queries"] == 4 * BUCKETS * DOCUMENTS).all()
    content, drift = table.loc[0], table.loc[1]
    # queries around zero prefer no key: p is near one half for every pair
    assert (content["ap_overall"] > 0.97).all()
    assert (content["r_k_a"].abs() < 0.5).all()
    # keys rise by 4 over the context, and queries have length 3 along this direction
    np.testing.assert_allclose(drift["bias_window"], BIAS * 4, rtol=0.05)
    np.testing.assert_allclose(drift["bias_strength"] * CONTEXT, drift["bias_window"])
    # these queries do not drift, so the axis may have either sign
    assert (drift["r_k_a"].abs() > 0.9).all()
    assert (drift["separation_strength"] > 0.8).all()
    assert (drift["ap_drop"] > 0.05).all()
    assert (content["ap_drop"].abs() < 0.02).all()
    assert (drift["ap_last_20"] < content["ap_last_20"]).all()
    assert (table["gap_by_bin"] < 0.03).all()
    assert (table["residual_pos_r"].abs() < 1e-12).all()


def test_components_and_plane_of_planted_heads_are_consistent(planted, target):
    measure(target, planted)
    spectrum = read(target, "head_spectrum")
    assert np.allclose(spectrum.groupby(["layer", "head"])["explained"].sum(), 1)  # in all 8 dimensions
    metrics = read(target, "head_metrics").set_index(["layer", "head"])
    first = spectrum[spectrum["component"] == 0].set_index(["layer", "head"])
    assert np.allclose(first["explained"], metrics["pc0_explained"])
    plane = read(target, "head_plane")
    assert set(plane.groupby(["layer", "head", "side"]).size()) == {32}
    for head, points in plane.groupby(["layer", "head"]):
        drift = metrics.loc[head, "r_k_a"]
        keys = points[points["side"] == "key"]
        assert abs(np.corrcoef(keys["position"], keys["a"])[0, 1] - drift) < 0.35
        assert points["b"].groupby(points["side"]).mean()["query"] >= points["b"].groupby(points["side"]).mean()["key"]


def test_model_metrics_are_means_over_heads_with_the_key_heads_as_units(planted, target):
    measure(target, planted)
    table, heads_table = read(target, "model_metrics").set_index("metric"), read(target, "head_metrics")
    for name in ("ap_overall", "ap_drop", "bias_window", "r_k_a", "plane_var"):
        assert table.loc[name, "value"] == pytest.approx(heads_table[name].mean(), rel=1e-6)
        assert table.loc[name, "ci_low"] <= table.loc[name, "value"] <= table.loc[name, "ci_high"]
    assert (table.loc["ap_overall", ["heads", "key_heads", "context", "bins"]] == [4, 2, CONTEXT, BUCKETS]).all()
    first = table.loc[["ap_decile_0", "ap_decile_1"], "value"].mean()
    assert table.loc["ap_first_20", "value"] == pytest.approx(first, rel=1e-6)
    late = table.loc["ap_64-128K"]
    assert np.isnan(late["value"])
    assert "no query bin centred in 65536-131072 tokens" in late["reason"]


def test_bins_with_too_few_queries_are_missing_with_their_count(planted, target):
    measure(target, planted, bins=32, min_queries=61)
    profile = read(target, "head_profile")
    thin = profile["queries"] < 61
    assert thin.any()
    assert not thin.all()
    assert profile.loc[thin, "plasticity"].isna().all()
    assert profile.loc[thin, "reason"].str.fullmatch(r"\d+ queries, 61 needed").all()


def test_parallel_and_sequential_analyses_agree_and_reuse_results(planted, target, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    measure(target, planted)
    measure(other, planted, jobs=2)
    for path in sorted((target / "artifacts").rglob("*.*")):
        assert path.read_bytes() == (other / path.relative_to(target)).read_bytes(), path
    capture = open_capture(planted, context=CONTEXT, group=2)
    first, reused = load_or_analyse(capture, capture.heads[0], POOLED, target / "out/heads")
    assert reused
    assert first.layer == 0
    # other options give another stored result, and a truncated result is computed again
    other_pairs = dataclasses.replace(POOLED, pairs="same_bucket")
    assert not load_or_analyse(capture, capture.heads[0], other_pairs, target / "out/heads")[1]
    for path in (target / "out/heads").iterdir():
        path.write_text(path.read_text()[:50])
    assert load_or_analyse(capture, capture.heads[0], POOLED, target / "out/heads") == (first, False)


def test_interrupted_analysis_resumes(planted, target, monkeypatch):
    loaded: list[bool] = []

    def interrupted(*arguments):
        if len(loaded) == 2:
            raise KeyboardInterrupt
        loaded.append(load_or_analyse(*arguments)[1])
        return load_or_analyse(*arguments)

    monkeypatch.setattr(finding, "load_or_analyse", interrupted)
    with pytest.raises(KeyboardInterrupt):
        measure(target, planted)
    assert not (target / "artifacts/measurements").exists()
    monkeypatch.undo()
    outcome = heads.measure(with_schema(target), str(planted), POOLED, context=CONTEXT, group=2, jobs=1)
    assert (outcome.heads, outcome.kept) == (4, 2)


@pytest.mark.parametrize("estimator", ["bucket_full", "empirical"])
def test_heads_sharing_keys_give_the_same_results_as_alone(planted, target, monkeypatch, estimator):
    capture, options = open_capture(planted, context=CONTEXT, group=2), PlasticityOptions(estimator=estimator)
    alone = [load_or_analyse(capture, head, options, target / "alone")[0] for head in capture.heads]
    opened = []
    real = captures.read

    def recorded(path):
        opened.append(path.parent.name)
        return real(path)

    monkeypatch.setattr(captures, "read", recorded)
    together = dict(finding.analyse_in_turn(capture, capture.heads, options, target / "together"))
    assert [together[head] for head in capture.heads] == [(result, False) for result in alone]
    assert sorted(opened) == ["l00h00k", "l00h00q", "l00h01q", "l01h00k", "l01h00q", "l01h01q"]


def test_heads_are_distributed_to_processes_by_their_keys(planted):
    capture = open_capture(planted, context=CONTEXT, group=2)
    larger = dataclasses.replace(
        capture, heads=tuple(sampling.HeadIndex(layer, head, head // 2) for layer in range(4) for head in range(4))
    )
    assert [len(share) for share in heads.head_groups(larger, 2)] == [2] * 8
    assert [len(share) for share in heads.head_groups(larger, 3)] == [1] * 16, "fewer than four groups per process"
    assert all(len({(head.layer, head.key) for head in share}) == 1 for share in heads.head_groups(larger, 2))


def test_changed_capture_content_is_analysed_again(planted, target, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(planted, copy)
    capture = open_capture(copy, context=CONTEXT, group=2)
    before, _ = load_or_analyse(capture, capture.heads[0], POOLED, target / "out/heads")
    shutil.rmtree(copy / "l00h00q")
    write_vectors(copy / "l00h00q", *planted_vectors("content", "q", 99))
    after, reused = load_or_analyse(capture, capture.heads[0], POOLED, target / "out/heads")
    assert not reused
    assert after.metrics != before.metrics


def test_manifest_records_the_command_without_times_and_paths(planted, target):
    measure(target, planted)
    text = (target / "artifacts/measurements/model_metrics/planted-model.json").read_text()
    manifest = json.loads(text)
    assert manifest["command"].startswith("python build.py heads Planted Model --estimator bucket_full")
    assert {"numpy", "scipy", "numba"} <= set(manifest["versions"])
    assert len(manifest["capture"]["vectors"]) == 32
    assert str(planted.parent) not in text


def test_one_damaged_head_is_named_and_the_others_are_kept(planted, target, tmp_path):
    copy = tmp_path / "cut"
    shutil.copytree(planted, copy)
    settings = {"context": CONTEXT, "buckets": BUCKETS, "captured_heads": [[i, j, 0] for i in (0, 1) for j in (0, 1)]}
    capture_manifest.save(copy, {"complete": True, "settings": settings})
    file = copy / "l01h01q/data.parquet"
    file.write_bytes(file.read_bytes()[:1000])
    with pytest.raises(DataError, match=r"l01h01q/data.parquet: cannot be read") as error:
        measure(target, copy, context=None, group=None)
    assert "the other 3 heads are finished and kept" in str(error.value)


def test_too_few_queries_and_wrong_contexts_are_refused(planted, target):
    with pytest.raises(DataError, match=r"no query bin has 500 queries .the fullest has 240."):
        measure(target, planted, min_queries=500)
    with pytest.raises(DataError, match=r"exceed --context 800"):
        measure(target, planted, context=800)


def test_a_head_without_variance_is_missing_with_its_reason(planted):
    capture = open_capture(planted, context=CONTEXT, group=2)
    from keyquery.measure.heads.finding import DECILES, LENGTHS, METRICS, HeadResult, analyse

    results = [analyse(capture, head, POOLED) for head in capture.heads]
    missing = HeadResult(5, 0, 0, "")
    missing.mark_missing((*METRICS, *DECILES, *LENGTHS), "three queries")
    tables = measurement_frames([*results, missing], POOLED, CONTEXT, BUCKETS)
    row = tables["head_metrics"].iloc[-1]
    assert np.isnan(row["ap_overall"])
    assert row["reason"] == "three queries"
    assert tables["model_metrics"].set_index("metric").loc["ap_overall", "heads"] == 4


def test_measured_models_have_one_row_each_with_missing_metrics_reported(planted, target):
    measure(target, planted)
    metrics = read(target, "model_metrics").fillna({"reason": ""}).assign(model="planted")
    names = pd.DataFrame({"model": ["planted"], "display_name": ["Planted 1B"]})
    table = measured_models(
        pd.concat([metrics, metrics.assign(model="other", key_heads=1, reason="one; two")]), names, names
    )
    assert set(table["display_name"]) == {"Planted 1B", "other"}
    row = table.set_index("model").loc["planted"]
    assert row["ap_drop"] == metrics.set_index("metric").loc["ap_drop", "value"]
    reason = str(table.set_index("model").loc["other", "reason"])
    assert reason.startswith("ap_overall: one, two; ap_first_20: one, two")
    with pytest.raises(DataError, match=r"planted: no metric r_k_a; measure the model again"):
        measured_models(metrics[metrics["metric"] != "r_k_a"], names, names)


def test_command_choices_equal_those_of_the_analysis():
    assert choices.ESTIMATORS == ESTIMATORS
    assert choices.PAIRS == PAIR_MODES
    assert choices.SEPARATIONS == SEPARATIONS


@pytest.mark.parametrize(
    ("model", "name"), [("org/My Model-7B", "my-model-7b"), ("/a/b/llama_3.2/", "llama_3.2"), ("???", "model")]
)
def test_model_names_are_slugged(model, name):
    assert slug(model) == name


def test_heads_command_measures_and_the_table_shows_the_model(project, planted):
    options = ("--context", str(CONTEXT), "--group", "2", "--name", "planted", "--jobs", "2")
    result = run(project, "heads", planted.as_posix(), *options)
    assert result.returncode == 0, result.stderr
    assert "artifacts/measurements/model_metrics/planted.csv" in result.stdout
    assert "4 heads" in result.stderr
    assert not [fault for line in result.stdout.split() for fault in check(project, line.split("/")[2])]
    table = run(project, "table", "model_plasticity", "--format", "markdown")
    assert table.returncode == 0, table.stderr
    assert "\n| planted" in table.stdout
    assert "normal law with full covariance of each bin's queries, as captured" in table.stdout
    assert "4 heads of 2 key heads, 1,600 tokens" in table.stdout
    with (project / "artifacts/results/measured_models.csv").open() as stream:
        assert {row["model"] for row in csv.DictReader(stream)} >= {"planted", "random-llama"}


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["nowhere"], 1, "nowhere: no such folder"),
        (["CAPTURE", "--estimator", "bucket_ful"], 2, "'bucket_ful' is not one of"),
        (["CAPTURE", "--min-queries", "1"], 2, "min-queries"),
        (["CAPTURE", "--context", "1600", "--group", "2", "--name", "../x"], 1, "cannot name measurements"),
    ],
)
def test_invalid_heads_arguments_are_reported_in_one_line(project, planted, arguments, code, message):
    result = run(project, "heads", *(planted.as_posix() if word == "CAPTURE" else word for word in arguments))
    assert result.returncode == code, result.stderr
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_missing_numba_error_gives_the_install_command():
    program = "import sys; sys.modules['numba'] = None; sys.argv[0] = 'build.py'; import build; build.main()"
    command = [sys.executable, "-c", program, "heads", "nowhere"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 1, result.stderr
    assert result.stderr.startswith("error: numba is not installed (needed to analyse heads); run: ")


def test_a_killed_command_leaves_no_process_behind(planted, tmp_path):
    """Workers of an ordinary pool would wait forever after their parent is killed."""
    program = (
        "import sys, time\nfrom pathlib import Path\nfrom keyquery.measure.heads import analysis\nfrom "
        "keyquery.heads.plasticity import PlasticityOptions\nfrom keyquery.models.captures.reading import "
        "open_capture\nif __name__ == '__main__':\n    capture = open_capture(sys.argv[1], context=1600, group=2)\n    "
        "for _ in analysis._outcomes(capture, PlasticityOptions(estimator='bucket_full'), Path(sys.argv[2]), "
        "2):\n        import multiprocessing\n        print(*(child.pid for child in "
        "multiprocessing.active_children()), flush=True)\n        time.sleep(10_000)\n"
    )
    script = tmp_path / "program.py"
    script.write_text(program)
    command = [sys.executable, str(script), str(planted), str(tmp_path / "kept")]
    environment = os.environ | {"PYTHONPATH": PACKAGES}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as running:
        assert running.stdout is not None
        children = [int(number) for number in running.stdout.readline().split()]
        assert len(children) == 2
        running.kill()
    until(lambda: all(gone(child) for child in children))


def test_jobs_analyse_missing_heads_and_the_command_gathers(planted, target, monkeypatch):
    capture, folder = open_capture(planted, context=CONTEXT, group=2), target / "out/heads"
    head_jobs.analyse_missing(capture, POOLED, folder, 2, "local", Resources())
    files = sorted(folder.glob("*.json"))
    assert len(files) == len(capture.heads) == 4
    before = {path: path.stat().st_mtime_ns for path in files}
    files[0].unlink()
    calls = []
    real = vars(head_jobs)["run_jobs"]

    def recorded(function, arguments, *others, **options):
        calls.extend(arguments)
        return real(function, arguments, *others, **options)

    monkeypatch.setattr(head_jobs, "run_jobs", recorded)
    head_jobs.analyse_missing(capture, POOLED, folder, 2, "local", Resources())
    assert [len(call["numbers"]) for call in calls] == [1], "one head is missing"
    assert {path: path.stat().st_mtime_ns for path in files[1:]} == {path: before[path] for path in files[1:]}
    head_jobs.analyse_missing(capture, POOLED, folder, 2, "local", Resources())
    assert len(calls) == 1, "no head is missing"
    measure(target, planted)
    assert {path: path.stat().st_mtime_ns for path in files[1:]} == {path: before[path] for path in files[1:]}
    assert len(read(target, "head_metrics")) == 4


def test_sample_and_separation_options_change_the_measurement(planted, target):
    measure(target, planted)
    full = read(target, "head_metrics")
    measure(target, planted, sample=50, separation="centroid", replace=True)
    sampled = read(target, "head_metrics")
    manifest = json.loads((target / "artifacts/measurements/head_metrics/planted-model.json").read_text())
    assert "--sample 50 --separation centroid" in manifest["command"]
    assert read(target, "head_profile")["pairs"].max() == 50
    assert 0 < np.abs(sampled["ap_overall"] - full["ap_overall"]).max() < 0.1
    assert (sampled["separation_strength"] <= full["separation_strength"] + 1e-9).all(), "the largest, by definition"
    assert np.abs(sampled["separation_strength"] - full["separation_strength"]).max() > 1e-6


@pytest.mark.parametrize(("jobs", "advice"), [(1, "one head at a time.*close other programs"), (4, "with --jobs 2$")])
def test_out_of_memory_advice_fits_the_requested_options(planted, target, monkeypatch, jobs, advice):
    def exhausted(*arguments):
        raise MemoryError

    monkeypatch.setattr(heads, "analyse_heads", exhausted)
    with pytest.raises(ThesisError, match=advice):
        measure(target, planted, jobs=jobs)
