"""LETOR text into a matrix, beside XGBoost, LightGBM and scikit-learn.

    python -m benchmarks.parse_vs_peers --megabytes 150 --threads 2

The file has MSLR's shape: 136 features, each of one kind (counts, numbers of six places, negative ones, all
with many zeros), as many digits as there, 120 documents a query. 5,000 rows are drawn and repeated under new
query ids. It is read once before timing, so that it comes from memory. What each library makes of it is its
own: a dense matrix with queries here, a DMatrix, a Dataset (with its binning; from a file without queries,
which it does not read), a sparse matrix in double precision. The first row is what the bytes alone take.
"""

from __future__ import annotations

import importlib.util
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import rankwright as rw
from benchmarks.common import arguments, interleaved, table, write_json

FEATURES, DRAWN, QUERY = 136, 5000, 120
LEVELS = [0.52, 0.32, 0.13, 0.02, 0.01]


def rows_of_features(rng: np.random.Generator) -> list[str]:
    """The features of some rows as text."""
    kinds = rng.permutation(["count"] * 80 + ["number"] * 42 + ["negative"] * 14)
    columns = []
    for index, kind in enumerate(kinds, start=1):
        zero = rng.random(DRAWN) < 0.25
        if kind == "count":
            values = np.floor(rng.lognormal(rng.uniform(-0.5, 1.5), rng.uniform(0.5, 2.5), DRAWN))
            texts = [f"{index}:{value:.0f}" for value in np.minimum(values, 1e7)]
        else:
            scale = -10 if kind == "negative" else 10
            texts = [f"{index}:{value:.6f}" for value in scale * rng.lognormal(0, 1, DRAWN)]
        columns.append([f"{index}:0" if none else text for none, text in zip(zero, texts, strict=True)])
    return [" ".join(row) for row in zip(*columns, strict=True)]


def make_file(path: Path, megabytes: float) -> None:
    """Write a file of about this size, and one beside it without the queries."""
    rng = np.random.default_rng(0)
    features = rows_of_features(rng)
    written = row = 0
    with path.open("w") as file, without_queries(path).open("w") as other:
        while written < megabytes * 1e6:
            labels = rng.choice(len(LEVELS), size=DRAWN, p=LEVELS).tolist()
            lines = zip(labels, range(row, row + DRAWN), features, strict=True)
            written += file.write("".join(f"{label} qid:{k // QUERY} {text} \n" for label, k, text in lines))
            other.write("".join(f"{label} {text}\n" for label, text in zip(labels, features, strict=True)))
            row += DRAWN


def without_queries(path: Path) -> Path:
    """The file's twin for LightGBM."""
    return path.with_name("without_queries.txt")


def read_bytes(path: Path) -> None:
    buffer = bytearray(1 << 23)
    with path.open("rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


def with_xgboost(path: Path, threads: int) -> Any:
    import xgboost

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return xgboost.DMatrix(f"{path}?format=libsvm", nthread=threads)


def with_lightgbm(path: Path, threads: int) -> Any:
    import lightgbm

    parameters = {"num_threads": threads, "verbosity": -1, "two_round": False}
    return lightgbm.Dataset(str(without_queries(path)), params=parameters).construct()


def with_sklearn(path: Path) -> Any:
    from sklearn.datasets import load_svmlight_file

    return load_svmlight_file(str(path), query_id=True)


def loaders(path: Path, threads: int) -> dict[str, Callable[[], Any]]:
    """The loaders that can run here, by name."""
    known: dict[str, tuple[str, Callable[[], Any]]] = {
        "bytes alone": ("numpy", lambda: read_bytes(path)),
        "rankwright": ("rankwright", lambda: rw.read_letor(path, n_jobs=threads)),
        "XGBoost": ("xgboost", lambda: with_xgboost(path, threads)),
        "LightGBM, with binning": ("lightgbm", lambda: with_lightgbm(path, threads)),
        "scikit-learn": ("sklearn", lambda: with_sklearn(path)),
    }
    return {name: load for name, (module, load) in known.items() if importlib.util.find_spec(module)}


def check_agreement(path: Path, threads: int) -> None:
    """That scikit-learn reads the same from the file's first rows."""
    few = path.with_name("few.txt")
    few.write_bytes(b"".join(path.read_bytes()[: 1 << 21].splitlines(keepends=True)[:-1]))
    ours, (X, y, qid) = rw.read_letor(few, n_jobs=threads), with_sklearn(few)
    assert np.array_equal(ours.features, X.toarray().astype(np.float32))
    assert np.array_equal(ours.labels, y)
    assert np.array_equal(np.repeat(ours.query_ids, ours.sizes), qid)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument(
        "--megabytes", type=float, default=150, help="size of the file (default: %(default)s)"
    )
    parser.add_argument("--threads", type=int, default=2, help="for all that can (default: %(default)s)")
    parser.set_defaults(repeats=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mslr.txt"
        make_file(path, options.megabytes)
        size = path.stat().st_size / 1e6
        check_agreement(path, options.threads)
        seconds = interleaved(loaders(path, options.threads), options.repeats)
    rows = [
        {
            "loader": name,
            "seconds": taken,
            "MB/s": round(size / taken),
            "rankwright is faster by": taken / seconds["rankwright"],
        }
        for name, taken in seconds.items()
    ]
    print(f"{size:.0f} MB, {options.threads} threads, medians of {options.repeats}")
    print(table(rows))
    if options.json:
        write_json(options.json, rows)


if __name__ == "__main__":
    main()
