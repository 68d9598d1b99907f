"""The committed ledger covers every section, states each claim once, and has computed, current verdicts."""

import ast
from collections import Counter

import pytest

from analysis.studies.ledger.coverage import ledger_coverage
from boundpaper.claims import VERDICTS
from boundpaper.store import reader as store
from boundpaper.store.documents import judged_sources
from conftest import ROOT, run

DOCUMENTS = judged_sources(ROOT)


@pytest.fixture(scope="module")
def ledger():
    return store.read(ROOT, "claims")


@pytest.fixture(scope="module")
def coverage():
    return store.read(ROOT, "claims_coverage")


# --- the ledger


def test_every_verdict_and_kind_is_known(ledger):
    assert set(ledger["verdict"]) <= set(VERDICTS)
    assert set(ledger["kind"]) == {"statement", "cell check"}
    assert ledger["reason"].str.endswith((".", "?", "!")).all()
    assert not ledger["reason"].str.match(r"(the|a|over|between|from) ").any()


def test_every_document_and_the_thesis_make_statements(ledger):
    statements = ledger[ledger["kind"] == "statement"]
    assert list(statements["source"].drop_duplicates()) == [*DOCUMENTS, "thesis"]
    assert set(ledger.loc[ledger["kind"] == "cell check", "source"]) == set(DOCUMENTS)


def test_statements_of_claims_are_unique(ledger):
    statements = ledger.loc[ledger["kind"] == "statement", "statement"].str.casefold().str.rstrip(".")
    assert [text for text, count in Counter(statements).items() if count > 1] == []
    cells = ledger.loc[ledger["kind"] == "cell check", "statement"].str.casefold().str.rstrip(".")
    assert set(cells) & set(statements) == set()


def test_untestable_claims_state_what_would_decide_them(ledger):
    """Each reason names a missing measurement that "would" decide the claim."""
    undecided = ledger[(ledger["verdict"] == "not testable") & ~ledger["reason"].str.contains(r"\bwould\b")]
    assert list(undecided["claim"]) == []


def test_a_p_value_or_interval_belongs_to_a_number_of_units(ledger):
    tested = ledger[ledger["p_value"].notna() | ledger["ci_low"].notna()]
    assert len(tested) > 50
    assert list(tested.loc[tested["n"].isna(), "claim"]) == []


def test_claims_contain_no_literal_verdict():
    literals = []
    for path in sorted((ROOT / "analysis/claims").glob("[!_]*/**/[!_]*.py")):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
                first = call.args[0] if call.args else None
                named = {word.arg: word.value for word in call.keywords}
                constant = isinstance(first, ast.Constant) if call.func.id == "judge" else False
                constant |= call.func.id == "Verdict" and isinstance(named.get("verdict"), ast.Constant)
                literals += [f"{path.name}:{call.lineno}"] if constant else []
    assert literals == []


def test_committed_ledger_is_up_to_date():
    result = run(ROOT, "claims", "--check")
    assert result.returncode == 0, result.stderr


# --- coverage of the documents


def test_every_section_of_the_ledger_belongs_to_one_section_of_its_document(ledger, coverage):
    table = ledger_coverage(coverage, ledger)
    of_documents = ledger[ledger["source"] != "thesis"]
    assert int(table["judged"].sum()) == int((of_documents["kind"] == "statement").sum())
    assert int(table["cells"].sum()) == int((of_documents["kind"] == "cell check").sum())
    assert table["section"].tolist() == coverage["section"].tolist()


def test_coverage_names_only_sections_of_the_ledger(ledger, coverage):
    known = set(zip(ledger["source"], ledger["section"], strict=True))
    listed = [
        (row["document"], name)
        for _, row in coverage.iterrows()
        for name in (row["ledger_sections"].split(" | ") if row["ledger_sections"] else [])
    ]
    assert [place for place in listed if place not in known] == []


def test_section_with_statements_is_judged_or_has_a_reason(coverage, ledger):
    table = ledger_coverage(coverage, ledger)
    unexplained = table[(table["statements"] > 0) & (table["judged"] + table["cells"] == 0) & (table["left_out"] == "")]
    assert list(unexplained["section"]) == []


def test_coverage_lists_every_document_in_order(coverage):
    assert list(coverage["document"].drop_duplicates()) == list(DOCUMENTS)
    assert coverage["document"].is_monotonic_increasing
    assert not coverage.duplicated(["document", "section"]).any()


# --- the effects


def test_each_effect_has_the_verdict_of_its_claim(ledger):
    effects = store.read(ROOT, "effect_overview")
    verdicts = ledger.set_index("claim")["verdict"]
    assert list(effects["verdict"]) == list(verdicts[effects["claim"]])
    assert ((effects["low"] <= effects["estimate"]) & (effects["estimate"] <= effects["high"])).all()
    assert 20 <= len(effects) <= 30
