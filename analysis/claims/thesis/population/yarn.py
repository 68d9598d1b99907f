"""Claims that compare dropping the rotation with YaRN at each length, by how many far passkeys are found; post hoc."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims.thesis.population._judged import judge_both, seeds_in_words
from boundpaper.claims import Verdict, claim

SIGNS = {2.0: (1, "two"), 4.0: (-1, "four"), 8.0: (-1, "eight")}
"""Training lengths of a prompt -> sign of the result at the primary base, and word for the length."""

ENCODINGS = {"own": "", "temperature": " with a temperature"}


@claim("thesis, A population of small models")
def thesis_population_yarn(population_yarn: pd.DataFrame) -> Iterator[Verdict]:
    """Whether more far passkeys are found without rotation or with YaRN depends on the length of the prompt.

    Post hoc except at four lengths; exact sign flips, Holm over lengths, by base and temperature.
    """
    for (base, encoding), rows in population_yarn.groupby(["base", "encoding"]):
        for _, row in rows[rows["multiple"].isin(list(SIGNS))].iterrows():
            sign, length = SIGNS[float(row["multiple"])]
            outcome = f"{'more' if sign > 0 else 'fewer'} far passkeys than its control under YaRN (post hoc)."
            yield judge_both(
                row,
                "difference",
                sign,
                f"{base}-{encoding}-{row['multiple']:g}x",
                f"At base {base:,} and {length} training lengths the model without rotation{ENCODINGS[str(encoding)]} "
                f"finds {outcome}",
                seeds_in_words(row),
            )
