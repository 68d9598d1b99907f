"""Parse JSON strictly: a repeated key in an object is an error, whereas Python's parser keeps the last value."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any


class DoubledKeyError(ValueError):
    """A JSON object has the same key twice."""


def parsed(text: str | bytes, decimal: Callable[[str], Any] | None = None) -> Any:
    """Return the value of a JSON text; if given, `decimal` parses numbers with a point or an exponent.

    Raises ValueError when the text is not JSON, its subclass `DoubledKeyError` when an object has a key twice, and
    RecursionError when the JSON is nested too deeply.
    """
    return json.loads(text, object_pairs_hook=_object_without_repeats, parse_float=decimal)


def _object_without_repeats(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        key, count = Counter(key for key, _ in pairs).most_common(1)[0]
        raise DoubledKeyError(
            f"the key {key[:60]!r} occurs {'twice' if count == 2 else f'{count} times'} in one object"
        )
    return content
