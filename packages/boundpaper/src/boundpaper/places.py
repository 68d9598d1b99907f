"""Find the folder of the project that a command works on, and the folders of the packages that its steps use.

No folder is derived from the location of the engine, which may be installed anywhere.
"""

import os
import sys
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from pathlib import Path

from boundpaper.errors import DataError

GROUP = "boundpaper.commands"
"""The entry point group of modules that add commands; steps may depend on the code of their packages."""
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
    """Make imports of `analysis`, `tables` and `figures` use `root`, not installed packages such as PyTables."""
    for name in ("analysis", "tables", "figures"):
        folder, imported_from = root / name, getattr(sys.modules.get(name), "__path__", ())
        if folder.is_dir() and str(folder) not in imported_from:
            loaded_modules = list(sys.modules) if name in sys.modules else []
            for module in loaded_modules:
                if module.split(".")[0] == name:  # from another project
                    del sys.modules[module]
            if not (folder / "__init__.py").is_file():
                spec = ModuleSpec(name, None, is_package=True)
                spec.submodule_search_locations = [str(folder)]
                sys.modules[name] = module_from_spec(spec)


def project() -> Path:
    """Return the folder of the project that this process or its parent opened, or else of the nearest project.

    Raises DataError when no project was opened, and there is no project in the working directory or above it.
    """
    opened = os.environ.get(VARIABLE)
    return Path(opened) if opened else nearest_project()


def nearest_project() -> Path:
    """Return the folder of the nearest project from the working directory upwards; raise DataError without one."""
    folder = None if nearest_adopted() else project_above(Path.cwd())
    if folder is None:
        raise DataError(f"{Path.cwd()}: no project here or above; go to the folder with {MARK}")
    return folder


def nearest_adopted() -> Path | None:
    """Return the folder of the nearest adopted paper from the working directory upwards.

    Return None if there is no adopted paper, or if a project, a folder with `MARK`, is as near or nearer.
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
    """Return the nearest folder of a project (with `MARK`): `folder` or a folder above it; None if there is none."""
    return next((path for path in (folder, *folder.parents) if (path / MARK).is_file()), None)


def package_folders(root: Path) -> dict[str, str]:
    """Return the folders of the packages that steps use, by name: paths in the project, else installed folders."""
    folders = {path.name: path.relative_to(root).as_posix() for path in root.glob("packages/*/src/*") if path.is_dir()}
    return folders if "boundpaper" in folders else _installed_packages() | folders


@cache
def _installed_packages() -> dict[str, str]:
    """Return the installed folders of this package and of packages that add commands, by name."""
    from importlib.metadata import entry_points

    names = {"boundpaper", *(point.module.partition(".")[0] for point in entry_points(group=GROUP))}
    specs = {name: find_spec(name) for name in sorted(names)}
    return {
        name: str(Path(next(iter(spec.submodule_search_locations))))
        for name, spec in specs.items()
        if spec is not None and spec.submodule_search_locations
    }


def shown_file(root: Path, file: str) -> str:
    """Return the path to show for a step's file; in an installed package, the path begins with the package's name."""
    if Path(file).is_absolute():
        for name, folder in package_folders(root).items():
            if file.startswith(f"{folder}/"):
                return name + file.removeprefix(folder)
    return file


def command_modules(root: Path | None) -> list[str]:
    """Return the modules of other packages that add commands, sorted.

    In a checkout, the `pyproject.toml` files of its packages name the modules, and the packages need not be installed.
    Elsewhere, the entry points of installed packages name the modules.
    """
    pyprojects = sorted(root.glob("packages/*/pyproject.toml")) if root else []
    if not pyprojects:
        from importlib.metadata import entry_points

        return sorted(point.value for point in entry_points(group=GROUP))
    import tomllib

    tables = (tomllib.loads(path.read_text(encoding="utf-8"))["project"] for path in pyprojects)
    return sorted(module for table in tables for module in table.get("entry-points", {}).get(GROUP, {}).values())


def file_of(root: Path, module: str) -> str:
    """Return the file of a dotted module name, relative to the project; empty if no package has the module."""
    package, _, submodule = module.partition(".")
    folder = package_folders(root).get(package)
    return f"{folder}/{submodule.replace('.', '/')}.py" if folder else ""
