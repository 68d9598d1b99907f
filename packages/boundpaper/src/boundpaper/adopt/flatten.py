"""Flatten an adopted paper: replace each use of a value in its files by the value, so that they need no `bound/`."""

import re
from pathlib import Path

from boundpaper.adopt import source
from boundpaper.adopt.folder import Folder
from boundpaper.adopt.generate import AdoptedPaper, picture_of
from boundpaper.adopt.source import LatexFile
from boundpaper.errors import SpecError, ThesisError


def flattened_files(paper: AdoptedPaper) -> dict[Path, bytes]:
    """Return the paper's files and pictures by path, with values filled in and without the line that inputs `bound/`.

    Raises SpecError, which lists every place where a value is absent or its key contains an argument of a macro.
    """
    faults: list[str] = []
    files = {file.path: file.encoded(_filled_text(paper, file, faults)) for file in paper.sources}
    for use in paper.uses:
        if use.command == "figure" and not faults:
            files[paper.folder.paper / f"figures/{use.key}.pdf"] = _built_picture(paper, use.key)
    if faults:
        raise SpecError("\n".join(faults))
    return files


def _built_picture(paper: AdoptedPaper, name: str) -> bytes:
    """Return the PDF of a figure as `build` wrote it; raise SpecError if the paper has another picture of that name."""
    picture = paper.folder.paper / picture_of(name)
    if not picture.is_file():
        raise SpecError(f"{paper.folder.shown(picture)}: no such file; run `boundpaper build`")
    author_picture = paper.folder.paper / f"figures/{name}.pdf"
    if author_picture.is_file() and author_picture.read_bytes() != picture.read_bytes():
        raise SpecError(f"{paper.folder.shown(author_picture)}: another picture has this name; rename one of the two")
    return picture.read_bytes()


def _filled_text(paper: AdoptedPaper, file: LatexFile, faults: list[str]) -> str:
    """Return the text of a file with values filled in; add a fault for each value that cannot be filled in."""
    text = file.text
    output, position = [], 0
    for use in sorted(paper.uses, key=lambda use: use.start):
        if use.source is not file:
            continue
        try:
            if re.search(r"#\d", use.key):
                raise SpecError(f"{use.key} contains an argument of a macro; expand the macro by hand where it is used")
            latex = paper.printed(use)
            if use.command == "figure":
                latex = paper.figure(use.key, f"figures/{use.key}.pdf").text.partition("\n")[2].rstrip("\n")
            needs_space = re.search(r"\\[A-Za-z]+$", latex) and text[use.end : use.end + 1].isalpha()
            output += [text[position : use.start], latex, " " if needs_space else ""]
        except ThesisError as error:
            faults.append(f"{use.place}: {error}")
        position = use.end
    text = "".join([*output, text[position:]])
    loaded_names = " ".join(re.findall(r"\\(?:usepackage|RequirePackage)\s*(?:\[[^\]]*\])?\s*\{([^{}]*)\}", file.code))
    missing_packages = [package for package in paper.packages() if not re.search(rf"\b{package}\b", loaded_names)]
    if missing_packages:  # so far, `bound/` loads them
        text = text.replace(source.LINE, rf"\usepackage{{{','.join(missing_packages)}}}", 1)
    return without_line(text)


def with_line(text: str, code: str) -> str:
    r"""Return the text of a main file, with the line that inputs `bound/` added after `\documentclass`.

    `code` is the text with blanks for comments. Raises SpecError when there is no `\documentclass` followed by closed
    braces.
    """
    match = re.search(r"\\documentclass\s*(?:\[(?:[^][]|\[[^]]*\])*\]\s*)?\{[^{}]*\}(?:\s*\[[^\]]*\])?", code)
    if match is None:
        raise SpecError("no \\documentclass{...} with closed braces; after the class, write " + source.LINE)
    end = text.find("\n", match.end())
    line_end = "\r\n" if text[:end].endswith("\r") else "\n"
    if end < 0 or code[match.end() : end].strip():  # the line goes on after the class
        return text[: match.end()] + f"{source.LINE}%\n" + text[match.end() :]
    return text[: end + 1] + source.LINE + line_end + text[end + 1 :]


def without_line(text: str) -> str:
    """Return a file's text without the line that `with_line` added."""
    if f"{source.LINE}%\n" in text:
        return text.replace(f"{source.LINE}%\n", "", 1)
    return re.sub(rf"^{re.escape(source.LINE)}\r?\n", "", text, count=1, flags=re.MULTILINE)


def write_flattened(folder: Folder, target: Path | None) -> list[str]:
    """Write the flattened files into a new folder, with all other files of the paper; return the names of the files.

    If `target` is None, the flattened files replace the author's files.
    """
    import shutil

    from boundpaper.store import files

    contents = flattened_files(AdoptedPaper.read(folder))
    if target is None:
        return [folder.shown(path) for path, content in contents.items() if files.write(path, content)]
    for path in contents:
        if not path.is_relative_to(folder.paper):
            raise SpecError(f"{folder.shown(path)}: is outside {folder.paper.name}; move it there to flatten")
    with files.new_folder(target) as draft:
        for path in latex_inputs(folder):
            copy = draft / path.relative_to(folder.paper)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
        for path, content in contents.items():
            files.write(draft / path.relative_to(folder.paper), content)
    return [str(target / path.relative_to(folder.paper)) for path in contents]


SUFFIXES = frozenset({
    ".tex", ".bib", ".bst", ".cls", ".sty", ".pdf", ".png", ".jpg", ".jpeg", ".eps", ".pgf", ".tikz", ".def", ".clo",
    ".bbl", ".cfg", ".bbx", ".cbx", ".ltx", ".dat", ".ttf", ".otf",
})  # fmt: skip
"""The endings of files that LaTeX may read."""


def latex_inputs(folder: Folder) -> list[Path]:
    """Return files in the main file's folder that LaTeX may read, except `bound/`, hidden files and LaTeX's output."""
    outputs = {folder.paper / f"{Path(main).stem}.pdf" for main in folder.mains}
    paths = []
    for path in sorted(folder.paper.rglob("*")):
        names = path.relative_to(folder.paper).parts
        is_hidden = any(name.startswith(".") or name in ("node_modules", "__pycache__") for name in names)
        is_excluded = is_hidden or path in outputs or path.is_relative_to(folder.generated)
        if path.suffix.lower() in SUFFIXES and not is_excluded and path.is_file():
            paths.append(path)
    return paths
