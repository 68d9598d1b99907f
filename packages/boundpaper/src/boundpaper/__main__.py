"""The command line of the paper in the working directory: `python -m boundpaper`."""

from boundpaper.cli.door import main

if __name__ == "__main__":
    main()
