"""Claims of the thesis on a pretrained model's first token, with and without BOS, and with its MLP output zeroed."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims._intervals import by_interval
from analysis.claims._shared import rows_where
from boundpaper.claims import Verdict, claim, judge, untestable


@claim("thesis, Pretrained models at hand")
def thesis_beginning_token(pretrained_beginning: pd.DataFrame) -> list[Verdict]:
    """A pretrained model attends to its beginning token more than to a word in its place."""
    return [
        _judge_by_interval(
            row,
            str(row["model"]),
            f"{row['display_name']} attends to its beginning token more than to a word in its place.",
            "token minus word, in percent of attention, is",
        )
        for _, row in _rows_of_quantity(pretrained_beginning, "first_attention", "difference")
    ]


@claim("thesis, Pretrained models at hand")
def thesis_rotation_left_out(
    pretrained_beginning: pd.DataFrame, pretrained_rotation: pd.DataFrame
) -> Iterator[Verdict]:
    """Attention computed without the model's rotation differs from the model's own attention.

    Judged for texts with a beginning token, and (`own`) for texts as the tokenizer begins them.
    """
    changes = pretrained_rotation[pretrained_rotation["computed"] == "change"]
    for quantity, words in (("first", "the first token"), ("local", "the five tokens before")):
        cases = [("", "", row) for _, row in _rows_of_quantity(pretrained_beginning, f"{quantity}_change", "token")]
        rows = changes[changes["quantity"] == quantity]
        cases += [("_own", ", on texts as its tokeniser begins them", row) for _, row in rows.iterrows()]
        for ending, where, row in cases:
            name = f"{row['display_name']}{where}"
            statement = f"In {name}, leaving the rotation out of the computation lowers the attention to {words}."
            phrase = "the change, in percent of attention, is"
            yield _judge_by_interval(row, f"{row['model']}_{quantity}_change{ending}", statement, phrase, direction=-1)


@claim("thesis, Pretrained models at hand")
def thesis_spike_mlp(pretrained_sweeps: pd.DataFrame) -> Iterator[Verdict]:
    """The large norm of a pretrained model's first token depends on the MLPs of more than one layer."""
    for model, rows in pretrained_sweeps[pretrained_sweeps["part"] == "mlp"].groupby("model", sort=False):
        usual_peak = float(rows["usual_peak"].iloc[0])
        halving_layers = rows[rows["peak"] < usual_peak / 2]
        phrase = ", ".join(f"{int(row['layer'])} ({row['peak']:.1f})" for _, row in halving_layers.iterrows()) or "none"
        yield judge(
            len(halving_layers) > 1,
            f"its norm is at most {usual_peak:.1f} times that of the others; zeroing the MLP output there more than "
            f"halves this ratio in the layers: {phrase}",
            recomputed=str(len(halving_layers)),
            n=len(rows),
            key=str(model),
            statement=f"The norm of the first token of {rows['display_name'].iloc[0]} falls by more than half when the "
            "MLP output of any one of several layers is zeroed there.",
        )


@claim("thesis, Pretrained models at hand")
def thesis_spike_cost(pretrained_beginning: pd.DataFrame) -> list[Verdict]:
    """Zeroing the MLP output at a pretrained model's first token, in the layer where it costs most, raises the loss."""
    return [
        _judge_by_interval(
            row,
            str(row["model"]),
            f"{row['display_name']} loses when the MLP output at its beginning token is zeroed in the layer where that "
            "costs most on other texts.",
            f"{_layer_prefix(row)}in nats per token, the cost is",
        )
        for _, row in _rows_of_quantity(pretrained_beginning, "mlp_best", "token")
    ]


@claim("thesis, Pretrained models at hand")
def thesis_drained_values(pretrained_beginning: pd.DataFrame) -> list[Verdict]:
    """In a pretrained model, the value vectors of the first token are shorter than those of other tokens."""
    return [
        _judge_by_interval(
            row,
            str(row["model"]),
            f"The values of the beginning token of {row['display_name']} are shorter than those of other tokens.",
            "their length over that of the others', mean over layers, is",
            null=1.0,
            direction=-1,
        )
        for _, row in _rows_of_quantity(pretrained_beginning, "value_ratio", "token")
    ]


def _rows_of_quantity(frame: pd.DataFrame, quantity: str, start: str) -> list[tuple[object, pd.Series]]:
    return list(rows_where(frame, quantity=quantity, start=start).iterrows())


def _layer_prefix(row: pd.Series) -> str:
    return "" if pd.isna(row["layer"]) else f"layer {int(row['layer'])}: "


def _judge_by_interval(
    row: pd.Series, key: str, statement: str, phrase: str, *, null: float = 0.0, direction: int = 1
) -> Verdict:
    """Judge a difference by Student's interval over texts; without an interval it is not testable."""
    if pd.isna(row["value"]) or pd.isna(row["low"]):
        return untestable(f"{row['note']}: a model or texts with it would decide it.", key=key, statement=statement)
    return by_interval(
        row,
        direction,
        f"{phrase} {row['value']:.3g} [{row['low']:.3g}, {row['high']:.3g}] over {int(row['n'])} parts of texts",
        columns=("value", "low", "high"),
        null=null,
        key=key,
        statement=statement,
    )
