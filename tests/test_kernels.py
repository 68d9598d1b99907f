"""Results are equal on every processor: committed results are recomputed with other BLAS kernels."""

import importlib
import json
import os
import platform
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from boundpaper.store.canonical import agree, canonical_frame, content_hash

UMATH = importlib.import_module("numpy._core._multiarray_umath")

# OpenBLAS kernels, oldest processor first, and the processor feature (numpy's name) that each needs.
CORES = {
    "x86_64": (("Nehalem", "SSE42"), ("Sandybridge", "AVX"), ("Haswell", "AVX2"), ("SkylakeX", "X86_V4")),
    "aarch64": (("ARMV8", "ASIMD"), ("CORTEXA57", "ASIMD"), ("NEOVERSEN1", "ASIMD"), ("NEOVERSEV1", "SVE")),
}


@cache
def _kernel(**environment: str) -> str:
    """Return the kernel that OpenBLAS reports in a process with these environment variables."""
    script = (
        "import json, numpy, scipy.linalg, threadpoolctl as t;"
        "print(json.dumps(sorted({i['architecture'] for i in t.threadpool_info() if i['user_api'] == 'blas'})))"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], env=os.environ | environment, capture_output=True, check=True
    )
    (name,) = json.loads(result.stdout)
    return str(name)


def _variants() -> list[dict[str, str]]:
    """Return an environment with an older kernel that this processor can run and without numpy's own kernels.

    With `KERNELS=all`, also return an environment with two threads. `test_golden.py` compares the results of the
    default kernel.
    """
    features = UMATH.__cpu_features__
    native = _kernel().lower()
    cores = [
        core for core, feature in CORES.get(platform.machine(), ()) if features.get(feature) and core.lower() != native
    ]
    dispatched = " ".join(name for name in UMATH.__cpu_dispatch__ if features.get(name))
    variants = [
        {"OPENBLAS_CORETYPE": core, "OPENBLAS_NUM_THREADS": str(1 + i % 2)} for i, core in enumerate(cores[-2:])
    ]
    if dispatched:
        variants[0]["NPY_DISABLE_CPU_FEATURES"] = dispatched
    return variants if os.environ.get("KERNELS") == "all" else variants[:1]


@pytest.mark.parametrize("environment", _variants(), ids=lambda each: "-".join(each.values()).replace(" ", "+"))
def test_every_output_is_the_same_under_another_kernel(environment, shipped):
    script = Path(__file__).with_name("recompute.py")
    result = subprocess.run(
        [sys.executable, str(script), str(shipped)],
        cwd=shipped,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-3000:]
    assert json.loads(result.stdout.splitlines()[-1]) == []


def test_tested_kernels_differ():
    variants = [{}, *_variants()]
    assert len({_kernel(**variant) for variant in variants}) == len(variants) >= 2


def test_committed_zero_equals_noise_of_another_processor():
    one, two = (b"estimate,p_value\n0.5,0.25\n%s,1\n" % zero for zero in (b"0", b"-3.9905378e-18"))
    assert agree(one, two)
    assert content_hash(one.decode()) == content_hash(two.decode())
    assert not agree(one, b"estimate,p_value\n0.5,0.25\n1e-9,1\n")
    assert not agree(b"p_value\n1\n1e-20\n", b"p_value\n1\n0\n")


def test_noise_is_rounded_to_zero_and_a_small_p_is_kept():
    frame = pd.DataFrame(
        {"estimate": [2.0, -4e-18, -0.0, np.nan], "p_value": [1.0, 1e-87, 0.5, np.nan], "n": [1, 2, 3, 4]}
    )
    kept = canonical_frame(frame)
    assert kept["estimate"].tolist()[:3] == [2.0, 0.0, 0.0]
    assert not np.signbit(kept["estimate"].to_numpy()[:3]).any()
    assert kept["p_value"].tolist()[:2] == [1.0, 1e-87]
    assert kept["n"].tolist() == [1, 2, 3, 4]
    assert kept.isna().equals(frame.isna())


def test_content_hash_ignores_line_ends_and_quoting():
    plain = "name,value\nqwen,0.12345678\nllama,3\n"
    assert content_hash(plain) == content_hash(plain.replace("\n", "\r\n").replace("qwen", '"qwen"'))
    assert content_hash(plain) == content_hash(plain.replace("0.12345678", "0.12345679"))
    for other in (plain.replace("0.12345678", "0.12346"), plain.replace(",3", ",4"), plain.replace("qwen", "q,wen")):
        assert content_hash(plain) != content_hash(other)
    assert content_hash("a,b\n1,2\n") != content_hash("a,b\n12,\n")
    assert content_hash("a,b\n") != content_hash("a,c\n")
