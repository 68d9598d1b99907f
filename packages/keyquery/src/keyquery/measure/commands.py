"""Commands that measure models; heavy imports happen when a command runs, so that `--help` is fast."""

import re
from pathlib import Path
from typing import Any

import click

from keyquery.measure.choices import BY_NAME, ESTIMATORS, EXPERIMENTS, PAIRS, PARTS, POSITIONS, SEPARATIONS, STATEMENTS
from keyquery.measure.loading_options import add_job_options, add_loading_options, jobs_without_gpus, model_option


class Integers(click.ParamType[tuple[int, ...]]):
    """Whole numbers separated by commas: `0,1,2`."""

    name = "numbers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Return the numbers; raise a usage error if the value is not a list of whole numbers."""
        if isinstance(value, tuple):
            return value
        words = str(value).split(",")
        if not all(word.strip().isdecimal() for word in words):
            self.fail(f"{value!r} is not a list of whole numbers such as 0,1,2", param, ctx)
        return tuple(dict.fromkeys(int(word) for word in words))


json_option = click.option("--json", "json_output", is_flag=True, help="Print files and summary as JSON.")


def _print_results(root: Path, paths: list[str], json_output: bool) -> None:
    """Print the paths of the written tables, and their summary on standard error; or print both as JSON."""
    from keyquery.measure.summary import as_json, summary_of_files, summary_text

    summary = summary_of_files(root / path for path in paths)
    click.echo(as_json(paths, summary) if json_output else "\n".join(paths))
    if not json_output:
        click.echo(summary_text(summary), err=True)


class Heads(click.ParamType[Any]):
    """The heads to capture: a number, `all`, or a list such as `5.12,7.0` (head 12 of layer 5, head 0 of layer 7)."""

    name = "heads"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number of heads, None for `all`, or (layer, head) pairs; raise a usage error for other values."""
        if not isinstance(value, str):
            return value
        words = [word.strip() for word in value.split(",")]
        if value == "all":
            return None
        if value.isdecimal() and int(value) > 0:
            return int(value)
        if not all(re.fullmatch(r"\d+\.\d+", word) for word in words):
            self.fail(f"{value!r}: give a number above 0, `all`, or heads such as 5.12,7.0", param, ctx)
        return tuple((int(layer), int(head)) for layer, _, head in (word.partition(".") for word in words))


class Names(click.ParamType[tuple[str, ...]]):
    """Words from a fixed set, separated by commas."""

    name = "names"

    def __init__(self, known_names: tuple[str, ...]) -> None:
        self._known = known_names

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Return the names; raise a usage error if a word is not a known name."""
        words = value if isinstance(value, tuple) else tuple(word.strip() for word in str(value).split(","))
        for word in words:
            if word not in self._known:
                self.fail(f"{word!r} is not one of {', '.join(self._known)}", param, ctx)
        return words


@click.command()
@model_option
@click.option(
    "--texts",
    required=True,
    metavar="FILE_OR_ID",
    help="Texts: a file (text, JSON, JSON lines, a table), a folder, an installed set, or a Hub id.",
)
@click.option("--context", type=click.IntRange(1), required=True, help="Number of tokens to read of each document.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="Folder to write to.")
@click.option(
    "--heads", type=Heads(), default="300", show_default=True, help="Number of heads, `all`, or which heads: 5.12,7.0."
)
@click.option(
    "--layers", "only_layers", type=Integers(), default=(), metavar="0,1", help="Layers to draw heads from [all]."
)
@click.option(
    "--parts", type=Names(PARTS), default=(), metavar="NAMES", help=f"Further vectors to keep: {', '.join(PARTS)}."
)
@click.option("--batch", type=click.IntRange(1), default=1, show_default=True, help="Documents per forward pass.")
@click.option("--stream", is_flag=True, help="Read weights from disk in every pass, for a model larger than memory.")
@click.option("--buckets", type=click.IntRange(1), default=16, show_default=True, help="Equal parts of each document.")
@click.option(
    "--rate", type=float, default=1.0, show_default=True, help="Mean number of queries and of keys kept per bucket."
)
@click.option("--documents", "limit", type=click.IntRange(1), help="Number of documents to take [all].")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed for drawing tokens.")
@click.option("--field", default="text", show_default=True, help="Name of the field that holds the text.")
@click.option("--split", default="train", show_default=True, help="Split of a Hub data set.")
@add_loading_options
@click.option("--pre-rope", is_flag=True, help="Capture vectors before the rotary embedding is applied.")
@click.option("--sliding", is_flag=True, help="Also draw heads of layers with a sliding window.")
@click.option("--windows", is_flag=True, help="Cut long texts into consecutive documents.")
@click.option("--anyway", is_flag=True, help="Load even if the estimate says that it cannot fit in memory.")
@click.option("--fewer", is_flag=True, help="Accept fewer documents than were asked for.")
@click.option("--skip-short", is_flag=True, help="Skip texts that are shorter than the context.")
@click.option("--keep-short", is_flag=True, help="Capture texts that are shorter than the context as they are.")
@add_job_options
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Number of jobs to share the work.")
@click.option("--publish", metavar="OWNER/NAME", help="Print what would be sent to this data set on the Hub.")
@click.option("--send", is_flag=True, help="Upload what --publish lists; new data sets are private.")
@click.pass_obj
def capture(obj: dict[str, Any], /, publish: str | None, send: bool, **options: Any) -> None:
    """Capture queries and keys of a model over texts; a rerun resumes a stopped capture."""
    from keyquery.measure.capture import run

    if send and not publish:
        raise click.UsageError("--send needs --publish OWNER/NAME")
    if publish and publish.count("/") != 1:
        raise click.UsageError(f"--publish: {publish!r} is no name of a Hub data set; write OWNER/NAME")
    click.echo(run(obj["root"] or Path.cwd(), **options))
    if publish:
        from keyquery.models.captures import hub

        click.echo("\n".join(hub.upload_lines(options["out"], publish)))
        click.echo(hub.send(options["out"], publish) if send else "nothing was sent; --send sends it", err=not send)


@click.command()
@click.argument("path_or_id", metavar="CAPTURE")
@click.option(
    "--estimator",
    type=click.Choice(ESTIMATORS),
    help="Estimator of plasticity [aligned_full; bucket_full if the capture does not record its rotation].",
)
@click.option("--pairs", type=click.Choice(PAIRS), default="earlier", show_default=True, help="Which keys are paired.")
@click.option("--bins", type=click.IntRange(1), help="Number of query bins over the context [the capture's buckets].")
@click.option(
    "--min-queries", type=click.IntRange(2), default=30, show_default=True, help="Smallest number of queries in a bin."
)
@click.option("--context", type=click.IntRange(1), help="Tokens of each document, if the capture has no manifest.")
@click.option("--branch", help="Branch of the capture on the Hub.")
@click.option("--group", type=click.IntRange(1), help="Query heads per key head, if the capture has no manifest.")
@click.option(
    "--rotation",
    type=click.Path(exists=True, path_type=Path),
    help="File that states the rotation if the capture does not: YAML, JSON or the model's config.json.",
)
@click.option("--name", "--out", "name", help="Name for the model's measurements [from the capture].")
@click.option("--replace", is_flag=True, help="Overwrite measurements of another capture that have this name.")
@click.option("--halves", is_flag=True, help="Also analyse halves of the documents, which shows the noise.")
@click.option("--sample", type=click.IntRange(2), metavar="N", help="Pairs of keys to draw per bin [all pairs].")
@click.option("--separation", type=click.Choice(SEPARATIONS), default=SEPARATIONS[0], show_default=True)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1),
    help="Number of processes [number of cores], or of Slurm jobs [one for every eight heads].",
)
@jobs_without_gpus
@json_option
@click.pass_obj
def heads(obj: dict[str, Any], /, path_or_id: str, json_output: bool, **options: Any) -> None:
    """Analyse every head of a CAPTURE, and write measurements.

    CAPTURE is a folder or the Hub id of a published one.
    """
    from keyquery.models.libraries import need

    need("numba", "to analyse heads")
    from keyquery.measure.heads.analysis import run

    root = obj["root"] or Path.cwd()
    _print_results(root, run(root, path_or_id, **options), json_output)


