"""Adopt a LaTeX paper (`boundpaper init`): find its main file and data files, and write `boundpaper.toml`."""

import json
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
"""Size in bytes of the largest data file that `init` adopts; larger files are records of runs, not results."""
_SKIPPED = frozenset({"node_modules", "__pycache__", GENERATED, "venv", "env", "site-packages", "build", "dist", "out"})
_NOT_DATA_NAMES = frozenset({"package.json", "package-lock.json", "tsconfig.json", "lock.json", "composer.json"})
_USUAL_STEMS = ("main", "paper", "ms", "article", "manuscript")
_CLASS = re.compile(r"\\documentclass\s*(?:\[(?:[^][]|\[[^][]*\])*\]\s*)?\{([^{}]*)\}")


@dataclass(frozen=True)
class InitPlan:
    """The text of `boundpaper.toml` and the main files that `init` would write, and messages on what it found."""

    folder: Folder
    toml: str
    files: dict[Path, bytes]
    messages: tuple[str, ...]


def plan_init(root: Path, mains: tuple[str, ...] = (), data: tuple[str, ...] = (), *, probe: bool = True) -> InitPlan:
    """Return the plan to adopt the paper in a folder, with its main files, its data files and their key columns.

    If `mains` or `data` is empty, the folder is searched. With `probe`, LaTeX measures the page. Raises SpecError when
    there is no main file or more than one, when there are no data, or when the folder already belongs to a paper.
    """
    if (root / ADOPTED).is_file():
        raise SpecError(f"{ADOPTED}: exists already; edit it, or run `boundpaper build`")
    if (root / MARK).is_file():
        raise SpecError(f"{root}: contains {MARK}, so its paper is built from chapters; `boundpaper list` shows them")
    mains = mains or (_main_file(root),)
    for name in mains:
        if not (root / name).is_file():
            raise SpecError(f"{name}: no such file; name the file with \\documentclass")
    messages: list[str] = []
    files = source.sources(Folder(root, mains, data))
    patterns = data or _data_patterns(root, messages)
    if not patterns:
        raise SpecError(
            f"{root}: no CSV, TSV, JSON or Parquet file here or below; put the results there, or name them: --data FILE"
        )
    macro = "val"
    for tex in files:
        if re.search(r"\\(?:new|renew|provide)command\*?\s*\{?\\val\b|\\def\s*\\val\b|\{val\}\{", tex.code):
            macro = "boundval"
            messages.append(f"{tex.shown} already defines \\val, so the macro for values is called \\boundval")
    cell_count, keys = 0, {}
    for name, file in cells.data_files(Folder(root, mains, patterns, macro)).items():
        try:
            data_of_file = cells.cells_in_texts({name: (file, cells.read_content(root / file, file))}, {})
        except DataError as error:
            patterns = (*patterns, f"!{file}")
            messages.append(f"left out: {error}")
            continue
        cell_count += len(data_of_file.cells)
        for table in data_of_file.tables.values():
            keys[name] = table.key
            if table.key == (BY_ROW,):
                messages.append(f"{file}: no columns identify its rows; rows are addressed by number")
    if not cell_count:
        raise SpecError("\n".join([f"{root}: no data file can be read; correct one of these:", *messages]))
    folder = Folder(root, mains, patterns, macro)
    main_files = [next(tex for tex in files if tex.path == root / name) for name in mains]
    match = _CLASS.search(main_files[0].code)
    summary = [
        f"{mains[0]}: class {match[1] if match else 'unknown'}, {counted(len(files), 'file')} of LaTeX",
        f"{counted(len(cells.data_files(folder)), 'file')} of data, {counted(cell_count, 'cell')}",
    ]
    toml = _settings_text(folder, keys)
    if probe:
        page_table, notes = _page_table(main_files[0])
        toml += page_table
        messages += notes
    new_texts = {
        tex.path: tex.encoded(flatten.with_line(tex.text, tex.code))
        for tex in main_files
        if source.LINE not in tex.code
    }
    return InitPlan(folder, toml, new_texts, (*summary, *messages))


