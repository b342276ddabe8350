"""PRank against its box, its mistake bound, its kernels and their bounded support."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import networks
from tests.naive import perceptrons as naive

import rankwright as rw
from rankwright.learners.perceptrons import corrected, level_at
from rankwright.learners.prank import Support, add_support, kernel_prank_epoch, prank_epoch
from rankwright.scorers.quadratic import combinations

WHOLE = st.integers(-3, 3)


@st.composite
def documents(draw, k=None):
    """Rows of small whole numbers, which leave no rounding, with a level each."""
    levels = k or draw(st.integers(2, 4))
    d, n = draw(st.integers(1, 3)), draw(st.integers(1, 12))
    X = draw(st.lists(st.lists(WHOLE, min_size=d, max_size=d), min_size=n, max_size=n))
    y = draw(st.lists(st.integers(1, levels), min_size=n, max_size=n))
    return np.array(X, np.float32), np.array(y, np.int64), levels


def as_given(X, y):
    return [(x.astype(float).tolist(), int(level)) for x, level in zip(X, y, strict=True)]


@given(documents(), st.booleans(), st.booleans())
@settings(max_examples=60)
def test_an_epoch_is_the_papers_box(given_documents, full, weighted):
    X, y, k = given_documents
    weights = np.arange(len(y)) % 3 + 1.0 if weighted else np.ones(len(y))
    w, b = np.zeros(combinations(X.shape[1]) if full else X.shape[1]), np.zeros(k - 1)
    loss = prank_epoch(np.arange(len(y)), X, y - 1, weights, w, b)
    image = naive.quadratic if full else list
    made, bounds, losses = naive.prank([(image(x), level) for x, level in as_given(X, y)], k, weights)
    assert np.array_equal(w, naive.as_weights(made, len(w)))
    assert b.tolist() == bounds and loss == sum(losses)
    if not weighted:
        assert (np.diff(b) >= 0).all()  # Lemma 1: thresholds stay in order


@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(1, 4))
@settings(max_examples=60)
def test_the_mistake_bound_holds(seed, k, d):
    """Theorem 2: where (w*, b*) of length 1 tells levels apart by γ, Σ|ŷ − y| ≤ (k − 1)(R² + 1) / γ²."""
    random = np.random.default_rng(seed)
    ideal = random.standard_normal(d + k - 1)
    ideal[d:].sort()
    ideal /= np.linalg.norm(ideal)
    X = random.standard_normal((80, d)).astype(np.float32)
    distances = X.astype(float) @ ideal[:d, None] - ideal[d:]
    y = (distances > 0).sum(axis=1)
    margin, radius = np.abs(distances).min(), np.sqrt((X.astype(float) ** 2).sum(axis=1).max())
    w, b, total = np.zeros(d), np.zeros(k - 1), 0
    for _ in range(20):
        total += prank_epoch(np.arange(80), X, y, np.ones(80), w, b)
    assert total <= (k - 1) * (radius**2 + 1) / margin**2


@pytest.mark.parametrize("function", ["rbf", "polynomial"])
def test_with_kernels(function):
    random = np.random.default_rng(0)
    X, y, k = random.standard_normal((40, 3)).astype(np.float32), random.integers(1, 4, 40), 3
    support, b = empty_support(X, 40, function == "rbf"), np.zeros(k - 1)
    order = np.concatenate([np.arange(40), np.arange(40)])
    loss = kernel_prank_epoch(order, X, y - 1, np.ones(40), support, b)
    product = lambda x, z: networks.kernel_value(function, 0.5, 2, x, z)  # noqa: E731
    twice = [as_given(X, y)[i] for i in order]
    made, bounds, losses = naive.prank(twice, k, product=product)
    assert loss == sum(losses) and b.tolist() == bounds
    count = int(support.size[0])
    expected = {i: sum(a for a, x in made if x == X[i].astype(float).tolist()) for i in range(40)}
    found = dict(zip(support.members[:count].tolist(), support.alphas[:count].tolist(), strict=True))
    assert found == {i: a for i, a in expected.items() if i in found or a != 0}


def empty_support(X, most, rbf=True):
    squares = (X.astype(float) ** 2).sum(axis=1)
    lengths = np.ones(len(X)) if rbf else 0.5 * squares + 1.0
    return Support(
        np.zeros(1, np.int64), np.zeros(most, np.int64), np.zeros(most), squares, lengths, rbf, 0.5, 2
    )


def test_the_support_stays_in_bounds():
    """The one that weighs least goes, the oldest of these first; one that is there already grows."""
    support = empty_support(np.zeros((9, 1), np.float32), 3)
    for i, amount in [(4, 2.0), (7, -1.0), (1, 1.0), (7, -2.0), (5, 1.0), (2, -1.0)]:
        add_support(i, amount, support)
    assert support.members.tolist() == [4, 7, 2] and support.alphas.tolist() == [2.0, -3.0, -1.0]
    X, y, qid = data()
    ranker = rw.PRank(form="rbf", n_components=15, epochs=3, measure="auc").fit(X, y, qid=qid)
    assert len(ranker.scorer_.coefficients) <= 15


def data(queries=8, size=8, seed=0):
    """Relevant far from the origin: no linear score tells."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((queries * size, 2)).astype(np.float32)
    return X, np.digitize((X**2).sum(axis=1), [1.0, 3.0]).astype(float), np.repeat(np.arange(queries), size)


