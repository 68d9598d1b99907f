"""Damage and kills for as long as one likes, seeded: `make soak`. Prints counts; exits with 1 when a thing is amiss.

Before them, the published data package is read as a whole by the standard's own reader.
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.soak import fuzz, kill, published  # noqa: E402


def main() -> int:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutations", type=int, default=200, help="damaged files of each class [200]")
    parser.add_argument("--kills", type=int, default=20, help="iterations of kills of each target [20]")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--paper", action="store_true", help="kill builds of the whole thesis as well")
    parser.add_argument("--classes", metavar="WORDS", default="", help="damage these alone, e.g. 'scores predictions'")
    parser.add_argument(
        "--only", metavar="WORDS", help="kill this build alone, e.g. --only paper, --only 'table ap_drop'"
    )
    parser.add_argument("--warm", action="store_true", help="begin with what is built here, and remake its LaTeX only")
    asked = parser.parse_args()
    amiss = [] if asked.only or asked.classes else published.run(ROOT)
    for word, counts, wrong in (
        fuzz.run(ROOT, asked.mutations, asked.seed, asked.classes.split()) if asked.mutations else ()
    ):
        line = f"| {word} | {sum(counts.values())} | {counts['good']} | {counts['told']} | {counts['other error']} |"
        print(f"{line} {len(wrong)} |", flush=True)
        amiss += wrong
    targets = (*kill.TARGETS, *((("paper",),) if asked.paper else ()))
    if asked.only:
        targets = (tuple(asked.only.split()),)
    told = kill.run(
        ROOT,
        asked.kills,
        asked.seed,
        targets,
        lambda words: print(words, file=sys.stderr, flush=True),
        warm=asked.warm,
    )
    for word, iterations, kills, wrong in told if asked.kills else ():
        print(f"| {word} | {iterations} | {kills} | {len(wrong)} |", flush=True)
        amiss += wrong
    print("\n".join(dict.fromkeys(amiss)), file=sys.stderr)
    return bool(amiss)


if __name__ == "__main__":
    sys.exit(main())
