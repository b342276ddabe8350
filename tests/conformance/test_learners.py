"""Every learner, found by itself, with every measure that it accepts: what all of them owe their users."""

from __future__ import annotations

import functools
import inspect
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold

import rankwright as rw
from rankwright import learners
from rankwright.learners.base import Ranker, mean_measure

QUICK = {
    "n_estimators": 3,
    "min_samples_leaf": 2,
    "max_leaf_nodes": 4,
    "epochs": 3,
    "hidden": 3,
    "batch_size": 4,
    "n_components": 20,
    "max_iter": 5,
    "n_perceptrons": (2, 5),
    "n_starts": 1,
}
"""What makes a learner quick, where it has such a parameter."""
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # five steps are few
MEASURES = [
    "ndcg@10",
    "dcg",
    "map",
    "mrr",
    "err@5",
    "p@3",
    "recall@3",
    "wta",
    "pairs",
    "auc",
    "bpref",
    "rbp(p=0.8)",
]
LEARNERS = sorted(learners.known())
learner = pytest.mark.parametrize("name", LEARNERS)
learner_and_measure = pytest.mark.parametrize(
    ("name", "measure"),
    [(name, measure) for name in LEARNERS for measure in MEASURES if learners.known()[name].accepts(measure)],
)


def linear_module(n_features: int) -> Any:
    """A module for the learner that needs one."""
    return pytest.importorskip("torch").nn.Linear(n_features, 1)


def made(name: str, measure: str = "ndcg@10", **settings: Any) -> Any:
    kind = learners.known()[name]
    known = kind().get_params()
    given = {key: value for key, value in QUICK.items() if key in known}
    if "module" in known:
        given["module"] = linear_module
    given |= {"measure": measure} | {key: value for key, value in settings.items() if key in known}
    return kind(**given)


@functools.cache
def data() -> rw.QuerySet:
    """Six queries of different lengths, one of a single document, whose rows stand apart."""
    random = np.random.default_rng(0)
    qid = random.permutation(np.repeat([3, 1, 4, 15, 9, 2], [8, 6, 9, 1, 7, 9]))
    X = random.standard_normal((len(qid), 3))
    return rw.QuerySet(X, np.digitize(X[:, 0] + X[:, 1] / 3, [0.0, 1.0]), qid=qid)


@functools.cache
def fitted(name: str, measure: str) -> Any:
    return made(name, measure).fit(data())


def given_rows(queries: rw.QuerySet) -> tuple[Any, Any, Any]:
    """Features, labels and query ids as they were given."""
    ids = np.repeat(np.array(queries.query_ids), queries.sizes)
    return tuple(queries.in_given_order(np.asarray(part)) for part in (queries.features, queries.labels, ids))


@learner_and_measure
def test_scores_follow_their_rows(name: str, measure: str) -> None:
    """Predicting and scoring know no order of queries, nor of documents in a query."""
    ranker, (X, y, qid) = fitted(name, measure), given_rows(data())
    scores = ranker.predict(X)
    assert scores.shape == (len(X),) and scores.dtype == np.float64 and np.isfinite(scores).all()
    assert np.array_equal(ranker.predict(data()), scores)
    order = np.random.default_rng(1).permutation(len(X))
    # PyTorch's own products round by a row's place; all that is ours gives the same bits.
    room = 1e-5 if name == "TorchRanker" else 0.0
    np.testing.assert_allclose(ranker.predict(X[order]), scores[order], rtol=0, atol=room)
    np.testing.assert_allclose(ranker.predict(X[:1]), scores[:1], rtol=0, atol=room)
    by_query = np.argsort(-qid, kind="stable")  # within a query ties keep their order
    expected = ranker.score(X, y, qid=qid)
    assert ranker.score(X[by_query], y[by_query], qid=qid[by_query]) == pytest.approx(expected, abs=1e-12)
    worst = rw.measure(measure).replace(ties="worst")
    shuffled = rw.QuerySet(X[order], y[order], qid=qid[order])
    assert mean_measure(worst, shuffled, scores[order]) == pytest.approx(
        mean_measure(worst, data(), scores), abs=1e-12
    )


