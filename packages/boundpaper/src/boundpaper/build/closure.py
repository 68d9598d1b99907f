"""Find the import closure of a file: the file, and every project file that it imports directly or indirectly."""

import ast
import hashlib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from boundpaper.build.facts import FactReader
from boundpaper.places import package_folders
from boundpaper.store.text_file import text_of

CODE_FOLDERS = ("analysis", "tables", "figures")  # folders of a project that contain Python


class Closures:
    """The import closures of files in the project of `reader`; each is computed once, without importing code."""

    def __init__(self, reader: FactReader) -> None:
        self.reader = reader
        self.folders = {**{folder: folder for folder in CODE_FOLDERS}, **package_folders(reader.root)}
        self._closures: dict[str, frozenset[str]] = {}
        self._imports: dict[str, tuple[str, ...]] = {}
        self._modules: dict[str, tuple[str, ...]] = {}

    def of(self, path: str) -> frozenset[str]:
        """Return `path` and every project file that it imports, directly or indirectly; empty for an absent file."""
        if path not in self._closures:
            seen: set[str] = set()
            queue = [path] if self._exists(path) else []
            while queue:
                file = queue.pop()
                if file not in seen:
                    seen.add(file)
                    queue += self._imported(file) if file.endswith(".py") else ()  # a stub only lists names
            self._closures[path] = frozenset(seen)
        return self._closures[path]

    def of_module(self, name: str) -> frozenset[str]:
        """Return the closure of a module by dotted name; empty for a module outside the project and its packages."""
        first, _, submodule = name.partition(".")
        return self.of(f"{self.folders.get(first, first)}/{submodule.replace('.', '/')}.py")

    def _imported(self, file: str) -> tuple[str, ...]:
        """Return the project's files that `file` imports directly."""
        if file not in self._imports:
            names = [name for name in self.reader.python(file)["imports"] if name.partition(".")[0] in self.folders]
            files = [file for name in names for file in (*self._files_of_module(name), *self._stub_files(name))]
            self._imports[file] = tuple(dict.fromkeys(files))
        return self._imports[file]

    def _stub_files(self, name: str) -> list[str]:
        """Return a package's stub `__init__.pyi`, and the files that define what is imported from the package.

        `name` is `package.name`, or `package.*` for all names.
        """
        package, _, imported = name.rpartition(".")
        first, *subfolders = package.split(".")
        stub = "/".join([self.folders.get(first, first), *subfolders, "__init__.pyi"])
        if not self._exists(stub):
            return []
        definitions = self.reader.python(stub)["imports"]
        matches = [match for match in definitions if match != name and imported in ("*", match.rpartition(".")[2])]
        modules = [module for match in matches for module in (match, match.rpartition(".")[0])]
        inner_files = [file for match in matches if match.endswith(".*") for file in self._stub_files(match)]
        return [stub, *inner_files, *(file for module in modules if module for file in self._files_of_module(module))]

    def _files_of_module(self, name: str) -> tuple[str, ...]:
        """Return the files that importing a dotted name reads: each package's `__init__.py`, and the module."""
        if name not in self._modules:
            first, *subfolders = name.split(".")
            folders = [self.folders[first], *subfolders]
            files = ["/".join(folders[:end]) + "/__init__.py" for end in range(1, len(folders) + 1)]
            self._modules[name] = tuple(file for file in [*files, "/".join(folders) + ".py"] if self._exists(file))
        return self._modules[name]

    def _exists(self, path: str) -> bool:
        return bool(self.reader.digest(path))


def code_of(root: Path, modules: Iterable[str]) -> str:
    """Return a hash of the code that modules run: their import closures, without comments, docstrings and layout.

    `modules` are dotted names. Raises DataError, with file and line, when a file is not valid UTF-8.
    """
    closures = Closures(FactReader(root))
    files = set().union(*(closures.of_module(name) for name in modules))
    code_hash = hashlib.blake2b(digest_size=16)
    for file in sorted(files):
        code_hash.update(f"{file}\0{_bare_code(text_of(root, file))}\0".encode())
    return code_hash.hexdigest()


@lru_cache(1024)  # experiments share most of their files
def _bare_code(text: str) -> str:
    """Return a file's syntax tree, without docstrings, as text; the file's text if it cannot be parsed."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return text
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            has_docstring = bool(ast.get_docstring(node, clean=False))
            node.body = node.body[has_docstring:]
    return ast.dump(tree)
