"""The best combination of two rankers, found by sweeping every change of order.

    python -m benchmarks.combine

10,000 queries of 100 documents with five labels, and two rankers with errors of their own; α from 0 to 1. One
sweep is to take less than 5 s on 2 threads.
"""

from __future__ import annotations

import time

import numpy as np

import rankwright as rw
from benchmarks.common import arguments, table, write_json
from rankwright.ensembles.combine import best_alpha
from rankwright.learners.base import judge

QUERIES, DOCUMENTS = 10_000, 100
SHARES = (0.56, 0.29, 0.12, 0.02, 0.01)
MEASURES = ("ndcg@10", "ndcg", "map", "err@10")


def main() -> None:
    options = arguments(__doc__).parse_args()
    random = np.random.default_rng(0)
    n = QUERIES * DOCUMENTS
    labels = random.choice(5, n, p=SHARES)
    queries = rw.QuerySet(np.zeros((n, 1)), labels, qid=np.repeat(np.arange(QUERIES), DOCUMENTS))
    a, b = (labels + random.normal(size=n) * noise for noise in (2.0, 2.5))
    rows = []
    for name in MEASURES:
        measure, seconds = rw.measure(name), []
        for _ in range(min(options.repeats, 3) + 1):
            begin = time.perf_counter()
            alpha, best, changes = best_alpha(a, b, measure, queries)
            seconds.append(time.perf_counter() - begin)
        alone = judge(measure, queries)
        rows.append(
            {"measure": name, "s": float(np.median(seconds[1:])), "changes": changes, "α": alpha,
             "best": best, "first alone": alone(a), "second alone": alone(b)}
        )  # fmt: skip
    print(table(rows))
    if options.json:
        write_json(options.json, rows)


if __name__ == "__main__":
    main()
