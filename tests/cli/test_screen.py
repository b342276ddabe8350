"""Progress: a bar on a terminal, lines where there is none, nothing if quiet."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from rankwright.cli import screen
from rankwright.cli.screen import lines_of, step


def test_a_line_now_and_then_without_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screen, "SECONDS_BETWEEN_LINES", 0.0)
    with step("reading a.txt", quiet=False) as report:
        report(1, 4)
        report(4, 4)
    assert capsys.readouterr() == ("", "reading a.txt: 25 %\n")


@pytest.mark.parametrize("quiet", [True, False])
def test_nothing_for_short_work_and_nothing_if_quiet(quiet: bool, capsys: pytest.CaptureFixture[str]) -> None:
    with step("reading a.txt", quiet=quiet) as report:
        report(1, 4)
    assert capsys.readouterr() == ("", "")


def test_a_terminal_sees_a_bar_that_goes_away(folder: Path) -> None:
    main_end, other_end = pty.openpty()
    fcntl.ioctl(other_end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    for quiet in ([], ["--quiet"]):
        result = subprocess.run(
            [sys.executable, "-m", "rankwright", "predict", folder / "good.rw", folder / "data.txt", *quiet],
            stdout=subprocess.DEVNULL,
            stderr=other_end,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "80"},
            timeout=60,
        )
        assert result.returncode == 0
        os.write(other_end, b"end\n")
        shown = b""
        while not shown.endswith(b"end\r\n"):
            shown += os.read(main_end, 4096)
        assert (b"reading data.txt" in shown) == (not quiet)


def test_a_table_breaks_its_last_column() -> None:
    lines = lines_of(["name", "meaning"], [["x", "word " * 30]]).splitlines()
    assert lines[0] == "name  meaning"
    assert max(map(len, lines)) <= 80
    assert lines[2].startswith("      word")
