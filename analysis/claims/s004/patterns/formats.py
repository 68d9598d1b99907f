"""Document 004, Experiment 10: claims on prompt formats, and on the rows of the trade-off table."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims._intervals import by_interval
from analysis.claims._shared import min_to_max, printed_text, rows_where
from boundpaper.claims import Verdict, claim, compare, judge, pick, quote, untestable
from boundpaper.claims.words import of_trials, p


@claim("004, 11.7 Prompt Format Sensitivity")
def c004_fmt_matters(context_tests: pd.DataFrame, context_cells: pd.DataFrame) -> Verdict:
    """Within the training window the prompt format matters dramatically for DroPE."""
    test = pick(context_tests, study="formats", comparison="both contexts")
    rows = rows_where(context_cells, protocol="formats", positional="DroPE")
    sums = rows.groupby("format")[["correct", "trials"]].sum()
    digits = rows.groupby("format")["digits"].first()
    return by_interval(
        test,
        0,
        f"Over both contexts {int(sums['correct']['ruler'])} of {int(sums['trials']['ruler'])} against "
        f"{int(sums['correct']['simple'])} of {int(sums['trials']['simple'])} (Fisher {p(test['p_value'])}, Holm "
        f"{p(test['p_adjusted'])}), five trials per cell; the formats also differ in the number's digits "
        f"({digits['ruler']} and {digits['simple']}).",
        p=("p_value", "p_adjusted"),
    )


@claim("004, 12.1 Summary of Findings")
def c004_fmt_doubles(drope_stated: pd.DataFrame, drope_formats: pd.DataFrame) -> Verdict:
    """Prompts in RULER's style double DroPE's accuracy against simple ones."""
    cells = {
        context: [
            quote(drope_formats, context=context, positional="DroPE", format=name).number
            for name in ("ruler", "simple")
        ]
        for context in sorted(set(drope_formats["context"]))
    }
    listing = ", ".join(
        f"{ruler:.0f} against {simple:.0f} % at {context}" for context, (ruler, simple) in cells.items()
    )
    return judge(
        all(simple > 0 and ruler / simple == 2 for ruler, simple in cells.values()),
        f"{listing} tokens: twice as much at "
        f"{sum(simple > 0 and ruler == 2 * simple for ruler, simple in cells.values())} of {len(cells)} lengths"
        + (
            ", and no ratio where simple prompts never succeed; cells of five trials."
            if any(simple == 0 for _, simple in cells.values())
            else "; cells of five trials."
        ),
        otherwise="not supported",
        reported=printed_text(drope_stated, statement="s12_1_prompt_ratio"),
        recomputed=listing,
    )


@claim("004, 11.7 Prompt Format Sensitivity; 11.8 Summary")
def c004_fmt_rope_invariant(drope_stated: pd.DataFrame, context_cells: pd.DataFrame) -> Verdict:
    """RoPE does not depend on the prompt's format."""
    rows = rows_where(context_cells, protocol="formats", positional="RoPE")
    return judge(
        bool((rows["ci_high"] - rows["ci_low"]).max() <= 10),
        f"The cells of either format have {min_to_max(rows['share'], '.0f')} %; with {rows['trials'].iloc[0]} trials "
        f"each leaves {rows['ci_low'].min():.0f} % open or more"
        + ("." if (rows["ci_high"] - rows["ci_low"]).max() <= 10 else ", so equality is not shown."),
        otherwise="not supported",
        reported=printed_text(drope_stated, statement="s12_1_prompt_invariance"),
        recomputed=of_trials(rows.iloc[0]),
        n=len(rows),
    )


@claim("004, 11.7 Prompt Format Sensitivity")
def c004_fmt_cues(drope_formats: pd.DataFrame) -> Verdict:
    """DroPE needs explicit cues to know what to attend to, while RoPE knows it from position."""
    format_count = len({name for name in drope_formats["format"] if name != "any"})
    return untestable(
        f"The {format_count} formats differ in wording, in digits and in length at once; one prompt with and without "
        "the cue, same digits, a hundred trials per cell, would decide it."
    )


@claim("004, 11.8 Summary, trade-off table")
def c004_fmt_within_drope(drope_tradeoff: pd.DataFrame, context_cells: pd.DataFrame) -> Verdict:
    """Within the training length DroPE's accuracy is 30 to 80 %."""
    return _judge_range(drope_tradeoff, context_cells, "within_training_accuracy_range", beyond=False)


