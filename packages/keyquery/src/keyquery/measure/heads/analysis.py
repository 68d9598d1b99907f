"""Analyse the heads of a capture in parallel, and write tables as measurements."""

import hashlib
import importlib.metadata
import os
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import Future, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from boundpaper.build.pool import end_pool, limit_to_one_thread, process_pool
from boundpaper.errors import DataError, ThesisError
from boundpaper.store.files import digest
from boundpaper.store.measurement import path_of
from boundpaper.typeset.plural import counted
from keyquery.heads.laws import Estimator
from keyquery.heads.pairs import PairMode
from keyquery.heads.plasticity import PlasticityOptions
from keyquery.heads.rotation import Separation
from keyquery.jobs import Resources
from keyquery.measure.bar import Bar, duration, open_bar
from keyquery.measure.heads import jobs as head_jobs
from keyquery.measure.heads.finding import HeadResult, Outcome, analyse_in_turn
from keyquery.measure.heads.frames import half_metrics, measurement_frames
from keyquery.measure.measurements import checked_name, conflicting_settings, refuse_overwriting, save, slug
from keyquery.models import text_sets
from keyquery.models.captures import manifest, sampling
from keyquery.models.captures.reading import NO_RECORD, Capture, open_capture
from keyquery.models.captures.stated import with_stated_rotation
from keyquery.rotary import rotation_records

MAX_SHOWN = 5  # largest number of failures in an error
GROUPS_PER_PROCESS = 4  # with fewer groups of heads that share keys, heads are analysed one by one
LIBRARIES = ("numba", "numpy", "scipy")


@dataclass(frozen=True, kw_only=True)
class AnalysisOutcome:
    """The result of `measure`.

    `files` are the written tables, `heads` is the number of all heads, `kept` the number of heads that an earlier run
    finished, and `seconds` the wall time.
    """

    files: list[Path]
    heads: int
    kept: int
    seconds: float


def measure(
    root: Path,
    path_or_id: str,
    options: PlasticityOptions,
    *,
    context: int | None = None,
    branch: str | None = None,
    group: int | None = None,
    name: str | None = None,
    jobs: int | None = None,
    executor: str = "local",
    resources: Resources | None = None,
    replace: bool = False,
    halves: bool = False,
    rotation: Path | None = None,
) -> AnalysisOutcome:
    """Analyse every head of a capture and write the measurements of its model.

    `path_or_id` is a folder or the Hub id of a published capture; other arguments are options of the command `heads`.
    `jobs` is the number of processes (None: of cores) or of cluster jobs (None: one per eight heads). Raises
    DataError if the capture is missing, unfinished or damaged, if no head has a value, or if this name has
    measurements of another capture or with other options.
    """
    start = time.monotonic()
    capture = _opened_capture(path_or_id, rotation, context=context, branch=branch, group=group)
    label = _shown_name(capture, path_or_id, branch)
    model = checked_name(name or slug(label))
    splits = capture.halves() if halves else []
    if not replace:
        table = path_of(root, "head_metrics", model)
        new_manifest = _manifest(capture, [], options, model, path_or_id, branch, rotation)
        refuse_overwriting(root, {table: conflicting_settings(table, new_manifest)})
    folder, process_count = root / "out/heads", jobs or len(os.sched_getaffinity(0))
    if executor != "local" or resources not in (None, Resources()):
        head_jobs.analyse_missing(capture, options, folder, jobs, executor, resources or Resources())
        process_count = 1  # the jobs have stored all results, so this process only collects them
    with open_bar("heads") as progress:
        try:
            findings, earlier_count = analyse_heads(capture, options, folder, process_count, progress)
        except MemoryError:
            raise ThesisError(_memory_advice(process_count)) from None
    refuse_empty(capture, findings, options)
    bins = options.bins or capture.buckets
    tables, table_manifest, _ = tables_of_heads(capture, findings, options, model, path_or_id, branch, rotation)
    if splits:
        half_tables = []
        for number, split in enumerate(splits):
            for half, half_capture in enumerate(split):
                with open_bar(f"heads of half {half + 1} of split {number + 1} of {len(splits)}") as progress:
                    half_findings = analyse_heads(half_capture, options, folder, process_count, progress)[0]
                half_tables.append(half_metrics(half_findings, options, half_capture, bins, number, half))
        tables["capture_halves"] = pd.concat(half_tables, ignore_index=True)
    if halves:
        table_manifest["command"] += " --halves"
    files = save(root, tables, model, table_manifest)
    return AnalysisOutcome(files=files, heads=len(findings), kept=earlier_count, seconds=time.monotonic() - start)


def _shown_name(capture: Capture, capture_name: str, branch: str | None) -> str:
    """Return the displayed name of a capture's model."""
    return str((capture.manifest or {}).get("settings", {}).get("model") or branch or Path(capture_name).name)


