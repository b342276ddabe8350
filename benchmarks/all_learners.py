"""All learners on real data: five folds pooled, NDCG@10, MAP and ERR@10 with intervals, and what fits took.

    python -m benchmarks.all_learners FOLDER… [--cache FOLDER] [--only NAME,…] [--json PATH]

A folder holds LETOR's S1.txt to S5.txt; fold k trains on S(k) to S(k+2), validates on S(k+3) and tests on
S(k+4), counted round. Learners are found by themselves and have their default parameters, one thread, and
NDCG@10 to train for or to select by; the best step on the validation part is kept, and those that can stop
early wait 50 steps. Seconds are of the processor, all five fits together. ``--cache`` keeps what each fit
came to, so that a run that was stopped goes on. For MQ2008 a second table stands beside LETOR's published
figures, computed as LETOR computes them.
"""

from __future__ import annotations

import functools
import hashlib
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

import rankwright as rw
from benchmarks.common import arguments, table, write_json
from rankwright import learners
from rankwright.reproductions.experiments import FOLDS, Setting, together

MEASURES = ("ndcg@10", "map", "err@10")
LETOR = {"map": "map:letor", "ndcg@1": "ndcg@1:letor", "ndcg@5": "ndcg@5:letor"}
SETTINGS: dict[str, Any] = {"measure": "ndcg@10", "early_stopping_rounds": 50, "n_jobs": 1}
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "PRank": [{}, {"form": "quadratic"}],
    "RandomForestRanker": [{}, {"trees": "lambdamart"}],
    "RankNet": [{}, {"hidden": 0}],
    "ListNet": [{}, {"hidden": 10}],
}
SKIPPED = {"TorchRanker": "it needs a module"}
# A third party's rerun of LETOR 4.0's baselines (JasonWyse/letor40, 2015), and LETOR's own MAP where known.
PUBLISHED: dict[str, dict[str, tuple[float, ...]]] = {
    "AdaRank": {"map": (0.4766, 0.4824), "ndcg@1": (0.3745,), "ndcg@5": (0.4718,)},
    "LambdaMART": {"map": (0.4776,), "ndcg@1": (0.3797,), "ndcg@5": (0.4734,)},
    "ListNet": {"map": (0.4415, 0.4775), "ndcg@1": (0.3244,), "ndcg@5": (0.4396,)},
    "RankBoost": {"map": (0.4752, 0.4775), "ndcg@1": (0.3644,), "ndcg@5": (0.4693,)},
    "RankNet": {"map": (0.4522,), "ndcg@1": (0.3410,), "ndcg@5": (0.4500,)},
    "RankSVM": {"map": (0.4716, 0.4696), "ndcg@1": (0.3699,), "ndcg@5": (0.4707,)},
}


def rankers(only: list[str]) -> dict[str, Any]:
    """Every learner that can be made without more ado, by its name and what differs from its defaults."""
    found = {}
    for name, kind in learners.known().items():
        if name in SKIPPED or (only and name not in only):
            continue
        known = kind().get_params()
        shared = {key: value for key, value in SETTINGS.items() if key in known}
        for variant in VARIANTS.get(name, [{}]):
            shown = " ".join([name, *(f"{key}={value}" for key, value in variant.items())])
            found[shown] = kind(**shared, **variant)
    return found


@functools.cache
def fold_of(data: Path, k: int) -> tuple[rw.QuerySet, rw.QuerySet, rw.QuerySet]:
    """Fold k of a data set, read once."""
    return Setting(data=data.parent).fold(data.name, k)


def fitted(ranker: Any, data: Path, k: int, cache: Path | None) -> dict[str, Any]:
    """Scores of the rows that fold k tests on, the seconds that fitting took, and its steps."""
    what = f"{data.name}-{type(ranker).__name__}-{k}"
    path = None
    if cache is not None:
        settings = json.dumps(ranker.get_params(deep=False), sort_keys=True, default=repr)
        path = cache / f"{what}-{hashlib.sha256(settings.encode()).hexdigest()[:12]}.json"
        if path.exists():
            return json.loads(path.read_text())  # type: ignore[no-any-return]
    train, valid, test = fold_of(data, k)
    begin = time.process_time()
    ranker.fit(train, valid=valid)
    seconds = time.process_time() - begin
    found = {"scores": ranker.predict(test).tolist(), "seconds": seconds, "steps": len(ranker.history_)}
    if path is not None:
        cache.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".part").write_text(json.dumps(found))
        path.with_suffix(".part").replace(path)
    return found


