import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.naive import synthetic as naive

from rankwright import InputError
from rankwright.data import synthetic
from rankwright.data.synthetic import (
    WEB_LEVELS,
    random_net,
    random_polynomial,
    topic_distillation,
    web_search,
)

PAPERS = [random_net, random_polynomial]


def digest(queries):
    """One text for all bits of a query set, whatever the byte order of the machine."""
    parts = (queries.features.astype("<f4"), queries.labels.astype("<f8"), queries.offsets.astype("<i8"))
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()[:16]


def digests():
    return {
        "net": digest(random_net(40, 50, 50, 6, 3)),
        "net of 300": digest(random_net(4, 50, 300, 5, 0)),
        "polynomial": digest(random_polynomial(40, 50, 50, WEB_LEVELS, 3)),
        "web": digest(web_search(60, 3)),
        "topics": digest(topic_distillation(7, 500, 40, 5, 3)),
    }


PINNED = {
    "net": "10a3ca071f60f1c5",
    "net of 300": "01e265902fe96ae6",
    "polynomial": "c24d8762ca86277c",
    "web": "88daa3f04bf2378c",
    "topics": "270a8200ebacda6f",
}


def test_the_same_bits_as_ever():
    assert digests() == PINNED


def test_the_same_bits_without_the_processors_special_instructions():
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    special = [name for name in __cpu_dispatch__ if __cpu_features__.get(name)]
    if not special:
        pytest.skip("NumPy uses no special instructions of this processor")
    program = "from tests.data.test_synthetic import PINNED, digests; assert digests() == PINNED"
    environment = os.environ | {"NPY_DISABLE_CPU_FEATURES": " ".join(special)}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)


@pytest.mark.parametrize("make", PAPERS)
@given(st.integers(1, 4), st.integers(1, 9), st.integers(1, 6), st.integers(1, 6), st.integers(0, 5))
@settings(max_examples=30)
def test_labels_are_those_of_the_naive_twin(make, n_queries, documents, features, levels, seed):
    queries = make(n_queries, documents, features, levels, seed)
    x = queries.features.astype(float).tolist()
    n = n_queries * documents
    assert queries.sizes.tolist() == [documents] * n_queries
    assert queries.n_features == features
    assert queries.features.min() >= -1
    assert queries.features.max() <= 1
    if make is random_polynomial and n == 1:
        return  # one value has no variance to be scaled to
    values = naive.net(x, 10, seed) if make is random_net else naive.polynomial(x, seed)
    ends = [level * n // levels for level in range(1, levels)]
    assert queries.labels.tolist() == naive.binned(values, ends)


@pytest.mark.parametrize("make", PAPERS)
@pytest.mark.parametrize("rows", [1, 7, 64])
def test_rows_at_once_make_no_difference(monkeypatch, make, rows):
    whole = make(3, 20, 5)
    monkeypatch.setattr(synthetic, "ROWS_AT_ONCE", rows)
    assert make(3, 20, 5).equals(whole)


@pytest.mark.parametrize("make", [*PAPERS, web_search])
def test_a_seed_is_one_world_and_another_seed_another(make):
    assert make(5, random_state=1).equals(make(5, random_state=1))
    assert not make(5, random_state=1).equals(make(5, random_state=2))


@pytest.mark.parametrize("make", PAPERS)
def test_components_are_numpys_own_uniform_numbers(make):
    numbers = np.random.Generator(np.random.PCG64([5, 1])).random(3 * 20 * 7) * 2 - 1
    assert make(3, 20, 7, random_state=5).features.ravel().tolist() == numbers.astype(np.float32).tolist()


def test_components_are_uniform_and_independent():
    statistic = freedom = 0.0
    for seed in range(20):
        X = random_net(200, 50, 20, random_state=seed).features.astype(float)
        counts = np.stack([np.histogram(column, bins=10, range=(-1, 1))[0] for column in X.T])
        statistic += ((counts - 1000) ** 2 / 1000).sum()
        freedom += 9 * 20
        assert np.abs(np.corrcoef(X.T) - np.eye(20)).max() < 6 / np.sqrt(len(X))
    # One test of all columns of all seeds: the largest of many bins says little by itself.
    assert 1e-4 < stats.chi2.sf(statistic, freedom) < 1 - 1e-4


@pytest.mark.parametrize(
    ("vectors", "not_tied", "all_pairs"),
    [(100, 2060, 2450), (500, 10282, 12250), (1000, 20452, 24500), (5000, 101858, 122500)],
)
def test_bins_of_equal_count_give_the_pair_counts_of_table_2(vectors, not_tied, all_pairs):
    """2005, Table 2: so many pairs with different labels in files of 50 vectors, six labels."""
    ours = []
    for seed in range(20):
        queries = random_polynomial(vectors // 50, random_state=seed)
        ids = np.repeat(np.arange(queries.n_queries), queries.sizes).tolist()
        different, total = naive.pairs(queries.labels.tolist(), ids) if seed == 0 else counted_pairs(queries)
        assert total == all_pairs
        ours.append(different)
    assert abs(np.mean(ours) - not_tied) < 3 * np.std(ours, ddof=1)
    # Bins of equal count leave a sixth of the pairs tied; five levels would leave a fifth.
    assert np.mean(ours) / all_pairs == pytest.approx(5 / 6, abs=0.01)


def counted_pairs(queries):
    """The same as the naive count, by 2005's formula: Σ over labels j of n_j · (documents below it)."""
    different = total = 0
    for rows in queries.slices():
        counts = np.bincount(queries.labels[rows].astype(int))
        lower = np.cumsum(counts) - counts
        different += int((counts * lower).sum())
        total += counts.sum() * (counts.sum() - 1) // 2
    return different, total


def test_labels_may_have_given_shares():
    shares = random_net(100, levels=(0.5, 0.0, 0.25, 0.25)).describe().labels
    assert shares == {0: 2500, 2: 1250, 3: 1250}
    halves = random_net(1, 7, levels=[1, 1]).describe().labels
    assert sum(halves.values()) == 7


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"levels": 0}, "levels is 0; it is a whole number of at least 1"),
        ({"levels": []}, r"levels are \[\]; give their number"),
        ({"levels": [0.5, -0.5]}, "give their number, or a share of the documents for each"),
        ({"levels": [float("nan")]}, "give their number"),
        ({"n_queries": 0}, "n_queries is 0"),
        ({"documents": 2.5}, "documents is 2.5"),
        ({"features": -1}, "features is -1"),
        ({"random_state": -1}, "random_state is -1; it is a whole number, not negative"),
        ({"random_state": None}, "random_state is None"),
    ],
)
@pytest.mark.parametrize("make", PAPERS)
def test_parameters_that_make_no_sense_are_refused(make, changes, message):
    with pytest.raises(InputError, match=message):
        make(**changes)


