"""Make a capture: load the model, draw heads, run each document and gather files. A rerun resumes a stopped capture."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boundpaper.errors import DataError, ModelError, about
from keyquery.models import libraries
from keyquery.models.architecture import Layer, check_call, check_padding, describe_failures, run_forward, survey
from keyquery.models.attention.calls import Call, Observer, recording
from keyquery.models.attention.projections import projecting
from keyquery.models.attention.reach import length_dependent_rotation, position_rows, positions_made_for
from keyquery.models.attention.rotations import rotations
from keyquery.models.captures import dataset_card, layout, manifest, parts, room
from keyquery.models.captures.options import OPTIONAL, CaptureOptions
from keyquery.models.captures.progress import Clock, Report
from keyquery.models.captures.recorder import VectorRecorder
from keyquery.models.captures.sampling import Buckets, HeadIndex, draw_heads
from keyquery.models.checkpoints import memory
from keyquery.models.checkpoints.loading import LoadedModel, load, load_tokenizer
from keyquery.models.texts import TokenizedDocument, documents, is_local, shortage_message, texts
from keyquery.models.undefined import undefined_message
from keyquery.models.vocabulary import check_tokens
from keyquery.rotary import Rotations, rotation_records

if TYPE_CHECKING:
    from torch import Tensor


def capture(options: CaptureOptions, progress: Report = lambda state: None) -> Path:
    """Capture queries and keys of a model over texts; return the folder.

    Each finished document is written before the next begins, so rerunning an interrupted capture with the same
    options resumes it and gives the same files. A finished capture is left unchanged. `progress` is called with a
    `CaptureProgress` at the start and after each document. Raises ModelError if the model cannot be loaded or captured,
    memory does not suffice, or `out` contains another capture; DataError when a text is missing, malformed or too
    short; and ThesisError when the disk is full.
    """
    if not is_finished(options):
        record(options, progress)
        finish(options)
    return options.out


def is_finished(options: CaptureOptions) -> bool:
    """Return whether `out` has a complete capture with these options; needs neither the model nor the texts."""
    Buckets(options.context, options.buckets, options.rate)
    stored = manifest.read(options.out)
    if stored is None:
        return False
    requested = options.requested()
    names = {*requested, *(name for name in OPTIONAL if name in stored["settings"])}
    manifest.agree(options.out, {"settings": {name: stored["settings"].get(name) for name in names}}, requested)
    complete = bool(stored.get("complete"))
    if complete:  # a command that was killed at its last step left parts behind
        shutil.rmtree(options.out / parts.FOLDER, ignore_errors=True)
    return complete


def record(
    options: CaptureOptions,
    progress: Report = lambda state: None,
    shard: tuple[int, int] = (0, 1),
    loaded: LoadedModel | None = None,
) -> None:
    """Run the documents of one shard through the model and write their parts, which `finish` merges.

    `options` are the same for all shards; `shard` (i, n) is every n-th document from document i on. `progress` is
    called with a `CaptureProgress` of this shard; `loaded` is the model, if it is loaded already. Raises the errors of
    `capture`.
    """
    with about(options.model.name, ModelError):
        _record(options, progress, shard, loaded)


def _record(options: CaptureOptions, progress: Report, shard: tuple[int, int], loaded: LoadedModel | None) -> None:
    buckets = Buckets(options.context, options.buckets, options.rate)
    tokenizer = loaded.tokenizer if loaded is not None else load_tokenizer(options.model)
    total = check_texts(options, tokenizer)  # before loading weights, which may take minutes
    room.check_space(options, total)
    loaded = loaded if loaded is not None else load(options.model, stream=options.stream)
    layers = survey(loaded.model)
    heads = draw_heads(
        layers, options.heads, sliding=options.sliding, only_layers=options.only_layers, only_heads=options.only_heads
    )
    notes = _length_notes(options, loaded)
    _begin_manifest(options, loaded, layers, heads, notes)
    _check_memory(options, loaded, layers)
    clock = Clock(progress, total, shard, tuple(notes))
    with ExitStack() as stack:
        projections = None
        if options.pre_rope:
            projections = stack.enter_context(projecting(loaded.model, options.context, "; leave --pre-rope out"))
        why_undefined = partial(undefined_message, loaded.model)
        recorder = VectorRecorder(layers, heads, buckets, options.seed, projections, options.parts, why_undefined)
        stack.enter_context(recorder.record_stream(loaded.model))
        stack.enter_context(recording(loaded.model, recorder, _observer(loaded, layers, recorder)))
        batch: list[TokenizedDocument] = []
        for document in _documents(options, loaded, shard):
            path = parts.path(options.out, document.number)
            if path.is_file():
                _require_unchanged(path, document)
                clock.skip()
                continue
            batch.append(document)
            if len(batch) == options.batch:
                _capture_batch(options, loaded, batch, recorder, clock)
                batch = []
        if batch:
            _capture_batch(options, loaded, batch, recorder, clock)


def _capture_batch(
    options: CaptureOptions, loaded: LoadedModel, batch: list[TokenizedDocument], recorder: VectorRecorder, clock: Clock
) -> None:
    """Capture documents in one forward pass, with padding at the end of shorter ones."""
    lengths = [len(document.tokens) for document in batch]
    longest_padded = max((length for length in lengths if length < max(lengths)), default=0)
    if longest_padded > recorder.padded:
        text = libraries.torch.tensor([batch[lengths.index(longest_padded)].tokens])
        check_padding(loaded.model, text, max(lengths))
        recorder.padded = longest_padded
    with ExitStack() as stack:
        writers = {doc.number: stack.enter_context(parts.DocumentPart(options.out, doc.number)) for doc in batch}
        for doc in batch:
            length = {"tokens": len(doc.tokens)} if options.keep_short else {}
            writers[doc.number].describe({"number": doc.number, "id": doc.name, "digest": doc.digest, **length})
        recorder.begin(writers, lengths)
        _run(options, loaded, batch, recorder)
        recorder.end()
    for tokens in lengths:
        clock.step(tokens)


def finish(options: CaptureOptions, progress: Callable[[int, int], None] = lambda done, total: None) -> None:
    """Gather the parts of all shards into the published layout, complete the manifest and remove the parts.

    Raises ModelError if there is nothing to gather.
    """
    root = options.out
    stored = manifest.read(root)
    part_paths = parts.complete_parts(root)
    if stored is None or not part_paths:
        raise ModelError(f"{root}: no captured documents to gather; run the capture first")
    rows = []
    for path in part_paths.values():
        with parts.PartReader(path) as part:
            rows.append(part.document())
    buckets = Buckets(options.context, options.buckets, options.rate)
    part_names = stored["settings"].get("parts", ())
    layout.gather_parts(root, manifest.layers_of(stored), manifest.heads_of(stored), buckets, progress, part_names)
    complete = {**stored, "complete": True, "documents": rows}
    dataset_card.save(root, complete)
    manifest.save(root, complete)
    shutil.rmtree(root / parts.FOLDER, ignore_errors=True)


def check_texts(options: CaptureOptions, tokenizer: Any) -> int | None:
    """Read all texts before capturing; return the number of documents, or `limit` if the texts are on the Hub.

    Of the Hub's texts, only the first is read. Raises DataError if a text is missing, malformed or too short, or there
    are fewer documents than requested, and ModelError without a tokenizer.
    """
    if tokenizer is None:
        raise ModelError(f"{options.model.name}: has no tokenizer, and texts need one; save one in the model's folder")
    if not is_local(options.texts):
        next(texts(options.texts), None)
        return options.limit
    count = sum(1 for _ in _tokenized_texts(options, tokenizer))
    _check_count(options, count)
    return count


def _check_count(options: CaptureOptions, count: int) -> None:
    if options.limit is not None and count < options.limit and not options.fewer:
        raise DataError(shortage_message(options.texts, count, options.limit, windows=options.windows))


def _observer(loaded: LoadedModel, layers: tuple[Layer, ...], recorder: VectorRecorder) -> Observer:
    """Return an observer that passes outputs to the recorder, and checks each layer by the definition of attention.

    It checks the first document and every longer one after it, since `survey` runs too few tokens to notice a long
    window.
    """
    by_index = {layer.index: layer for layer in layers if layer.kind != "cross"}
    checked_tokens: dict[int, int] = {}

    def record_and_check(call: Call, output: Tensor) -> None:
        recorder.record_output(call, output)
        row, tokens = recorder.longest
        layer = None if call.layer is None or call.cross else by_index.get(call.layer)
        if layer is None or call.query.shape[2] != tokens or tokens <= checked_tokens.get(layer.index, 0):
            return
        checked_tokens[layer.index] = tokens
        one_row = slice(row, row + 1)
        mask = call.mask if call.mask is None or call.mask.shape[0] == 1 else call.mask[one_row]
        longest = replace(call, query=call.query[one_row], key=call.key[one_row], value=call.value[one_row], mask=mask)
        check_call(loaded.model, layer, longest, output[one_row], (0, tokens // 3, tokens // 2, tokens - 1))

    return record_and_check


def _begin_manifest(
    options: CaptureOptions,
    loaded: LoadedModel,
    layers: tuple[Layer, ...],
    heads: tuple[HeadIndex, ...],
    notes: list[str],
) -> None:
    """Write the manifest, or check that the existing one is of the same capture."""
    facts = dict(loaded.facts)
    versions = facts.pop("versions", {})
    settings = {
        **options.requested(),
        **facts,
        "head_seed": 0,
        "layers": [layer.record() for layer in layers],
        "captured_heads": manifest.head_rows(heads),
    }
    # List files before reading the manifest: another job of this capture writes the manifest before other files. Logs
    # and temporary files are hidden.
    occupied = options.out.is_dir() and any(not path.name.startswith(".") for path in options.out.iterdir())
    stored = manifest.read(options.out)
    if stored is not None:
        manifest.agree(options.out, stored, settings)
        return
    if occupied:
        raise ModelError(f"{options.out}: the folder has files, but no manifest of a capture; give another --out")
    content: dict[str, Any] = {"complete": False, "settings": settings, "versions": versions}
    if notes:
        content["notes"] = notes
    if not options.pre_rope:
        content["rotations"] = rotation_records(_layer_rotations(options, loaded))
    manifest.save(options.out, content)


def _layer_rotations(options: CaptureOptions, loaded: LoadedModel) -> Rotations:
    """Return each layer's rotation; if memory runs out, raise an error that says which context would fit."""
    vocabulary = int(loaded.model.config.get_text_config().vocab_size)
    tokens = libraries.torch.arange(options.context)[None] % vocabulary
    with _report_what_fits(options, loaded, tokens), describe_failures(loaded.model, options.context):
        return rotations(loaded.model, options.context)


