"""What factoring RankNet's gradient saves (2006 section 6.1 and Figure 1).

    python -m benchmarks.ranknet_speedup
    python -m benchmarks.ranknet_speedup --queries 50 --v1 2000 --v2 8000      # a look, in seconds

V1 takes both documents of each pair forward and backward, V2 each document once, with its slope summed over
its pairs. Both update once a query, and start from the same weights.

Left panel: epochs on data of the web set's shape (26 documents a query, 367 features, five levels), for one
layer and for two. V2 is to be at least 5.1 and 8.0 times faster, the paper's figures.

Right panel: one query of more and more documents of the artificial data (50 features), up to as many as
``--v1`` and ``--v2`` say. Time in the net and in the pairs are told apart: in V1 both are quadratic in the
documents; in V2 the net is linear and the pairs quadratic, so its slope grows with the share of the pairs.
The paper's slopes were 1.943 for V1 and 1.185 for V2; the faster the net, the steeper V2.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import rankwright as rw
from benchmarks.common import arguments, table, write_json
from rankwright.learners.nets import NetTraining, pairs_of, rows_of
from rankwright.learners.ranknet import paired_epoch
from rankwright.networks.net import layers, random_weights
from rankwright.networks.optimisers import rates
from rankwright.pairwise.tasks import query_slopes, task_of_pairs
from rankwright.reproductions.paper_2006 import query_seconds, random_data

HIDDEN = (0, 10)
BOUNDS = {0: 5.1, 10: 8.0}
WEB = {"queries": 1000, "documents": 26, "features": 367}
ARTIFICIAL_FEATURES = 50
FIRST = 1000
PAPER = {"v1": 1.943, "v2": 1.185}


def learner(training: str, hidden: int, features: int, epochs: int = 1) -> rw.RankNet:
    sizes = (features, *(hidden,) * (hidden > 0), 1)
    return rw.RankNet(
        hidden=hidden, training=training, standardise=False, optimiser="sgd", learning_rate=1e-6,
        epochs=epochs, init=layers(sizes, random_weights(sizes, "scaled", np.random.default_rng(1))),
    )  # fmt: skip


def epoch_seconds(data: rw.QuerySet, training: str, hidden: int) -> tuple[float, float]:
    """The seconds of an epoch (the second of two, where the first is short), and the mean cost after it."""
    ranker = learner(training, hidden, data.n_features, epochs=2 if len(data) < 100_000 else 1).fit(data)
    ends = [record["seconds"] for record in ranker.history_]
    return float(np.diff(ends, prepend=0.0)[-1]), ranker.history_[-1]["cost"]


def v1_seconds(documents: int, hidden: int) -> dict[str, float]:
    """What V1 spends on one query, and how much of it in the costs of its pairs; the rest is the net's."""
    data, none = random_data(1, documents, ARTIFICIAL_FEATURES), np.uint64(0)
    training = NetTraining(learner("v1", hidden, ARTIFICIAL_FEATURES), data, None)
    task, _ = task_of_pairs(pairs_of(data, None, "out"), data.offsets, np.ones(1))
    rows, steps = rows_of(data, training.transform), rates("sgd", 1e-6, 0.0)
    buffers, span = training.buffers[0], (training.panels.starts[0], training.panels.starts[1])
    both = best_seconds(
        documents,
        lambda: paired_epoch(np.zeros(1, np.uint64), np.uint64(1), False, steps, training.net, rows, task),
    )
    pairs = best_seconds(
        documents,
        lambda: query_slopes(
            task, none, np.uint64(documents), *span, buffers.scores, buffers.scratch, buffers.slopes
        ),
    )
    return {"v1": both, "v1's net": max(both - pairs, 0.0), "v1's pairs": pairs}


