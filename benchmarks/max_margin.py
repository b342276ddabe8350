"""What max-margin learning costs: worst orderings and quadratic programmes apart, as 2008's Figure 8 has it.

    python -m benchmarks.max_margin [--ohsumed FOLDER]

OHSUMED in full (106 queries, 16,140 documents) where the folder is given, data of TD2004's shape (75 queries,
74,170 documents, 444 good, 44 features), then lists that grow: 10⁴ to 10⁶ documents in 50 queries. All to a
relative duality gap of 10⁻³, in a process that has compiled its kernels. "asked" is what the seconds are to
stay below, "2008" what Figures 8 and 10 have. Last DORM's worst orderings, with the decay that never ends and
the one that ends at rank 30 (Figure 8), beside SciPy's solution of the assignment problem.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

import rankwright as rw
from benchmarks.common import arguments, table, write_json
from rankwright.learners import ranksvm, structured_svm
from rankwright.measures.lists import Lists
from rankwright.solvers import cutting_plane
from rankwright.structured import Decay, worst_orderings

LEARNERS: dict[str, Any] = {
    "SVMAUC": rw.SVMAUC,
    "SVMMAP": rw.SVMMAP,
    "SVMNDCG": rw.SVMNDCG,
    "SVMNDCG-NC": rw.SVMNDCGNC,
    "SVMMRR": rw.SVMMRR,
    "DORM": rw.DORM,
    "DORM, 30 ranks": functools.partial(rw.DORM, until=30),
    "SVMCOMBO": rw.SVMCombo,
    "RankSVM": rw.RankSVM,
}
OHSUMED, TD2004 = "OHSUMED", "TD2004's shape"
ASKED = {
    OHSUMED: {"SVMNDCG": 1.0, "SVMMRR": 2.0, "SVMMAP": 3.0},
    TD2004: {"SVMNDCG": 2.0, "SVMMRR": 5.0},
}
PRINTED = {
    OHSUMED: {"SVMNDCG": 4.8, "SVMMRR": 30.6},
    TD2004: {"SVMNDCG": 19.1, "SVMMRR": 148.0, "DORM, 30 ranks": 283.0},
}
DECAYS = {"never ends": Decay(), "ends at rank 30": Decay(until=30)}
GROWING = ("SVMAUC", "SVMMAP", "SVMNDCG")
SIZES = (10_000, 100_000, 1_000_000)


def ohsumed(folder: Path) -> rw.QuerySet:
    """All five parts of OHSUMED."""
    parts = [rw.read_letor(folder / f"S{part}.txt") for part in range(1, 6)]
    ids = [np.repeat(np.array(part.query_ids), part.sizes) for part in parts]
    return rw.QuerySet(
        np.concatenate([part.features for part in parts]),
        np.concatenate([part.labels for part in parts]),
        qid=np.concatenate(ids),
    )


def drawn(queries: int, documents: int, good: int, features: int, seed: int = 0) -> rw.QuerySet:
    """Queries of about one length whose good documents are the likeliest by some features and chance."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((documents, features), dtype=np.float32)
    qid = np.arange(documents) * queries // documents
    target = X[:, :5].sum(axis=1) + 3 * random.standard_normal(documents)
    y = np.zeros(documents)
    y[np.argsort(-target)[:good]] = 1
    return rw.QuerySet(X, y, qid=qid)


@contextmanager
def stopwatch(*watched: tuple[Any, str]) -> Iterator[dict[str, float]]:
    """The seconds spent in some functions, by name."""
    spent, originals = {name: 0.0 for _, name in watched}, [getattr(*each) for each in watched]

    def timed(name: str, function: Any) -> Any:
        def run(*given: Any, **more: Any) -> Any:
            begin = time.perf_counter()
            try:
                return function(*given, **more)
            finally:
                spent[name] += time.perf_counter() - begin

        return run

    for (place, name), original in zip(watched, originals, strict=True):
        setattr(place, name, timed(name, original))
    try:
        yield spent
    finally:
        for (place, name), original in zip(watched, originals, strict=True):
            setattr(place, name, original)


def measured(name: str, data: rw.QuerySet, C: float, repeats: int, **settings: Any) -> dict[str, Any]:
    """The fastest of some fits: seconds in all, in worst orderings, in programmes; steps and gap."""
    best: dict[str, Any] = {"seconds": np.inf}
    for _ in range(repeats):
        with stopwatch(
            (structured_svm.Planes, "worst"), (ranksvm.PairRisk, "worst"), (cutting_plane, "multipliers")
        ) as spent:
            begin = time.perf_counter()
            ranker = LEARNERS[name](C=C, **settings).fit(data)
            seconds = time.perf_counter() - begin
        if seconds < best["seconds"]:
            best = {
                "seconds": seconds,
                "orderings": spent["worst"],
                "programmes": spent["multipliers"],
                "steps": len(ranker.history_),
                "gap": ranker.certificate_["gap"],
                "risk": risk(ranker),
            }
    return best


