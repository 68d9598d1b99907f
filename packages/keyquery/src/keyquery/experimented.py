"""Run experiments from Python. They return tidy rows and write no files."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from boundpaper.errors import DataError, ModelError, SpecError
from boundpaper.store.rules import mapping, require
from boundpaper.suggestions import or_known
from keyquery.opened import Model, load

if TYPE_CHECKING:
    import pandas as pd


def run(
    name: str,
    model: Model | str,
    *,
    texts: int = 10,
    tokens: int | None = None,
    items: int = 100,
    seeds: Sequence[int] = (0,),
    texts_from: str | None = None,
    anyway: bool = False,
    **settings: object,
) -> pd.DataFrame:
    """Run an experiment on a model.

    Parameters
    ----------
    name : str
        One of `experiments()`.
    model : Model or str
        A loaded model, or any name or folder that `load` accepts.
    texts, tokens, items, seeds, texts_from
        Numbers of texts per seed, of tokens per text, and of items per task and seed; the seeds; and the source of the
        texts. See `keyquery.measure.subject.Options`.
    anyway : bool
        Also measure texts more than four times as long as the model's context. Texts that exceed the context by less
        are always measured, with a warning on standard error.
    **settings
        Options of the experiment itself.

    Returns
    -------
    DataFrame
        One row per value: positional, precision, condition, layer, head, unit_id, seed, metric, value, n, reason.
        `save` writes it into a paper.

    Raises
    ------
    SpecError
        If the experiment or one of its options is unknown.
    DataError, ModelError
        If the experiment cannot be run on this model, or the texts are too long for it.

    Examples
    --------
    >>> import keyquery as kq
    >>> rows = kq.run("sinks", "tiny-rope", texts=2, items=0)
    >>> rows.query("metric == 'sink_rate'").columns.tolist()[2:9]
    ['condition', 'layer', 'head', 'unit_id', 'seed', 'metric', 'value']
    """
    from keyquery.measure.choices import every_experiment, settings_of
    from keyquery.measure.preflight import intended_length, note_if_too_long, require_positions, unwritable_experiments
    from keyquery.measure.rows import frame
    from keyquery.measure.run import RunPlan, experiment, file_name, manifest_of, memory_errors
    from keyquery.measure.subject import Options, resolve_source
    from keyquery.saved import with_origin

    if name not in every_experiment():
        raise SpecError(f"no experiment {name!r}{or_known(name, every_experiment())}")
    module = experiment(name)
    if hasattr(module, "write"):
        raise SpecError(f"{name} cannot be run from Python; use capture() and analyse()")
    require(settings, mapping(settings_of(name)), name, SpecError)
    options = Options(texts=texts, tokens=tokens, items=items, seeds=tuple(seeds), texts_from=texts_from)
    options.require_texts()
    model = load(model) if isinstance(model, str) else model
    subject = model.subject
    _, card = resolve_source(Path.cwd(), subject.source or model.source)
    limit = intended_length(subject.model.config, int(card.get("training_length") or 0))
    try:
        note = note_if_too_long(subject.name, tokens, limit, anyway=anyway)
        require_positions(subject.name, subject.model, tokens)
    except ModelError as error:  # its message names options of the command line
        raise ModelError(str(error).replace("--tokens ", "tokens=").replace("--anyway", "anyway=True")) from None
    if note:
        print(note, file=sys.stderr)
    run_arguments = (subject.book, options, subject.training_length, (name,))
    if errors := unwritable_experiments(subject.name, subject.tokenizer, *run_arguments):
        raise errors[name]
    subject.used.clear()
    start = time.monotonic()
    with memory_errors(name, subject):
        rows = module.measure(subject, options, **settings)
    if not rows:
        raise DataError(f"{name} of {subject.name}: the experiment gave no row")
    plan = RunPlan(root=Path.cwd(), source=model.source, experiments=(name,), options=options)
    manifest = manifest_of(plan, subject, module, settings, time.monotonic() - start)
    tables = {name: frame(rows, subject.positional, subject.precision)}
    return with_origin(name, tables, manifest, file_name(subject, module, settings))
