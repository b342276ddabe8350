"""The λ kernel against pairs one by one, finite differences, and what theory says of λ's."""

from __future__ import annotations

import dataclasses
import os
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import lambdas as naive

from rankwright import InputError
from rankwright.measures import Measure, measure
from rankwright.measures.base import PREPARE, ROW, VALUE
from rankwright.measures.formulas import one_if_any
from rankwright.measures.lists import Lists
from rankwright.pairwise.lambdas import LANES, Lambdas, pair_rows
from rankwright.runtime.kernels import Kernel, kernel

JIT_OFF = os.environ.get("NUMBA_DISABLE_JIT") == "1"
SINGLE = 2e-5
"""Of the largest λ of a query: sums of many terms in single precision, and a polynomial exp."""
MEASURES = ("ndcg", "ndcg@3", "map", "mrr", "err", "pairs", "auc", "bpref", "rbp(p=0.5)", "wta")


@kernel(VALUE, cache=False)
def no_value(gains: Any, constant: float, ranks: Any) -> float:
    return 0.0


@kernel(PREPARE, cache=False)
def nothing_to_prepare(n: Any, gains: Any, constant: float, tables: Any) -> None:
    pass


@kernel(ROW, cache=False)
def ones(i: Any, n: Any, gains: Any, tables: Any, out: Any) -> None:
    for j in range(n):
        out[j] = np.float32(1.0)


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class AllPairsAlike(Measure):
    """|Δ| = 1 for every pair: RankNet."""

    names: ClassVar[dict[str, dict[str, Any]]] = {"alike": {}}
    constant_kernel: ClassVar[Kernel] = one_if_any
    value_kernel: ClassVar[Kernel] = no_value
    prepare_kernel: ClassVar[Kernel | None] = nothing_to_prepare
    row_kernel: ClassVar[Kernel | None] = ones

    def gains(self, labels: Any) -> Any:
        return labels

    def ranks(self, n: int) -> Any:
        return np.ones(n)


def one_query(labels: Any) -> Lists:
    return Lists(np.array(labels, np.float64), np.array([0, len(labels)]))


def change_by(chosen: Measure) -> Any:
    gains: dict[tuple[float, ...], Any] = {}

    def change(labels: Any, i: int, j: int) -> float:
        key = tuple("unjudged" if label != label else label for label in labels)
        if key not in gains:
            gains[key] = chosen.swap_gains(labels)
        return float(gains[key][i, j])

    return change


def assert_close(got: Any, expected: Any) -> None:
    for one, other in zip(got, expected, strict=True):
        assert np.abs(one - other).max() <= SINGLE * np.abs(other).max() + 1e-30


documents = st.lists(
    st.tuples(
        st.sampled_from([0.0, 1.0, 2.0, float("nan")]),
        st.one_of(st.sampled_from([-1.0, 0.0, 0.5]), st.floats(-10, 10)),
        st.sampled_from([0.0, 0.5, 1.0, 3.0]),
    ),
    min_size=1,
    max_size=25,
)


