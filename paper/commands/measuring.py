"""What measures models and scores predictions; the commands lie beside what they run."""

from analysis.distil.commands import distil
from analysis.measure.commands import capture, heads, lab, run
from analysis.population.commands import population
from analysis.scores.commands import bench

lab.add_command(population)
lab.add_command(distil)

COMMANDS = (capture, heads, run, lab, bench)
