"""Set up an adopted LaTeX paper (`boundpaper init`): find its main file and data files, and write the added files."""

import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from boundpaper.adopt import cells, flatten, generate, source
from boundpaper.adopt.folder import BY_ROW, GENERATED, Folder
from boundpaper.errors import DataError, SpecError
from boundpaper.places import ADOPTED, MARK
from boundpaper.typeset.plural import counted

LARGEST = 1_000_000
"""Largest data file in bytes that `init` adopts: larger files are records of runs, not results."""
_SKIPPED = frozenset({"node_modules", "__pycache__", GENERATED, "venv", "env", "site-packages", "build", "dist", "out"})
_NOT_DATA = frozenset({"package.json", "package-lock.json", "tsconfig.json", "lock.json", "composer.json"})
_CLASS = re.compile(r"\\documentclass\s*(?:\[(?:[^][]|\[[^][]*\])*\]\s*)?\{([^{}]*)\}")


@dataclass(frozen=True)
class InitPlan:
    """What `init` would write (`boundpaper.toml` and the main file), and messages on what it found."""

    folder: Folder
    toml: str
    files: dict[Path, bytes]
    words: tuple[str, ...]


def plan_init(root: Path, mains: tuple[str, ...] = (), data: tuple[str, ...] = (), *, probe: bool = True) -> InitPlan:
    """Find the main file, its document class, the data files and their key columns.

    Empty `mains` and `data` are searched for; with `probe`, LaTeX measures the page. Raises SpecError when there is no
    main file or more than one, when there are no data, or when `init` already ran in the folder.
    """
    if (root / ADOPTED).is_file():
        raise SpecError(f"{ADOPTED}: exists already; edit it, or run `boundpaper build`")
    if (root / MARK).is_file():
        raise SpecError(f"{root}: contains {MARK}, so its paper is built from chapters; `boundpaper list` shows them")
    main = mains or _main_file(root)
    for name in main:
        if not (root / name).is_file():
            raise SpecError(f"{name}: no such file; name the one with \\documentclass")
    words: list[str] = []
    draft = Folder(root, main, data)
    files = source.sources(draft)
    patterns = data or _data_patterns(root, words)
    if not patterns:
        raise SpecError(
            f"{root}: no CSV, TSV, JSON or Parquet file here or below; put the results there, or name them: --data FILE"
        )
    macro = "val"
    for tex in files:
        if re.search(r"\\(?:new|renew|provide)command\*?\s*\{?\\val\b|\\def\s*\\val\b|\{val\}\{", tex.code):
            macro = "boundval"
            words.append(f"{tex.shown} already defines \\val, so the macro for values is called \\boundval")
    folder = Folder(root, main, patterns, macro)
    data_patterns = list(patterns)
    count, keys = 0, {}
    for name, file in cells.data_files(folder).items():
        try:
            table = cells.cells_in_texts({name: (file, cells.read_content(root / file, file))}, {})
        except DataError as error:
            data_patterns.append(f"!{file}")
            words.append(f"left out: {error}")
            continue
        count += len(table.cells)
        for grid in table.grids.values():
            keys[name] = grid.key
            if grid.key == (BY_ROW,):
                words.append(f"{file}: no columns identify its rows; rows are addressed by number")
    if not count:
        raise SpecError("\n".join([f"{root}: no data file can be read", *words]))
    folder = Folder(root, main, tuple(data_patterns), macro)
    main_file = next(tex for tex in files if tex.path == root / main[0])
    kind = _CLASS.search(main_file.code)
    words.insert(0, f"{main[0]}: class {kind[1] if kind else 'unknown'}, {counted(len(files), 'file')} of LaTeX")
    words.insert(1, f"{counted(len(cells.data_files(folder)), 'file')} of data, {counted(count, 'cell')}")
    toml = _settings_text(folder, keys)
    if probe:
        page_table, notes = _page_table(main_file)
        toml += page_table
        words += notes
    lines = {}
    for name in main:
        tex = next(tex for tex in files if tex.path == root / name)
        if source.LINE not in tex.code:
            lines[tex.path] = tex.encoded(flatten.with_line(tex.text, tex.code))
    return InitPlan(folder, toml, lines, tuple(words))


