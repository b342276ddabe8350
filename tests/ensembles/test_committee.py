"""The committee: what it tries, whom it keeps, that nobody scores queries that he saw."""

from __future__ import annotations

import functools
import itertools
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import rankwright as rw
from rankwright.ensembles import committee as sitting
from rankwright.ensembles.committee import Budget, chosen, dealt, spread
from rankwright.learners.base import mean_measure


def shelf() -> list[Any]:
    return [
        rw.LambdaRank(hidden=0, epochs=4, learning_rate=0.01),
        rw.MART(n_estimators=6, min_samples_leaf=4, max_leaf_nodes=4),
        rw.LambdaMART(n_estimators=6, min_samples_leaf=4, max_leaf_nodes=4),
    ]


@functools.cache
def data(seed: int = 0) -> rw.QuerySet:
    random = np.random.default_rng(seed)
    qid = random.permutation(np.repeat(np.arange(24), 10))
    X = random.normal(size=(len(qid), 5))
    noisy = X[:, 0] + 0.7 * X[:, 1] * X[:, 2] + random.normal(size=len(qid))
    return rw.QuerySet(X, np.digitize(noisy, [0.5, 1.5]), qid=qid)


def committee(**settings: Any) -> rw.Committee:
    return rw.Committee(**{"budget": "20 fits", "folds": 3, "learners": shelf(), **settings})


@functools.cache
def fitted() -> rw.Committee:
    return committee().fit(data())


def test_what_was_tried_is_told() -> None:
    told: list[Any] = []
    sits = committee().fit(data(), progress=told.append)
    assert told == sits.history_ and len(told) == 6  # 20 fits are six times three folds
    assert [record["fits"] for record in told] == [3, 6, 9, 12, 15, 18]
    names = [record["learner"].partition("(")[0] for record in told]
    assert names == ["LambdaRank", "MART", "LambdaMART"] * 2
    assert told[3]["learner"] != told[0]["learner"]  # another seed


def test_it_is_never_below_its_best_member_out_of_fold() -> None:
    sits = fitted()
    assert sits.out_of_fold_ >= max(record["valid"] for record in sits.history_)
    assert all(member["weight"] > 0 for member in sits.members_)
    for member in sits.members_:
        assert member["alone"] in [record["valid"] for record in sits.history_]
    assert all(member["adds"] > 0 for member in sits.members_)
    assert sits.scorer_.training["out_of_fold"] == sits.out_of_fold_
    assert [m["weight"] for m in sits.scorer_.training["members"]] == [m["weight"] for m in sits.members_]


def test_it_is_the_same_on_any_threads_and_from_its_file(tmp_path: Path) -> None:
    files = []
    for jobs in (1, 2):
        committee(n_jobs=jobs).fit(data()).save(tmp_path / f"{jobs}.rw")
        files.append((tmp_path / f"{jobs}.rw").read_bytes())
    assert files[0] == files[1]
    assert np.array_equal(rw.load(tmp_path / "1.rw").predict(data(1)), fitted().predict(data(1)))
    again = pickle.loads(pickle.dumps(clone(committee())))
    assert again.fit(data()).out_of_fold_ == fitted().out_of_fold_


def test_nobody_scores_a_query_that_he_saw(monkeypatch: Any) -> None:
    """Neither what it was fitted on nor what stopped it; and each query is scored once."""
    seen: list[tuple[set[Any], set[Any]]] = []
    fit = rw.MART.fit

    def watched(self: Any, X: Any, *args: Any, **options: Any) -> Any:
        seen.append((set(X.query_ids), set(options["valid"].query_ids)))
        return fit(self, X, *args, **options)

    monkeypatch.setattr(rw.MART, "fit", watched)
    committee(budget="6 fits", learners=shelf()[1:2]).fit(data())
    everything = set(data().query_ids)
    held = [everything - trained - stopped for trained, stopped in seen[:3]]
    assert set.union(*held) == everything and sum(map(len, held)) == len(everything)
    for number, (trained, stopped) in enumerate(seen):
        assert not trained & stopped and not (trained | stopped) & held[number % 3]
        assert len(trained) == (8 if number < 3 else 6)  # then a bag of them


