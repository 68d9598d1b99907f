"""Result files in the harness's format, made for tests, and the command that reads the files."""

import csv
import json
from pathlib import Path

from click.testing import CliRunner

from boundpaper.cli.door import command_line
from boundpaper.places import project
from keyquery.scores.ruler import results as ruler_results
from keyquery.scores.ruler.scores import QA, TASKS, length_tokens

LENGTHS = ("4k", "8k", "16k", "32k", "64k", "128k")
REAL = Path(__file__).parent / "ruler_results.json"  # written by the harness, without facts of the machine


def bench(*arguments, model="some/Planted-1B"):
    """Run `bench ruler` as the command line does: errors become a line and an exit code."""
    return CliRunner().invoke(command_line(project), ["bench", "ruler", "--model", str(model), *map(str, arguments)])


def table(root, name="planted-1b"):
    with (root / f"artifacts/measurements/measured_ruler/{name}.csv").open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def value(rows, key, length="all"):
    [match] = [row for row in rows if row["key"] == key and row["length"] == length]
    return match["value"] and float(match["value"])


NAMES = {ours: theirs for theirs, ours in ruler_results.NAMES.items()}


def results(scores, *, lengths=None, original=None, effective=None, max_length=131072, model="some/Planted-1B", **more):
    """Return results as the harness writes them, from scores between 0 and 1 by task and length."""
    lengths = lengths or sorted({int(tokens) for score_by_length in scores.values() for tokens in score_by_length})
    original = original or 500 * len(lengths)
    names = {NAMES[task]: score_by_length for task, score_by_length in scores.items()}
    content = json.loads(REAL.read_text(encoding="utf-8"))
    template = content["configs"]["niah_single_1"]
    content |= {
        "results": {
            name: {
                "name": name,
                "alias": name,
                "sample_len": effective or original,
                "4096,none": -1,
                "4096_stderr,none": "N/A",
                **{f"{tokens},none": score for tokens, score in score_by_length.items()},
                **{f"{tokens}_stderr,none": "N/A" for tokens in score_by_length},
            }
            for name, score_by_length in names.items()
        },
        "configs": {
            name: {**template, "task": name, "metadata": {**template["metadata"], "max_seq_lengths": lengths}}
            for name in names
        },
        "n-samples": {name: {"original": original, "effective": effective or original} for name in names},
        "max_length": max_length,
        "model_name": model,
    }
    return {**content, **more}


def written(path, content):
    """Write the results; for each question task, also write samples that give the same scores."""
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    for name in (NAMES[task] for task in QA):
        scores = content.get("results", {}).get(name, {}) if isinstance(content, dict) else {}
        lines = [
            sample(int(key.partition(",")[0]), ["Paris"], "in Paris" if number < round(500 * score) else "in Rome")
            for key, score in scores.items()
            if key.partition(",")[0].isdigit() and score != -1
            for number in range(500)
        ]
        if lines:
            samples_of(path, name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def samples_of(path, name):
    return path.with_name(f"samples_{name}_{path.stem.removeprefix('results_')}.jsonl")


def sample(tokens, references, answer):
    return json.dumps({"doc": {"max_length": tokens, "outputs": references}, "filtered_resps": [answer]})


TOKENS = tuple(length_tokens(length) for length in LENGTHS)
FULL = {task: dict.fromkeys(TOKENS, 0.5) for task in TASKS}


def without(content, key):
    return {name: value for name, value in content.items() if name != key}