def risk(ranker: Any) -> float:
    """The average slack, of w = 0 for one."""
    weights = getattr(ranker.scorer_, "weights", np.zeros(1))
    return float((ranker.certificate_["primal"] - 0.5 * weights @ weights) / ranker.certificate_["C"])


def growth(C: float) -> list[dict[str, Any]]:
    """Seconds with ever longer lists, and the slope of their logarithms, in all and for one step."""
    rows = []
    for name in GROWING:
        fits = []
        for documents in SIZES:
            data = drawn(50, documents, documents // 20, 10)
            fits.append(measured(name, data, C, 2))
            rows.append({"data": f"{documents:,} documents", "learner": name, **fits[-1]})
        for what in ("seconds", "orderings"):
            by_step = [fit[what] / fit["steps"] for fit in fits]
            in_all = slope([fit[what] for fit in fits])
            print(f"{name}: slope of {what} {in_all:.2f}, a step {slope(by_step):.2f}")
    return rows


def slope(seconds: list[float]) -> float:
    """Of log seconds against log documents."""
    return float(np.polyfit(np.log(SIZES), np.log(seconds), 1)[0])


def assignment(data: rw.QuerySet, decay: Decay) -> dict[str, float]:
    """A pass of worst orderings of NDCG@10 with φ_dorm over all queries, by merging and by assignment."""
    lists = Lists(np.array(data.labels), data.offsets)
    oracle = worst_orderings("ndcg@10", decay, lists)
    scores = np.random.default_rng(0).standard_normal(len(data)) * 0.1
    oracle.at(scores)
    begin = time.perf_counter()
    losses, coefficients = oracle.at(scores)
    merged = time.perf_counter() - begin
    assigned = 0.0
    for query in np.flatnonzero(oracle.trains):
        own = slice(data.offsets[query], data.offsets[query + 1])
        z, n = data.labels[own] > 0, data.sizes[query]
        weights, worths = decay.weights(n), oracle.measure.ranks(n)
        ranks = max(10, decay.until or n)  # what lies behind is worth nothing, whoever stands there
        begin = time.perf_counter()
        gains = np.outer(scores[own], weights[:ranks])
        gains -= np.outer(z, worths[:ranks] / worths[: z.sum()].sum())
        best = gains[linear_sum_assignment(gains, maximize=True)].sum()
        assigned += time.perf_counter() - begin
        truth = np.where(z, weights[: z.sum()].mean(), weights[z.sum() :].mean()) @ scores[own]
        found = losses[query] - coefficients[own] @ scores[own]
        assert abs(found - (1 + best - truth)) < 1e-9, "both are exact"
    return {"merging": merged, "assignment": assigned, "ratio": assigned / merged}


def dorm(data: rw.QuerySet, fits: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A pass by merging and by assignment, and the seconds of as many passes as a fit has steps, by decay."""
    rows = []
    for (title, decay), fit in zip(DECAYS.items(), fits, strict=True):
        one = assignment(data, decay)
        whole = {"steps": fit["steps"], "fit": fit["seconds"]}
        whole["fit by assignment"] = fit["seconds"] + fit["steps"] * (one["assignment"] - one["merging"])
        rows.append({"decay": title, **one, **whole})
    return rows


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--ohsumed", metavar="FOLDER", help="the five parts of OHSUMED, S1.txt to S5.txt")
    parser.add_argument("--C", type=float, default=100.0, help="(default: %(default)s)")
    given = parser.parse_args()
    data = {TD2004: drawn(75, 74_170, 444, 44)}
    if given.ohsumed:
        data = {OHSUMED: ohsumed(Path(given.ohsumed))} | data
    rows: list[dict[str, Any]] = []
    small = drawn(4, 40, 12, 44)
    for name in LEARNERS:
        LEARNERS[name](scaling="query").fit(small)  # compile
    for title, queries in data.items():
        for name in LEARNERS:
            found = measured(name, queries, given.C, max(2, given.repeats // 2), scaling="query")
            beside = {"asked": ASKED[title].get(name, ""), "2008": PRINTED[title].get(name, "")}
            rows.append({"data": title, "learner": name, **found, **beside})
    print(table(rows))
    grown = growth(given.C)
    print(table(grown))
    fits = [row for row in rows if row["data"] == TD2004 and row["learner"].startswith("DORM")]
    passes = dorm(data[TD2004], fits)
    print("\nDORM on TD2004's shape: seconds of a pass of worst orderings, and of a fit")
    print(table(passes))
    if given.json:
        write_json(given.json, [*rows, *grown, *passes])


if __name__ == "__main__":
    main()
