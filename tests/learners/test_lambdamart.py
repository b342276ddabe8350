"""LambdaMART against its box, tree by tree, and what theory says of it."""

from __future__ import annotations

import itertools
import os
from typing import Any

import numpy as np
import pytest
from tests.naive import boosting as naive
from tests.naive import lambdas as naive_lambdas
from tests.naive import measures as naive_measures
from tests.naive import softmax_lists as naive_listwise
from tests.naive import trees as naive_trees

import rankwright as rw
from rankwright.learners.boosting import seed_of
from rankwright.learners.lambdamart import CrossEntropy, LambdaMART, MeasureLambdas

JIT_OFF = os.environ.get("NUMBA_DISABLE_JIT") == "1"
SMALL = {"max_leaf_nodes": 5, "min_samples_leaf": 3, "n_estimators": 4, "learning_rate": 0.3}


def data(seed: int, sizes: Any = (12, 9, 15), n_features: int = 4, **weights: Any) -> rw.QuerySet:
    """Random queries, whose labels go with the first two features."""
    random = np.random.default_rng(seed)
    n = sum(sizes)
    X = random.normal(size=(n, n_features)).astype(np.float32)
    y = np.clip(np.round(X[:, 0] + 0.5 * X[:, 1] + 0.7 * random.normal(size=n) + 0.7), 0, 4)
    return rw.QuerySet(X, y, qid=np.repeat(np.arange(len(sizes)), sizes), **weights)


def queries_of(data: rw.QuerySet) -> list[range]:
    bounds = data.offsets.tolist()
    return [range(bounds[q], bounds[q + 1]) for q in range(len(bounds) - 1)]


def change_by(measured: Any, k: int | None) -> Any:
    def change(labels: Any, i: int, j: int) -> float:
        gain = naive_measures.swap_gain(measured, list(labels), i, j, k)
        return 0.0 if gain is None else float(gain)

    return change


def trees_of(scorer: Any) -> list[tuple[Any, Any, Any]]:
    """Features, thresholds and values of each tree."""
    trees, found = scorer.trees, []
    for t in range(scorer.n_trees):
        nodes = slice(*trees.first_node[t : t + 2])
        leaves = slice(*trees.first_leaf[t : t + 2])
        found.append((trees.feature[nodes], trees.threshold[nodes], trees.values[leaves, 0]))
    return found


MEASURES = {
    "ndcg": change_by(naive_measures.ndcg(), None),
    "ndcg@3": change_by(naive_measures.ndcg(), 3),
    "map": change_by(naive_measures.average_precision(), None),
    "ranknet": lambda labels, i, j: 1.0,
}


@pytest.mark.parametrize("measure", MEASURES)
def test_paper_mode_is_the_box_tree_by_tree(measure: str) -> None:
    """Features and thresholds exactly, leaf values to what λ's in single precision leave of them.

    Until two splits are as good, or two scores as high, within 1 in 10,000: what follows may then differ.
    """
    settings: Any = {"max_leaf_nodes": 4, "min_samples_leaf": 4, "n_estimators": 3, "learning_rate": 0.3}
    compared = 0
    for seed in range(3 if JIT_OFF else 12):
        queries = data(seed, (14, 11, 17), 3)
        X, sigma = queries.features, (1.0, 2.5)[seed % 2]
        bounds = [naive_trees.equal_weight_bounds(column, 255) for column in X.T]
        bins = np.array([[naive_trees.bin_of(v, b) for v, b in zip(x, bounds, strict=True)] for x in X])
        expected, scores = naive.lambdamart(
            bins, queries.labels, queries_of(queries), MEASURES[measure], steps=3, rate=0.3, sigma=sigma,
            options=naive_trees.Options(leaves=4, min_rows=4),
        )  # fmt: skip
        # (A truncation is for the other mode.)
        if measure != "ranknet":
            settings |= {"measure": measure, "truncation": 1}
        ranker = LambdaMART(
            mode="paper", loss="ranknet" if measure == "ranknet" else "lambda", sigma=sigma, **settings
        ).fit(queries)
        for (feature, threshold, values), tree in zip(trees_of(ranker.scorer_), expected, strict=True):
            if tree.margin < 1e-4:
                break
            assert feature.tolist() == [split.feature for split in tree.splits]
            assert threshold.tolist() == [bounds[split.feature][max(split.left) - 1] for split in tree.splits]
            np.testing.assert_allclose(values, tree.values, rtol=1e-3, atol=1e-5)
            compared += 1
        else:
            np.testing.assert_allclose(ranker.predict(queries), scores, rtol=1e-3, atol=1e-5)
    assert compared >= (5 if JIT_OFF else 20), compared


