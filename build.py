#!/usr/bin/env python
"""Run a command of boundpaper, or of a package that adds commands, on this project: `python build.py paper`."""

import signal
import sys
from pathlib import Path

if __name__ == "__main__":  # while the commands are imported, Ctrl-C ends this process without a traceback
    signal.signal(signal.SIGINT, signal.SIG_DFL)

ROOT = Path(__file__).resolve().parent
sys.path[:0] = [str(folder) for folder in sorted(ROOT.glob("packages/*/src"))]  # a checkout runs its own packages

from boundpaper.cli.door import command_line, run_line  # noqa: E402

main = command_line(lambda: ROOT)

if __name__ == "__main__":
    run_line(main, "build.py")