def _page_table(main: source.LatexFile) -> tuple[str, list[str]]:
    """Return the table `[page]` of `boundpaper.toml`, with sizes that LaTeX measures, and messages for the author."""
    from boundpaper.adopt.probe import page_measures
    from boundpaper.store import files

    try:
        with files.temporary() as scratch:
            page, missing = page_measures(main, scratch)
    except DataError as error:
        return "", [f"the page was not measured ({error}); write its sizes under [page] if you need them"]
    family = page.font or missing
    messages = [f"columns of {page.column:g} pt, text of {page.text:g} pt, {family} at {page.size:g} pt, {page.cite}"]
    if missing:
        messages.append(
            f"figures are set in Palatino: pdfLaTeX has no {missing}; set `font` under [page] to use another"
        )
    return (
        f"\n[page]\ncolumn = {page.column:g}\ntext = {page.text:g}\nheight = {page.height:g}\n"
        f'font = "{page.font}"\nsize = {page.size:g}\ncite = "{page.cite}"\n'
    ), messages


def _main_file(root: Path) -> str:
    r"""Return the file nearest to `root` that begins a document; if several do, the only one with a usual name."""
    names_by_depth: dict[int, list[str]] = defaultdict(list)
    for path in _files_ending(root, (".tex", ".ltx")):
        code = source.read(path, path.name).code
        match = _CLASS.search(code)
        if match and r"\begin{document}" in code and match[1].strip() not in ("subfiles", "standalone"):
            name = path.relative_to(root).as_posix()
            names_by_depth[name.count("/")].append(name)
    if not names_by_depth:
        raise SpecError(
            f"{root}: no LaTeX file with \\documentclass and \\begin{{document}} here or below; go to another folder"
        )
    names = names_by_depth[min(names_by_depth)]
    if len(names) == 1:
        return names[0]
    usual_names = [name for name in names if PurePosixPath(name).stem in _USUAL_STEMS]
    if len(usual_names) == 1:
        return usual_names[0]
    raise SpecError(
        f"{', '.join(names)}: several files begin a document; name the main file, or each file that has numbers: "
        f"boundpaper init --main {names[0]}"
    )


def _files_ending(root: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """Return files with one of these endings, except hidden files and files in hidden or skipped folders."""
    paths = sorted(path for path in root.rglob("*") if path.suffix.lower() in suffixes and path.is_file())
    parts_by_path = {path: path.relative_to(root).parts for path in paths}
    return [path for path, parts in parts_by_path.items() if not any(p[0] == "." or p in _SKIPPED for p in parts)]


def _data_patterns(root: Path, messages: list[str]) -> tuple[str, ...]:
    """Return patterns of the data files, and `!NAME` for each file to leave out; append a message on each such file."""
    patterns: dict[str, None] = {}
    pattern_by_excluded_name = {}
    for path in _files_ending(root, cells.SUFFIXES):
        name = path.relative_to(root).as_posix()
        size = path.stat().st_size
        pattern = (PurePosixPath(name).parent / f"*{path.suffix}").as_posix()
        if not size:
            reason = "empty"
        elif size > LARGEST:
            reason = f"{size / 1e6:.0f} MB, probably records of runs; add its name to data to use it"
        elif path.name in _NOT_DATA_NAMES:
            reason = "files of this name contain no results"
        else:
            patterns[pattern] = None
            continue
        pattern_by_excluded_name[name] = pattern
        messages.append(f"left out: {name} ({reason})")
    return (*patterns, *(f"!{name}" for name, pattern in pattern_by_excluded_name.items() if pattern in patterns))


def _settings_text(folder: Folder, keys: dict[str, tuple[str, ...]]) -> str:
    """Return the text of `boundpaper.toml`; `keys` are the key columns by table."""
    lines = [
        "# Settings that bind this paper's numbers to its data; `boundpaper build` reads them.",
        f"main = {json.dumps(folder.mains if len(folder.mains) > 1 else folder.mains[0], ensure_ascii=False)}",
        f"data = {json.dumps(folder.data, ensure_ascii=False)}",
    ]
    if folder.macro != "val":
        lines.append(f'macro = "{folder.macro}"')
    for name, key in keys.items():
        lines += ["", f"[tables.{name}]" if re.fullmatch(r"[\w-]+", name) else f'[tables."{name}"]']
        lines.append(f"key = {json.dumps(BY_ROW if key == (BY_ROW,) else key, ensure_ascii=False)}")
    return "\n".join(lines) + "\n"


def write_plan(plan: InitPlan) -> list[str]:
    """Write the planned files and `bound/`, and return the names of the written files."""
    from boundpaper.adopt.folder import read
    from boundpaper.store import files

    root = plan.folder.root
    files.write(root / ADOPTED, plan.toml.encode())
    for path, text in plan.files.items():
        files.write(path, text)
    result = generate.build(read(root))
    return [ADOPTED, *(plan.folder.shown(path) for path in plan.files), *result.changed]
