"""OAP-BPM: the mean of perceptrons that each see their share; τ and their number chosen by validation."""

import numpy as np
import pytest
from tests.naive import perceptrons as naive

import rankwright as rw
from rankwright.learners.oapbpm import WORDS, oapbpm_epoch
from rankwright.trees.splitting import mixed


def data(seed=0, n=60, noise=0.5):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, 3)).astype(np.float32)
    y = np.digitize(X[:, 0] + noise * random.standard_normal(n), [-0.5, 0.5])
    return X, y, np.repeat(np.arange(n // 10), 10)


def test_an_epoch_is_prank_for_each_perceptron_on_its_share():
    random = np.random.default_rng(1)
    X, y = random.integers(-3, 4, (30, 2)).astype(np.float32), random.integers(0, 3, 30)
    seeds, tau = random.integers(2**62, size=4, dtype=np.uint64), 0.4
    w, b, losses = np.zeros((4, 2)), np.zeros((4, 2)), np.zeros(4, np.int64)
    for begin, end in ((0, 1), (1, 4)):
        oapbpm_epoch(
            np.arange(30), X, y, np.ones(30), np.uint64(tau * WORDS), seeds, begin, end, w, b, losses
        )
    seen = [[mixed(seed, np.uint64(i)) < tau * WORDS for i in range(30)] for seed in seeds]
    assert 0.2 < np.mean(seen) < 0.6 and len({tuple(each) for each in seen}) == 4
    given = [(x.astype(float).tolist(), int(level) + 1) for x, level in zip(X, y, strict=True)]
    expected = naive.oapbpm(given, 3, seen)
    assert w.mean(axis=0).tolist() == expected[0] and b.mean(axis=0).tolist() == expected[1]


def test_a_listener_ends_all_epochs_of_all_shares():
    X, y, qid = data()

    def enough(record):
        if record["epoch"] == 2:
            raise StopIteration

    ranker = rw.OAPBPM(tau=(0.3, 0.7), n_perceptrons=(1, 5), epochs=4)
    ranker.fit(X, y, qid=qid, progress=enough)
    assert [(record["tau"], record["epoch"]) for record in ranker.history_] == [(0.3, 1), (0.3, 2)]


def test_chooses_by_the_measure_on_valid():
    X, y, qid = data()
    held = rw.QuerySet(*data(5)[:2], qid=qid)
    ranker = rw.OAPBPM(tau=(0.3, 0.7), n_perceptrons=(1, 5), epochs=4).fit(X, y, qid=qid, valid=held)
    assert [(r["tau"], r["epoch"]) for r in ranker.history_] == [
        (t, e) for t in (0.3, 0.7) for e in range(1, 5)
    ]
    assert ranker.score(held) == pytest.approx(max(record["valid"] for record in ranker.history_), abs=1e-12)
    told = ranker.scorer_.training
    assert told["tau"] in (0.3, 0.7) and told["n_perceptrons"] in (1, 5)
    assert told["thresholds"] == sorted(told["thresholds"])


def test_averaging_beats_one_perceptron_on_noisy_labels():
    X, y, qid = data(n=400, noise=2.0)
    test = rw.QuerySet(*data(9, 400, 0.1)[:2], qid=qid)

    def score(n, seed):
        ranker = rw.OAPBPM(tau=0.3, n_perceptrons=n, epochs=1, measure="pairs", random_state=seed)
        return ranker.fit(X, y, qid=qid).score(test)

    assert score(50, 0) > np.mean([score(1, seed) for seed in range(10)])


@pytest.mark.parametrize(
    "changes",
    [
        {"tau": 0},
        {"tau": (0.3, 2)},
        {"tau": ()},
        {"n_perceptrons": 0},
        {"n_perceptrons": (3, 1.5)},
        {"epochs": 0},
    ],
)
def test_refusals(changes):
    with pytest.raises(rw.InputError, match=next(iter(changes))):
        rw.OAPBPM(**changes).fit([[1], [2]], [0, 1], qid=0)