def test_the_letter_of_the_box_would_train_the_reverse_ranker() -> None:
    """With λ = ∂C/∂s a step of +Σλ/Σw goes uphill: the sign is the slip, and ours goes down."""
    queries = data(1)
    ranker = LambdaMART(mode="paper", measure="ndcg", **SMALL).fit(queries)
    before = np.zeros(len(queries))
    lam, _ = naive.gradients(queries.labels, queries_of(queries), before, MEASURES["ndcg"], 1.0)
    scores = ranker.predict(queries)
    assert float(np.dot(lam, scores)) > 0
    assert ranker.score(queries) > rw.evaluate(-scores, queries, ["ndcg"])["ndcg"].mean


def test_sigma_makes_no_difference_to_the_papers_algorithm() -> None:
    """2010 section 7: γ scales as 1/σ, and scores always appear multiplied by σ."""
    queries = data(2)
    fits = {s: LambdaMART(mode="paper", sigma=s, **SMALL).fit(queries) for s in (1.0, 2.0, 3.0)}
    scores = {s: fit.predict(queries) for s, fit in fits.items()}
    assert np.array_equal(scores[2.0] * 2, scores[1.0])  # a power of two moves no digit
    np.testing.assert_allclose(scores[3.0] * 3, scores[1.0], rtol=1e-3, atol=1e-5)
    for one, other in zip(*(trees_of(fits[s].scorer_) for s in (1.0, 3.0)), strict=True):
        assert np.array_equal(one[0], other[0]) and np.array_equal(one[1], other[1])
    # By default it does make one: |Δ| is divided by the distance of the scores.
    default = [LambdaMART(sigma=s, **SMALL).fit(queries).predict(queries) for s in (1.0, 2.0)]
    assert not np.allclose(default[1] * 2, default[0], rtol=1e-2)


@pytest.mark.parametrize("mode", ["default", "paper"])
def test_forces_of_a_query_add_up_to_nothing(mode: Any) -> None:
    random = np.random.default_rng(0)
    queries = data(3, sample_weight=random.uniform(0.5, 2, 36), query_weight=[1.0, 3.0, 0.5])
    objective = MeasureLambdas(LambdaMART(mode=mode), queries)
    for scores in (np.zeros((1, 36)), random.normal(size=(1, 36))):
        [(gradients, hessians, curvatures)] = objective.gradients(scores, 0)
        for rows in queries_of(queries):
            assert abs(float(gradients[rows].sum())) <= 1e-5 * float(np.abs(gradients[rows]).max())
        assert (curvatures >= 0).all() and curvatures.any()
        assert (hessians == 1).all() if mode == "paper" else hessians is curvatures


@pytest.mark.parametrize("normalise", [False, True])
def test_lambdas_are_averaged_over_drawn_orderings(normalise: bool) -> None:
    """Each ordering's as the twin has them; the step and the random state draw them, and nothing else."""
    queries, scores = data(3), np.random.default_rng(0).normal(size=(1, 36))
    learner = LambdaMART(
        measure="ndcg@3", truncation=3, orderings=3, noise=0.5, normalise=normalise, random_state=4
    )
    objective = MeasureLambdas(learner, queries)
    [(gradients, hessians, _)] = objective.gradients(scores, 2)
    expected = np.zeros((2, 36))
    for number in range(3):
        seed = seed_of(4, 2, 1 + number)
        keys = np.array([s + 0.5 * naive_listwise.gumbel(seed, row) for row, s in enumerate(scores[0])])
        for rows in queries_of(queries):
            found = naive_lambdas.lambdas(
                queries.labels[rows], scores[0][rows], MEASURES["ndcg@3"], keys=keys[rows], truncation=3,
                by_distance=normalise, by_total=normalise,
            )  # fmt: skip
            expected[:, rows] += np.array(found) / 3
    np.testing.assert_allclose([-gradients, hessians], expected, rtol=2e-4, atol=1e-6)
    again = [MeasureLambdas(learner, queries).gradients(scores, step)[0][0].copy() for step in (2, 3)]
    assert np.array_equal(again[0], gradients) and not np.array_equal(again[1], gradients)
    learner.set_params(random_state=5)
    assert not np.array_equal(MeasureLambdas(learner, queries).gradients(scores, 2)[0][0], gradients)
    # Without noise all orderings are that of the scores.
    still, plain = LambdaMART(orderings=2, noise=0.0), LambdaMART()
    one, other = (MeasureLambdas(each, queries).gradients(scores, 0)[0] for each in (still, plain))
    np.testing.assert_allclose(one[0], other[0], rtol=1e-6)


