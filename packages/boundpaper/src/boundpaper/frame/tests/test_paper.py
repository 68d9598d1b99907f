"""Test properties that every paper must have."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_check_command_passes_on_artifacts_of_the_paper() -> None:
    """Check that no table breaks its schema."""
    done = subprocess.run([sys.executable, "build.py", "check"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
