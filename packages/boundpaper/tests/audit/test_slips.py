"""Each kind of contradiction is found where it was planted, and similar but correct documents give no finding."""

import random

import pytest

from boundpaper.audit import checks, markdown


def table(header, *rows):
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (header, ["--"] * len(header), *rows))


def parsed_table(text):
    """Return a Markdown table from text that separates rows by `;` and cells by `,`."""
    return table(*(row.split(",") for row in text.split(";")))


def findings(text):
    return checks.audit([markdown.read(text, "paper.md")])


GAIN = ["Field", "Before", "After", "Gain"]
YIELDS = [r.split() for r in ("north 10.1 12.4 2.3", "east 11.7 19.2 7.5", "south 13.3 16.0 2.7", "west 20.9 26.0 5.1")]
HEIGHTS = [r.split() for r in ("red 10.1 22.4 33.3 21.9", "blue 11.7 29.2 31.1 24.0", "green 13.3 26.0 35.7 25.0")]


def with_cell(rows, row, column, text):
    return [[text if (i, j) == (row, column) else cell for j, cell in enumerate(cells)] for i, cells in enumerate(rows)]


COUNTS = [["2021", "41", "17"], ["2022", "55", "23"], ["2023", "62", "31"], ["Total", "158", "71"]]
TIMES = [["small", "12.40", "3.10", "4.00x"], ["middle", "30.10", "5.00", "6.02x"], ["large", "81.00", "9.10", "8.90x"]]
TIMES += [["huge", "99.00", "9.00", "11.00x"]]
CHANGES = [r.split() for r in ("a 40.0 50.0 +25.0%", "b 80.0 88.0 +10.0%", "c 61.0 54.9 -10.0%", "d 33.0 66.0 +100.0%")]
LAMPS = [["red lamp", "18.41", "22.75"], ["blue lamp", "19.32", "24.11"], ["green lamp", "17.55", "21.08"]]


def two_tables(second):
    header = ["Lamp", "Day", "Night"]
    return f"# Heights\n\n{table(header, *LAMPS)}\n# Summary\n\n{table(header, *second)}"


PLANTED = [
    ("relation", table(GAIN, *with_cell(YIELDS, 2, 3, "3.7")), "Gain = 3.7 of south"),
    (
        "relation",
        table(["Run", "Base (s)", "Ours (s)", "Speedup"], *with_cell(TIMES, 1, 3, "7.02x")),
        "7.02x of middle",
    ),
    ("relation", table(["Lamp", "Old", "New", "Change"], *with_cell(CHANGES, 2, 3, "+10.0%")), "+10.0% of c"),
    ("relation", table(["Lamp", "Old", "New", "Change"], *with_cell(CHANGES[1:3], 0, 3, "+16.0%")), "+16.0% of b"),
    ("relation", parsed_table("Stamp,Kafka,Redis,Difference;a,0.392,0.106,+0.286;b,0.322,0.207,+0.215"), "+0.215 of b"),
    (
        "relation",
        parsed_table("Run,Old,New,Gain;a,6.07,6.01,-0.06 ✅;b,6.26,5.23,-1.03 ❌;c,5.99,7.32,+1.38"),
        "+1.38 of c",
    ),
    ("relation", parsed_table("Load,Slow,Fast,Fall;a,459,17,27x;b,1032,144,4x;c,1320,34,39x;d,2214,34,65x"), "4x of b"),
    ("total", table(["Lamp", "Mon", "Tue", "Wed", "Mean"], *with_cell(HEIGHTS, 2, 4, "27.0")), "Mean = 27.0 of green"),
    ("total", table(["Lamp", "Mon", "Tue", "Wed", "Avg."], *with_cell(HEIGHTS, 0, 4, "21.4")), "Avg. = 21.4 of red"),
    (
        "total",
        parsed_table("Year,Born,Died,Lost;2021,41,17,41;2022,55,23,55;2023,62,31,62;Total,158,74,158"),
        "Total = 74",
    ),
    ("total", table(["Year", "Born"], *with_cell([r[:2] for r in COUNTS], 3, 1, "161")), "Total = 161"),
    ("same-quantity", two_tables(with_cell(LAMPS, 1, 2, "24.71")), "blue lamp, Night = 24.71"),
    ("same-quantity", two_tables(with_cell(LAMPS, 0, 1, "14.81")), "red lamp, Day = 14.81"),
    ("arithmetic", "The height falls from 20.0 to 15.0 cm, a 35% reduction.", "a 35%"),
    ("arithmetic", "Accuracy improves from 71.2% to 75.9% (+6.7 points).", "+6.7 points"),
    ("arithmetic", "It needs 12.0 s -> 4.0 s (2.5x faster).", "2.5x"),
    ("arithmetic", "We saw a 30% increase from 12.0 to 18.0 cm.", "30% increase"),
    ("arithmetic", "The lamp is right in 12 of 20 trials (65%).", "12 of 20"),
    ("arithmetic", "Only 25% (7 of 20) grew.", "25% (7 of 20"),
    ("arithmetic", "The drop is 12.5 - 3.1 = 9.9 in all.", "12.5 - 3.1 = 9.9"),
    ("arithmetic", "Together 12 + 7 + 5 = 25 plants.", "12 + 7 + 5 = 25"),
    ("statistic", "They differ, t(20) = 1.10, p = .03.", "t(20) = 1.10"),
    ("statistic", "They differ, F(2, 56) = 1.203, p < .001.", "F(2, 56)"),
    ("statistic", "The lamps differ (χ²(2, N = 90) = 1.20, p = .02).", "χ²(2"),
    ("statistic", "It is related (r = 0.45, n = 30, p = 0.5).", "r = 0.45"),
    ("statistic", "The score is z = 0.30, p = .01.", "z = 0.30"),
    ("statistic", "A strange result, p = 1.2, came out.", "p = 1.2"),
    ("statistic", "In all 62.5% of 20 participants left.", "62.5% of 20"),
    ("statistic", "The slope is 4.5 (95% CI [5.1, 6.2]).", "4.5 (95% CI"),
    ("caption-number", "Figure 1: A lamp.\n\nFigure 2: A bean.\n\nFigure 2: A pot.", "Figure 2"),
    ("caption-number", "Table 1: A.\n\nTable 2: B.\n\nTable 4: C.", "Table 3"),
    ("reference", "See Figure 5.\n\nFigure 1: A lamp.\n\nFigure 2: A bean.", "Figure 5"),
    ("relation", parsed_table("Lamp,Lit,%;a,3 / 4,75%;b,5 / 8,63%;c,1 / 2,60%"), "60% of c"),
    ("relation", table(["Lamp", "Lit"], ["a", "3/4 (75%)"], ["b", "5 of 8 (62%)"], ["c", "1/2 (20%)"]), "= 20% of c"),
    ("total", parsed_table("L,Lit;a,310 of 400;b,257 of 381;c,111 of 214;Total,668 of 995"), "= 668"),
    ("section-number", "# P\n\n## 1. Lamps\n\n## 2. Beans\n\n## 2. Pots\n\n## 3. End", "2. Pots"),
]


