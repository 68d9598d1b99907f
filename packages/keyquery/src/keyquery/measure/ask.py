"""Turn command-line options into plans of runs; check names before importing heavy libraries."""

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
OF_ONE = ("revision", "load_as", "scaling", "bos")  # options for loading a single model, like `position`


def ask(root: Path, names: Sequence[str], **asked: Any) -> list[str]:
    """Execute the command `run` with its options; return the paths of the tables, relative to the project.

    Raises SpecError if a name or a combination of options is invalid, and ThesisError as `keyquery.measure.run.run`
    does.
    """
    recipe = asked.pop("recipe")
    if recipe is not None:
        from keyquery.measure.recipes import load_recipe, run_recipe

        if names or asked["model"] or asked["everything"]:
            raise SpecError("a recipe names the models and experiments: leave out --model, --against and experiments")
        return run_recipe(
            root,
            load_recipe(recipe),
            again=asked["again"],
            replace=asked["replace"],
            device=asked["device"],
            anyway=asked["anyway"],
            trusted=asked["trust_remote_code"],
        )
    everything, model, against = asked["everything"], asked["model"], asked["against"]
    chosen = choose_experiments(names, everything)
    if everything and asked["place"] and (own := _without_texts(chosen, names)):
        chosen = tuple(name for name in chosen if name not in own)
        print(f"skipped {', '.join(own)}: with --texts it is left out, since it needs generated texts", file=sys.stderr)
    if not asked["items"] and (alone := [name for name in chosen if declared_value(name, "NEEDS_ITEMS")]):
        if named_ones := [name for name in alone if name in names]:
            raise SpecError(f"--items 0: {named_ones[0]} measures only answers to items; give --items 1 or more")
        chosen = tuple(name for name in chosen if name not in alone)
        print(f"skipped {', '.join(alone)}: with --items 0 there is nothing to measure", file=sys.stderr)
    if not model:
        raise SpecError("no model given; give --model tiny-rope, a local folder or a Hub id")
    models = (model, *against)
    named = [_split_revision(each) for each in models]
    if against and (given := [name for name in OF_ONE if asked[name]] + ["position"] * (asked["position"] != AS_IS)):
        raise SpecError(
            f"--{given[0].replace('_', '-')} is for loading a single model, but several are named: "
            + ("write MODEL@REVISION" if given[0] == "revision" else "give each its own in a --recipe")
        )
    if asked["revision"] and named[0][1]:
        raise SpecError(f"--model {model} names a revision itself; leave out --revision {asked['revision']}")
    if again := next((each for place, each in enumerate(models) if each in models[:place]), None):
        raise SpecError(f"--against {again}: this model is already named; give another, or leave it out")
    from keyquery.measure.recipes import longest_prompt, text_length, weigh
    from keyquery.measure.run import run
    from keyquery.measure.subject import Options
    from keyquery.models.checkpoints.loading import ModelSource

    alike = ("dtype", "quantize", "device", "trust_remote_code", "position", "load_as", "scaling", "bos")
    sources = [
        ModelSource(each, revision or asked["revision"], **{name: asked[name] for name in alike})
        for each, revision in named
    ]
    options = Options(**{name: asked[name] for name in ("texts", "tokens", "items", "seeds", "place")})
    if asked["executor"] == "local":  # on other machines, this machine's memory is irrelevant
        for source in sources:
            scored = text_length(root, source, options)
            longest = max(scored, longest_prompt(root, source)) if CONTEXT in chosen else scored
            print(weigh(root, source, longest, scored, anyway=asked["anyway"]), file=sys.stderr)
    return run(
        root,
        chosen,
        sources,
        options=options,
        settings={ANCHORING: {"data": asked["data"], "data_file": asked["data_file"]}} if ANCHORING in chosen else {},
        **{name: asked[name] for name in ("name", "again", "replace", "anyway", "executor", "resources")},
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


def _without_texts(chosen: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the experiments that ignore `--texts` and were not requested by name."""
    return [name for name in chosen if name not in names and declared_value(name, "REFUSES_TEXTS")]


def choose_experiments(names: Sequence[str], everything: bool) -> tuple[str, ...]:
    """Return the experiments to run, in their listed order.

    Raises SpecError when a name is unknown, or none is given.
    """
    known = every_experiment()
    for name in names:
        if name not in known:
            raise SpecError(f"no experiment {name!r}; {suggest(name, known)}the experiments are: {', '.join(known)}")
    if not everything and not names:
        raise SpecError(f"name an experiment, or give --all; experiments: {', '.join(known)}")
    asked = dict.fromkeys((*names, *experiments_for_all()) if everything else names)
    return tuple(name for name in asked if name in known)
