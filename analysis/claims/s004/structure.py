"""Document 004, structure: claims on the numbering of sections and figures."""

import itertools

import pandas as pd

from analysis.claims._shared import rows_where
from boundpaper.claims import Verdict, claim, judge
from boundpaper.claims.words import listed


@claim("004, 16 Citation and 16 References", severity="detail")
def c004_sections_numbered_once(headings: pd.DataFrame) -> Verdict:
    """Each number names one section."""
    rows = headings[(headings["document"] == "004") & (headings["kind"] == "section") & (headings["number"] != "")]
    repeated_numbers = [number for number, count in rows["number"].value_counts().items() if count > 1]
    listing = listed(
        [f"{number} ({listed(list(rows.loc[rows['number'] == number, 'heading']))})" for number in repeated_numbers]
    )
    return judge(
        not repeated_numbers,
        (f"All {len(rows)} numbers differ.", f"Of {len(rows)} numbered sections two share {listing}."),
        recomputed=f"{rows['number'].nunique()} numbers",
        n=len(rows),
    )


@claim("004, 15 Publication Figures and captions", severity="detail")
def c004_figures_in_order(headings: pd.DataFrame) -> Verdict:
    """The figures are numbered in the order in which they appear."""
    rows = rows_where(headings, document="004", kind="caption").sort_values("position")
    numbers = [int(number) for number in rows["number"]]
    early_numbers = [
        number for index, number in enumerate(numbers) if any(other < number for other in numbers[index + 1 :])
    ]
    late_numbers = [second for first, second in itertools.pairwise(numbers) if second < first]
    return judge(
        not late_numbers and len(set(numbers)) == len(numbers),
        (
            f"The {len(numbers)} captions run from {numbers[0]} to {numbers[-1]}.",
            f"Of {len(numbers)} captions {listed([f'Figure {number}' for number in late_numbers])} come after figures "
            f"with larger numbers, and {len(early_numbers)} come before a smaller one.",
        ),
        recomputed=", ".join(map(str, numbers)),
        n=len(numbers),
    )
