"""Commands that score models on benchmarks; heavy imports happen when a command runs."""

from pathlib import Path
from typing import Any

import click

from keyquery.measure.loading_options import add_loading_options, model_option
from keyquery.scores.lbp.tasks import DATA, MODES


@click.group()
def bench() -> None:
    """Score a model on a benchmark, from its predictions or by running it."""


@bench.command()
@model_option
@click.option(
    "--predictions",
    multiple=True,
    metavar="FILE...",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Files of JSON lines with id, mode, prediction and, if there are several runs, run.",
)
@click.argument("more_files", nargs=-1, metavar="", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--run", "generate", is_flag=True, help="Let the model answer; a rerun resumes a stopped run.")
@click.option("--data", default=DATA, show_default=True, metavar="PATH_OR_ID", help="Samples: Hub id, file or folder.")
@click.option("--data-name", help="Name of the data set in tables [from --data].")
@click.option("--name", help="Name for the model's measurements [from the model].")
@click.option("--mode", type=click.Choice(MODES), help="Prompt mode [that of the predictions; nonthinking for --run].")
@click.option("--lengths", metavar="8k,16k,...", help="Context lengths to score [all six].")
@click.option("--partial", is_flag=True, help="Score the predictions that exist if some are missing.")
@click.option("--replace", is_flag=True, help="Overwrite other scores that have this name and mode.")
@click.option("--embedder", metavar="FOLDER_OR_ID", help="Embedding model for scoring summaries [only ROUGE-L].")
@click.option("--null-reference", "null", is_flag=True, help="Mark the model as untrained.")
@click.option("--runs", type=click.IntRange(1), default=3, show_default=True, help="Number of answers per sample.")
@click.option("--batch", type=click.IntRange(1), default=1, show_default=True, help="Prompts to run at once.")
@click.option("--limit", type=click.IntRange(2), help="Prompt token limit [120,000 for 128k models, 224,000 for 256k].")
@click.option("--new-tokens", type=click.IntRange(1), help="Token limit of an answer [1024; thinking 8192].")
@click.option("--temperature", type=click.FloatRange(0), help="Temperature of sampling [the model's default, else 1].")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed for sampling.")
@add_loading_options
@click.pass_obj
def lbp(obj: dict[str, Any], /, predictions: tuple[Path, ...], more_files: tuple[Path, ...], **options: Any) -> None:
    """Score a model on LongBench Pro, and write measurements.

    Give prediction files after --predictions, or --run to make them here.
    """
    if more_files and not predictions:
        raise click.UsageError(f"unexpected argument {more_files[0]}; prediction files come after --predictions")
    if bool(predictions) == options["generate"]:
        raise click.UsageError("give either --predictions FILE... or --run")
    from keyquery.scores.lbp.command import run

    click.echo("\n".join(run(obj["root"], predictions=(*predictions, *more_files), **options)))


@bench.command()
@model_option
@click.option(
    "--results",
    multiple=True,
    metavar="FILE...",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Result files of lm-evaluation-harness: results_*.json.",
)
@click.argument("more_files", nargs=-1, metavar="", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--run", "generate", is_flag=True, help="Run the model; a rerun resumes a stopped run.")
@click.option("--tasks", metavar="needles|NAME,...", help="Tasks to run; `needles` needs no download [RULER's 13].")
@click.option("--lengths", metavar="4k,8k,...", help="Input lengths in tokens, including the answer [RULER's six].")
@click.option("--samples", type=click.IntRange(1), default=500, show_default=True, help="Samples per task and length.")
@click.option("--batch", type=click.IntRange(1), default=1, show_default=True, help="Prompts to run at once.")
@click.option("--chat-template", is_flag=True, help="Ask each question as a user turn of the model's chat template.")
@click.option("--harness", metavar="PROGRAM", help="Path of the program lm_eval, if it is in another environment.")
@click.option("--name", help="Name for the model's measurements [from the model].")
@click.option("--partial", is_flag=True, help="Accept results in which some tasks lack lengths.")
@click.option("--replace", is_flag=True, help="Overwrite other scores that have this name.")
@click.option("--null-reference", "null", is_flag=True, help="Mark the model as untrained.")
@click.option("--seed", type=int, default=42, show_default=True, help="Seed for the samples.")
@add_loading_options
@click.pass_obj
def ruler(obj: dict[str, Any], /, results: tuple[Path, ...], more_files: tuple[Path, ...], **options: Any) -> None:
    """Score a model on RULER, or on needles in generated noise, and write measurements.

    Give result files after --results, or --run to make them here.
    """
    if more_files and not results:
        raise click.UsageError(f"unexpected argument {more_files[0]}; result files come after --results")
    if bool(results) == options["generate"]:
        raise click.UsageError("give either --results FILE... or --run")
    from keyquery.scores.ruler.command import run

    click.echo("\n".join(run(obj["root"], results=(*results, *more_files), **options)))
