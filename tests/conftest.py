"""How all tests run: no deadlines while kernels compile, nothing skipped where all is installed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# A shell that runs tests in the background has them ignore interrupts, which some tests send themselves.
signal.signal(signal.SIGINT, signal.default_int_handler)

IN_CI = os.environ.get("CI") == "true"
JIT_OFF = os.environ.get("NUMBA_DISABLE_JIT") == "1"
SHARED = Path(__file__).resolve().parents[1].parent / "shared"

settings.register_profile("rankwright", deadline=None, derandomize=IN_CI)
settings.load_profile("rankwright")


def _may_skip() -> bool:
    return not IN_CI or JIT_OFF or not SHARED.is_dir()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Iterator[Any]:
    return _judged((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[Any]:
    return _judged((yield))


def _judged(report: Any) -> Any:
    """A skip where nothing is missing hides a test: it counts as a failure."""
    if report.skipped and not hasattr(report, "wasxfail") and not _may_skip():
        report.outcome = "failed"
        report.longrepr = f"{report.nodeid} was skipped, and CI has all that tests need: {report.longrepr}"
    return report
