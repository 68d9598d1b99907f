"""One network with and without its rotation, tested over texts."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, pvalue, signed

CONTRASTS = {
    "rotation removed": "Rotation removed, nothing trained",
    "trained without": "Trained further without rotation, minus trained further with it",
    "reported pair": "The report's pair, measured: DroPE minus RoPE",
}


def table(pretrained_text_tests: pd.DataFrame, pretrained_models: pd.DataFrame, subjects: pd.DataFrame) -> Table:
    """Return one row per quantity, grouped by contrast."""
    frame = pretrained_text_tests.copy()
    parts = frame["comparison"].str.split(": ", n=1, expand=True)
    rotary_models = subjects[(subjects["role"] == "reported") & (subjects["side"] == "rope")]
    names = dict(zip(rotary_models["pair"], rotary_models["label"], strict=True))
    names |= dict(zip(pretrained_models["model"], pretrained_models["display_name"], strict=True))
    frame["group"] = [
        f"{CONTRASTS[name]} ({names[model]})" for name, model in zip(parts[0], frame["study"], strict=True)
    ]
    frame["label"] = parts[1].str[:1].str.upper() + parts[1].str[1:]
    texts = sorted(set(frame["n"].astype(int)))
    return Table(
        rows=frame,
        columns=[
            Column("label", "Quantity", width=0.36),
            Column("estimate", "Difference", signed(1), ci=("ci_low", "ci_high")),
            Column("effect", "$d_z$", fixed(1)),
            Column("p_value", "$p$", pvalue()),
            Column("p_adjusted", "Holm", pvalue()),
        ],
        groups="group",
        size="footnotesize",
        caption=(
            "One network with and without its rotation on the same texts: paired differences. Unit: one text; n = "
            f"{' or '.join(map(str, texts))}; in brackets Student's 95 % interval."
        ),
        short="One network with and without rotation, by text",
        note=(
            "Shares are in percent and their differences in points; massive values are counted over all layers at five "
            "times the mean. Holm over the quantities of a contrast, which were chosen after the data were seen. The "
            "tests generalise to further texts for this one network."
        ),
    )
