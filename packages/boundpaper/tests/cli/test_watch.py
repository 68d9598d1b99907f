"""`watch` builds saved files, ignores files that builds write, and notifies a local browser."""

import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from boundpaper.paper import serve
from boundpaper.paper.watch import is_source, watch
from waiting import gone, until


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("tables/ap_drop.py", True), ("paper/chapters/one.tex.j2", True), ("artifacts/sources/models.csv", True),
        ("artifacts/results/claims.csv", False), ("out/thesis.pdf", False), ("tables/.ap_drop.py.swp", False),
        ("tables/ap_drop.py~", False), ("tables/sedoFaIP1", False), ("paper/chapters/4913", False),
        ("tables/ap_drop.py.tmp", False), ("analysis/studies/one.py___jb_tmp___", False),
        ("tables/__pycache__/ap_drop.cpython-311.pyc", False), (".git/index", False), ("../elsewhere.py", False),
    ],
)  # fmt: skip
def test_only_sources_of_the_project_count_as_changes(tmp_path, path, expected):
    assert is_source(tmp_path, str((tmp_path / path).resolve())) is expected


def test_watch_counts_a_new_folder_as_a_change(tmp_path):
    (tmp_path / "tables/overview").mkdir(parents=True)
    assert is_source(tmp_path.resolve(), str(tmp_path.resolve() / "tables/overview"))


def test_a_saved_file_is_built_and_a_result_is_not(tmp_path):
    pytest.importorskip("watchfiles")
    root = tmp_path.resolve()
    for folder in ("tables", "artifacts/results"):
        (root / folder).mkdir(parents=True)
    printed: list[str] = []
    built, stop = [], threading.Event()
    log = root / "builds"
    command = [
        sys.executable,
        "-c",
        f"open({str(log)!r}, 'a').write('x'); import sys; sys.exit(len(open({str(log)!r}).read()) == 2)",
    ]
    arguments = (root, command, printed.append, lambda: built.append(1), stop)
    thread = threading.Thread(target=watch, args=arguments, daemon=True)
    thread.start()
    try:
        until(lambda: len(built) == 1)
        time.sleep(1)  # watching starts after the first build
        (root / "artifacts/results/x.csv").write_text("a\n")
        (root / "tables/one.py").write_text("one = 1\n")
        until(lambda: len(built) == 2)
        events = [line.partition(" after")[0].partition(" in ")[0] for line in printed]
        assert events == ["built", "changed: tables/one.py", "failed"]
        (root / "tables/two.py").write_text("two = 2\n")
        until(lambda: len(built) == 3)  # `watch` continues after a failed build
        assert printed[-2] == "changed: tables/two.py"
    finally:
        stop.set()
        thread.join(10)
    assert not thread.is_alive()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_watch_stops_its_build_when_it_ends(tmp_path, number):
    pytest.importorskip("watchfiles")
    (tmp_path / "tables").mkdir()
    pid_file = tmp_path / "build"
    child = f"import os, time; print(os.getpid(), file=open({str(pid_file)!r}, 'w')); time.sleep(10_000)"
    call = f"watch(Path({str(tmp_path)!r}), {[sys.executable, '-c', child]!r}, print, int)"
    code = f"from pathlib import Path; from boundpaper.paper.watch import watch; {call}"
    watching = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
    try:
        until(lambda: pid_file.is_file() and pid_file.read_text().endswith("\n"))
        build = int(pid_file.read_text())
        assert not gone(build)
        watching.send_signal(number)
        watching.wait(10)
        until(lambda: gone(build))
    finally:
        watching.kill()
        watching.wait()


@pytest.fixture
def server(tmp_path):
    out = tmp_path / "out"
    (out / "site/table").mkdir(parents=True)
    (out / "thesis.pdf").write_bytes(b"%PDF-first")
    (out / "site/index.html").write_text("<html><body>site</body></html>")
    (out / "site/style.css").write_text("p {}")
    (out / "secret.txt").write_text("no")
    (tmp_path / "outside.txt").write_text("no")
    running = serve.Server(out)
    running.begin()
    yield running
    running.shutdown()
    running.server_close()


def get(server, path, host=None):
    request = urllib.request.Request(server.address.rstrip("/") + path, headers={"Host": host} if host else {})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read()


def error_code(server, path, host=None):
    with pytest.raises(urllib.error.HTTPError) as caught:
        get(server, path, host)
    return caught.value.code


def test_preview_server_notifies_the_page_of_every_build(server):
    assert server.address.startswith("http://127.0.0.1:")
    assert b'src="/thesis.pdf"' in get(server, "/")
    assert b"/version" in get(server, "/reload.js")
    before = get(server, "/version")
    server.built()
    assert get(server, "/version") != before
    assert get(server, "/thesis.pdf?2") == b"%PDF-first"
    assert get(server, "/site/") == b'<html><body>site<script src="/reload.js"></script></body></html>'
    assert get(server, "/site/style.css") == b"p {}"


@pytest.mark.parametrize("path", ["/secret.txt", "/site/../secret.txt", "/site/%2e%2e/%2e%2e/outside.txt", "/nothing"])
def test_preview_server_serves_no_other_files(server, path):
    assert error_code(server, path) == 404


@pytest.mark.parametrize(
    "path", ["/site/%00", "/site/a%00b", "/site/" + "x" * 5000, "/thesis.pdf/%00", "/site/table/%0a"]
)
def test_preview_server_answers_404_for_an_impossible_file_name(server, path, capfd):
    assert error_code(server, path) == 404
    assert "Traceback" not in capfd.readouterr().err


def test_links_that_leave_the_site_and_folders_are_not_served(server, tmp_path):
    site = tmp_path / "out/site"
    (site / "file").symlink_to(tmp_path / "outside.txt")
    (site / "folder").symlink_to(tmp_path)
    (site / "up.html").symlink_to(tmp_path / "out/secret.txt")
    (site / "within.css").symlink_to(site / "style.css")
    for path in ("/site/file", "/site/folder/outside.txt", "/site/up.html", "/site/table/", "/site/table"):
        assert error_code(server, path) == 404, path
    assert get(server, "/site/within.css") == b"p {}"
    (tmp_path / "out/thesis.pdf").unlink()
    (tmp_path / "out/thesis.pdf").symlink_to(tmp_path / "outside.txt")
    assert error_code(server, "/thesis.pdf") == 404


def test_preview_server_refuses_a_request_with_a_foreign_host_name(server):
    assert error_code(server, "/thesis.pdf", "evil.example:80") == 403
