"""A warmed interpreter that also imports the engine, since all projects of the engine's tests use the same engine."""

import sys
from pathlib import Path

ENGINE = (
    *("boundpaper.cli.changes", "boundpaper.cli.claims", "boundpaper.cli.exhibits", "boundpaper.cli.pages"),
    *("boundpaper.cli.project_commands", "boundpaper.cli.steps", "boundpaper.cli.thesis", "boundpaper.build.source"),
    *("boundpaper.build.result", "boundpaper.build.provenance", "boundpaper.claims.build", "boundpaper.claims.ledger"),
    *("boundpaper.claims.places", "boundpaper.tables.build", "boundpaper.figures.build", "boundpaper.paper.chapter"),
    *("boundpaper.paper.document", "boundpaper.paper.tex.figure_pdf"),
)

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    import warmed

    sys.path.pop(0)
    warmed.main((*warmed.LIBRARIES, *ENGINE))
