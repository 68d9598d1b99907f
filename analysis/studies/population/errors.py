"""Classify the population's wrong answers to questions for keys, by model and length."""

from collections import Counter

import pandas as pd

from analysis.studies.population._outcomes import records
from keyquery.tasks.answers import EXACT, LETTERS, NO_STOP

KINDS = {**{letter: kind for kind, letter in LETTERS.items() if kind != EXACT}, NO_STOP: "no_stop"}
LENGTHS = (1.0, 2.0, 4.0, 8.0)


def population_errors(population_keys: pd.DataFrame, population_models: pd.DataFrame) -> pd.DataFrame:
    """Return the numbers of wrong keys of every model with its own encoding, by prompt length and class of error.

    Of the `errors` among the `asked` keys, `count` are of the class; `share` is empty for a model without errors.
    """
    facts_of = population_models.set_index("model")[["arm", "base", "seed"]].to_dict("index")
    own_keys = population_keys[(population_keys["encoding"] == "own") & population_keys["multiple"].isin(LENGTHS)]
    rows = []
    for row in records(own_keys):
        counts = Counter(row.letters)
        errors = len(row.letters) - counts[LETTERS[EXACT]]
        for letter, kind in KINDS.items():
            rows.append(
                {
                    "model": row.model,
                    **facts_of[row.model],
                    "multiple": row.multiple,
                    "kind": kind,
                    "count": counts[letter],
                    "errors": errors,
                    "asked": len(row.letters),
                    "share": counts[letter] / errors if errors else None,
                    "note": "" if errors else "no wrong key",
                }
            )
    return pd.DataFrame(rows)
