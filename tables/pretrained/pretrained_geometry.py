"""Head geometry of pretrained models beside the reported range and the small models."""

from typing import Any

import pandas as pd

from boundpaper.tables import Column, Table, fixed, markup
from boundpaper.typeset.wording import listed, whole
from tables._house import estimator_phrase

FEW_KEY_HEADS = 10
FIELDS = {"v": "value", "low": "low", "high": "high"}
ROWS = {
    "Plasticity": {"ap_overall": "overall", "ap_first_20": "first 20 %", "ap_last_20": "last 20 %", "ap_drop": "drop"},
    "Position": {
        "bias_window": "bias per window ($10^2$)",
        "r_q_a": "$r_q^a$ on the axis of drift",
        "r_k_a": "$r_k^a$ on the axis of drift",
        "plane_var": "variance in plane",
    },
}


def table(pretrained_geometry: pd.DataFrame, pretrained_noise: pd.DataFrame, measured_models: pd.DataFrame) -> Table:
    """Return one row per metric, with one column per model or group of models."""
    columns = list(dict.fromkeys(pretrained_geometry["column"]))
    cells: Any = pretrained_geometry.set_index(["metric", "column"])
    rows = []
    for group, names in ROWS.items():
        for metric, label in names.items():
            row: dict[str, object] = {"group": group, "label": label}
            for index, column in enumerate(columns):
                cell = cells.loc[(metric, column)]
                scale = 100 if metric == "bias_window" else 1
                row |= {f"{name}{index}": cell[field] / scale for name, field in FIELDS.items()}
                row[f"note{index}"] = cell["note"]
            rows.append(row)
    facts: Any = pretrained_geometry.drop_duplicates("column").set_index("column")
    models = measured_models[measured_models["model"].isin(columns)].set_index("model")
    documents: Any = pretrained_noise.drop_duplicates("model").set_index("model")["documents"]
    notes = [
        f"{facts.loc[model, 'label']}: all {row['heads']} captured heads of {row['key_heads']} key heads over "
        f"{documents[model]} documents of {whole(row['captured_context'])} tokens, "
        f"{estimator_phrase(row['estimator'], row['pairs'])}"
        for model, row in models.iterrows()
    ]
    reported_count = int(pretrained_geometry.loc[pretrained_geometry["column"] == "reported", "n"].max())
    return Table(
        rows=pd.DataFrame(rows),
        columns=[
            Column("label", "", markup),
            *(
                Column(
                    f"v{index}",
                    str(facts.loc[column, "label"]),
                    fixed(3),
                    ci=(f"low{index}", f"high{index}"),
                    reason=f"note{index}",
                )
                for index, column in enumerate(columns)
            ),
        ],
        groups="group",
        caption=(
            f"Head geometry of pretrained models measured here, beside up to {reported_count} reported models and "
            "small ones (arm A of the population at base 400). Units: reported, one model (the median, in brackets "
            f"the least and the largest, a range and no interval; at most {whole(facts.loc['reported', 'context'])} "
            f"tokens [@shcherb2026]); small, one training seed, $n = {facts.loc['small', 'n']}$, "
            f"{whole(facts.loc['small', 'context'])} tokens; measured, one key head. In brackets there: 95 % intervals."
        ),
        short="Head geometry of pretrained models",
        note=[
            f"{'; '.join(notes)}. Their intervals are from resampled key heads: they cover heads, not texts. Weights "
            f"of four bits, dequantised. {_note_on_few_heads(facts)}",
            "Drop: first minus last 20 % of positions. Bias per window: drift of the attention logit over the captured "
            "context, which differs from column to column. A reported value and a measured one are to be compared only "
            "as far as estimator, texts and context agree.",
        ],
    )


def _note_on_few_heads(facts: pd.DataFrame) -> str:
    """Return a note that names the models whose intervals are too narrow because they have few key heads."""
    rows = facts[(facts["unit"] == "key head") & (facts["n"] < FEW_KEY_HEADS)]
    models = [f"{row['label']} ({row['n']} key heads)" for _, row in rows.iterrows()]
    return f"An interval from so few key heads as those of {listed(models)} is too narrow." if models else ""
