"""Claims on document 002 about the contents of its own tables, each made true and false."""

from claims_cases import prints, say, verdict, verdicts


def test_drops_are_first_fifth_minus_last_fifth():
    table = [("a", "ap_first_20", "0.80"), ("a", "ap_last_20", "0.60")]
    for claim in ("c002_t1_drop", "c002_all_models_drop"):
        assert say(claim, prints("model metric printed", *table, ("a", "ap_drop", "0.20"))) == {"a": "holds: 0.2000"}
        assert say(claim, prints("model metric printed", *table, ("a", "ap_drop", "0.14"))) == {
            "a": "contradicted: 0.2000"
        }


def test_totals_are_last_bin_minus_first_bin():
    table = [("a", "0-8K", "0.80"), ("a", "64K-128K", "0.60")]
    assert say("c002_t2_total", prints("model bin printed", *table, ("a", "total", "-0.20"))) == {"a": "holds: -0.2000"}
    answers = say("c002_t2_total", prints("model bin printed", *table, ("a", "total", "0.20")))
    assert answers == {"a": "contradicted: -0.2000"}


def test_sorted_table_claim_is_contradicted_by_a_rise():
    table = prints("model metric printed", ("a", "ap_overall", "0.8"), ("b", "ap_overall", "0.7"), ("a", "lbp", "90"))
    assert verdict("c002_all_models_sorted", table) == "holds"
    assert verdict("c002_all_models_sorted", table.iloc[::-1]) == "contradicted"


def test_fifths_are_means_of_two_deciles():
    deciles = prints("model decile printed", *[("a", index, f"0.{index}0") for index in range(10)])
    table = prints("model metric printed", ("a", "ap_first_20", "0.05"), ("a", "ap_last_20", "0.80"))
    answers = say("c002_t4_ends", table, deciles)
    assert answers == {"a-ap_first_20": "holds: 0.0500", "a-ap_last_20": "contradicted: 0.8500"}


def test_declines_are_changes_from_the_first_length():
    table = [("a", "4k", "ruler", "80"), ("a", "8k", "ruler", "60")]
    table += [("a", "4k", "plasticity", "0.80"), ("a", "8k", "plasticity", "0.60")]
    original = prints("model length metric printed", *table)

    def answers(change):
        changes = [("a", "8k", "ruler_change", change), ("a", "8k", "plasticity_change", "-25%")]
        copy = prints("model length metric printed", *table, ("a", "4k", "ruler_change", ""), *changes)
        return verdicts("c002_declines_cells", copy, original)

    copied = [f"a-{length}-{metric}" for metric in ("ruler", "plasticity") for length in ("4k", "8k")]
    keys = [*copied, "a-8k-ruler_change", "a-8k-plasticity_change"]
    assert answers("-25%") == dict.fromkeys(keys, "holds")
    assert answers("-33%") == {**dict.fromkeys(keys, "holds"), "a-8k-ruler_change": "contradicted"}