def _page_table(main: source.LatexFile) -> tuple[str, list[str]]:
    """Return the `[page]` table of `boundpaper.toml` with measures from LaTeX, and messages for the author."""
    from boundpaper.adopt.probe import page_measures
    from boundpaper.store import files

    try:
        with files.temporary() as scratch:
            page, missing = page_measures(main, scratch)
    except DataError as error:
        return "", [f"the page was not measured ({error}); write its sizes under [page] if you need them"]
    family = page.font or missing
    words = [f"columns of {page.column:g} pt, text of {page.text:g} pt, {family} at {page.size:g} pt, {page.cite}"]
    if missing:
        words.append(f"figures are set in Palatino: pdfLaTeX has no {missing}; set `font` under [page] to use another")
    return (
        f"\n[page]\ncolumn = {page.column:g}\ntext = {page.text:g}\nheight = {page.height:g}\n"
        f'font = "{page.font}"\nsize = {page.size:g}\ncite = "{page.cite}"\n'
    ), words


def _main_file(root: Path) -> tuple[str, ...]:
    r"""Find the main file: the file in the topmost folder that has `\documentclass` and a body."""
    names_by_depth: dict[int, list[str]] = defaultdict(list)
    for path in _files_ending(root, (".tex", ".ltx")):
        text = source.read(path, path.name).code
        kind = _CLASS.search(text)
        if kind and r"\begin{document}" in text and kind[1].strip() not in ("subfiles", "standalone"):
            name = path.relative_to(root).as_posix()
            names_by_depth[name.count("/")].append(name)
    if not names_by_depth:
        raise SpecError(f"{root}: no LaTeX file with \\documentclass and \\begin{{document}} here or below")
    names = names_by_depth[min(names_by_depth)]
    if len(names) > 1:
        usual = [name for name in names if PurePosixPath(name).stem in ("main", "paper", "ms", "article", "manuscript")]
        if len(usual) != 1:
            raise SpecError(
                f"{', '.join(names)}: several files begin a document; name the main file, or every one that has "
                "numbers: "
                f"boundpaper init --main {names[0]}"
            )
        names = usual
    return tuple(names)


def _files_ending(root: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """Return files with one of these endings, except those in hidden folders and in folders of installed programs."""
    paths = []
    for path in sorted(root.rglob("*")):
        inner = path.relative_to(root).parts
        is_skipped = any(folder.startswith(".") or folder in _SKIPPED for folder in inner)
        if path.suffix.lower() in suffixes and not is_skipped and path.is_file():
            paths.append(path)
    return paths


def _data_patterns(root: Path, words: list[str]) -> tuple[str, ...]:
    """Return patterns that match the data files; each pattern is a folder and a file ending."""
    patterns: dict[str, None] = {}
    excluded = []
    for path in _files_ending(root, cells.SUFFIXES):
        name = path.relative_to(root).as_posix()
        size = path.stat().st_size
        pattern = (PurePosixPath(name).parent / f"*{path.suffix}").as_posix()
        if path.name in _NOT_DATA or size > LARGEST or not size:
            reason = (
                "empty"
                if not size
                else f"{size / 1e6:.0f} MB, probably records of runs; add its name to data to use it"
                if size > LARGEST
                else "its name is not that of data"
            )
            excluded.append(f"!{name}")
            words.append(f"left out: {name} ({reason})")
        else:
            patterns[pattern] = None
    still_matched = [
        pattern
        for pattern in excluded
        if (PurePosixPath(pattern[1:]).parent / f"*{PurePosixPath(pattern).suffix}").as_posix() in patterns
    ]
    return (*patterns, *still_matched)


def _settings_text(folder: Folder, keys: dict[str, tuple[str, ...]]) -> str:
    lines = [
        "# Settings that bind this paper's numbers to its data; `boundpaper build` reads them.",
        f"main = {_as_toml_list(folder.mains)}",
        f"data = {_as_toml_list(folder.data, always=True)}",
    ]
    if folder.macro != "val":
        lines.append(f'macro = "{folder.macro}"')
    for name, key in keys.items():
        lines += ["", f"[tables.{name}]" if re.fullmatch(r"[\w-]+", name) else f'[tables."{name}"]']
        lines.append(f'key = "{BY_ROW}"' if key == (BY_ROW,) else f"key = {_as_toml_list(key, always=True)}")
    return "\n".join(lines) + "\n"


def _as_toml_list(texts: tuple[str, ...], always: bool = False) -> str:
    import json

    strings = [json.dumps(text, ensure_ascii=False) for text in texts]
    return strings[0] if len(strings) == 1 and not always else "[" + ", ".join(strings) + "]"


def write_plan(planned: InitPlan) -> list[str]:
    """Write the planned files, and build; return the names of the written files."""
    from boundpaper.adopt.folder import read
    from boundpaper.store import files

    root = planned.folder.root
    files.write(root / ADOPTED, planned.toml.encode())
    for path, text in planned.files.items():
        files.write(path, text)
    result = generate.build(read(root))
    return [ADOPTED, *(planned.folder.shown(path) for path in planned.files), *result.changed]
