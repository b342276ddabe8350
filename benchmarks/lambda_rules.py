"""What λ rules cost, and how long the diagnostics take.

    python -m benchmarks.lambda_rules

λ's of NDCG@10 for queries of 120 documents. The single-precision kernel of the default rule, which learners
use, is to take at most 10 ms for 6,000 queries on 2 threads. Then, on a sixth of the queries, each rule in
float64 and with potentials; and a net's scores along directions, circulations, counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import rankwright as rw
from benchmarks.common import arguments, interleaved, table, write_json
from rankwright.diagnostics.moves import moves
from rankwright.measures import measure
from rankwright.measures.lists import Lists
from rankwright.pairwise.forces import Forces
from rankwright.pairwise.lambdas import Lambdas
from rankwright.pairwise.rules import RULES, rule

DOCUMENTS, LEVELS = 120, [0.5, 0.3, 0.15, 0.04, 0.01]
QUERIES, THREADS, MOST_MS = 6000, 2, 10.0


def labelled(queries: int, random: np.random.Generator) -> tuple[Lists, Any]:
    """Labels and scores of so many queries, for two threads to share."""
    n = queries * DOCUMENTS
    labels = random.choice(5, n, p=LEVELS).astype(float)
    return Lists(labels, np.arange(0, n + 1, DOCUMENTS), n_jobs=THREADS), random.normal(size=n)


def by_learners(queries: int, random: np.random.Generator) -> Callable[[], Any]:
    """λ's as learners have them in every step."""
    lists, scores = labelled(queries, random)
    lambdas, out = Lambdas(lists, measure("ndcg@10")), tuple(np.empty((2, len(scores)), np.float32))
    return lambda: lambdas.at(scores, out)


def rules(queries: int, random: np.random.Generator) -> dict[str, Callable[[], Any]]:
    """λ's of NDCG@10 by each rule."""
    lists, scores = labelled(queries, random)
    forces = {kind.__name__: Forces(rule(kind.__name__), lists, measure("ndcg@10")) for kind in RULES}
    return {name: lambda each=each: each.at(scores) for name, each in forces.items()}


def diagnostics(queries: int, random: np.random.Generator) -> dict[str, Callable[[], Any]]:
    """The diagnostics, on a net of ten hidden units."""
    data = rw.synthetic.random_polynomial(queries, random_state=1)
    net = rw.NetworkScorer(
        [(random.normal(size=(10, 50)), np.zeros(10)), (random.normal(size=(1, 10)), np.zeros(1))]
    )
    moved = moves(net, data)
    ways, steps = random.normal(size=(10, len(moved.weights))), np.linspace(0.1, 1.0, 10)
    return {
        "scores of a net, 10 directions × 10 steps": lambda: moved.scores(ways, steps),
        "local optimality, 10 directions × 10 steps": lambda: rw.local_optimality(
            net, data, n_directions=10, every_weight=False
        ),
        "effective pairs": lambda: rw.effective_pairs(net, data),
        "conservative, 50 loops of 6 documents": lambda: rw.conservative("RankNetWeightPairs", "ndcg"),
    }


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--queries", type=int, default=QUERIES, help="how many (default: %(default)s)")
    given = parser.parse_args()
    random, fewer = np.random.default_rng(0), max(1, given.queries // 6)
    [seconds] = interleaved({"": by_learners(given.queries, random)}, given.repeats).values()
    verdict = "" if given.queries != QUERIES else "OK" if 1000 * seconds <= MOST_MS else "FAIL"
    name = f"λ's of NDCG@10, {given.queries:,} queries, {THREADS} threads"
    rows: list[dict[str, Any]] = [{"what": name, "ms": 1000 * seconds, "at most": MOST_MS, "": verdict}]
    timed = interleaved(rules(fewer, random) | diagnostics(fewer, random), given.repeats)
    rows += [{"what": name, "ms": 1000 * value, "at most": "", "": ""} for name, value in timed.items()]
    print(
        f"queries of {DOCUMENTS} documents; {fewer:,} by each rule, {fewer:,} of 50 × 50 by the diagnostics"
    )
    print(table(rows))
    if given.json:
        write_json(given.json, rows)


if __name__ == "__main__":
    main()
