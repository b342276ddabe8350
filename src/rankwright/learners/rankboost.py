"""RankBoost (Freund, Iyer, Schapire and Singer 2003): boosting of thresholds, by weights of pairs.

for t = 1 … T, where D(i, j) is the weight of the pair of a worse document i and a better one j:
    1.  hₜ(x) = 1 where feature f of x is above θ, else 0 (or the other, where it is missing):
        the one of the largest |r|,      r = Σ D(i, j) (h(xⱼ) − h(xᵢ))
    2.  αₜ = ½ ln ((1 + r) / (1 − r))
    3.  D(i, j) ← D(i, j) exp(αₜ (hₜ(xᵢ) − hₜ(xⱼ))) / Zₜ
H(x) = Σ αₜ hₜ(x)

No pair is ever written down. After t rounds D(i, j) is its first value times e^H(xᵢ) e^−H(xⱼ), so with the
potential of a document (the paper's π)

    π(x) = e^−H(x) Σ over those worse than x of e^H  −  e^H(x) Σ over those better than x of e^−H

r = Σ π(x) h(x), and both sums take one pass over the levels of a query. Thresholds lie between the bins of a
feature, as those of trees do.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rankwright.data import QuerySet
from rankwright.learners.base import DEFAULT_MEASURE, Ranker, check_whole
from rankwright.learners.forests import nodes_of
from rankwright.learners.nets import weights_of
from rankwright.learners.rounds import Rounds
from rankwright.measures import Measure
from rankwright.networks.training import Record
from rankwright.pairwise.pairs import by_label
from rankwright.runtime.arrays import Floats, Integers
from rankwright.runtime.errors import InputError
from rankwright.runtime.kernels import kernel
from rankwright.runtime.threads import in_chunks
from rankwright.scorers import ForestScorer
from rankwright.trees.binning import BinnedData, Bins
from rankwright.trees.tree import Tree

DONE = 1e-12
"""Where the loss has fallen to this share of its first value, all pairs are in order, and by far."""
FURTHEST = 300.0
"""Scores of one query further apart than this count as so far: e^H stays a float."""


@kernel("float64(int64[::1], int64[::1], int64[::1], float64[::1], float64[::1], float64[::1], float64[::1])")
def potentials(
    rows: Integers,
    ends: Integers,
    offsets: Integers,
    weights: Floats,
    query_weights: Floats,
    scores: Floats,
    out: Floats,
) -> float:
    """π of each document, not yet divided by the sum of D, which is given.

    ``rows[offsets[q]:offsets[q + 1]]`` are the judged rows of query q, highest labels first, ``ends`` where,
    counted from there, the labels below each begin.
    """
    out[:] = 0.0
    weight = 0.0
    for q in range(query_weights.size):
        first, n = offsets[q], offsets[q + 1] - offsets[q]
        if n == 0:
            continue
        lowest = highest = scores[rows[first]]
        for k in range(first, first + n):
            lowest, highest = min(lowest, scores[rows[k]]), max(highest, scores[rows[k]])
        middle = 0.5 * (lowest + highest)
        # Of those worse than a level, from the last document up: Σ w e^H; of those better, down: Σ w e^−H.
        total, k = 0.0, n
        while k > 0:
            begin = k - 1
            while begin > 0 and ends[first + begin - 1] == ends[first + k - 1]:
                begin -= 1
            level = 0.0
            for i in range(begin, k):
                row = rows[first + i]
                power = np.exp(min(max(scores[row] - middle, -FURTHEST), FURTHEST))
                out[row] = total * weights[row] / power
                weight += query_weights[q] * out[row]
                level += weights[row] * power
            total += level
            k = begin
        total, k = 0.0, 0
        while k < n:
            end = ends[first + k]
            level = 0.0
            for i in range(k, end):
                row = rows[first + i]
                power = np.exp(min(max(scores[row] - middle, -FURTHEST), FURTHEST))
                out[row] = query_weights[q] * (out[row] - total * weights[row] * power)
                level += weights[row] / power
            total += level
            k = end
    return weight


@kernel("void(uint8[:, ::1], float64[::1], int64[::1], int64, int64, float64[:, ::1])")
def best_thresholds(
    columns: NDArray[np.uint8], potential: Floats, counts: Integers, begin: int, end: int, out: Floats
) -> None:
    """For each feature from ``begin`` to ``end``: the best r, its last bin below θ, and h of what is missing.

    That is bin 0.
    """
    for f in range(begin, end):
        sums = np.zeros(256)
        for i in range(potential.size):
            sums[columns[f, i]] += potential[i]
        out[f, 0], out[f, 1], out[f, 2] = 0.0, 0.0, 0.0
        above = 0.0
        for b in range(counts[f] - 1, 1, -1):
            above += sums[b]
            for missing in range(2):
                r = above + missing * sums[0]
                if abs(r) > abs(out[f, 0]):
                    out[f, 0], out[f, 1], out[f, 2] = r, b - 1, missing
        # A value against none: known documents against those where the feature is missing.
        if abs(sums[0]) > abs(out[f, 0]):
            out[f, 0], out[f, 1], out[f, 2] = sums[0], counts[f] - 1, 1.0


class RankBoost(Ranker):
    """Boosting of thresholds on features, by weights of pairs.

    ``n_estimators`` is the number of thresholds, ``max_bins`` how finely a feature is cut. With ``valid`` the
    best step is kept, and ``early_stopping_rounds`` without a better one end training.

    >>> X = np.random.default_rng(0).standard_normal((100, 3))
    >>> y, qid = np.round(X[:, 0]).clip(0, 2), np.repeat(np.arange(10), 10)
    >>> RankBoost(n_estimators=50).fit(X, y, qid=qid).score(X, y, qid=qid) > 0.95
    True
    """

    paper = "Freund et al. 2003"

    def __init__(
        self,
        *,
        measure: str | Measure = DEFAULT_MEASURE,
        n_estimators: int = 300,
        max_bins: int = 255,
        early_stopping_rounds: int | None = None,
        n_jobs: int | None = None,
    ):
        self.measure = measure
        self.n_estimators = n_estimators
        self.max_bins = max_bins
        self.early_stopping_rounds = early_stopping_rounds
        self.n_jobs = n_jobs

    def _fit(
        self, queries: QuerySet, valid: QuerySet | None, progress: Callable[[Record], None] | None = None
    ) -> None:
        check_whole(self, n_estimators=1)
        bins = Bins.of(queries.features, self.max_bins, (), self.n_jobs)
        data, pairs = bins.assign(queries.features, self.n_jobs), WeightedPairs(queries)
        held = data if valid is None else bins.assign(valid.features, self.n_jobs)
        scores, held_scores = np.zeros(len(queries)), np.zeros(len(held))
        trees: list[Tree] = []
        rounds = Rounds(self, valid, progress)
        for _ in range(self.n_estimators):
            # 1. The threshold of the largest |r|, by the weights that the scores so far give the pairs.
            total = pairs.weigh(scores)
            feature, r, below, missing = self._threshold(data, bins, pairs.potential)
            if trees and (r == 0.0 or total < DONE * pairs.total):
                break
            # 2. How much it counts. A pair of the least weight keeps α in bounds where r is 1.
            alpha = importance(r / total, 1.0 / (1.0 + pairs.total))
            trees.append(stump(bins, feature, below, missing, alpha))
            # 3. The scores with it.
            trees[-1].add_to(scores, data, None, self.n_jobs)
            if valid is not None:
                trees[-1].add_to(held_scores, held, None, self.n_jobs)
            record = {"feature": feature, "alpha": alpha, "r": r / total, "loss": total / pairs.total}
            if not rounds.add(record, lambda: held_scores, len(trees)):
                break
        self.history_ = rounds.history
        about = self._about(queries, steps=rounds.kept)
        nodes = nodes_of(trees[: rounds.kept], 1, bins)
        self.scorer_ = ForestScorer(nodes, np.zeros(1), queries.n_features, **about)

    def _threshold(self, data: BinnedData, bins: Bins, potential: Floats) -> tuple[int, float, int, bool]:
        """The feature, r, the last bin below θ, and whether what is missing counts as above."""
        counts, out = bins.counts.astype(np.int64), np.empty((len(bins.counts), 3))
        in_chunks(
            lambda begin, end: best_thresholds(data.columns, potential, counts, begin, end, out),
            range(len(counts) + 1),
            self.n_jobs,
        )
        feature = int(np.argmax(np.abs(out[:, 0])))
        r, below, missing = out[feature].tolist()
        return feature, r, int(below), bool(missing)


class WeightedPairs:
    """All pairs of documents of different labels in one query, by what their scores make of them."""

    def __init__(self, queries: QuerySet):
        assert queries.labels is not None
        rows, ends = [], []
        for begin, labels in zip(
            queries.offsets, np.split(queries.labels, queries.offsets[1:-1]), strict=False
        ):
            order, below = by_label(labels)
            rows.append(begin + order)
            ends.append(below)
        self._rows: Integers = np.concatenate(rows).astype(np.int64)
        self._ends: Integers = np.concatenate(ends).astype(np.int64)
        self._offsets = np.concatenate([[0], np.cumsum([len(own) for own in rows])]).astype(np.int64)
        self._weights, self._query_weights = (np.array(given) for given in weights_of(queries))
        self.potential: Floats = np.empty(len(queries))
        """π of each document at the scores last weighed, not yet divided by the sum of D."""
        self.total = self.weigh(np.zeros(len(queries)))
        if not self.total > 0:
            raise InputError(
                "there are no pairs to learn from: no query has two documents with different labels (and "
                "weights above 0); give graded labels"
            )

    def weigh(self, scores: Floats) -> float:
        """The potentials at these scores, and the sum of D that they are to be divided by."""
        given = self._rows, self._ends, self._offsets, self._weights, self._query_weights
        return float(potentials(*given, scores, self.potential))


def importance(r: float, least: float = 0.0) -> float:
    """α of a threshold whose r is this.

    >>> round(importance(0.5), 4)
    0.5493
    """
    return float(0.5 * np.log((1 + r + least) / (1 - r + least)))


def stump(bins: Bins, feature: int, below: int, missing: bool, value: float) -> Tree:
    """A tree of one split: ``value`` where the feature is above bin ``below`` (or missing), else 0."""
    left = np.zeros(256, np.uint8)
    left[1 : below + 1], left[0] = 1, not missing
    one = lambda item, dtype: np.array([item], dtype)  # noqa: E731
    return Tree(
        feature=one(feature, np.int32),
        threshold=one(bins.bounds[feature, below - 1] if below > 0 else -np.inf, np.float32),
        missing_left=one(not missing, np.bool_),
        bins_left=np.packbits(left, bitorder="little").view("<u8").astype(np.uint64)[None],
        left=one(~0, np.int32),
        right=one(~1, np.int32),
        gain=one(0.0, np.float32),
        values=np.array([0.0, value]),
        rows=np.zeros(2, np.int64),
    )
