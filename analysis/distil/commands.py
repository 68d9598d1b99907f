"""Declare the command that distils; heavy imports happen when it runs."""

from typing import Any

import click

from analysis.distil.recipe import ARMS, RECIPES


@click.command()
@click.option(
    "--model",
    default="smollm2-135m",
    show_default=True,
    help="Teacher: the name of a packaged model, a GGUF file or a folder.",
)
@click.option(
    "--arm",
    "arms",
    type=click.Choice(tuple(ARMS)),
    multiple=True,
    help="Arm to train: the model without rotation, or the control; may be repeated [both].",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed for the order of the texts.")
@click.option("--recipe", "name", type=click.Choice(tuple(RECIPES)), default="short", show_default=True)
@click.option("--steps", type=click.IntRange(1), help="Step of the recipe at which both arms stop [its last step].")
@click.pass_obj
def distil(obj: dict[str, Any], /, **options: Any) -> None:
    """Distil a rotary model into one without rotation and a control that keeps it; a rerun resumes a stopped run."""
    from boundpaper.errors import SpecError

    try:
        from analysis.distil.command import run

        paths = run(obj["root"], **options)
    except SpecError as error:
        raise click.UsageError(str(error), click.get_current_context()) from None
    click.echo("\n".join(str(path) for path in paths))
