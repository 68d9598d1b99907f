"""Declare options that several commands share: for loading a model, and for jobs."""

import functools
from collections.abc import Callable
from typing import Any

import click

from keyquery.measure.choices import DTYPES, EXECUTORS, QUANTIZATIONS

model_option = click.option(
    "--model", required=True, metavar="NAME_OR_ID", help="Model: a known name, a folder, a GGUF file or a Hub id."
)
_OPTIONS = (
    click.option(
        "--dtype", type=click.Choice(DTYPES), default="auto", show_default=True, help="Number type of the weights."
    ),
    click.option("--quantize", type=click.Choice(QUANTIZATIONS), help="Quantize the weights with bitsandbytes."),
    click.option("--device", default="auto", show_default=True, help="Device to run on: auto, cpu, cuda, cuda:N, mps."),
    click.option("--revision", help="Branch, tag or commit of the model on the Hub."),
    click.option("--trust-remote-code", is_flag=True, help="Allow code that comes with the checkpoint to run."),
)


def add_loading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for type, quantisation, device, revision and trust to a command, in this order."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


_JOBS = (
    click.option("--executor", type=click.Choice(EXECUTORS), default="local", show_default=True, help="Where to run."),
    click.option("--partition", metavar="NAME", help="Slurm partition for the jobs."),
    click.option("--account", metavar="NAME", help="Slurm account to charge for the jobs."),
    click.option("--qos", metavar="NAME", help="Slurm quality of service for the jobs."),
    click.option("--constraint", metavar="FEATURES", help="Features that a Slurm node must have, such as 'a100|h100'."),
    click.option("--minutes", type=click.IntRange(1), help="Time limit of a Slurm job in minutes."),
    click.option("--cpus", type=click.IntRange(1), help="Number of processor cores for each job."),
    click.option("--gpus", type=click.IntRange(0), help="Number of GPUs for each job."),
    click.option("--memory", type=float, help="Memory limit of a Slurm job in GiB."),
    click.option(
        "--setup", multiple=True, metavar="LINE", help="Shell line to run before each Slurm job; may be repeated."
    ),
    click.option("--at-once", type=click.IntRange(1), help="Maximal number of concurrent Slurm jobs [no limit]."),
)
_RESOURCES = ("partition", "account", "qos", "constraint", "minutes", "cpus", "gpus", "memory", "setup", "at_once")


def add_job_options(command: Callable[..., Any], omitted_option: str = "") -> Callable[..., Any]:
    """Add the options for the executor and its resources; the command receives the resources as `resources`."""
    fields = [name for name in _RESOURCES if name != omitted_option]

    @functools.wraps(command)
    def with_resources(*args: Any, **options: Any) -> Any:
        from keyquery.jobs.resources import Resources

        return command(*args, resources=Resources(**{name: options.pop(name) for name in fields}), **options)

    job_command: Callable[..., Any] = with_resources
    for name, option in reversed(tuple(zip(("executor", *_RESOURCES), _JOBS, strict=True))):
        job_command = option(job_command) if name != omitted_option else job_command
    return job_command


jobs_without_gpus = functools.partial(add_job_options, omitted_option="gpus")
"""Add the options for the executor and its resources to a command that uses no GPU."""
