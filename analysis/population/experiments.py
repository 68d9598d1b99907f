"""Run Experiments 1-9 of the DroPE report on a model of the population, reduced to their headline quantities."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from analysis.population.recipe import PopulationMember, PopulationRecipe
from boundpaper.errors import DataError
from keyquery.language.book import BOOK
from keyquery.language.tokenizer import build_tokenizer
from keyquery.language.words import WORDS
from keyquery.measure.choices import module_of
from keyquery.measure.quantities import QUANTITIES, quantity_of_model
from keyquery.measure.rows import frame
from keyquery.measure.subject import Options, Subject

if TYPE_CHECKING:
    import pandas as pd
    from transformers import PreTrainedModel

OPTIONS = Options()  # ten texts, a hundred items per task: the defaults of `build.py run`


def experiment_rows(
    model: PreTrainedModel, which: PopulationMember, recipe: PopulationRecipe, tell: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Return rows `quantity, value, reason`, one per headline quantity; a missing value has a reason.

    Raises
    ------
    DataError
        If an experiment returns no row for a quantity.
    """
    subject = Subject(
        name=which.name,
        model=model,
        tokenizer=build_tokenizer(WORDS),
        book=BOOK,
        positional="rope" if which.positional == "rope" else "drope",
        training_length=recipe.length,
        training_seed=which.seed,
    )
    tables: dict[str, pd.DataFrame] = {}
    rows = []
    for quantity in QUANTITIES:
        name = quantity.frame
        if name not in tables:
            tell(f"experiment {quantity.experiment}, {name}")
            tables[name] = _measure(name, subject)
        value, reason = quantity_of_model(quantity, tables[name], f"{name} of {which.name}")
        lacks = value != value
        if lacks and not reason:
            raise DataError(f"{name} of {which.name}: no value of {quantity.key}, and no reason for that")
        rows.append({"quantity": quantity.key, "value": None if lacks else value, "reason": reason})
    return rows


def _measure(name: str, subject: Subject) -> pd.DataFrame:
    """Return rows of an experiment as if read from a file, with empty text for missing layers and heads."""
    import pandas as pd

    module = importlib.import_module(module_of(name))
    rows = frame(module.measure(subject, OPTIONS), subject.positional, subject.precision)
    for column in ("layer", "head"):
        rows[column] = pd.to_numeric(rows[column])
    return rows.fillna({"condition": "", "unit_id": "", "reason": ""})
