"""The engine names nothing of this thesis: no model, metric or section in its code, texts or comments."""

import re

import pytest

from conftest import ROOT

ENGINE = ROOT / "packages/boundpaper/src/boundpaper"
WORDS = (
    *("rope", "drope", "nope", "rotary", "rotations?", "positional", "yarn", r"\w*_theta"),
    *("thinking", "nonthinking", "prompts?", "perplexity", "logits?", "softmax", "attention", "mlp", "bos"),
    *(r"llama[\w.-]*", r"qwen[\w.-]*", r"mistral[\w.-]*", r"ministral[\w.-]*", r"smollm[\w.-]*", r"gemma[\w.-]*"),
    *(r"tiny-[\w.-]+", r"c00[0-4]_\w+"),
    *("plasticity", "lbp", r"lbp_\w+", "longbench", "ruler", r"ruler_\w+", r"ap_\w+", r"bias_\w+", "paradox"),
    *("checkpoints?", "pretrained", "captured?", "captures?", "gguf", "deciles?", "keyquery", "anchoring"),
    *(r"models\.csv", r"subjects\.csv", r"families\.csv", r"stated_\d+", r"drope_\w+", "models", "tokens"),
)
"""Names of models, methods and documents of the thesis; they are searched as whole words in any case."""
PARTS = "parts of a text or of a number, as programs call them"
ALLOWED = {
    ("build/facts.py", "positional"): "kinds of a function's parameters in Python",
    ("frame/pyproject.in", "models"): "the extra of a new paper that measures models; it installs nothing by itself",
    ("frame/pyproject.in", "keyquery"): "the package behind that extra",
    ("paper/annotate/*", "tokens"): PARTS,
    ("paper/trace/*", "tokens"): PARTS,
    ("tables/*", "tokens"): PARTS,
    ("typeset/glyphs.py", "tokens"): PARTS,
    ("typeset/numbers.py", "tokens"): PARTS,
    ("typeset/printed.py", "tokens"): "a unit that a printed cell may end with, as `points` and `%` are",
    ("typeset/text.py", "tokens"): "what a sentence counts, as `steps` and `items` are: thousands are set apart",
    ("statistics/__init__.pyi", "perplexity"): "the module of that name",
    ("statistics/perplexity.py", "perplexity"): "a statistic of any model of language; a paper without one calls none",
    ("store/manifest.py", "capture"): "a key that manifests of measurements may have",
    ("store/manifest.py", "positional"): "a key that manifests of measurements may have",
}
"""The reason why each word is allowed, by file and word."""


def words_found(text):
    """Return pairs of a word of the thesis and its line in a text."""
    pattern = re.compile(rf"(?<![\w-])(?:{'|'.join(WORDS)})(?![\w-])", re.IGNORECASE)
    lines = enumerate(text.splitlines(), 1)
    return [(match[0].lower(), number) for number, line in lines for match in pattern.finditer(line)]


def engine_files():
    """Return every text file of the engine."""
    return sorted(path for path in ENGINE.rglob("*") if path.is_file() and path.suffix not in (".pyc", ".so"))


def allowed_entry(file, word):
    """Return the entry of `ALLOWED` for a word in a file, or None."""
    folder = file.rpartition("/")[0]
    return next((entry for entry in ((file, word), (f"{folder}/*", word)) if entry in ALLOWED), None)


def test_engine_contains_no_word_of_the_thesis():
    assert len(engine_files()) > 200
    used, unexpected = set(), []
    for path in engine_files():
        file = path.relative_to(ENGINE).as_posix()
        for word, line in words_found(path.read_text(encoding="utf-8")):
            entry = allowed_entry(file, word)
            used.add(entry)
            if entry is None:
                unexpected.append(f"{file}:{line}: {word}")
    assert unexpected == []
    assert set(ALLOWED) - used == set(), "entries of ALLOWED that are not used"


@pytest.mark.parametrize(
    "text", ["Llama-3.2-1B", "the DroPE side", "ap_drop", "One Weird Paradox", "by RULER", "rope_theta"]
)
def test_thesis_word_in_code_or_comment_is_found(text):
    assert words_found(f"# a comment\nvalue = {text!r}") != []
    assert words_found(f"x = 1  # {text}") != []


@pytest.mark.parametrize("text", ["property", "parenthesis", "bean heights", "attentive", "tokenized", "ropes", "lbps"])
def test_other_words_are_not_reported(text):
    assert words_found(text) == []


def test_new_paper_contains_no_word_of_the_thesis(tmp_path):
    from boundpaper.build.new_paper import new_paper

    written = new_paper(tmp_path / "beans", "Beans under three lamps", "May 2026")
    actual = {(file, word) for file in written for word, _ in words_found((tmp_path / "beans" / file).read_text())}
    assert actual == {("pyproject.toml", "models"), ("pyproject.toml", "keyquery")}
