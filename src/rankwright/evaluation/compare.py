"""``compare``: which ranking is better, by how much, and whether that could be chance."""

from __future__ import annotations

import dataclasses
import importlib
import itertools
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankwright.data.rankings import Rankings
from rankwright.evaluation.evaluate import Measures, as_measures, as_rankings, evaluate_rankings
from rankwright.evaluation.resampling import check_resampling, t_interval
from rankwright.evaluation.result import LEVEL, Evaluation, jsonable
from rankwright.evaluation.significance import TESTS, effect_size, holm
from rankwright.evaluation.tables import comparison_table
from rankwright.measures.base import Floats, Measure
from rankwright.runtime.errors import InputError, require

ROUNDING = 1e-12  # values of a query that differ by less, relatively, are equal


@dataclasses.dataclass(frozen=True, kw_only=True)
class Contrast:
    """Two systems by one measure: ``a`` minus ``b``, over the queries that count for both.

    ``p`` and ``corrected`` (after Holm, for all contrasts of the comparison) hold a p-value a test.
    """

    measure: Measure
    a: str
    b: str
    mean_a: float
    mean_b: float
    difference: float
    interval: tuple[float, float]
    effect_size: float
    queries: int
    wins: int
    ties: int
    losses: int
    p: dict[str, float]
    corrected: dict[str, float]

    def as_dict(self) -> dict[str, Any]:
        """The figures as plain numbers, for JSON (None where there is no number)."""
        figures = dataclasses.asdict(self) | {"measure": str(self.measure), "interval": list(self.interval)}
        return {name: jsonable(value) for name, value in figures.items()}


