"""Scoring by trees beside LightGBM, XGBoost, CatBoost and lleaves.

    python -m benchmarks.score_vs_peers [--lleaves PYTHON]

100 trees of 64 leaves on data of a web search's shape: 2,000 queries, some 240,000 rows × 136 features, at 1
and 2 threads. The trees are LightGBM's, read into our scorer, so that both give the same scores to the last
bit; XGBoost and CatBoost train as many trees of as many leaves. lleaves compiles LightGBM's file; it needs an
llvmlite older than Numba's, so it runs in an interpreter of its own, named with --lleaves. Ours is to be at
least 10 times as fast as LightGBM and twice as lleaves, and to take at most 6 µs for one row in the kernel.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import rankwright as rw
from benchmarks.common import arguments, interleaved, table, write_json
from rankwright.scorers.forest_kernels import Nodes, walk

TREES, LEAVES, RATE = 100, 64, 0.1
TRAINED_QUERIES, SCORED_QUERIES = 700, 2000
THREADS = (1, 2)
LLEAVES = """
import sys, time, numpy as np, lleaves
folder, threads, repeats = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
model = lleaves.Model(model_file=f"{folder}/model.txt")
model.compile(cache=f"{folder}/compiled.bin")
X = np.load(f"{folder}/X.npy")
seconds = []
for _ in range(repeats + 1):
    begin = time.perf_counter()
    scores = model.predict(X, n_jobs=threads)
    seconds.append(time.perf_counter() - begin)
np.save(f"{folder}/scores.npy", scores)
print(float(np.median(seconds[1:])))
"""


def read_lightgbm(booster: Any, n_features: int) -> rw.ForestScorer:
    """LightGBM's trees as a scorer of ours; for numbers of which none is missing."""
    parts: dict[str, list[Any]] = {name: [] for name in ("feature", "threshold", "left", "right", "values")}
    first_node, first_leaf = [0], [0]
    for tree in booster.dump_model()["tree_info"]:
        inner, leaves = tree["num_leaves"] - 1, tree["num_leaves"]
        arrays = {name: [0] * inner for name in ("feature", "threshold", "left", "right")}
        values = [0.0] * leaves
        order: dict[int, int] = {}
        waiting = [tree["tree_structure"]]
        found = []
        while waiting:  # parents before children, as our nodes stand
            node = waiting.pop()
            if "leaf_value" in node:
                values[node.get("leaf_index", 0)] = node["leaf_value"]
                continue
            order[node["split_index"]] = len(found)
            found.append(node)
            waiting += [node["left_child"], node["right_child"]]
        for at, node in enumerate(found):
            arrays["feature"][at] = node["split_feature"]
            # A float32 is ≤ a float64 where it is ≤ the greatest float32 that is.
            below = np.float32(node["threshold"])
            if float(below) > node["threshold"]:
                below = np.nextafter(below, np.float32(-np.inf))
            arrays["threshold"][at] = below
            for side in ("left", "right"):
                child = node[f"{side}_child"]
                arrays[side][at] = (
                    ~child["leaf_index"] if "leaf_value" in child else order[child["split_index"]]
                )
        for name, array in arrays.items():
            parts[name] += array
        parts["values"] += values
        first_node.append(first_node[-1] + inner)
        first_leaf.append(first_leaf[-1] + leaves)
    n = first_node[-1]
    nodes = Nodes(
        first_node=np.array(first_node, np.int64),
        first_leaf=np.array(first_leaf, np.int64),
        feature=np.array(parts["feature"], np.int32),
        threshold=np.array(parts["threshold"], np.float32),
        missing_left=np.ones(n, np.bool_),
        category_set=np.full(n, -1, np.int32),
        left=np.array(parts["left"], np.int32),
        right=np.array(parts["right"], np.int32),
        values=np.array(parts["values"])[:, None],
        sets=np.empty((0, 4), np.uint64),
        first_code=np.zeros(n_features + 1, np.int64),
        codes=np.empty(0, np.float32),
    )
    return rw.ForestScorer(nodes, np.zeros(1), n_features)


