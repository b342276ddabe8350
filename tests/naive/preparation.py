"""The papers' preparations, one document and one feature at a time, on lists of lists.

``queries`` is a list of queries, a query a list of (features, label) with None for what is missing.
"""

from __future__ import annotations

import math


def log_counts(queries, features):
    return [
        [
            (
                [log_count(value) if number in features else value for number, value in enumerate(values)],
                label,
            )
            for values, label in query
        ]
        for query in queries
    ]


def log_count(value):
    return None if value is None else math.log(1 + value)


def count_features(queries):
    found = []
    for column in zip(*(values for query in queries for values, _ in query), strict=True):
        known = [value for value in column if value is not None]
        found.append(all(value >= 0 and value == int(value) for value in known) and any(v > 1 for v in known))
    return [number for number, is_count in enumerate(found) if is_count]


def within_queries(queries, change):
    """Each feature of each query changed as a list of its known values."""
    prepared = []
    for query in queries:
        columns = []
        for column in zip(*(values for values, _ in query), strict=True):
            known = [value for value in column if value is not None]
            changed = iter(change(known))
            columns.append([None if value is None else next(changed) for value in column])
        prepared.append(
            [
                (list(values), label)
                for values, (_, label) in zip(zip(*columns, strict=True), query, strict=True)
            ]
        )
    return prepared


def scale(values):
    if not values:
        return []
    low, high = min(values), max(values)
    return [(value - low) / (high - low) if high > low else 0.0 for value in values]


def standardise(values):
    if not values or min(values) == max(values):
        return [0.0 for _ in values]
    mean = math.fsum(values) / len(values)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
    return [(value - mean) / deviation for value in values]


def drop_zero_documents(queries):
    kept = [
        [(values, label) for values, label in query if any(value != 0 for value in values)]
        for query in queries
    ]
    return [query for query in kept if query]


def drop_contradictions(queries, cosine, relevant):
    prepared = []
    for query in queries:
        dropped = set()
        for i, (first, good) in enumerate(query):
            for j, (second, bad) in enumerate(query):
                judged = good is not None and bad is not None
                if judged and bad < relevant <= good and cosine_of(first, second) > cosine:
                    dropped |= {i, j}
        kept = [document for i, document in enumerate(query) if i not in dropped]
        if kept:
            prepared.append(kept)
    return prepared


def cosine_of(first, second):
    a = [value or 0.0 for value in first]
    b = [value or 0.0 for value in second]
    lengths = math.hypot(*a) * math.hypot(*b)
    return sum(x * y for x, y in zip(a, b, strict=True)) / lengths if lengths else 0.0
