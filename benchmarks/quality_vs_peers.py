"""How well our trees rank real data, beside LightGBM's, XGBoost's and CatBoost's.

    python -m benchmarks.quality_vs_peers FOLDER… [--cache FOLDER] [--json PATH] [--systems NAME,…]

A folder holds S1.txt to S5.txt, of which fold k trains on S(k) to S(k+2), validates on S(k+3) and tests on
S(k+4), counted round; or train.txt, vali.txt and test.txt.

All systems search the same grid with as many fits: each fit stops after 80 trees without progress of
validation NDCG@10, and for each fold the fit with the best validation NDCG@10 is tested. What the folds'
tests give is pooled query by query, blank queries are left out, and systems are compared in pairs of values
of the same query, each with the peer that is best by the measure. ``--cache`` keeps what each fit came to,
so that a run that was stopped goes on where it was.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import rankwright as rw
from benchmarks.common import arguments, table, write_json

LEAVES = (4, 8, 16, 31)
RATES = (0.03, 0.1)
MOST_TREES = 1000
PATIENCE = 80
MEASURES = ("ndcg@10", "map")
SELECT = "ndcg@10"


class Fold(NamedTuple):
    """The queries of one fold."""

    train: rw.QuerySet
    valid: rw.QuerySet
    test: rw.QuerySet


class Fit(NamedTuple):
    """What a fit came to: scores of the test rows, validation NDCG@10, trees and seconds."""

    scores: Any
    valid: float
    steps: int
    seconds: float


Trainer = Callable[[Fold, int, float], tuple[Callable[[rw.QuerySet], Any], int]]


def ours(learner: Any, **settings: Any) -> Trainer:
    """One of our learners with these settings."""

    def fit(fold: Fold, leaves: int, rate: float) -> tuple[Callable[[rw.QuerySet], Any], int]:
        ranker = learner(
            measure=SELECT, max_leaf_nodes=leaves, learning_rate=rate, n_estimators=MOST_TREES,
            early_stopping_rounds=PATIENCE, n_jobs=1, **settings,
        ).fit(fold.train, valid=fold.valid)  # fmt: skip
        return ranker.predict, len(ranker.history_)

    return fit


def lightgbm(fold: Fold, leaves: int, rate: float) -> tuple[Callable[[rw.QuerySet], Any], int]:
    """LightGBM's lambdarank."""
    import lightgbm as lgb

    train = lgb.Dataset(np.asarray(fold.train.features), fold.train.labels, group=fold.train.sizes)
    valid = train.create_valid(np.asarray(fold.valid.features), fold.valid.labels, group=fold.valid.sizes)
    settings = {
        "objective": "lambdarank", "metric": "ndcg", "eval_at": [10], "num_leaves": leaves,
        "learning_rate": rate, "num_threads": 1, "verbosity": -1, "seed": 0, "deterministic": True,
        "force_row_wise": True,
    }  # fmt: skip
    model = lgb.train(
        settings, train, MOST_TREES, [valid], callbacks=[lgb.early_stopping(PATIENCE, verbose=False)]
    )
    return lambda queries: model.predict(np.asarray(queries.features)), model.current_iteration()


def xgboost(fold: Fold, leaves: int, rate: float) -> tuple[Callable[[rw.QuerySet], Any], int]:
    """XGBoost's rank:ndcg."""
    import xgboost as xgb

    def matrix(queries: rw.QuerySet) -> Any:
        return xgb.DMatrix(np.asarray(queries.features), queries.labels, group=queries.sizes)

    settings = {
        "objective": "rank:ndcg", "eval_metric": "ndcg@10", "tree_method": "hist", "max_leaves": leaves,
        "grow_policy": "lossguide", "max_depth": 0, "eta": rate, "nthread": 1, "seed": 0,
    }  # fmt: skip
    model = xgb.train(
        settings, matrix(fold.train), MOST_TREES, [(matrix(fold.valid), "valid")],
        early_stopping_rounds=PATIENCE, verbose_eval=False,
    )  # fmt: skip
    best = (0, model.best_iteration + 1)
    return lambda queries: model.predict(matrix(queries), iteration_range=best), model.num_boosted_rounds()


def catboost(fold: Fold, leaves: int, rate: float) -> tuple[Callable[[rw.QuerySet], Any], int]:
    """CatBoost's YetiRank; its trees are symmetric, so 31 leaves are a depth of 5."""
    import catboost as cat

    def pool(queries: rw.QuerySet) -> Any:
        query = np.repeat(np.arange(queries.n_queries), queries.sizes)
        return cat.Pool(np.asarray(queries.features), queries.labels, group_id=query)

    model = cat.CatBoost(
        {
            "loss_function": "YetiRank", "eval_metric": "NDCG:top=10;type=Exp", "iterations": MOST_TREES,
            "depth": int(np.ceil(np.log2(leaves))), "learning_rate": rate, "thread_count": 1,
            "random_seed": 0, "logging_level": "Silent", "allow_writing_files": False,
            "early_stopping_rounds": PATIENCE, "use_best_model": True,
        }
    )  # fmt: skip
    model.fit(pool(fold.train), eval_set=pool(fold.valid))
    return lambda queries: model.predict(np.asarray(queries.features)), model.tree_count_


