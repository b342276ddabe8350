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
from rankwright.ensembles import trying
from rankwright.ensembles.choosing import Judge, chosen, clearly_worse
from rankwright.ensembles.combine import weighed
from rankwright.ensembles.committee import spread
from rankwright.ensembles.trying import Budget, Folds


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


def lines(*noises: float, seed: int = 0) -> np.ndarray[Any, Any]:
    """Scores that tell the labels but for so much noise."""
    labels, random = data().labels, np.random.default_rng(seed)
    assert labels is not None
    return np.array([labels + noise * random.normal(size=len(labels)) for noise in noises])


def test_who_is_clearly_worse_does_not_sit_and_the_others_count_alike() -> None:
    judge = Judge(rw.measure("ndcg@10"), data())
    scores = lines(1.5, 1.5, 1.5, 100.0)
    worse = clearly_worse([judge.values(line) for line in scores], judge)
    assert worse.tolist() == [False, False, False, True]
    weights, best = chosen(scores, judge, lambda: True)
    assert weights.tolist() == [1 / 3, 1 / 3, 1 / 3, 0]
    assert best == judge.mean(weighed(weights, scores)) > max(judge.mean(line) for line in scores)


def test_a_share_that_gains_more_than_chance_is_given() -> None:
    """The first is better by far, so that it should count more than the others."""
    judge = Judge(rw.measure("ndcg@10"), data())
    scores = lines(0.9, 2.0, 2.0, 2.0, 2.0, seed=2)
    even, before = chosen(scores, judge, lambda: True)
    weights, best = chosen(scores, judge)
    gain, error = judge.gain(*(judge.values(weighed(each, scores)) for each in (even, weights)))
    assert even.tolist() == [0.2] * 5 and weights[0] > 0.3 and weights.sum() == pytest.approx(1)
    assert best == judge.mean(weighed(weights, scores)) > before and gain > error


def test_the_best_sits_alone_where_the_others_only_harm() -> None:
    judge = Judge(rw.measure("ndcg@10"), data())
    good, bad = lines(0.6)[0], lines(0.9, seed=1)[0]
    scores = np.array([good, 1000 * bad])
    weights, best = chosen(scores, judge, lambda: True)
    assert weights.tolist() == [1, 0] and best == judge.mean(good)


def test_paired_differences_go_by_the_weights_of_queries() -> None:
    queries = data()
    weights = np.repeat([1.0, 0.0], 12)
    judge = Judge(rw.measure("ndcg@10"), queries.with_weights(query_weight=weights))
    before, after = np.zeros(24), np.arange(24.0)
    before[3] = np.nan
    known = np.delete(np.arange(12.0), 3)
    assert judge.gain(before, after) == pytest.approx((known.mean(), known.std() / np.sqrt(11)))


def test_a_budget_in_seconds_ends(monkeypatch: Any) -> None:
    clock = itertools.count()
    monkeypatch.setattr(trying.time, "monotonic", lambda: next(clock))
    sits = committee(budget=30).fit(data())
    assert 1 <= len(sits.history_) <= 10
    with pytest.raises(rw.InputError, match="ended within the first learner's 3 fits"):
        committee(budget=2.0).fit(data())


def test_a_budget_in_seconds_ends_a_fit_under_way(monkeypatch: Any) -> None:
    """The third candidate's first fit finds no time left, and is given up; the two before it sit."""
    clock, steps = [0.0], []
    monkeypatch.setattr(trying.time, "monotonic", lambda: clock[0])
    watch = Budget.watch

    def ticking(self: Budget, record: Any = None) -> None:
        clock[0] += 1.0
        steps.append(clock[0])
        watch(self, record)

    monkeypatch.setattr(Budget, "watch", ticking)
    sits = committee(budget=50, learners=[rw.AdaRank(n_estimators=4)]).fit(data())
    assert max(steps) == 45  # of 50 seconds, nine tenths are for trying
    assert 2 <= len(sits.history_) <= 3


def test_an_interrupt_leaves_what_was_tried() -> None:
    def stop(record: Any) -> None:
        if record["step"] == 2:
            raise KeyboardInterrupt

    sits = committee()
    with pytest.raises(KeyboardInterrupt):
        sits.fit(data(), progress=stop)
    assert np.isfinite(sits.predict(data())).all() and len(sits.history_) == 2
    assert sits.scorer_.training["interrupted"] and sits.scorer_.training["tried"] == 2
    nothing = committee(learners=[Interrupted()])
    with pytest.raises(KeyboardInterrupt):
        nothing.fit(data())
    assert not hasattr(nothing, "scorer_")


class Interrupted(rw.AdaRank):
    """Whose user loses patience at once."""

    def _fit(self, *data: Any, **options: Any) -> None:
        raise KeyboardInterrupt


