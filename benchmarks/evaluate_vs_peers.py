"""Evaluation beside pytrec_eval and ranx: many queries warm, and two queries in a fresh process.

    python -m benchmarks.evaluate_vs_peers

5,000 queries of 100 documents, NDCG@10 (linear gains), AP, RR and P@10. Each library is given its own form of
the data, made beforehand: arrays to ours, dictionaries to pytrec_eval, Qrels and Run to ranx. The peers give
means or values of queries as they do; ours gives both. Agreement of the means is checked before anything is
timed. The second table is the time from starting Python to the first result, with no compiled code cached.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import rankwright as rw
from benchmarks.common import arguments, interleaved, table, write_json

MEASURES = ["ndcg@10(gain=linear, blank=0)", "map(blank=0)", "mrr(blank=0)", "p@10(blank=0)"]
IN_PYTREC_EVAL = {"ndcg_cut.10": "ndcg_cut_10", "map": "map", "recip_rank": "recip_rank", "P.10": "P_10"}
IN_RANX = ["ndcg@10", "map", "mrr", "precision@10"]
LEVELS = [0.52, 0.23, 0.18, 0.05, 0.02]

FIRST = {
    "rankwright": """
import rankwright as rw
print(rw.evaluate([3, 2, 1, 3, 2, 1], [0, 1, 0, 1, 0, 0], ["ndcg@10", "map", "mrr", "p@10"],
                  qid=["q1"] * 3 + ["q2"] * 3)["map"].mean)
""",
    "pytrec_eval": """
import pytrec_eval
qrels = {"q1": {"a": 0, "b": 1, "c": 0}, "q2": {"a": 1, "b": 0, "c": 0}}
run = {query: {"a": 3.0, "b": 2.0, "c": 1.0} for query in qrels}
evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10", "map", "recip_rank", "P.10"})
print(sum(values["map"] for values in evaluator.evaluate(run).values()) / 2)
""",
    "ranx": """
from ranx import Qrels, Run, evaluate
qrels = Qrels({"q1": {"b": 1}, "q2": {"a": 1}})
run = Run({query: {"a": 3.0, "b": 2.0, "c": 1.0} for query in ("q1", "q2")})
print(evaluate(qrels, run, ["ndcg@10", "map", "mrr", "precision@10"])["map"])
""",
}


def contenders(n_queries: int, n_documents: int, n_jobs: int) -> dict[str, Callable[[], list[float]]]:
    """Each library's evaluation of the same data, giving its four means."""
    rng = np.random.default_rng(1)
    shape = n_queries, n_documents
    labels, scores = rng.choice(len(LEVELS), shape, p=LEVELS), rng.normal(size=shape)
    qid = np.repeat(np.arange(n_queries), n_documents)
    flat = scores.ravel(), labels.ravel().astype(np.float64)

    def ours() -> list[float]:
        return [each.mean for each in rw.evaluate(*flat, MEASURES, qid=qid, n_jobs=n_jobs).values()]

    def by_name(values: Any) -> dict[str, dict[str, Any]]:
        names = [f"d{number}" for number in range(n_documents)]
        return {f"q{query}": dict(zip(names, row, strict=True)) for query, row in enumerate(values.tolist())}

    found: dict[str, Callable[[], list[float]]] = {"rankwright": ours}
    qrels, run = by_name(labels), by_name(scores)
    if is_there("pytrec_eval"):
        found["pytrec_eval"] = with_pytrec_eval(qrels, run)
    if is_there("ranx"):
        found["ranx"] = with_ranx(qrels, run)
    return found


def is_there(module: str) -> bool:
    """Whether a peer can be imported; says so if not."""
    there = importlib.util.find_spec(module) is not None
    if not there:
        print(f"{module} is not installed and left out; it comes with: pip install 'rankwright[bench]'")
    return there


def with_pytrec_eval(qrels: dict[str, Any], run: dict[str, Any]) -> Callable[[], list[float]]:
    import pytrec_eval

    evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(IN_PYTREC_EVAL))
    means: list[float] = []

    def evaluate() -> list[float]:
        by_query = evaluator.evaluate(run)
        if not means:  # its own work ends with the values of queries; averaging them is not timed
            means.extend(
                float(np.mean([values[name] for values in by_query.values()]))
                for name in IN_PYTREC_EVAL.values()
            )
        return means

    return evaluate


def with_ranx(qrels: dict[str, Any], run: dict[str, Any]) -> Callable[[], list[float]]:
    import ranx

    # It ranks all documents that the qrels name and takes a label of 0 for relevant to 0; that is the same.
    given_qrels, given_run = ranx.Qrels(qrels), ranx.Run(run)
    return lambda: [float(mean) for mean in ranx.evaluate(given_qrels, given_run, IN_RANX).values()]


def first_results(names: list[str], repeats: int) -> list[dict[str, Any]]:
    """Median seconds of a fresh process that evaluates two queries, nothing compiled before."""
    rows = []
    for name in names:
        seconds = []
        for _ in range(repeats):
            with tempfile.TemporaryDirectory() as empty:
                environment = os.environ | {"NUMBA_CACHE_DIR": empty}
                begin = time.perf_counter()
                subprocess.run(
                    [sys.executable, "-c", FIRST[name]], env=environment, check=True, capture_output=True
                )
                seconds.append(time.perf_counter() - begin)
        rows.append({"library": name, "first result (s)": float(np.median(seconds))})
    return compared(rows, "first result (s)")


def compared(rows: list[dict[str, Any]], column: str) -> list[dict[str, Any]]:
    """Rows with each time as a multiple of ours."""
    return [{**row, "times ours": row[column] / rows[0][column]} for row in rows]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--queries", type=int, default=5000)
    parser.add_argument("--documents", type=int, default=100, help="of a query (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--cold", type=int, default=3, help="fresh processes each (default: %(default)s)")
    options = parser.parse_args()
    os.environ.setdefault("NUMBA_NUM_THREADS", str(options.threads))  # ranx's threads

    functions = contenders(options.queries, options.documents, options.threads)
    expected = functions["rankwright"]()
    for name, function in functions.items():
        np.testing.assert_allclose(function(), expected, rtol=1e-9, err_msg=name)
    seconds = interleaved(functions, options.repeats)
    warm = compared([{"library": name, "ms": 1e3 * taken} for name, taken in seconds.items()], "ms")
    shape = f"{options.queries:,} queries of {options.documents} documents"
    print(f"{shape}, four measures, {options.threads} threads\n")
    print(table(warm))
    cold = first_results(list(functions), options.cold)
    print("\ntwo queries in a fresh process, nothing compiled before\n")
    print(table(cold))
    if options.json:
        write_json(
            options.json,
            [{"what": "warm", **row} for row in warm] + [{"what": "cold", **row} for row in cold],
        )


if __name__ == "__main__":
    main()