def test_a_cut_off_does_not_reach_above_the_truncation() -> None:
    queries = data(3, sizes=(40, 50))
    scores = {
        (measure, truncation, mode): LambdaMART(
            measure=measure, truncation=truncation, mode=mode, n_estimators=3, max_leaf_nodes=4
        ).fit(queries).predict(queries).tolist()
        for measure, truncation, mode in itertools.product(
            ("ndcg@5", "ndcg@20", "ndcg", "map", "ap@5", "p@5"), (5, 20, None), ("default", "paper")
        )
    }  # fmt: skip
    assert scores["ndcg@5", 20, "default"] == scores["ndcg@20", 20, "default"]
    assert scores["ndcg@5", 20, "default"] != scores["ndcg@5", 5, "default"]
    assert scores["ndcg@5", None, "default"] == scores["ndcg", None, "default"]
    assert scores["ap@5", None, "default"] == scores["map", None, "default"]
    assert scores["p@5", 20, "default"] == scores["p@5", 5, "default"]
    assert scores["ndcg@5", 20, "paper"] == scores["ndcg@5", 5, "paper"] != scores["ndcg@20", 5, "paper"]


@pytest.mark.parametrize("loss", ["lambdaloss", "ranknet", "xendcg"])
def test_every_loss_learns(loss: Any) -> None:
    train, test = data(6, [20] * (10 if JIT_OFF else 40)), data(7, [20] * 40)
    ranker = LambdaMART(loss=loss, n_estimators=8 if JIT_OFF else 30, max_leaf_nodes=7).fit(train)
    by_chance = rw.evaluate(np.zeros(len(test)), test, ["ndcg@10"])["ndcg@10"].mean
    assert ranker.score(test) > by_chance + 0.1
    again = ranker.set_params(random_state=1).fit(train).predict(test)
    assert np.array_equal(again, LambdaMART(**ranker.get_params()).fit(train).predict(test))


def test_weights_of_the_listwise_loss() -> None:
    """A query of weight 2 pushes twice as hard; documents of weight 0 and unjudged ones are in no list."""
    queries, scores = data(3), np.random.default_rng(0).normal(size=(1, 36))
    labels, weights = queries.labels.copy(), np.ones(36)
    labels[2], weights[4] = np.nan, 0.0
    found = []
    for of_query in ([1.0, 1.0, 1.0], [1.0, 2.0, 1.0]):
        given = rw.QuerySet(
            queries.features, labels, qid=np.repeat([0, 1, 2], (12, 9, 15)),
            sample_weight=weights, query_weight=of_query,
        )  # fmt: skip
        [(gradients, hessians, _)] = CrossEntropy(LambdaMART(loss="xendcg"), given).gradients(scores, 0)
        found.append(gradients.copy())
        assert not gradients[[2, 4]].any() and not hessians[[2, 4]].any()
    assert np.array_equal(found[1][12:21], 2 * found[0][12:21])
    assert np.array_equal(found[1][:12], found[0][:12]) and found[0].any()