PEERS: dict[str, Trainer] = {"LightGBM": lightgbm, "XGBoost": xgboost, "CatBoost": catboost}
OURS: dict[str, Trainer] = {
    "LambdaMART": ours(rw.LambdaMART),
    "LambdaMART paper": ours(rw.LambdaMART, mode="paper"),
    "LambdaMART 5 runs": ours(rw.LambdaMART, query_subsample=0.7, features_per_node=0.5, n_runs=5),
    "LambdaMART xendcg": ours(rw.LambdaMART, loss="xendcg"),
    "LambdaMART xendcg 5 runs": ours(
        rw.LambdaMART, loss="xendcg", query_subsample=0.7, features_per_node=0.5, n_runs=5
    ),
    "MART": ours(rw.MART),
    "McRank": ours(rw.McRank),
    "McRank ordinal": ours(rw.McRank, form="ordinal"),
}
SYSTEMS = {**PEERS, **OURS}


def folds_of(folder: Path) -> list[Fold]:
    """The folds of a folder."""
    if not (folder / "S1.txt").exists():
        return [Fold(*(rw.read_letor(folder / f"{part}.txt") for part in ("train", "vali", "test")))]
    parts = [rw.read_letor(folder / f"S{number}.txt") for number in range(1, 6)]
    return [
        Fold(pooled([parts[(k + at) % 5] for at in range(3)]), parts[(k + 3) % 5], parts[(k + 4) % 5])
        for k in range(5)
    ]


def pooled(parts: list[rw.QuerySet]) -> rw.QuerySet:
    """Several sets of queries as one; a query of each stays one of its own."""
    ids = [np.repeat(np.arange(part.n_queries), part.sizes) for part in parts]
    before = np.cumsum([0, *(part.n_queries for part in parts)])
    return rw.QuerySet(
        np.concatenate([part.features for part in parts]),
        np.concatenate([part.labels for part in parts]),
        qid=np.concatenate([number + first for number, first in zip(ids, before, strict=False)]),
    )


def fitted(trainer: Trainer, fold: Fold, leaves: int, rate: float, path: Path | None) -> Fit:
    """A fit, or what is kept of it."""
    if path is not None and path.exists():
        with np.load(path) as kept:
            return Fit(kept["scores"], *(kept[name].item() for name in Fit._fields[1:]))
    begin = time.perf_counter()
    predict, steps = trainer(fold, leaves, rate)
    seconds = time.perf_counter() - begin
    valid = rw.evaluate(np.asarray(predict(fold.valid), np.float64), fold.valid, [SELECT])[SELECT].mean
    fit = Fit(np.asarray(predict(fold.test), np.float64), valid, steps, seconds)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".part.npz")
        np.savez(unfinished, **fit._asdict())
        unfinished.replace(path)
    return fit


def grid(folds: list[Fold], name: str, data: str, cache: Path | None) -> Iterator[list[Fit]]:
    """For each fold what the fits of the grid came to."""
    for number, fold in enumerate(folds, 1):
        fits = []
        for leaves, rate in itertools.product(LEAVES, RATES):
            path = cache and cache / f"{data}-{name}-{number}-{leaves}-{rate}.npz".replace(" ", "-")
            fits.append(fitted(SYSTEMS[name], fold, leaves, rate, path))
        yield fits


def compared(folds: list[Fold], names: list[str], data: str, cache: Path | None) -> list[dict[str, Any]]:
    """A row for each system and measure, with the difference to the best peer."""
    tests, scores, spent = pooled([fold.test for fold in folds]), {}, {}
    for name in names:
        found = list(grid(folds, name, data, cache))
        chosen = [max(fits, key=lambda fit: fit.valid) for fits in found]
        scores[name] = np.concatenate([fit.scores for fit in chosen])
        every = [fit for fits in found for fit in fits]
        spent[name] = {
            "valid": float(np.mean([fit.valid for fit in chosen])),
            "trees": float(np.mean([fit.steps for fit in every])),
            "seconds": sum(fit.seconds for fit in every),
        }
    rows = []
    for measure in MEASURES:
        means = {name: rw.evaluate(scores[name], tests, [measure])[measure].mean for name in names}
        best = max((name for name in names if name in PEERS), key=means.__getitem__, default=names[0])
        others = rw.compare(scores, tests, [measure], baseline=best) if len(names) > 1 else []
        contrasts = {contrast.a: contrast for contrast in others}
        for name in names:
            row = {"data": data, "measure": measure, "system": name, "mean": means[name], "against": best}
            if name in contrasts:
                low, high = contrasts[name].interval
                row |= {"difference": contrasts[name].difference, "low": low, "high": high}
            else:
                row |= {"difference": 0.0, "low": 0.0, "high": 0.0}
            rows.append(row | spent[name])
    return rows


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="data, as told above")
    parser.add_argument("--cache", type=Path, metavar="FOLDER", help="keep what each fit came to there")
    parser.add_argument("--systems", default=",".join(SYSTEMS), help="which of them (default: %(default)s)")
    given = parser.parse_args()
    warm_up = rw.synthetic.random_net(4, 20)
    for learner in (rw.LambdaMART, rw.MART, rw.McRank):
        learner(n_estimators=2, min_samples_leaf=2).fit(warm_up, valid=warm_up)
    rows = []
    for folder in given.folders:
        rows += compared(folds_of(folder), given.systems.split(","), folder.name, given.cache)
        print(table(rows[-len(MEASURES) * len(given.systems.split(",")) :]), flush=True)
    if given.json:
        write_json(given.json, rows)


if __name__ == "__main__":
    main()
