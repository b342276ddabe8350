"""2008: "Structured Learning for Non-Smooth Ranking Losses", on its OHSUMED (LETOR 2.0).

Gains are 0 and 1 and the discount is the paper's (1 for the first two ranks). C is chosen, for each system
and fold, by MAP on the validation part: the steadiest of the three measures on twenty queries.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rankwright.data import QuerySet
from rankwright.data import preparation as prepare
from rankwright.evaluation import evaluate
from rankwright.learners.mcrank import McRank
from rankwright.learners.structured_svm import SVMCombo
from rankwright.measures.lists import Lists
from rankwright.reproductions.experiments import FOLDS, Experiment, Setting, Table
from rankwright.reproductions.rows import AtLeast, Row, Within
from rankwright.structured import worst_orderings

Results = Mapping[str, Any]
Criteria = tuple[tuple[str, str], ...]

OHSUMED = "ohsumed-letor2"
NDCG, NC, MRR = "ndcg@10(discount=letor)", "ndcg(discount=letor)", "rr@10"
MEASURES = {"MRR10": MRR, "NDCG10": NDCG, "MAP": "map"}
COMBINED: Criteria = (("map", "po"), (NDCG, "po"), (NC, "po"), (MRR, "po"))
SYSTEMS: dict[str, Criteria] = {
    "AUC": (("auc", "po"),),
    "MAP": (("map", "po"),),
    "NDCG": ((NDCG, "po"),),
    "NDCG-NC": ((NC, "po"),),
    "MRR": ((MRR, "mrr"),),
    "COMBO": COMBINED,
    "DORM": ((NDCG, "dorm"),),
}
WAYS: dict[str, Callable[[QuerySet], QuerySet]] = {
    "both dropped": prepare.prepare_2008,
    "bad dropped": lambda queries: prepare.drop_contradictions(
        prepare.drop_zero_documents(prepare.scale_within_queries(queries)), keep_good=True
    ),
    "all documents": prepare.scale_within_queries,
}
"""What becomes of good and bad documents that look alike."""
COSTS = {True: (0.1, 1.0, 10.0, 100.0, 1000.0, 10_000.0), False: (1.0, 100.0)}
GAP = 1e-4  # relative: all that NDCG's objective may fall below that at w = 0 is some thousandths
ROUNDS = 30  # of McRank's boosting, the paper's


def prepared(queries: QuerySet, way: str = "both dropped") -> QuerySet:
    """Section 4.1: features in [0, 1] within each query, labels 0 and 1; what contradicts is left out."""
    return prepare.binarise(WAYS[way](queries))


def fitted(train: QuerySet, criteria: Criteria, C: float, **options: Any) -> SVMCombo:
    """Equation 1, or section 3.7 for several losses."""
    learner = SVMCombo(criteria=criteria, C=C, scaling=None, threshold=1, tol=GAP, **options)
    return learner.fit(train)


def at_zero(queries: QuerySet, criteria: Criteria) -> float:
    """The average slack at w = 0: what the worst orderings lose."""
    assert queries.labels is not None
    lists = Lists(queries.labels, queries.offsets)
    total = 0.0
    for measure, feature_map in criteria:
        oracle = worst_orderings(measure, feature_map, lists, threshold=1)
        losses, _ = oracle.at(np.zeros(len(queries)))
        total += float(losses[oracle.trains].mean())
    return total


def average_slack(learner: SVMCombo) -> float:
    """(P − ½|w|²) / C."""
    weights = np.asarray(learner.scorer_.weights, np.float64)
    return (learner.certificate_["primal"] - 0.5 * float(weights @ weights)) / learner.certificate_["C"]


def values(ranker: Any, queries: QuerySet) -> dict[str, float]:
    """The three measures, each the mean over the queries with good documents."""
    found = evaluate(ranker, queries, list(MEASURES.values()))
    return {name: float(found[text].mean) for name, text in MEASURES.items()}


def best_of(rankers: Sequence[Any], valid: QuerySet) -> Any:
    """The ranker of the highest MAP on validation data; the first of equal ones."""
    return max(rankers, key=lambda ranker: values(ranker, valid)["MAP"])


# Figure 9, and Figure 7 beside it: test accuracy by training loss

MORE: dict[str, Criteria] = {
    "MRR, φ_po": ((MRR, "po"),),
    "MAP, not averaged": (("map", "po-sum"),),
    "COMBO, φ_mrr": (*COMBINED[:3], (MRR, "mrr")),
}


def folds_of(setting: Setting) -> range:
    """Which folds a form runs."""
    return range(1, FOLDS + 1) if setting.full else range(1, 2)


def ohsumed(setting: Setting, k: int, way: str) -> list[QuerySet]:
    """Fold k, prepared: to train, to validate and to test on."""
    return [prepared(part, way) for part in setting.fold(OHSUMED, k)]


def tested(setting: Setting, criteria: Criteria, k: int, way: str) -> dict[str, Any]:
    """Test values of one system on one fold, at the C that is best on validation data."""
    train, valid, test = ohsumed(setting, k, way)
    rankers = [fitted(train, criteria, C, n_jobs=setting.n_jobs) for C in COSTS[setting.full]]
    best = best_of(rankers, valid)
    lost = average_slack(best) / at_zero(train, criteria)
    return values(best, test) | {"C": best.C, "slack": lost}


MCRANKS: dict[str, tuple[dict[str, Any], ...]] = {
    "McRank": tuple({"max_leaf_nodes": leaves} for leaves in (4, 10, 31)),
    "McRank, trees grown out": ({"max_leaf_nodes": 1000, "min_samples_leaf": 2, "learning_rate": 1.0},),
}


def mcrank_tested(setting: Setting, k: int, way: str, name: str = "McRank") -> dict[str, Any]:
    """Test values of McRank on one fold, of the trees that are best on validation data."""
    train, valid, test = ohsumed(setting, k, way)
    rankers = [
        McRank(n_estimators=ROUNDS, n_jobs=setting.n_jobs, **trees).fit(train) for trees in MCRANKS[name]
    ]
    best = best_of(rankers, valid)
    return values(best, test) | {"leaves": best.max_leaf_nodes}


def figure_9_pieces(setting: Setting) -> dict[str, Any]:
    """Each system on each fold of each preparation."""
    pieces: dict[str, Any] = {}
    ways = WAYS if setting.full else ("both dropped",)
    for way, k in itertools.product(ways, folds_of(setting)):
        for system, criteria in (SYSTEMS | MORE).items():
            pieces[f"{system}; {way}, fold {k}"] = lambda c=criteria, k=k, w=way: tested(setting, c, k, w)
        for name in MCRANKS:
            pieces[f"{name}; {way}, fold {k}"] = lambda k=k, w=way, n=name: mcrank_tested(setting, k, w, n)
    return pieces


def by_fold(results: Results, way: str, system: str, what: str) -> Any:
    """What was found of a system on each fold."""
    begin = f"{system}; {way}, "
    return np.array([found[what] for piece, found in results.items() if piece.startswith(begin)])


def figure_9_figures(results: Results) -> dict[str, Any]:
    """Means over folds, and the claims that the text makes, of each preparation."""
    figures: dict[str, Any] = {}
    for way in WAYS:
        mean = {
            (system, measure): float(by_fold(results, way, system, measure).mean())
            for system, measure in itertools.product((*SYSTEMS, *MORE, *MCRANKS), MEASURES)
            if len(by_fold(results, way, system, measure))
        }
        if not mean:
            continue
        figures |= {f"{system}, {measure}; {way}": value for (system, measure), value in mean.items()}
        best = {measure: max(mean[system, measure] for system in SYSTEMS) for measure in MEASURES}
        figures |= {
            f"MRR for MRR10; {way}": best["MRR10"] - mean["MRR", "MRR10"],
            f"NDCG-NC over NDCG; {way}": mean["NDCG-NC", "NDCG10"] - mean["NDCG", "NDCG10"],
            f"McRank below; {way}": best["MAP"] - mean["McRank", "MAP"],
            f"φ_mrr over φ_po; {way}": mean["MRR", "MRR10"] - mean["MRR, φ_po", "MRR10"],
            f"averaged; {way}": mean["MAP", "MAP"] - mean["MAP, not averaged", "MAP"],
        }
    return figures


def figure_9_tables(results: Results) -> list[Table]:
    """Ours with the spread over folds (the standard error of their mean), for each preparation.

    Beside it the average slack on training data, over that at w = 0.
    """
    tables = []
    for way in WAYS:
        rows = []
        for system in (*SYSTEMS, *MORE, *MCRANKS):
            if len(by_fold(results, way, system, "MAP")):
                spreads = {measure: spread(by_fold(results, way, system, measure)) for measure in MEASURES}
                slack = "" if system in MCRANKS else float(by_fold(results, way, system, "slack").mean())
                rows.append({"trained for": system, **spreads, "slack left": slack})
        if rows:
            title = f"Test values on OHSUMED, good and bad documents that look alike: {way}"
            tables.append(Table(title, rows))
    return tables


def spread(folds: Any) -> str:
    """A mean over folds and its standard error."""
    error = folds.std(ddof=1) / np.sqrt(len(folds)) if len(folds) > 1 else np.nan
    return f"{folds.mean():.3f} ± {error:.3f}"


PRINTED = {
    "AUC": (0.799, 0.635, 0.582),
    "MAP": (0.808, 0.642, 0.586),
    "NDCG": (0.790, 0.636, 0.581),
    "NDCG-NC": (0.818, 0.640, 0.582),
    "MRR": (0.795, 0.623, 0.570),
    "COMBO": (0.813, 0.635, 0.578),
    "DORM": (0.807, 0.637, 0.583),
    **dict.fromkeys(MCRANKS, (0.701, 0.565, 0.527)),
}

SPREAD = 0.035
"""The standard error of a mean over five folds of some twenty queries, for each of the three measures."""
LEVEL = (
    "which documents are left out decides the level, and the paper does not say it in full: with both "
    "of those that look alike left out all systems lie some 0.07 below print together, with the bad "
    "ones only within 0.04 of it, most of them above"
)
AT_ZERO = (
    "w = 0 is the optimum of equation 1 for this map on these data at any C, and the duality gap proves it. "
    "For φ_mrr, no w lets the worst good documents stand above the ten highest bad ones on average; for "
    "φ_dorm it is so with either reading of y*, one ideal ranking or the mean of all. Of all w short enough "
    "to be as good, ours lies where the risk falls at first; which the paper's was, it does not say"
)
TREES = (
    "neither the size of the trees nor the learning rate is in print. Small trees and a learning rate "
    "of 0.1 rank better than the paper's; trees grown out and added up as they are come near to it with "
    "the bad ones of documents that look alike left out, and fall far below with both"
)
SETTLED = {"MRR": AT_ZERO, "DORM": AT_ZERO, **dict.fromkeys(MCRANKS, TREES)}

CLAIMS = (
    (
        "MRR for MRR10",
        "section 4.5",
        "best MRR10 of all systems less that of MRR's own",
        "Δ_MRR is never best for test MRR",
        0.0,
        "a claim of order",
        "",
    ),
    (
        "NDCG-NC over NDCG",
        "section 4.5",
        "NDCG10 of SVMNDCG-NC less that of SVMNDCG",
        "SVMNDCG consistently loses to SVMNDCG-NC",
        0.0,
        "a claim of order; 0.004 in the paper",
        "",
    ),
    (
        "McRank below",
        "section 4.6",
        "best MAP of the structured systems less McRank's",
        "0.059",
        0.0,
        "a claim of order",
        "",
    ),
    (
        "φ_mrr over φ_po",
        "Figure 7",
        "MRR10 of MRR with φ_mrr less that with φ_po",
        "a consistent large gain",
        0.0,
        "a claim of order",
        AT_ZERO,
    ),
    (
        "averaged",
        "section 3.1.1",
        "MAP of SVMMAP with φ_po averaged over pairs less that without",
        "without it, we get almost zero accuracy of all kinds",
        0.05,
        "nearly zero it cannot be: orders at random have a MAP of a third on these data",
        "solved to a small gap, the sum over pairs ranks nearly as well as their mean: only |w| differs much",
    ),
)

FIGURE_9 = Experiment(
    name="2008-figure-9",
    title="Test accuracy by training loss, OHSUMED",
    paper="2008",
    data="OHSUMED of LETOR 2.0",
    pieces=figure_9_pieces,
    figures=figure_9_figures,
    tables=figure_9_tables,
    rows=(
        *(
            Row(
                figure=f"{system}, {measure}; {way}",
                where="Figure 9",
                what=f"{measure} on test data, trained for {system}; of good and bad that look alike {way}",
                published=f"{value:.3f}",
                expected=Within(value, SPREAD),
                why="the standard error of our mean over five folds",
                full_only=True,
                found=SETTLED.get(system, LEVEL),
            )
            for way in ("both dropped", "bad dropped")
            for system, printed in PRINTED.items()
            for measure, value in zip(MEASURES, printed, strict=True)
        ),
        *(
            Row(
                figure=f"{figure}; {way}",
                where=where,
                what=f"{what}; of good and bad that look alike {way}",
                published=published,
                expected=AtLeast(least),
                why=why,
                full_only=figure != "MRR for MRR10" or way != "both dropped",
                found=found,
            )
            for way in ("both dropped", "bad dropped")
            for figure, where, what, published, least, why, found in CLAIMS
        ),
    ),
)

EXPERIMENTS = (FIGURE_9,)
