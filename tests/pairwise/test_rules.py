import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.naive import rules as naive

from rankwright.measures import measure as read_measure
from rankwright.measures.lists import Lists
from rankwright.pairwise import forces, shapes
from rankwright.pairwise.forces import Forces
from rankwright.pairwise.lambdas import Lambdas
from rankwright.pairwise.rules import RULES, OwnRule, RankNetWeightPairs, rule
from rankwright.runtime.errors import InputError
from rankwright.runtime.kernels import kernel

queries = st.integers(2, 7).flatmap(
    lambda n: st.tuples(
        st.lists(st.sampled_from([-1.5, -1.0, -0.25, 0.0, 0.5, 0.75, 2.0]), min_size=n, max_size=n),
        st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(any),
    )
)
measures = st.sampled_from(["ndcg", "ndcg@2", "map", "mrr", None])

# Each pairwise rule, and its force on the better document as a formula.
FORMULAS = {
    "ranknet-weight-pairs": (
        rule("ranknet-weight-pairs", sigma=2.0, margin=0.3),
        lambda d, gain, n: naive.cross_entropy(d, abs(gain), 2.0, 0.3),
    ),
    "spring-smooth": (
        rule("spring-smooth", unit=0.4),
        lambda d, gain, n: naive.cross_entropy(d, max(abs(gain), 0.4 * n)),
    ),
    "local-cost": (rule("local-cost", sigma=0.5), lambda d, gain, n: naive.cross_entropy(d, abs(gain), 0.5)),
    "local-gradient": (rule("local-gradient"), lambda d, gain, n: abs(gain) / (abs(d) + 0.1)),
    "finite differences": (
        rule("local-gradient", neighbours=None, margin=0.5),
        lambda d, gain, n: abs(gain) / (abs(d) + 0.5),
    ),
    "step-potential": (rule("step-potential"), lambda d, gain, n: abs(gain) if d < 1 else 0.0),
    "constant": (rule("step-potential", margin=math.inf), lambda d, gain, n: abs(gain)),
    "spring": (
        rule("spring", margin=0.6, neighbours=2),
        lambda d, gain, n: abs(gain) * max(0.6 - d, 0.0),
    ),
    "elastic spring": (rule("spring", elastic=True), lambda d, gain, n: abs(gain) * (1.0 - d)),
}
PAIRWISE = [made for made, _ in FORMULAS.values()]
EVERY = [*PAIRWISE, rule("discrete-bounded", alpha=0.5), rule("spring", alpha=2.0)]


def at(made, scores, labels, measure=None, **options):
    lists = Lists(np.array(labels, float), np.array([0, len(labels)]))
    given_measure = None if measure is None else read_measure(measure)
    return Forces(made, lists, given_measure, **options).at(scores)


@pytest.mark.parametrize("name", FORMULAS)
@settings(max_examples=25)
@given(query=queries, measure=measures)
def test_pairwise_rules_are_their_formulas(name, query, measure):
    made, force = FORMULAS[name]
    expected = naive.pair_lambdas(*query, measure, force, made.neighbours)
    np.testing.assert_allclose(at(made, *query, measure).lambdas, expected, rtol=1e-5, atol=1e-7)


@settings(max_examples=40)
@given(
    query=queries,
    measure=st.sampled_from(["ndcg", "ndcg@2", "map", "mrr"]),
    unit=st.sampled_from([0.05, 1.0]),
)
def test_discrete_bounded_moves_documents_to_their_ideal_rank(query, measure, unit):
    expected = naive.discrete_bounded(*query, measure, unit)
    acting = at(rule("discrete-bounded", unit=unit), *query, measure)
    np.testing.assert_allclose(acting.lambdas, expected, atol=1e-12)
    assert not acting.hessians.any()


@pytest.mark.parametrize("made", EVERY, ids=repr)
@settings(max_examples=15)
@given(query=queries, measure=st.sampled_from(["ndcg", "map"]), data=st.data())
def test_forces_of_a_query_add_up_to_nothing(made, query, measure, data):
    n = len(query[0])
    weights = np.array(data.draw(st.lists(st.sampled_from([0.0, 0.5, 3.0]), min_size=n, max_size=n)))
    lambdas = at(made, *query, measure, weights=weights).lambdas
    assert abs(lambdas.sum()) <= 1e-12 * max(1.0, np.abs(lambdas).sum())


