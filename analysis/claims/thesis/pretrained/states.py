"""Claims of the thesis on a pretrained network without its rotation, and with a beginning token in front."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims._intervals import by_interval
from boundpaper.claims import Verdict, claim, judge, untestable
from boundpaper.claims.words import p

REMOVED, STARTED = "rotation removed", "token in front"
STATEMENTS = {
    "massive values of queries": ("queries", 1, "its queries have more massive values, not fewer"),
    "attention to the first token": ("first", -1, "it attends less to the first token"),
    "attention to near tokens": ("near", -1, "it attends less to near tokens"),
    "entropy of attention over even attention": ("entropy", 1, "its attention is more even"),
}


@claim("thesis, Pretrained models at hand")
def thesis_rotation_removed(pretrained_text_tests: pd.DataFrame, pretrained_models: pd.DataFrame) -> Iterator[Verdict]:
    """If only its rotation is removed, a model has no fewer massive values, and attends less to near tokens."""
    names = pretrained_models.set_index("model")["display_name"]
    for _, test in pretrained_text_tests.iterrows():
        contrast, quantity = str(test["comparison"]).split(": ")
        if contrast != REMOVED or quantity not in STATEMENTS:
            continue
        short, sign, words = STATEMENTS[quantity]
        yield by_interval(
            test,
            sign,
            f"over {int(test['n'])} texts the difference is {test['estimate']:.1f} [{test['ci_low']:.1f}, "
            f"{test['ci_high']:.1f}] (paired t, Holm {p(test['p_adjusted'])}, after the data were seen)",
            p=("p_value", "p_adjusted"),
            key=f"{test['study']}_{short}",
            statement=f"With the rotation of {names[test['study']]} removed and nothing trained, {words}.",
        )


@claim("thesis, Pretrained models at hand")
def thesis_heads_change_class(pretrained_head_agreement: pd.DataFrame) -> Iterator[Verdict]:
    """Without rotation, heads keep their class more often than by chance, but less often than with a token in front."""
    for model, rows in pretrained_head_agreement[pretrained_head_agreement["layer"].isna()].groupby("model"):
        by_contrast = {str(row["contrast"]): row for _, row in rows.iterrows()}
        statement = (
            f"Heads of {rows['display_name'].iloc[0]} keep their class when the rotation is removed more often than by "
            "chance among the heads of a layer, and less often than when the beginning token is put in front."
        )
        if not {REMOVED, STARTED} <= set(by_contrast):
            reason = "one of the two states was not measured; both would decide it."
            yield untestable(reason, key=str(model), statement=statement)
            continue
        removed, started = by_contrast[REMOVED], by_contrast[STARTED]
        listing = ", ".join(
            f"{int(row['same'])} of {int(row['heads'])} with {words} ({row['expected']:.0f} by chance; kappa "
            f"{row['kappa']:.2f} [{row['low']:.2f}, {row['high']:.2f}])"
            for words, row in (("the rotation removed", removed), ("the token in front", started))
        )
        yield judge(
            float(removed["low"]) > 0 and float(removed["high"]) < float(started["low"]),
            f"heads of one class in both states: {listing}",
            otherwise="contradicted"
            if float(removed["high"]) < 0 or float(removed["low"]) > float(started["high"])
            else "not supported",
            recomputed=float(removed["kappa"]),
            n=int(removed["heads"]),
            ci=(float(removed["low"]), float(removed["high"])),
            key=str(model),
            statement=statement,
        )
