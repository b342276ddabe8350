"""What is in a query set: counts, sizes, labels, and what may be wrong with them."""

from __future__ import annotations

import dataclasses
import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.runtime.arrays import BLOCK, Floats

if TYPE_CHECKING:
    from rankwright.data.queries import QuerySet

WIDTH = 80
INDENT = 20


@dataclasses.dataclass(frozen=True, kw_only=True)
class Description:
    """Made by ``QuerySet.describe``; prints as a table.

    ``blank`` queries have no label above 0, ``single_label`` queries no two labels that differ: neither
    teaches a learner which document is better. ``constant`` features have one value in all rows.
    ``duplicates`` are rows with the same features as an earlier row of their query, ``contradictions`` those
    of them whose label is another.
    """

    queries: int
    documents: int
    features: int
    sizes: dict[str, float]
    labels: dict[float, int]
    unjudged: int
    blank: int
    single_label: int
    constant: tuple[str, ...]
    missing: int
    missing_features: tuple[str, ...]
    duplicates: int
    contradictions: int
    extras: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """The same as a dictionary of plain values, ready for JSON.

        >>> from rankwright import QuerySet
        >>> QuerySet([[0.5]], [1], qid=7).describe().as_dict()["labels"]
        {'1': 1}
        """
        values = dataclasses.asdict(self)
        return values | {"labels": {f"{label:g}": count for label, count in self.labels.items()}}

    def __str__(self) -> str:
        lines = [
            ("queries", f"{self.queries:,}"),
            ("documents", f"{self.documents:,}"),
            ("features", f"{self.features:,}"),
            ("documents a query", ", ".join(f"{name} {size:,.6g}" for name, size in self.sizes.items())),
            ("labels", self._labels()),
            ("blank queries", f"{self.blank:,}{self._share(self.blank, self.queries)}"),
            ("one label only", f"{self.single_label:,}{self._share(self.single_label, self.queries)}"),
            ("constant features", self._features(self.constant)),
            ("missing values", f"{self.missing:,}" + self._in(self.missing_features)),
            ("duplicate rows", f"{self.duplicates:,}" + self._contradictions()),
            ("also given", ", ".join(self.extras)),
        ]
        return "\n".join(_wrapped(name, text) for name, text in lines if text)

    def _labels(self) -> str:
        counts = [f"{label:g}: {count:,}" for label, count in self.labels.items()]
        return ", ".join(counts + [f"unjudged: {self.unjudged:,}"] * bool(self.unjudged)) or "none"

    @staticmethod
    def _share(part: int, whole: int) -> str:
        return f" ({100 * part / whole:.1f} %)" if part else ""

    @staticmethod
    def _features(names: tuple[str, ...]) -> str:
        return f"{len(names):,}: {', '.join(names)}" if names else "0"

    @staticmethod
    def _in(names: tuple[str, ...]) -> str:
        return f" in {len(names):,} feature{'s' * (len(names) > 1)}: {', '.join(names)}" if names else ""

    def _contradictions(self) -> str:
        return f" ({self.contradictions:,} with another label)" if self.contradictions else ""


def describe(queries: QuerySet) -> Description:
    """Look through a query set once."""
    sizes = queries.sizes
    blank, single_label = _uninformative(queries)
    constant, missing = _columns(queries)
    duplicates, contradictions = _duplicates(queries)
    labels = np.zeros(0) if queries.labels is None else queries.labels
    values, counts = np.unique(labels[~np.isnan(labels)], return_counts=True)
    given = ("documents", "feature_names", "sample_weight", "query_weight", "positions")
    return Description(
        queries=queries.n_queries,
        documents=len(queries),
        features=queries.n_features,
        sizes={
            "least": int(sizes.min()),
            "median": float(np.median(sizes)),
            "mean": round(float(sizes.mean()), 2),
            "most": int(sizes.max()),
        },
        labels=dict(zip(values.tolist(), counts.tolist(), strict=True)),
        unjudged=int(np.isnan(labels).sum()),
        blank=blank,
        single_label=single_label,
        constant=_names(queries, np.flatnonzero(constant)),
        missing=int(missing.sum()),
        missing_features=_names(queries, np.flatnonzero(missing)),
        duplicates=duplicates,
        contradictions=contradictions,
        extras=tuple(name.replace("_", " ") for name in given if getattr(queries, name) is not None),
    )


def counted(n: int, one: str, more: str) -> str:
    """A number with its noun.

    >>> counted(1, "query", "queries"), counted(1200, "query", "queries")
    ('1 query', '1,200 queries')
    """
    return f"{n:,} {one if n == 1 else more}"


def _uninformative(queries: QuerySet) -> tuple[int, int]:
    """How many queries are blank, and how many have no two labels that differ."""
    if queries.labels is None:
        return 0, 0
    starts = queries.offsets[:-1]
    # fmin and fmax pass over NaN: unjudged documents say nothing here.
    highest, lowest = np.fmax.reduceat(queries.labels, starts), np.fmin.reduceat(queries.labels, starts)
    return int((~(highest > 0)).sum()), int((~(highest > lowest)).sum())


def _columns(queries: QuerySet) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Which features have one value (or none) everywhere, and how many values each lacks."""
    width = queries.n_features
    lowest, highest = np.full(width, np.nan, np.float32), np.full(width, np.nan, np.float32)
    missing = np.zeros(width, np.int64)
    for begin in range(0, len(queries), BLOCK):
        block = queries.features[begin : begin + BLOCK]
        lowest = np.fmin(lowest, np.fmin.reduce(block))
        highest = np.fmax(highest, np.fmax.reduce(block))
        missing += np.isnan(block).sum(axis=0)
    same = (lowest == highest) & (missing == 0)
    return same | (missing == len(queries)), missing


def _duplicates(queries: QuerySet) -> tuple[int, int]:
    """How many rows repeat an earlier row of their query, and how many of those with another label."""
    labels: Floats = np.zeros(len(queries)) if queries.labels is None else queries.labels
    duplicates = contradictions = 0
    for rows in queries.slices():
        block = queries.features[rows] + np.float32(0)  # −0 becomes 0
        block[np.isnan(block)] = np.nan  # one NaN for all
        texts = [row.tobytes() for row in block]
        if len(set(texts)) == len(texts):
            continue
        first: dict[bytes, float] = {}
        for text, label in zip(texts, labels[rows].tolist(), strict=True):
            if text not in first:
                first[text] = label
                continue
            duplicates += 1
            contradictions += label != first[text] and not np.isnan([label, first[text]]).any()
    return duplicates, contradictions


def _names(queries: QuerySet, columns: np.ndarray[Any, Any]) -> tuple[str, ...]:
    """The names of some features, or their numbers counted from 0."""
    if queries.feature_names is None:
        return tuple(map(str, columns.tolist()))
    return tuple(queries.feature_names[column] for column in columns)


def _wrapped(name: str, text: str) -> str:
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent=f"{name:<{INDENT}}",
        subsequent_indent=" " * INDENT,
        break_on_hyphens=False,
    )
