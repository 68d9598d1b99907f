"""Find the folder of the project that a command works on, and the folders of packages whose code its steps run.

They are given or found by name, and never derived from the location of the engine, which may be installed anywhere.
"""

import os
import sys
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from pathlib import Path

from boundpaper.errors import DataError

GROUP = "boundpaper.commands"
"""Entry point group of modules that add commands; their packages count as code of the steps."""
MARK = "artifacts/datapackage.yaml"
"""The file that identifies a project's folder."""
ADOPTED = "boundpaper.toml"
"""The file that identifies the folder of an adopted LaTeX paper."""
VARIABLE = "BOUNDPAPER_ROOT"
"""The environment variable that passes the project's folder to child processes."""


def open_project(root: Path) -> None:
    """Make `root` the project of this process and its child processes, and make its top folders importable."""
    os.environ[VARIABLE] = str(root)
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    put_steps_first(root)


def put_steps_first(root: Path) -> None:
    """Import steps from the folders of `root` even if a package of such a name is installed (PyTables is `tables`)."""
    for name in ("analysis", "tables", "figures"):
        folder, known = root / name, getattr(sys.modules.get(name), "__path__", ())
        if folder.is_dir() and str(folder) not in known:
            loaded = list(sys.modules) if name in sys.modules else []
            for other in [each for each in loaded if each.split(".")[0] == name]:  # of another project
                del sys.modules[other]
            if not (folder / "__init__.py").is_file():
                spec = ModuleSpec(name, None, is_package=True)
                spec.submodule_search_locations = [str(folder)]
                sys.modules[name] = module_from_spec(spec)


def project() -> Path:
    """Return the folder of the project that this process or its parent opened, else of the nearest project.

    Raises DataError when no project was opened and there is none here or above.
    """
    opened = os.environ.get(VARIABLE)
    return Path(opened) if opened else nearest_project()


def nearest_project() -> Path:
    """Return the folder of the nearest project from the working directory upwards.

    Raises DataError when there is no project here or above.
    """
    folder = None if nearest_adopted() else project_above(Path.cwd())
    if folder is None:
        raise DataError(f"{Path.cwd()}: no project here or above; go to the folder with {MARK}")
    return folder


def nearest_adopted() -> Path | None:
    """Return the folder of the nearest adopted paper here or above; None without one or if a project is nearer.

    A project is recognised by `MARK`, an adopted paper by `ADOPTED`; a folder with both is a project.
    """
    for folder in (Path.cwd(), *Path.cwd().parents):
        if (folder / MARK).is_file():
            return None
        if (folder / ADOPTED).is_file():
            return folder
    return None


def project_or_none() -> Path | None:
    """Return the folder of the project, as `project` does; None outside a project."""
    try:
        return project()
    except DataError:
        return None


def project_above(folder: Path) -> Path | None:
    """Return the folder of the nearest project in a folder or above it; None if there is none."""
    return next((each for each in (folder, *folder.parents) if (each / MARK).is_file()), None)


def package_folders(root: Path) -> dict[str, str]:
    """Return by name the folders of packages whose code steps run: in the project's checkout, else as installed.

    Paths are relative to the project if the package is inside it, else absolute.
    """
    own = {path.name: path.relative_to(root).as_posix() for path in root.glob("packages/*/src/*") if path.is_dir()}
    return own if "boundpaper" in own else _installed_packages() | own


@cache
def _installed_packages() -> dict[str, str]:
    """Return the installed folders of this package and of packages that add commands."""
    from importlib.metadata import entry_points

    names = {"boundpaper", *(point.module.partition(".")[0] for point in entry_points(group=GROUP))}
    specs = {name: find_spec(name) for name in sorted(names)}
    return {
        name: str(Path(next(iter(spec.submodule_search_locations))))
        for name, spec in specs.items()
        if spec is not None and spec.submodule_search_locations
    }


def shown_file(root: Path, file: str) -> str:
    """Return the displayed name of a step's file, without the installation folder of a package."""
    if Path(file).is_absolute():
        for name, folder in package_folders(root).items():
            if file.startswith(f"{folder}/"):
                return name + file.removeprefix(folder)
    return file


def command_modules(root: Path | None) -> list[str]:
    """Return the modules of other packages that add commands, sorted.

    A checkout needs no installation: the modules are listed in its `pyproject.toml` files; elsewhere, in the entry
    points of installed packages.
    """
    described = sorted(root.glob("packages/*/pyproject.toml")) if root else []
    if not described:
        from importlib.metadata import entry_points

        return sorted(point.value for point in entry_points(group=GROUP))
    import tomllib

    projects = (tomllib.loads(path.read_text(encoding="utf-8"))["project"] for path in described)
    return sorted(name for each in projects for name in each.get("entry-points", {}).get(GROUP, {}).values())


def file_of(root: Path, module: str) -> str:
    """Return the file of a dotted module name in the form that steps use; empty if no package has the module."""
    package, _, rest = module.partition(".")
    folder = package_folders(root).get(package)
    return f"{folder}/{rest.replace('.', '/')}.py" if folder else ""