@pytest.mark.parametrize("form", ["quadratic", "rbf", "polynomial"])
def test_curved_forms_learn_what_no_linear_one_can(form):
    X, y, qid = data()
    curved = rw.PRank(form=form, measure="pairs", epochs=40).fit(X, y, qid=qid)
    assert (
        curved.score(X, y, qid=qid) > 0.9 > rw.PRank(measure="pairs").fit(X, y, qid=qid).score(X, y, qid=qid)
    )


def test_the_best_epoch_is_kept_and_an_error_that_stays_the_same_ends():
    X, _, qid = data(seed=3)
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    held = rw.QuerySet(X[:32], y[:32], qid=qid[:32])
    told = []
    ranker = rw.PRank(unchanged_epochs=4).fit(X, y, qid=qid, valid=held, progress=told.append)
    assert told == ranker.history_
    assert len(ranker.history_) < 100 and [r["error"] for r in ranker.history_[-5:]] == [0.0] * 5
    assert ranker.score(held) == max(record["valid"] for record in ranker.history_)
    assert (ranker.levels(X) == y).mean() > 0.95 and len(ranker.thresholds_) == 2
    assert ranker.scorer_.training["thresholds"] == ranker.thresholds_.tolist()
    assert len(rw.PRank(unchanged_epochs=None, epochs=30).fit(X, y, qid=qid).history_) == 30


def test_unjudged_documents_and_those_of_no_weight_teach_nothing():
    X, y, qid = data()
    y[3] = np.nan
    weights = np.ones(len(y))
    weights[5] = 0
    queries = rw.QuerySet(X, y, qid=qid, sample_weight=weights)
    ranker = rw.PRank(epochs=2, standardise=False).fit(queries)
    other = y.copy()
    other[5] = 2 - other[5]
    again = rw.PRank(epochs=2, standardise=False).fit(rw.QuerySet(X, other, qid=qid, sample_weight=weights))
    assert [r["error"] for r in ranker.history_] == [r["error"] for r in again.history_]


def test_levels_lie_between_thresholds():
    thresholds = np.array([0.0, 1.5])
    assert [level_at(score, thresholds) for score in (-1.0, 0.0, 1.0, 1.5, 9.0)] == [0, 1, 1, 2, 2]
    assert corrected(0.5, 1, 1.0, thresholds) == (0.0, 0)
    assert corrected(2.0, 0, 1.0, thresholds) == (-2.0, 2) and thresholds.tolist() == [1.0, 2.5]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"form": "cubic"}, "form"),
        ({"epochs": 0}, "epochs"),
        ({"unchanged_epochs": 0.5}, "unchanged_epochs"),
        ({"form": "rbf", "gamma": -1}, "gamma"),
        ({"n_components": 0}, "n_components"),
    ],
)
def test_refusals(changes, message):
    with pytest.raises(rw.InputError, match=message):
        rw.PRank(**changes).fit([[1], [2]], [0, 1], qid=0)
    with pytest.raises(rw.InputError, match="no levels"):
        rw.PRank().fit([[1], [2]], [1, 1], qid=0)