def test_a_query_of_weight_2_is_that_query_twice() -> None:
    for seed in range(3):
        once = data(seed, query_weight=[1.0, 2.0, 1.0])
        rows = np.r_[0:12, 12:21, 12:21, 21:36]
        twice = rw.QuerySet(
            once.features[rows], once.labels[rows], qid=np.repeat([0, 1, 9, 2], [12, 9, 9, 15])
        )
        settings = SMALL | {"min_samples_leaf": 1, "exact_counts": True}
        weighted, doubled = (LambdaMART(**settings).fit(queries) for queries in (once, twice))
        for one, other in zip(trees_of(weighted.scorer_), trees_of(doubled.scorer_), strict=True):
            assert np.array_equal(one[0], other[0]) and np.array_equal(one[1], other[1])
            np.testing.assert_allclose(one[2], other[2], rtol=1e-5)
        plain = LambdaMART(**settings).fit(data(seed))
        assert not np.allclose(plain.predict(once), weighted.predict(once), rtol=1e-3)


def test_documents_of_weight_0_are_in_no_pair() -> None:
    weights = np.ones(36)
    weights[[1, 5, 20]] = 0
    queries = data(4, sample_weight=weights)
    [(gradients, hessians, _)] = MeasureLambdas(LambdaMART(), queries).gradients(np.zeros((1, 36)), 0)
    assert not gradients[[1, 5, 20]].any() and not hessians[[1, 5, 20]].any()
    assert np.count_nonzero(gradients) > 20


def test_blank_and_lone_queries_teach_nothing() -> None:
    queries = data(5, sizes=(12, 9, 1, 15))
    labels = queries.labels.copy()
    labels[12:21] = 0
    partly = rw.QuerySet(queries.features, labels, qid=np.repeat([0, 1, 2, 3], [12, 9, 1, 15]))
    [(gradients, hessians, _)] = MeasureLambdas(LambdaMART(), partly).gradients(np.zeros((1, 37)), 0)
    assert not gradients[12:22].any() and not hessians[12:22].any()
    assert np.count_nonzero(gradients[:12]) > 5 and np.count_nonzero(gradients[22:]) > 5


@pytest.mark.parametrize("mode", ["default", "paper"])
def test_where_there_is_nothing_to_learn_all_scores_are_equal(mode: Any) -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(30, 3))
    qid = np.repeat([0, 1, 2], 10)
    one_label = LambdaMART(mode=mode, min_samples_leaf=1).fit(X, np.zeros(30), qid=qid)
    alike = LambdaMART(mode=mode, min_samples_leaf=1).fit(
        np.ones((30, 3)), random.integers(0, 3, 30), qid=qid
    )
    missing = LambdaMART(mode=mode).fit(np.full((30, 3), np.nan), random.integers(0, 3, 30), qid=qid)
    lone = LambdaMART(mode=mode).fit([[1.0]], [1], qid=[1])
    for ranker in (one_label, alike, missing, lone):
        rows = np.zeros((4, ranker.n_features_in_))
        assert len(set(ranker.predict(rows).tolist())) == 1
        assert ranker.scorer_.n_trees == 1  # the next would be the same


def test_it_learns() -> None:
    train, test = data(6, [20] * (10 if JIT_OFF else 40)), data(7, [20] * 40)
    ranker = LambdaMART(n_estimators=10 if JIT_OFF else 30, max_leaf_nodes=7).fit(train)
    by_chance = rw.evaluate(np.zeros(len(test)), test, ["ndcg@10"])["ndcg@10"].mean
    assert ranker.score(test) > by_chance + 0.1
    assert ranker.score(train) > by_chance + 0.1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"mode": "letter"}, "mode is 'letter'"),
        ({"sigma": 0.0}, "sigma is 0.0"),
        ({"truncation": 0}, "truncation is 0"),
        ({"loss": "hinge"}, "loss is 'hinge'; it is one of lambda, lambdaloss, ranknet, xendcg"),
        ({"loss": "lambdaloss", "measure": "map"}, "LambdaLoss's weights are not defined"),
        ({"orderings": -1}, "orderings is -1"),
        ({"noise": float("nan")}, "noise is nan"),
        ({"measure": "err@10(max_label=1)"}, "label"),
        ({"measure": "ndcg(ties=average)"}, "ties"),
    ],
)
def test_parameters_are_checked(parameters: Any, message: str) -> None:
    with pytest.raises(rw.InputError, match=message):
        LambdaMART(**parameters).fit(data(0))
