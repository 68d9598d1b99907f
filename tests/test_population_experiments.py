"""The DroPE report's experiments, run on the population: items of its language, and differences computed by hand."""

import pandas as pd
import pytest

from analysis.claims.thesis.population import experiments as claims
from analysis.studies.population.errors import population_errors
from analysis.studies.population.experiments import population_directions, population_experiments
from conftest import ROOT
from keyquery.language.book import BOOK
from keyquery.language.words import NAMES, WORDS
from keyquery.measure.quantities import QUANTITIES

SHARE = "layer1_share"


def test_every_word_of_an_item_is_in_the_vocabulary_and_keys_belong_to_names():
    for task in BOOK.tasks():
        for item in BOOK.items(task, 12, 0, None, length=96):
            assert set(f"{item.prompt} {item.answer}".split()) <= set(WORDS)
            assert len(item.prompt.split()) == 95  # and the beginning
    for item in BOOK.items("passkey", 12, 0, None, length=128):
        prompt, key = item.prompt.split(), item.facts["key"].split()
        name = item.facts["name"]
        assert name in NAMES
        assert prompt[-5:] == ["tell", "the", "key", "of", name]
        start = prompt.index("remember")
        assert prompt[start : start + 6 + len(key)] == ["remember", "the", "key", "of", name, *key, "."]
        assert len(key) in (4, 5)


def test_book_texts_resemble_training_texts():
    [text] = BOOK.texts("mixed", 1, 400, 3, None)
    assert len(text.split()) == 399
    assert set(text.split()) <= set(WORDS)
    assert "key of" in " ".join(BOOK.texts("mixed", 8, 400, 0, None))


def models(seeds):
    rows = [
        {"model": f"b400-s{seed}-{arm}", "arm": arm, "base": 400, "seed": seed, "reached": False}
        for seed in seeds
        for arm in "ABC"
    ]
    return pd.DataFrame([*rows, {"model": "b10000-s1-C", "arm": "C", "base": 10_000, "seed": 1, "reached": True}])


def quantities(values, seeds, **other_values):
    """Return rows of all quantities: `SHARE` from `values` by arm, with noise over seeds for C; others 0 by default."""
    rows = []
    for name in models(seeds)["model"]:
        seed, arm = int(name.split("-s")[1][0]), name[-1]
        for quantity in QUANTITIES:
            value = other_values.get(quantity.key, 0.0)
            if quantity.key == SHARE:
                value = values[arm] + 0.1 * seed * (arm == "C")
            rows.append({"model": name, "quantity": quantity.key, "value": value, "reason": ""})
    table = pd.DataFrame(rows)
    absent = table["quantity"] == "massive_minus_random"
    return table.assign(
        value=table["value"].mask(absent), reason=table["reason"].mask(absent, "no dimension above 5 times the mean")
    )


def reported(rope=27.0, drope=69.0):
    direction = "higher" if drope > rope else "lower"
    rows = [
        (SHARE, rope, drope, direction),
        ("massive_query", 1.0, 2.0, "higher"),
        ("massive_minus_random", 0, 1, "higher"),
    ]
    return pd.DataFrame(rows, columns=["quantity", "rope", "drope", "direction"]).assign(place="004 8.3 T1")


def test_difference_is_dropped_minus_kept_by_seed_with_the_start_noted():
    table = population_experiments(quantities({"A": 30.0, "B": 50.0, "C": 60.0}, (1, 2)), models((1, 2)), reported())
    row = table.set_index("quantity").loc[SHARE]
    assert (row["start"], row["kept"]) == (30.0, 50.0)
    assert row["dropped"] == pytest.approx(60.15)  # 60.1 and 60.2; the model of the other base is excluded
    assert (row["difference"], row["since_start"]) == (pytest.approx(10.15), pytest.approx(30.15))
    # two seeds: 12.7062 is Student's 97.5 % point with one degree of freedom, .05 the standard error
    assert row["difference_low"] == pytest.approx(10.15 - 12.7062 * 0.05, abs=1e-4)
    assert (row["appears"], row["seeds"]) == ("yes", 2)
    appears = table.set_index("quantity")["appears"]
    assert appears["massive_query"] == "not measurable"  # zero in every model
    assert appears["massive_minus_random"] == "not measurable"
    assert "no dimension above 5 times the mean" in table.set_index("quantity")["note"]["massive_minus_random"]
    assert appears["write"] == "not reported"
    counts = population_directions(table).set_index(["against", "what"])["count"]
    assert (counts["kept", "quantities"], counts["kept", "decided"], counts["kept", "yes"]) == (len(QUANTITIES), 1, 1)


