"""Worst orderings apart: how they grow with documents, and what a pass costs on data of the paper's shapes.

    python -m benchmarks.worst_orderings

Growth is of one query with a third of its documents good, up to a million documents; the slope is that of
log time against log documents. Shapes are OHSUMED's (106 queries, 16,140 documents, 4,837 good) and TD2004's
(75 queries, 74,170 documents, 444 good), with random scores; DORM is also solved as the assignment that 2008
makes of it, by SciPy.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from benchmarks.common import arguments, interleaved, table, write_json
from rankwright.measures import measure
from rankwright.measures.lists import Lists
from rankwright.structured import Decay, worst_orderings

PAIRS = [("auc", "po"), ("map", "po"), ("ndcg@10", "po"), ("ndcg", "po"), ("rr@10", "po"), ("rr@10", "mrr")]
DOCUMENTS = [10_000, 100_000, 1_000_000]
SHAPES = {"OHSUMED": (106, 16_140, 4_837), "TD2004": (75, 74_170, 444)}
DECAYS = {"1/√(1 + r)": Decay(), "the same, 30 ranks": Decay(until=30)}


def growth(random: np.random.Generator, repeats: int) -> list[dict[str, Any]]:
    """Milliseconds of one query by its documents, and the slope."""
    rows = []
    for text, name in PAIRS:
        seconds = []
        for n in DOCUMENTS:
            labels, scores = (random.random(n) < 1 / 3).astype(float), random.normal(size=n)
            oracle = worst_orderings(text, name, Lists(labels, np.array([0, n]), n_jobs=1))
            seconds.append(interleaved({"at": functools.partial(oracle.at, scores)}, repeats)["at"])
        slope = float(np.polyfit(np.log(DOCUMENTS), np.log(seconds), 1)[0])
        milliseconds = {f"{n:,}": 1000 * value for n, value in zip(DOCUMENTS, seconds, strict=True)}
        rows.append({"measure": text, "map": name, **milliseconds, "slope": slope})
    return rows


def shape(name: str, random: np.random.Generator) -> tuple[Lists, Any]:
    """Queries of equal length, good documents spread evenly over them."""
    queries, documents, good = SHAPES[name]
    labels = np.zeros(documents)
    offsets = np.linspace(0, documents, queries + 1).astype(np.int64)
    labels[np.linspace(0, documents - 1, good).astype(np.int64)] = 1.0
    return Lists(labels, offsets), random.normal(size=documents)


def by_assignment(lists: Lists, scores: Any, decay: Decay, text: str) -> float:
    """The sum over queries of the best of Σ A(rank) s − Σ v(rank)/DCG* over good documents."""
    total, worths = 0.0, measure(text).ranks(int(lists.sizes.max()))
    for begin, end in zip(lists.offsets[:-1], lists.offsets[1:], strict=True):
        n, good = int(end - begin), lists.labels[begin:end]
        gain = np.outer(scores[begin:end], decay.weights(n))
        gain -= np.outer(good, worths[:n] / worths[: int(good.sum())].sum())
        rows, ranks = linear_sum_assignment(gain, maximize=True)
        total += float(gain[rows, ranks].sum())
    return total


def passes(random: np.random.Generator) -> dict[tuple[str, str], Callable[[], Any]]:
    """One pass over the queries by shape and oracle."""
    made: dict[tuple[str, str], Callable[[], Any]] = {}
    for name in SHAPES:
        lists, scores = shape(name, random)
        for text, chosen in PAIRS:
            oracle = worst_orderings(text, chosen, lists)
            made[name, f"{text} with {chosen}"] = functools.partial(oracle.at, scores)
        for shown, decay in DECAYS.items():
            for text in ("ndcg@10", "ndcg"):
                oracle = worst_orderings(text, decay, lists)
                made[name, f"{text} with dorm, {shown}"] = functools.partial(oracle.at, scores)
            made[name, f"ndcg@10 with dorm, {shown}, by assignment"] = functools.partial(
                by_assignment, lists, scores, decay, "ndcg@10"
            )
    return made


def main() -> None:
    given = arguments(__doc__).parse_args()
    random = np.random.default_rng(0)
    grown = growth(random, given.repeats)
    print("ms of one query, a third of its documents good, one thread")
    print(table(grown))
    functions = {"\t".join(key): function for key, function in passes(random).items()}
    seconds = interleaved({key: f for key, f in functions.items() if "assignment" not in key}, given.repeats)
    for key in functions.keys() - seconds.keys():  # long enough to be measured once
        begin = time.perf_counter()
        functions[key]()
        seconds[key] = time.perf_counter() - begin
    rows = [dict(zip(("data", "oracle"), key.split("\t"), strict=True), ms=1000 * value)
            for key, value in seconds.items()]  # fmt: skip
    print("\nms of a pass over all queries")
    print(table(rows))
    if given.json:
        write_json(given.json, [*grown, *rows])


if __name__ == "__main__":
    main()
