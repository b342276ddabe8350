"""How the time of a boosted tree grows: with rows, features, trees, documents a query, to 10⁷ rows.

    python -m benchmarks.tree_growth [--largest ROWS] [--json PATH]

One of them grows at a time, the others stay: 136 features (of normal noise, ten of which make the labels),
120 documents a query, trees of 64 leaves, truncation 30, two threads. The largest sets are kept as bins in a
memory-mapped file and never as features. "slope" is that of the logarithm of seconds on the logarithm of what
grows, by least squares; 1 is linear. "λ" and "tree" are medians over trees, their sum is what a step costs.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import arguments, table, write_json
from rankwright.measures import measure
from rankwright.measures.lists import Lists
from rankwright.pairwise.lambdas import Lambdas
from rankwright.trees.binning import ROW_PADDING, BinnedData, Bins
from rankwright.trees.grower import Grower, Shape

FEATURES, DOCUMENTS, TREES, LEAVES, TRUNCATION, THREADS = 136, 120, 5, 64, 30, 2
CHUNK = 50_000
ROWS = (10_000, 100_000, 1_000_000, 10_000_000)
WIDTHS = (17, 68, 136, 272)
LENGTHS = (30, 120, 480, 1920)
COUNTS = (10, 20, 40, 80)


def made(n: int, n_features: int, folder: Path, seed: int = 0) -> tuple[BinnedData, np.ndarray]:
    """So many rows as bins in a memory-mapped file, and their labels, made a chunk at a time."""
    random = np.random.default_rng(seed)
    weights = np.zeros(n_features, np.float32)
    weights[:10] = random.normal(size=10)
    bins = Bins.of(random.standard_normal((CHUNK, n_features), np.float32))
    rows = np.memmap(folder / "rows", np.uint8, "w+", shape=(n * n_features + ROW_PADDING,))
    columns = np.memmap(folder / "columns", np.uint8, "w+", shape=(n_features, n))
    labels = np.empty(n)
    for begin in range(0, n, CHUNK):
        end = min(n, begin + CHUNK)
        X = random.standard_normal((end - begin, n_features), np.float32)
        part = bins.assign(X, THREADS)
        rows[begin * n_features : end * n_features] = part.rows[: (end - begin) * n_features]
        columns[:, begin:end] = part.columns
        relevance = X @ weights + random.standard_normal(end - begin, np.float32)
        labels[begin:end] = np.digitize(relevance, [0.5, 3.0, 5.0, 7.0])
    return BinnedData(np.asarray(rows), np.asarray(columns), bins), labels


def seconds_a_tree(
    data: BinnedData, labels: np.ndarray, documents: int, trees: int = TREES
) -> dict[str, float]:
    """The median seconds of λ's and of a tree, and those of all trees together."""
    n = len(labels)
    offsets = np.append(np.arange(0, n, documents), n)
    lists = Lists(labels, offsets, n_jobs=THREADS)
    lambdas = Lambdas(lists, measure("ndcg"), truncation=TRUNCATION, by_distance=True, by_total=True)
    grower = Grower(data, Shape(max_leaf_nodes=LEAVES), THREADS)
    scores = np.zeros(n)
    spent = np.empty((trees, 2))
    begin = time.perf_counter()
    for tree in range(trees):
        start = time.perf_counter()
        pulls, hessians = lambdas.at(scores)
        middle = time.perf_counter()
        gradients = -pulls
        grown = grower.grow(gradients, hessians)
        grower.add_values(grown, 0.1 * grower.newton_values(grown, gradients, hessians), scores)
        spent[tree] = middle - start, time.perf_counter() - middle
    return {
        "λ, s": float(np.median(spent[:, 0])),
        "tree, s": float(np.median(spent[:, 1])),
        "all trees, s": time.perf_counter() - begin,
    }


def measured(what: str, sizes: Sequence[int], rows: int, folder: Path, **fixed: int) -> list[dict[str, Any]]:
    """The rows of the table for what grows, each with the slope over all up to it."""
    found: list[dict[str, Any]] = []
    for size in sizes:
        given = {
            "rows": rows,
            "features": FEATURES,
            "documents": DOCUMENTS,
            "trees": TREES,
            **fixed,
            what: size,
        }
        data, labels = made(given["rows"], given["features"], folder)
        took = seconds_a_tree(data, labels, given["documents"], given["trees"])
        cost = took["all trees, s"] / (1 if what == "trees" else given["trees"])
        slope: float | str = ""
        if found:
            x, y = zip(*((np.log(row["size"]), np.log(row["cost, s"])) for row in found), strict=True)
            slope = float(np.polyfit([*x, np.log(size)], [*y, np.log(cost)], 1)[0])
        found.append({"grows": what, "size": size, **took, "cost, s": cost, "slope": slope})
    return found


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--largest", type=int, default=ROWS[-1], help="rows, at most (default: %(default)s)")
    given = parser.parse_args()
    some = min(200_000, given.largest)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data, labels = made(2_000, FEATURES, folder)
        seconds_a_tree(data, labels, DOCUMENTS, 2)  # compiled, or read from the cache
        rows = measured("rows", [size for size in ROWS if size <= given.largest], some, folder)
        rows += measured("features", WIDTHS, some, folder)
        rows += measured("documents", LENGTHS, some, folder)
        rows += measured("trees", COUNTS, some // 4, folder)
    print(table(rows))
    if given.json:
        write_json(given.json, rows)


if __name__ == "__main__":
    main()
