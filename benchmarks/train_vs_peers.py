"""Training of boosted trees beside LightGBM, XGBoost and CatBoost.

    python -m benchmarks.train_vs_peers [--grown FOLDER] [--queries N] [--systems NAME,…] [--json PATH]

100 trees of 64 leaves, rate 0.1, 255 bins, at least 50 rows a leaf, truncation 30, on two threads; 6,000
queries of about 120 documents and 136 features: artificial ones, or with --grown grown from the sample of
MSLR-WEB10K in FOLDER (train.txt, test.txt), which is sparse and has few values a feature. Each system trains
in a process of its own, in turn, --repeats times; medians. Compilers and caches are warm. "before" is all
until the first tree (binning, in the peers the making of their data set), "training" the trees, "memory" the
peak above the process with the data read. NDCG@10 is of 2,000 other queries, and its difference is ours minus
theirs, query by query, with its 95 % interval; grown queries that come of one query count as one. Ours is to
train at least 3 times as fast as LightGBM's fastest mode of equal NDCG@10 (aim: 4) and XGBoost's hist, 12
times as CatBoost's YetiRank, and to bin in a third of LightGBM's time, and need no more memory than it does.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import arguments, table, write_json
from benchmarks.web_data import read_part, web_arrays

TREES, LEAVES, RATE, BINS, LEAST, TRUNCATION, THREADS = 100, 64, 0.1, 255, 50, 30, 2
SELECT = "ndcg@10"
Part = tuple[np.ndarray, np.ndarray, np.ndarray]
Trained = tuple[float, float, Callable[[np.ndarray], np.ndarray]]
"""Seconds before the first tree, seconds of training, and how to score."""


def ours(train: Part, n_jobs: int = THREADS, **settings: Any) -> Trained:
    """LambdaMART in its default mode."""
    import rankwright as rw

    def ranker(trees: int) -> rw.LambdaMART:
        return rw.LambdaMART(
            n_estimators=trees, max_leaf_nodes=LEAVES, learning_rate=RATE, max_bins=BINS,
            min_samples_leaf=LEAST, truncation=TRUNCATION, n_jobs=n_jobs, **settings,
        )  # fmt: skip

    X, y, sizes = train
    ranker(2).fit(rw.synthetic.web_search(20))  # compiled, or read from the cache
    queries = rw.QuerySet(X, y, qid=np.repeat(np.arange(len(sizes)), sizes))
    begin = time.perf_counter()
    ends: list[float] = []
    fitted = ranker(TREES).fit(queries, progress=lambda _: ends.append(time.perf_counter()))
    a_tree = (ends[-1] - ends[0]) / (len(ends) - 1)
    return ends[0] - a_tree - begin, a_tree * len(ends), fitted.predict


def lightgbm(train: Part, **settings: Any) -> Trained:
    """LightGBM's lambdarank."""
    import lightgbm as lgb

    X, y, sizes = train
    given = {
        "objective": "lambdarank", "num_leaves": LEAVES, "learning_rate": RATE, "max_bin": BINS,
        "min_data_in_leaf": LEAST, "lambdarank_truncation_level": TRUNCATION, "num_threads": THREADS,
        "metric": "None", "verbose": -1, **settings,
    }  # fmt: skip
    begin = time.perf_counter()
    data = lgb.Dataset(X, y, group=sizes, params=given, free_raw_data=False).construct()
    middle = time.perf_counter()
    model = lgb.train(given, data, TREES)
    return middle - begin, time.perf_counter() - middle, model.predict


def xgboost(train: Part, **settings: Any) -> Trained:
    """XGBoost's rank:ndcg on histograms."""
    import xgboost as xgb

    X, y, sizes = train
    given = {
        "objective": "rank:ndcg", "tree_method": "hist", "eta": RATE, "max_bin": BINS, "nthread": THREADS,
        **settings,
    }  # fmt: skip
    begin = time.perf_counter()
    data = xgb.QuantileDMatrix(X, y, group=sizes, max_bin=BINS, nthread=THREADS)
    middle = time.perf_counter()
    model = xgb.train(given, data, TREES)
    return middle - begin, time.perf_counter() - middle, model.inplace_predict


def catboost(train: Part) -> Trained:
    """CatBoost's YetiRank, on symmetric trees of 64 leaves."""
    import catboost as cat

    X, y, sizes = train
    begin = time.perf_counter()
    data = cat.Pool(X, y, group_id=np.repeat(np.arange(len(sizes)), sizes), thread_count=THREADS)
    data.quantize(border_count=BINS - 1)
    middle = time.perf_counter()
    model = cat.CatBoost(
        {
            "loss_function": "YetiRank", "iterations": TREES, "depth": 6, "learning_rate": RATE,
            "border_count": BINS - 1, "thread_count": THREADS, "logging_level": "Silent",
            "allow_writing_files": False,
        }
    )  # fmt: skip
    model.fit(data)
    return middle - begin, time.perf_counter() - middle, model.predict


