"""The cluster that all checks in this folder share."""

import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from slurm.cluster import cluster, install


@pytest.fixture(scope="session", autouse=True)
def slurm() -> Iterator[None]:
    """Start the cluster, and stop it after the tests, also on SIGTERM."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    try:
        install()
    except RuntimeError as error:
        pytest.exit(str(error), returncode=1)
    before = signal.signal(signal.SIGTERM, interrupt)
    folder = Path(tempfile.mkdtemp(prefix="slurm-"))
    try:
        with cluster(folder):
            yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        signal.signal(signal.SIGTERM, before)
