import itertools

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.naive import margins as naive
from tests.naive import measures as naive_measures
from tests.naive import structured as naive_structured

import rankwright as rw
from rankwright.data import QuerySet
from rankwright.learners import structured_svm
from rankwright.learners.structured_svm import COMBINED, Planes, SeparateSlacks, SharedSlacks, query_shares
from rankwright.measures.lists import Lists
from rankwright.solvers.solve import SOLVERS, solve
from rankwright.structured import worst_orderings

NAMED = [rw.SVMAUC, rw.SVMMAP, rw.SVMNDCG, rw.SVMNDCGNC, rw.SVMMRR, rw.DORM, rw.SVMCombo]


def data(queries=8, documents=9, seed=0, noise=0.7):
    random = np.random.default_rng(seed)
    X = random.standard_normal((queries * documents, 4)).astype(np.float32)
    y = (X[:, 0] + noise * random.standard_normal(len(X)) > 0.8).astype(float)
    y[::documents], y[1::documents] = 1, 0
    return QuerySet(X, y, qid=np.repeat(np.arange(queries), documents))


def planes(queries, measure, feature_map):
    lists = Lists(queries.labels, queries.offsets)
    oracle = worst_orderings(measure, feature_map, lists)
    return Planes(oracle, queries.features.copy(), queries, query_shares(queries, [oracle]), 1)


def losses(queries, measure, scores):
    """1 − the measure of each query ranked by these scores, the worst way where they are equal."""
    given = rw.measure(measure).replace(ties="worst")
    return 1 - Lists(queries.labels, queries.offsets).ranked(scores.astype(float)).values(given)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("C", [0.5, 20.0])
def test_svmauc_reaches_the_optimum_of_a_general_solver(solver, C):
    queries = data(5)
    problem = naive.AUC(queries.features.astype(float), queries.labels, np.repeat(np.arange(5), 9))
    differences, bounds = problem.pairs()
    best, _ = naive.hinge_optimum(differences, C * bounds)
    ranker = rw.SVMAUC(C=C, solver=solver, tol=1e-4, scaling=None).fit(queries)
    assert best <= ranker.certificate_["primal"] * (1 + 1e-9)
    assert ranker.certificate_["primal"] == pytest.approx(best, rel=1.1e-4)
    assert ranker.certificate_["dual"] <= best * (1 + 1e-6)


NAIVE = {
    "auc po": (naive_structured.partial_order, naive_measures.auc()),
    "map po": (naive_structured.partial_order, naive_measures.average_precision()),
    "ndcg po": (naive_structured.partial_order, naive_measures.ndcg()),
    "ndcg dorm": (naive_structured.decay, naive_measures.ndcg()),
    "mrr po": (naive_structured.partial_order, naive_measures.reciprocal_rank()),
    "mrr mrr": (naive_structured.first_good, naive_measures.reciprocal_rank()),
}


def all_planes(queries, criterion):
    """Δ and δφ of every permutation of each query's documents."""
    phi, measured = NAIVE[criterion]
    losses, vectors = [], []
    for a, b in itertools.pairwise(queries.offsets):
        good = tuple(label > 0 for label in queries.labels[a:b])
        _, loss, difference = naive_structured.worst(
            good, np.zeros(b - a), phi, lambda ranked: measured(ranked, ranked, None)
        )
        losses.append(loss)
        vectors.append(difference @ queries.features[a:b].astype(float))
    return np.array(losses), np.array(vectors)


@pytest.mark.parametrize(
    "criteria", [*([name] for name in NAIVE), ["map po", "mrr mrr"], ["ndcg dorm", "auc po"]], ids=str
)
@pytest.mark.parametrize("slacks", ["separate", "shared"])
def test_the_optimum_over_all_permutations(criteria, slacks):
    """Equation 1, and both forms of section 3.7, with every constraint written out for a general solver."""
    queries, C = data(3, 5, noise=0.3), 5.0
    found = [all_planes(queries, criterion) for criterion in criteria]
    axis = 0 if slacks == "separate" else 1
    losses, vectors = (np.concatenate(parts, axis=axis) for parts in zip(*found, strict=True))
    best = naive.planes_optimum(losses, vectors, np.full(len(losses), 1 / 3), C)
    ranker = rw.SVMCombo(criteria=criteria, slacks=slacks, C=C, scaling=None, tol=1e-6).fit(queries)
    assert ranker.certificate_["primal"] == pytest.approx(best, rel=3e-6)


