"""Captures with weights streamed from disk: equal files, and less memory than the weights need."""

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

import keyquery as kq
from boundpaper.errors import ModelError
from captures_made import contents
from keyquery.models.captures.capture import capture
from keyquery.models.captures.options import CaptureOptions
from keyquery.models.checkpoints import streaming
from keyquery.models.checkpoints.estimate import estimate
from keyquery.models.checkpoints.loading import ModelSource, load
from keyquery.models.texts import TextSource
from models_tiny import SIZES, saved, saved_model, text

pytestmark = pytest.mark.models
NAMES = ("llama", "gpt_neox", "gemma3", "ministral3")
LIMITED = """
import os, resource, sys
from pathlib import Path
import torch
from keyquery.models.captures.capture import capture
from keyquery.models.captures.options import CaptureOptions
from keyquery.models.checkpoints.loading import ModelSource, load
from keyquery.models.texts import TextSource
model, small, texts, out, room = sys.argv[1:]
torch.set_num_threads(1)
def options(folder, stream, out):
    source = ModelSource(folder, device="cpu")
    settings = {"context": 32, "buckets": 4, "limit": 1, "stream": stream}
    return CaptureOptions(model=source, texts=TextSource(texts), out=Path(out), **settings)
def limited(stream):
    capture(options(small, stream, f"{out}-{stream}-first"))  # memory that the libraries allocate once
    status = Path("/proc/self/status").read_text()
    for kind, field in ((resource.RLIMIT_AS, "VmSize:"), (resource.RLIMIT_DATA, "VmData:")):  # ulimit -v, ulimit -d
        limit = 1024 * int(status.split(field)[1].split()[0]) + int(room)
        resource.setrlimit(kind, (limit, limit))
    capture(options(model, stream, f"{out}-{stream}"))
for stream in (False, True):
    child = os.fork()  # both children share the imports
    if not child:
        limited(stream)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the models and texts that the tests share."""
    root = tmp_path_factory.mktemp("streamed")
    for name in NAMES:
        saved(name, root / name)
    experts = transformers.MixtralConfig(**SIZES, num_local_experts=2)
    saved_model(transformers.MixtralForCausalLM(experts), root / "mixtral")
    (root / "texts").mkdir()
    for number in range(3):
        (root / "texts" / f"{number}.txt").write_text(text(40, number))
    return root


def options(models: Path, name: str, out: Path, **changes: Any) -> CaptureOptions:
    settings: dict[str, Any] = {"context": 32, "buckets": 4, "out": out, **changes}
    settings["parts"] = ("values", "outputs", "residual", "mlp") if name == "llama" else ()
    return CaptureOptions(
        model=ModelSource(str(models / name), device="cpu"), texts=TextSource(str(models / "texts")), **settings
    )


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("name", NAMES)
def test_streamed_capture_equals_that_of_a_loaded_model(models: Path, name: str, batch: int, tmp_path: Path) -> None:
    for stream in (False, True):
        capture(options(models, name, tmp_path / str(stream), stream=stream, batch=batch))
    assert contents(tmp_path / "True") == contents(tmp_path / "False")
    assert len(contents(tmp_path / "True")) > 4


def test_a_forward_reads_each_weight_once(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: Counter[str] = Counter()
    read = streaming._StreamedFile.get_tensor

    def counted(self: streaming._StreamedFile, name: str) -> torch.Tensor:
        reads[name] += 1
        return read(self, name)

    monkeypatch.setattr(streaming._StreamedFile, "get_tensor", counted)
    totals = []
    for batch, expected_reads in ((1, [1, 1]), (3, [0, 0])):  # the first document is also read for checks
        reads.clear()
        counts: list[Counter[str]] = []
        request = options(models, "llama", tmp_path / str(batch), stream=True, batch=batch)
        capture(request, lambda state, counts=counts: counts.append(Counter(reads)))  # type: ignore[misc]
        for before, after, count in zip(counts[1:3], counts[2:], expected_reads, strict=True):
            assert max((after - before).values(), default=0) == count, "each weight is read this often"
            assert {after[name] - before[name] for name in reads if ".layers.0." in name} == {count}
        totals.append(reads["model.layers.0.mlp.up_proj.weight"])
    assert totals[0] - totals[1] == 2, "one forward pass of three documents instead of three"
    assert contents(tmp_path / "1") == contents(tmp_path / "3")


def test_streamed_blocks_are_not_kept_in_memory(models: Path, caplog: pytest.LogCaptureFixture) -> None:
    loaded = load(ModelSource(str(models / "llama"), device="cpu"), stream=True)
    loaded_names = {name for name, parameter in loaded.model.named_parameters() if not parameter.is_meta}
    assert loaded_names == {"model.embed_tokens.weight", "model.norm.weight", "lm_head.weight"}
    assert "meta device" not in caplog.text, "the library's log is not shown to users"


def test_non_finite_weight_on_disk_is_refused(models: Path, tmp_path: Path) -> None:
    model = transformers.AutoModelForCausalLM.from_pretrained(models / "llama")
    model.model.layers[1].mlp.up_proj.weight.data[0, 0] = torch.nan
    saved_model(model, tmp_path / "nan")
    with pytest.raises(ModelError, match=r"NaN or infinity \(first: model\.layers\.1\.mlp\.up_proj\.weight\)"):
        load(ModelSource(str(tmp_path / "nan"), device="cpu"), stream=True)


def test_unsupported_streaming_options_are_refused(models: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="leave --quantize nf4 out"):
        load(ModelSource(str(models / "llama"), device="cpu", quantize="nf4"), stream=True)
    with pytest.raises(ModelError, match="rearranged on loading"):
        load(ModelSource(str(models / "mixtral"), device="cpu"), stream=True)
    with pytest.raises(ModelError, match="is loaded; pass its name or folder"):
        kq.capture(kq.load(str(models / "llama")), "manual", 32, tmp_path / "out", stream=True)


def test_streaming_captures_a_model_larger_than_the_memory_limit(models: Path, tmp_path: Path) -> None:
    """With 48 MB for weights of 123 MB, an ordinary capture is refused; a streamed capture equals an unlimited one."""
    sizes = SIZES | {"hidden_size": 512, "intermediate_size": 1024, "num_hidden_layers": 13}
    large, room = models / "large", 48 << 20
    saved_model(transformers.LlamaForCausalLM(transformers.LlamaConfig(**sizes)), large)
    source = ModelSource(str(large), device="cpu")
    assert estimate(source, context=32).weights > 2 * room > 8 * estimate(source, context=32, stream=True).weights

    arguments = [large, models / "llama", models / "texts", tmp_path / "limited", room]
    command = [sys.executable, "-c", LIMITED, *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.stdout.split() == ["1", "0"], result.stderr[-2000:]
    assert "its weights do not fit in memory" in result.stderr.splitlines()[-1]
    capture(options(models, "large", tmp_path / "all", limit=1))
    assert contents(tmp_path / "limited-True") == contents(tmp_path / "all")