@learner_and_measure
def test_increasing_rescalings_change_no_score(name: str, measure: str) -> None:
    ranker, given = fitted(name, measure), rw.measure(measure)
    scores = np.round(ranker.predict(data()), 6)
    expected = mean_measure(given, data(), scores)
    for rescaled in (4 * scores, scores / 8 - 2, np.arctan(scores)):
        assert mean_measure(given, data(), rescaled) == expected


@learner_and_measure
def test_score_is_the_mean_of_its_measure(name: str, measure: str) -> None:
    ranker = fitted(name, measure)
    found = rw.evaluate(ranker.predict(data()), data(), [measure])
    assert ranker.score(data()) == pytest.approx(found[measure].mean, abs=1e-12)


@learner_and_measure
def test_survives_pickling_and_its_file(name: str, measure: str, tmp_path: Path) -> None:
    ranker = fitted(name, measure)
    scores = ranker.predict(data())
    again = pickle.loads(pickle.dumps(ranker)) if "module" not in ranker.get_params() else ranker
    assert np.array_equal(again.predict(data()), scores)
    ranker.save(tmp_path / "model.rw")
    scorer: Any = rw.load(tmp_path / "model.rw")
    if hasattr(scorer, "with_module"):  # a file holds a module's parameters, not its code
        scorer = scorer.with_module(linear_module(3))
    assert np.array_equal(scorer.predict(data()), scores)
    assert scorer.measure == str(rw.measure(measure)) and scorer.parameters["learner"] == name
    assert scorer.n_features == ranker.n_features_in_ == 3


@learner_and_measure
def test_the_same_again(name: str, measure: str) -> None:
    """A clone learns the same, and so does one on more threads; rows that stand apart make no difference."""
    ranker = fitted(name, measure)
    copy = clone(ranker)
    assert not hasattr(copy, "scorer_") and repr(copy.get_params()) == repr(ranker.get_params())
    scores = ranker.predict(data())
    assert np.array_equal(copy.fit(data()).predict(data()), scores)
    for jobs in (1, 2):
        assert np.array_equal(made(name, measure, n_jobs=jobs).fit(data()).predict(data()), scores)
    X, y, qid = given_rows(data())
    assert np.array_equal(made(name, measure).fit(X, y, qid=qid).predict(X), scores)


@learner_and_measure
def test_queries_that_teach_nothing(name: str, measure: str) -> None:
    """A query of one document and one of constant labels are borne; with no other it may refuse."""
    random = np.random.default_rng(0)
    X, qid = random.standard_normal((20, 2)), np.repeat([0, 1, 2, 3], [1, 6, 6, 7])
    y = np.where(qid == 1, 1.0, random.integers(0, 2, 20))
    assert np.isfinite(made(name, measure).fit(X, y, qid=qid).predict(X)).all()
    for labels, ids in ((np.ones(20), qid), (np.zeros(20), qid), (y, np.arange(20))):
        try:
            ranker = made(name, measure).fit(X, labels, qid=ids)
        except rw.InputError as refusal:
            assert str(refusal)
        else:
            assert np.isfinite(ranker.predict(X)).all()


@learner
def test_random_numbers_belong_to_random_state(name: str) -> None:
    for state in (0, 7):
        scores = [made(name, random_state=state).fit(data()).predict(data()) for _ in range(2)]
        assert np.array_equal(*scores)


@learner
def test_parameters_are_stored_as_given(name: str) -> None:
    ranker = made(name)
    before = ranker.get_params()
    assert all(getattr(ranker, key) is value for key, value in before.items())
    assert set(before) == set(learners.known()[name]().get_params())
    ranker.fit(data())
    assert repr(ranker.get_params()) == repr(before)
    assert ranker.set_params(measure="map").selection_measure == rw.measure("map")


@learner
def test_progress_ends_training(name: str) -> None:
    """A listener that raises StopIteration leaves a ranker of the steps so far."""

    def enough(record: dict[str, Any]) -> None:
        raise StopIteration

    ended = made(name, C=[1.0, 10.0], n_starts=2).fit(data(), valid=data(), progress=enough)
    assert np.isfinite(ended.predict(data())).all()
    if "C" in ended.get_params():  # a path over C ends with its C
        assert {record["C"] for record in ended.history_} == {1.0}
    else:
        assert len(ended.history_) == 1


