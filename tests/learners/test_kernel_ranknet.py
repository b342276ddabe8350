import numpy as np
import pytest
import scipy.optimize
from tests.naive import networks as naive

import rankwright as rw
from rankwright.learners.kernel_ranknet import KernelRankNet


def data(queries=4, documents=6, seed=0):
    """Relevant far from the origin: no linear score tells."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((queries * documents, 2)).astype(np.float32)
    y = np.digitize((X**2).sum(axis=1), [1.0, 3.0]).astype(float)
    return X, y, np.repeat(np.arange(queries), documents)


def all_pairs(y, qid, ties=False):
    found = []
    for query in np.unique(qid):
        rows = np.flatnonzero(qid == query)
        found += [(rows[i], rows[j], t) for i, j, t in naive.pairs_of(y[rows], ties)]
    return found


@pytest.mark.parametrize(("kernel", "gamma"), [("rbf", 0.7), ("polynomial", 0.4)])
@pytest.mark.parametrize("ties", ["out", "half"])
def test_with_all_documents_as_centres_it_is_equation_18(kernel, gamma, ties):
    X, y, qid = data()
    ranker = KernelRankNet(
        kernel=kernel, gamma=gamma, degree=2, n_components=1000, regularization=0.3, ties=ties, sigma=1.5,
        standardise=False,
    ).fit(X, y, qid=qid)  # fmt: skip
    matrix = np.array(
        [[naive.kernel_value(kernel, gamma, 2, x, z) for z in X.astype(float)] for x in X.astype(float)]
    )
    pairs = all_pairs(y, qid, ties == "half")
    best = scipy.optimize.minimize(
        naive.kernel_objective, np.zeros(len(X)), (matrix, pairs, 0.3, 1.5), options={"gtol": 1e-7}
    )
    assert ranker.history_[-1]["objective"] == pytest.approx(best.fun, rel=1e-5)
    expected, found = matrix @ best.x, ranker.predict(X)
    np.testing.assert_allclose(found - found.mean(), expected - expected.mean(), atol=5e-3)
    assert (np.diff([record["objective"] for record in ranker.history_]) <= 1e-3).all()


def test_fewer_centres_come_near_it():
    X, y, qid = data(15, 8)
    objectives = [
        KernelRankNet(n_components=n, measure="pairs").fit(X, y, qid=qid).history_[-1]["objective"]
        for n in (10, 40, 120)
    ]
    assert objectives[0] > objectives[1] > objectives[2] * 0.999
    assert objectives[1] < 1.05 * objectives[2]


def test_learns_what_no_linear_net_can():
    X, y, qid = data(15, 8)
    curved = KernelRankNet(n_components=60, measure="pairs").fit(X, y, qid=qid).score(X, y, qid=qid)
    assert curved > 0.95 > rw.RankNet(hidden=0, measure="pairs").fit(X, y, qid=qid).score(X, y, qid=qid)


def test_preferences_in_the_place_of_labels():
    X, _, qid = data(2, 4)
    ranker = KernelRankNet(regularization=0.01).fit(X, qid=qid, preferences=[(0, 3), (6, 5), (1, 2, 0.5)])
    scores = ranker.predict(X)
    assert scores[0] > scores[3] and scores[6] > scores[5]


def test_weights():
    X, y, qid = data(2, 6)
    twice = np.concatenate([np.arange(12), np.arange(6)])
    again = KernelRankNet(standardise=False, n_components=12).fit(X, y, qid=qid, query_weight=[2, 1])
    doubled = KernelRankNet(standardise=False, n_components=18)
    doubled.fit(X[twice], y[twice], qid=np.concatenate([qid, np.full(6, 9)]))
    assert again.history_[-1]["objective"] == pytest.approx(doubled.history_[-1]["objective"], rel=1e-5)


def test_a_document_comes_back_from_its_file(tmp_path):
    X, y, qid = data(3, 6)
    for kernel in ("rbf", "polynomial"):
        ranker = KernelRankNet(kernel=kernel).fit(X, y, qid=qid)
        ranker.save(tmp_path / "kernel.rw")
        assert np.array_equal(rw.load(tmp_path / "kernel.rw").predict(X), ranker.predict(X))


def test_progress_is_told():
    X, y, qid = data()
    told = []
    ranker = KernelRankNet(max_iter=3).fit(X, y, qid=qid, progress=told.append)
    assert told == ranker.history_ and len(told) == 3


@pytest.mark.parametrize(
    ("settings", "y", "message"),
    [
        ({}, [1, 1], "no pairs"),
        ({"kernel": "sigmoid"}, None, "no kernel"),
        ({"gamma": 0}, None, "gamma"),
        ({"degree": 0}, None, "degree"),
        ({"n_components": 0}, None, "n_components"),
        ({"n_components": 2.5}, None, "n_components"),
        ({"regularization": 0}, None, "regularization"),
        ({"regularization": float("nan")}, None, "regularization"),
        ({"max_iter": None}, None, "max_iter"),
        ({"tol": "1"}, None, "tol"),
        ({"ties": "all"}, None, "ties"),
    ],
)
def test_refuses_what_it_cannot_use(settings, y, message):
    with pytest.raises(rw.InputError, match=message):
        KernelRankNet(**settings).fit([[1], [2]], y or [0, 1], qid=[0, 0])
