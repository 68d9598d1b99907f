"""The command line of the paper in the working directory: `python -m boundpaper`."""

import signal


def main() -> None:
    """Run the command line; until its commands are imported, Ctrl-C ends this process without a word."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from boundpaper.cli.door import main as run

    run()


if __name__ == "__main__":
    main()
