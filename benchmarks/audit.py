"""Count findings of `boundpaper audit`: alarms and planted slips in documents, and known contradictions of the sources.

    python benchmarks/audit.py [DOCUMENTS] [--draws N] [--sources FOLDER]

Without DOCUMENTS it counts the alarms that readers judged, in `audit_alarms.csv`. DOCUMENTS is a folder of Markdown,
LaTeX and HTML files. In each of their tables in which a relation of columns holds in every row, one digit of one of its
cells is changed, N times; a slip counts as found where the audit of that table then tells something new. FOLDER holds
the five documents of the thesis, whose contradictions the ledger knows by line.
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
NUMBERING = {"section-number": "c004_sections_numbered_once"}  # a ledger row that has no line in a document


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


def relations_held(table: ReadTable) -> list[relations.ColumnRelation]:
    """Return relations that hold in every row of a table with at least two rows."""
    return [each for each in relations.accepted(table) if not each.deviations and len(each.agreeing_rows) > 1]


def plant_slip(
    table: ReadTable, relation: relations.ColumnRelation, rng: random.Random
) -> tuple[ReadTable, bool, str] | None:
    """Change one digit in a cell of a relation; return the table, whether the relation breaks, and the cell."""
    line, sideways = rng.choice(relation.agreeing_rows), relation.table.is_transposed
    index = rng.choice(relation.columns).index
    numeric = sorted(each.index for each in table.columns)
    row, column = (index - 1, numeric[line]) if sideways else (line, index)
    old = table.rows[row]
    text = old[column]
    places = [match.start() for match in re.finditer(r"\d", text)]
    if not places:
        return None
    place = rng.choice(places)
    digit = rng.choice([each for each in "0123456789" if each != text[place] and (each > "0" or place > places[0])])
    cells = (*old[:column], text[:place] + digit + text[place + 1 :], *old[column + 1 :])
    new = replace(table, rows=(*table.rows[:row], cells, *table.rows[row + 1 :]))
    seen = new.transposed() if sideways else new
    named = {(each.name, each.index): each for each in seen.columns}
    columns = tuple(named[key] for each in relation.columns if (key := (each.name, each.index)) in named)
    fares = len(columns) == len(relation.columns) and relations.fit_relation(
        seen, relation.formula, columns, total=relation.total
    )
    return new, not fares or line not in fares.agreeing_rows, cells[column].strip()


def print_planted(documents: Sequence[ReadDocument], draws: int) -> None:
    """Print how many planted slips are found, by formula of the relation."""
    rng = random.Random(SEED)
    found: dict[str, Counter[bool]] = defaultdict(Counter)
    for document in documents:
        for table in (each.split_counts() for each in document.tables):
            before = _told(replace(document, tables=[table]))
            for relation in relations_held(table) * draws:
                made = plant_slip(table, relation, rng)
                if made and made[1]:
                    after = _told(replace(document, tables=[made[0]]))
                    for kind in ("all", ("total: " if relation.total else "") + relation.formula):
                        found[kind][bool(after - before)] += 1
    print("| relation | slips found |\n|:--|:--|")
    for kind in sorted(found):
        print(f"| {kind} | {format_share(found[kind][True], found[kind].total())} |")


def _told(document: ReadDocument) -> set[str]:
    """Return the alarms in the tables of a document, without notes."""
    return {str(each) for each in relations.check(document) if each.level != "note"}


def print_single_slips(documents: Sequence[ReadDocument]) -> None:
    """Plant one slip in each document that has a relation; print all its alarms, and how many name the changed cell."""
    rng, told, named, found, total = random.Random(SEED), 0, 0, 0, 0
    for document in documents:
        tables = [each.split_counts() for each in document.tables]
        sites = [(place, each) for place, table in enumerate(tables) for each in relations_held(table)] * 3
        made = ((place, plant_slip(tables[place], each, rng)) for place, each in rng.sample(sites, len(sites)))
        place, chosen = next(((place, each) for place, each in made if each and each[1]), (0, None))
        if chosen is None:
            continue
        changed = replace(document, tables=[*tables[:place], chosen[0], *tables[place + 1 :]])
        every = [each for each in checks.audit([changed]) if each.level != "note"]
        at_it = [each for each in every if chosen[2] in each.values]
        print(*(f"slip {chosen[2]}: {each}" for each in every), sep="\n")
        total, told, named, found = total + 1, told + len(every), named + len(at_it), found + bool(at_it)
    shares = f"{format_share(found, total)} found, {format_share(named, told)} alarms name its cell"
    print(f"\none slip in each of {total} documents: {shares}\n")


def print_alarms(documents: Sequence[ReadDocument]) -> None:
    """Print counts of alarms by kind and level, then each alarm."""
    found = [each for document in documents for each in checks.audit([document]) if each.level != "note"]
    print(f"\n{len(found)} alarms in {len({each.place.file for each in found})} of {len(documents)} documents")
    for (level, kind), count in sorted(Counter((each.level, each.kind) for each in found).items()):
        print(f"{level} [{kind}]: {count}")
    for each in found:
        print(each)


def print_judged() -> None:
    """Print how many of the alarms in `audit_alarms.csv` readers judged to be true, by draw and by kind."""
    judged: dict[str, Counter[str]] = defaultdict(Counter)
    for row in _csv_rows(ROOT / "benchmarks" / "audit_alarms.csv"):
        for name in (row["draw"], f"all draws, {row['kind'] or 'kind not recorded'}"):
            judged[name][row["verdict"]] += int(row["alarms"])
    for name, verdicts in judged.items():
        print(f"{name}: {format_share(verdicts['true'], verdicts.total())} alarms are true")


def print_known(folder: Path) -> None:
    """Print which contradicted ledger rows have a finding at the same place in the sources."""
    held = list(documents(folder))
    single = [each for document in held for each in checks.audit([document])]
    verdicts = {row["claim"]: row for row in _csv_rows(RESULTS / "claims.csv")}
    lines: dict[tuple[str, int], set[str]] = defaultdict(set)
    drawn: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for row in _csv_rows(RESULTS / "claim_places.csv"):
        verdict = verdicts.get(row["claim"], {})
        if verdict.get("verdict") in WRONG and row["line"].isdecimal():
            lines[row["source"], int(row["line"])].add(row["claim"].partition(".")[0])
        elif verdict.get("verdict") in WRONG and len(re.sub(r"\D", "", verdict["reported"])) > 1:
            drawn[row["source"]].add((verdict["reported"], row["claim"].partition(".")[0]))
    for name, found in (("each by itself", single), ("all together", checks.audit(held, joint=True))):
        seen, true = set[str](), 0
        print(f"\n{name}:")
        found = [each for each in found if each.level != "note"]
        for each in found:
            claims = set().union(*(lines.get(place, set()) for place in _finding_places(each)))
            words = set(re.findall(r"[^\s;,]+", f"{each.printed} {each.explanation}"))
            source = next(_finding_places(each))[0]
            claims |= {NUMBERING[each.kind]} if each.kind in NUMBERING and source == "004" else set()
            claims |= {claim for reported, claim in drawn[source] if reported in words}
            seen |= claims
            true += bool(claims)
        every = set().union(*lines.values(), *({claim for _, claim in each} for each in drawn.values()))
        print(
            f"{format_share(true, len(found), 'wilson')} findings are at a contradicted row, "
            f"{format_share(len(seen), len(every), 'wilson')} such rows"
        )


def _finding_places(finding: Finding) -> Iterator[tuple[str, int]]:
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
    held = list(documents(chosen.folder))
    print_alarms(held)
    print_planted(held, chosen.draws)
    print_single_slips(held)
    if chosen.sources:
        print_known(chosen.sources)


if __name__ == "__main__":
    main()
