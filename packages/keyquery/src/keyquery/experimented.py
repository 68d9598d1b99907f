"""Run experiments from Python; they return tidy rows and write nothing."""

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
    place: str | None = None,
    anyway: bool = False,
    **settings: object,
) -> pd.DataFrame:
    """Run an experiment on a model.

    Parameters
    ----------
    name : str
        One of `experiments()`.
    model : Model or str
        A model that is loaded, or what `load` takes.
    texts, tokens, items, seeds, place
        How much is asked: texts a seed, tokens of a text, items of a task and seed, seeds, and where texts come from;
        see `keyquery.measure.subject.Options`.
    anyway : bool
        Measure texts that are more than four times as long as the model was made for. Those that are longer, but not
        as much, are measured, and a line on standard error tells.
    **settings
        Further options of the experiment.

    Returns
    -------
    DataFrame
        One row per number: positional, precision, condition, layer, head, unit_id, seed, metric, value, n, reason.
        `save` writes it into a paper.

    Raises
    ------
    SpecError
        When the experiment, or an option of it, is unknown.
    DataError, ModelError
        When it cannot be made of this model, or texts are too long for it.

    Examples
    --------
    >>> import keyquery as kq
    >>> rows = kq.run("sinks", "tiny-rope", texts=2, items=0)
    >>> rows.query("metric == 'sink_rate'").columns.tolist()[2:9]
    ['condition', 'layer', 'head', 'unit_id', 'seed', 'metric', 'value']
    """
    from keyquery.measure.choices import every_experiment, settings_of
    from keyquery.measure.preflight import length_made_for, note_if_too_long, require_positions, unwritable_experiments
    from keyquery.measure.rows import frame
    from keyquery.measure.run import RunPlan, enough_memory, experiment, file_name, manifest_of
    from keyquery.measure.subject import Options, resolve_source
    from keyquery.saved import made

    if name not in every_experiment():
        raise SpecError(f"no experiment {name!r}{or_known(name, every_experiment())}")
    module = experiment(name)
    if hasattr(module, "write"):
        raise SpecError(f"{name} analyses captures into tables of its own: use capture() and analyse()")
    require(settings, mapping(settings_of(name)), name, SpecError)
    opened = load(model) if isinstance(model, str) else model
    options = Options(texts=texts, tokens=tokens, items=items, seeds=tuple(seeds), place=place)
    subject = opened.subject
    _, card = resolve_source(Path.cwd(), subject.source or opened.source)
    longest = length_made_for(subject.model.config, int(card.get("training_length") or 0))
    try:
        note = note_if_too_long(subject.name, tokens, longest, anyway=anyway)
        require_positions(subject.name, subject.model, tokens)
    except ModelError as error:  # it is written for the command line
        raise ModelError(str(error).replace("--tokens ", "tokens=").replace("--anyway", "anyway=True")) from None
    if note:
        print(note, file=sys.stderr)
    asked = (subject.book, options, subject.training_length, (name,))
    if foreseen := unwritable_experiments(subject.name, subject.tokenizer, *asked):
        raise foreseen[name]
    subject.used.clear()
    start = time.monotonic()
    with enough_memory(name, subject):
        rows = module.measure(subject, options, **settings)
    if not rows:
        raise DataError(f"{name} of {subject.name}: the experiment gave no row")
    plan = RunPlan(root=Path.cwd(), source=opened.source, experiments=(name,), options=options)
    manifest = manifest_of(plan, subject, module, settings, time.monotonic() - start)
    tables = {name: frame(rows, subject.positional, subject.precision)}
    return made(name, tables, manifest, file_name(subject, module, settings))
