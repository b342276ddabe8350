"""Several runs in one forest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.learners.test_boosting import LEARNERS, data, untimed, weighted

import rankwright as rw
from rankwright.learners.lambdamart import LambdaMART


def test_several_runs_are_averaged_into_one_scorer() -> None:
    """Each run is what a learner of its random state makes, ended at its own best step."""
    queries, valid = weighted(0, 8, 10), data(1, 5, 9)
    told: list[Any] = []
    for made in (LEARNERS["default"], LEARNERS["classes"]):
        together = made(n_runs=3, random_state=3).fit(queries, valid=valid, progress=told.append)
        alone = [made(random_state=9 + run).fit(queries, valid=valid) for run in range(3)]
        records = [
            {**record, "run": run} for run, ranker in enumerate(alone, 1) for record in ranker.history_
        ]
        assert together.history_ == told[-len(records) :]
        assert untimed(together.history_) == untimed(records)
        assert together.scorer_.n_trees == sum(ranker.scorer_.n_trees for ranker in alone)
        outputs = np.zeros((4, len(queries), len(together.scorer_.start)))
        for ranker, out in zip((together, *alone), outputs, strict=True):
            ranker.scorer_.outputs(queries.features, out)
        np.testing.assert_allclose(outputs[0], outputs[1:].mean(axis=0), rtol=1e-12, atol=1e-15)


def test_runs_that_would_all_be_alike_are_refused() -> None:
    with pytest.raises(rw.InputError, match="n_runs is 0"):
        LambdaMART(n_runs=0).fit(data(0, 2, 5))
    with pytest.raises(rw.InputError, match="n_runs is 2, and nothing is left to chance"):
        LambdaMART(n_runs=2).fit(data(0, 2, 5))
    for by_chance in ({"random_bins": True}, {"orderings": 1}, {"loss": "xendcg"}):
        LambdaMART(n_runs=2, n_estimators=1, **by_chance).fit(data(0, 2, 5))
