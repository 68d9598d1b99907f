"""Report what the project needs, what is installed, and the commands that install the rest."""

import importlib.metadata
import re
import shutil
import sys
from pathlib import Path

from boundpaper.build.tex import PROGRAMS, TEX_INSTALL
from boundpaper.errors import install_line
from boundpaper.store.project_file import described_project

_PURPOSES = {
    "": "tables, figures, paper",
    "test": "the test suite",
    "press": "`watch` and `publish`",
    "browser": "`make test-browser`: the site in a real browser",
}
"""Purpose of each group of requirements; a project adds groups under `tool.boundpaper.purposes` in `pyproject.toml`."""


def report(root: Path) -> tuple[list[str], bool]:
    """Return lines that say what is installed, and whether the paper can be built."""
    configuration = described_project(root)
    project = configuration["project"]
    purposes = {**_PURPOSES, **configuration.get("tool", {}).get("boundpaper", {}).get("purposes", {})}
    version = ".".join(map(str, sys.version_info[:3]))
    lines = [f"Python {version} ({sys.executable}); needs {project['requires-python']}"]
    groups = {"": project["dependencies"], **project.get("optional-dependencies", {})}
    can_build = True
    for group, requirements in groups.items():
        absent = [requirement for requirement in requirements if not _is_installed(requirement)]
        title = f"[{group}]" if group else "light"
        purpose = f" ({purposes[group]})" if group in purposes else ""
        if not absent:
            lines.append(f"ok       {title}: {len(requirements)} packages{purpose}")
            continue
        can_build = can_build and bool(group)
        lines.append(f"missing  {title}: {', '.join(absent)}{purpose}")
        lines.append(f"         {install_line(group)}")
    absent_programs = [program for program in PROGRAMS if not shutil.which(program)]
    if absent_programs:
        can_build = False
        lines += [f"missing  TeX and poppler: {', '.join(absent_programs)} (figures, paper)", f"         {TEX_INSTALL}"]
    else:
        lines.append("ok       TeX and poppler")
    return lines, can_build


def _is_installed(requirement: str) -> bool:
    name = re.split(r"[<>=!~;\[ ]", requirement, maxsplit=1)[0]
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True
