"""Pages of comparisons, and a browser that opens them without a network."""

from __future__ import annotations

import contextlib
import json
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankwright as rw
from rankwright.evaluation import Comparison

MEASURES = ("ndcg@10", "map", "p@5")
WIDE, PHONE = 1280, 390


def data(n_queries: int, documents: int = 12, names: list[str] | None = None) -> rw.QuerySet:
    """Queries whose first feature tells the label, with noise; query 0 is blank."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, n_queries * documents)
    labels[:documents] = 0
    X = rng.standard_normal((len(labels), 3))
    X[:, 0] += labels
    return rw.QuerySet(X, labels, qid=np.repeat(np.arange(n_queries), documents), feature_names=names)


def compared(queries: rw.QuerySet, measures: Any = MEASURES) -> Comparison:
    """A net, a line and plain scores."""
    net = rw.RankNet(hidden=0, epochs=3).fit(queries, valid=queries)
    noise = np.random.default_rng(1).standard_normal(len(queries))
    line = rw.LinearScorer([1.0, 0.5, 0.0])
    return rw.compare({"net": net, "line": line, "noise": noise}, queries, measures, n_resamples=200)


@pytest.fixture(scope="session")
def comparison() -> Comparison:
    return compared(data(60))


@pytest.fixture(scope="session")
def page(comparison: Comparison, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("report") / "report.html"
    comparison.to_html(path)
    return path


class Browser:
    """Chromium at some width; knows what its console said and what it asked the network for."""

    def __init__(self, driver: Any):
        self.driver = driver

    def open(self, path: Path, width: int = WIDE) -> float:
        """Open a page, and say how many seconds that took until all was drawn."""
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width == PHONE}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        start = time.perf_counter()
        self.driver.get(path.as_uri())
        self.wait()
        return time.perf_counter() - start

    def wait(self) -> None:
        """Until everything is drawn."""
        self.until("document.documentElement.dataset.ready === 'yes'")

    def until(self, condition: str) -> None:
        for _ in range(600):
            if self.run(f"return {condition}"):
                return
            time.sleep(0.05)
        pytest.fail(f"{condition} did not come true; the console says {self.console()}")

    def run(self, script: str, *values: Any) -> Any:
        return self.driver.execute_script(script, *values)

    def click(self, selector: str) -> None:
        found = self.driver.find_element("css selector", selector)
        self.run("arguments[0].scrollIntoView({block: 'center'})", found)
        found.click()

    def keys(self, text: str) -> None:
        self.driver.switch_to.active_element.send_keys(text)

    def texts(self, selector: str) -> list[str]:
        return self.run(
            "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)", selector
        )

    def column(self, table: str, number: int) -> list[str]:
        return self.texts(f"#{table} tbody tr td:nth-child({number})")

    def console(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """The addresses asked for since the last call, but for files and what is in the page itself."""
        asked = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                asked.append(message["params"]["request"]["url"])
        return [url for url in asked if not url.startswith(("file:", "data:", "blob:"))]


def binary(*names: str) -> str:
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip(f"{names[0]} is not installed; the page cannot be opened")
    return found


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium comes with the extra test")
    options = webdriver.ChromeOptions()
    options.binary_location = binary("chromium", "chromium-browser", "google-chrome")
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(binary("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    try:
        yield Browser(driver)
    finally:
        with contextlib.suppress(Exception):
            driver.quit()


@pytest.fixture
def quiet(browser: Browser) -> Iterator[Callable[[], None]]:
    """Nothing was said on the console and nothing asked of the network, up to each call and at the end."""
    browser.console(), browser.requests()

    def check() -> None:
        assert browser.console() == []
        assert browser.requests() == []

    yield check
    check()