@pytest.mark.parametrize("kind", NAMED)
def test_solvers_agree(kind):
    found = [kind(C=3.0, solver=solver).fit(data()) for solver in SOLVERS]
    assert max(one.certificate_["dual"] for one in found) <= 1.000001 * min(
        one.certificate_["primal"] for one in found
    )
    assert all(one.certificate_["gap"] <= 1e-3 for one in found)
    assert all(np.isfinite(one.scorer_.weights).all() and one.scorer_.weights.any() for one in found)


@pytest.mark.parametrize(
    ("measure", "feature_map"), [*COMBINED, ("auc", "po"), ("ndcg@10", "dorm"), ("mrr", "po")]
)
@pytest.mark.parametrize("C", [0.1, 100.0])
def test_the_average_slack_bounds_the_training_loss(measure, feature_map, C):
    queries = data(noise=0.2)
    problem = planes(queries, measure, feature_map)
    found = solve(problem, C)
    assert (found.slacks >= losses(queries, measure, queries.features @ found.weights) - 1e-6).all()


def test_shared_and_separate_slacks_are_ordered_as_in_section_3_7():
    queries = data(noise=0.3)
    criteria = [("map", "po"), ("ndcg@10", "po"), ("mrr", "mrr")]
    members = [planes(queries, *criterion) for criterion in criteria]
    shared, separate = SharedSlacks(members), SeparateSlacks(members, [1.0, 1.0, 1.0])
    for C in (0.1, 10.0):
        alone, apart = solve(shared, C), solve(separate, C)
        for w in (alone.weights, apart.weights, np.array([1.0, 0, 0, 0])):
            scores = queries.features @ w
            by_loss = np.array([losses(queries, measure, scores) for measure, _ in criteria])
            found = [np.maximum(0, part[0] - part[1] @ w) for part in (shared.worst(w), separate.worst(w))]
            assert (found[0] >= by_loss.max(axis=0) - 1e-6).all()  # ξ ≥ R(w, max Δ)
            assert (found[1].reshape(3, -1) >= by_loss - 1e-6).all()  # ξˡ ≥ R(w, Δˡ)
            np.testing.assert_allclose(found[0], found[1].reshape(3, -1).max(axis=0), rtol=1e-9, atol=1e-12)
            assert by_loss.sum() >= by_loss.max(axis=0).sum()
        # max ≤ sum, so that the optima are ordered too.
        assert alone.dual <= apart.primal


def test_losses_that_have_a_C_each():
    queries = data()
    alone = rw.SVMMAP(C=5.0).fit(queries).certificate_["primal"]
    twice = rw.SVMCombo(criteria=[("map", "po"), ("map", "po")], C=2.5).fit(queries).certificate_["primal"]
    factor = rw.SVMCombo(criteria=[("map", "po", 2.0)], C=2.5).fit(queries).certificate_["primal"]
    assert twice == pytest.approx(alone, rel=1e-3) and factor == pytest.approx(alone, rel=1e-3)
    both = [("map", "po"), ("map", "po")]
    shared = rw.SVMCombo(criteria=both, slacks="shared", C=5.0).fit(queries).certificate_["primal"]
    assert shared == pytest.approx(alone, rel=1e-3)


@pytest.mark.parametrize("slacks", ["separate", "shared"])
def test_losses_that_leave_out_other_queries_come_in_any_order(slacks):
    """Graded gains train on a query of labels 1 and 2, which holds no bad document for MAP."""
    queries = data(6)
    labels = np.array(queries.labels)
    labels[:18] = 1 + (np.arange(18) % 3 == 0)
    graded = queries._with(labels=labels)
    criteria = [("ndcg@10", "dorm"), ("map", "po")]
    made = lambda criteria: rw.SVMCombo(criteria=criteria, slacks=slacks, C=5.0, tol=1e-6)  # noqa: E731
    one, other = made(criteria).fit(graded), made(criteria[::-1]).fit(graded)
    assert one.certificate_["primal"] == pytest.approx(other.certificate_["primal"], rel=2e-6)
    assert one.scorer_.training["left_out"] == other.scorer_.training["left_out"] == 0
    if slacks == "separate":  # each loss is a mean over its own queries
        twice = made([("map", "po"), ("map", "po")]).fit(graded).certificate_["primal"]
        alone = rw.SVMMAP(C=10.0, tol=1e-6).fit(graded)
        assert twice == pytest.approx(alone.certificate_["primal"], rel=2e-6)
        assert alone.scorer_.training["left_out"] == 2


