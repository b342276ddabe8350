import os
import subprocess
import sys

import numpy as np
import pytest

from rankwright.runtime.kernels import kernel

JIT_OFF = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
STEP = np.int64(3)


@kernel(cache=False)
def stepped(x):
    return x + STEP


@kernel(cache=False)
def stepped_twice(x):
    return stepped(stepped(x))


def test_kernels_call_kernels_in_both_forms():
    assert stepped_twice(1) == stepped_twice.plain(1) == 7


@pytest.mark.skipif(JIT_OFF, reason="nothing is compiled with the JIT off")
def test_a_kernel_is_compiled_on_its_first_call():
    @kernel("int64(int64)", cache=False)
    def twice(x):
        return 2 * x

    assert not twice.is_compiled
    assert twice(4) == 8
    assert twice.is_compiled


@kernel("float64(float64[::1])", fastmath={"reassoc"}, cache=False)
def loose_sum(values):
    total = 0.0
    for value in values:
        total += value
    return total


@kernel("float64(float64[::1])", cache=False)
def loose_mean(values):
    return loose_sum(values) / values.size


@kernel("void(float64[:, ::1], float64[::1])", cache=False)
def loose_means(rows, out):
    for i in range(out.size):
        out[i] = loose_mean(rows[i])


@pytest.mark.skipif(JIT_OFF, reason="nothing is compiled with the JIT off")
def test_loose_arithmetic_leaves_no_call_in_a_caller_which_may_meet_another_copy():
    """Which copy of a called kernel runs goes by what was loaded before: its bits must not."""
    assert loose_sum.is_loose and loose_mean.is_loose and loose_means.is_loose and not stepped_twice.is_loose
    loose_sum(np.ones(3))
    out = np.empty(2)
    loose_means(np.array([[1.0, 2.0], [3.0, 4.0]]), out)
    assert out.tolist() == [1.5, 3.5]
    (code,) = loose_means.compiled.inspect_asm().values()
    code = "".join(line for line in code.splitlines() if "NumbaEnv" not in line)
    assert "loose_means" in code and "loose_sum" not in code and "loose_mean_" not in code


@kernel("int64(int64)", cache=False)
def doubled(x):
    return 2 * x


@kernel("int64(FunctionType(int64(int64)), int64)", cache=False)
def applied_twice(function, x):
    return function(function(x))


def test_a_function_by_its_address_is_the_same_function():
    assert applied_twice(doubled.compiled, 3) == applied_twice(doubled.pointer, 3) == 12


CALLER = """
from rankwright.runtime.kernels import kernel
from callee import add

@kernel("int64(int64)")
def caller(x):
    return add(x) * 10

print(caller(1), sum(caller.compiled.stats.cache_hits.values()))
"""
CALLEE = """
from rankwright.runtime.kernels import kernel
ADDED = {}

@kernel("int64(int64)")
def add(x):
    return x + ADDED
"""


@pytest.mark.skipif(JIT_OFF, reason="nothing is cached with the JIT off")
def test_the_cache_sees_a_constant_of_a_callee_in_another_file_and_no_comment(tmp_path):
    def run():
        environment = os.environ | {
            "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        done = subprocess.run(
            [sys.executable, "caller.py"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.split()

    (tmp_path / "caller.py").write_text(CALLER)
    (tmp_path / "callee.py").write_text(CALLEE.format(1))
    assert run() == ["20", "0"]
    assert run() == ["20", "1"]
    (tmp_path / "callee.py").write_text(CALLEE.format(2))
    assert run() == ["30", "0"]
    (tmp_path / "caller.py").write_text(CALLER + "# the same code\n")
    assert run() == ["30", "1"]


@pytest.mark.skipif(JIT_OFF, reason="nothing is cached with the JIT off")
def test_a_damaged_cache_is_passed_over(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    (tmp_path / "callee.py").write_text(CALLEE.format(5) + "\nprint(add(1))\n")
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "callee.py"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.split() == ["6"]
        for index in (tmp_path / "cache").rglob("*.nbi"):
            index.write_bytes(b"no index")
