"""Commands of the thesis that train and distil models."""

import click

from analysis.distil.commands import distil
from analysis.population.commands import population, widths
from keyquery.cli import sweep_first


@click.group()
def lab() -> None:
    """Train small models, and distil a pretrained one."""


lab.add_command(population)
lab.add_command(widths)
lab.add_command(distil)

COMMANDS = (sweep_first(lab),)
