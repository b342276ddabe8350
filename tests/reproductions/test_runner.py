"""The runner on toy experiments: states, pieces kept and taken up again, data that is not there."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from rankwright.reproductions import (
    AtLeast,
    AtMost,
    Descending,
    Equals,
    Experiment,
    Row,
    Setting,
    Table,
    Within,
)
from rankwright.reproductions.drawing import draw_all
from rankwright.reproductions.experiments import all_experiments, chosen
from rankwright.reproductions.page import markdown
from rankwright.reproductions.rows import shown
from rankwright.reproductions.runner import Store, run
from rankwright.runtime.errors import InputError


def row(figure, expected, **more):
    about = {"where": "Table 1", "what": f"the {figure}", "published": "3", "why": "it is a toy"}
    return Row(figure=figure, expected=expected, **about, **more)


def toy(pieces, *rows, **more):
    about = {"name": "1999-table-1", "title": "A toy", "paper": "1999", "data": "none"}
    return Experiment(
        **about, pieces=lambda setting: pieces, figures=lambda results: results, rows=rows, **more
    )


def states(found):
    return [outcome.state for outcome in found.outcomes]


def test_each_row_is_judged_by_its_figure():
    experiment = toy(
        {"a": lambda: 3.2, "order": lambda: {"x": 2, "y": 1}, "whole": lambda: np.int64(7)},
        row("a", Within(3, 0.25)),
        row("a", Within(3, 0.1)),
        row("order", Descending("x", "y")),
        row("order", Descending("x", "y", margin=1.0)),
        row("whole", Equals(7)),
        row("whole", AtLeast(8)),
        row("whole", AtMost(7)),
    )
    assert states(run(experiment, Setting())) == ["OK", "FAIL", "OK", "FAIL", "OK", "FAIL", "OK"]


def test_nan_fails_every_check():
    checks = Within(0, 1), AtLeast(0), AtMost(0), Equals(0)
    assert not any(check.holds(float("nan")) for check in checks)


def test_the_short_form_has_its_own_rows_and_checks():
    experiment = toy(
        {"a": lambda: 2.0}, row("a", AtLeast(5), short=AtLeast(1)), row("a", AtLeast(1), full_only=True)
    )
    assert states(run(experiment, Setting())) == ["OK"]
    assert states(run(experiment, Setting(full=True))) == ["FAIL", "OK"]


def test_a_piece_that_fails_is_a_failure_of_all_rows_and_no_error():
    def broken():
        raise ValueError("no luck")

    found = run(toy({"a": lambda: 3, "b": broken}, row("a", Equals(3))), Setting())
    assert states(found) == ["FAIL"]
    assert found.outcomes[0].shown == "did not run: ValueError: no luck"


def test_a_missing_figure_is_a_failure():
    found = run(toy({"a": lambda: 3}, row("b", Equals(3))), Setting())
    assert found.outcomes[0].shown == "did not run: the experiment gave no b"


def test_missing_data_names_the_folder_to_give(tmp_path):
    for data, told in ((None, "give --data"), (tmp_path, "holds no mq2008/")):
        experiment = dataclasses.replace(
            toy({}, row("a", Equals(3))), pieces=lambda setting: {"a": lambda: setting.folder("mq2008")}
        )
        found = run(experiment, Setting(data=data))
        assert states(found) == ["FAIL"]
        assert told in found.outcomes[0].failure


def test_folds_are_turned_as_the_data_says(tmp_path):
    folder = tmp_path / "toy"
    folder.mkdir()
    for k in range(1, 6):
        (folder / f"S{k}.txt").write_text(f"1 qid:{k} 1:{k}\n0 qid:{k} 1:0.5\n")
    train, valid, test = Setting(data=tmp_path).fold("toy", 4)
    assert [part.features[:, 0].tolist() for part in (train, valid, test)] == [
        [4, 0.5, 5, 0.5, 1, 0.5],
        [2, 0.5],
        [3, 0.5],
    ]
    assert train.n_queries == 3


def test_a_run_goes_on_where_it_stopped(tmp_path):
    calls = []

    def piece(name, value):
        def call():
            calls.append(name)
            if value is None:
                raise KeyboardInterrupt
            return value

        return call

    store, last = Store(tmp_path), row("b", Equals(2))
    with pytest.raises(KeyboardInterrupt):
        run(toy({"a": piece("a", 1), "b": piece("b", None)}, last), Setting(), store)
    found = run(toy({"a": piece("a", 1), "b": piece("b", 2)}, last), Setting(), store)
    assert calls == ["a", "b", "b"]
    assert states(found) == ["OK"]
    assert found.results == {"a": 1, "b": 2}
    # The full form has its own results, and so has another revision.
    run(toy({"a": piece("a", 1)}, last), Setting(full=True), store)
    run(toy({"a": piece("a", 1)}, last, revision=2), Setting(), store)
    assert calls == ["a", "b", "b", "a", "a"]


def test_after_the_time_given_nothing_is_begun(tmp_path):
    store, experiment = Store(tmp_path), toy({"a": lambda: 3, "b": lambda: 1 / 0}, row("a", Equals(3)))
    found = run(experiment, Setting(), store, until=0.0)
    assert found.outcomes[0].shown == "did not run: piece a was not run"
    assert not list(tmp_path.iterdir())


def test_a_spoilt_result_is_named(tmp_path):
    store, experiment = Store(tmp_path), toy({"a": lambda: 3}, row("a", Equals(3)))
    path = store.path(experiment, False, "a")
    path.parent.mkdir(parents=True)
    path.write_text("{")
    assert str(path) in run(experiment, Setting(), store).outcomes[0].failure


def test_progress_names_each_piece():
    told = []
    run(
        toy({"a": lambda: 3, "b": lambda: 1}, row("a", Equals(3))),
        Setting(),
        progress=lambda *each: told.append(each),
    )
    assert told == [("a", 0, 2), ("b", 1, 2)]


def test_the_page_has_every_row_and_what_was_found_out():
    experiment = toy(
        {"a": lambda: 3.2},
        row("a", Equals(3), found="a toy is off by a fifth"),
        tables=lambda results: [Table("All of it", [{"x": 1, "y": results["a"]}])],
    )
    page = markdown([run(experiment, Setting())])
    assert "1 rows: 0 OK, 1 FAIL" in page
    assert "| **FAIL** | Table 1 | the a | 3 | = 3 | 3.2 |" in page
    assert "a toy is off by a fifth" in page
    assert "| 1 | 3.2 |" in page


def test_experiments_are_chosen_by_name_or_its_beginning():
    experiments = all_experiments()
    names = [each.name for each in experiments]
    assert len(set(names)) == len(names)
    assert [each.name for each in chosen("all", experiments)] == names
    assert all(each.paper == "2010" for each in chosen("2010", experiments))
    with pytest.raises(InputError, match="no reproduction '1812'"):
        chosen("1812", experiments)


@pytest.mark.parametrize("experiment", all_experiments(), ids=lambda each: each.name)
def test_every_row_says_what_it_is(experiment):
    assert experiment.name.startswith(experiment.paper)
    assert experiment.rows
    for each in experiment.rows:
        assert all((each.figure, each.where, each.what, each.published, each.why, str(each.expected)))


def test_results_are_plain_json(tmp_path):
    store = Store(tmp_path)
    found = run(chosen("2010-figure-1", all_experiments())[0], Setting(), store)
    assert states(found) == ["OK"] * 4
    assert json.dumps([outcome.as_dict() for outcome in found.outcomes])
    assert all(isinstance(path, Path) for path in tmp_path.rglob("*.json"))


def test_figures_as_text():
    assert shown({"a": 0.5, "b": False}) == "a 0.5, b no"
    assert shown(12345) == "12,345"
    assert shown(float("nan")) == "NaN"


def test_tables_that_ask_for_it_are_drawn(tmp_path):
    rows = [{"size": 10**k, "time": 4.0**k, "kind": kind} for k in range(4) for kind in "ab"]
    tables = [Table("Times", rows, ("size", "time", "kind")), Table("Plain", rows)]
    found = run(toy({"a": lambda: 3}, row("a", Equals(3)), tables=lambda results: tables), Setting())
    drawn = draw_all([found], tmp_path / "figures")
    [(key, path)] = drawn.items()
    assert path.read_text().startswith("<svg")
    assert "![Times](figures/1999-table-1-1.svg)" in markdown([found], {key: f"figures/{path.name}"})
