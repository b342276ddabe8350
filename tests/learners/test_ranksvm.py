import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from tests.naive import margins as naive

import rankwright as rw
from rankwright.learners.ranksvm import RankSVM


def data(queries=4, documents=7, seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((queries * documents, 3)).astype(np.float32)
    y = np.digitize(X[:, 0] + 0.5 * random.standard_normal(len(X)), [-0.5, 0.7]).astype(float)
    return X, y, np.repeat(np.arange(queries), documents)


def pairs(X, y, qid):
    """The differences of all pairs."""
    X, rows = X.astype(float), range(len(y))
    return np.array([X[i] - X[j] for i in rows for j in rows if qid[i] == qid[j] and y[i] > y[j]], float)


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_hinge_against_the_dual_of_all_pairs(C):
    X, y, qid = data()
    differences = pairs(X, y, qid)
    best, w = naive.hinge_optimum(differences, np.full(len(differences), C / len(differences)))
    ranker = RankSVM(C=C, tol=1e-6, scaling=None).fit(X, y, qid=qid)
    assert ranker.certificate_["primal"] == pytest.approx(best, rel=2e-6)
    np.testing.assert_allclose(ranker.scorer_.weights, w, atol=2e-3 * np.abs(w).max())


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_squared_hinge_against_all_pairs(C):
    X, y, qid = data()
    differences = pairs(X, y, qid)

    def primal(w):
        return 0.5 * w @ w + C * (np.maximum(0, 1 - differences @ w) ** 2).mean()

    ranker = RankSVM(C=C, tol=1e-6, scaling=None, loss="squared_hinge").fit(X, y, qid=qid)
    assert ranker.certificate_["primal"] == pytest.approx(minimize(primal, np.zeros(3)).fun, rel=2e-6)
    assert ranker.certificate_["primal"] == pytest.approx(primal(ranker.scorer_.weights), rel=1e-9)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_weights(loss):
    """A query of weight 2 is one given twice; so are pairs by their documents' weights."""
    X, y, qid = data(2)
    twice = np.concatenate([np.arange(14), np.arange(7)])
    made = lambda: RankSVM(scaling=None, tol=1e-6, loss=loss)  # noqa: E731
    weighed = made().fit(X, y, qid=qid, query_weight=[2, 1])
    doubled = made().fit(X[twice], y[twice], qid=np.append(qid, np.full(7, 9)))
    assert weighed.certificate_["primal"] == pytest.approx(doubled.certificate_["primal"], rel=1e-5)
    by_document = made().fit(X, y, qid=qid, sample_weight=np.where(qid == 0, np.sqrt(2), 1))
    assert by_document.certificate_["primal"] == pytest.approx(weighed.certificate_["primal"], rel=1e-5)


def test_millions_of_pairs():
    random = np.random.default_rng(0)
    X = random.standard_normal((20_000, 5))
    y = np.digitize(X @ [1, 1, 0, 0, 0] + random.standard_normal(20_000), [-1, 0, 1])
    ranker = RankSVM(C=1.0, measure="pairs").fit(X, y, qid=np.repeat(np.arange(4), 5000))
    assert ranker.scorer_.training["pairs"] > 3e7 and ranker.certificate_["gap"] <= 1e-3
    w = ranker.scorer_.weights
    assert min(w[:2]) > 5 * abs(w[2:]).max()


def test_queries_without_pairs_are_counted():
    X, y, qid = data()
    y[:7] = 1
    assert RankSVM().fit(X, y, qid=qid).scorer_.training["left_out"] == 1


def test_a_path_over_C_keeps_the_best_on_valid():
    X, y, qid = data(12, 10)
    valid = data(6, 10, seed=5)
    ranker = RankSVM(C=[10.0, 0.001, 0.1], measure="pairs").fit(
        X, y, qid=qid, valid=valid, progress=(told := []).append
    )
    assert told == ranker.history_
    ends = [record for record in ranker.history_ if "ended" in record]
    assert [record["C"] for record in ends] == [0.001, 0.1, 10.0]
    best = max(ends, key=lambda record: record["valid"])
    assert ranker.certificate_["C"] == best["C"]
    assert ranker.score(*valid[:2], qid=valid[2]) == pytest.approx(best["valid"])
    alone = RankSVM(C=best["C"], measure="pairs").fit(X, y, qid=qid)
    assert alone.certificate_["primal"] == pytest.approx(ranker.certificate_["primal"], rel=1e-3)


def test_early_stopping_ends_the_path():
    X, y, qid = data()
    ranker = RankSVM(C=[1e-6, 2e-6, 3e-6, 4e-6, 5e-6], early_stopping_rounds=2)
    ranker.fit(X, y, qid=qid, valid=(X, y, qid))
    assert sum("ended" in record for record in ranker.history_) == 3
    assert ranker.certificate_["C"] == 1e-6


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_an_end_before_the_gap_is_a_warning(loss):
    X, y, qid = data()
    with pytest.warns(ConvergenceWarning, match="max_iter=2 ended it") as told:
        RankSVM(C=1e4, max_iter=2, loss=loss).fit(X, y, qid=qid)
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RankSVM(C=1.0, loss=loss).fit(X, y, qid=qid)


def test_what_is_not_linear():
    random = np.random.default_rng(0)
    X = random.standard_normal((60, 2))
    y, qid = ((X**2).sum(axis=1) > 1.5).astype(float), np.repeat(np.arange(6), 10)
    curved = RankSVM(kernel="rbf", gamma=0.5, measure="auc", n_components=40).fit(X, y, qid=qid)
    assert curved.score(X, y, qid=qid) > 0.95 > RankSVM(measure="auc").fit(X, y, qid=qid).score(X, y, qid=qid)
    assert isinstance(curved.scorer_, rw.KernelScorer)


@pytest.mark.parametrize(
    ("settings", "y", "message"),
    [
        ({"C": 0}, None, "C is 0"),
        ({"C": -1.0}, None, "C is -1"),
        ({"C": [1.0, float("nan")]}, None, "above 0, or several"),
        ({"C": "1"}, None, "C is '1'"),
        ({"C": True}, None, "C is True"),
        ({"C": []}, None, "C is empty"),
        ({"C": [1, 2]}, None, "nothing says which is best"),
        ({"tol": 0}, None, "tol"),
        ({"tol": "x"}, None, "tol"),
        ({"max_iter": 0}, None, "max_iter"),
        ({"max_iter": True}, None, "max_iter"),
        ({"early_stopping_rounds": 1.5}, None, "early_stopping_rounds"),
        ({"scaling": "log"}, None, "scaling is 'log'"),
        ({"loss": "log"}, None, "loss is 'log'"),
        ({"kernel": "cosine"}, None, "no kernel 'cosine'"),
        ({"kernel": "rbf", "n_components": 0}, None, "n_components"),
        ({}, [1, 1], "no pairs"),
    ],
)
def test_refuses_what_it_cannot_use(settings, y, message):
    with pytest.raises(rw.InputError, match=message):
        RankSVM(**settings).fit([[1], [2]], y or [0, 1], qid=[0, 0])
