"""The door of the command line: `python build.py paper`, and `python build.py --help` for the rest."""

from pathlib import Path

from boundpaper.cli.door import command_line, run

main = command_line(lambda: Path(__file__).resolve().parent)

if __name__ == "__main__":
    run(main, "build.py")