@claim("004, 11.8 Summary, trade-off table")
def c004_fmt_beyond_drope(drope_tradeoff: pd.DataFrame, context_cells: pd.DataFrame) -> Verdict:
    """Beyond the training length DroPE's accuracy is 80 to 100 %."""
    return _judge_range(drope_tradeoff, context_cells, "beyond_training_accuracy", beyond=True)


def _judge_range(drope_tradeoff: pd.DataFrame, context_cells: pd.DataFrame, aspect: str, *, beyond: bool) -> Verdict:
    reported = quote(drope_tradeoff, aspect=aspect, positional="DroPE")
    rows = context_cells[(context_cells["positional"] == "DroPE") & (context_cells["beyond"].astype(bool) == beyond)]
    rows = rows[rows["share"].notna()]
    outliers = rows[(rows["share"] < reported.interval.low) | (rows["share"] > reported.interval.high)]
    listing = "; ".join(
        f"{int(row['correct'])} of {row['trials']} at {row['context']} ({row['protocol']})"
        for _, row in outliers.iterrows()
    )
    return judge(
        outliers.empty,
        f"The tables have {min_to_max(rows['share'], '.0f')} %; outside the range lie {listing or 'none'}.",
        reported=reported.printed,
        recomputed=f"{min_to_max(rows['share'], '.0f')} %",
        n=len(rows),
    )


@claim("004, 11.8 Summary, trade-off table")
def c004_fmt_rope_rows(drope_tradeoff: pd.DataFrame, context_cells: pd.DataFrame) -> Iterator[Verdict]:
    """RoPE's accuracies in the trade-off table are those of the sections before."""
    rope = context_cells[context_cells["positional"] == "RoPE"]
    for aspect, beyond in (("within_training_accuracy", False), ("beyond_training_accuracy", True)):
        row = pick(drope_tradeoff, aspect=aspect, positional="RoPE")
        rows = rope[rope["beyond"].astype(bool) == beyond]
        number_text = row["printed"] if str(row["as_number"]) in ("", "nan", "<NA>") else row["as_number"]
        expected = float(str(number_text).rstrip("%"))
        yield judge(
            bool((rows["share"] == expected).all()),
            f"{int((rows['share'] == expected).sum())} of {len(rows)} cells of RoPE {'beyond' if beyond else 'within'} "
            f"the training length have {expected:.0f} %.",
            reported=str(row["printed"]),
            recomputed=f"{min_to_max(rows['share'], '.0f')} %",
            n=len(rows),
            key="beyond" if beyond else "within",
            statement=f"{'Beyond' if beyond else 'Within'} the training length RoPE's accuracy is {expected:.0f} %.",
        )


@claim("004, 11.8 Summary, trade-off table")
def c004_fmt_ranges(drope_tradeoff: pd.DataFrame, ranking_cells: pd.DataFrame) -> Iterator[Verdict]:
    """The trade-off table repeats the ranking table's ranges of accuracy; for RoPE, those within training."""
    for model, longest in (("RoPE", 4096), ("DroPE", 8192)):
        rows = ranking_cells[(ranking_cells["positional"] == model) & (ranking_cells["context"] <= longest)]
        reported = quote(drope_tradeoff, aspect="verification_range", positional=model)
        for end, value in (("low", rows["share"].min()), ("high", rows["share"].max())):
            yield compare(
                reported,
                float(value),
                reason=f"The {end} end of the ranking table's cells up to {longest} tokens is {value:.0f} %.",
                places=0,
                key=f"{model}-{end}",
                statement=f"The {end} end of the range of {model} is that of the ranking table.",
                kind="cell check",
            )


@claim("004, 11.8 Summary")
def c004_fmt_trades(drope_tradeoff: pd.DataFrame) -> Verdict:
    """DroPE trades precision within the training length for generalization beyond this length."""
    aspect_count = drope_tradeoff["aspect"].nunique()
    return untestable(
        f"The table's {aspect_count} aspects compare one recalibrated model with one that was not trained further; the "
        "same recalibration with rotary positions kept, and retrieval beyond the training length with enough seeded "
        "trials, would decide it."
    )
