"""A first fit in a fresh process: with an empty cache of compiled kernels, and with a warm one.

    python -m benchmarks.first_fit [--json PATH]

7,400 rows × 46 features, LambdaMART of 100 trees of 31 leaves, then a prediction. "imports" end when the
package, the learner and Numba are there; "first tree" counts from there. Cold is to be at most 4 s over warm,
and a warm first tree to come within 0.3 s. Then whether `rankwright predict` imports scikit-learn.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np

from benchmarks.common import arguments, table, write_json

PROGRAM = """
import json, time
begin = time.perf_counter()
import numba, numpy as np
import rankwright as rw
ranker = rw.LambdaMART(n_estimators=100)
imported = time.perf_counter()
random = np.random.default_rng(0)
X = random.normal(size=(7400, 46)).astype(np.float32)
queries = rw.QuerySet(X, random.integers(0, 3, 7400), qid=np.arange(7400) // 20)
ends = []
ranker.fit(queries, progress=lambda _: ends.append(time.perf_counter()))
fitted = time.perf_counter()
ranker.predict(queries)
print(json.dumps({
    "imports, s": imported - begin, "first tree, s": ends[0] - imported, "fit, s": fitted - imported,
    "predict, s": time.perf_counter() - fitted,
}))
"""
PREDICT = """
import sys
import rankwright.cli.predict
import rankwright as rw
rw.LinearScorer([1.0]).predict([[1.0]])
print("sklearn" in sys.modules)
"""


def run(cache: str, program: str = PROGRAM) -> str:
    """What a program prints in a fresh process that keeps its kernels in a folder."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    command = [sys.executable, "-c", program]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout


def main() -> None:
    parser = arguments(__doc__)
    parser.set_defaults(repeats=3)
    options = parser.parse_args()
    found: dict[str, list[dict[str, float]]] = {"cold": [], "warm": []}
    for _ in range(options.repeats):
        with tempfile.TemporaryDirectory() as cache:
            for kind in found:
                found[kind].append(json.loads(run(cache)))
    rows: list[dict[str, Any]] = [
        {"cache": kind, **{name: float(np.median([run[name] for run in runs])) for name in runs[0]}}
        for kind, runs in found.items()
    ]
    rows.append(
        {"cache": "cold − warm", **{name: rows[0][name] - rows[1][name] for name in found["cold"][0]}}
    )
    with tempfile.TemporaryDirectory() as cache:
        imports = [{"predict imports": "scikit-learn", "does": run(cache, PREDICT).strip()}]
    print(table(rows), table(imports), sep="\n\n")
    if options.json:
        write_json(options.json, rows + imports)


if __name__ == "__main__":
    main()