def tables_of_heads(
    capture: Capture,
    findings: Sequence[HeadResult],
    options: PlasticityOptions,
    model: str = "",
    path_or_id: str = "",
    branch: str | None = None,
    rotation: Path | None = None,
) -> tuple[dict[str, pd.DataFrame], dict[str, Any], str]:
    """Return the tables of a capture's heads, their manifest, and the name of the model.

    `model` names the measurements; `path_or_id` and `branch` say where the capture is from, by default its folder;
    `rotation` is the file that states the capture's rotation, if any.
    """
    path_or_id = path_or_id or str(capture.root)
    label = _shown_name(capture, path_or_id, branch)
    model = model or slug(label)
    bins = options.bins or capture.buckets
    tables = measurement_frames(findings, options, capture.context, bins, label.rstrip("/").rpartition("/")[2] or model)
    tables = {name: table for name, table in tables.items() if len(table)}
    return tables, _manifest(capture, findings, options, model, path_or_id, branch, rotation), model


def analyse_heads(
    capture: Capture, options: PlasticityOptions, folder: Path, jobs: int, progress: Bar
) -> tuple[list[HeadResult], int]:
    """Return the results of all heads in order, and how many of them an earlier run left in `folder`.

    If files of heads are missing or damaged, all other heads are analysed and stored, and then DataError is raised.
    """
    results: dict[sampling.HeadIndex, HeadResult] = {}
    failures: list[str] = []
    earlier_count, start = 0, time.monotonic()
    with closing(_outcomes(capture, options, folder, min(jobs, len(capture.heads)))) as outcomes:
        for head, outcome in outcomes:
            if isinstance(outcome, DataError):
                failures.append(str(outcome))
            else:
                results[head], from_earlier_run = outcome
                earlier_count += from_earlier_run
            count = len(results) + len(failures)
            rate = max(1, count - earlier_count) / max(time.monotonic() - start, 1e-9)
            progress.update(count, len(capture.heads), f"{rate:.1f} heads/s", (len(capture.heads) - count) / rate)
    if failures:
        lines = list(dict.fromkeys(failures))
        note = [f"... and {len(lines) - MAX_SHOWN} more"] * (len(lines) > MAX_SHOWN)
        raise DataError("\n".join([*lines[:MAX_SHOWN], *note, f"the other {len(results)} heads are finished and kept"]))
    return [results[head] for head in capture.heads], earlier_count


def _outcomes(
    capture: Capture, options: PlasticityOptions, folder: Path, jobs: int
) -> Generator[tuple[sampling.HeadIndex, Outcome], None, None]:
    if jobs == 1:
        yield from analyse_in_turn(capture, capture.heads, options, folder)
        return
    with limit_to_one_thread(), process_pool(jobs) as pool:
        try:
            calls: list[Future[list[tuple[sampling.HeadIndex, Outcome]]]] = [
                pool.submit(_analyse_group, capture, heads, options, folder) for heads in head_groups(capture, jobs)
            ]
            for call in as_completed(calls):
                yield from call.result()
        except BrokenProcessPool:
            raise ThesisError(
                "a process of the analysis was ended from outside (out of memory?); what is finished is kept; "
                f"give --jobs {jobs // 2} and run again"
            ) from None
        except BaseException:  # on Ctrl-C, or if the caller stops early, finished heads are kept
            end_pool(pool)
            raise


def head_groups(capture: Capture, jobs: int) -> list[tuple[sampling.HeadIndex, ...]]:
    """Return groups of heads that share keys; single heads if there are too few groups to keep every process busy."""
    groups: dict[tuple[int, int], list[sampling.HeadIndex]] = {}
    for head in capture.heads:
        groups.setdefault((head.layer, head.key), []).append(head)
    if len(groups) < GROUPS_PER_PROCESS * jobs:
        return [(head,) for head in capture.heads]
    return [tuple(group) for group in groups.values()]


def _analyse_group(
    capture: Capture, heads: Sequence[sampling.HeadIndex], options: PlasticityOptions, folder: Path
) -> list[tuple[sampling.HeadIndex, Outcome]]:
    return list(analyse_in_turn(capture, heads, options, folder))


def _memory_advice(jobs: int) -> str:
    """Return the message for a lack of memory, with advice that fits the number of jobs."""
    if jobs > 1:
        return f"out of memory with {jobs} heads at a time; what is finished is kept; run again with --jobs {jobs // 2}"
    return (
        "out of memory with one head at a time; what is finished is kept; close other programs, or capture fewer "
        "documents or a lower --rate"
    )


def refuse_empty(capture: Capture, findings: Sequence[HeadResult], options: PlasticityOptions) -> None:
    """Raise DataError if no head of a capture can be analysed."""
    if any("ap_overall" in finding.metrics for finding in findings):
        return
    rows = [row for finding in findings for row in finding.bins]
    most_queries = max((row["queries"] for row in rows), default=0)
    if rows and most_queries < options.min_queries:
        raise DataError(
            f"{capture.root}: no query bin has {options.min_queries} queries (the fullest has {most_queries}); capture "
            "more documents or a higher --rate, or give fewer --bins or a lower --min-queries"
        )
    reasons = list(dict.fromkeys(finding.reasons.get("ap_overall", "") for finding in findings))
    detail = next((row["reason"] for row in rows if row["reason"]), "")
    raise DataError(f"{capture.root}: no head has a value: {detail or reasons[0]}")


