"""Kill builds at seeded moments, with or without their child processes, and build again: outputs must be the same."""

import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
TARGETS = (("table", "ap_drop"), ("figure", "ap_drop_lbp"))


def _start(root: Path, target: tuple[str, ...]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "build.py", *target],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _output_hashes(root: Path) -> dict[str, str]:
    paths = [*(root / "out").rglob("*"), *(root / "artifacts/results").rglob("*")]
    files = [path for path in paths if path.is_file() and not path.is_relative_to(root / "out/state")]
    return {path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def _delete_outputs(root: Path, *, cold: bool) -> None:
    """Delete all outputs if `cold`, else only LaTeX files and the compiled thesis."""
    if cold:
        shutil.rmtree(root / "out", ignore_errors=True)
    else:
        for path in [*(root / "out").rglob("*.tex"), *(root / "out").glob("*.pdf")]:
            path.unlink()


def run(
    project: Path,
    kills: int,
    seed: int,
    targets: tuple[tuple[str, ...], ...] = TARGETS,
    tell: Callable[[str], None] = lambda line: None,
    warm: bool = False,
) -> Iterator[tuple[str, int, int, list[str]]]:
    """Yield each target with its iterations, kills and faults; call `tell` with a line after every iteration.

    A `warm` run starts from the project's outputs, and deletes only LaTeX files and the thesis, so that nearly all
    kills hit LaTeX.
    """
    chance = random.Random(seed)
    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    root = folder / "project"
    ignored = shutil.ignore_patterns(*(() if warm else ("out",)), ".*", "__pycache__", "golden")
    try:
        shutil.copytree(project, root, ignore=ignored)
        for target in targets:
            if warm:
                _start(root, target).communicate()
            _delete_outputs(root, cold=not warm)
            start = time.monotonic()
            first = _start(root, target)
            expected, errors = first.communicate()
            run_seconds, hashes, faults, count = time.monotonic() - start, _output_hashes(root), list[str](), 0
            if first.returncode:
                raise RuntimeError(f"{' '.join(target)} fails without a kill: {errors}")
            for number in range(kills):
                _delete_outputs(root, cold=not warm and chance.random() < 0.5)
                for _ in range(chance.randrange(1, 4)):
                    running = _start(root, target)
                    time.sleep(run_seconds * chance.random())
                    kill_signal = chance.choice(SIGNALS)
                    if chance.random() < 0.5:
                        os.killpg(running.pid, kill_signal)
                    else:
                        running.send_signal(kill_signal)
                    running.communicate()
                    count += 1
                after = _start(root, target)
                output, errors = after.communicate()
                label = f"{' '.join(target)}, iteration {number}"
                if after.returncode:
                    faults.append(f"{label}: {errors[-300:]}")
                elif output != expected or _output_hashes(root) != hashes:
                    faults.append(f"{label}: differs from an undisturbed build")
                if left := [path.name for path in root.rglob(".*.part")]:
                    faults.append(f"{label}: left {left}")
                tell(f"{label}: {count} kills so far, {len(faults)} faults")
            yield " ".join(target), kills, count, faults
    finally:
        shutil.rmtree(folder)
