"""Options for loading a model, shared by all commands that load one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from keyquery.measure.choices import DTYPES, QUANTIZATIONS

_OPTIONS = (
    click.option("--dtype", type=click.Choice(DTYPES), default="auto", show_default=True),
    click.option("--quantize", type=click.Choice(QUANTIZATIONS), help="Quantize the weights with bitsandbytes."),
    click.option("--device", default="auto", show_default=True, help="Device: auto, cpu, cuda, cuda:N or mps."),
    click.option("--revision", help="Branch, tag or commit of the model on the Hub."),
    click.option("--trust-remote-code", is_flag=True, help="Allow code that comes with the checkpoint to run."),
)


def loading(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add type, quantisation, device, revision and trust to a command, in this order."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