def best_seconds(documents: int, work: Callable[[], Any]) -> float:
    """The seconds of one run, for few documents of the best of three."""
    seconds = []
    for _ in range(3 if documents <= 4000 else 1):
        begin = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def web_rows(queries: int, repeats: int) -> list[dict[str, Any]]:
    data = random_data(queries, WEB["documents"], WEB["features"])
    rows = []
    for hidden in HIDDEN:
        seconds: dict[str, list[float]] = {"v1": [], "v2": []}
        costs = {}
        for _ in range(repeats):
            for training in seconds:
                spent, costs[training] = epoch_seconds(data, training, hidden)
                seconds[training].append(spent)
        v1, v2 = (float(np.median(seconds[training])) for training in ("v1", "v2"))
        rows.append(
            {
                "layers": 1 + (hidden > 0),
                "V1 ms": v1 * 1e3,
                "V2 ms": v2 * 1e3,
                "ratio": v1 / v2,
                "asked": BOUNDS[hidden],
                "": "OK" if v1 / v2 >= BOUNDS[hidden] else "FAIL",
                "V1 cost": round(costs["v1"], 5),
                "V2 cost": round(costs["v2"], 5),
            }
        )
    return rows


def size_rows(hidden: int, most_v1: int, most_v2: int) -> list[dict[str, Any]]:
    rows = []
    documents = FIRST
    while documents <= max(most_v1, most_v2):
        row: dict[str, Any] = {"layers": 1 + (hidden > 0), "documents": documents}
        v1 = v1_seconds(documents, hidden) if documents <= most_v1 else {}
        v2 = query_seconds(documents, hidden) if documents <= most_v2 else {}
        for name in ("v1", "v1's net", "v1's pairs"):
            row[f"{name.replace('v', 'V')} s"] = v1.get(name, "-")
        for name in ("v2", "v2's net", "v2's pairs"):
            row[f"{name.replace('v', 'V')} s"] = v2.get(name, "-")
        row["V1 / V2"] = v1["v1"] / v2["v2"] if v1 and v2 else "-"
        rows.append(row)
        documents *= 2
    return rows


def slope(rows: list[dict[str, Any]], column: str, least: int = 4000) -> float:
    """The slope of log seconds over log documents; from 4,000 documents on, as in the paper, if there are."""
    known = [row for row in rows if row[column] != "-"]
    points = [row for row in known if row["documents"] >= least]
    points = points if len(points) > 1 else known
    x, y = ([np.log(row[name]) for row in points] for name in ("documents", column))
    return float(np.polyfit(x, y, 1)[0]) if len(points) > 1 else float("nan")


def main() -> None:
    """Print both panels and the slopes."""
    parser = arguments(__doc__)
    parser.add_argument("--v1", type=int, default=16_000, help="V1 up to so many documents (%(default)s)")
    parser.add_argument("--v2", type=int, default=512_000, help="V2 up to so many documents (%(default)s)")
    parser.add_argument("--queries", type=int, default=WEB["queries"], help="of the web set (%(default)s)")
    options = parser.parse_args()
    learner("v2", 3, 2).fit([[0, 1], [1, 0]], [0, 1], qid=0)  # compile
    learner("v1", 3, 2).fit([[0, 1], [1, 0]], [0, 1], qid=0)
    web = web_rows(options.queries, options.repeats)
    shape = WEB | {"queries": options.queries}
    print("an epoch of {queries} queries x {documents} documents x {features} features".format(**shape))
    print(table(web), end="\n\n")
    sizes, slopes = [], []
    for hidden in HIDDEN:
        rows = size_rows(hidden, options.v1, options.v2)
        sizes += rows
        found = {name: slope(rows, f"{name.upper()} s") for name in PAPER}
        nets, pairs = slope(rows, "V2's net s"), slope(rows, "V2's pairs s")
        slopes.append(
            {
                "layers": 1 + (hidden > 0),
                **{f"slope of {name.upper()}": value for name, value in found.items()},
                "of V2's net": nets,
                "of V2's pairs": pairs,
                **{f"the paper's {name.upper()}": value for name, value in PAPER.items()},
            }
        )
    print("one query of more and more documents")
    print(table(sizes), end="\n\n")
    print(table(slopes))
    if options.json:
        write_json(options.json, [*web, *sizes, *slopes])


if __name__ == "__main__":
    main()
