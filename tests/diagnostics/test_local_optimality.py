import dataclasses
import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import diagnostics as naive

import rankwright as rw
from rankwright.diagnostics import confidence, directions_needed, local_optimality
from rankwright.diagnostics.moves import moves
from rankwright.runtime.errors import InputError
from rankwright.scorers import LinearScorer, NetworkScorer, Standardising


def planted(rng, noise=0.0, n_queries=6, n=6, d=3):
    """Labels that a linear model makes, and that model."""
    features, weights = rng.normal(size=(n_queries * n, d)).astype(np.float32), rng.normal(size=d)
    exact = features @ weights + noise * rng.normal(size=len(features))
    labels = np.digitize(exact, np.quantile(exact, [0.5, 0.8]))
    qid = rng.permutation(np.repeat(np.arange(n_queries), n))
    return rw.QuerySet(features, labels, qid=qid), weights


def net(rng, *sizes):
    pairs = itertools.pairwise(sizes)
    return NetworkScorer([(rng.normal(size=(b, a)), rng.normal(size=b)) for a, b in pairs])


@given(st.floats(0.001, 0.5), st.floats(0.001, 0.5))
def test_as_many_directions_as_equation_9_asks_for(p0, delta):
    n = directions_needed(p0, delta)
    assert confidence(n, p0) >= 1 - delta - 1e-12
    assert confidence(n - 1, p0) < 1 - delta + 1e-12


def test_the_papers_459():
    assert directions_needed() == 459
    assert math.log(0.01) / math.log(0.99) == pytest.approx(458.2, abs=0.05)


@pytest.mark.parametrize("sizes", [(3, 1), (3, 4, 1), (3, 3, 2, 1)])
@settings(max_examples=5)
@given(seed=st.integers(0, 1000))
def test_scores_along_directions_are_those_of_the_moved_net(sizes, seed):
    rng = np.random.default_rng(seed)
    queries, _ = planted(rng)
    scorer = net(rng, *sizes)
    moved = moves(scorer, queries)
    directions, steps = rng.normal(size=(2, len(moved.weights))), np.array([-0.3, 0.0, 1.0])
    found = moved.scores(directions, steps)
    for m, way in enumerate(directions):
        for s, step in enumerate(steps):
            again = moved.at(moved.weights + step * way)
            slow = [naive.net_score(again.layers, row) for row in queries.features.tolist()]
            np.testing.assert_allclose(found[m, s], slow, rtol=1e-5, atol=1e-6)


def test_linear_models_are_nets_without_hidden_layers():
    rng = np.random.default_rng(1)
    queries, weights = planted(rng)
    transform = Standardising.of(queries.features)
    linear = LinearScorer(weights, bias=0.3, transform=transform)
    layered = NetworkScorer([(weights[None, :], [0.3])], transform=transform)
    one, two = (local_optimality(each, queries, n_directions=3) for each in (linear, layered))
    np.testing.assert_array_equal(one.along, two.along)
    assert isinstance(one.best_scorer(), LinearScorer) and isinstance(two.best_scorer(), NetworkScorer)
    assert one.best_scorer().transform is transform


def test_documents_that_tie_keep_their_tie_wherever_the_weights_go():
    rng = np.random.default_rng(2)
    row = rng.normal(size=(1, 5)).astype(np.float32)
    filler = rng.normal(size=(293, 5)).astype(np.float32)
    features = np.concatenate([row, filler[:200], row, filler[200:], row])
    queries = rw.QuerySet(features, np.zeros(len(features)), qid=1)
    for scorer in (LinearScorer(rng.normal(size=5)), net(rng, 5, 4, 1)):
        moved = moves(scorer, queries, n_jobs=2)
        scores = moved.scores(rng.normal(size=(3, len(moved.weights))), np.array([0.1, 0.7]))
        np.testing.assert_array_equal(scores[..., 0], scores[..., 201])
        np.testing.assert_array_equal(scores[..., 0], scores[..., -1])


