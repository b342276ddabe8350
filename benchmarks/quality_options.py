"""What each option of LambdaMART buys and costs, on validation queries of several sets.

    python -m benchmarks.quality_options FOLDER… [--synthetic QUERIES] [--options NAME;…] [--json PATH]

Each set is in five parts (S1.txt to S5.txt, or all LETOR files of a folder, their queries dealt out). In
fold k the parts k to k + 2 train and part k + 3 validates; part k + 4, which would test, is not looked at. So
each query is validated once. Trees are added up to a fixed number; how many of them count is chosen on one
half of the validation queries for the other half, so that no option gains by being chosen on what it is
judged by.

A row has the mean NDCG@10, the mean difference to the plain learner by query with its standard error (the
mean over ``--seeds`` of each query first), and processor seconds relative to the plain learner's. ``--cache``
keeps what each option came to, so that a run that was stopped goes on where it was.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import rankwright as rw
from benchmarks.common import arguments, table, write_json
from benchmarks.quality_vs_peers import pooled

SELECT = "ndcg@10"
EVERY = 10
SMALL = {"max_leaf_nodes": 10, "learning_rate": 0.05, "n_estimators": 300}
LARGE = {"max_leaf_nodes": 31, "learning_rate": 0.1, "n_estimators": 200}

PLAIN = "plain"
BAGGED = {"query_subsample": 0.7, "features_per_node": 0.5}
"""Half the features a node, and 70 % of the queries a tree."""
OPTIONS: dict[str, tuple[Any, dict[str, Any]]] = {
    PLAIN: (rw.LambdaMART, {}),
    "paper": (rw.LambdaMART, {"mode": "paper"}),
    "not normalised": (rw.LambdaMART, {"normalise": False}),
    "truncation 10": (rw.LambdaMART, {"truncation": 10}),
    "truncation 100": (rw.LambdaMART, {"truncation": 100}),
    "all pairs": (rw.LambdaMART, {"truncation": None}),
    "l2 10": (rw.LambdaMART, {"l2_regularization": 10.0}),
    "5 rows a leaf": (rw.LambdaMART, {"min_samples_leaf": 5}),
    "60 rows a leaf": (rw.LambdaMART, {"min_samples_leaf": 60}),
    "lambdaloss": (rw.LambdaMART, {"loss": "lambdaloss"}),
    "ranknet": (rw.LambdaMART, {"loss": "ranknet", "truncation": None}),
    "xendcg": (rw.LambdaMART, {"loss": "xendcg"}),
    "4 orderings": (rw.LambdaMART, {"orderings": 4}),
    "4 orderings, noise 0.2": (rw.LambdaMART, {"orderings": 4, "noise": 0.2}),
    "4 orderings, noise 0.2, not normalised": (
        rw.LambdaMART, {"orderings": 4, "noise": 0.2, "normalise": False},
    ),
    "70 % of queries": (rw.LambdaMART, {"query_subsample": 0.7}),
    "half the features a node": (rw.LambdaMART, {"features_per_node": 0.5}),
    "both": (rw.LambdaMART, BAGGED),
    "random thresholds": (rw.LambdaMART, {"random_bins": True}),
    "both, 5 runs": (rw.LambdaMART, {**BAGGED, "n_runs": 5}),
    "xendcg, random thresholds": (rw.LambdaMART, {"loss": "xendcg", "random_bins": True}),
    "xendcg, both, 5 runs": (rw.LambdaMART, {**BAGGED, "loss": "xendcg", "n_runs": 5}),
    "squared error": (rw.MART, {}),
    "mcrank": (rw.McRank, {}),
}  # fmt: skip


def parts_of(folder: Path) -> list[rw.QuerySet]:
    """Five parts."""
    if (folder / "S1.txt").exists():
        return [rw.read_letor(folder / f"S{number}.txt") for number in range(1, 6)]
    return dealt(pooled([rw.read_letor(path) for path in sorted(folder.glob("*.txt"))]))


def dealt(queries: rw.QuerySet) -> list[rw.QuerySet]:
    """Query q goes to part q mod 5."""
    query = np.repeat(np.arange(queries.n_queries), queries.sizes)
    chosen = [query % 5 == k for k in range(5)]
    return [rw.QuerySet(queries.features[own], queries.labels[own], qid=query[own]) for own in chosen]


def staged(kind: Any, settings: dict[str, Any], seed: int, train: Any, valid: Any) -> tuple[Any, float]:
    """The scores of the validation rows after every few steps, and the processor seconds of training."""
    settings = dict(settings)
    runs, total, seconds = settings.pop("n_runs", 1), 0.0, 0.0
    for run in range(runs):
        begin = time.process_time()
        ranker = kind(n_jobs=1, random_state=seed * runs + run, **settings).fit(train)
        seconds += time.process_time() - begin
        per_step = len(ranker.scorer_.start)
        counts = range(EVERY, settings["n_estimators"] + 1, EVERY)
        total = total + np.array([ranker.scorer_.first(n * per_step).predict(valid) for n in counts])
    return total, seconds


def crossed(values: Any, seed: int) -> Any:
    """For each query the value after as many steps as were best for the other half of the queries."""
    half = np.random.default_rng(seed).permutation(values.shape[1]) % 2 == 0
    out = np.empty(values.shape[1])
    for mine in (half, ~half):
        out[mine] = values[np.nanmean(values[:, ~mine], axis=1).argmax()][mine]
    return out


class Plan(NamedTuple):
    """How often, and where to keep what came of it."""

    seeds: int
    folds: int
    cache: Path | None


def validated(name: str, data: str, parts: list[rw.QuerySet], plan: Plan) -> tuple[Any, float]:
    """Each query's NDCG@10 (the mean over seeds), and seconds a seed; or what is kept of them."""
    kept = plan.cache and plan.cache / f"{data}-{name}-{plan.seeds}-{plan.folds}.npz".replace(" ", "-")
    if kept is not None and kept.exists():
        with np.load(kept) as found:
            return found["values"], float(found["seconds"])
    kind, own = OPTIONS[name]
    settings = (LARGE if sum(len(part) for part in parts) > 40_000 else SMALL) | own
    values, seconds = [], 0.0
    for k in range(plan.folds):
        train, valid = pooled([parts[(k + at) % 5] for at in range(3)]), parts[(k + 3) % 5]
        drawn = []
        for seed in range(plan.seeds):
            scores, spent = staged(kind, settings, seed, train, valid)
            by_query = np.array([rw.evaluate(s, valid, [SELECT])[SELECT].per_query for s in scores])
            drawn.append(crossed(by_query, seed))
            seconds += spent / plan.seeds
        values.append(np.mean(drawn, axis=0))
    counted = np.concatenate(values)
    counted = counted[~np.isnan(counted)]
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        np.savez(kept, values=counted, seconds=seconds)
    return counted, seconds


