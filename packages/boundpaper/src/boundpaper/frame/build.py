"""Run the command line: `python build.py paper` builds, and `python build.py --help` lists all commands."""

import signal
from pathlib import Path

if __name__ == "__main__":  # until the commands are imported, Ctrl-C ends this process without a message
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from boundpaper.cli.door import command_line, run_line

main = command_line(lambda: Path(__file__).resolve().parent)

if __name__ == "__main__":
    run_line(main, "build.py")
