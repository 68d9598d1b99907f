"""Results are equal on every processor: committed results are recomputed with other BLAS kernels, by `make built`."""

import importlib
import json
import os
import platform
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

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
    """Return environment variables that select an older kernel of this processor and disable numpy's own kernels.

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
def test_every_output_is_the_same_under_another_kernel(environment, built_project):
    script = Path(__file__).with_name("recompute.py")
    result = subprocess.run(
        [sys.executable, str(script), str(built_project)],
        cwd=built_project,
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
