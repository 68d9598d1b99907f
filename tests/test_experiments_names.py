"""Names of measurements, what a measurement may overwrite, and what makes it run again."""

import io
import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from click.testing import CliRunner, Result  # noqa: E402

from boundpaper.build.closure import code_of  # noqa: E402
from boundpaper.errors import DataError, ModelError  # noqa: E402
from boundpaper.store.descriptor import resource  # noqa: E402
from boundpaper.store.table_file import table_text  # noqa: E402
from build import main  # noqa: E402
from conftest import ROOT  # noqa: E402
from keyquery.experiments import crosslayer_balance, layer_content, massive_values  # noqa: E402
from keyquery.measure.cache import cache_name, cached, code_hash  # noqa: E402
from keyquery.measure.choices import BY_NAME, EXPERIMENTS, experiments_in  # noqa: E402
from keyquery.measure.measurements import save  # noqa: E402
from keyquery.measure.recipes import load_recipe, longest_prompt, run_recipe  # noqa: E402
from keyquery.measure.run import experiment  # noqa: E402
from keyquery.measure.run_command import run_command  # noqa: E402
from keyquery.measure.subject import Options, open_subject  # noqa: E402
from keyquery.models.checkpoints.loading import ModelSource  # noqa: E402
from population_untrained import FEW, MICRO, save_untrained  # noqa: E402

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_untrained(tmp_path_factory.mktemp("models") / "m")


@pytest.fixture
def project(lab: Path) -> Path:
    return lab


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["run", *map(str, arguments)])


def tables(root: Path) -> list[str]:
    base = root / "artifacts/measurements"
    return sorted(path.relative_to(base).as_posix() for path in base.glob("*/*.[cp]*"))


# Names ------------------------------------------------------------------------------------------------------------


def test_other_position_encoding_gets_its_own_file(project: Path, model: Path) -> None:
    arguments = ("massive_values", "--model", model, *FEW)
    assert run(*arguments).exit_code == 0
    before = (project / "artifacts/measurements/massive_values/m.parquet").read_bytes()
    assert run(*arguments, "--position", "drope").exit_code == 0
    assert tables(project) == ["massive_values/m-drope.parquet", "massive_values/m.parquet"]
    assert (project / "artifacts/measurements/massive_values/m.parquet").read_bytes() == before
    text = table_text(project / "artifacts/measurements/massive_values/m-drope.parquet")
    table = pd.read_csv(io.StringIO(text))
    assert set(table["positional"]) == {"drope"}


def test_measurement_name_contains_every_non_default_option(project: Path, model: Path) -> None:
    def name(options: Options | None = None, **asked: Any) -> str:
        return open_subject(project, ModelSource(str(model), device="cpu", **asked), options=options).name

    assert name() == "m"
    for file in ("texts/My Prose.txt", "my-prose.jsonl.gz", "org/my-prose"):
        assert name(Options(texts_from=file)) == "m-on-my-prose"
    assert name(Options(texts_from="prose-1.5")) == "m-on-prose-1.5"
    assert name(dtype="bf16", position="rope") == "m-bf16-rope"
    assert name(scaling=0.25, revision="V1/x") == "m-scaling-0.25-revision-x"
    assert name(load_as="llama", position="drope") == "m-drope-as-llama"


# Overwriting ------------------------------------------------------------------------------------------------------


def test_measurement_with_other_options_is_overwritten_only_with_replace(project: Path, model: Path) -> None:
    assert run("layer_content", "massive_values", "--model", model, *FEW).exit_code == 0
    before = {name: (project / "artifacts/measurements" / name).read_bytes() for name in tables(project)}
    fewer = ("layer_content", "massive_values", "--model", model, "--documents", "1", "--items", "2", "--device", "cpu")
    result = run(*fewer)
    assert result.exit_code == 1
    assert (
        "error: artifacts/measurements/layer_content/m.csv and 1 more hold another measurement (--documents 2, now "
        "1); nothing is measured: give another --name, or --replace to overwrite"
    ) in result.stderr
    assert before == {name: (project / "artifacts/measurements" / name).read_bytes() for name in tables(project)}
    assert run(*fewer, "--name", "short").exit_code == 0
    assert (
        before.items()
        <= {name: (project / "artifacts/measurements" / name).read_bytes() for name in tables(project)}.items()
    )
    assert run(*fewer, "--replace").exit_code == 0
    manifest = json.loads((project / "artifacts/measurements/layer_content/m.json").read_text())
    assert manifest["options"]["texts"] == 1


