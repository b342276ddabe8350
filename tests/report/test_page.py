"""The page in a browser: opened, sorted, clicked and typed at, wide and narrow, light and dark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.report.conftest import MEASURES, PHONE, WIDE, Browser, compared, data

import rankwright as rw
from rankwright.evaluation import Comparison

HOSTILE = "</script><img src=x onerror=\"window.hurt='yes'\"><b>'`${{}}&amp;"


@pytest.mark.parametrize("width", [WIDE, PHONE])
def test_it_fits_its_window_and_shows_every_part(
    browser: Browser, quiet: Any, page: Path, width: int
) -> None:
    browser.open(page, width)
    assert browser.run("return document.documentElement.scrollWidth") <= width
    assert len(browser.texts("section h2")) == 10
    assert browser.run("return [...document.querySelectorAll('section')].every(each => !each.hidden)")
    charts = browser.run("return [...document.querySelectorAll('canvas')].map(each => each.clientWidth)")
    assert len(charts) == 7  # means, differences, one curve, gains, one history and two rankers' features
    assert all(0 < chart < width for chart in charts)


def test_the_verdict_and_the_figures_are_the_comparisons(
    browser: Browser, quiet: Any, page: Path, comparison: Comparison
) -> None:
    browser.open(page)
    assert browser.texts("h1")[0].startswith(("net is ", "line is "))
    means = browser.column("t-measures", 3)
    expected = [each[m].mean for m in MEASURES for each in comparison.evaluations.values()]
    assert means == [f"{mean:.4f}" for mean in expected]
    holm = browser.column("t-significance", 8)
    assert holm == [
        "< 0.0001" if p < 0.0001 else f"{p:.4f}"
        for p in (each.corrected["randomisation"] for each in comparison)
    ]
    rows = dict(zip(browser.column("t-data", 1), browser.column("t-data", 2), strict=True))
    assert rows["queries"] == "60"
    assert rows["blank"] == "1"


def test_heads_sort_and_say_so(browser: Browser, quiet: Any, page: Path) -> None:
    browser.open(page)
    head = "#t-measures th:nth-child(3)"
    browser.click(f"{head} button")
    falling = [float(text) for text in browser.column("t-measures", 3)]
    assert falling == sorted(falling, reverse=True)
    assert browser.run(f"return document.querySelector('{head}').ariaSort") == "descending"
    browser.keys("\ue007")  # Enter: the button kept the focus
    assert [float(text) for text in browser.column("t-measures", 3)] == falling[::-1]
    assert browser.run(f"return document.querySelector('{head}').ariaSort") == "ascending"


def test_queries_come_a_page_at_a_time_sorted_by_gain(
    browser: Browser, quiet: Any, page: Path, comparison: Comparison
) -> None:
    browser.open(page)
    net, line = (comparison.evaluations[name]["ndcg@10"].per_query for name in ("net", "line"))
    gains = np.sort((net - line)[~np.isnan(net)])[::-1]
    shown = [float(text.replace("−", "-")) for text in browser.column("t-queries", 2)]
    assert shown == [round(gain, 4) + 0.0 for gain in gains[:20]]
    browser.click("#t-queries .pages button:last-of-type")
    assert "21 to 40 of 60" in browser.texts("#t-queries .pages span")
    browser.click("#find")
    browser.keys("59")
    assert browser.column("t-queries", 1) == ["59"]


def test_a_query_shows_where_its_documents_moved(
    browser: Browser, quiet: Any, page: Path, comparison: Comparison
) -> None:
    browser.open(page)
    query = browser.column("t-queries", 1)[0]
    browser.click("#t-queries td button")
    browser.until("document.querySelector('#f-moves canvas') !== null")
    assert browser.texts("#query-title") == [f"Query {query}"]
    assert browser.run("return document.activeElement.id") == "query-title"
    ranked = comparison.evaluations["net"]["ndcg@10"].ranked
    begin = ranked.lists.offsets[int(query)]
    best = [f"document {row - begin + 1}" for row in ranked.order[begin : begin + 10]]
    assert browser.column("t-documents", 1)[:10] == best
    assert browser.column("t-documents", 3)[:10] == [str(rank) for rank in range(1, 11)]


def test_a_click_in_the_figure_chooses_the_query_there(browser: Browser, quiet: Any, page: Path) -> None:
    browser.open(page)
    canvas = browser.driver.find_element("css selector", "#f-gains canvas")
    browser.run("arguments[0].scrollIntoView({block: 'center'})", canvas)
    actions = pytest.importorskip("selenium.webdriver").ActionChains(browser.driver)
    actions.move_to_element_with_offset(canvas, canvas.size["width"] // 2 - 20, 0).click().perform()
    browser.until("document.querySelector('#f-moves canvas') !== null")
    [title] = browser.texts("#query-title")
    browser.click("#t-queries th:nth-child(2) button")  # ascending: the greatest loss first
    assert title == f"Query {browser.column('t-queries', 1)[0]}"


def test_another_measure_and_other_systems(browser: Browser, quiet: Any, page: Path) -> None:
    browser.open(page)
    for select, number in (("measure", 1), ("pair", 2)):
        browser.run(
            "const select = document.getElementById(arguments[0]); select.selectedIndex = arguments[1];"
            "select.dispatchEvent(new Event('change'))",
            select,
            number,
        )
    browser.until("document.getElementById('gains-about').textContent.startsWith('map of line minus')")
    browser.wait()
    assert "map" in browser.texts("h1")[0]
    assert browser.texts("#t-queries th")[2:4] == ["line", "noise"]


def test_light_and_dark(browser: Browser, quiet: Any, page: Path) -> None:
    ground = "return getComputedStyle(document.body).backgroundColor"
    for scheme in ("light", "dark"):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        browser.open(page)
        assert browser.run("return document.documentElement.dataset.theme") == scheme
        before = browser.run(ground)
        browser.click("#theme")
        browser.wait()
        assert browser.run("return document.documentElement.dataset.theme") != scheme
        assert browser.run(ground) != before
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_the_keyboard_reaches_everything_in_order(browser: Browser, quiet: Any, page: Path) -> None:
    browser.open(page)
    met = []
    for _ in range(12):
        browser.keys("\ue004")  # Tab
        met.append(
            browser.run("const e = document.activeElement; return e.id || e.textContent || e.className")
        )
    assert met[0] == "Skip to the results"
    places = [met.index(name) for name in ("theme", "measure", "pair", "find")]
    assert places == sorted(places)


def test_every_number_can_be_saved_as_csv(
    browser: Browser, quiet: Any, page: Path, comparison: Comparison
) -> None:
    browser.open(page)
    browser.run(
        "window.saved = {}; const kept = URL.createObjectURL;"
        "URL.createObjectURL = (blob) => {"
        " blob.text().then((text) => { window.last = text; }); return kept(blob); };"
    )
    saved = {}
    for button in browser.run("return [...document.querySelectorAll('#downloads button')].map(e => e.id)"):
        browser.run("window.last = null")
        browser.click(f"#{button}")
        browser.until("window.last !== null")
        saved[button] = [line.split(",") for line in browser.run("return window.last").splitlines()]
    assert set(saved) == {
        f"csv-{name}"
        for name in ("measures", "significance", "curves", "learning", "importance", "data", "queries")
    }
    header, *rows = saved["csv-queries"]
    place = header.index("map net")
    values = [float(row[place]) if row[place] else np.nan for row in rows]
    assert np.array_equal(
        values, comparison.evaluations["net"]["map"].per_query, equal_nan=True
    )  # every digit


def test_names_stay_text(browser: Browser, quiet: Any, tmp_path: Path) -> None:
    names = [HOSTILE, "=1+1", "c"]
    queries = data(12, names=names)
    hostile = rw.QuerySet(
        queries.features,
        queries.labels,
        qid=[f"{HOSTILE}{number}" for number in np.repeat(np.arange(12), 12)],
        documents=[f"{HOSTILE}{row}" for row in range(len(queries))],
        feature_names=names,
    )

    @rw.measure
    def first(labels: Any) -> float:
        return float(labels[0] > 0)

    net = rw.RankNet(hidden=0, epochs=2).fit(hostile, valid=hostile)
    systems = {HOSTILE: net, f"{HOSTILE} ${{1}}": rw.LinearScorer([0.0, 1.0, 0.0])}
    path = tmp_path / "hostile.html"
    rw.compare(systems, hostile, ["ndcg@10", first], n_resamples=100).to_html(path)
    browser.open(path)
    browser.click("#t-queries td button")
    browser.until("document.querySelector('#f-moves canvas') !== null")
    assert browser.run("return window.hurt") is None
    assert (
        browser.run("return document.querySelectorAll('img, b, script').length") == 4
    )  # the page's own scripts
    assert HOSTILE in browser.texts("h1")[0]
    assert all(text.startswith(HOSTILE) for text in browser.column("t-queries", 1))


def test_nothing_outside_may_be_fetched_and_no_other_script_runs(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.run(
        "const script = document.createElement('script'); script.textContent = 'window.hurt = 1';"
        "document.body.append(script)"
    )
    browser.run("const i = new Image(); i.src = 'https://example.org/x.png'; document.body.append(i)")
    assert browser.run("return window.hurt") is None
    said = " ".join(browser.console())
    assert "Content Security Policy" in said
    browser.requests()


def test_ten_thousand_queries_open_in_three_seconds(browser: Browser, quiet: Any, tmp_path: Path) -> None:
    path = tmp_path / "large.html"
    compared(data(10_000), "ndcg@10").to_html(path)
    assert path.stat().st_size < 12e6
    seconds = min(browser.open(path) for _ in range(3))
    assert seconds < 3
    browser.click("#t-queries td button")
    browser.until("document.querySelector('#f-moves canvas') !== null")
