"""Install TeX from the system's packages. This script needs only Python, so that it can run before any other setup."""

import os
import shutil
import subprocess
import sys

PROGRAMS = ("pdflatex", "latexmk", "bibtex", "pdftoppm", "pdftocairo", "pdftotext", "pdfinfo")
TEX_INSTALL = (
    "apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "
    "texlive-latex-recommended texlive-latex-extra texlive-fonts-recommended lmodern tex-gyre latexmk poppler-utils"
)


def install_tex() -> bool:
    """Install TeX and poppler from the system's packages if absent; return whether they are installed.

    This needs apt-get and root; without them, it only prints the command to run.
    """
    if all(shutil.which(program) for program in PROGRAMS):
        return True
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        print(f"TeX is missing and cannot be installed from here; as root run:\n    {TEX_INSTALL}", file=sys.stderr)
        return False
    print(f"installing TeX: {TEX_INSTALL}", file=sys.stderr)
    # Otherwise dpkg waits for the disk after each of ten thousand files, which doubles the time.
    environment = {**os.environ, "DPKG_FORCE": "unsafe-io"}
    result = subprocess.run(["bash", "-c", TEX_INSTALL], stdout=subprocess.DEVNULL, env=environment, check=False)
    if result.returncode:
        print(f"the installation failed (exit code {result.returncode}); run the line above by hand", file=sys.stderr)
    return result.returncode == 0


if __name__ == "__main__":
    sys.exit(not install_tex())