def test_folds_are_whole_queries_and_equal() -> None:
    parts = Folds(data(), 5, 0).parts
    assert sorted(np.bincount(parts)) == [4, 5, 5, 5, 5]
    assert not np.array_equal(parts, Folds(data(), 5, 1).parts)


def test_the_spread_goes_by_the_measure() -> None:
    names = {type(learner).__name__ for learner, _ in spread(rw.measure("ndcg@10"))}
    assert {"LambdaMART", "MART", "LambdaRank", "RankNet", "McRank", "AdaRank", "SVMMAP"} <= names

    @rw.measure
    def first_two(labels: Any) -> float:
        return float((labels[:2] > 0).any())

    assert {"MART", "RankNet"} <= {type(learner).__name__ for learner, _ in spread(first_two)}


def test_some_look_at_features_scaled_by_query(tmp_path: Path) -> None:
    """What a query's features have in common is then gone, at every step of the way."""
    queries = data()
    trees = rw.MART(n_estimators=6, min_samples_leaf=4, max_leaf_nodes=4)
    folds = Folds(queries, 3, 0)
    assert folds.scaling_matters and not Folds(folds.scaled, 3, 0).scaling_matters
    budget, judge = Budget.of("3 fits"), Judge(rw.measure("ndcg@10"), queries)
    found = trying.tried(trying.Trial(trees, scaled=True, bagged=False), folds, judge, budget)
    plain = trying.tried(
        trying.Trial(trees, scaled=False, bagged=False), Folds(folds.scaled, 3, 0), judge, Budget.of("3 fits")
    )
    assert np.array_equal(found.scores, plain.scores)
    found.scorer().save(tmp_path / "model.rw")
    scorer = rw.load(tmp_path / "model.rw")
    larger = queries.with_features(queries.in_given_order(queries.features * 8))
    assert np.array_equal(scorer.predict(queries), scorer.predict(larger))
    with pytest.raises(rw.InputError, match="qid"):
        scorer.predict(queries.features)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_learner_of_the_spread_can_be_fitted() -> None:
    short = {"n_estimators": 2, "epochs": 2, "max_iter": 2}
    for learner, _ in spread(rw.measure("map")):
        known = learner.get_params()
        learner.set_params(**{name: value for name, value in short.items() if name in known})
        assert np.isfinite(learner.fit(data(), valid=data(1)).predict(data())).all()


def test_where_features_are_scaled_by_query_as_they_are_none_is_tried_twice() -> None:
    folds = Folds(data(), 3, 0)
    given = [trying.named(trial) for trial in rw.Committee()._first(folds)]
    alike = [trying.named(trial) for trial in rw.Committee()._first(Folds(folds.scaled, 3, 0))]
    assert len(set(given)) == len(given) > len(alike) == len(set(alike)) > 10
    assert any("scaled by query" in name for name in given)
    assert not any("scaled by query" in name or "scaling='query'" in name for name in alike)


def test_who_refuses_the_data_is_passed_over() -> None:
    """Labels that are no classes; and where nobody is left, the first one's reason is given."""
    queries = data()
    assert queries.labels is not None
    halves = rw.QuerySet(
        queries.features, queries.labels / 2, qid=np.repeat(queries.query_ids, queries.sizes)
    )
    learners = [rw.McRank(n_estimators=3), rw.LambdaRank(hidden=0, epochs=3)]
    sits = committee(learners=learners, budget="9 fits").fit(halves)
    assert ["refused" in record for record in sits.history_] == [True, False, False, False]
    assert "is not a class" in sits.history_[0]["refused"]
    with pytest.raises(rw.InputError, match=r"no learner could be fitted.*not a class"):
        committee(learners=learners[:1]).fit(halves)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"budget": "ten fits"}, "budget is 'ten fits'"),
        ({"budget": "10 weeks"}, "budget is '10 weeks'"),
        ({"budget": True}, "budget is True"),
        ({"budget": 0}, "budget is 0"),
        ({"budget": "2 fits"}, "ended within the first learner's 3 fits"),
        ({"folds": 2}, "folds is 2"),
        ({"folds": 3.5}, "folds is 3.5"),
        ({"folds": 25}, "folds is 25"),
        ({"weigh": "votes"}, "weigh is 'votes'"),
        ({"learners": []}, "learners is empty"),
        ({"learners": [rw.MART]}, "which is no ranker"),
        ({"random_state": None}, "random_state is None"),
        ({"measure": "ndcg@10(ties=average)"}, "use ties=input"),
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
    assert (Budget.of("2 minutes").most, Budget.of("0.5 hours").most, Budget.of("9s").most) == (120, 1800, 9)