def test_given_name_is_refused_for_a_different_model(project: Path, model: Path, tmp_path: Path) -> None:
    arguments = ("massive_values", "--name", "mine", *FEW)
    assert run(*arguments, "--model", model).exit_code == 0
    result = run(*arguments, "--model", model, "--position", "drope")
    assert result.exit_code == 1
    assert "positional rope, now drope" in result.stderr
    other = save_untrained(tmp_path / "other", rms_norm_eps=1e-3)
    result = run(*arguments, "--model", other)
    assert result.exit_code == 1
    assert "(fingerprint " in result.stderr
    (project / "artifacts/measurements/massive_values/mine.json").unlink()
    assert "no manifest says what it holds" in run(*arguments, "--model", model, "--again").stderr


def test_settings_of_a_recipe_are_options_as_well(project: Path, model: Path) -> None:
    recipe = project / "mine.yaml"
    template = "title: Mine\nexperiments: [context_length]\nitems: 2\nsettings: {context_length: {ratios: [RATIO]}}\n"
    template += f"models: [{{name: mine, id: {model}}}]\n"
    for ratio, replace, refused in (("0.5", False, False), ("1.0", False, True), ("1.0", True, False)):
        recipe.write_text(template.replace("RATIO", ratio))
        if refused:
            with pytest.raises(ModelError, match=r"ratios \[0.5\], now \[1.0\]"):
                run_recipe(project, load_recipe(recipe), device="cpu")
        else:
            run_recipe(project, load_recipe(recipe), device="cpu", replace=replace)


def test_heads_of_another_capture_are_overwritten_only_with_replace(
    project: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numba")
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0})  # four small heads do not need several processes
    assert run("geometry", "--model", model, *FEW).exit_code == 0
    before = (project / "artifacts/measurements/head_metrics/m.csv").read_bytes()
    shorter = ("geometry", "--model", model, "--tokens", "32", *FEW)
    result = run(*shorter)
    assert result.exit_code == 1
    assert "artifacts/measurements/head_metrics/m.csv holds another measurement (context 48, now 32" in result.stderr
    assert (project / "artifacts/measurements/head_metrics/m.csv").read_bytes() == before
    assert run(*shorter, "--replace").exit_code == 0
    assert (project / "artifacts/measurements/head_metrics/m.csv").read_bytes() != before


def test_rounding_differences_of_another_processor_rewrite_nothing(tmp_path: Path) -> None:
    table = pd.DataFrame({"metric": ["a", "b"], "value": [1.0, -3.0], "reason": ""})
    manifest = {"versions": {"torch": "1"}, "seconds": 1.0, "device": "cpu", "options": {"texts": 2}}
    [path] = save(tmp_path, {"values": table}, "m", manifest)
    before = path.read_bytes(), path.with_suffix(".json").read_bytes()
    rounded = table.assign(value=table["value"] * (1 + 2e-5))
    save(tmp_path, {"values": rounded}, "m", manifest | {"versions": {"torch": "2"}, "seconds": 7.0})
    assert (path.read_bytes(), path.with_suffix(".json").read_bytes()) == before
    save(tmp_path, {"values": rounded}, "m", manifest | {"options": {"texts": 3}})
    assert path.read_bytes() == before[0]
    assert json.loads(path.with_suffix(".json").read_text())["options"] == {"texts": 3}
    save(tmp_path, {"values": table.assign(value=table["value"] * 1.01)}, "m", manifest)
    assert path.read_bytes() != before[0]


# Repeated measurements ------------------------------------------------------------------------------------------


def test_edited_weights_are_measured_again(project: Path, model: Path, tmp_path: Path) -> None:
    """The change is in the middle of a file of several MiB, where a hash of its ends would miss it."""
    folder = save_untrained(tmp_path / "big", hidden_size=256, intermediate_size=1024, head_dim=32)
    arguments = ("layer_content", "--model", folder, *FEW)
    assert run(*arguments).exit_code == 0
    path = project / "artifacts/measurements/layer_content/big.csv"
    before = path.read_bytes()
    edited = transformers.LlamaForCausalLM.from_pretrained(folder)
    with torch.no_grad():
        for name, weight in edited.model.layers[0].mlp.named_parameters():
            if "up" in name or "down" in name:
                weight.zero_()
    size = (folder / "model.safetensors").stat().st_size
    edited.save_pretrained(folder)
    assert (folder / "model.safetensors").stat().st_size == size
    assert "another measurement (fingerprint" in run(*arguments).stderr
    assert run(*arguments, "--replace").exit_code == 0
    assert path.read_bytes() != before


