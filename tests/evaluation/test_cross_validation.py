"""Cross-validation by whole queries, ours and in scikit-learn's searches."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rankwright as rw
from rankwright.evaluation.evaluate import is_ours
from rankwright.learners.base import Ranker


@pytest.fixture
def arrays():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    qid = rng.integers(0, 25, 400)
    return X, np.clip(np.round(X[:, 0] + rng.normal(size=400)), 0, 4), qid


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


class Remembering(BaseEstimator):
    """Scores a row by its first feature, and remembers what it was fitted with."""

    def fit(self, X, y):
        self.seen_ = X, y
        return self

    def predict(self, X):
        return X[:, 0]


def test_each_query_is_tested_once_by_a_ranker_that_has_not_seen_it(arrays):
    X, y, qid = arrays
    queries = rw.QuerySet(X, y, qid=qid)
    result = rw.cross_validate(Remembering(), queries, ["ndcg@10", "map"], folds=4)
    assert sorted(result["map"].query_ids) == sorted(queries.query_ids)
    assert len(result.folds) == len(result.rankers) == 4
    for fold, ranker in zip(result.folds, result.rankers, strict=True):
        tested = queries.by_ids(fold["map"].query_ids)
        assert len(ranker.seen_[0]) + len(tested) == len(queries)
        seen = {row.tobytes() for row in ranker.seen_[0]}
        assert not seen & {row.tobytes() for row in tested.features}
    whole = rw.evaluate(X[:, 0].astype(np.float32), queries, "map")["map"]
    by_query = dict(zip(whole.query_ids, whole.per_query.tolist(), strict=True))
    again = dict(zip(result["map"].query_ids, result["map"].per_query.tolist(), strict=True))
    np.testing.assert_equal(again, by_query)
    assert result["map"].mean == whole.mean
    assert "means by fold" in str(result) and "  map: " in str(result)


def test_folds_made_elsewhere(arrays):
    X, y, qid = arrays
    queries = rw.QuerySet(X, y, qid=qid)
    pairs = list(queries.folds(3, random_state=5))
    one = rw.cross_validate(Remembering(), None, "map", folds=pairs)
    two = rw.cross_validate(Remembering(), queries, "map", folds=3, random_state=5)
    np.testing.assert_array_equal(one["map"].per_query, two["map"].per_query)
    with pytest.raises(rw.InputError, match="folds hold their own queries"):
        rw.cross_validate(Remembering(), queries, "map", folds=pairs)
    with pytest.raises(rw.InputError, match="there are no queries"):
        rw.cross_validate(Remembering(), None, "map")


def test_weights_and_documents_go_along(arrays):
    X, y, qid = arrays
    weights = {query: 1.0 + query for query in range(25)}
    names = [f"d{row}" for row in range(400)]
    queries = rw.QuerySet(X, y, qid=qid, query_weight=weights, documents=names)
    result = rw.cross_validate(Remembering(), queries, "map(ties=docid)", folds=2)
    whole = rw.evaluate(X[:, 0].astype(np.float32), queries, "map(ties=docid)")
    assert result["map(ties=docid)"].mean == pytest.approx(whole["map(ties=docid)"].mean, rel=1e-14)


def test_our_own_rankers_are_fitted_with_queries(arrays):
    from rankwright.learners.base import Ranker

    class Own(Ranker):
        def _fit(self, queries, valid):
            self.scorer_ = rw.LinearScorer(weights=[1.0, 0.0, 0.0])
            self.history_ = []

    X, y, qid = arrays
    queries = rw.QuerySet(X, y, qid=qid)
    assert is_ours(Own()) and not is_ours(Remembering())
    result = rw.cross_validate(Own(), queries, "map", folds=2)
    assert result["map"].mean == rw.evaluate(X[:, 0].astype(np.float32), queries, "map")["map"].mean


def test_query_k_fold_keeps_queries_whole(arrays):
    X, _, qid = arrays
    tests = []
    for train, test in rw.QueryKFold(4, random_state=1).split(X, groups=qid):
        assert not set(qid[train]) & set(qid[test])
        assert len(train) + len(test) == len(X)
        tests.append(test)
    np.testing.assert_array_equal(np.sort(np.concatenate(tests)), np.arange(len(X)))
    again = [test for _, test in rw.QueryKFold(4, random_state=1).split(X, groups=qid)]
    np.testing.assert_equal(again, tests)


def test_query_k_fold_is_that_of_query_sets(arrays):
    X, y, qid = arrays
    pairs = rw.QuerySet(X, y, qid=qid).folds(3, random_state=2)
    for (_, test), (_, held_out) in zip(rw.QueryKFold(3, 2).split(X, groups=qid), pairs, strict=True):
        assert set(qid[test]) == set(held_out.query_ids)


def test_query_k_fold_refuses(arrays):
    X, _, qid = arrays
    with pytest.raises(rw.InputError, match="groups is missing"):
        next(rw.QueryKFold().split(X))
    with pytest.raises(rw.InputError, match="26 folds of 25 queries cannot be made; give 2 to 25"):
        next(rw.QueryKFold(26).split(X, groups=qid))


@pytest.mark.parametrize("cv", [rw.QueryKFold(3), GroupKFold(3)])
def test_grid_search_with_a_measure(arrays, routing, cv):
    X, y, qid = arrays
    scorer = rw.make_scorer("ndcg@10")
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 1e4]}, scoring=scorer, cv=cv, error_score="raise")
    search.fit(X, y, qid=qid, groups=qid)
    for fold, (train, test) in enumerate(cv.split(X, groups=qid)):
        scores = Ridge(alpha=1e4).fit(X[train], y[train]).predict(X[test])
        expected = rw.evaluate(scores, y[test], "ndcg@10", qid=qid[test])["ndcg@10"].mean
        assert search.cv_results_[f"split{fold}_test_score"][1] == expected


class Own(Ranker):
    """Ranks by the first feature, and keeps the weights of the queries that it was fitted with."""

    def _fit(self, queries, valid):
        self.seen_ = queries.query_weight
        self.scorer_ = rw.LinearScorer(weights=[1.0, 0.0, 0.0])
        self.history_ = []


@pytest.mark.parametrize("scoring", [None, rw.make_scorer("ndcg@10")])
def test_weights_of_queries_reach_fit_and_score(arrays, routing, scoring):
    X, y, qid = arrays
    search = GridSearchCV(Own(), {}, scoring=scoring, cv=GroupKFold(3), error_score="raise")
    search.fit(X, y, qid=qid, groups=qid, query_weight=qid + 1.0)
    assert search.best_estimator_.seen_.tolist() == [query + 1.0 for query in dict.fromkeys(qid)]
    for fold, (_, test) in enumerate(GroupKFold(3).split(X, groups=qid)):
        queries = rw.QuerySet(X[test], y[test], qid=qid[test], query_weight=qid[test] + 1.0)
        expected = rw.evaluate(X[test, 0], queries, "ndcg@10")["ndcg@10"].mean
        assert search.cv_results_[f"split{fold}_test_score"][0] == pytest.approx(expected, rel=1e-12)


def test_pipelines_score(arrays, routing):
    X, y, qid = arrays
    pipeline = make_pipeline(StandardScaler(), Own()).fit(X, y, qid=qid)
    assert pipeline.score(X, y, qid=qid) == Own().fit(X, y, qid=qid).score(X, y, qid=qid)
    with pytest.raises(rw.InputError, match="ndcg@10 has no weights of documents; leave sample_weight out"):
        pipeline[-1].score(X, y, qid=qid, sample_weight=np.ones(len(y)))


def test_cross_val_score_with_our_own_ranker(arrays, routing):
    X, y, qid = arrays
    means = cross_val_score(
        Own(), X, y, scoring=rw.make_scorer("map"), cv=rw.QueryKFold(3), params={"qid": qid, "groups": qid}
    )
    assert len(means) == 3 and (means > 0.3).all()


def test_without_routing_the_error_names_the_line_to_add(arrays):
    X, y, _ = arrays
    with pytest.raises(rw.InputError, match=r"sklearn.set_config\(enable_metadata_routing=True\)"):
        rw.make_scorer("map")(Ridge().fit(X, y), X, y)
