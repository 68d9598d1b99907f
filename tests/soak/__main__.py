"""Damage files and kill commands at random, with a seed: `make soak`. Exits with 1 if there is a fault."""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from . import commands, endings, fuzz, kill, published  # noqa: E402


def _report(faults: list[str], new: list[str]) -> None:
    """Print new faults, each only once, and add them to `faults`."""
    print("".join(f"{line}\n" for line in dict.fromkeys(new)), end="", file=sys.stderr, flush=True)
    faults += new


def main() -> int:
    """Run the tests that the options select."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--mutations",
        type=int,
        default=None,
        help="number of damaged files of each class [200, or 0 beside --files or --endings]",
    )
    parser.add_argument(
        "--kills", type=int, default=None, help="rounds of kills of each target [20, or 0 beside --files or --endings]"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--paper", action="store_true", help="also kill builds of the whole thesis")
    parser.add_argument("--files", type=int, default=0, help="number of damaged files over all kinds [0]")
    parser.add_argument("--case", type=int, metavar="NUMBER", help="only this file of --files; needs --kinds")
    parser.add_argument("--endings", type=int, default=0, help="number of kills of every command [0]")
    parser.add_argument(
        "--beginning", metavar="WORDS", default="", help="only commands starting with a or b: a,b [all]"
    )
    parser.add_argument("--kinds", metavar="WORDS", default="", help="only these kinds of --files: a,b [all]")
    parser.add_argument("--classes", metavar="WORDS", default="", help="only these classes, e.g. 'scores predictions'")
    parser.add_argument(
        "--only", metavar="WORDS", help="kill only this build, e.g. --only paper, --only 'table ap_drop'"
    )
    parser.add_argument("--warm", action="store_true", help="start from this project's build; rebuild LaTeX only")
    options = parser.parse_args()
    if options.case is not None and not (options.files and options.kinds):
        parser.error("--case needs --files and --kinds, and the --seed of the run that reported the case")
    for name, default in (("mutations", 200), ("kills", 20)):
        if getattr(options, name) is None:
            setattr(options, name, 0 if options.files or options.endings else default)
    faults: list[str] = []
    if not (options.only or options.classes or options.files or options.endings):
        _report(faults, published.run(ROOT))
    for label, counts, new in (
        fuzz.run(ROOT, options.mutations, options.seed, options.classes.split()) if options.mutations else ()
    ):
        line = f"| {label} | {sum(counts.values())} | {counts['good']} | {counts['told']} | {counts['other error']} |"
        print(f"{line} {len(new)} |", flush=True)
        _report(faults, new)
    kinds = options.kinds.split(",") if options.kinds else ()
    for tally in commands.run(ROOT, options.files, options.seed, kinds, options.case) if options.files else ():
        totals = " | ".join(str(tally.counts[outcome]) for outcome in commands.OUTCOMES)
        print(f"| {tally.kind} | {sum(tally.counts.values())} | {totals} | {tally.seconds:.0f} |", flush=True)
        _report(faults, tally.faults)
    beginning = options.beginning.split(",") if options.beginning else ()
    for killed in endings.run(ROOT, options.endings, options.seed, beginning) if options.endings else ():
        kills = " | ".join(str(count) for count in killed.kills.values())
        cells = f"{killed.slowest:.1f} | {killed.late} | {len(killed.faults)}"
        print(f"| `{killed.command}` | {killed.iterations} | {kills} | {cells} |", flush=True)
        _report(faults, killed.faults)
    targets = (*kill.TARGETS, *((("paper",),) if options.paper else ()))
    if options.only:
        targets = (tuple(options.only.split()),)
    rounds = kill.run(
        ROOT,
        options.kills,
        options.seed,
        targets,
        lambda line: print(line, file=sys.stderr, flush=True),
        warm=options.warm,
    )
    for target, iterations, count, new in rounds if options.kills else ():
        print(f"| {target} | {iterations} | {count} | {len(new)} |", flush=True)
        _report(faults, new)
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