def test_the_measure_at_rest_is_the_models_own():
    rng = np.random.default_rng(3)
    queries, weights = planted(rng, noise=0.5)
    for scorer in (LinearScorer(weights), net(rng, 3, 4, 1)):
        found = local_optimality(scorer, queries, "map(threshold=2)", n_directions=2)
        assert found.start == rw.evaluate(scorer, queries, "map(threshold=2)")["map(threshold=2)"].mean


def test_a_perfect_model_is_at_an_optimum_and_random_weights_are_not():
    rng = np.random.default_rng(4)
    queries, weights = planted(rng)
    perfect = local_optimality(LinearScorer(weights), queries, n_directions=30)
    assert perfect.start == 1.0 and perfect.is_optimum
    assert perfect.best[0] == 1.0 and perfect.best[1] is perfect.weights
    assert perfect.confidence == confidence(30) > 0.25
    assert "a local optimum, as far as was tried" in str(perfect)
    # 2009's Figure 6.
    lost = local_optimality(LinearScorer(-weights + rng.normal(size=3)), queries, n_directions=30)
    assert not lost.is_optimum and lost.confidence == 0.0
    assert "not a local optimum" in str(lost)
    value, better = lost.best
    assert value > lost.start
    assert rw.evaluate(lost.best_scorer(), queries)["ndcg@10"].mean == value
    np.testing.assert_array_equal(moves(lost.best_scorer(), queries).weights, better)


def test_single_weights_may_rise_where_no_direction_does():
    # Two features, and only the second, moved alone and far, tells the documents apart.
    queries = rw.QuerySet([[1.0, 0.0], [0.99, 1.0]], [0, 1], qid=1)
    found = local_optimality(LinearScorer([1.0, 0.0]), queries, n_directions=1, steps=[0.005], relative=False)
    assert not found.ascents.any() and not found.alone_ascents.any()
    found = local_optimality(
        LinearScorer([1.0, 0.0]),
        queries,
        n_directions=1,
        steps=[0.005, 0.0105],
        relative=False,
        random_state=1,
    )
    assert found.is_optimum is not found.alone_ascents.any()
    assert found.alone_ascents.any(axis=1).tolist() == [False, True, False]
    assert found.alone_steps.tolist() == [-0.0105, -0.005, 0.005, 0.0105]
    assert not found.ascents.any() and "but single weights do" in str(found)
    assert found.best[1].tolist() == [1.0, 0.0105, 0.0]


def test_the_offset_and_the_scale_of_the_output_tie():
    rng = np.random.default_rng(5)
    queries, weights = planted(rng, noise=1.0)
    for scorer, last in ((LinearScorer(weights, bias=0.1), 3), (net(rng, 3, 4, 1), 4)):
        found = local_optimality(scorer, queries, n_directions=1)
        assert (found.alone[-1] == found.start).all()
        moved = moves(scorer, queries)
        scale = np.zeros(len(moved.weights))
        scale[-1 - last : -1] = moved.weights[-1 - last : -1]
        for scores in moved.scores(scale[None, :], np.array([0.1, 1.0, 7.0]))[0]:
            assert rw.evaluate(queries.in_given_order(scores), queries)["ndcg@10"].mean == found.start


def test_relative_steps_do_not_see_the_models_scale():
    rng = np.random.default_rng(6)
    queries, weights = planted(rng, noise=1.0)
    one, two = (local_optimality(LinearScorer(c * weights), queries, n_directions=5) for c in (1.0, 64.0))
    np.testing.assert_array_equal(one.along, two.along)
    np.testing.assert_array_equal(one.alone, two.alone)
    assert two.unit == 64 * one.unit
    absolute = local_optimality(LinearScorer(64 * weights), queries, n_directions=5, relative=False)
    assert np.abs(absolute.along - absolute.start).max() < np.abs(one.along - one.start).max()


