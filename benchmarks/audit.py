"""Count alarms of `boundpaper audit` in documents, planted slips that it finds, and known contradictions that it finds.

    python benchmarks/audit.py [DOCUMENTS] [--draws N] [--sources FOLDER]

Without DOCUMENTS the script counts the alarms in `audit_alarms.csv`, which readers judged. DOCUMENTS is a folder of
Markdown, LaTeX and HTML files. For each relation of columns that holds in every row of a table, the script plants N
slips in turn: it changes one digit in one cell of the relation. A slip is found if the audit of the table then gives a
new alarm. FOLDER has the five documents of the thesis; the ledger lists their contradictions by line.
"""

import argparse
import csv
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from statsmodels.stats.proportion import proportion_confint

from boundpaper.audit import checks, relations
from boundpaper.audit.documents import ReadDocument, ReadTable
from boundpaper.audit.finding import Finding
from boundpaper.audit.reading import READERS, read
from boundpaper.errors import DataError

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "artifacts" / "results"
SEED = 38
WRONG = ("contradicted", "not supported")
NUMBERING = {"section-number": "c004_sections_numbered_once"}
"""The ledger row about numbers of sections, which has no line in a document, by kind of finding."""


def documents(folder: Path) -> Iterator[ReadDocument]:
    """Read the readable documents of a folder, sorted by name."""
    for path in sorted(each for each in folder.rglob("*") if each.suffix.lower() in READERS):
        try:
            yield read(path, str(path))
        except DataError as error:
            print(f"not read: {error}")


def format_share(found: int, total: int, method: str = "beta") -> str:
    """Return a count and its share of the total with a 95 % interval, by default exact (Clopper-Pearson)."""
    if not total:
        return "0 of 0"
    low, high = proportion_confint(found, total, method=method)
    return f"{found} of {total} ({100 * found / total:.0f} %, {100 * low:.0f} to {100 * high:.0f})"


def exact_relations(table: ReadTable) -> list[relations.ColumnRelation]:
    """Return the relations of columns that hold in at least two rows of a table and fail in none."""
    return [each for each in relations.accepted(table) if not each.deviations and len(each.agreeing_rows) > 1]


def plant_slip(
    table: ReadTable, relation: relations.ColumnRelation, rng: random.Random
) -> tuple[ReadTable, bool, str] | None:
    """Change one digit in a cell of a relation; return the table, whether the relation breaks, and the cell.

    Returns None if the chosen cell has no digit.
    """
    line, transposed = rng.choice(relation.agreeing_rows), relation.table.is_transposed
    index = rng.choice(relation.columns).index
    numeric = sorted(column.index for column in table.columns)
    row, column = (index - 1, numeric[line]) if transposed else (line, index)
    old = table.rows[row]
    text = old[column]
    offsets = [match.start() for match in re.finditer(r"\d", text)]
    if not offsets:
        return None
    offset = rng.choice(offsets)
    digits = [digit for digit in "0123456789" if digit != text[offset] and (digit > "0" or offset > offsets[0])]
    cells = (*old[:column], text[:offset] + rng.choice(digits) + text[offset + 1 :], *old[column + 1 :])
    new = replace(table, rows=(*table.rows[:row], cells, *table.rows[row + 1 :]))
    upright = new.transposed() if transposed else new
    by_key = {(column.name, column.index): column for column in upright.columns}
    columns = tuple(by_key[key] for each in relation.columns if (key := (each.name, each.index)) in by_key)
    refit = len(columns) == len(relation.columns) and relations.fit_relation(
        upright, relation.formula, columns, total=relation.total
    )
    return new, not refit or line not in refit.agreeing_rows, cells[column].strip()


def print_planted(documents: Sequence[ReadDocument], draws: int) -> None:
    """Print how many planted slips are found, by formula of the relation."""
    rng = random.Random(SEED)
    found: dict[str, Counter[bool]] = defaultdict(Counter)
    for document in documents:
        for table in (table.split_counts() for table in document.tables):
            before = _alarms(replace(document, tables=[table]))
            for relation in exact_relations(table) * draws:
                slip = plant_slip(table, relation, rng)
                if slip and slip[1]:
                    after = _alarms(replace(document, tables=[slip[0]]))
                    for kind in ("all", ("total: " if relation.total else "") + relation.formula):
                        found[kind][bool(after - before)] += 1
    print("| relation | slips found |\n|:--|:--|")
    for kind in sorted(found):
        print(f"| {kind} | {format_share(found[kind][True], found[kind].total())} |")


def _alarms(document: ReadDocument) -> set[str]:
    """Return the alarms in the tables of a document, without notes."""
    return {str(each) for each in relations.check(document) if each.level != "note"}


