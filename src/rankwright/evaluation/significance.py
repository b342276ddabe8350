"""Is a difference more than chance? Paired tests on the differences of queries, and Holm's correction.

Each test answers: were there no difference, how often would one at least this large be seen, in either
direction? Random resamples are numbered (see ``resampling``), so threads do not change the answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from rankwright.evaluation.resampling import bootstrap_means, signed_sums
from rankwright.measures.base import Floats

UNITS = 2.0**40  # differences as whole numbers of this part of the largest: their sums are exact
EXACT = 16  # so many differences have few enough signs (2¹⁶) to try them all

Test = Callable[..., float]


def paired_t(differences: Floats, **_: object) -> float:
    """Student's paired t-test.

    >>> round(paired_t(np.array([0.1, 0.3, 0.2, 0.4])), 4)
    0.0305
    """
    from scipy.special import stdtr

    n = len(differences)
    if n < 2:
        return math.nan
    mean, spread = float(differences.mean()), float(differences.std(ddof=1))
    if spread == 0.0:
        return 1.0 if mean == 0.0 else 0.0
    return float(2.0 * stdtr(n - 1, -abs(mean) * math.sqrt(n) / spread))


def wilcoxon(differences: Floats, **_: object) -> float:
    """Wilcoxon's signed-rank test; queries without a difference are left out, as he did.

    >>> wilcoxon(np.array([0.1, 0.3, 0.2, 0.4]))
    0.125
    """
    from scipy import stats

    units = whole(differences)
    if not units.any():
        return 1.0 if len(units) else math.nan
    return float(stats.wilcoxon(units.astype(np.float64), zero_method="wilcox").pvalue)


def randomisation(
    differences: Floats, *, n_resamples: int = 10_000, random_state: int = 0, n_jobs: int | None = None
) -> float:
    """Fisher's randomisation test: the differences' signs are arbitrary. Exact for up to 16 that are not 0.

    >>> randomisation(np.array([0.1, 0.3, 0.2, 0.4]))
    0.125
    """
    units = whole(differences)
    if not len(units):
        return math.nan
    units = units[units != 0]
    # Rounding to units must not part sums that are equal.
    least = abs(int(units.sum())) - len(units)
    if len(units) <= EXACT:
        sums = np.zeros(1, np.int64)
        for unit in units:
            sums = np.concatenate([sums + unit, sums - unit])
        return float((abs(sums) >= least).mean())
    sums = signed_sums(units, n_resamples, random_state, n_jobs)
    return (1 + int((abs(sums) >= least).sum())) / (1 + n_resamples)


def bootstrap(
    differences: Floats, *, n_resamples: int = 10_000, random_state: int = 0, n_jobs: int | None = None
) -> float:
    """The bootstrap test: means of queries drawn again, with the differences moved to mean 0.

    >>> bootstrap(np.array([0.1, 0.3, 0.2, 0.4])) < 0.01
    True
    """
    if len(differences) < 2:  # one query drawn again and again tells nothing of others
        return math.nan
    mean = float(differences.mean())
    means = bootstrap_means(differences - mean, None, n_resamples, random_state, n_jobs)
    least = abs(mean) - 1e-12 * float(abs(differences).max())
    return (1 + int((abs(means) >= least).sum())) / (1 + n_resamples)


TESTS: dict[str, Test] = {
    "t": paired_t,
    "wilcoxon": wilcoxon,
    "randomisation": randomisation,
    "bootstrap": bootstrap,
}


def holm(p_values: Iterable[float]) -> list[float]:
    """Holm's step-down correction for the number of comparisons (those without a p-value, NaN, do not count).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    given = np.array(list(p_values))
    tried = np.flatnonzero(~np.isnan(given))
    order = tried[np.argsort(given[tried], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    given[order] = np.minimum(1.0, np.maximum.accumulate(given[order] * factors))
    return [float(p) for p in given]


def effect_size(differences: Floats) -> float:
    """The standardised mean difference: the mean difference over the differences' standard deviation.

    >>> effect_size(np.array([0.0, 0.2]))
    0.7071067811865475
    """
    if len(differences) < 2:
        return math.nan
    mean, spread = float(differences.mean()), float(differences.std(ddof=1))
    if spread == 0.0:
        return math.copysign(math.inf, mean) if mean else 0.0
    return mean / spread


def whole(differences: Floats) -> NDArray[np.int64]:
    """Differences as whole numbers, the largest 2⁴⁰: equal where only rounding errors set them apart.

    >>> whole(np.array([0.3 - 0.1, 0.2, 0.1 - 0.3])).tolist()
    [1099511627776, 1099511627776, -1099511627776]
    """
    largest = float(abs(differences).max(initial=0.0))
    return np.rint(differences / (largest or 1.0) * UNITS).astype(np.int64)