def test_criteria_may_be_text():
    given = rw.SVMCombo(criteria=[("map", "po"), ("auc", "po", 0.5)]).fit(data())
    as_text = rw.SVMCombo(criteria=("map po", "auc po 0.5")).fit(data())
    assert np.array_equal(given.scorer_.weights, as_text.scorer_.weights)
    one = rw.SVMCombo(criteria="map po").fit(data())
    assert np.array_equal(one.scorer_.weights, rw.SVMMAP().fit(data()).scorer_.weights)


@pytest.mark.parametrize(
    ("named", "measure", "feature_map"),
    [
        (rw.SVMAUC(), "auc", "po"),
        (rw.SVMMAP(), "map", "po"),
        (rw.SVMNDCG(k=5), "ndcg@5", "po"),
        (rw.SVMNDCGNC(), "ndcg", "po"),
        (rw.SVMMRR(k=3), "rr@3", "mrr"),
        (rw.DORM(), "ndcg@10", "dorm"),
    ],
)
def test_named_systems_are_settings_of_one(named, measure, feature_map):
    general = rw.StructuredRanker(measure=measure, feature_map=feature_map).fit(data())
    assert np.array_equal(named.fit(data()).scorer_.weights, general.scorer_.weights)
    assert general.scorer_.training["losses"].startswith(repr(rw.measure(measure)))


def test_queries_that_teach_nothing_are_left_out_and_counted():
    whole, more = data(4), data(6, seed=1)
    labels = np.array(more.labels)
    labels[:9], labels[9:18] = 0, 1
    mixed = QuerySet(
        np.concatenate([whole.features, more.features[:18]]), np.append(whole.labels, labels[:18]),
        qid=np.repeat(np.arange(6), 9),
    )  # fmt: skip
    found = rw.SVMMAP(scaling=None).fit(mixed)
    assert found.scorer_.training["left_out"] == 2
    assert np.array_equal(found.scorer_.weights, rw.SVMMAP(scaling=None).fit(whole).scorer_.weights)
    with pytest.raises(rw.InputError, match="no query has both good documents"):
        rw.SVMMAP(threshold=5).fit(mixed)


def test_query_weights_are_queries_given_again():
    queries = data(3)
    twice = queries.features[np.append(np.arange(27), np.arange(9))]
    again = QuerySet(twice, np.append(queries.labels, queries.labels[:9]), qid=np.repeat(np.arange(4), 9))
    weighed = queries.with_weights(query_weight=[2, 1, 1])
    found = [rw.SVMMAP(scaling=None, tol=1e-5).fit(each).certificate_["primal"] for each in (weighed, again)]
    assert found[0] == pytest.approx(found[1], rel=1e-4)


def test_good_is_from_the_threshold_on():
    queries = data()
    graded = queries._with(labels=queries.labels * 2 + (np.arange(len(queries)) % 3 == 0))
    found = rw.SVMAUC(threshold=2).fit(graded)
    assert np.array_equal(found.scorer_.weights, rw.SVMAUC().fit(queries).scorer_.weights)
    assert found.scorer_.training["labels"] == "good from 2 on"
    assert rw.DORM().fit(graded).scorer_.training["labels"] == "graded gains"
    both = rw.SVMCombo(criteria=[("ndcg@10", "dorm"), ("map", "po"), ("auc", "po")]).fit(graded)
    assert both.scorer_.training["labels"] == "graded gains, good from 1 on"


def test_the_certificate_stands_in_the_model_file(tmp_path):
    ranker = rw.SVMMAP(C=2.0).fit(data())
    ranker.save(tmp_path / "map.rw")
    training = rw.load(tmp_path / "map.rw").training
    assert {name: training[name] for name in ranker.certificate_} == ranker.certificate_
    assert training["C"] == 2.0 and training["gap"] <= 1e-3 and training["solver"] == "n-slack"
    last = ranker.history_[-1]
    assert {"step", "C", "primal", "dual", "gap", "ended"} <= set(last) and last["gap"] <= 1e-3
    assert 0 < ranker.history_[0]["seconds"] <= last["seconds"]


def test_a_path_over_C_with_scaling_within_queries():
    train, valid = data(20), data(10, seed=3)
    ranker = rw.SVMMAP(C=[0.01, 1, 100], scaling="query").fit(train, valid=valid)
    ends = {record["C"]: record["valid"] for record in ranker.history_ if "ended" in record}
    assert [*ends] == [0.01, 1.0, 100.0] and ends[ranker.certificate_["C"]] == max(ends.values())
    assert ranker.score(valid) == pytest.approx(max(ends.values()))
    with pytest.raises(rw.InputError, match="depends on the query"):
        ranker.predict(valid.features)


