"""A pair of measure and feature map that a user adds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.naive import structured as naive

import rankwright as rw
from rankwright import structured
from rankwright.measures.lists import Lists
from rankwright.measures.precision import Precision
from rankwright.structured import PartialOrder, worst_orderings
from rankwright.structured.table import by_table


def precision(measure: Precision, feature_map: PartialOrder, kinds: Any) -> Any:
    assert measure.k is not None
    return by_table(measure.ranks(kinds.longest), np.full(len(kinds.good), 1 / measure.k), False, measure.k)


def test_it_is_as_exact_and_trains(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(structured, "ORACLES", {**structured.ORACLES, (Precision, PartialOrder): precision})
    random = np.random.default_rng(0)
    good = (False, True, False, True, False, True)
    lists = Lists(np.array(good, np.float64), np.array([0, 6]))
    for k, size in ((2, 0.1), (2, 1.0), (4, 0.5)):
        scores = size * random.normal(size=6)
        (loss,), coefficients = worst_orderings(f"p@{k}", "po", lists).at(scores)
        best, _, _ = naive.worst(good, scores, naive.partial_order, lambda ranked, k=k: sum(ranked[:k]) / k)
        assert loss - coefficients @ scores == pytest.approx(best, abs=1e-12)
    data = rw.synthetic.random_polynomial(10, 20, random_state=1)
    assert rw.StructuredRanker(measure="p@5", C=10).fit(data).certificate_["gap"] <= 1e-3
