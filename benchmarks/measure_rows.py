"""What it costs that one compiled λ kernel serves all measures.

    python -m benchmarks.measure_rows

One query of 120 documents, pairs with a document among the first 30. Measures enter as function pointers,
once a row; beside them stands a kernel with NDCG written into its innermost loop. NDCG may take 1.5 times as
long as that one, MAP and ERR 1.7 times. Then a new process must find the kernels in Numba's disk cache, the λ
kernel also where a measure is the user's own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.common import arguments, interleaved, table, write_json
from rankwright.measures import measure
from rankwright.measures.base import PREPARE, ROW, Measure
from rankwright.pairwise.lambdas import LANES, NEAR, ONE, UNSIGNED_ONE, ZERO, pair_rows
from rankwright.runtime.exponential import exponential
from rankwright.runtime.kernels import function_type, kernel

DOCUMENTS, TRUNCATION, CALLS = 120, 30, 500
BOUNDS = {"ndcg": 1.5, "map": 1.7, "err": 1.7}


def _hard_types() -> Any:
    import numba as nb

    singles, size = nb.float32[::1], nb.uint64
    return nb.float64(
        size, size, nb.float32, nb.boolean, singles, nb.int32[::1], singles, singles, singles, nb.float32,
        singles, singles,
    )  # fmt: skip


@kernel(_hard_types, fastmath={"reassoc", "contract", "arcp", "nsz"})
def ndcg_pairs(
    n: Any,
    rows: Any,
    sigma: Any,
    by_distance: bool,
    scores: Any,
    levels: Any,
    weights: Any,
    gains: Any,
    discounts: Any,
    constant: Any,
    lambdas: Any,
    hessians: Any,
) -> float:
    for r in range(n + LANES):
        lambdas[r] = ZERO
        hessians[r] = ZERO
    apart = by_distance and scores[0] != scores[n - UNSIGNED_ONE]
    near, slope = (NEAR, ONE) if apart else (ONE, ZERO)
    total = 0.0
    for i in range(rows):
        score, level, gain, discount, weight = (
            scores[i],
            levels[i],
            gains[i],
            discounts[i],
            sigma * weights[i],
        )
        up, bend, pushed = ZERO, ZERO, ZERO
        begin = i + UNSIGNED_ONE
        for lane in range((n - begin + LANES - UNSIGNED_ONE) // LANES * LANES):
            j = begin + lane
            distance = score - scores[j]
            e = exponential(-sigma * distance)
            divisor = near + slope * distance
            inverse = ONE / ((ONE + e) * divisor)
            size = (
                abs((gains[j] - gain) * (discount - discounts[j]) * constant) * weights[j] * weight * inverse
            )
            size = size if levels[j] != level else ZERO
            right = size * e
            force = right if levels[j] < level else -size
            curve = right * inverse * divisor
            lambdas[j] -= force
            hessians[j] += curve
            up += force
            bend += curve
            pushed += abs(force)
        lambdas[i] += up
        hessians[i] += bend
        total += np.float64(pushed)
    return total


def _repeat_types() -> Any:
    import numba as nb

    singles, size, vector, matrix = nb.float32[::1], nb.uint64, nb.float64[::1], nb.float64[:, ::1]
    return nb.float64(
        nb.int64, function_type(PREPARE), function_type(ROW), size, size, nb.float64, singles, nb.int32[::1],
        singles, vector, matrix, singles, singles, singles,
    )  # fmt: skip


@kernel(_repeat_types)
def repeat_rows(
    calls: int,
    prepare: Any,
    row: Any,
    n: Any,
    rows: Any,
    constant: float,
    scores: Any,
    levels: Any,
    weights: Any,
    gains: Any,
    tables: Any,
    swaps: Any,
    lambdas: Any,
    hessians: Any,
) -> float:
    total = 0.0
    for _ in range(calls):
        prepare(n, gains, constant, tables)
        total += pair_rows(
            row, n, rows, ONE, True, scores, levels, weights, gains, tables, swaps, lambdas, hessians
        )
    return total


def _repeat_hard_types() -> Any:
    import numba as nb

    singles, size = nb.float32[::1], nb.uint64
    return nb.float64(
        nb.int64, size, size, singles, nb.int32[::1], singles, singles, singles, nb.float32, singles, singles
    )


@kernel(_repeat_hard_types)
def repeat_hard(
    calls: int,
    n: Any,
    rows: Any,
    scores: Any,
    levels: Any,
    weights: Any,
    gains: Any,
    discounts: Any,
    constant: Any,
    lambdas: Any,
    hessians: Any,
) -> float:
    total = 0.0
    for _ in range(calls):
        total += ndcg_pairs(
            n, rows, ONE, True, scores, levels, weights, gains, discounts, constant, lambdas, hessians
        )
    return total


class Query:
    """One ranked query, padded as the kernels want it."""

    def __init__(self) -> None:
        random = np.random.default_rng(0)
        size = DOCUMENTS + int(LANES)
        self.labels = random.choice([0.0, 1.0, 2.0, 3.0], DOCUMENTS, p=[0.5, 0.3, 0.15, 0.05])
        self.scores, self.weights = np.zeros((2, size), np.float32)
        self.scores[:DOCUMENTS] = np.sort(random.normal(size=DOCUMENTS))[::-1]
        self.scores[DOCUMENTS:] = self.scores[DOCUMENTS - 1]
        self.weights[:DOCUMENTS] = 1.0
        self.levels = np.zeros(size, np.int32)
        self.levels[:DOCUMENTS] = self.labels
        self.n, self.rows = np.uint64(DOCUMENTS), np.uint64(TRUNCATION)

    def by_rows(self, text: str) -> tuple[Callable[[], Any], Any]:
        """The λ kernel with this measure, and the λ's it writes."""
        chosen: Measure = measure(text)
        gains, tables = chosen.gains(self.labels), chosen.tables(DOCUMENTS)
        constant = chosen.constant_kernel.compiled(
            DOCUMENTS, gains, chosen.ranks(DOCUMENTS), chosen.parameters
        )
        swaps, lambdas, hessians = np.zeros((3, len(self.scores)), np.float32)
        assert chosen.prepare_kernel is not None and chosen.row_kernel is not None
        prepare, row = chosen.prepare_kernel.compiled, chosen.row_kernel.compiled
        return lambda: repeat_rows(
            CALLS, prepare, row, self.n, self.rows, constant, self.scores, self.levels, self.weights, gains,
            tables, swaps, lambdas, hessians,
        ), lambdas  # fmt: skip

    def hard_coded(self) -> tuple[Callable[[], Any], Any]:
        """The kernel with NDCG written in, and the λ's it writes."""
        ndcg = measure("ndcg")
        gains, discounts, lambdas, hessians = np.zeros((4, len(self.scores)), np.float32)
        gains[:DOCUMENTS], discounts[:DOCUMENTS] = ndcg.gains(self.labels), ndcg.ranks(DOCUMENTS)
        constant = np.float32(
            ndcg.constant_kernel.compiled(
                DOCUMENTS, ndcg.gains(self.labels), ndcg.ranks(DOCUMENTS), ndcg.parameters
            )
        )
        return lambda: repeat_hard(
            CALLS, self.n, self.rows, self.scores, self.levels, self.weights, gains, discounts, constant,
            lambdas, hessians,
        ), lambdas  # fmt: skip