class Comparison(Sequence[Contrast]):
    """The contrasts of a comparison; ``evaluations`` holds each system's own figures. Prints as a table.

    ``systems`` and ``queries`` are what was compared, as it was given: a report reads from them how rankers
    learned, and what the data is.
    """

    def __init__(
        self,
        contrasts: Sequence[Contrast],
        evaluations: dict[str, Evaluation],
        systems: Mapping[str, Any] | None = None,
        queries: Any = None,
    ):
        self._contrasts = tuple(contrasts)
        self.evaluations = evaluations
        self.systems = dict(systems or {})
        self.queries = queries

    def __getitem__(self, index: Any) -> Any:
        return self._contrasts[index]

    def __len__(self) -> int:
        return len(self._contrasts)

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, for JSON."""
        return {
            "systems": {name: evaluation.as_dict() for name, evaluation in self.evaluations.items()},
            "contrasts": [contrast.as_dict() for contrast in self],
        }

    def to_dict(self) -> dict[str, list[Any]]:
        """One entry a contrast, as columns."""
        rows = [_flat(contrast) for contrast in self]
        return {name: [row[name] for row in rows] for name in rows[0]}

    def frame(self) -> Any:
        """One row a contrast, as a pandas data frame."""
        return require("pandas", "frames").DataFrame(self.to_dict())

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """The comparison as one page that opens in any browser, offline; written to ``path``, if given."""
        text: str = _report().page(self, path)
        return text

    def plot(self, figure: str = "measures", **chosen: Any) -> Any:
        """A figure of the report as an Altair chart, for ``.save("figure.png")`` or ``.svg``.

        ``figure`` is "measures", "curves", "gains", "moves", "learning" or "importance". ``measure=`` is one
        of the comparison's (the first), ``between=("a", "b")`` two systems (the first contrast's), and
        ``query=`` the query whose documents move (the one that gains most).
        """
        return _report().plot(self, figure, **chosen)

    def __repr__(self) -> str:
        return comparison_table(self)


def _report() -> Any:
    """What draws comparisons. It reads evaluations; these know no more of it than this name, when asked."""
    return importlib.import_module("rankwright.report")


def compare(
    systems: Mapping[str, Any],
    queries: Any = None,
    measures: Measures = "ndcg@10",
    *,
    baseline: str | None = None,
    qid: Any = None,
    documents: Any = None,
    query_weight: Any = None,
    complete: bool = False,
    n_resamples: int = 10_000,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Comparison:
    """Compare rankings of the same queries, each with each, or all with ``baseline``.

    ``systems`` are what ``evaluate`` takes, by name; ``queries``, ``qid``, ``documents``, ``query_weight``
    and ``complete`` are as there. Differences are tested over queries (Student's t, Wilcoxon's signed ranks,
    Fisher's randomisation and the bootstrap, with ``n_resamples``), and the p-values corrected after Holm for
    the number of contrasts.

    >>> comparison = compare({"a": [3, 2, 1, 3, 2, 1], "b": [1, 2, 3, 1, 2, 3]}, [1, 0, 0] * 2, "mrr",
    ...                      qid=[1, 1, 1, 2, 2, 2])
    >>> round(comparison[0].difference, 4), comparison[0].wins, comparison[0].p["randomisation"]
    (0.6667, 2, 0.5)
    """
    if not isinstance(systems, Mapping) or len(systems) < 2:
        raise InputError('a comparison needs at least two systems by name, as in {"mine": a, "baseline": b}')
    if baseline is not None and baseline not in systems:
        raise InputError(f"baseline={baseline!r} is none of the systems; they are {', '.join(systems)}")
    check_resampling(n_resamples, random_state)
    read = as_measures(measures)
    rankings = {
        name: as_rankings(what, queries, qid=qid, documents=documents, complete=complete)
        for name, what in systems.items()
    }
    _check_same_queries(rankings)
    if query_weight is not None:
        rankings = {name: each.weighted(query_weight) for name, each in rankings.items()}
    evaluations = {name: evaluate_rankings(each, read, n_jobs) for name, each in rankings.items()}
    resampling = {"n_resamples": n_resamples, "random_state": random_state, "n_jobs": n_jobs}
    contrasts = [
        _contrast(measure, a, b, evaluations, resampling)
        for measure in read
        for a, b in _pairs(list(systems), baseline)
    ]
    return Comparison(_corrected(contrasts), evaluations, systems, queries)


def _pairs(names: list[str], baseline: str | None) -> list[tuple[str, str]]:
    if baseline is None:
        return list(itertools.combinations(names, 2))
    return [(name, baseline) for name in names if name != baseline]


def _check_same_queries(rankings: dict[str, Rankings]) -> None:
    (first, known), *others = rankings.items()
    for name, each in others:
        different = set(known.query_ids) ^ set(each.query_ids)
        if different:
            query = min(different, key=str)
            here, missing = (first, name) if query in known.query_ids else (name, first)
            raise InputError(
                f"query {query!r} is in {here} and not in {missing}; compare rankings of the same queries "
                "(for runs, complete=True counts what a run lacks as 0)"
            )


def _contrast(
    measure: Measure, a: str, b: str, evaluations: dict[str, Evaluation], resampling: dict[str, Any]
) -> Contrast:
    first, second = evaluations[a][measure], evaluations[b][measure]
    place = {query: number for number, query in enumerate(second.query_ids)}
    values_b = second.per_query[[place[query] for query in first.query_ids]]
    counted = ~np.isnan(first.per_query) & ~np.isnan(values_b)
    if first.query_weight is not None:
        counted &= first.query_weight > 0
    weights = None if first.query_weight is None else first.query_weight[counted]
    differences = _differences(first.per_query[counted], values_b[counted], weights)
    mean = math.fsum(differences.tolist()) / len(differences) if len(differences) else math.nan
    return Contrast(
        measure=measure,
        a=a,
        b=b,
        mean_a=first.mean,
        mean_b=second.mean,
        difference=mean,
        interval=t_interval(differences, None, LEVEL),
        effect_size=effect_size(differences),
        queries=len(differences),
        wins=int((differences > 0).sum()),
        ties=int((differences == 0).sum()),
        losses=int((differences < 0).sum()),
        p={name: test(differences, **resampling) for name, test in TESTS.items()},
        corrected={},
    )


def _differences(a: Floats, b: Floats, weights: Floats | None) -> Floats:
    """Each query's difference, 0 where only rounding sets it apart; weighed so that their mean is right."""
    differences = a - b
    differences[abs(differences) <= ROUNDING * np.maximum(abs(a), abs(b))] = 0.0
    if weights is None or not len(weights):
        return differences
    return differences * (weights / weights.mean())


def _corrected(contrasts: list[Contrast]) -> list[Contrast]:
    by_test = {test: holm(contrast.p[test] for contrast in contrasts) for test in TESTS}
    return [
        dataclasses.replace(contrast, corrected={test: by_test[test][number] for test in TESTS})
        for number, contrast in enumerate(contrasts)
    ]


def _flat(contrast: Contrast) -> dict[str, Any]:
    row = contrast.as_dict()
    row["interval_low"], row["interval_high"] = row.pop("interval")
    for kind in ("p", "corrected"):
        row |= {f"{kind}_{test}": value for test, value in row.pop(kind).items()}
    return row
