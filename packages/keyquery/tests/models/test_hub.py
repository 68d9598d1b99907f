"""A capture's folder is uploaded to the Hub completely or not at all, and only on request."""

import pytest

from boundpaper.errors import DataError
from keyquery.models.captures import hub


@pytest.fixture
def capture(tmp_path):
    sizes = {"README.md": 10, "manifest.json": 20, "l00h00q/data.parquet": 1234, "l00h00k/data.parquet": 99}
    for name, size in {**sizes, "parts/0.parquet": 5000, "l00h00q/.draft.part": 7}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x" * size)
    return tmp_path


def test_upload_lists_only_files_of_the_dataset(capture):
    assert list(hub.upload_lines(capture, "owner/name")) == [
        "          10  README.md", "          99  l00h00k/data.parquet", "       1,234  l00h00q/data.parquet",
        "          20  manifest.json", "4 files, 1,363 bytes, for the data set owner/name",
    ]  # fmt: skip


def test_send_uploads_exactly_the_listed_files(capture, monkeypatch):
    huggingface_hub = pytest.importorskip("huggingface_hub")
    calls = []

    class Api:
        def create_repo(self, name, **options):
            calls.append((name, options["repo_type"], options["private"]))

        def upload_folder(self, **options):
            calls.append((options["repo_id"], options["folder_path"], sorted(options["allow_patterns"])))
            return "address"

    monkeypatch.setattr(huggingface_hub, "HfApi", Api)
    assert hub.send(capture, "owner/name") == "address"
    names = ["README.md", "l00h00k/data.parquet", "l00h00q/data.parquet", "manifest.json"]
    assert calls == [("owner/name", "dataset", True), ("owner/name", capture, names)]


def test_hub_error_is_reported_in_one_line(capture, monkeypatch):
    huggingface_hub = pytest.importorskip("huggingface_hub")

    class Api:
        def create_repo(self, name, **options):
            raise OSError("no network\nmore words")

    monkeypatch.setattr(huggingface_hub, "HfApi", Api)
    with pytest.raises(DataError, match=r"owner/name: nothing was sent \(no network\)"):
        hub.send(capture, "owner/name")


@pytest.mark.parametrize("missing", ["README.md", "manifest.json", "l00h00q"])
def test_incomplete_capture_is_not_uploaded(capture, missing):
    path = capture / missing
    if path.is_dir():
        for head in ("l00h00q", "l00h00k"):
            (capture / head / "data.parquet").unlink()
    else:
        path.unlink()
    with pytest.raises(DataError, match="no complete capture"):
        hub.data_set_files(capture)


@pytest.mark.parametrize("name", ["name", "a/b/c", "/b", "../b", "a b/c"])
def test_invalid_repository_name_is_refused(capture, name):
    with pytest.raises(DataError, match="write OWNER/NAME"):
        list(hub.upload_lines(capture, name))
