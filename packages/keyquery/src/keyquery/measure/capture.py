"""Run the command that captures a model: in this process, or in several jobs that divide the documents."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from keyquery.jobs import Resources, open_executor, report, run_jobs
from keyquery.measure.bar import duration, open_bar
from keyquery.measure.subject import resolve_source
from keyquery.models.captures import capture, manifest
from keyquery.models.captures.options import CaptureOptions
from keyquery.models.captures.progress import CaptureProgress
from keyquery.models.checkpoints.estimate import check_memory, estimate, free_bytes
from keyquery.models.checkpoints.loading import LoadedModel, ModelSource
from keyquery.models.texts import TextSource, require_source

LOGS = ".jobs"  # hidden folder for jobs; it is in the capture's folder, so that both are moved together


def run(
    root: Path,
    *,
    model: str,
    texts: str,
    out: Path,
    revision: str | None,
    dtype: str,
    quantize: str | None,
    device: str,
    trust_remote_code: bool,
    field: str,
    split: str,
    executor: str,
    jobs: int,
    resources: Resources,
    anyway: bool = False,
    **capture_options: Any,
) -> Path:
    """Capture with the options of the command line; return the capture's folder.

    An existing capture is left unchanged. With `jobs` above 1, or on a cluster, every job captures a share of the
    documents, and the parts are merged at the end. Raises ThesisError as `keyquery.models.captures.capture.capture`
    and `keyquery.jobs.run_jobs` do.
    """
    named_source = ModelSource(model, revision, dtype, quantize, device=device, trust_remote_code=trust_remote_code)
    source, _ = resolve_source(root, named_source)
    if source.dtype != dtype:
        print(
            f"{model}: its float16 weights are read as float32, as `run` reads them; --dtype changes it",
            file=sys.stderr,
        )
    if isinstance(capture_options.get("heads"), tuple):
        capture_options["only_heads"], capture_options["heads"] = capture_options["heads"], None
    options = CaptureOptions(model=source, texts=TextSource(texts, field, split), out=out.absolute(), **capture_options)
    bucket_tokens = options.context // options.buckets
    if options.rate > bucket_tokens and options.context % options.buckets == 0:
        print(f"--rate {options.rate:g}: a bucket has {bucket_tokens} tokens, so all of them are kept", file=sys.stderr)
    if capture.is_finished(options):
        print("already captured with these options", file=sys.stderr)
        print_notes(options.out)
        return out
    require_source(options.texts)
    if options.stream and options.batch == 1 and options.limit != 1:
        print("--stream reads the checkpoint once a document; with --batch N once for N documents", file=sys.stderr)
    if executor == "local":  # on other machines, this machine's memory is irrelevant
        line = _memory_line(options, anyway=anyway)
        if sys.stderr.isatty():
            print(line, file=sys.stderr)
    if executor == "local" and jobs == 1 and resources == Resources():
        record_here(options)
    else:
        _capture_in_jobs(options, executor, jobs, resources)
    with open_bar("gathering files") as bar:
        capture.finish(options, bar.update)
    return out


def _memory_line(options: CaptureOptions, *, anyway: bool) -> str:
    """Return one line about the memory that a forward pass needs, estimated from the model's configuration."""
    source = options.model
    memory = estimate(source, context=options.context, batch=options.batch, logits=1, stream=options.stream)
    return check_memory(replace(memory, name=source.name), free_bytes(source.device), anyway=anyway)


def record_here(options: CaptureOptions, model: LoadedModel | None = None) -> None:
    """Capture all documents in this process, with a progress bar; `model` avoids loading the model again."""
    with open_bar("documents") as bar:

        def tell(state: CaptureProgress) -> None:
            for note in state.notes:
                bar.say(note)
            rate = f"{state.tokens_per_second:,.0f} tokens/s" if state.tokens_per_second else ""
            bar.update(state.done, state.total, rate, state.seconds_left)

        capture.record(options, tell, loaded=model)


def _capture_in_jobs(options: CaptureOptions, executor: str, count: int, resources: Resources) -> None:
    shares = [{"options": options, "shard": (share, count)} for share in range(count)]
    names = [f"share {share + 1} of {count}" for share in range(count)]
    folder, is_complete = options.out / LOGS, lambda outcome: manifest.read(options.out) is not None
    with open_bar("jobs") as bar, open_executor(executor, folder, workers=count, resources=resources) as pool:
        run_jobs(capture_share, shares, pool, folder, names=names, valid=is_complete, progress=bar.follow)
    print_notes(options.out)


def print_notes(folder: Path) -> None:
    """Print the notes of a capture's manifest to standard error."""
    for note in (manifest.read(folder) or {}).get("notes", ()):
        print(note, file=sys.stderr)


def capture_share(options: CaptureOptions, shard: tuple[int, int]) -> None:
    """Capture every n-th document as a job; `shard` has the index of the first document, and n."""

    def tell(state: CaptureProgress) -> None:
        total = f" of {state.total}" if state.total is not None else ""
        time_left = f", {duration(state.seconds_left)} left" if state.seconds_left is not None else ""
        report(f"{state.done}{total} documents{time_left}")

    capture.record(options, tell, shard)
