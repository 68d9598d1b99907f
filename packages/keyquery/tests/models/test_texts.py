"""Texts: sources that can be read, and errors for unusable ones."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from boundpaper.errors import DataError
from keyquery.models.texts import TextSource, documents, texts

pytestmark = pytest.mark.models


class Words:
    """A tokenizer that encodes each word as its length, after the beginning token 1."""

    def __call__(self, text: str, verbose: bool = True, add_special_tokens: bool = True) -> dict[str, Any]:
        return {"input_ids": [1] * add_special_tokens + [len(word) for word in text.split()]}


def test_a_text_file_is_one_document(tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    path.write_text("a bb ccc dddd")
    actual = list(documents(TextSource(str(path)), Words(), 3))
    assert [(text.number, text.name, text.tokens) for text in actual] == [(0, "book", (1, 1, 2))]
    assert len(list(texts(TextSource(str(path))))) == 1


def test_windows_cut_a_long_text(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / f"{name}.txt").write_text("a bb ccc dddd")
    actual = list(documents(TextSource(str(tmp_path)), Words(), 3, windows=True))
    assert [(text.number, text.name, text.tokens) for text in actual] == [
        (0, "a#0", (1, 1, 2)), (1, "a#1", (1, 3, 4)), (2, "b#0", (1, 1, 2)), (3, "b#1", (1, 3, 4)),
    ]  # fmt: skip
    with_short = list(documents(TextSource(str(tmp_path)), Words(), 4, windows=True, keep_short=True))
    assert [(text.name, text.tokens) for text in with_short[:2]] == [("a#0", (1, 1, 2, 3)), ("a#1", (1, 4))]
    assert len(list(texts(TextSource(str(tmp_path))))) == 2


def test_json_lines_are_read_with_ids_and_fields(tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    rows = [{"id": "x", "body": "a bb"}, {"body": "a"}, {"_id": 7, "body": "ccc a bb"}]
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n\n")
    source = TextSource(str(path), field="body")
    assert [name for name, _ in texts(source)] == ["x", "1", "7"]
    actual = list(documents(source, Words(), 3, skip_short=True))
    assert [(text.number, text.name) for text in actual] == [(0, "x"), (2, "7")], "numbers are positions in the source"
    assert actual[0].digest != actual[1].digest


def test_too_short_text_is_reported_with_its_length(tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_text('{"id": "long", "text": "a a a a"}\n{"id": "brief", "text": "a"}\n')
    with pytest.raises(DataError, match=r"text brief has 2 tokens, fewer than the context of 4; give --context 2"):
        list(documents(TextSource(str(path)), Words(), 4))
    actual = list(documents(TextSource(str(path)), Words(), 4, keep_short=True))
    assert [(text.number, len(text.tokens)) for text in actual] == [(0, 4), (1, 2)]
    (tmp_path / "empty.jsonl").write_text('{"id": "nothing", "text": ""}\n')
    with pytest.raises(DataError, match=r"text nothing is empty \(0 tokens\); remove it"):
        list(documents(TextSource(str(tmp_path / "empty.jsonl")), lambda text, verbose: {"input_ids": []}, 4))
    with pytest.raises(DataError, match="the longest text has 5 tokens"):
        list(documents(TextSource(str(path)), Words(), 9, skip_short=True))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"text": "a"}\n{"text": ', r"texts\.jsonl:2: not JSON"),
        ('{"body": "a"}\n', r"texts\.jsonl:1: no text field 'text' \(it has: body\)"),
        ("[1]\n", r"texts\.jsonl:1: no text field 'text' \(it has: list\)"),
        ("", "no texts"),
    ],
)
def test_malformed_lines_are_named(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_text(content)
    with pytest.raises(DataError, match=message):
        list(documents(TextSource(str(path)), Words(), 1))


def test_missing_and_unreadable_text_sources_are_reported(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        list(texts(TextSource(str(tmp_path / "absent.txt"))))
    with pytest.raises(DataError, match=r"no \.txt files"):
        list(texts(TextSource(str(tmp_path))))
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9")
    with pytest.raises(DataError, match="not UTF-8 at byte 3"):
        list(texts(TextSource(str(tmp_path / "latin.txt"))))


def test_missing_texts_are_reported_before_torch_is_imported(tmp_path: Path) -> None:
    messages = {
        "run('sinks', 'tiny-rope', texts_from='manuel')": "manuel: no such file; did you mean manual?",
        "capture('tiny-rope', 'absent.txt', context=16, out='cap')": "absent.txt: no such file",
    }
    code = "import sys, keyquery as kq\n" + "".join(
        f"try: kq.{call}\nexcept Exception as error: print(error, 'torch' in sys.modules)\n" for call in messages
    )
    printed = subprocess.check_output([sys.executable, "-c", code], cwd=tmp_path, text=True)
    for line, message in zip(printed.splitlines(), messages.values(), strict=True):
        assert (line.startswith(message), line.endswith("False")) == (True, True)