@pytest.mark.parametrize("made", PAIRWISE, ids=repr)
def test_two_documents_feel_equal_and_opposite_forces(made):
    for scores in ([0.3, 0.1], [0.1, 0.3], [2.0, -2.0]):
        lambdas = at(made, scores, [2, 0], "ndcg").lambdas
        assert lambdas[0] == -lambdas[1]
        assert lambdas[0] >= 0 or made == rule("spring", elastic=True)


@pytest.mark.parametrize("made", EVERY, ids=repr)
@settings(max_examples=10)
@given(seed=st.integers(0, 10**6), measure=st.sampled_from(["ndcg", "map"]))
def test_the_potential_and_the_hessian_are_what_the_forces_say(made, seed, measure):
    rng = np.random.default_rng(seed)
    n = 5
    # Scores far enough apart that a small step changes no order, and from where rules have kinks.
    scores = rng.permutation(n) * 0.27 + rng.uniform(0, 0.05, n)
    apart = np.abs(np.subtract.outer(scores, scores))
    assume(all(np.abs(apart - kink).min() > 1e-3 for kink in made.kinks))
    labels = rng.permutation([0, 0, 1, 2, 3])
    acting = at(made, scores, labels, measure)
    small = 1e-5
    for i in range(n):
        step = small * (np.arange(n) == i)
        above, below = (at(made, scores + way * step, labels, measure) for way in (1, -1))
        slope = (above.potentials.sum() - below.potentials.sum()) / (2 * small)
        bend = (above.lambdas[i] - below.lambdas[i]) / (2 * small)
        assert slope == pytest.approx(-acting.lambdas[i], rel=1e-5, abs=1e-8)
        assert bend == pytest.approx(-acting.hessians[i], rel=1e-5, abs=1e-8)


@settings(max_examples=25)
@given(query=queries, alpha=st.sampled_from([0.1, 2.0]), data=st.data())
def test_weights_multiply_and_the_regulariser_draws_to_the_mean(query, alpha, data):
    n = len(query[0])
    weights = data.draw(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=n, max_size=n))
    expected = naive.pair_lambdas(
        *query, "ndcg", lambda d, gain, n: naive.cross_entropy(d, abs(gain)), weights=weights, alpha=alpha
    )
    acting = at(rule("ranknet-weight-pairs", alpha=alpha), *query, "ndcg", weights=np.array(weights))
    np.testing.assert_allclose(acting.lambdas, expected, rtol=1e-5, atol=1e-7)
    doubled = at(
        rule("ranknet-weight-pairs", alpha=alpha),
        *query,
        "ndcg",
        weights=np.array(weights),
        query_weight=np.array([2.0]),
    )
    np.testing.assert_array_equal(doubled.lambdas, 2 * acting.lambdas)


@pytest.mark.parametrize("made", EVERY, ids=repr)
@pytest.mark.parametrize("measure", ["ndcg", "pairs"])
def test_unjudged_documents_are_in_no_pair(made, measure):
    acting = at(made, [0.4, 0.3, 0.2, 0.1], [0, math.nan, 2, 1], measure)
    assert np.isfinite(acting).all()
    assert acting.lambdas[1] == acting.hessians[1] == acting.potentials[1] == 0.0
    assert acting.lambdas.any()


