"""Publish a capture's folder as a data set on the Hub, or show what would be sent."""

import re
from collections.abc import Iterator
from pathlib import Path

from boundpaper.errors import DataError
from boundpaper.typeset.plural import counted
from keyquery.models.captures import dataset_card, layout, manifest

EXTRA_FILES = (dataset_card.FILE, manifest.FILE)
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+", re.ASCII)


def data_set_files(folder: Path) -> list[tuple[str, int]]:
    """Return, sorted, the name and size in bytes of each file that belongs to a gathered capture's data set.

    Raises DataError if the capture is incomplete: without card, manifest or heads.
    """
    head_files = [path for path in folder.glob(f"*/{layout.FILE}") if layout.NAME.match(path.parent.name)]
    missing = [name for name in EXTRA_FILES if not (folder / name).is_file()]
    if missing or not head_files:
        raise DataError(
            f"{folder}: no complete capture (no {missing[0] if missing else 'head'}); run `capture` to its end"
        )
    files = [folder / name for name in EXTRA_FILES] + head_files
    return sorted((path.relative_to(folder).as_posix(), path.stat().st_size) for path in files)


def upload_lines(folder: Path, repository: str) -> Iterator[str]:
    """Yield lines that list the files that `send` would upload, and their total size."""
    check_repository(repository)
    sizes = data_set_files(folder)
    for name, size in sizes:
        yield f"{size:>12,}  {name}"
    yield f"{counted(len(sizes), 'file')}, {sum(size for _, size in sizes):,} bytes, for the data set {repository}"


def send(folder: Path, repository: str) -> str:
    """Upload a capture to the Hub as one commit, and return the commit's URL.

    If the repository does not exist, it is created as private. Raises DataError if the capture is incomplete, the name
    is invalid, or the Hub refuses.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError

    check_repository(repository)
    names = [name for name, _ in data_set_files(folder)]
    api = HfApi()
    try:
        api.create_repo(repository, repo_type="dataset", private=True, exist_ok=True)
        url = api.upload_folder(repo_id=repository, repo_type="dataset", folder_path=folder, allow_patterns=names)
    except (HfHubHTTPError, OSError, ValueError) as error:
        raise DataError(
            f"{repository}: nothing was sent ({str(error).strip().splitlines()[0]}); log in with `hf auth login`"
        ) from error
    return str(url)


def check_repository(repository: str) -> str:
    """Return the name of a repository; raise DataError unless it has the form `OWNER/NAME`."""
    if not _REPOSITORY.fullmatch(repository):
        raise DataError(f"{repository!r} is not a data set of the Hub; write OWNER/NAME")
    return repository