def print_single_slips(documents: Sequence[ReadDocument]) -> None:
    """Plant one slip in each document that has a relation; print all alarms, and how many name the changed cell."""
    rng, all_alarms, at_cell, detected, total = random.Random(SEED), 0, 0, 0, 0
    for document in documents:
        tables = [table.split_counts() for table in document.tables]
        sites = [(number, relation) for number, table in enumerate(tables) for relation in exact_relations(table)] * 3
        slips = ((number, plant_slip(tables[number], each, rng)) for number, each in rng.sample(sites, len(sites)))
        number, chosen = next(((number, slip) for number, slip in slips if slip and slip[1]), (0, None))
        if chosen is None:
            continue
        changed = replace(document, tables=[*tables[:number], chosen[0], *tables[number + 1 :]])
        alarms = [finding for finding in checks.audit([changed]) if finding.level != "note"]
        naming_cell = [alarm for alarm in alarms if chosen[2] in alarm.values]
        print(*(f"slip {chosen[2]}: {alarm}" for alarm in alarms), sep="\n")
        total, detected = total + 1, detected + bool(naming_cell)
        all_alarms, at_cell = all_alarms + len(alarms), at_cell + len(naming_cell)
    shares = f"{format_share(detected, total)} found, {format_share(at_cell, all_alarms)} alarms name its cell"
    print(f"\none slip in each of {total} documents: {shares}\n")


def print_alarms(documents: Sequence[ReadDocument]) -> None:
    """Print counts of alarms by kind and level, then each alarm."""
    alarms = [finding for document in documents for finding in checks.audit([document]) if finding.level != "note"]
    print(f"\n{len(alarms)} alarms in {len({alarm.place.file for alarm in alarms})} of {len(documents)} documents")
    for (level, kind), count in sorted(Counter((alarm.level, alarm.kind) for alarm in alarms).items()):
        print(f"{level} [{kind}]: {count}")
    print(*alarms, sep="\n")


def print_judged() -> None:
    """Print the share of the alarms in `audit_alarms.csv` that were judged to be true, by draw and by kind."""
    by_name: dict[str, Counter[str]] = defaultdict(Counter)
    for row in _csv_rows(ROOT / "benchmarks" / "audit_alarms.csv"):
        for name in (row["draw"], f"all draws, {row['kind'] or 'kind not recorded'}"):
            by_name[name][row["verdict"]] += int(row["alarms"])
    for name, verdicts in by_name.items():
        print(f"{name}: {format_share(verdicts['true'], verdicts.total())} alarms are true")


def print_known(folder: Path) -> None:
    """Print how many findings are at a contradicted claim of the ledger, and how many such claims have a finding."""
    sources = list(documents(folder))
    single = [finding for document in sources for finding in checks.audit([document])]
    verdicts = {row["claim"]: row for row in _csv_rows(RESULTS / "claims.csv")}
    lines: dict[tuple[str, int], set[str]] = defaultdict(set)
    values: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for row in _csv_rows(RESULTS / "claim_places.csv"):
        verdict = verdicts.get(row["claim"], {})
        if verdict.get("verdict") in WRONG and row["line"].isdecimal():
            lines[row["source"], int(row["line"])].add(row["claim"].partition(".")[0])
        elif verdict.get("verdict") in WRONG and len(re.sub(r"\D", "", verdict["reported"])) > 1:
            values[row["source"]].add((verdict["reported"], row["claim"].partition(".")[0]))
    contradicted = set().union(*lines.values(), *({claim for _, claim in pairs} for pairs in values.values()))
    for name, findings in (("each by itself", single), ("all together", checks.audit(sources, joint=True))):
        found_claims: set[str] = set()
        true = 0
        print(f"\n{name}:")
        alarms = [finding for finding in findings if finding.level != "note"]
        for alarm in alarms:
            claims = set().union(*(lines.get(place, set()) for place in _finding_places(alarm)))
            source = next(_finding_places(alarm))[0]
            words = set(re.findall(r"[^\s;,]+", f"{alarm.printed} {alarm.explanation}"))
            claims |= {NUMBERING[alarm.kind]} if alarm.kind in NUMBERING and source == "004" else set()
            claims |= {claim for reported, claim in values[source] if reported in words}
            found_claims |= claims
            true += bool(claims)
        print(
            f"{format_share(true, len(alarms), 'wilson')} findings are at a contradicted row, "
            f"{format_share(len(found_claims), len(contradicted), 'wilson')} such rows"
        )


def _finding_places(finding: Finding) -> Iterator[tuple[str, int]]:
    """Yield a pair (number of the document, line) for each of a finding's one or two places."""
    for place in filter(None, (finding.place, finding.other_place)):
        yield place.file.rpartition("/")[2][:3], place.line


def _csv_rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def main() -> None:
    """Run the selected measurements and print the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, metavar="DOCUMENTS", nargs="?")
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--sources", type=Path)
    chosen = parser.parse_args()
    if chosen.folder is None:
        print_judged()
        return
    read_documents = list(documents(chosen.folder))
    print_alarms(read_documents)
    print_planted(read_documents, chosen.draws)
    print_single_slips(read_documents)
    if chosen.sources:
        print_known(chosen.sources)


if __name__ == "__main__":
    main()
