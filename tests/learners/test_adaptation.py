"""A ranker trained elsewhere as the base of a net: its scores are where λ's begin, and their sum is left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankwright as rw

FEATURES = 30


def market(n_queries: int, seed: int, shift: float) -> rw.QuerySet:
    """Relevance by one direction of the features, turned by ``shift``."""
    random = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), 20)
    X = random.normal(size=(len(qid), FEATURES))
    worth = X[:, :12].sum(axis=1) / 2 + shift * X[:, 12:15].sum(axis=1) + random.normal(size=len(qid)) / 2
    return rw.QuerySet(X, np.digitize(worth, [1.0, 2.5, 4.0]), qid=qid)


def net(**settings: Any) -> rw.LambdaRank:
    return rw.LambdaRank(**{"hidden": 0, "epochs": 8, "learning_rate": 0.01, "init": "small", **settings})


def test_adapting_beats_the_old_ranker_and_training_afresh(tmp_path: Path) -> None:
    old = net(epochs=20).fit(market(100, 0, 0.0))
    few, test = market(5, 1, 1.0), market(200, 2, 1.0)
    adapted = net().fit(few, base=old)
    afresh = net().fit(few)
    assert adapted.score(test) > old.score(test)
    assert adapted.score(test) > afresh.score(test)
    adapted.save(tmp_path / "model.rw")
    assert np.array_equal(rw.load(tmp_path / "model.rw").predict(test), adapted.predict(test))


def test_the_base_stays_as_it_is_and_the_net_is_added() -> None:
    base, data = rw.LinearScorer.feature(0, FEATURES), market(10, 0, 0.0)
    ranker = net().fit(data, valid=market(5, 1, 0.0), base=base)
    total = ranker.scorer_
    assert isinstance(total, rw.Sum) and total.scorers[0] is base and list(total.weights) == [1.0, 1.0]
    assert np.array_equal(ranker.predict(data), base.predict(data) + total.scorers[1].predict(data))
    best = max(ranker.history_, key=lambda record: record["valid"])
    assert best["valid"] == pytest.approx(ranker.score(market(5, 1, 0.0)), abs=1e-6)


@pytest.mark.parametrize("rule", [None, "spring"])
def test_a_base_of_no_scores_changes_nothing(rule: Any) -> None:
    data = market(6, 0, 0.0)
    if rule is not None:
        rule = rw.rule(rule)
    nothing = rw.LinearScorer(np.zeros(FEATURES))
    plain, based = net(epochs=3, rule=rule).fit(data), net(epochs=3, rule=rule).fit(data, base=nothing)
    assert np.array_equal(plain.predict(data), based.scorer_.scorers[1].predict(data))
    strong = rw.LinearScorer(np.ones(FEATURES) * 10)
    other = net(epochs=3, rule=rule).fit(data, base=strong)
    assert not np.array_equal(plain.predict(data), other.scorer_.scorers[1].predict(data))


def test_a_base_that_does_not_fit_is_refused() -> None:
    with pytest.raises(rw.InputError, match="base has 2 features and the data 30"):
        net().fit(market(4, 0, 0.0), base=rw.LinearScorer([1.0, 2.0]))
    with pytest.raises(rw.InputError, match="base is 'bm25'"):
        net().fit(market(4, 0, 0.0), base="bm25")