@click.command(epilog="Experiments: " + ", ".join((*EXPERIMENTS, *BY_NAME)) + ".")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--all", "everything", is_flag=True, help="Run every experiment except those that must be named.")
@click.option(
    "--model", metavar="NAME_OR_ID", help="Model: a known name (tiny-rope), folder, GGUF file or Hub id (ID@REVISION)."
)
@click.option(
    "--against", multiple=True, metavar="NAME_OR_ID", help="Model to measure on the same items; may be repeated."
)
@click.option(
    "--recipe",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="YAML file that names models, experiments and settings.",
)
@add_loading_options
@click.option("--seeds", type=Integers(), default="0", show_default=True, help="Seeds of items and texts: 0,1,2.")
@click.option("--texts", "texts_from", metavar="FILE_OR_ID", help="Texts to use instead of generated ones.")
@click.option("--documents", "texts", type=click.IntRange(1), default=10, show_default=True, help="Texts per seed.")
@click.option("--tokens", type=click.IntRange(8), help="Tokens per text [the training length, at most 2,048].")
@click.option(
    "--items",
    type=click.IntRange(0),
    default=100,
    show_default=True,
    help="Number of items per task and seed; 0 measures only losses.",
)
@click.option(
    "--data",
    type=click.Choice(STATEMENTS),
    default="planted",
    show_default=True,
    help="Statements for the experiment `anchoring`.",
)
@click.option("--data-file", type=click.Path(exists=True, path_type=Path), help="Local copy of the data set of --data.")
@click.option("--name", help="Name for the measurements [from the model and how it is loaded].")
@click.option(
    "--position", type=click.Choice(POSITIONS), default=POSITIONS[0], show_default=True, help="Position encoding."
)
@click.option("--load-as", metavar="TYPE", help="Load a model with code of its own as this known class, such as llama.")
@click.option("--scaling", type=float, help="Factor on q.k, if the checkpoint's configuration sets one of its own.")
@click.option("--bos", is_flag=True, help="Put the beginning token before each text, if the tokenizer does not.")
@click.option(
    "--anyway", is_flag=True, help="Go on even if the estimate exceeds the memory, or texts are far too long."
)
@click.option("--again", is_flag=True, help="Measure again what was already measured with this code and these options.")
@click.option("--replace", is_flag=True, help="Overwrite other measurements that have this name.")
@add_job_options
@json_option
@click.pass_obj
def run(obj: dict[str, Any], /, names: tuple[str, ...], json_output: bool, **options: Any) -> None:
    """Run experiments on one or more models, and write measurements; a rerun resumes a stopped run.

    Outside of a paper, measurements are written below the working directory.
    """
    from boundpaper.errors import SpecError
    from keyquery.measure.not_measured import NotAllMeasured

    root = obj["root"] or Path.cwd()
    try:
        from keyquery.measure.run_command import run_command

        paths = run_command(root, names, **options)
    except SpecError as error:
        raise click.UsageError(str(error), click.get_current_context()) from None
    except NotAllMeasured as error:
        if error.paths:
            _print_results(root, [path.relative_to(root).as_posix() for path in error.paths], json_output)
        raise
    _print_results(root, paths, json_output)
