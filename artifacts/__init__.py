"""Artifacts: the data the thesis rests on, the store that reads and checks it, and the graph of what makes what.

This module stays light: a build with nothing to do imports neither pandas nor YAML.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from artifacts.store.frames import wide as wide

__all__ = ["wide"]


def __getattr__(name: str) -> Any:
    """Import `wide` on first use, since it needs pandas."""
    if name == "wide":
        from artifacts.store.frames import wide

        return wide
    raise AttributeError(f"module 'artifacts' has no attribute {name!r}")