def row(name: str, ranker: Any, data: Path, fits: list[dict[str, Any]], tests: list[rw.QuerySet]) -> Any:
    """A learner's figures on a data set, all folds pooled; and those of each fold as LETOR computes them."""
    scores = np.concatenate([fit["scores"] for fit in fits])
    result = rw.evaluate(scores, together(tests), MEASURES)
    figures: dict[str, Any] = {"data": data.name, "learner": name, "paper": ranker.paper or ""}
    for measure in MEASURES:
        low, high = result[measure].interval
        figures |= {measure: result[measure].mean, f"{measure} low": low, f"{measure} high": high}
    by_fold = [
        rw.evaluate(np.array(fit["scores"]), test, list(LETOR.values()))
        for fit, test in zip(fits, tests, strict=True)
    ]
    folds = {name: [fold[measure].mean for fold in by_fold] for name, measure in LETOR.items()}
    return figures | {"seconds": sum(fit["seconds"] for fit in fits)}, folds


def beside_published(data: str, found: dict[str, dict[str, list[float]]]) -> list[dict[str, Any]]:
    """Our mean over folds and its spread (their standard deviation), beside what was published."""
    rows = []
    for name, published in PUBLISHED.items():
        for measure, values in published.items():
            if name not in found:
                continue
            ours, spread = np.mean(found[name][measure]), np.std(found[name][measure], ddof=1)
            off = min((ours - value for value in values), key=abs)
            rows.append(
                {
                    "data": data, "learner": name, "LETOR's": measure, "mean of folds": float(ours),
                    "spread": float(spread), "published": " / ".join(f"{value:.4f}" for value in values),
                    "difference": float(off), "within": bool(abs(off) <= spread),
                }
            )  # fmt: skip
    return rows


def shown(figures: dict[str, Any]) -> dict[str, Any]:
    """A row as people read it."""
    cells = {name: figures[name] for name in ("data", "learner")}
    for measure in MEASURES:
        low, high = figures[f"{measure} low"], figures[f"{measure} high"]
        cells[measure] = f"{figures[measure]:.4f} [{low:.4f}, {high:.4f}]"
    return cells | {"seconds": f"{figures['seconds']:.1f}"}


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="data, as told above")
    parser.add_argument("--cache", type=Path, metavar="FOLDER", help="keep what each fit came to there")
    parser.add_argument("--only", default="", metavar="NAME,…", help="these learners (default: all)")
    given = parser.parse_args()
    only = [name for name in given.only.split(",") if name]
    rows, published = [], []
    for folder in given.folders:
        data = folder.resolve()
        tests, folds, here = [], {}, []
        for name, ranker in rankers(only).items():
            small = rw.synthetic.random_net(6, 20)
            try:  # what is compiled first is not timed
                ranker.fit(small, valid=small)
                fits = [fitted(ranker, data, k, given.cache) for k in range(1, FOLDS + 1)]
            except rw.InputError as refusal:
                print(f"{name}: {refusal}", flush=True)
                continue
            tests = tests or [fold_of(data, k)[2] for k in range(1, FOLDS + 1)]
            figures, folds[name] = row(name, ranker, data, fits, tests)
            here.append(figures)
            print(table([shown(figures)]).splitlines()[-1], flush=True)
        here.sort(key=lambda each: -each["ndcg@10"])
        print(table([shown(each) for each in here]), flush=True)
        rows += here
        if data.name == "mq2008":
            published = beside_published(data.name, folds)
    if published:
        print(table(published))
    if given.json:
        write_json(given.json, rows + published)


if __name__ == "__main__":
    main()
