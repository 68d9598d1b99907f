"""Layout of the correlation tables: one row per metric, three coefficients, and robustness checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from boundpaper.tables.spec import Column
from boundpaper.typeset.numbers import fixed, markup, pvalue
from boundpaper.typeset.wording import whole
from tables._house import spread_tests

if TYPE_CHECKING:
    import pandas as pd

VALUES = ("estimate", "ci_low", "ci_high", "p_value", "p_adjusted", "effect_ci_low", "effect_ci_high")
UNDEFINED = "not defined for so few models"

CORRELATION_NOTE = (
    "Pearson's $r$ with Fisher's 95 % interval, Spearman's $\\rho$, Kendall's $\\tau_b$; $p$ is exact, over all "
    "relabelings of the models; Holm's correction is over the metrics of a group and the three coefficients. "
    "Leave-one-out: the least and the largest $r$ when each model is left out in turn. Given size: $r$ at equal log "
    "parameters, $p$ by $t$. Within families: $r$ of what is left after each family's mean, models exchanged inside "
    "families only, families of one model left out."
)


def correlation_rows(groups: Mapping[str, pd.DataFrame], name: Callable[[str], str]) -> pd.DataFrame:
    """Return one row of tests per group and metric, which the columns `group` and `label` name."""
    import pandas as pd

    tables = [spread_tests(tests, VALUES).assign(group=group) for group, tests in groups.items()]
    rows = pd.concat(tables, ignore_index=True)
    return rows.assign(label=[name(key) for key in rows["comparison"]])


def correlation_columns() -> list[Column]:
    """Return the columns of a table of correlations."""
    p, r = pvalue(), fixed(2)
    columns = [Column("label", "Metric", markup)]
    ci = ("pearson_ci_low", "pearson_ci_high")
    columns.append(Column("pearson_estimate", "$r$", r, ci=ci, group="Pearson", missing=UNDEFINED))
    columns.append(Column("pearson_p_value", "$p$", p, group="Pearson", missing=UNDEFINED))
    columns.append(Column("pearson_p_adjusted", "Holm", p, group="Pearson", mark="pearson_guard", missing=UNDEFINED))
    for test, symbol, title in (("spearman", "$\\rho$", "Spearman"), ("kendall", "$\\tau_b$", "Kendall")):
        columns.append(Column(f"{test}_estimate", symbol, r, group=title, missing=UNDEFINED))
        columns.append(Column(f"{test}_p_value", "$p$", p, group=title, missing=UNDEFINED))
        columns.append(Column(f"{test}_p_adjusted", "Holm", p, group=title, mark=f"{test}_guard", missing=UNDEFINED))
    name = "pearson_leave_one_out"
    columns.append(Column(f"{name}_effect_ci_low", "least", r, group="Leave-one-out $r$", missing=UNDEFINED))
    columns.append(Column(f"{name}_effect_ci_high", "largest", r, group="Leave-one-out $r$", missing=UNDEFINED))
    for test, title in (("pearson_partial", "Given size"), ("pearson_within_family", "Within families")):
        columns.append(Column(f"{test}_estimate", "$r$", r, group=title, missing=UNDEFINED))
        columns.append(Column(f"{test}_p_value", "$p$", p, group=title, missing=UNDEFINED))
    return columns


def guard_footnote() -> dict[str, str]:
    """Return the footnote of tests that no data could have made significant."""
    return {"guard": "With so few models no outcome could have given a $p$ below 0.05 here, whatever the data"}


def measured_models_note(models: pd.DataFrame) -> str:
    """Return a note on each model scored here: which checkpoint enters the last group, or why the model is left out.

    For scores of several kinds, `score_metric` in `models` tells how summaries were scored.
    """
    sentences = []
    for row in models.to_dict("records"):
        if row["enters"]:
            methods = {None: "", "lbp_rouge_t4": ", summaries by ROUGE-L alone"}
            method = methods.get(row.get("score_metric"), ", as the benchmark scores")
            sentences.append(
                f"{row['display_name']} enters the last group only ({row['checkpoint_match']}, plasticity "
                f"{row['plasticity_origin']} over {whole(row['captured_context'])} tokens{method})"
            )
        else:
            sentences.append(f"{row['display_name']} stays outside ({str(row['note']).partition('; ')[0]})")
    return f"Models that this project scored: {'; '.join(sentences)}."