def test_experiment_becomes_stale_only_by_files_it_imports(tmp_path: Path) -> None:
    for package in ("analysis", "packages/keyquery/src/keyquery/experiments"):
        (tmp_path / package).mkdir(parents=True)
        (tmp_path / package / "__init__.py").write_text("")
    folder = tmp_path / "packages/keyquery/src/keyquery/experiments"
    (folder / "first.py").write_text(
        "from keyquery.experiments.shared import two\n\n\ndef measure():\n    return two()\n"
    )
    (folder / "shared.py").write_text("def two():\n    return 2\n")
    (folder / "second.py").write_text("def measure():\n    return 0\n")

    def state() -> tuple[str, str]:
        first, second = (code_of(tmp_path, [f"keyquery.experiments.{name}"]) for name in ("first", "second"))
        return first, second

    before = state()
    (folder / "new.py").write_text("X = 1\n")
    (folder / "first.py").write_text('"""Words."""\n# a comment\n' + (folder / "first.py").read_text())
    assert state() == before
    (folder / "shared.py").write_text("def two():\n    return 3\n")
    first, second = state()
    assert (first != before[0], second == before[1]) == (True, True)


@pytest.mark.parametrize("content", [b"# caf\xe9\nX = 1\n", "X = 'é'\n".encode("utf-16"), b"X = '\0'\n"])
@pytest.mark.parametrize("damaged", ["first", "shared"])
def test_undecodable_experiment_file_is_named(tmp_path: Path, content: bytes, damaged: str) -> None:
    folder = tmp_path / "analysis/experiments"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "first.py").write_text("from analysis.experiments.shared import X\n")
    (folder / "shared.py").write_text("X = 1\n")
    code_of(tmp_path, ["analysis.experiments.first", "analysis.experiments.shared"])
    (folder / f"{damaged}.py").write_bytes(content)
    with pytest.raises(DataError, match=rf"^analysis/experiments/{damaged}\.py:"):
        code_of(tmp_path, ["analysis.experiments.first", "analysis.experiments.shared"])


@pytest.mark.parametrize("content", [b"# caf\xe9\nX = 1\n", "X = 'é'\n".encode("utf-16"), b"X = '\0'\n"])
def test_folder_with_an_undecodable_experiment_names_it(tmp_path: Path, content: bytes) -> None:
    folder = tmp_path / "analysis/experiments"
    folder.mkdir(parents=True)
    (folder / "first.py").write_bytes(content)
    with pytest.raises(DataError, match=r"^analysis/experiments/first\.py:"):
        experiments_in(folder)


def test_each_experiment_has_its_own_code_hash() -> None:
    names = [module.__name__ for module in (massive_values, crosslayer_balance, layer_content)]
    assert len({code_hash(name) for name in names}) == 3


def test_cached_value_is_made_once_and_again_when_its_file_is_truncated(tmp_path: Path) -> None:
    calls: list[int] = []

    def make() -> dict[str, int]:
        calls.append(1)
        return {"times": len(calls)}

    def cached_value(name: str, **options: bool) -> tuple[dict[str, int], bool]:
        return cached(name, make, tmp_path, remember=False, **options)

    first_name, second_name = (cache_name(save, {"question": question}) for question in ("one", "other"))
    assert first_name != second_name
    assert cache_name(save, {"question": "one"}, massive_values.__name__) != first_name  # other code answers
    assert cached_value(first_name) == ({"times": 1}, False)
    assert cached_value(first_name) == ({"times": 1}, True)
    assert cached_value(second_name) == ({"times": 2}, False)
    (tmp_path / f"{first_name}.json").write_text('{"times"')
    assert cached_value(first_name) == ({"times": 3}, False)
    assert cached("here", make, None)[0] is cached("here", make, None)[0]  # kept in memory without a folder


# A fault in one experiment does not stop the others ---------------------------------------------------------------


def raise_error(*_: Any, **__: Any) -> Any:
    raise RuntimeError("shape '[512, 21]' is invalid\nfor input of size 4096")