@settings(max_examples=150 if not JIT_OFF else 40)
@given(
    documents,
    st.sampled_from(MEASURES),
    st.sampled_from([0.5, 1.0, 3.0]),
    st.sampled_from([None, 1, 4]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([0.0, 1.0, 2.5]),
)
def test_pair_by_pair(
    drawn: Any,
    text: str,
    sigma: float,
    truncation: int | None,
    by_distance: bool,
    by_total: bool,
    query_weight: float,
) -> None:
    labels, scores, weights = (np.array(column, np.float64) for column in zip(*drawn, strict=True))
    chosen = measure(text)
    options: dict[str, Any] = {
        "sigma": sigma, "truncation": truncation, "by_distance": by_distance, "by_total": by_total,
    }  # fmt: skip
    got = Lambdas(
        one_query(labels), chosen, weights=weights, query_weight=np.array([query_weight]), **options
    ).at(scores)
    expected = naive.lambdas(
        labels, scores, change_by(chosen), weights=weights, query_weight=query_weight, **options
    )
    assert_close(got, expected)


@given(documents.filter(lambda drawn: len(drawn) > 1), st.sampled_from([0.5, 1.0, 2.0]))
@settings(max_examples=40)
def test_ranknet_is_minus_the_gradient_of_its_cost(drawn: Any, sigma: float) -> None:
    labels, scores, _ = (np.array(column, np.float64) for column in zip(*drawn, strict=True))
    labels[np.isnan(labels)] = 1.0
    scores /= 4.0
    lams, hess = Lambdas(one_query(labels), AllPairsAlike(), sigma=sigma).at(scores)
    if not (labels > 0).any():
        assert not lams.any()
        return
    step = 1e-4
    for d in range(len(labels)):
        costs = []
        for moved in (-step, 0.0, step):
            there = scores.copy()
            there[d] += moved
            costs.append(naive.ranknet_cost(labels, there, sigma))
        assert lams[d] == pytest.approx(-(costs[2] - costs[0]) / (2 * step), abs=2e-5 * len(labels))
        assert hess[d] == pytest.approx(
            (costs[2] - 2 * costs[1] + costs[0]) / step**2, abs=1e-5 * len(labels)
        )


def random_lists(queries: int, most: int, seed: int = 0) -> tuple[Lists, np.ndarray]:
    random = np.random.default_rng(seed)
    sizes = random.integers(1, most, queries)
    labels = random.choice([0.0, 1.0, 2.0, 3.0], sizes.sum(), p=[0.5, 0.3, 0.15, 0.05])
    return Lists(labels, np.append(0, np.cumsum(sizes))), random.normal(size=sizes.sum()).round(2)


@pytest.mark.parametrize("text", MEASURES)
def test_forces_are_equal_and_opposite(text: str) -> None:
    lists, scores = random_lists(8 if JIT_OFF else 60, 12 if JIT_OFF else 200)
    for by_total in (False, True):
        lams, hess = Lambdas(lists, measure(text), by_total=by_total, by_distance=by_total).at(scores)
        sums = np.add.reduceat(lams.astype(np.float64), lists.offsets[:-1])
        sizes = np.add.reduceat(np.abs(lams).astype(np.float64), lists.offsets[:-1])
        assert (np.abs(sums) <= 1e-6 * sizes + 1e-30).all()
        assert (hess >= 0).all() and hess.any()


def test_a_positive_lambda_moves_up() -> None:
    lams, hess = Lambdas(one_query([0, 1]), measure("ndcg")).at([1.0, 0.0])
    assert lams[1] > 0 > lams[0] and (hess > 0).all()


def test_blank_queries_single_documents_and_equal_labels_feel_no_force() -> None:
    lists = Lists(np.array([0.0, 0.0, 2.0, 1.0, 1.0, 0.0, 1.0]), np.array([0, 2, 3, 5, 7]))
    out = np.full(7, 9.0, np.float32), np.full(7, 9.0, np.float32)
    lams, hess = Lambdas(lists, measure("map")).at(np.arange(7.0), out)
    assert lams is out[0] and hess is out[1]
    assert not lams[:5].any() and not hess[:5].any()
    assert lams[6] > 0 > lams[5]


def test_labels_that_differ_and_count_the_same_feel_no_force() -> None:
    lams, _ = Lambdas(one_query([1, 2, 0]), measure("map")).at([0.0, 0.0, 5.0])
    twice, _ = Lambdas(one_query([1, 1, 0]), measure("map")).at([0.0, 0.0, 5.0])
    np.testing.assert_array_equal(lams, twice)


def test_large_scores_of_little_difference_keep_it() -> None:
    lists, scores = random_lists(1, 30, seed=3)
    here = Lambdas(lists, measure("ndcg")).at(scores)
    there = Lambdas(lists, measure("ndcg")).at(scores + 2.0**30)
    np.testing.assert_allclose(here[0], there[0], rtol=1e-5, atol=1e-7)


def test_far_apart_is_no_overflow() -> None:
    lams, hess = Lambdas(one_query([1, 0, 1]), measure("mrr")).at([-1e30, 0.0, 1e30])
    assert np.isfinite(lams).all() and np.isfinite(hess).all()


def test_a_query_alone_is_the_same_as_among_others() -> None:
    lists, scores = random_lists(7, 9)
    among = Lambdas(lists, measure("err")).at(scores)
    for a, b in zip(lists.offsets[:-1], lists.offsets[1:], strict=True):
        alone = Lambdas(one_query(lists.labels[a:b]), measure("err")).at(scores[a:b])
        np.testing.assert_array_equal(among[0][a:b], alone[0])
        np.testing.assert_array_equal(among[1][a:b], alone[1])


@pytest.mark.skipif(JIT_OFF, reason="enough documents for several chunks take plain Python too long")
def test_the_same_bits_at_any_number_of_threads() -> None:
    lists, scores = random_lists(600, 120)
    assert not lists.is_small
    expected = None
    for n_jobs in (1, 2, 3, 4):
        given = Lists(lists.labels, lists.offsets, n_jobs=n_jobs)
        got = Lambdas(given, measure("map"), truncation=20).at(scores)
        expected = expected or got
        np.testing.assert_array_equal(got[0], expected[0])
        np.testing.assert_array_equal(got[1], expected[1])


A_MILLION = pytest.param(
    1_000_000, 20, marks=pytest.mark.skipif(JIT_OFF, reason="a million documents take plain Python too long")
)


@pytest.mark.parametrize(("n", "truncation"), [(5_000, 3), A_MILLION])
def test_many_documents_in_one_query(n: int, truncation: int) -> None:
    random = np.random.default_rng(5)
    labels = (random.random(n) < 0.01).astype(float)
    scores = random.normal(size=n)
    lams, hess = Lambdas(one_query(labels), measure("map"), truncation=truncation).at(scores)
    order = np.argsort(-scores, kind="stable")
    relevant = labels[order]
    count, ranks = np.cumsum(relevant), np.arange(1.0, n + 1.0)
    behind = np.cumsum((relevant / ranks)[::-1])[::-1]
    expected = np.zeros(n)
    for i in range(truncation):
        better = relevant[i + 1 :] - relevant[i]
        above = (count[i] - relevant[i] + 1) / ranks[i] + behind[i + 1]
        gain = np.abs(above - behind[i + 1 :] - (count / ranks)[i + 1 :]) / relevant.sum()
        distance = scores[order[i]] - scores[order[i + 1 :]]
        rho = np.where(better > 0, 1 / (1 + np.exp(-distance)), 1 / (1 + np.exp(distance)))
        force = gain * rho * better
        expected[order[i + 1 :]] += force
        expected[order[i]] -= force.sum()
    assert np.abs(lams - expected).max() <= SINGLE * np.abs(expected).max()
    assert abs(lams.astype(np.float64).sum()) <= 1e-5 * np.abs(lams).astype(np.float64).sum()
    assert np.isfinite(hess).all()


def test_lists_shorter_than_a_cutoff_that_counts_them_for_nothing_train_nothing() -> None:
    lists = Lists(np.array([0.0, 1.0, 0.0, 1.0, 0.0]), np.array([0, 2, 5]))
    lams, hess = Lambdas(lists, measure("ndcg@3(short=zero)")).at([0.5, 0.1, 0.3, 0.2, 0.1])
    assert not lams[:2].any() and not hess[:2].any()
    assert lams[2:].any()


def test_gains_that_single_precision_cannot_hold() -> None:
    with pytest.raises(InputError, match="single precision cannot hold"):
        Lambdas(one_query([0, 200]), measure("dcg"))


def test_a_cutoff_is_a_truncation() -> None:
    """Swaps of two documents behind the cut-off change nothing, so their rows are not asked for."""
    lists, scores = random_lists(5, 30)
    assert Lambdas(lists, measure("ndcg@4")).truncation == 4
    whole = Lambdas(lists, measure("ndcg@4"))
    whole.truncation = 1000
    for got, expected in zip(Lambdas(lists, measure("ndcg@4")).at(scores), whole.at(scores), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"sigma": 0.0}, "sigma is 0.0"),
        ({"sigma": np.inf}, "sigma is inf"),
        ({"truncation": 0}, "truncation is 0"),
    ],
)
def test_options_that_mean_nothing(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Lambdas(one_query([0, 1]), measure("ndcg"), **options)


def test_measures_that_cannot_be_trained_for() -> None:
    with pytest.raises(InputError, match="use ties=input"):
        Lambdas(one_query([0, 1]), measure("ndcg(ties=average)"))
    without = dataclasses.make_dataclass(
        "Without", [], bases=(AllPairsAlike,), namespace={"row_kernel": None}, frozen=True
    )
    with pytest.raises(InputError, match="has no swap gains"):
        Lambdas(one_query([0, 1]), without())
    with pytest.raises(InputError, match="row 1: label 9"):
        Lambdas(one_query([0, 9]), measure("err"))


@pytest.mark.parametrize(
    ("scores", "words"),
    [([0.0, np.nan], "row 1: the score is nan"), ([np.inf, 0.0], "row 0"), ([0.0], "shape")],
)
def test_scores_that_cannot_be_ranked(scores: list[float], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Lambdas(one_query([0, 1]), measure("ndcg")).at(scores)


def test_the_kernel_of_one_ranked_query() -> None:
    """Two documents in the wrong order: force and curvature of the one pair, and the size of the force."""
    padded = 2 + int(LANES)
    scores, weights, swaps, lams, hess = np.zeros((5, padded), np.float32)
    levels = np.zeros(padded, np.int32)
    scores[:2], scores[2:], levels[1], weights[:2] = (1.0, 0.0), 0.0, 1, 1.0
    total = pair_rows(
        ones.compiled, np.uint64(2), np.uint64(1), np.float32(1.0), False, scores, levels, weights,
        np.array([0.0, 1.0]), np.zeros((1, 3)), swaps, lams, hess,
    )  # fmt: skip
    wrong = 1.0 / (1.0 + np.exp(-1.0))
    assert total == pytest.approx(wrong, rel=1e-6)
    np.testing.assert_allclose(lams[:2], [-wrong, wrong], rtol=1e-6)
    np.testing.assert_allclose(hess[:2], wrong * (1.0 - wrong), rtol=1e-6)