@pytest.mark.parametrize(("kept", "word", "since"), [(70.0, "opposite", "yes"), (60.15, "no", "yes")])
def test_effect_of_the_pair_is_also_compared_with_the_control(kept, word, since):
    table = population_experiments(quantities({"A": 30.0, "B": kept, "C": 60.0}, (1, 2)), models((1, 2)), reported())
    row = table.set_index("quantity").loc[SHARE]
    assert (row["appears"], row["appears_since_start"]) == (word, since)


def test_quantity_reported_in_both_directions_counts_for_neither():
    rows = pd.read_csv(ROOT / "artifacts/results/population_experiments.csv")
    rows = rows[rows["direction"].isin(["higher", "lower"]) & rows["dropped"].gt(0)]
    assert set(rows.loc[rows.duplicated(["kept", "dropped"], keep=False), "appears"]) == {"two directions"}


SEEDS = tuple(range(1, 8))


@pytest.mark.parametrize(
    ("kept", "seeds", "verdict"),
    [
        (50.0, SEEDS, "holds"), (70.0, SEEDS, "contradicted"), (60.35, SEEDS, "not significant"),
        (50.0, (1, 2, 3), "not testable"),
    ],
)  # fmt: skip
def test_experiment_claim_is_judged_by_the_interval_over_enough_seeds(kept, seeds, verdict):
    table = population_experiments(quantities({"A": 30.0, "B": kept, "C": 60.0}, seeds), models(seeds), reported())
    verdicts = {verdict.key: verdict for verdict in claims.thesis_population_experiments(table)}
    assert verdicts[SHARE].verdict == verdict
    assert verdicts["massive_minus_random"].verdict == "not testable"


def test_interval_beyond_zero_holds_only_with_a_significant_corrected_test():
    """A difference of 2 over seven seeds has p = .030 (t = 2.83): significant alone, not if two tests are corrected."""
    half = 2.0 * 2.4469 / 2.83  # 2.4469: Student's 97.5 % point with six degrees of freedom
    rows = pd.DataFrame({"quantity": ["one", "two"], "difference": [2.0, 0.1]})
    rows = rows.assign(difference_low=rows["difference"] - half, difference_high=rows["difference"] + half, seeds=7)
    rows = rows.assign(direction="higher", appears=["yes", "no"], label="x", unit="%", note="")
    rows = rows.assign(reported_rope=1.0, reported_drope=2.0, kept=1.0, dropped=3.0)
    alone = {verdict.key: verdict.verdict for verdict in claims.thesis_population_experiments(rows[:1])}
    both = {verdict.key: verdict.verdict for verdict in claims.thesis_population_experiments(rows)}
    assert (alone["one"], both["one"]) == ("holds", "not supported")


def keys(letters):
    """Return rows with each model's answers (`letters`) at the training length, and rows to be ignored."""
    rows = [(name, "own", 1.0, answers) for name, answers in letters.items()]
    rows += [(name, "yarn", 2.0, "iiii") for name in letters]
    return pd.DataFrame(rows, columns=["model", "encoding", "multiple", "letters"])


def test_wrong_keys_are_counted_by_error_class():
    letters = {"b400-s1-B": "eeewo", "b400-s1-C": "eeeii", "b400-s1-A": "eeeee"}
    table = population_errors(keys(letters), models((1,))).set_index(["model", "kind"])
    assert list(table.loc[("b400-s1-B", "wrong_length"), ["count", "errors", "asked", "share"]]) == [1, 2, 5, 0.5]
    assert table.loc[("b400-s1-C", "insertion"), "share"] == 1
    assert table.loc[("b400-s1-A", "insertion"), ["count", "errors"]].tolist() == [0, 0]
    assert pd.isna(table.loc[("b400-s1-A", "insertion"), "share"])


@pytest.mark.parametrize(
    ("second", "insertion", "run_deletion"),
    [
        ("eeiii", "holds", "contradicted"), ("eerrr", "contradicted", "holds"),
        ("eirww", "not supported", "not supported"), ("eeeee", "not testable", "not testable"),
    ],
)  # fmt: skip
def test_miscounting_claim_distinguishes_insertions_from_deletions(second, insertion, run_deletion):
    seeds = range(1, 9)
    letters = {f"b400-s{seed}-B": "ewirw" for seed in seeds} | {f"b400-s{seed}-C": second for seed in seeds}
    verdicts = claims.thesis_population_miscounts(population_errors(keys(letters), models(seeds)))
    assert {each.key: each.verdict for each in verdicts} == {"insertion": insertion, "run_deletion": run_deletion}


def test_miscounts_of_few_seeds_are_not_testable():
    letters = {f"b400-s{seed}-{arm}": "eirww" for seed in range(1, 6) for arm in "BC"}
    verdicts = claims.thesis_population_miscounts(population_errors(keys(letters), models(range(1, 6))))
    assert {verdict.verdict for verdict in verdicts} == {"not testable"}