def test_an_unforeseen_error_ends_one_experiment_only(
    project: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(massive_values, "measure", raise_error)
    result = run("massive_values", "crosslayer_balance", "--model", model, *FEW)
    assert result.exit_code == 1
    assert "1 of 2 experiments not measured, the others are kept: massive_values: RuntimeError: shape" in result.stderr
    assert "invalid for input of size 4096 (test_experiments_names.py:" in result.stderr
    assert "Traceback" not in result.output
    assert tables(project) == ["crosslayer_balance/m.csv"]
    alone = run("massive_values", "--model", model, *FEW)
    assert (alone.exit_code, f"error: {model}: RuntimeError: shape" in alone.stderr) == (1, True)


def test_models_are_measured_although_another_cannot_be_loaded(
    project: Path, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from keyquery.measure import run as running

    second = tmp_path / "second"
    shutil.copytree(model, second)
    original = vars(running)["open_subject"]

    def open_second(root: Path, source: ModelSource, **options: Any) -> Any:
        return raise_error() if source.name == str(model) else original(root, source, **options)

    monkeypatch.setattr(running, "open_subject", open_second)
    result = run("massive_values", "--model", model, "--against", second, *FEW)
    assert (result.exit_code, "RuntimeError: shape" in result.stderr) == (1, True)
    assert tables(project) == ["massive_values/second.parquet"]
    recipe = project / "mine.yaml"
    models = f"[{{name: first, id: {model}}}, {{name: other, id: {second}}}]"
    recipe.write_text(f"title: Mine\nexperiments: [crosslayer_balance]\ndocuments: 2\nmodels: {models}\n")
    with pytest.raises(ModelError, match=r"1 of 2 models not measured.*first: RuntimeError"):
        run_recipe(project, load_recipe(recipe), device="cpu")
    assert "crosslayer_balance/other.csv" in tables(project)


# Lengths ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rope",
    [
        {"rope_type": "llama3", "rope_theta": 5e5, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0},
        {"rope_type": "yarn", "rope_theta": 1e6, "factor": 16.0},
        {"rope_type": "default", "rope_theta": 1e4},
    ],
)
def test_training_length_is_that_of_the_last_training(tmp_path: Path, rope: dict[str, Any]) -> None:
    """The configuration of a scaled rotation also records the length of an earlier training."""
    scaled = rope if rope["rope_type"] == "default" else rope | {"original_max_position_embeddings": 64}
    folder = save_untrained(tmp_path / "long", card=False, max_position_embeddings=512, rope_parameters=scaled)
    assert open_subject(tmp_path, ModelSource(str(folder), device="cpu")).training_length == 512


def test_memory_is_weighed_for_the_longest_prompt(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from keyquery.measure import run as running

    folder = save_untrained(tmp_path / "long", card=False, max_position_embeddings=4096)
    assert longest_prompt(project, ModelSource(str(folder))) == 16384
    monkeypatch.setattr(running, "run", lambda *_, **__: [])
    options: dict[str, Any] = dict.fromkeys(
        ["recipe", "everything", "revision", "quantize", "tokens", "texts_from", "name", "load_as", "scaling"]
    )
    options |= {
        "model": str(folder),
        "dtype": "auto",
        "device": "cpu",
        "trust_remote_code": False,
        "bos": False,
        "seeds": (0,),
    }
    options |= {"position": "as configured", "anyway": False, "again": False, "replace": False, "executor": "local"}
    options |= {"texts": 1, "items": 1, "resources": None, "against": ()}
    for name, tokens in (("context_length", "16,384"), ("sinks", "2,048")):
        run_command(project, [name], **options)
        assert f"for {tokens} tokens" in capsys.readouterr().err
    short = save_untrained(tmp_path / "short", card=False, max_position_embeddings=96)
    run_command(project, ["sinks"], **options | {"model": str(short)})
    assert "for 96 tokens" in capsys.readouterr().err, "texts do not exceed the model's positions"


def test_long_texts_are_reported_with_their_run_time(
    project: Path, model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from keyquery.measure import surveys
    from keyquery.measure.run import RunPlan, measure

    monkeypatch.setattr(surveys, "LONG", 150)
    for tokens, reported in ((40, False), (160, True)):
        options = Options(texts=2, tokens=tokens, items=0)
        source, name = ModelSource(str(model)), f"of-{tokens}"
        measure(RunPlan(root=project, source=source, experiments=("attention_patterns",), options=options, name=name))
        printed = capsys.readouterr().err
        assert (f"longer than the model was made for: it was trained on {MICRO.length}" in printed) == reported
        assert printed.count("2 x 160 tokens take") == reported, "noted once, not for every text"


# Experiments are files of their folder ------------------------------------------------------------------------------


def test_a_file_with_settings_and_measure_is_an_experiment(tmp_path: Path) -> None:
    body = "SETTINGS = {}\n\n\ndef measure(subject: Subject, options: Options) -> list[Row]:\n    return []\n"
    (tmp_path / "halves.py").write_text(body)
    (tmp_path / "asked.py").write_text(f"BY_NAME = True  # it needs answers\n{body}")
    (tmp_path / "without.py").write_text(body.replace("SETTINGS", "OTHERS"))
    (tmp_path / "helper.py").write_text("SETTINGS = {}\n\n\ndef measured(subject: Subject) -> int:\n    return 1\n")
    writes = "def write(\n    root: Path, subject: Subject, options: Options, *, replace: bool\n) -> list[Path]: ...\n"
    (tmp_path / "tables.py").write_text(f"SETTINGS = {{}}\n\n\n{writes}")
    assert experiments_in(tmp_path) == ("halves", "tables")
    assert experiments_in(tmp_path, named=True) == ("asked",)


def test_every_experiment_of_the_folder_loads_and_has_its_table() -> None:
    for name in (*EXPERIMENTS, *BY_NAME):
        module = experiment(name)
        assert module.SETTINGS
        assert hasattr(module, "write") or resource(ROOT, name), f"{name}: no resource in the schema"