@contextmanager
def _report_what_fits(
    options: CaptureOptions, loaded: LoadedModel, tokens: Any, release: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """If memory runs out in this block, call `release`, then raise an error that says which context would fit."""
    try:
        yield
        return
    except Exception as error:
        if not memory.exhausted(error):
            raise
        message = str(error).splitlines()[0] if str(error) else type(error).__name__
    # Outside the handler, since the traceback keeps the tensors of the failed forward pass alive.
    release()
    fits = memory.largest_working_context(lambda count: run_forward(loaded.model, tokens[:, :count]), options.context)
    raise ModelError(_too_big(options, f"ran out of memory ({message})", fits, ""))


def _length_notes(options: CaptureOptions, loaded: LoadedModel) -> list[str]:
    """Return notes on a context longer than the model was made for; raise ModelError if the model cannot run it."""
    rows = position_rows(loaded.model)
    if rows is not None and options.context > rows:
        raise ModelError(
            f"{options.model.name}: a context of {options.context} tokens is too long: the model's table of learned "
            f"positions has {rows} rows; give --context {rows} or less"
        )
    kind, limit = (length_dependent_rotation(loaded.model.config) if options.keep_short else None) or ("", None)
    if limit is not None and options.context > limit:
        raise ModelError(
            f"{options.model.name}: --keep-short: above {limit} tokens its rotation ({kind}) depends on the length of "
            f"the text, so no two lengths can be compared; give --context {limit} or less, or --skip-short"
        )
    made_for = positions_made_for(loaded.model.config)
    if made_for is None or options.context <= made_for[0]:
        return []
    return [
        f"the context of {options.context:,} tokens is longer than the model was made for: {made_for[1]}; what lies "
        "beyond is captured as well"
    ]


def _check_memory(options: CaptureOptions, loaded: LoadedModel, layers: tuple[Layer, ...]) -> None:
    """Raise ModelError if a capture cannot fit into memory; without this, a process on the CPU would die silently."""
    free = memory.free_memory(loaded.model.device)
    least = options.batch * memory.least(loaded.model, layers, options.context)
    if free is not None and least > free:
        fitting = memory.largest_fitting(
            lambda tokens: options.batch * memory.least(loaded.model, layers, tokens), free, options.context
        )
        raise ModelError(_too_big(options, f"needs at least {_gib(least)}; {_gib(free)} are free", fitting, "at most "))


def _run(options: CaptureOptions, loaded: LoadedModel, docs: list[TokenizedDocument], recorder: VectorRecorder) -> None:
    longest = max(len(doc.tokens) for doc in docs)
    # any token serves as padding, since no token sees a later one
    rows = [[*doc.tokens, *doc.tokens[-1:] * (longest - len(doc.tokens))] for doc in docs]
    tokens = libraries.torch.tensor(rows)
    check_tokens(loaded.model, tokens, loaded.tokenizer)
    with _report_what_fits(options, loaded, tokens, recorder.abandon), describe_failures(loaded.model, options.context):
        recorder.forward(loaded.model, tokens)


def _too_big(options: CaptureOptions, fault: str, fitting: int, bound: str) -> str:
    """Return the error message for a context that memory cannot hold; `fitting` is a number of tokens that fits."""
    fitting = fitting // options.buckets * options.buckets
    advice = f"--context {fitting} would fit ({bound or 'tried: '}{fitting})"
    advice = advice if fitting else "no shorter context fits either"
    remedy = ("a smaller --batch" if options.stream else "--quantize nf4 or --stream") + " leaves more room"
    return f"{options.model.name}: a context of {options.context} tokens {fault}; {advice}; {remedy}"


def _gib(size: int) -> str:
    return f"{size / 2**30:.1f} GiB"


def _tokenized_texts(options: CaptureOptions, tokenizer: Any) -> Iterator[TokenizedDocument]:
    """Return the documents of all shards."""
    flags = {name: getattr(options, name) for name in ("windows", "skip_short", "keep_short")}
    return islice(documents(options.texts, tokenizer, options.context, **flags), options.limit)


def _documents(options: CaptureOptions, loaded: LoadedModel, shard: tuple[int, int]) -> Iterator[TokenizedDocument]:
    """Yield the documents of a shard; raise DataError if all shards together have too few."""
    count = 0
    for index, document in enumerate(_tokenized_texts(options, loaded.tokenizer)):
        count += 1
        if index % shard[1] == shard[0]:
            yield document
    _check_count(options, count)  # again, since texts of the Hub were not counted before


def _require_unchanged(path: Path, document: TokenizedDocument) -> None:
    with parts.PartReader(path) as part:
        digest = part.document()["digest"]
    if digest != document.digest:
        raise ModelError(
            f"text {document.name} changed since it was captured ({path}); remove the captured file, or its folder"
        )