@settings(max_examples=40)
@given(query=queries, measure=st.sampled_from(["ndcg", "ndcg@2", "map", "mrr"]), data=st.data())
def test_the_default_rule_is_what_the_fast_kernel_does(query, measure, data):
    n = len(query[0])
    weights = np.array(data.draw(st.lists(st.sampled_from([0.0, 1.0, 3.0]), min_size=n, max_size=n)))
    acting = at(rule("ranknet-weight-pairs", sigma=1.5), *query, measure, weights=weights)
    lists = Lists(np.array(query[1], float), np.array([0, n]))
    lambdas, hessians = Lambdas(lists, read_measure(measure), sigma=1.5, weights=weights).at(query[0])
    np.testing.assert_allclose(acting.lambdas, lambdas, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(acting.hessians, hessians, rtol=1e-5, atol=1e-5)


def test_no_weight_at_all_moves_nothing():
    acting = at(rule("spring", alpha=1.0), [0.1, 0.7], [1, 0], weights=np.zeros(2))
    assert not np.any(acting)
    assert not np.any(
        at(rule("discrete-bounded", alpha=1.0), [0.1, 0.7], [1, 0], "ndcg", weights=np.zeros(2))
    )


@pytest.mark.parametrize("made", [rule("spring-smooth", alpha=0.1), rule("discrete-bounded")], ids=repr)
def test_queries_do_not_touch_each_other_at_any_number_of_threads(made):
    rng = np.random.default_rng(5)
    sizes = rng.integers(1, 12, 40)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    labels, scores = rng.integers(0, 3, offsets[-1]).astype(float), rng.normal(size=offsets[-1])
    ndcg = read_measure("ndcg@5")
    together = Forces(made, Lists(labels, offsets), ndcg).at(scores)
    for a, b in itertools.pairwise(offsets):
        alone = at(made, scores[a:b], labels[a:b], "ndcg@5")
        np.testing.assert_array_equal(np.array(together)[:, a:b], np.array(alone))
    lists = Lists(labels, offsets)
    lists.is_small = False  # cut into chunks, as long data is
    np.testing.assert_array_equal(np.array(Forces(made, lists, ndcg).at(scores)), np.array(together))


def test_blank_queries_train_nothing_not_even_the_regulariser():
    for made in (rule("spring", alpha=1.0), rule("discrete-bounded", alpha=1.0)):
        assert not np.any(at(made, [0.2, 0.1, 0.4], [0, 0, 0], "ndcg"))


def test_ranknet_is_weight_pairs_without_a_measure():
    scores, labels = [0.5, -0.2, 0.1], [0, 2, 1]
    acting = at(rule("ranknet-weight-pairs"), scores, labels)
    cost = sum(math.log1p(math.exp(scores[j] - scores[i])) for i, j in ((1, 0), (2, 0), (1, 2)))
    assert acting.potentials.sum() == pytest.approx(cost, rel=1e-12)


def test_spring_smooth_without_a_normaliser_is_ranknet():
    scores, labels = [0.5, -0.2, 0.1, 0.0], [0, 1, 1, 0]
    smooth = at(rule("spring-smooth"), scores, labels, "mrr")
    np.testing.assert_array_equal(
        np.array(smooth), np.array(at(rule("ranknet-weight-pairs"), scores, labels))
    )


def test_rules_by_name_and_as_values():
    for kind in RULES:
        assert rule(kind.__name__) == rule(kind.__name__.lower()) == kind()
    assert rule("Spring_Smooth", unit=2.0).unit == 2.0
    assert rule(RankNetWeightPairs(), sigma=3.0) == RankNetWeightPairs(sigma=3.0)
    with pytest.raises(InputError, match="there is no λ rule 'sprong'; there are RankNetWeightPairs, "):
        rule("sprong")
    with pytest.raises(InputError, match="there is no λ rule None; there are"):
        rule(None)
    with pytest.raises(InputError, match="elastic is 'no'; it is True or False"):
        rule("spring", elastic="no")
    assert rule("spring", neighbours=np.int64(2), margin=np.float32(0.5)).reach == 2
    with pytest.raises(InputError, match="Spring has no parameter 'sigma'; it has alpha, elastic, margin"):
        rule("spring", sigma=1)


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"sigma": 0.0}, "sigma is 0.0; give a finite number above 0"),
        ({"sigma": "1"}, "sigma is '1'; give a finite number"),
        ({"margin": -1.0}, "margin is -1.0; give a finite number of at least 0"),
        ({"margin": math.inf}, "margin is inf"),
        ({"alpha": math.nan}, "alpha is nan"),
        ({"neighbours": 0}, "neighbours is 0; give a number of ranks"),
        ({"neighbours": True}, "neighbours is True"),
        ({"neighbours": 1.5}, "neighbours is 1.5"),
    ],
)
def test_bad_settings_are_named(settings_, message):
    with pytest.raises(InputError, match=message):
        RankNetWeightPairs(**settings_)


