"""The command line as a whole: help, wrong use, errors in one line, exit status."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import click
import pytest
from tests.cli.conftest import Run

import rankwright as rw
from rankwright.cli.main import main
from rankwright.cli.sources import Rankers


def commands(group: Any = main, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """All commands by their words."""
    context = click.Context(group)
    found = []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        inner = commands(command, (*path, name)) if isinstance(command, click.Group) else []
        found += inner or [(*path, name)]
    return found


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_every_command_has_help_with_an_example(words: tuple[str, ...], run: Run) -> None:
    result = run(*words, "--help")
    assert result.exit_code == 0
    assert f"rankwright {' '.join(words)}" in result.stdout.partition("\n")[2]
    assert "--debug" in result.stdout
    assert "--quiet" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80


@pytest.mark.parametrize("words", [(), ("data",)])
def test_without_a_command_there_is_help(words: tuple[str, ...], run: Run) -> None:
    result = run(*words)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "Commands:" in result.stdout
    assert "..." not in result.stdout.partition("Commands:")[2]  # each is told in a whole line
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_the_version(run: Run) -> None:
    assert run("--version").stdout == f"rankwright {rw.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evalute"], "there is no command 'evalute'; did you mean evaluate? (see: rankwright --help)"),
        (["data", "infos"], "there is no command 'infos'; did you mean info? (see: rankwright data --help)"),
        (["xyzzy"], "there is no command 'xyzzy'; there are demo, "),
        (["evaluate", "--mesure", "map"], "No such option '--mesure'"),
        (["evaluate"], "no data is given; as in: rankwright evaluate model.rw test.txt"),
        (["evaluate", "data.txt"], "0 given, and one ranking wanted"),
        (["evaluate", "good.rw", "bad.rw", "data.txt"], "2 given, and one ranking wanted"),
        (["evaluate", "--run", "bm25.run"], "--run needs --qrels"),
        (["evaluate", "good.rw", "data.txt", "--complete"], "--complete needs --qrels"),
        (["compare", "good.rw", "data.txt"], "1 given, and at least 2 rankings wanted"),
        (["compare", "good.rw", "good.rw", "data.txt"], "good.rw is given twice"),
        (
            ["compare", "bm25.run", "a.run", "--qrels", "q.txt", "--scores", "s"],
            "--scores goes with a data file",
        ),
        (
            ["evaluate", "--run", "bm25.run", "--qrels", "q.txt", "--feature", "1"],
            "--feature goes with a data",
        ),
        (
            ["evaluate", "good.rw", "data.txt", "-m", "ndgc@10"],
            "there is no measure 'ndgc'; did you mean ndcg?",
        ),
        (["measures", "ndcg@0"], "'ndcg@0': the cut-off '0'"),
        (["predict", "good.rw"], "Missing argument 'DATA'"),
    ],
)
def test_wrong_use_is_told_in_one_line_with_status_2(
    arguments: list[str], message: str, run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"rankwright: {message}")
    assert result.stderr.count("\n") == 1
    assert "--help)" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate", "good.rw", "absent.txt"], "absent.txt"),
        (["evaluate", "absent.rw", "data.txt"], "absent.rw"),
        (["evaluate", "damaged.rw", "data.txt"], "damaged.rw: no model file, or a damaged one"),
        (["evaluate", "narrow.rw", "data.txt"], "narrow.rw cannot score data.txt: the data has 3 features"),
        (
            ["evaluate", "data.txt", "--feature", "4"],
            "data.txt has no feature '4'; its 3 features are from 1",
        ),
        (["evaluate", "data.txt", "--scores", "short.txt"], "short.txt has 2 scores and data.txt 40 rows"),
        (["evaluate", "data.txt", "--scores", "words.txt"], "words.txt, line 2: 'two' is not a number"),
        (["evaluate", "data.txt", "--scores", "nan.txt"], "nan.txt, line 1: the score is NaN"),
        (["evaluate", "data.txt", "--scores", "bytes.txt"], "bytes.txt: neither a model file nor text"),
        (["evaluate", "good.rw", "wrong.txt"], "wrong.txt, line 2"),
        (["evaluate", "--qrels", "qrels.txt", "--run", "data.txt"], "data.txt, line 1"),
        (["predict", "good.rw", "data.txt", "-o", "absent/scores.txt"], "absent/scores.txt"),
        (["data", "convert", "data.txt", "good.rw"], "good.rw is there already"),
    ],
)
def test_what_could_not_be_done_is_told_in_one_line_with_status_1(
    arguments: list[str], message: str, run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    Path("damaged.rw").write_bytes(Path("good.rw").read_bytes()[:-3])
    rw.LinearScorer([1.0]).save("narrow.rw")
    Path("short.txt").write_text("1\n2\n")
    Path("words.txt").write_text("1\ntwo\n")
    Path("nan.txt").write_text("nan\n")
    Path("bytes.txt").write_bytes(b"\xff\xfe\x00\x01" * 9)
    Path("wrong.txt").write_text("1 qid:1 1:2\n1 1:2\n")
    result = run(*arguments)
    assert message in result.stderr
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith("rankwright: ")
    assert result.stderr.count("\n") == 1


def test_an_error_in_a_real_process_has_no_traceback_but_with_debug(started: Any) -> None:
    plain = started("evaluate", "absent.rw", "absent.txt")
    assert plain.returncode == 1
    assert plain.stderr.count("\n") == 1
    assert "absent.rw" in plain.stderr
    debugged = started("evaluate", "absent.rw", "absent.txt", "--debug")
    assert debugged.returncode == 1
    assert "Traceback" in debugged.stderr


def test_a_fault_of_our_own_says_so(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(path: str) -> None:
        raise TypeError("seven is not\neight")

    monkeypatch.setattr(rw, "load", fault)
    result = run("predict", "model.rw", "data.txt")
    assert result.exit_code == 1
    assert result.stderr.startswith(
        "rankwright: this is a fault of Rankwright itself (TypeError: seven is not eight)"
    )
    assert isinstance(run("predict", "model.rw", "data.txt", "--debug").exception, TypeError)


def test_too_little_memory_is_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy(path: str) -> None:
        raise MemoryError("Unable to allocate 9 TiB")

    monkeypatch.setattr(rw, "load", greedy)
    result = run("predict", "model.rw", "data.txt")
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert "not enough memory (Unable to allocate 9 TiB)" in result.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals are another thing on Windows")
def test_ctrl_c_ends_with_130(folder: Path) -> None:
    pipe = folder / "endless.txt"
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [sys.executable, "-m", "rankwright", "evaluate", folder / "good.rw", pipe],
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in errors


@pytest.mark.skipif(os.name == "nt", reason="pipes are another thing on Windows")
def test_a_reader_that_leaves_ends_it_quietly(folder: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "rankwright", "predict", folder / "good.rw", folder / "data.txt"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(timeout=30) == 141


@pytest.mark.skipif(os.name == "nt", reason="streams are closed in another way on Windows")
@pytest.mark.parametrize("closed", [">&-", "2>&-"])
def test_a_stream_that_is_closed_already_does_not_matter(closed: str, folder: Path) -> None:
    words = f'"{sys.executable}" -m rankwright predict good.rw data.txt -o scores.txt {closed}'
    finished = subprocess.run(["bash", "-c", words], cwd=folder, capture_output=True, text=True, timeout=60)
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, "", "")
    assert len((folder / "scores.txt").read_text().splitlines()) == 40


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no device that is always full")
def test_a_full_disk_is_told(folder: Path, run: Run) -> None:
    result = run("predict", folder / "good.rw", folder / "data.txt", "-o", "/dev/full")
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert result.stderr.startswith("rankwright: reading or writing failed: No space left")


@pytest.mark.skipif(os.name == "nt", reason="pipes are another thing on Windows")
def test_data_may_come_through_a_pipe(folder: Path) -> None:
    words = f'"{sys.executable}" -m rankwright evaluate /dev/stdin --feature 1 < <(cat data.txt)'
    finished = subprocess.run(["bash", "-c", words], cwd=folder, capture_output=True, text=True, timeout=60)
    assert (finished.returncode, finished.stderr) == (0, "")
    assert "ndcg@10" in finished.stdout


def test_help_and_mistakes_do_not_make_one_wait(started: Any) -> None:
    resource = pytest.importorskip("resource", reason="processor time of children is not told on Windows")

    def seconds(*arguments: str) -> float:
        """Of processor time: the clock on the wall also shows what else the machine does."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        started(*arguments)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    # Numba and SciPy alone take longer than this.
    assert min(seconds("--help") for _ in range(5)) < 0.3
    assert min(seconds("evalute") for _ in range(5)) < 0.3


def test_rankings_have_short_names_where_these_differ() -> None:
    rankers = Rankers(files=["a/x.rw", "b/x.rw", "y.rw"], features=["3"])
    assert rankers.names() == ["a/x.rw", "b/x.rw", "y", "feature 3"]
