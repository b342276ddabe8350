"""``rankwright warm-up``: what it compiles is on disk, and nothing is compiled twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests.cli.conftest import Run

import rankwright as rw
from rankwright.cli import warm_up
from rankwright.cli.warm_up import compile_ahead, train_a_little, typed_kernels
from rankwright.learners import known

JIT_OFF = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


def test_a_learner_is_made_ready(run: Run) -> None:
    result = run("warm-up", "ranknet", "--json", "--quiet")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["learners"] == ["RankNet"]


def test_a_learner_that_there_is_not_is_refused(run: Run) -> None:
    result = run("warm-up", "lambdamort")
    assert result.exit_code == 2
    assert "did you mean lambdamart?" in result.stderr


def test_kernels_are_found_with_their_types() -> None:
    found = {kernel.__name__ for kernel in typed_kernels(warm_up.SHARED)}
    assert "rank_queries" in found and len(found) > 20


@pytest.mark.skipif(JIT_OFF, reason="without the JIT nothing is compiled, and no cache written")
def test_a_second_process_compiles_nothing(tmp_path: Path) -> None:
    """Under Numba's own count: all that the first process compiled, the second finds."""
    program = (
        "from numba.core import event\n"
        "compiled = []\n"
        "class Listener(event.Listener):\n"
        "    def on_start(self, e): compiled.append(e.data['dispatcher'].py_func.__name__)\n"
        "    def on_end(self, e): pass\n"
        "event.register('numba:compile', Listener())\n"
        "import rankwright as rw\n"
        "from rankwright.cli.warm_up import train_a_little\n"
        "train_a_little(rw.RankSVM)\n"
        "print(len(compiled))\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    counts = [
        int(
            subprocess.run(
                [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
            ).stdout
        )
        for _ in range(2)
    ]
    assert counts[0] > 0 and counts[1] == 0


def test_compiling_ahead_trains_a_little_while_a_large_file_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = threading.Event()
    asked = []

    def noted(kind: type) -> None:
        asked.append(kind)
        done.set()

    monkeypatch.setattr(warm_up, "train_a_little", noted)
    monkeypatch.setattr(warm_up, "LONG_READ", 3)
    (tmp_path / "short.txt").write_text("1")
    (tmp_path / "long.txt").write_text("12345")
    compile_ahead(rw.LambdaMART, str(tmp_path / "short.txt"))
    compile_ahead(rw.LambdaMART, str(tmp_path / "missing.txt"))
    compile_ahead(rw.RankNet, str(tmp_path / "long.txt"))
    assert not asked
    compile_ahead(rw.LambdaMART, str(tmp_path / "long.txt"))
    assert done.wait(10) and asked == [rw.LambdaMART]


def test_a_module_of_pytorch_is_left_alone() -> None:
    train_a_little(known()["TorchRanker"])