def _manifest(
    capture: Capture,
    findings: Sequence[HeadResult],
    options: PlasticityOptions,
    model: str,
    path_or_id: str,
    branch: str | None,
    rotation: Path | None = None,
) -> dict[str, Any]:
    capture_manifest: Mapping[str, Any] = capture.manifest or {}
    settings: Mapping[str, Any] = capture_manifest.get("settings", {})
    fact_names = (
        "model", "revision", "architecture", "dtype", "quantization", "context", "buckets", "rate", "pre_rope",
        "window_ends", "gguf",
    )  # fmt: skip
    name = Path(path_or_id).name if Path(path_or_id).is_dir() else path_or_id
    arguments = [f"--estimator {options.estimator}", f"--pairs {options.pairs}", f"--min-queries {options.min_queries}"]
    arguments += [f"--sample {options.cap}"] * (options.cap is not None)
    arguments += [f"--separation {options.separation}"] * (options.separation != "distance")
    arguments += [f"--rotation {rotation.name}"] if rotation is not None else []
    arguments += [f"--bins {options.bins}"] * (options.bins is not None) + [f"--branch {branch}"] * (branch is not None)
    vectors_hash = hashlib.blake2b("".join(finding.vectors for finding in findings).encode(), digest_size=16)
    fingerprint = settings.get("fingerprint")  # if the model is from a folder; its name is then a path
    return {
        "command": f"python build.py heads {name} {' '.join(arguments)} --name {model}",
        "options": {
            "estimator": options.estimator,
            "pairs": options.pairs,
            "bins": options.bins,
            **({} if options.cap is None else {"sample": options.cap}),
            **({} if options.separation == "distance" else {"separation": options.separation}),
            **({} if rotation is None else {"rotation": rotation_records(capture.rotations or {})}),
        },
        "versions": {
            **{library: importlib.metadata.version(library) for library in LIBRARIES},
            **capture_manifest.get("versions", {}),
        },
        "capture": {
            **{name: settings[name] for name in fact_names if name in settings},
            **({"model": Path(settings["model"]).name, "fingerprint": fingerprint} if fingerprint else {}),
            "context": capture.context,
            "documents": len(capture_manifest["documents"]) if "documents" in capture_manifest else None,
            **_documents_hash(settings, capture_manifest),
            "manifest": digest(capture.root / manifest.FILE) or None,
            "vectors": vectors_hash.hexdigest(),
        },
    }


def _documents_hash(settings: Mapping[str, Any], capture_manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return a hash of a capture's documents and, for installed texts, the set's name; a user's file is never named."""
    if "documents" not in capture_manifest:
        return {}
    texts = str(settings.get("texts", ""))
    digests = "".join(str(document.get("digest")) for document in capture_manifest["documents"])
    text_hash = {"text_hash": hashlib.blake2b(digests.encode(), digest_size=16).hexdigest()}
    return text_hash if text_sets.split_set_name(texts) is None else {"texts": texts, **text_hash}


def _opened_capture(path_or_id: str, rotation: Path | None, **open_options: Any) -> Capture:
    """Open a capture, with the rotation that the user states, if any."""
    capture = open_capture(path_or_id, **open_options)
    return capture if rotation is None else with_stated_rotation(capture, rotation)


def _default_estimator(capture: Capture) -> Estimator:
    """Return the default estimator for a capture; print a warning if the capture's rotation is unknown."""
    if capture.rotations is not None:
        return "aligned_full"
    print(
        f"{capture.root}: {NO_RECORD}, so queries are used as captured (bucket_full): if they were rotated, wider bins "
        "give higher plasticity; --rotation FILE states the rotation",
        file=sys.stderr,
    )
    return "bucket_full"


def run(
    root: Path,
    path_or_id: str,
    *,
    estimator: Estimator | None,
    pairs: PairMode,
    bins: int | None,
    min_queries: int,
    sample: int | None = None,
    separation: Separation = "distance",
    **measure_options: Any,
) -> list[str]:
    """Run the command `heads`; return the paths of the tables relative to the project.

    By default, queries are rotated to the centres of their bins; if the capture does not record its rotation, they
    are used as captured, with a warning. The time taken is printed to standard error.
    """
    open_options = {name: measure_options[name] for name in ("context", "branch", "group") if name in measure_options}
    capture = _opened_capture(path_or_id, measure_options.get("rotation"), **open_options)
    for note in (capture.manifest or {}).get("notes", ()):
        print(note, file=sys.stderr)
    estimator = estimator or _default_estimator(capture)
    options = PlasticityOptions(
        estimator=estimator, pairs=pairs, bins=bins, min_queries=min_queries, cap=sample, separation=separation
    )
    outcome = measure(root, path_or_id, options, **measure_options)
    earlier_note = f", {outcome.kept} of them finished earlier" if outcome.kept else ""
    print(f"{counted(outcome.heads, 'head')} in {duration(outcome.seconds)}{earlier_note}", file=sys.stderr)
    return [path.relative_to(root).as_posix() for path in outcome.files]