def test_what_a_rule_needs_is_said():
    with pytest.raises(InputError, match="use ties=input"):
        at(rule("spring"), [0.1], [1], "ndcg(ties=average)")
    with pytest.raises(InputError, match="give it a measure"):
        at(rule("discrete-bounded"), [0.1], [1])
    with pytest.raises(InputError, match="margin is 0; documents with equal scores"):
        rule("local-gradient", margin=0.0)
    with pytest.raises(InputError, match=r"shape \(1,\) for 2 rows"):
        at(rule("spring"), [0.1], [1, 0])
    with pytest.raises(InputError, match="row 1: the score is nan"):
        at(rule("spring"), [0.1, math.nan], [1, 0])


def level_differences(i, n, constant, scores, levels, swaps, parameters, out):
    for j in range(i + 1, n):
        out[0, j] = parameters[0] * (levels[i] - levels[j])


def test_a_function_of_the_users_own():
    made = rule(level_differences, settings=(0.5,), neighbours=1)
    acting = at(made, [3.0, 2.0, 1.0], [1, 4, 0])
    np.testing.assert_array_equal(acting.lambdas, [-1.5, 3.5, -2.0])
    assert not acting.hessians.any()
    assert OwnRule(function=shapes.step, settings=(1.0,)).force_kernel is shapes.step


def test_a_function_of_the_users_own_is_tried_at_the_door():
    def too_few(i, n):
        pass

    def fails(i, n, constant, scores, levels, swaps, parameters, out):
        out[0, i + 1] = levels[i + 1]

    def not_finite(i, n, constant, scores, levels, swaps, parameters, out):
        for j in range(i + 1, n):
            out[0, j] = np.inf

    with pytest.raises(InputError, match="too_few must take the arguments"):
        rule(too_few)
    with pytest.raises(InputError, match="fails fails on a list of 1 documents: IndexError"):
        rule(fails)
    with pytest.raises(InputError, match="not_finite gives a force that is not finite"):
        rule(not_finite)


@pytest.mark.parametrize(
    "used",
    [shapes.cross_entropy, shapes.step, shapes.spring, shapes.difference, forces.count_row],
    ids=lambda used: used.plain.__name__,
)
def test_row_kernels_give_the_same_compiled_and_plain(used):
    rng = np.random.default_rng(2)
    n = 9
    scores, levels = np.sort(rng.normal(size=n))[::-1].copy(), rng.integers(0, 3, n).astype(float)
    swaps = rng.normal(size=n).astype(np.float32)
    for i in range(n):
        outs = []
        for form in (used.plain, used.compiled):
            out = np.zeros(n, np.float32) if used is forces.count_row else np.zeros((3, n))
            if used is forces.count_row:
                form(np.uint64(i), np.uint64(n), levels, np.zeros((1, n)), out)
            else:
                parameters = np.array([1.5, 0.2, 0.1])
                form(np.uint64(i), np.uint64(n), 0.7, scores, levels, swaps, parameters, out)
            outs.append(out)
        np.testing.assert_allclose(*outs, rtol=1e-6 if used is shapes.difference else 1e-13)


def test_one_ranked_list_by_itself():
    n, acting = 3, np.empty((3, 3))
    forces.ranked_forces.compiled(
        forces.count_row.compiled, shapes.step.compiled, np.uint64(n), np.uint64(n), np.uint64(1), 1.0,
        np.array([3.0, 2.0, 1.0]), np.array([0.0, 2.0, 1.0]), np.array([1.0, 2.0, 3.0]), np.zeros((1, 3)),
        np.array([1.5]), np.empty(n, np.float32), np.zeros((3, n)), acting,
    )  # fmt: skip
    # 2 pushes past 0 with the weights 1 · 2, and away from 1 with 2 · 3; 0 and 1 are no neighbours.
    np.testing.assert_array_equal(acting[0], [-2.0, 8.0, -6.0])


def test_kernels_of_ones_own_need_not_be_compiled_to_be_rules():
    made = OwnRule(function=kernel(shapes.FORCE, cache=False)(level_differences))
    assert not made.force_kernel.is_compiled
