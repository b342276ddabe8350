"""RankNet's training beside the same in PyTorch (eager, its best of one and all threads).

    python -m benchmarks.nets_vs_torch

A two-layer net of 10 hidden tanh units on 1,000 queries × 50 documents × 50 features of 2005's random-net
data with five levels: pair cross entropy, from the same weights, with the same queries in the same order.
PyTorch gets its data as tensors made beforehand: with an update a query the index lists of its pairs, in
batches of 64 queries one masked cube of differences. An epoch is to be at least 15 times faster with an
update a query and 5 times in batches, at equal loss: mean costs after the last epoch differ by
a thousandth at most.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import rankwright as rw
from benchmarks.common import arguments, table, write_json
from rankwright.networks.net import layers, random_weights
from rankwright.pairwise.pairs import pairs_of_labels

QUERIES, DOCUMENTS, FEATURES, HIDDEN = 1000, 50, 50, 10
EPOCHS = 5
LEARNING_RATES = {"sgd": 1e-4, "adam": 1e-3}
BOUNDS = {1: 15.0, 64: 5.0}
SIZES = (FEATURES, HIDDEN, 1)
EQUAL = 1e-3


def with_rankwright(
    data: rw.QuerySet, start: Any, batch: int, optimiser: str
) -> tuple[list[float], list[float]]:
    """The seconds and the mean cost of each epoch."""
    ranker = rw.RankNet(
        hidden=HIDDEN, init=layers(SIZES, start), standardise=False, epochs=EPOCHS, batch_size=batch,
        optimiser=optimiser, learning_rate=LEARNING_RATES[optimiser],
    ).fit(data)  # fmt: skip
    ends = [record["seconds"] for record in ranker.history_]
    return np.diff(ends, prepend=0.0).tolist(), [record["cost"] for record in ranker.history_]


def with_torch(
    data: rw.QuerySet, start: Any, batch: int, optimiser: str, threads: int
) -> tuple[list[float], list[float]]:
    """The same in PyTorch."""
    import torch

    torch.set_num_threads(threads)
    module = torch.nn.Sequential(
        torch.nn.Linear(FEATURES, HIDDEN), torch.nn.Tanh(), torch.nn.Linear(HIDDEN, 1)
    )
    with torch.no_grad():
        for linear, (matrix, offsets) in zip((module[0], module[2]), layers(SIZES, start), strict=True):
            linear.weight.copy_(torch.tensor(matrix))
            linear.bias.copy_(torch.tensor(offsets))
    kind = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[optimiser]
    descent = kind(module.parameters(), lr=LEARNING_RATES[optimiser])
    cost_of, n_pairs = torch_costs(data, module, batch)
    seconds, costs, random = [], [], np.random.default_rng(0)
    for _ in range(EPOCHS):
        order = random.permutation(data.n_queries)
        begin, total = time.perf_counter(), 0.0
        for at in range(0, data.n_queries, batch):
            descent.zero_grad()
            cost = cost_of(order[at : at + batch])
            cost.backward()
            descent.step()
            total += cost.item()
        seconds.append(time.perf_counter() - begin)
        costs.append(total / n_pairs)
    return seconds, costs


def torch_costs(data: rw.QuerySet, module: Any, batch: int) -> tuple[Callable[[Any], Any], int]:
    """The cost of a batch of queries as PyTorch computes it, and how many pairs there are in all."""
    import torch
    from torch.nn.functional import softplus

    X = torch.tensor(np.array(data.features)).reshape(-1, DOCUMENTS, FEATURES)
    y = torch.tensor(np.array(data.labels)).reshape(-1, DOCUMENTS)
    found = pairs_of_labels(np.asarray(data.labels), data.offsets)
    if batch == 1:
        ends = [
            (torch.tensor(found.better[a:b] - q * DOCUMENTS), torch.tensor(found.worse[a:b] - q * DOCUMENTS))
            for q, (a, b) in enumerate(zip(found.offsets[:-1], found.offsets[1:], strict=True))
        ]
        ends = [(i.long(), j.long()) for i, j in ends]

        def one(query: Any) -> Any:
            i, j = ends[query[0]]
            scores = module(X[query[0]]).squeeze(-1)
            return softplus(scores[j] - scores[i]).sum()

        return one, len(found)
    better = (y[:, :, None] > y[:, None, :]).float()

    def some(queries: Any) -> Any:
        scores = module(X[queries]).squeeze(-1)
        return (softplus(scores[:, None, :] - scores[:, :, None]) * better[queries]).sum()

    return some, len(found)


def main() -> None:
    """Print the table."""
    parser = arguments(__doc__)
    parser.add_argument("--queries", type=int, default=QUERIES, help="how many (default: %(default)s)")
    options = parser.parse_args()
    import torch

    data = rw.synthetic.random_net(options.queries, DOCUMENTS, FEATURES, levels=5)
    start = random_weights(SIZES, "scaled", np.random.default_rng(1))
    all_threads = torch.get_num_threads()
    rows = []
    for batch in BOUNDS:
        for optimiser in LEARNING_RATES:
            runs: dict[str, Callable[[], tuple[list[float], list[float]]]] = {
                "rankwright": lambda b=batch, o=optimiser: with_rankwright(data, start, b, o),
                **{
                    f"torch, {n} threads": lambda b=batch, o=optimiser, n=n: with_torch(data, start, b, o, n)
                    for n in sorted({1, all_threads})
                },
            }
            seconds: dict[str, list[float]] = {name: [] for name in runs}
            costs: dict[str, list[float]] = {}
            for _ in range(options.repeats):
                for name, run in runs.items():
                    spent, costs[name] = run()
                    seconds[name] += spent[1:]  # the first one warms up
            medians = {name: float(np.median(spent)) for name, spent in seconds.items()}
            other = min((name for name in runs if name != "rankwright"), key=medians.__getitem__)
            ratio = medians[other] / medians["rankwright"]
            own, theirs = costs["rankwright"][-1], costs[other][-1]
            equal = abs(own - theirs) <= EQUAL * theirs
            rows.append(
                {
                    "queries an update": batch,
                    "optimiser": optimiser,
                    "rankwright ms": medians["rankwright"] * 1e3,
                    "torch ms": medians[other] * 1e3,
                    "torch threads": int(other.split()[1]),
                    "ratio": ratio,
                    "asked": BOUNDS[batch],
                    "cost": round(own, 5),
                    "torch cost": round(theirs, 5),
                    "": "OK" if equal and ratio >= BOUNDS[batch] else "FAIL",
                }
            )
    print(
        f"an epoch of {options.queries} queries x {DOCUMENTS} documents x {FEATURES} features, "
        f"torch {torch.__version__}"
    )
    print(table(rows))
    if options.json:
        write_json(options.json, rows)


if __name__ == "__main__":
    main()
