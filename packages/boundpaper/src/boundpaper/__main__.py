"""Run the command line of the paper in the working directory: `python -m boundpaper`."""

import signal


def main() -> None:
    """Run the command line; Ctrl-C ends the process without a message while commands are still being imported."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from boundpaper.cli.door import main as run

    run()


if __name__ == "__main__":
    main()
