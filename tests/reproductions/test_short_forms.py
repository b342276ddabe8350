"""The short form of every table and figure, on real data where it lies beside the repository."""

from __future__ import annotations

import pytest
from tests.shared import shared_data

from rankwright.reproductions import Experiment, Setting
from rankwright.reproductions.experiments import all_experiments
from rankwright.reproductions.runner import Store, run


@pytest.mark.parametrize("experiment", all_experiments(), ids=lambda each: each.name)
def test_a_row_holds_or_it_is_known_why_not(experiment: Experiment, tmp_path) -> None:
    store = Store(tmp_path)
    found = run(experiment, Setting(), store)
    if "give --data" in found.failure:
        found = run(experiment, Setting(data=shared_data("README.md").parent), store)
    misses = [f"{each.row.what}: {each.shown}" for each in found.outcomes if not each.ok]
    known = [each for each in found.outcomes if not each.ok and not each.failure and each.row.found]
    assert len(misses) == len(known), misses
    assert all(table.rows for table in experiment.tables(found.results))
