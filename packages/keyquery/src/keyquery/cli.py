"""Commands that measure models and score predictions, for the command line of boundpaper."""

from keyquery.measure.commands import capture, heads, run
from keyquery.scores.commands import bench

COMMANDS = (capture, heads, run, bench)
