"""Files of LETOR text for tests, and what is asked of a query set read from one."""

from __future__ import annotations

import numpy as np
from tests.naive import letor as naive


def written(folder, text, name="train.txt"):
    path = folder / name
    path.write_bytes(text.encode(errors="surrogateescape") if isinstance(text, str) else text)
    return path


def assert_same(queries, rows):
    """That a query set holds what the naive reader found, bit for bit."""
    first = 0 if naive.lowest_index(rows) == 0 else 1
    width = max(0, naive.highest_index(rows) + 1 - first)
    expected = np.array(naive.matrix(rows, first, width), np.float32).reshape(len(rows), width)
    assert_bits(queries.features, expected)
    labels = np.array([row.label for row in rows])
    if np.isnan(labels).all():
        assert queries.labels is None
    else:
        assert_bits(queries.labels, labels)
    assert queries.query_ids == tuple(naive.query_ids(rows))
    by_row = [str(queries.query_ids[query]) for query in np.repeat(range(queries.n_queries), queries.sizes)]
    assert by_row == [row.query for row in rows]
    documents = [row.document for row in rows]
    assert queries.documents == (tuple(documents) if any(documents) else None)


def assert_bits(given_values, expected):
    assert given_values.dtype == expected.dtype and given_values.shape == expected.shape
    both_nan = np.isnan(given_values) & np.isnan(expected)
    differ = (
        given_values.view(f"i{expected.itemsize}") != expected.view(f"i{expected.itemsize}")
    ) & ~both_nan
    assert not differ.any(), np.argwhere(differ)[0]
