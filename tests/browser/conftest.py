"""The browser and the site that all checks in this folder share."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import site_made as made
from conftest import run

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHAPTERS = {
    "limits": r"Words were planted\footnote{By \emph{hand}, where $p < q$, in both halves \& margins.} once.",
    "outlook": "Longer texts remain.",
}
INSTALL = "apt-get install -y --no-install-recommends chromium"


def chromium() -> str:
    """Return the path of Debian's chromium, after installing it if it is missing and the user is root.

    Raises
    ------
    RuntimeError
        If chromium is missing and was not installed; the message says what to run.
    """
    program = shutil.which("chromium")
    if not program and os.geteuid() == 0 and shutil.which("apt-get"):
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update", "-q"], env=environment, stdout=subprocess.DEVNULL, check=False)
        subprocess.run(INSTALL.split(), env=environment, stdout=subprocess.DEVNULL, check=False)
        program = shutil.which("chromium")
    if not program:
        raise RuntimeError(f"chromium: not installed; on Debian or Ubuntu, as root: {INSTALL}")
    return program


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Yield a headless chromium that ends after the tests."""
    try:
        path = chromium()
    except RuntimeError as error:
        pytest.exit(str(error), returncode=1)
    # Chromium refuses its sandbox to root in containers. The tests open only files that they made themselves.
    from playwright.sync_api import sync_playwright  # the extra of these checks, which the suite does not install

    with sync_playwright() as playwright:
        chromium_browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield chromium_browser
        chromium_browser.close()


@pytest.fixture(scope="session")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the `out` folder of the sample paper, with its site and an annotated copy of its document."""
    root = made.made(tmp_path_factory.mktemp("browser") / "paper")
    metadata = root / "paper/metadata.yaml"
    metadata.write_text(metadata.read_text().replace("[recall]", "[recall, limits, outlook]"))
    for name, text in CHAPTERS.items():
        (root / f"paper/chapters/{name}.tex.j2").write_text(f"\\chapter{{{name.title()}}}\n\n{text}\n")
    made.site(root)
    folder = tmp_path_factory.mktemp("copies")
    (folder / "recall.md").write_text(
        "# Recall\n\n## Training seeds\n\nOver its trainings the large reader recalls 88.4 percent.\n\n"
        "| model | 512 | 4096 |\n|---|---|---|\n| reader-s | 92.0 | 52.5 |\n\n"
        "## Conclusion\n\nThe small reader loses 39.5 points. In all, 12.25 words were lost.\n"
    )
    result = run(root, "annotate", str(folder))
    assert result.returncode == 0, result.stderr
    return root / "out"
