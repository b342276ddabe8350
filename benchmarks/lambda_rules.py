"""What λ rules cost, and how long the diagnostics take.

    python -m benchmarks.lambda_rules

λ's of NDCG@10 for queries of 120 documents by each rule, in float64 and with potentials; above them the
single-precision kernel of the default rule. Then a net's scores along directions, circulations, counts.
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


def rules(queries: int, random: np.random.Generator) -> dict[str, Callable[[], Any]]:
    """λ's of NDCG@10 by each rule."""
    n = queries * DOCUMENTS
    lists = Lists(random.choice(5, n, p=LEVELS).astype(float), np.arange(0, n + 1, DOCUMENTS))
    scores, ndcg = random.normal(size=n), measure("ndcg@10")
    made = {"Lambdas (float32)": lambda: Lambdas(lists, ndcg).at(scores)}
    for kind in RULES:
        forces = Forces(rule(kind.__name__), lists, ndcg)
        made[kind.__name__] = lambda forces=forces: forces.at(scores)
    return made


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
    parser.add_argument("--queries", type=int, default=1000, help="how many (default: %(default)s)")
    given = parser.parse_args()
    random = np.random.default_rng(0)
    functions = rules(given.queries, random) | diagnostics(given.queries, random)
    seconds = interleaved(functions, given.repeats)
    rows = [{"what": name, "ms": 1000 * value} for name, value in seconds.items()]
    print(f"{given.queries:,} queries of {DOCUMENTS} documents (rules) and 50 × 50 (diagnostics)")
    print(table(rows))
    if given.json:
        write_json(given.json, rows)


if __name__ == "__main__":
    main()
