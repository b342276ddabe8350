"""What an evaluation found: per-query values and what follows from them, computed when asked for."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from rankwright.evaluation.resampling import bootstrap_means, t_interval
from rankwright.evaluation.tables import evaluation_table
from rankwright.measures import measure as read_measure
from rankwright.measures.base import Floats, Measure
from rankwright.measures.lists import Ranked, mean_value
from rankwright.runtime.errors import InputError, require

LEVEL = 0.95


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class MeasureResult:
    """One measure of some rankings: ``per_query`` (NaN: left out of the mean) and what follows from it."""

    measure: Measure
    query_ids: tuple[Hashable, ...]
    per_query: Floats
    query_weight: Floats | None
    ranked: Ranked

    @functools.cached_property
    def mean(self) -> float:
        """The mean over the queries that count, weighted by ``query_weight``; NaN if none counts."""
        return mean_value(self.per_query, self.query_weight)

    @functools.cached_property
    def interval(self) -> tuple[float, float]:
        """The mean's 95 % confidence interval after Student's t; NaN for fewer than two queries."""
        return t_interval(*self._counted, LEVEL)

    def bootstrap_interval(
        self,
        level: float = LEVEL,
        *,
        n_resamples: int = 10_000,
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> tuple[float, float]:
        """The mean's confidence interval from the percentiles of means of resampled queries."""
        if not 0 < level < 1:
            raise InputError(f"level is {level!r}; it lies between 0 and 1, as in 0.95")
        values, weights = self._counted
        if not len(values):
            return math.nan, math.nan
        means = bootstrap_means(values, weights, n_resamples, random_state, n_jobs)
        low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
        return float(low), float(high)

    @functools.cached_property
    def counted(self) -> int:
        """How many queries the mean is over."""
        return len(self._counted[0])

    @functools.cached_property
    def blank(self) -> int:
        """How many queries have nothing to find."""
        return int((self.ranked.lists.constants(self.measure) == 0.0).sum())

    @functools.cached_property
    def short(self) -> int:
        """How many queries have fewer documents than the cut-off."""
        k = self.measure.cutoff
        return 0 if k is None else int((self.ranked.lists.sizes < k).sum())

    @functools.cached_property
    def tied(self) -> int:
        """How many queries have documents with equal scores."""
        return int(self.ranked.tied.sum())

    @functools.cached_property
    def range(self) -> tuple[float, float]:
        """The mean with all tied documents in their worst order, and in their best."""
        if not self.tied:
            return self.mean, self.mean
        worst, best = (
            mean_value(self.ranked.values(self.measure, ties), self.query_weight)
            for ties in ("worst", "best")
        )
        return worst, best

    def as_dict(self) -> dict[str, Any]:
        """The figures as plain numbers, for JSON (None where there is no number)."""
        figures = {
            "measure": str(self.measure),
            "mean": self.mean,
            "interval": list(self.interval),
            "queries": len(self.per_query),
            "counted": self.counted,
            "blank": self.blank,
            "short": self.short,
            "tied": self.tied,
            "range": list(self.range),
        }
        return {name: jsonable(value) for name, value in figures.items()}

    def __repr__(self) -> str:
        return str(Evaluation([self]))

    @property
    def _counted(self) -> tuple[Floats, Floats | None]:
        kept = ~np.isnan(self.per_query)
        if self.query_weight is None:
            return self.per_query[kept], None
        kept &= self.query_weight > 0
        return self.per_query[kept], self.query_weight[kept]


class Evaluation(Mapping[Measure, MeasureResult]):
    """The results of an evaluation by measure: ``result["ndcg@10"].mean``; prints as a table."""

    def __init__(self, results: Iterable[MeasureResult]):
        self._results = {result.measure: result for result in results}

    def __getitem__(self, key: str | Measure) -> MeasureResult:
        measure = key if isinstance(key, Measure) else read_measure(key)
        if measure not in self._results:
            there = ", ".join(map(str, self._results))
            raise KeyError(f"{measure!r} was not evaluated; there is {there}")
        return self._results[measure]

    def __iter__(self) -> Iterator[Measure]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def as_dict(self) -> dict[str, Any]:
        """Every measure's figures as plain numbers, for JSON."""
        return {str(measure): result.as_dict() for measure, result in self.items()}

    def to_dict(self) -> dict[str, list[Any]]:
        """The values of each query, as columns: ``query``, and one a measure."""
        first = next(iter(self._results.values()))
        columns: dict[str, list[Any]] = {"query": list(first.query_ids)}
        return columns | {str(measure): result.per_query.tolist() for measure, result in self.items()}

    def frame(self) -> Any:
        """The values of each query as a pandas data frame."""
        return require("pandas", "frames").DataFrame(self.to_dict())

    def __repr__(self) -> str:
        return evaluation_table(self)


def jsonable(value: Any) -> Any:
    """Numbers as JSON has them, also in a list or dictionary: None for what is not finite."""
    if isinstance(value, list):
        return [jsonable(each) for each in value]
    if isinstance(value, dict):
        return {name: jsonable(each) for name, each in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value