@pytest.mark.parametrize(("kind", "text", "printed"), PLANTED, ids=[f"{kind}-{what[:18]}" for kind, _, what in PLANTED])
def test_a_planted_slip_is_the_one_finding(kind, text, printed):
    (finding,) = findings(text)
    assert finding.kind == kind
    assert printed in finding.printed


OTHER_LAMPS = [["red lamp", "9.91"], ["blue lamp", "19.32"], ["green lamp", "17.55"]]
CORRECT = [
    table(GAIN, *YIELDS),
    table(["Run", "Base (s)", "Ours (s)", "Speedup"], *TIMES),
    table(["Lamp", "Old", "New", "Change"], *CHANGES),
    table(["Lamp", "Mon", "Tue", "Wed", "Mean"], *HEIGHTS),
    table(["Year", "Born", "Died"], *COUNTS),
    table(["Run", "Old", "New", "Δ"], ["a", "40.0", "52.0", "+12.0"], ["b", "50.0", "60.0", "+20.0%"]),
    table(["Lamp", "Mon", "Tue", "Total"], ["a", "3", "4", "9"], ["b", "2", "8", "17"]),
    table(["Run", "Highest", "Lost", "Share"], ["a", "100.0", "40.0", "40.0"], ["b", "100.0", "40.0", "80.0"]),
    table(GAIN, *with_cell(YIELDS, 2, 3, "3.7*")) + "\n* another field.\n",
    two_tables(LAMPS),
    two_tables([[name, f"{float(a) + 1.7:.2f}", f"{float(b) - 3.3:.2f}"] for name, a, b in LAMPS]),
    f"# At 8K\n\n{table(['Lamp', 'Day'], *[r[:2] for r in LAMPS])}\n# At 32K\n\n{table(['Lamp', 'Day'], *OTHER_LAMPS)}",
    table(["Lamp", "Lit", "%"], ["a", "2 / 3", "66%"], ["b", "5 / 8", "63%"], ["c", "1 / 2", "50%"]),
    parsed_table("What,Old,New,Change;a,80.5%,88.0%,+7.5%;b,61.0,54.9,-10.0%;c,33.0,66.0,+100.0%"),
    parsed_table("Kind,F1,Support;a,0.5,14;b,0.7,9;c,0.9,8;Macro avg,0.7,31"),
    parsed_table("Run,Old,New;a,1.5x,2.0x;b,1.2x,1.9x;c,0.7x,1.3x;Total,3.4x,1.1x"),
    parsed_table("Rank,A,B;1,3/8 (38%),8/8 (100%);5,8/8 (100%),8/8 (100%)"),
    parsed_table(
        "L,N,All,Mean;a,66,66,1.0;b,71,71,1.002;c,58,58,0.999;d,43,43,1.001;e,91,91,1.003;f,37,37,.998;g,72,72,1.034"
    ),
    parsed_table(
        "Group,N,Mean,Won;applied,75,1.0448,36/37;run delta > 10%,21,1.1088,10/10;run delta <= 10%,54,1.0351,26/27"
    ),
    "The ratio's test gives p = 1.2 x 10^-5.",
    "We saw 0 / 500 wrong answers (95 % Wilson upper bound: 0.74 %), and it is 24.9% (95% CI [0.226, 0.276]).",
    "The count fell 2310 → 2328 → 2283 → 2217 (-4.0%). Ordered at K=30 → 60 % (-13.3 pp) it is worse.",
    "Is 4 + 2 = 7? It is $1 + \\sqrt{6} = 3.449$ and 1 + √8 ≈ 3.8284, or √9 + 1 = 4.",
    "The ratio is 0.853 -> 0.710 at 30% -> 70% and, at 30% to 70% then 0.853 -> 0.710.",
    "# P\n\n## 1.1 A\n\n## 1.2 B\n\n## 1.3.1 C\n\n## 1.3.2 D\n\n## 1.4 E\n\n## 1.5 F\n",
    "The height falls from 20.0 to 15.0 cm, a 25% reduction.",
    "The height rises from 15.0 to 20.0 cm, a 25% gap of the new one.",
    "Accuracy improves from 71.2% to 75.9% (+4.7 points), or from 50% to 75% (a 50% gain).",
    "The mill is 725x more costly than the lamp (1815x vs 2.5x), 37x larger (101.3 vs 2.7), 73% lower (25% vs 94.3%).",
    "It cut 30% of cost, with fewer lamps (12 vs 16). In 2x more places (two vs three) it rose.",
    "Loss falls from 0.80 to 0.60 (-20 points).",
    "It needs 12.0 s -> 4.0 s (3x faster); 12.0 s vs 4.0 s (about 3x).",
    "It is right in 12 of 20 trials (60%), in 2/3 (66.6%) and in 7 of 9 cases (78%).",
    "The drop is 12.5 - 3.1 = 9.4, or 12 + 7 + 5 = 24, or 12/20 = 60%, and x - 5 - 3 = 4 or 2^3 - 1 = 6.",
    "The mass doubles from 4.0 to 8.3 g and more than doubles from 4.0 to 9.9 g.",
    "Growth from 2019 to 2023 was 12%. In 3 x 3 grids 5 of 6 lamps glow, 224x224 pixels each.",
    "They differ, t(20) = 2.10, p = .048, F(2, 56) = 12.03, p < .001, χ²(2, N = 90) = 9.2, p = .010.",
    "They differ, t(20) = 1.80, p = .043, one-tailed.",
    "Corrected, t(20) = 2.10, p = .20 after Bonferroni's adjusted rule.",
    "It is related (r = 0.45, n = 30, p = 0.013). In all 65% of 20 participants left, 33% of 200 participants stayed.",
    "The slope is 4.5 (95% CI [4.1, 6.2]) with p = 0.03 (95% CI 1.1 to 2.2).",
    "See Figure 2 and Figure 9 of the original report.\n\nFigure 1: A lamp.\n\nFigure 2: A bean.",
    "# P\n\n## 1. A\n\n### 1. Buy\n\n### 2. Lit\n\n### 3. Off\n\n## 2. B\n\n### 1. Buy\n\n### 2. Sow\n\n### 3. Eat\n",
    "# P\n\n## 1. Lamps\n\n## 2, 5. Pots\n\n## 3. Beans\n\n## 4. Soil\n\n## 6. Water\n",
    "# P\n\n## 1. Lamps\n\n## 2. Pots\n\n## 12. Beans\n\n## 6. Soil\n\n## 8. Water\n",
    parsed_table("Wing,Seen,Best;left,461,-1.0;right,318,-4.0;upper,728,-1.0;lower,572,-2.0;Total,2079,-1.0"),
    parsed_table("Run,Slow,Fast,Speedup;a,30.00,8.00,3.75x;b,181.76,43.52,4.17x;c,99.00,9.00,11.00x"),
    parsed_table(
        "Run,Low,Mid,High,Avg score;a,0.50,0.60,0.70,0.60;b,0.3,0.4,0.5,0.4;c,0.2,0.3,0.4,0.3;d,0.40,0.49,0.52,0.47"
    ),
    parsed_table(
        "Load,Send,p95,p99;a,0.05,1.40,1.45;b,0.06,1.70,1.76;c,0.05,3.04,3.09;d,0.05,4.73,4.83;e,0.05,8.02,8.07"
    ),
    parsed_table("Run,Rate,Median,Mean;a,100%,2.5,2.6;b,24%,2.9,3.0;c,100%,1.4,1.4;d,100%,3.7,3.8;e,100%,5.1,5.2"),
    parsed_table("Kind,Found,Recall,Total;a,5,1.000,5;b,6,1.000,6;c,8,1.000,8;d,4,1.000,4;e,9,1.000,9;All,63,0.840,75"),
    "# Changelog\n\n## 1.2 Lamps\n\n## 1.2 Beans\n\n## 1.5 Pots\n",
    "Requires Python 3.11, version 2.0 to 3.0 of numpy, 50-65K tokens, a batch of 8 - 16, ids 3-5.",
    "Table 5.1. Gains.\n\nTable 5.2. Losses, from Table 6 of the study.\n\nTable 5.3. Sums.",
]