LEAF_WISE = {"grow_policy": "lossguide", "max_leaves": LEAVES, "max_depth": 0}
SYSTEMS: dict[str, Callable[[Part], Trained]] = {
    "Rankwright": ours,
    "Rankwright, 1 thread": lambda train: ours(train, n_jobs=1),
    "LightGBM row-wise": lambda train: lightgbm(train, force_row_wise=True),
    "LightGBM col-wise": lambda train: lightgbm(train, force_col_wise=True),
    "LightGBM quantised, 64 bins": lambda train: lightgbm(
        train, use_quantized_grad=True, num_grad_quant_bins=64, quant_train_renew_leaf=True
    ),
    "LightGBM quantised, 4 bins": lambda train: lightgbm(train, use_quantized_grad=True),
    "XGBoost hist, 64 leaves": lambda train: xgboost(train, **LEAF_WISE),
    "XGBoost hist, depth 6": lambda train: xgboost(train, max_depth=6),
    "CatBoost YetiRank": catboost,
}


def peak() -> float:
    """The most memory that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run_here(system: str, folder: Path) -> None:
    """Train one system in this process, and tell what it took; its scores of the test go into a file."""
    train = read_part(folder, "train")
    before = peak()
    first, training, predict = SYSTEMS[system](train)
    memory = peak() - before
    np.save(folder / "scores.npy", predict(np.load(folder / "test_X.npy")))
    print(json.dumps({"before": first, "training": training, "memory": memory}))


def run_apart(system: str, folder: Path) -> dict[str, float]:
    """The same in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.train_vs_peers", "--here", str(folder), "--systems", system]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found: dict[str, float] = json.loads(printed.splitlines()[-1])
    return found


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--grown", type=Path, metavar="FOLDER", help="grow the data from this sample")
    parser.add_argument("--queries", type=int, default=6000, help="to train on (default: %(default)s)")
    parser.add_argument("--systems", default=None, help="which of them, with ; between (default: all)")
    parser.add_argument("--here", type=Path, help="train one system in this process, on arrays (inner use)")
    parser.set_defaults(repeats=3)
    given = parser.parse_args()
    names = list(SYSTEMS) if given.systems is None else given.systems.split(";")
    if given.here:
        run_here(names[0], given.here)
        return
    with web_arrays(given.grown, given.queries) as folder:
        rows = compared(names, folder, given.repeats)
    print(table(rows))
    if given.json:
        write_json(given.json, rows)


def compared(names: list[str], folder: Path, repeats: int) -> list[dict[str, Any]]:
    """All systems in turn; medians, and how well each ranks the test."""
    import rankwright as rw

    runs: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    scores: dict[str, np.ndarray] = {}
    for _ in range(repeats):
        for name in names:
            runs[name].append(run_apart(name, folder))
            scores[name] = np.load(folder / "scores.npy")
            print(f"{name}: {runs[name][-1]}", file=sys.stderr, flush=True)
    X, y, sizes = read_part(folder, "test")
    test = rw.QuerySet(X, y, qid=np.repeat(np.arange(len(sizes)), sizes))
    middle = {
        name: {key: float(np.median([run[key] for run in each])) for key in each[0]}
        for name, each in runs.items()
    }
    first, sources = names[0], np.load(folder / "sources.npy")
    values = {name: rw.evaluate(scores[name], test, [SELECT])[SELECT] for name in names}
    rows = []
    for name in names:
        found = middle[name]
        row: dict[str, Any] = {
            "system": name,
            "before, s": found["before"],
            "× ours": found["before"] / middle[first]["before"],
            "training, s": found["training"],
            "ours × as fast": found["training"] / middle[first]["training"],
            "memory, MB": round(found["memory"]),
            "NDCG@10": values[name].mean,
            "ours minus theirs": "",
        }
        if name != first:
            row["ours minus theirs"] = shown(values[first].per_query - values[name].per_query, sources)
        rows.append(row)
    return rows


def shown(differences: np.ndarray, sources: np.ndarray) -> str:
    """The mean difference and its interval, over the queries that others were grown from."""
    from rankwright.evaluation.resampling import t_interval

    counted = ~np.isnan(differences)
    means = [differences[counted & (sources == source)] for source in np.unique(sources[counted])]
    low, high = t_interval(np.array([part.mean() for part in means]), None, 0.95)
    return f"{(low + high) / 2:+.4f} ({low:+.4f} to {high:+.4f})"


if __name__ == "__main__":
    main()
