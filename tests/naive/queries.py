"""Query sets as lists of rows: what grouping, selecting and describing should come to."""

from __future__ import annotations

import math


def grouped(ids):
    """The rows of each id, ids in the order of their first row."""
    rows = {}
    for row, query in enumerate(ids):
        rows.setdefault(query, []).append(row)
    return rows


def described(features, labels, ids):
    """Counts of what a description tells, one query after another."""
    counts = {"blank": 0, "single_label": 0, "duplicates": 0, "contradictions": 0}
    for rows in grouped(ids).values():
        judged = [labels[row] for row in rows if not math.isnan(labels[row])]
        counts["blank"] += not any(label > 0 for label in judged)
        counts["single_label"] += len(set(judged)) < 2
        seen = []
        for row in rows:
            same = [label for values, label in seen if alike(values, features[row])]
            if not same:
                seen.append((features[row], labels[row]))
                continue
            counts["duplicates"] += 1
            known = not math.isnan(same[0]) and not math.isnan(labels[row])
            counts["contradictions"] += known and same[0] != labels[row]
    columns = list(zip(*features, strict=True))
    counts["missing"] = sum(math.isnan(value) for column in columns for value in column)
    counts["constant"] = [
        number
        for number, column in enumerate(columns)
        if all(math.isnan(value) for value in column) or all(value == column[0] for value in column)
    ]
    return counts


def alike(first, second):
    return all(a == b or (math.isnan(a) and math.isnan(b)) for a, b in zip(first, second, strict=True))
