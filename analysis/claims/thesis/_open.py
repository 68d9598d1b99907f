"""Mark claims on the plasticity of rotary models as open until plasticity is measured at single positions."""

from dataclasses import replace

from boundpaper.claims import Verdict

OPEN = (
    "Open: queries that rotation turned by different angles are pooled in a bin and their spread counts as content, so "
    "that the value depends on the width of the bin; queries rotated to one position would decide."
)


def left_open(verdict: Verdict) -> Verdict:
    """Return the verdict with a note that the measured values depend on the width of a query bin."""
    end = "" if verdict.reason.rstrip().endswith((".", "?", "!")) else "."
    return replace(verdict, reason=f"{verdict.reason.rstrip()}{end} {OPEN}")
