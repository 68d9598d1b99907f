"""Make, open and analyse captures from Python, in any working directory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from boundpaper.errors import ModelError
from boundpaper.places import project_or_none
from boundpaper.store.files import temporary
from keyquery.heads.plasticity import MIN_QUERIES, PlasticityOptions

if TYPE_CHECKING:
    import pandas as pd

    from keyquery.heads.laws import Estimator
    from keyquery.heads.pairs import PairMode
    from keyquery.models.captures.reading import Capture
    from keyquery.opened import Model


def capture(
    model: Model | str,
    texts: str | Path,
    context: int,
    out: str | Path,
    *,
    heads: int | None = 300,
    buckets: int = 16,
    rate: float = 1.0,
    documents: int | None = None,
    seed: int = 0,
    field: str = "text",
    split: str = "train",
    pre_rope: bool = False,
    sliding: bool = False,
    windows: bool = False,
    skip_short: bool = False,
    keep_short: bool = False,
    fewer: bool = False,
    only_layers: Sequence[int] = (),
    only_heads: Sequence[tuple[int, int]] = (),
    parts: Sequence[str] = (),
    batch: int = 1,
    stream: bool = False,
) -> Capture:
    """Write a model's queries and keys over texts to a folder, and open this capture; a rerun resumes a stopped run.

    Parameters
    ----------
    model : Model or str
        A loaded model, or a name or folder, which is loaded with the default options of `load`.
    texts : str or Path
        A file, a folder, the name of installed texts such as `manual` (Python's manual), or a Hub id.
    context : int
        Number of tokens per document.
    out : str or Path
        The folder to write the capture to.
    heads, buckets, rate, documents, seed, field, split, pre_rope, sliding, windows, skip_short, keep_short, fewer
        Options of the command `capture`; see `CaptureOptions`, where `documents` is `limit`, and `TextSource`.
    only_layers, only_heads, parts, batch, stream
        See `CaptureOptions`; `Capture.part` returns the arrays that `parts` names.

    Raises
    ------
    ModelError, DataError
        When the model cannot be captured, a text is missing or too short, or `out` holds another capture.

    Examples
    --------
    >>> import keyquery as kq
    >>> _ = open("notes.txt", "w").write("Anna likes Ben . " * 400)
    >>> capture = kq.capture("tiny-rope", "notes.txt", context=128, out="cap", heads=2, rate=8, windows=True)
    >>> capture.context, len(capture.heads)
    (128, 2)
    """
    from keyquery.measure.capture import record_here
    from keyquery.measure.subject import resolve_source
    from keyquery.models.captures.capture import finish, is_finished
    from keyquery.models.captures.options import CaptureOptions
    from keyquery.models.captures.reading import open_capture
    from keyquery.models.checkpoints.loading import LoadedModel, ModelSource, model_facts
    from keyquery.models.texts import TextSource, require_source
    from keyquery.opened import working_folder

    loaded_model = None
    if isinstance(model, str):
        source = resolve_source(working_folder(), ModelSource(model))[0]
    elif stream:
        raise ModelError("stream=True reads weights from disk, but this model is loaded; pass its name or folder")
    else:
        source = model.subject.source or model.source
        loaded_model = LoadedModel(model.network, model.tokenizer, model_facts(model.network, source))
    options = CaptureOptions(
        model=source,
        texts=TextSource(str(texts), field, split),
        out=Path(out).absolute(),
        context=context,
        heads=heads,
        buckets=buckets,
        rate=rate,
        limit=documents,
        seed=seed,
        pre_rope=pre_rope,
        sliding=sliding,
        windows=windows,
        skip_short=skip_short,
        keep_short=keep_short,
        fewer=fewer,
        only_layers=tuple(only_layers),
        only_heads=tuple(only_heads),
        parts=tuple(parts),
        batch=batch,
        stream=stream,
    )
    if not is_finished(options):
        require_source(options.texts)
        record_here(options, loaded_model)
        finish(options)
    return open_capture(options.out)


def analyse(
    capture: Capture,
    estimator: Estimator | None = None,
    bins: int | None = None,
    *,
    pairs: PairMode = "earlier",
    min_queries: int = MIN_QUERIES,
    cap: int | None = None,
    jobs: int = 1,
) -> pd.DataFrame:
    """Analyse every head of a capture.

    Parameters
    ----------
    capture : Capture
        A capture returned by `capture` or `open_capture`.
    estimator : str, optional
        See `PlasticityOptions`; by default `aligned_full` if the capture records how its model rotates queries, else
        `bucket_full`.
    bins : int, optional
        Number of query bins over the context; by default the capture's buckets.
    pairs, min_queries, cap
        See `PlasticityOptions`.
    jobs : int
        Number of processes; with more than one, a script needs `if __name__ == "__main__"`.

    Returns
    -------
    DataFrame
        One row per head: layer, head, key_head, queries, keys, plasticity (`ap_overall`, `ap_drop`, ...), planes, and
        the `reason` for a missing value. `save` writes this table and the other tables of the command `heads`.

    Raises
    ------
    DataError
        When a file of the capture is absent or damaged, or no head has a value.

    Examples
    --------
    >>> import keyquery as kq
    >>> _ = open("more.txt", "w").write("Anna likes Ben . " * 800)
    >>> capture = kq.capture("tiny-rope", "more.txt", context=128, out="heads", heads=2, rate=8, windows=True)
    >>> table = kq.analyse(capture)
    >>> table[["layer", "head", "ap_overall", "ap_drop", "reason"]].shape
    (2, 5)
    """
    from keyquery.measure.bar import open_bar
    from keyquery.measure.heads.analysis import analyse_heads, refuse_empty, tables_of_heads
    from keyquery.saved import with_origin

    estimator = estimator or ("bucket_full" if capture.rotations is None else "aligned_full")
    options = PlasticityOptions(estimator=estimator, pairs=pairs, bins=bins, min_queries=min_queries, cap=cap)
    root = project_or_none()
    with temporary() as folder, open_bar("heads") as progress:
        cache = root / "out/heads" if root else folder
        findings, _ = analyse_heads(capture, options, cache, jobs, progress)
    refuse_empty(capture, findings, options)
    tables, manifest, name = tables_of_heads(capture, findings, options)
    return with_origin("head_metrics", tables, manifest, name)
