#!/usr/bin/env python
"""The door of the command line: `python build.py paper`; the commands are those of boundpaper and its guests."""

import signal
import sys
from pathlib import Path

if __name__ == "__main__":  # until the commands are imported, Ctrl-C ends this process without a word
    signal.signal(signal.SIGINT, signal.SIG_DFL)

ROOT = Path(__file__).resolve().parent
sys.path[:0] = [str(folder) for folder in sorted(ROOT.glob("packages/*/src"))]  # a checkout runs its own packages

from boundpaper.cli.door import command_line, run_line  # noqa: E402

main = command_line(lambda: ROOT)

if __name__ == "__main__":
    run_line(main, "build.py")