def test_scores_are_those_of_the_models_put_together() -> None:
    sits = fitted()
    assert isinstance(sits.scorer_, rw.Sum)
    total = np.zeros(len(data()))
    for member, weight in zip(sits.scorer_.scorers, sits.scorer_.weights, strict=True):
        total += weight * member.predict(data())
    assert np.array_equal(total, sits.predict(data()))


def test_weighed_by_a_net() -> None:
    sits = committee(weigh="lambda").fit(data())
    best = max(member["alone"] for member in sits.members_)
    assert sits.out_of_fold_ >= best
    assert np.isfinite(sits.predict(data(1))).all()


def test_members_earn_their_place() -> None:
    queries = data()
    random = np.random.default_rng(0)
    assert queries.labels is not None
    good = queries.labels + random.normal(size=len(queries))
    other = queries.labels + random.normal(size=len(queries))
    noise = random.normal(size=len(queries))
    ndcg = rw.measure("ndcg@10")
    candidates = []
    for scores in (noise, good, other):
        alone = mean_measure(ndcg, queries, queries.in_given_order(scores))
        candidates.append(sitting.Candidate(rw.MART(), [], [], scores, alone))
    weights, best = chosen(candidates, ndcg, queries)
    assert weights[0] < 0.2 and weights[1] > 0 and weights[2] > 0
    assert best > max(candidate.alone for candidate in candidates)
    alone, value = chosen(candidates[:1], ndcg, queries)
    assert alone.tolist() == [1.0] and value == candidates[0].alone


def test_a_budget_in_seconds_ends(monkeypatch: Any) -> None:
    clock = itertools.count()
    monkeypatch.setattr(sitting.time, "monotonic", lambda: next(clock))
    sits = committee(budget=30).fit(data())
    assert 1 <= len(sits.history_) <= 10
    with pytest.raises(rw.InputError, match="ended within the first learner's 3 fits"):
        committee(budget=2.0).fit(data())


def test_folds_are_whole_queries_and_equal() -> None:
    parts = dealt(data(), 5, 0)
    assert sorted(np.bincount(parts)) == [4, 5, 5, 5, 5]
    assert not np.array_equal(parts, dealt(data(), 5, 1))


def test_the_spread_goes_by_the_measure() -> None:
    names = {type(learner).__name__ for learner in spread(rw.measure("ndcg@10"))}
    assert {"LambdaMART", "MART", "LambdaRank", "RankNet", "McRank"} <= names

    @rw.measure
    def first_two(labels: Any) -> float:
        return float((labels[:2] > 0).any())

    assert {"MART", "RankNet"} <= {type(learner).__name__ for learner in spread(first_two)}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"budget": "ten fits"}, "budget is 'ten fits'"),
        ({"budget": "10 hours"}, "budget is '10 hours'"),
        ({"budget": 0}, "budget is 0"),
        ({"budget": "2 fits"}, "ended within the first learner's 3 fits"),
        ({"folds": 2}, "folds is 2 for 24 queries"),
        ({"folds": 25}, "folds is 25"),
        ({"weigh": "votes"}, "weigh is 'votes'"),
        ({"learners": []}, "learners is empty"),
    ],
)
def test_what_cannot_be_is_refused(settings: Any, message: str) -> None:
    with pytest.raises(rw.InputError, match=message):
        committee(**settings).fit(data())


def test_it_holds_out_by_itself() -> None:
    with pytest.raises(rw.InputError, match="holds queries out by itself"):
        committee().fit(data(), valid=data(1))


def test_budgets_are_read() -> None:
    assert (Budget.of(90).most, Budget.of(90).in_fits) == (90.0, False)
    assert (Budget.of("90 seconds").most, Budget.of("1 fit").in_fits) == (90.0, True)