NEW_PROCESS = """
import json, sys
import numpy as np
import rankwright as rw
from rankwright.measures.lists import Lists
from rankwright.pairwise import lambdas

if sys.argv[1] == "own":
    @rw.measure
    def own(labels):
        return float(labels[0] > 0.0)
    chosen = own
else:
    chosen = rw.measure(sys.argv[1])
lists = Lists(np.array([0.0, 1.0]), np.array([0, 2]))
lambdas.Lambdas(lists, chosen).at([1.0, 0.0])
kernels = {"λ kernel": lambdas.query_lambdas}
if sys.argv[1] != "own":
    kernels |= {"prepare": chosen.prepare_kernel, "row": chosen.row_kernel}
print(json.dumps({name: sum(kernel.compiled.stats.cache_hits.values()) for name, kernel in kernels.items()}))
"""


def cache_hits(text: str) -> dict[str, int]:
    """How often a new process that trains for this measure found each kernel in the disk cache."""
    run = [sys.executable, "-W", "ignore", "-c", NEW_PROCESS, text]
    subprocess.run(run, check=True, capture_output=True)  # fills the cache
    hits: dict[str, int] = json.loads(subprocess.run(run, check=True, capture_output=True).stdout)
    return hits


def main() -> int:
    parser = arguments(__doc__)
    parser.set_defaults(repeats=61)
    options = parser.parse_args()
    query = Query()
    hard, expected = query.hard_coded()
    functions = {"hard": hard}
    written = {}
    for text in ("ndcg", "map", "err", "mrr", "bpref", "auc", "pairs"):
        functions[text], written[text] = query.by_rows(text)
    seconds = interleaved(functions, options.repeats)
    assert np.allclose(written["ndcg"], expected, rtol=1e-4, atol=1e-6), "the two NDCG kernels disagree"
    rows: list[dict[str, Any]] = []
    for text, value in seconds.items():
        bound = BOUNDS.get(text)
        ratio = value / seconds["hard"]
        rows.append(
            {
                "measure": "ndcg, hard-coded" if text == "hard" else text,
                "µs a query": value / CALLS * 1e6,
                "ratio": ratio,
                "at most": bound or "",
                "found in the cache": "" if text == "hard" else all(cache_hits(text).values()),
                "ok": "" if bound is None else ratio <= bound,
            }
        )
    own = all(cache_hits("own").values())
    print(table(rows))
    print(f"the λ kernel is found in the cache beside a user's new measure: {own}")
    if options.json:
        write_json(options.json, rows)
    return 0 if own and all(False not in (row["ok"], row["found in the cache"]) for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