def rows_of(data: str, parts: list[rw.QuerySet], names: list[str], plan: Plan) -> list[dict[str, Any]]:
    """A row an option."""
    plain, plain_seconds = validated(PLAIN, data, parts, plan)
    rows = []
    for name in names:
        values, seconds = validated(name, data, parts, plan)
        differences = values - plain
        rows.append(
            {
                "data": data,
                "option": name,
                "ndcg@10": values.mean(),
                "difference": differences.mean(),
                "error": differences.std(ddof=1) / np.sqrt(len(differences)),
                "time": seconds / plain_seconds,
            }
        )
        print(table(rows[-1:]).splitlines()[-1], flush=True)
    return rows


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="data, as told above")
    parser.add_argument("--synthetic", type=int, default=0, help="queries of synthetic web search too")
    parser.add_argument("--options", default=";".join(OPTIONS), help="which of them, parted by ;")
    parser.add_argument("--seeds", type=int, default=2, help="how often each (default: %(default)s)")
    parser.add_argument("--folds", type=int, default=5, help="how many folds (default: %(default)s)")
    parser.add_argument("--cache", type=Path, metavar="FOLDER", help="keep what came of each option there")
    given = parser.parse_args()
    plan = Plan(given.seeds, given.folds, given.cache)
    rw.LambdaMART(n_estimators=2, min_samples_leaf=2).fit(rw.synthetic.random_net(4, 20))
    sets = {folder.name: parts_of(folder) for folder in given.folders}
    if given.synthetic:
        sets["synthetic"] = dealt(rw.synthetic.web_search(given.synthetic))
    rows = []
    for data, parts in sets.items():
        rows += rows_of(data, parts, given.options.split(";"), plan)
    print(table(rows))
    if given.json:
        write_json(given.json, rows)


if __name__ == "__main__":
    main()