@pytest.mark.parametrize("text", CORRECT, ids=range(len(CORRECT)))
def test_correct_text_has_no_findings(text):
    assert not findings(text), [str(finding) for finding in findings(text)]


def _table_with_slip(rng, formula, unit=""):
    """Return rows whose last column follows from two others but has a wrong digit in one row, and this row's index."""
    pairs = [[round(rng.uniform(20, 90), 1) for _ in "ab"] for _ in range(8)]
    rows = [[f"lamp {i}", f"{a:.1f}", f"{b:.1f}", f"{formula(a, b):.1f}{unit}"] for i, (a, b) in enumerate(pairs)]
    row = rng.randrange(8)
    printed = rows[row][3].removesuffix(unit)
    position = rng.choice([i for i, sign in enumerate(printed) if sign.isdigit()][:-1])
    digit = rng.choice("123456789".replace(printed[position], ""))
    rows[row][3] = printed[:position] + digit + printed[position + 1 :] + unit
    return rows, row


@pytest.mark.parametrize(
    ("name", "formula", "unit"),
    [
        ("Difference", lambda a, b: a - b, ""), ("Change", lambda a, b: 100 * (b - a) / a, "%"),
        ("Mean", lambda a, b: (a + b) / 2, ""), ("Total", lambda a, b: a + b, ""),
        ("Relative", lambda a, b: 100 * a / b, "%"),
    ],
)  # fmt: skip
def test_nine_of_ten_slips_in_a_derived_column_are_found(name, formula, unit):
    rng = random.Random(38)
    hits = 0
    for _ in range(20):
        rows, row = _table_with_slip(rng, formula, unit)
        hits += {finding.place.line for finding in findings(table(["Lamp", "Old", "New", name], *rows))} == {row + 3}
    assert hits >= 18


