"""Write the dataset card of a capture: a description, and a configuration of `datasets.load_dataset` per file."""

from pathlib import Path
from typing import Any

import yaml

from boundpaper.store.files import write
from keyquery.models.captures import layout, manifest

FILE = "README.md"
PART_SENTENCES = {
    "values": "`l05h03v` has the values of key head 3 at the tokens of its keys.",
    "outputs": "`l05h12z` has the attention output of head 12, before the output projection, at the tokens of queries.",
    "residual": "`l05h00r` has the residual stream after layer 5, at the tokens of queries.",
    "mlp": "`l05h00m` has the MLP output of layer 5, at the tokens of queries.",
}


def save(root: Path, content: dict[str, Any]) -> None:
    """Write the dataset card into the folder `root` of a gathered capture; `content` is the complete manifest."""
    names = sorted(path.parent.name for path in root.glob(f"*/{layout.FILE}") if layout.NAME.match(path.parent.name))
    metadata = {
        "tags": ["attention", "queries", "keys"],
        "configs": [{"config_name": name, "data_files": f"{name}/{layout.FILE}"} for name in names],
    }
    settings = content["settings"]
    model = Path(settings["model"]).name if settings.get("fingerprint") else settings["model"]
    vectors = "before" if settings.get("pre_rope") else "after"
    documents = f"{len(content['documents'])} documents of {settings['context']} tokens"
    example = next((name for name in names if name.endswith("q")), "l00h00q")
    notes = "".join(f"\n{note[:1].upper()}{note[1:]}.\n" for note in content.get("notes", ()))
    parts = "".join(f"\n{PART_SENTENCES[name]}" for name in settings.get("parts", ()))
    text = f"""# Queries and keys of {model}

Attention vectors {vectors} the rotary embedding over {documents}, in {settings["buckets"]} equal
buckets. Each keeps {settings["rate"]:g} random tokens per document, drawn separately for queries and keys. There are
{len(manifest.heads_of(content))} heads; `{manifest.FILE}` says how it was made.
{notes}
`l05h12q` has the queries of head 12 of layer 5, `l05h03k` the keys of key head 3, from 0: a row per vector.{parts}

    from datasets import load_dataset
    rows = load_dataset("FOLDER_OR_ID", "{example}", split="train")

| column | meaning |
|---|---|
| `bucket` | `position` over the tokens of a bucket |
| `example_id` | document, from 0 |
| `position` | token of the document, from 0 |
| `vector` | the vector, single precision |
| `sliding_window` | the layer's window in tokens; none where it sees everything before |
"""
    header = yaml.safe_dump(metadata, sort_keys=False)
    write(root / FILE, f"---\n{header}---\n\n{text}".encode())
