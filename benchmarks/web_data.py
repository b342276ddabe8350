"""Data that the benchmarks of trees share: of MSLR-WEB10K's shape, artificial or grown from a real sample.

Both come as a folder of arrays, which every system in a process of its own maps into memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import rankwright as rw

TRAINED, TESTED = 6000, 2000
KEPT = 0.8
"""The share of a document's values that a grown document keeps; the others come from other documents."""
PARTS = ("train", "test")


@contextmanager
def web_arrays(
    grown_from: Path | None = None, trained: int = TRAINED, tested: int = TESTED
) -> Iterator[Path]:
    """A folder with train and test queries: artificial, or grown from the sample in a folder."""
    sources = np.arange(tested)
    if grown_from is None:
        both = rw.synthetic.web_search(trained + tested)
        parts = [both.select(np.arange(trained)), both.select(np.arange(trained, trained + tested))]
    else:
        (train, _), (test, sources) = (
            grown(rw.read_letor(grown_from / f"{part}.txt"), count, seed)
            for seed, (part, count) in enumerate(zip(PARTS, (trained, tested), strict=True))
        )
        parts = [train, test]
    with TemporaryDirectory() as folder:
        for name, queries in zip(PARTS, parts, strict=True):
            np.save(f"{folder}/{name}_X.npy", queries.features)
            np.save(f"{folder}/{name}_y.npy", queries.labels)
            np.save(f"{folder}/{name}_sizes.npy", queries.sizes)
        np.save(f"{folder}/sources.npy", sources)
        yield Path(folder)


def read_part(folder: Path, part: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, labels and the sizes of queries."""
    X, y, sizes = (np.load(folder / f"{part}_{name}.npy") for name in ("X", "y", "sizes"))
    return X, y, sizes


def grown(sample: rw.QuerySet, n_queries: int, seed: int) -> tuple[rw.QuerySet, np.ndarray]:
    """So many queries, each made of the documents of one of the sample's, drawn again; and of which.

    A document keeps ``KEPT`` of its values; each of the others is that of any document of the sample, so
    that features stay as sparse, and as few of values, as they are.
    """
    random = np.random.default_rng(seed)
    X, y = np.asarray(sample.features), np.asarray(sample.labels)
    chosen = random.integers(sample.n_queries, size=n_queries)
    sizes = np.maximum(2, sample.sizes[chosen])
    rows = np.concatenate(
        [
            sample.offsets[query] + random.integers(sample.sizes[query], size=size)
            for query, size in zip(chosen, sizes, strict=True)
        ]
    )
    features = X[rows]
    for f in range(X.shape[1]):
        replaced = np.flatnonzero(random.random(len(rows)) > KEPT)
        features[replaced, f] = X[random.integers(len(X), size=len(replaced)), f]
    return rw.QuerySet(features, y[rows], qid=np.repeat(np.arange(n_queries), sizes)), chosen
