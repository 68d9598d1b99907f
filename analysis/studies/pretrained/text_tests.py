"""Compare one network without and with rotation, text by text."""

import pandas as pd

from analysis.studies.pretrained._by_text import TextQuantity, values_by_text
from analysis.studies.pretrained._pairs import ModelPair, model_pairs
from boundpaper.errors import DataError
from boundpaper.statistics.estimate import Estimate, frame
from boundpaper.statistics.families import corrected
from boundpaper.statistics.locations.paired import paired_t

RERUN = "python build.py run --recipe artifacts/recipes/distilled.yaml"
STARTED = "token in front"  # contrast that is left out, since `pretrained_beginning` has it


BY_TEXT = (
    TextQuantity("massive values of queries", "massive_values", "massive_total_q", "pre lambda=5", 1.0),
    TextQuantity("massive values of keys", "massive_values", "massive_total_k", "pre lambda=5", 1.0),
    TextQuantity("largest query dimension over the mean", "massive_values", "largest_ratio_q", "pre", 1.0),
    TextQuantity("largest key dimension over the mean", "massive_values", "largest_ratio_k", "pre", 1.0),
    TextQuantity("attention to the first token", "attention_patterns", "first_attention", "", 100.0),
    TextQuantity("attention to near tokens", "attention_patterns", "local_attention", "", 100.0),
    TextQuantity("entropy of attention over even attention", "attention_patterns", "entropy_share", "", 100.0),
    TextQuantity(
        "attention's share of what layers write", "layer_content", "contribution_mean_of_ratios", "content", 100.0
    ),
)


def pretrained_text_tests(
    massive_values: pd.DataFrame,
    attention_patterns: pd.DataFrame,
    layer_content: pd.DataFrame,
    pretrained_models: pd.DataFrame,
    subjects: pd.DataFrame,
    test_families: pd.DataFrame,
) -> pd.DataFrame:
    """Return paired t-tests over texts, one row per model, contrast and quantity.

    `study` is the model, `comparison` has the form `CONTRAST: QUANTITY`, and `estimate` is the value without rotation
    minus that with rotation, in percent for shares; every quantity is a mean or a sum over layers and heads. Holm is
    over the quantities of one contrast of one model. The tests generalise to further texts, not to further networks.
    Raises DataError if no network was measured in both states, or their texts differ.
    """
    tables = {
        "massive_values": massive_values,
        "attention_patterns": attention_patterns,
        "layer_content": layer_content,
    }
    tests: list[Estimate] = []
    for pair in model_pairs(pretrained_models, subjects):
        if pair.contrast == STARTED:
            continue
        for quantity in BY_TEXT:
            first, second = (
                values_by_text(tables[quantity.table], model, quantity) for model in (pair.first, pair.second)
            )
            if first.empty or second.empty:
                continue
            if list(first.index) != list(second.index):
                raise DataError(
                    f"{quantity.table}: {pair.first} and {pair.second} were given different texts; run: {RERUN}"
                )
            tests.append(_paired_test(pair, quantity, first, second))
    if not tests:
        raise DataError(f"no pretrained model was measured with and without rotation; run: {RERUN}")
    return frame(corrected(tests, test_families, "pretrained_text_tests", _test_family))


def _test_family(row: Estimate) -> str:
    return f"{row.study}, {row.comparison.split(':')[0]}"


def _paired_test(pair: ModelPair, quantity: TextQuantity, first: pd.Series, second: pd.Series) -> Estimate:
    return paired_t(
        first.to_numpy(),
        second.to_numpy(),
        study=pair.model,
        comparison=f"{pair.contrast}: {quantity.name}",
        unit="text",
        note=f"{pair.first} minus {pair.second}",
        names=(pair.first, pair.second),
    )