@learner
def test_progress_is_told_and_kept(name: str) -> None:
    told: list[dict[str, Any]] = []
    ranker = made(name).fit(data(), valid=data(), progress=told.append)
    assert len(told) == len(ranker.history_) > 0
    assert all(isinstance(record, dict) and record for record in ranker.history_)


def taking(option: str) -> Any:
    """The learners whose ``fit`` takes something."""
    known = learners.known()
    return pytest.mark.parametrize(
        "name", [name for name in LEARNERS if option in inspect.signature(known[name]._fit).parameters]
    )


@taking("base")
def test_what_is_learned_is_added_to_a_base(name: str, tmp_path: Path) -> None:
    base = rw.LinearScorer([0.5, 0.0, -0.5])
    ranker = made(name).fit(data(), valid=data(), base=base)
    assert isinstance(ranker.scorer_, rw.Sum) and ranker.scorer_.scorers[0] is base
    expected = base.predict(data()) + ranker.scorer_.scorers[1].predict(data())
    assert np.array_equal(ranker.predict(data()), expected)
    ranker.save(tmp_path / "model.rw")
    assert np.array_equal(rw.load(tmp_path / "model.rw").predict(data()), expected)


@taking("checkpoint")
def test_training_ends_where_it_is_told_to_and_goes_on_from_a_checkpoint(name: str, tmp_path: Path) -> None:
    def enough(record: dict[str, Any]) -> None:
        raise StopIteration

    made(name).fit(data(), valid=data()).save(tmp_path / "whole.rw")
    ranker = made(name).fit(data(), valid=data(), checkpoint=tmp_path / "kept", progress=enough)
    assert len(ranker.history_) == 1
    made(name).fit(data(), valid=data(), checkpoint=tmp_path / "kept").save(tmp_path / "again.rw")
    assert (tmp_path / "again.rw").read_bytes() == (tmp_path / "whole.rw").read_bytes()


@learner
def test_grid_search_with_qid_routed(name: str) -> None:
    X, y, qid = given_rows(data())
    grid = {"measure": ["ndcg@10", "map"]}
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(made(name), grid, cv=GroupKFold(2), error_score="raise")
        search.fit(X, y, qid=qid, groups=qid)
        assert np.isfinite(search.best_score_)
        assert search.predict(X).shape == (len(X),)
        assert search.score(X, y, qid=qid) == search.best_estimator_.score(X, y, qid=qid)


@learner
@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda ranker, X, y, qid: ranker.predict(X), "not fitted"),
        (lambda ranker, X, y, qid: ranker.save("model.rw"), "not fitted"),
        (lambda ranker, X, y, qid: ranker.fit(X, y), "set_config"),
        (lambda ranker, X, y, qid: ranker.fit(X, qid=qid), "no labels"),
        (lambda ranker, X, y, qid: ranker.fit(X[:, :0], y, qid=qid), "no features"),
        (lambda ranker, X, y, qid: ranker.fit(X, y[:-1], qid=qid), "labels"),
        (lambda ranker, X, y, qid: ranker.fit(data(), y), "its own labels"),
        (lambda ranker, X, y, qid: ranker.fit(X, y, qid=qid).predict(X[:, :2]), "features"),
        (lambda ranker, X, y, qid: ranker.fit(X, y, qid=qid, valid=(X[:, :2], y, qid)), "features"),
        (lambda ranker, X, y, qid: ranker.fit(X, y, qid=qid).score(X, y), "set_config"),
        (
            lambda ranker, X, y, qid: ranker.set_params(measure="ndgc").fit(X, y, qid=qid).score(data()),
            "ndgc",
        ),
    ],
)
def test_refusals(name: str, use: Any, message: str) -> None:
    with pytest.raises(rw.InputError, match=message):
        use(made(name), *given_rows(data()))


@learner
def test_says_where_it_comes_from(name: str) -> None:
    kind = learners.known()[name]
    assert issubclass(kind, Ranker) and kind.__doc__ and kind.__module__.startswith("rankwright.learners.")
    assert getattr(rw, name) is kind
