"""Claims of an adopted paper: a claim that has become false fails the check, and faults name file and line."""

import os
import signal
import subprocess
import sys
import time

import pytest

from adopting import adopted, run

CLAIMS = '''"""What the paper states."""

from boundpaper.claims import judge


def late(trial):
    """The trial fails the gate of 2000 ms."""
    milliseconds = trial["trial/sun/late-ms"]
    return judge(milliseconds > 2000, f"It took {milliseconds:.0f} ms.")


def bean_gains_most(heights):
    """The bean gains most."""
    best = heights.loc[heights["gain"].idxmax(), "plant"]
    return judge(best == "bean", f"{best} gains most.")
'''


@pytest.fixture
def root(tmp_path):
    root = adopted(tmp_path)
    (root / "claims.py").write_text(CLAIMS)
    text = (root / "main.tex").read_text()
    (root / "main.tex").write_text(text.replace("The bean", r"The bean (\boundclaim{bean_gains_most})"))
    return root


def test_claim_that_became_false_fails_the_check(root):
    output = run(root, "claims", "--check")
    assert "late: holds: The trial fails the gate of 2000 ms. It took 2295 ms." in output
    data = root / "results/trial.json"
    data.write_text(data.read_text().replace("2295", "1995"))
    assert "late: contradicted" in run(root, "claims")
    assert "late: contradicted" in run(root, "claims", "--check", code=1)


def test_claim_verdict_is_printed_and_survives_flatten(root):
    run(root, "build")
    assert r"\detokenize{bean_gains_most}\endcsname{holds}" in (root / "bound/bound.tex").read_text()
    run(root, "flatten", "-o", "plain")
    assert "The bean (holds)" in (root / "plain/main.tex").read_text()


def test_faulty_claim_is_reported_with_file_and_line(root):
    for old, new, words in (
        ("_most(", "(", "main.tex:9: no claim 'bean_gains_most' in claims.py; did you mean 'bean_gains'?"),
        ("(trial)", "(trail)", "claims.py: late: no data called trail; did you mean 'trial'?"),
        ("late-ms", "late", "claims.py:8: KeyError"),
        ("    return judge(milliseconds", "    judge(milliseconds", "claims.py: late: returned NoneType"),
        ('    """The bean gains most."""\n', "", "claims.py: bean_gains_most: no docstring"),
        ("import judge", "import judging", "claims.py:3: ImportError"),
    ):
        (root / "claims.py").write_text(CLAIMS.replace(old, new))
        assert words in run(root, "build", code=1)


def test_watch_rebuilds_when_a_data_file_is_saved(root):
    pytest.importorskip("watchfiles")
    data = root / "results/heights.csv"
    command = [sys.executable, "-m", "boundpaper", "watch"]
    environment = {key: value for key, value in os.environ.items() if key != "BOUNDPAPER_ROOT"}
    with subprocess.Popen(command, cwd=root, stderr=subprocess.PIPE, text=True, env=environment) as watching:
        assert watching.stderr is not None
        try:
            while "built in" not in watching.stderr.readline():
                assert watching.poll() is None
            time.sleep(0.5)
            data.write_text(data.read_text().replace("0.8314", "0.9876"))
            assert "changed: results/heights.csv" in watching.stderr.readline()
            while "built in" not in watching.stderr.readline():
                assert watching.poll() is None
        finally:
            watching.send_signal(signal.SIGINT)
    assert "0.9876" in (root / "bound/bound.tex").read_text()
