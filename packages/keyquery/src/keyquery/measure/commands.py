"""The commands that measure models; their libraries are imported when one runs, so that `--help` needs none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from keyquery.measure.choices import (
    BY_NAME,
    ESTIMATORS,
    EXECUTORS,
    EXPERIMENTS,
    PAIRS,
    POSITIONS,
    SEPARATIONS,
    STATEMENTS,
)
from keyquery.measure.loading_options import loading


class Whole(click.ParamType[tuple[int, ...]]):
    """Whole numbers with commas between: `0,1,2`."""

    name = "numbers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Read them; a usage error says which is none."""
        if isinstance(value, tuple):
            return value
        words = str(value).split(",")
        if not all(word.strip().isdecimal() for word in words):
            self.fail(f"{value!r} is not whole numbers with commas between, such as 0,1,2", param, ctx)
        return tuple(dict.fromkeys(int(word) for word in words))


@click.command()
@click.option("--model", required=True, metavar="NAME_OR_ID", help="A known name, a folder, a GGUF file, or a Hub id.")
@click.option(
    "--texts",
    required=True,
    metavar="FILE_OR_ID",
    help="A file (text, JSON, JSON lines, a table), a folder, an installed set, or a Hub id.",
)
@click.option("--context", type=click.IntRange(1), required=True, help="Tokens of a document.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="The capture's folder.")
@click.option("--heads", type=click.IntRange(1), default=300, show_default=True, help="Heads to draw.")
@click.option("--buckets", type=click.IntRange(1), default=16, show_default=True, help="Equal parts of the context.")
@click.option("--rate", type=float, default=1.0, show_default=True, help="Tokens kept a bucket, document and side.")
@click.option("--documents", "limit", type=click.IntRange(1), help="Documents to take [all].")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the draw of tokens.")
@click.option("--field", default="text", show_default=True, help="The field that holds the text.")
@click.option("--split", default="train", show_default=True, help="The split of a Hub data set.")
@loading
@click.option("--pre-rope", is_flag=True, help="Vectors before the rotary embedding.")
@click.option("--sliding", is_flag=True, help="Draw from sliding-window layers as well.")
@click.option("--windows", is_flag=True, help="Cut long texts into consecutive documents.")
@click.option("--fewer", is_flag=True, help="Go on where texts give fewer documents than asked.")
@click.option("--skip-short", is_flag=True, help="Pass over texts that are shorter than the context.")
@click.option("--executor", type=click.Choice(EXECUTORS), default="local", show_default=True)
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Jobs, a share of documents each.")
@click.option("--partition", help="Slurm's partition; account and QOS by SBATCH_ACCOUNT, SBATCH_QOS.")
@click.option("--minutes", type=click.IntRange(1), help="Slurm's time limit of a job.")
@click.option("--gpus", type=click.IntRange(0), help="GPUs of a job.")
@click.option("--memory", type=float, help="Slurm's memory limit of a job in GiB.")
@click.option("--publish", metavar="OWNER/NAME", help="Say what would be sent to this data set of the Hub.")
@click.option("--send", is_flag=True, help="With --publish: send it; a new data set is private.")
@click.pass_obj
def capture(obj: dict[str, Any], /, publish: str | None, send: bool, **asked: Any) -> None:
    """Capture queries and keys of a model over texts; goes on where it was stopped."""
    from keyquery.measure.capture import run

    if send and not publish:
        raise click.UsageError("--send needs --publish OWNER/NAME")
    if publish and publish.count("/") != 1:
        raise click.UsageError(f"--publish: {publish!r} is no data set of the Hub; write OWNER/NAME")
    click.echo(run(obj["root"], **asked))
    if publish:
        from keyquery.models.captures import hub

        click.echo("\n".join(hub.upload_lines(asked["out"], publish)))
        click.echo(hub.send(asked["out"], publish) if send else "nothing was sent; --send sends it", err=not send)


@click.command()
@click.argument("place", metavar="CAPTURE")
@click.option(
    "--estimator",
    type=click.Choice(ESTIMATORS),
    help="Of queries by bin [aligned_full; bucket_full where nothing says how positions turn queries].",
)
@click.option("--pairs", type=click.Choice(PAIRS), default="earlier", show_default=True, help="Keys that compete.")
@click.option("--bins", type=click.IntRange(1), help="Query bins over the context [the capture's buckets].")
@click.option("--min-queries", type=click.IntRange(2), default=30, show_default=True, help="Fewer leave a bin out.")
@click.option("--context", type=click.IntRange(1), help="Tokens of a document, for a capture without a manifest.")
@click.option("--branch", help="Branch of a capture on the Hub.")
@click.option("--group", type=click.IntRange(1), help="Query heads a key head, for a capture without a manifest.")
@click.option(
    "--rotation",
    type=click.Path(exists=True, path_type=Path),
    help="How positions turn vectors, where the capture does not say: a statement, or a config.json.",
)
@click.option("--name", "--out", "name", help="Name of the model among the measurements [from the capture].")
@click.option("--replace", is_flag=True, help="Overwrite measurements of this name that are of another capture.")
@click.option("--halves", is_flag=True, help="Halves of the documents apart as well: the noise of a capture.")
@click.option("--sample", type=click.IntRange(2), metavar="N", help="Draw so many pairs a bin [all pairs].")
@click.option("--separation", type=click.Choice(SEPARATIONS), default=SEPARATIONS[0], show_default=True)
@click.option("-j", "--jobs", type=click.IntRange(1), help="Processes [number of cores], or jobs [of eight heads].")
@click.option("--executor", type=click.Choice(EXECUTORS), default="local", show_default=True)
@click.option("--partition", help="Slurm's partition; account and QOS by SBATCH_ACCOUNT, SBATCH_QOS.")
@click.option("--minutes", type=click.IntRange(1), help="Slurm's time limit of a job.")
@click.option("--memory", type=float, help="Slurm's memory limit of a job in GiB.")
@click.pass_obj
def heads(obj: dict[str, Any], /, place: str, **asked: Any) -> None:
    """Analyse every head of a CAPTURE into measurements.

    CAPTURE is a folder or the Hub id of a published one.
    """
    from keyquery.models.libraries import need

    need("numba", "to analyse heads")
    from keyquery.measure.heads.analysis import run

    click.echo("\n".join(run(obj["root"], place, **asked)))


@click.command(epilog="Experiments: " + ", ".join((*EXPERIMENTS, *BY_NAME)) + ".")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--all", "everything", is_flag=True, help="Every experiment but those that run by name only.")
@click.option(
    "--model", metavar="NAME_OR_ID", help="A known name such as tiny-rope, a folder, a GGUF file, or a Hub id."
)
@click.option("--against", metavar="NAME_OR_ID", help="A second model, asked the very same items.")
@click.option("--recipe", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A file that says it all.")
@loading
@click.option("--seeds", type=Whole(), default="0", show_default=True, help="Of items and texts, with commas between.")
@click.option("--texts", "place", metavar="FILE_OR_ID", help="Texts in place of those written here.")
@click.option("--documents", "texts", type=click.IntRange(1), default=10, show_default=True, help="Texts a seed.")
@click.option("--tokens", type=click.IntRange(8), help="Tokens of a text [the training length, at most 2,048].")
@click.option(
    "--items", type=click.IntRange(0), default=100, show_default=True, help="Items of a task and seed; 0: losses alone."
)
@click.option("--data", type=click.Choice(STATEMENTS), default="planted", show_default=True, help="Of anchoring.")
@click.option("--data-file", type=click.Path(exists=True, path_type=Path), help="A local copy of that data.")
@click.option("--name", help="Name of the measurements [from the model and how it is loaded].")
@click.option("--position", type=click.Choice(POSITIONS), default=POSITIONS[0], show_default=True)
@click.option("--load-as", metavar="TYPE", help="Load a class of its own as this plain one, such as llama.")
@click.option("--scaling", type=float, help="Factor on q.k, where a checkpoint's configuration sets its own.")
@click.option("--bos", is_flag=True, help="Put the beginning token in front of texts, where the tokenizer does not.")
@click.option("--anyway", is_flag=True, help="Load also what the estimate says cannot fit in memory.")
@click.option("--again", is_flag=True, help="Measure also what was measured with this code and these options.")
@click.option("--replace", is_flag=True, help="Overwrite measurements of this name that are of something else.")
@click.option("--executor", type=click.Choice(EXECUTORS), default="local", show_default=True)
@click.option("--partition", help="Slurm's partition; account and QOS by SBATCH_ACCOUNT, SBATCH_QOS.")
@click.option("--minutes", type=click.IntRange(1), help="Slurm's time limit of a job.")
@click.option("--gpus", type=click.IntRange(0), help="GPUs of a job.")
@click.option("--memory", type=float, help="Slurm's memory limit of a job in GiB.")
@click.pass_obj
def run(obj: dict[str, Any], /, names: tuple[str, ...], **asked: Any) -> None:
    """Run experiments on a model, or a pair, into measurements; goes on where it was stopped."""
    from boundpaper.errors import SpecError

    try:
        from keyquery.measure.ask import ask

        paths = ask(obj["root"], names, **asked)
    except SpecError as error:
        raise click.UsageError(str(error), click.get_current_context()) from None
    click.echo("\n".join(paths))