def test_a_path_over_C_needs_a_valid_that_tells_something():
    train, blank = data(4), data(4)._with(labels=np.zeros(36))
    with pytest.raises(rw.InputError, match="valid has no query of which map has a value"):
        rw.SVMMAP(C=[1, 10]).fit(train, valid=blank)
    assert np.isnan(rw.SVMMAP(C=1).fit(train, valid=blank).history_[-1]["valid"])


def test_valid_sees_the_solution_that_is_kept():
    """Also where w = 0 is as good, and the solution lies where the risk falls at first."""
    random = np.random.default_rng(0)
    queries, valid = data(20), data(10, seed=3)
    noise = queries._with(labels=random.permutation(queries.labels))
    ranker = rw.SVMMRR(C=[10, 100]).fit(noise, valid=valid)
    assert ranker.certificate_["flat"]
    assert ranker.score(valid) == pytest.approx(max(r["valid"] for r in ranker.history_ if "ended" in r))


def test_kernels():
    random = np.random.default_rng(0)
    X = random.standard_normal((60, 2))
    y, qid = ((X**2).sum(axis=1) > 1.5).astype(float), np.repeat(np.arange(6), 10)
    curved = rw.SVMMAP(kernel="rbf", gamma=0.5, n_components=30).fit(X, y, qid=qid)
    assert curved.score(X, y, qid=qid) > 0.95 > rw.SVMMAP().fit(X, y, qid=qid).score(X, y, qid=qid)


def test_an_oracle_that_is_worse_than_the_truth_is_refused(monkeypatch):
    class Wrong:
        """A user's loss whose worst ordering is not the worst."""

        def __init__(self, *given, **more):
            self.oracle = worst_orderings(*given, **more)
            self.trains, self.measure, self.threshold = self.oracle.trains, self.oracle.measure, 1.0
            self.feature_map, self.graded = self.oracle.feature_map, False

        def at(self, scores, queries=None):
            found, coefficients = self.oracle.at(scores if not np.any(scores) else -scores, queries)
            return found * (not np.any(scores)), coefficients

    monkeypatch.setattr(structured_svm, "worst_orderings", Wrong)
    with pytest.raises(rw.InputError, match=r"query 0: the worst ordering .* less than the true one"):
        rw.SVMMAP().fit(data(1))


def test_an_end_before_the_gap_is_a_warning():
    with pytest.warns(ConvergenceWarning, match="max_iter=2 ended it") as told:
        rw.SVMAUC(C=1e3, max_iter=2).fit(data())
    assert told[0].filename == __file__


@pytest.mark.parametrize(
    ("ranker", "message"),
    [
        (rw.SVMMAP(C=0), "C is 0"),
        (rw.SVMMAP(solver="smo"), "no solver 'smo'"),
        (rw.StructuredRanker(measure="err"), "no worst ordering of"),
        (rw.StructuredRanker(measure="map", feature_map="mrr"), "no worst ordering of"),
        (rw.StructuredRanker(feature_map="pairs"), "no feature map 'pairs'"),
        (rw.SVMCombo(criteria=[]), "criteria is empty"),
        (rw.SVMCombo(criteria=None), "criteria is None"),
        (rw.SVMCombo(criteria=["map"]), "a criterion is 'map'"),
        (rw.SVMCombo(criteria=[3]), "a criterion is 3"),
        (rw.SVMCombo(criteria=["map po x"]), "factor of C in 'map po x' is 'x'"),
        (rw.SVMMAP(threshold=0), "threshold is 0"),
        (rw.SVMCombo(criteria=[("map", "po", 0)]), "factor of C"),
        (rw.SVMCombo(criteria=[("map", "po", 2)], slacks="shared"), "share C"),
        (rw.SVMCombo(slacks="none"), "slacks is 'none'"),
    ],
)
def test_refuses_what_it_cannot_use(ranker, message):
    with pytest.raises(rw.InputError, match=message):
        ranker.fit(data(2))


def test_weights_that_are_all_zero_are_refused():
    with pytest.raises(rw.InputError, match="have query_weight 0"):
        rw.SVMMAP().fit(data(2), query_weight=np.zeros(2))


def test_weights_of_documents_are_refused():
    with pytest.raises(rw.InputError, match="SVMMAP takes no sample_weight"):
        rw.SVMMAP().fit(data(2), sample_weight=np.ones(18))


def test_accepts_what_has_a_worst_ordering():
    assert rw.StructuredRanker.accepts("map") and rw.StructuredRanker.accepts("mrr@10")
    assert not rw.StructuredRanker.accepts("err@5")
    assert rw.SVMMAP.accepts("err@5")
