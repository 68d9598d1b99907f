"""Claims that two tables print equal cells, on hand-made frames: only a cell that differs fails."""

import pandas as pd
import pytest
import yaml

from boundpaper.store.frames import parsed
from claims_cases import prints, rows, verdicts
from conftest import ROOT

CASES = yaml.safe_load((ROOT / "tests/claims_copies.yaml").read_text())
NUMBERS = ("context", "decile", "layer", "published")


def table(text, **first):
    """Return the table that a text of blank-separated cells describes; `first` replaces cells of its first row."""
    names, *cells = (line.split() for line in text.splitlines())
    frame = pd.DataFrame(cells, columns=names).replace("-", "")
    frame.loc[0, list(first)] = list(first.values())
    for name in names:
        if name in NUMBERS or name.startswith("ap_"):
            frame[name] = pd.to_numeric(frame[name])
    return parsed(frame, words=True) if "printed" in names else frame


@pytest.mark.parametrize("claim", CASES)
def test_each_copied_cell_is_compared_with_its_original(claim):
    copy, keys = CASES[claim]["copy"], CASES[claim]["keys"]
    originals = [table(text) for text in CASES[claim]["originals"]]
    assert verdicts(claim, table(copy), *originals) == dict.fromkeys(keys, "holds")
    misprinted = table(copy, printed=f"8{copy.splitlines()[1].split()[-1]}")
    judged = verdicts(claim, misprinted, *originals)
    assert judged == {**dict.fromkeys(keys, "holds"), keys[0]: "contradicted"}


METRICS = (
    "attention_output_norm", "mlp_output_norm", "attention_contribution", "mlp_contribution", "query_norm", "key_norm",
)  # fmt: skip


def content(**misprint):
    cells, published = [], []
    for index, metric in enumerate(METRICS):
        values = {"RoPE": 1.0 + index, "DroPE": 3.0 + index}
        cells += [(model, metric, misprint.get(f"{model}_{metric}", f"{value:.2f}")) for model, value in values.items()]
        ratio = values["DroPE"] / values["RoPE"]
        cells.append(("DroPE", f"{metric}_ratio_to_rope", misprint.get(f"{metric}_ratio", f"{ratio:.2f}×")))
        published.append(
            (metric, 1.0 + index, 3.0 + index, ratio, ratio - 0.01, ratio + 0.01, 1.0 + index, 3.0 + index)
        )
    columns = "metric rope_published drope_published ratio_from_printed ratio_low ratio_high rope_printed drope_printed"
    norms = [cell for cell in cells if cell[1].startswith(("query", "key"))]
    cell_columns = "positional metric printed"
    return {
        "drope_layer1_content": prints(cell_columns, *(cell for cell in cells if cell not in norms)),
        "drope_layer1_norms": prints(cell_columns, *norms),
        "layer1_ratios": rows(columns, *published),
    }


def test_content_norms_and_ratios_are_compared_with_the_published_ones():
    keys = [f"{model}-{metric}" for metric in METRICS for model in ("RoPE", "DroPE")]
    assert verdicts("c004_con_cells", **content()) == dict.fromkeys(keys, "holds")
    assert set(verdicts("c004_con_ratios", **content()).values()) == {"holds"}
    judged = verdicts("c004_con_cells", **content(**{f"DroPE_{METRICS[-1]}": "99.00"}))
    assert [key for key, answer in judged.items() if answer != "holds"] == [f"DroPE-{METRICS[-1]}"]
    judged = verdicts("c004_con_ratios", **content(**{f"{METRICS[0]}_ratio": "99.00×"}))
    assert [key for key, answer in judged.items() if answer != "holds"] == [METRICS[0]]
    near = verdicts("c004_con_ratios", **content(**{f"{METRICS[0]}_ratio": "3.01×"}))  # rounding allows 2.99 to 3.01
    assert near[METRICS[0]] == "holds after rounding"