def train_peers(data: rw.QuerySet) -> dict[str, Any]:
    """As many trees of as many leaves from each peer."""
    import catboost
    import lightgbm
    import xgboost

    X, y = data.features, np.asarray(data.labels)
    light = lightgbm.train(
        {"objective": "lambdarank", "num_leaves": LEAVES, "learning_rate": RATE, "verbose": -1,
         "min_data_in_leaf": 50, "num_threads": 2},
        lightgbm.Dataset(X, y, group=data.sizes), TREES,
    )  # fmt: skip
    boosted = xgboost.train(
        {"objective": "reg:squarederror", "max_leaves": LEAVES, "max_depth": 0, "grow_policy": "lossguide",
         "eta": RATE, "tree_method": "hist", "nthread": 2},
        xgboost.DMatrix(X, y), TREES,
    )  # fmt: skip
    symmetric = catboost.CatBoostRegressor(
        iterations=TREES,
        depth=6,
        learning_rate=RATE,
        thread_count=2,
        verbose=False,
        allow_writing_files=False,
    ).fit(X, y)
    return {"LightGBM": light, "XGBoost": boosted, "CatBoost (symmetric trees)": symmetric}


def ways(
    scorer: rw.ForestScorer, peers: dict[str, Any], X: Any, threads: int
) -> dict[str, Callable[[], Any]]:
    """All that score these rows, on this number of threads."""
    out = np.empty((len(X), 1))
    peers["XGBoost"].set_param({"nthread": threads})
    return {
        "Rankwright": lambda: scorer.outputs(X, out, threads),
        "LightGBM": lambda: peers["LightGBM"].predict(X, num_threads=threads),
        "XGBoost": lambda: peers["XGBoost"].inplace_predict(X),
        "CatBoost (symmetric trees)": lambda: peers["CatBoost (symmetric trees)"].predict(
            X, thread_count=threads
        ),
    }


def with_lleaves(python: str, booster: Any, X: Any, threads: int, repeats: int) -> float:
    """The median seconds of lleaves in an interpreter of its own, its scores checked."""
    with tempfile.TemporaryDirectory() as folder:
        booster.save_model(f"{folder}/model.txt")
        np.save(f"{folder}/X.npy", X)
        command = [python, "-c", LLEAVES, folder, str(threads), str(repeats)]
        seconds = float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        assert np.allclose(np.load(f"{folder}/scores.npy"), booster.predict(X))
        return seconds


def one_row(scorer: rw.ForestScorer, X: Any) -> float:
    """Microseconds for a row, walked alone: the kernel's time over many rows, one after the other."""
    rows = X[:20_000]
    rows.flags.writeable = False
    out = np.empty((len(rows), 1))
    best = np.inf
    for _ in range(5):
        begin = time.perf_counter()
        walk(rows, scorer.trees, scorer.start, 0, len(rows), out)
        best = min(best, time.perf_counter() - begin)
    return best / len(rows) * 1e6


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--lleaves", metavar="PYTHON", help="an interpreter that has lleaves")
    options = parser.parse_args()
    data = rw.synthetic.web_search(SCORED_QUERIES, random_state=1)
    X = np.ascontiguousarray(data.features)
    peers = train_peers(data.select(np.arange(TRAINED_QUERIES)))
    scorer = read_lightgbm(peers["LightGBM"], X.shape[1])
    assert np.array_equal(scorer.predict(X), peers["LightGBM"].predict(X)), "the scores are not LightGBM's"
    rows: list[dict[str, Any]] = []
    for threads in THREADS:
        seconds = interleaved(ways(scorer, peers, X, threads), options.repeats)
        if options.lleaves:
            seconds["lleaves"] = with_lleaves(options.lleaves, peers["LightGBM"], X, threads, options.repeats)
        rows += [
            {"what": name, "threads": threads, "rows": len(X), "s": value,
             "× ours": value / seconds["Rankwright"]}
            for name, value in seconds.items()
        ]  # fmt: skip
    kernel = one_row(scorer, X)
    singles = interleaved(
        {
            "Rankwright": lambda: scorer.predict(X[:1]),
            "LightGBM": lambda: peers["LightGBM"].predict(X[:1], num_threads=1),
        },
        501,
    )
    single = [{"one row": "Rankwright, in the kernel", "µs": kernel}]
    single += [{"one row": f"{name}, as called", "µs": value * 1e6} for name, value in singles.items()]
    print(table(rows), table(single), sep="\n\n")
    if options.json:
        write_json(options.json, rows + single)


if __name__ == "__main__":
    main()
