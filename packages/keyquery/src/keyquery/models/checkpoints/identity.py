"""Compute a hash that identifies a model by the content of its files."""

import functools
import hashlib
from pathlib import Path

IDENTIFYING = (  # patterns of the files in a folder that determine a model's output
    *("*.safetensors", "config.json", "generation_config.json", "*.py"),
    *("tokenizer*", "special_tokens_map.json", "added_tokens.json", "vocab*", "merges.txt", "*.model"),
)


def fingerprint(folder: Path) -> str:
    """Return a hash of every byte of a local model's weights, configuration and tokenizer."""
    state = hashlib.sha256()
    for path in sorted({path for pattern in IDENTIFYING for path in folder.glob(pattern)}):
        if path.is_file():
            stat = path.stat()
            state.update(f"{path.name} {_file_hash(path, stat.st_size, stat.st_mtime_ns, stat.st_ino)}\n".encode())
    return state.hexdigest()


@functools.cache
def _file_hash(path: Path, size: int, changed: int, inode: int) -> str:
    """Return the SHA-256 of a file; the other arguments make the cache forget the hash of a changed file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