def test_random_table_has_no_findings():
    rng = random.Random(7)
    for _ in range(30):
        rows = [[f"lamp {i}", *(f"{rng.uniform(1, 99):.1f}" for _ in range(6))] for i in range(9)]
        assert not findings(table(["Lamp", "Gain", "Old", "New", "Ratio", "Mean change", "Total"], *rows))


LOSSES = "Field,Seen,Lost,Gain;a,6.07,6.01,-0.06;b,6.26,5.23,-1.03;c,5.90,7.28,+1.38;e,7.12,9.35,+2.23;d,4.01,2.63,"
COUNTS_LEFT = "Part,Total,Allowed,Forbidden,New,Left;a,{0},163,2,0,2;b,{1},43,2,0,2;c,{2},64,1,0,1;all,275,270,5,0,5"
STRONG = [
    (LOSSES + "-1.83", "error"), (LOSSES + "+2.97", "note"),
    (LOSSES.replace("+2.23", "+2.28") + "-1.38;f,3.1,4.2,-1.1;g,1.35,8.46,+7.11;h,2.51,4.02,+1.51", "note"),
    (COUNTS_LEFT.format(167, 47, 66), "error"), (COUNTS_LEFT.format(165, 45, 65), "note"),
    ("Part,Total,Passed,Failed;a,12,12,0;b,6,6,0;c,8,8,3;d,18,18,0", "error"),
    ("Part,Total,Allowed,Forbidden,Closed;a,165,164,1,1;b,45,42,1,1;c,275,273,2,2;d,67,66,1,1", "error"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "level"), STRONG, ids=range(len(STRONG)))
def test_slip_is_an_error_only_if_changing_one_digit_corrects_it(text, level):
    assert {finding.level for finding in findings(parsed_table(text))} == {level}
