"""Massive against random disruption: the report's tests over seeds, and the same questions tested over text sets."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, integer, printed, pvalue

PRINTED_P = {  # comparison: statistic and comparison in the report
    "RoPE: massive against random": ("paired_t_p", "RoPE"),
    "DroPE: massive against random": ("paired_t_p", "DroPE"),
    "RoPE against DroPE: massive minus random": ("independent_t_p", "RoPE against DroPE"),
}
NAMES = {
    "RoPE: massive against random": "within RoPE",
    "DroPE: massive against random": "within DroPE",
    "RoPE against DroPE: massive minus random": "RoPE minus DroPE",
}
TESTS = {"paired_t": "paired t", "student_t": "pooled t"}


def table(disruption_tests: pd.DataFrame, drope_disruption_statistics: pd.DataFrame) -> Table:
    """Return the tests over seeds, then the tests over text sets."""
    printed_cells = drope_disruption_statistics.set_index(["statistic", "comparison"])["printed"]
    seed_tests = disruption_tests[(disruption_tests["unit"] == "seed") & disruption_tests["comparison"].isin(PRINTED_P)]
    seed_tests = seed_tests.assign(
        heading="Over seeds, as in the report",
        bound=[printed_cells[PRINTED_P[comparison]] for comparison in seed_tests["comparison"]],
        what=[TESTS[test] for test in seed_tests["test"]],
        mark="copied",
    )
    text_tests = disruption_tests[disruption_tests["unit"] == "text set"]
    text_tests = text_tests[text_tests["comparison"].isin(PRINTED_P)]
    text_tests = text_tests.assign(heading="Over text sets", bound=None, what="Student's t", mark="floor")
    suffixes = {"estimate": "", "ci_low": "_low", "ci_high": "_high"}
    rows = pd.concat(
        [
            seed_tests.rename(columns={name: f"percent{end}" for name, end in suffixes.items()}),
            text_tests.rename(columns={name: f"nats{end}" for name, end in suffixes.items()}),
        ],
        ignore_index=True,
    )
    rows = rows.assign(name=rows["comparison"].map(NAMES))
    n = int(text_tests["n"].iloc[0])
    ratio = text_tests.set_index("comparison").loc["RoPE against DroPE: massive minus random"]
    return Table(
        rows=rows,
        columns=[
            Column("name", "Comparison"),
            Column("what", "Test"),
            Column("n", "n"),
            Column("percent", "%", integer(), ci=("percent_low", "percent_high"), group="Difference", blank=True),
            Column("nats", "nats", fixed(2), ci=("nats_low", "nats_high"), group="Difference", blank=True),
            Column("bound", "printed", printed(), group="$p$", missing="The report has no such test."),
            Column("p_value", "recomputed", pvalue(), group="$p$", mark="mark"),
        ],
        groups="heading",
        marks={
            "copied": (
                "No evidence beyond one number: baseline and massive perplexity are the same value for each seed, so "
                "the test measures only how exactly the random control is known."
            ),
            "floor": (
                f"Interval and p take {n} changes to be normal, which so few cannot show; the signs alone allow no p "
                f"below {fixed(2).show(2 / 2**n, 'plain')}."
            ),
        },
        caption=(
            "Massive minus random disruption, within each model and between the two, with 95 % intervals: the tests of "
            "the report's Section 3.2 recomputed over seeds, in percent of the baseline perplexity, and the difference "
            f"of log-perplexity over {n} text sets, in nats [@africa2026]."
        ),
        short="Massive minus random disruption, over seeds and over text sets",
        note=(
            "Text sets: Student's intervals and p over sets, not corrected. The ratio of the percent increases is "
            f"{ratio['effect']:.0f} from the mean nats, and {printed_cells[('reliance_ratio', 'RoPE against DroPE')]} "
            "in the source, from the literary set alone. The massive dimensions were chosen on the literary set."
        ),
    )
