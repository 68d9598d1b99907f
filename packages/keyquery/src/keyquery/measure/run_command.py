"""Execute the command `run`: check the names given, then import heavy libraries and run."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from boundpaper.errors import SpecError
from boundpaper.suggestions import suggest
from keyquery.measure.choices import POSITIONS, declared_value, every_experiment, experiments_for_all

ANCHORING = "anchoring"
CONTEXT = "context_length"
AS_IS = POSITIONS[0]
SINGLE_MODEL_OPTIONS = ("revision", "load_as", "scaling", "bos")  # options that are invalid together with `--against`


def run_command(root: Path, names: Sequence[str], **values: Any) -> list[str]:
    """Execute the command `run` with its options; return the paths of the tables, relative to the project.

    Raises SpecError if a name or a combination of options is invalid, and ThesisError as `keyquery.measure.run.run`
    does.
    """
    recipe = values.pop("recipe")
    if recipe is not None:
        from keyquery.measure.recipes import load_recipe, run_recipe

        if names or values["model"] or values["everything"]:
            raise SpecError("a recipe names models and experiments: give no --model, --against, --all or experiment")
        return run_recipe(
            root,
            load_recipe(recipe),
            again=values["again"],
            replace=values["replace"],
            device=values["device"],
            anyway=values["anyway"],
            trusted=values["trust_remote_code"],
        )
    everything, model, against = values["everything"], values["model"], values["against"]
    experiments = choose_experiments(names, everything)
    refusing = [name for name in experiments if name not in names and declared_value(name, "REFUSES_TEXTS")]
    if everything and values["texts_from"] and refusing:
        experiments = tuple(name for name in experiments if name not in refusing)
        print(f"skipped {', '.join(refusing)}: generated texts are needed, not --texts", file=sys.stderr)
    if not values["items"] and (unscored := [name for name in experiments if declared_value(name, "NEEDS_ITEMS")]):
        if requested := [name for name in unscored if name in names]:
            raise SpecError(f"--items 0: {requested[0]} measures only answers to items; give --items 1 or more")
        experiments = tuple(name for name in experiments if name not in unscored)
        print(f"skipped {', '.join(unscored)}: with --items 0 there is nothing to measure", file=sys.stderr)
    if not model:
        raise SpecError("no model given; give --model tiny-rope, a local folder or a Hub id")
    models = (model, *against)
    ids_and_revisions = [_split_revision(model) for model in models]
    single_options = [name for name in SINGLE_MODEL_OPTIONS if values[name]]
    single_options += ["position"] * (values["position"] != AS_IS)
    if against and single_options:
        raise SpecError(
            f"--{single_options[0].replace('_', '-')} is for loading a single model, but several are named: "
            + ("write MODEL@REVISION" if single_options[0] == "revision" else "set it for each model in a --recipe")
        )
    if values["revision"] and ids_and_revisions[0][1]:
        raise SpecError(f"--model {model} names a revision itself; leave out --revision {values['revision']}")
    if repeated_model := next((model for i, model in enumerate(models) if model in models[:i]), None):
        raise SpecError(f"--against {repeated_model}: this model is already named; give another, or leave it out")
    from keyquery.measure.recipes import longest_prompt, memory_line, text_length
    from keyquery.measure.run import run
    from keyquery.measure.subject import Options
    from keyquery.models.checkpoints.loading import ModelSource

    common = ("dtype", "quantize", "device", "trust_remote_code", "position", "load_as", "scaling", "bos")
    sources = [
        ModelSource(model_id, revision or values["revision"], **{name: values[name] for name in common})
        for model_id, revision in ids_and_revisions
    ]
    options = Options(**{name: values[name] for name in ("texts", "tokens", "items", "seeds", "texts_from")})
    options.require_texts()
    if values["executor"] == "local":  # on other machines, this machine's memory is irrelevant
        for source in sources:
            scored_tokens = text_length(root, source, options)
            longest = max(scored_tokens, longest_prompt(root, source)) if CONTEXT in experiments else scored_tokens
            print(memory_line(root, source, longest, scored_tokens, anyway=values["anyway"]), file=sys.stderr)
    settings = {ANCHORING: {name: values[name] for name in ("data", "data_file")}} if ANCHORING in experiments else {}
    return run(
        root,
        experiments,
        sources,
        options=options,
        settings=settings,
        **{name: values[name] for name in ("name", "again", "replace", "anyway", "executor", "resources")},
    )


def _split_revision(model: str) -> tuple[str, str | None]:
    """Split MODEL@REVISION into a model and its revision; a path that exists is not split.

    Raises SpecError when either side of the @ is empty.
    """
    name, at, revision = model.rpartition("@")
    if not at or Path(model).exists():
        return model, None
    if not name or not revision:
        raise SpecError(f"{model!r}: write MODEL@REVISION, or leave the @ out")
    return name, revision


def choose_experiments(names: Sequence[str], everything: bool) -> tuple[str, ...]:
    """Return the experiments to run: those named, then with `everything` those of `--all`.

    Raises SpecError when a name is unknown, or no experiment is requested.
    """
    known_names = every_experiment()
    for name in names:
        if name not in known_names:
            raise SpecError(
                f"no experiment {name!r}; {suggest(name, known_names)}the experiments are: {', '.join(known_names)}"
            )
    if not everything and not names:
        raise SpecError(f"name an experiment, or give --all; experiments: {', '.join(known_names)}")
    selected_names = dict.fromkeys((*names, *experiments_for_all()) if everything else names)
    return tuple(name for name in selected_names if name in known_names)