def test_e_to_the_x():
    x = np.linspace(-40, 40, 4001)
    np.testing.assert_allclose(synthetic._exp(x), np.exp(x), rtol=1e-5)
    near = np.linspace(-1, 1, 4001)
    np.testing.assert_allclose(synthetic._exp(near), np.exp(near), rtol=1e-13)
    np.testing.assert_allclose(synthetic._tanh(x), np.tanh(x), atol=1e-13)


def test_numbers_nearly_normal():
    values = synthetic._Stream(0).normal(1_000_000)
    assert values.mean() == pytest.approx(0, abs=0.005)
    assert values.var() == pytest.approx(1, abs=0.005)
    # The sum of four uniform numbers: kurtosis −6/5 divided by four.
    assert (values**4).mean() - 3 == pytest.approx(-0.3, abs=0.02)


def test_web_search_has_the_shape_of_web10k():
    queries = web_search(400)
    described = queries.describe()
    assert queries.n_features == 136
    assert described.sizes["mean"] == pytest.approx(120, abs=10)
    shares = np.array(list(described.labels.values())) / len(queries)
    np.testing.assert_allclose(shares, WEB_LEVELS, atol=1e-4)
    assert described.constant == ()
    assert described.missing == 0
    X = queries.features
    whole = (np.floor(X) == X).all(axis=0)
    highest = X.max(axis=0)
    mostly_zero = (X == 0).mean(axis=0) > 0.5
    assert 60 <= whole.sum() <= 90
    assert (highest[whole] < 30).sum() >= 20
    assert mostly_zero.sum() >= 30
    # Heavy tails: the highest count is far above the usual one.
    counts = whole & ~mostly_zero & (highest > 100)
    assert (highest[counts] > 10 * np.median(X[:, counts], axis=0)).all()


def test_relevance_can_be_learned_from_the_features_of_a_web_search():
    queries = web_search(400)
    logs = np.sign(queries.features) * np.log1p(np.abs(queries.features))
    logs = np.column_stack([logs, np.ones(len(logs))])
    half = int(queries.offsets[200])
    weights = np.linalg.lstsq(logs[:half], queries.labels[:half], rcond=None)[0]
    predicted = logs[half:] @ weights
    assert 0.2 < np.corrcoef(predicted, queries.labels[half:])[0, 1] < 0.8


def test_web_search_refuses_what_makes_no_sense():
    with pytest.raises(InputError, match="n_queries is 0"):
        web_search(0)
    with pytest.raises(InputError, match=r"random_state is 1\.5"):
        web_search(2, random_state=1.5)


def test_topic_distillation_has_the_shape_of_td2004():
    queries = topic_distillation()
    assert (queries.n_queries, len(queries), queries.n_features) == (75, 74_170, 44)
    assert queries.labels.sum() == 444
    of_queries = np.add.reduceat(queries.labels, queries.offsets[:-1])
    assert set(of_queries) == {5.0, 6.0} and set(queries.sizes) == {988, 989}
    assert queries.features.min() >= 0.0 and queries.features.max() <= 1.0
    good = queries.labels == 1
    assert queries.features[good].mean() > 1.5 * queries.features[~good].mean()
    with pytest.raises(InputError, match="cannot be spread over 5 queries"):
        topic_distillation(5, 4, 1)
