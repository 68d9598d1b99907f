"""Declare the commands that train and measure the population; heavy imports happen when they run."""

from pathlib import Path
from typing import Any

import click

from analysis.population.recipe import ARMS, BASES, TUNING
from keyquery.measure.loading_options import add_job_options

FOLDER = click.Path(file_okay=False, path_type=Path)
LETTERS = "; ".join(f"{arm}: {text}" for arm, text in ARMS.items())


@click.command()
@click.option(
    "--seed",
    "seeds",
    type=click.IntRange(0),
    multiple=True,
    help="Seed for weights and documents; may be repeated [1 to 8].",
)
@click.option(
    "--base",
    "bases",
    type=click.Choice([str(base) for base in BASES]),
    multiple=True,
    help="Base of the rotation; may be repeated [both].",
)
@click.option("--arm", "arms", type=click.Choice(tuple(ARMS)), multiple=True, help=f"{LETTERS}. May be repeated [all].")
@click.option("--again", is_flag=True, help="Measure again models that already have rows, and replace those rows.")
@click.option(
    "--compare", is_flag=True, help="Measure again without writing, and print the difference from the stored rows."
)
@click.option(
    "--export",
    is_flag=True,
    help="Write A, B and C of seed 1 and base 400 to packages/keyquery/src/keyquery/tiny, and measure nothing.",
)
@click.option(
    "--pack", type=FOLDER, help="Write weights, cards and checksums of the models to FOLDER instead of measuring."
)
@click.option("--weights", type=FOLDER, help="Do not train; measure the models in a FOLDER that --pack wrote.")
@click.option(
    "--jobs", type=click.IntRange(1), default=1, show_default=True, help="Number of processes, each with one thread."
)
@add_job_options
@click.pass_obj
def population(obj: dict[str, Any], /, seeds: tuple[int, ...], export: bool, **asked: Any) -> None:
    """Train and measure all unmeasured models of the population; a rerun resumes a stopped run.

    Without options: every model of the plan, in the plan's order.
    """
    if wrong := sorted(set(seeds) & set(TUNING)):
        raise click.UsageError(
            f"--seed {wrong[0]}: the recipe was chosen on this seed, so it is not reported; give another"
        )
    primary = str(BASES[0])
    if "E" in asked["arms"] and asked["bases"] and primary not in asked["bases"]:
        raise click.UsageError(f"--arm E has no base and is trained beside base {primary}; ask for it by itself")
    if sum((export, asked["pack"] is not None, asked["compare"])) > 1:
        raise click.UsageError("--export, --pack and --compare exclude each other; give one of them")
    if asked["weights"] is not None and (export or asked["pack"] is not None):
        raise click.UsageError("--weights is for measuring; --export and --pack write models that were trained here")
    if export:
        if seeds or asked["bases"] or asked["arms"]:
            raise click.UsageError("--export writes the three subjects that ship; leave --seed, --base and --arm out")
        from analysis.population.export import export_subjects as write

        click.echo("\n".join(str(path.relative_to(obj["root"])) for path in write(obj["root"])))
        return
    from analysis.population.command import run

    click.echo("\n".join(run(obj["root"], seeds=seeds, **asked)))


@click.command()
@click.option("--pretrained", is_flag=True, help="Measure SmolLM2 and Gemma in bins of 64 to 1,024 tokens instead.")
@click.option("--exchange", is_flag=True, help="Exchange keys' positions in them and in distilled students instead.")
@click.pass_obj
def widths(obj: dict[str, Any], /, pretrained: bool, exchange: bool) -> None:
    """Measure plasticity in bins of 1 to 64 words, for shipped models and networks with random weights."""
    if pretrained and exchange:
        raise click.UsageError("--pretrained and --exchange exclude each other; give one of them")
    if pretrained:
        from analysis.population.pretrained_widths import measure as measure_widths
    elif exchange:
        from analysis.population.pretrained_exchange import measure as measure_widths
    else:
        from analysis.population.widths import measure_widths

    click.echo("\n".join(str(path.relative_to(obj["root"])) for path in measure_widths(obj["root"])))