def test_any_number_of_threads_gives_the_same():
    rng = np.random.default_rng(7)
    queries, _ = planted(rng, noise=1.0)
    scorer = net(rng, 3, 4, 1)
    one, two = (local_optimality(scorer, queries, n_directions=4, n_jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one.along, two.along)


@dataclasses.dataclass
class Shown:
    """A scorer of somebody else's that shows its weights."""

    weights: np.ndarray

    def weights_vector(self):
        return self.weights

    def with_weights(self, vector):
        return Shown(vector)

    def predict(self, queries):
        return queries.in_given_order(queries.features @ self.weights)


def test_any_scorer_that_shows_its_weights():
    rng = np.random.default_rng(8)
    queries, weights = planted(rng, noise=1.0)
    found = local_optimality(Shown(weights), queries, n_directions=5)
    directions = np.column_stack([found.directions, np.zeros(5)])
    moved = moves(LinearScorer(weights), queries)
    expected = moved.scores(directions, found.unit * found.steps)
    for d in range(5):
        for s in range(10):
            value = rw.evaluate(queries.in_given_order(expected[d, s]), queries)["ndcg@10"].mean
            assert found.along[d, s] == pytest.approx(value)
    assert isinstance(found.best_scorer(), Shown)


def test_the_report_fits_and_is_plain_data():
    rng = np.random.default_rng(9)
    queries, weights = planted(rng, noise=1.0)
    for relative in (True, False):
        found = local_optimality(LinearScorer(weights), queries, n_directions=5, relative=relative)
        assert max(len(line) for line in str(found).splitlines()) <= 80
        read = json.loads(json.dumps(found.as_dict(curves=2)))
        assert len(read["curves"]) == 2 and read["curves"][0] == [found.start, *found.along[0]]
    small = local_optimality(LinearScorer(weights), queries, n_directions=5, every_weight=False)
    assert small.alone.shape == (0, 20) and "alone" not in str(small)


def test_the_models_own_measure_is_the_default():
    queries, weights = planted(np.random.default_rng(10), noise=1.0)
    assert str(local_optimality(LinearScorer(weights), queries, n_directions=1).measure) == "ndcg@10"
    told = LinearScorer(weights, measure="mrr")
    assert str(local_optimality(told, queries, n_directions=1).measure) == "mrr"
    assert str(local_optimality(told, queries, "p@3", n_directions=1).measure) == "p@3"


def test_bad_input_is_named():
    rng = np.random.default_rng(11)
    queries, weights = planted(rng)
    good = LinearScorer(weights)
    with pytest.raises(InputError, match="object has no weights to move"):
        moves(type("object", (), {"predict": lambda self, queries: None})(), queries)
    with pytest.raises(InputError, match="ndarray has no weights to move"):
        moves(np.zeros(3), queries)
    for steps in ([], [0.0], [math.nan], 0.1, "far"):
        with pytest.raises(InputError, match="steps are"):
            local_optimality(good, queries, steps=steps)
    for n in (0, 2.5, "all"):
        with pytest.raises(InputError, match=f"n_directions is {n!r}"):
            local_optimality(good, queries, n_directions=n)
    with pytest.raises(InputError, match="delta is '1'; give a share"):
        local_optimality(good, queries, n_directions=1, delta="1")
    with pytest.raises(InputError, match=r"p0 is 1\.5; give a share"):
        local_optimality(good, queries, p0=1.5)
    with pytest.raises(InputError, match="all weights are 0"):
        local_optimality(LinearScorer([0.0, 0.0, 0.0]), queries)
    for labels in ([0, 0], [1, 1]):
        with pytest.raises(InputError, match="is the same however these documents are ordered"):
            local_optimality(LinearScorer([1.0]), rw.QuerySet([[1.0], [2.0]], labels, qid=1), n_directions=1)
    with pytest.raises(InputError, match="feature 1 is missing in some rows"):
        data = rw.QuerySet([[1.0, math.nan], [2.0, 1.0]], [0, 1], qid=1)
        local_optimality(LinearScorer([1.0, 0.0]), data, n_directions=1)
    with pytest.raises(InputError, match="no labels"):
        local_optimality(LinearScorer([1.0]), rw.QuerySet([[1.0]], qid=1))
