"""A committee beside the best of LightGBM, XGBoost and CatBoost, each tuned on the same budget of seconds.

    python -m benchmarks.committee_vs_peers FOLDER… [--seconds 60] [--cache FOLDER] [--json PATH]

A folder holds S1.txt to S5.txt, of which fold k tests on S(k+4) and trains on the others, counted round.
Peers train on three of these and validate on the fourth: settings are drawn at random from one list for all,
as many as the budget has time for, and the one with the best validation NDCG@10 is tested. The committee is
given the four together and holds out by itself. All run on one thread. What the folds' tests give is pooled
query by query, without blank queries, and compared in pairs with the peer that is best over the folds.
``--cache`` keeps each fold's scores, so that a run that was stopped goes on where it was.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import rankwright as rw
from benchmarks.common import arguments, table, write_json
from benchmarks.quality_vs_peers import PEERS, Fold, folds_of, pooled
from rankwright.ensembles.committee import spread

MEASURE = "ndcg@10"
LEAVES, RATES = (4, 6, 8, 12, 16, 24, 31), (0.02, 0.03, 0.05, 0.08, 0.1, 0.15)
RESAMPLED = 10_000


def by_committee(fold: Fold, seconds: float) -> tuple[Any, dict[str, Any]]:
    """Test scores of the committee, and what it came to."""
    committee = rw.Committee(budget=seconds, measure=MEASURE, n_jobs=1).fit(pooled([fold.train, fold.valid]))
    told = {"tried": len(committee.history_), "kept": len(committee.members_)}
    return committee.predict(fold.test), {**told, "selected by": committee.out_of_fold_}


def by_peer(name: str) -> Callable[[Fold, float], tuple[Any, dict[str, Any]]]:
    """The same for a peer: the best of as many settings as there is time for."""

    def tuned(fold: Fold, seconds: float) -> tuple[Any, dict[str, Any]]:
        begin, random = time.monotonic(), np.random.default_rng(0)
        best, scores, fits = -np.inf, None, 0
        for number in random.permutation(len(LEAVES) * len(RATES)):
            predict, _ = PEERS[name](fold, LEAVES[number % len(LEAVES)], RATES[number // len(LEAVES)])
            fits += 1
            value = rw.evaluate(predict(fold.valid), fold.valid, [MEASURE])[MEASURE].mean
            if value > best:
                best, scores = value, np.asarray(predict(fold.test), np.float64)
            if time.monotonic() - begin > seconds:
                break
        return scores, {"tried": fits, "kept": 1, "selected by": best}

    return tuned


SYSTEMS: dict[str, Callable[[Fold, float], tuple[Any, dict[str, Any]]]] = {
    "Committee": by_committee,
    **{name: by_peer(name) for name in PEERS},
}


def kept(cache: Path | None, name: str, make: Callable[[], tuple[Any, dict[str, Any]]]) -> tuple[Any, Any]:
    """What was kept under this name, or made now and kept."""
    path = None if cache is None else cache / f"{name}.npz"
    if path is not None and path.exists():
        stored = np.load(path)
        return stored["scores"], {key: stored[key].item() for key in stored.files if key != "scores"}
    begin = time.monotonic()
    scores, told = make()
    told["seconds"] = time.monotonic() - begin
    if path is not None:
        draft = path.with_suffix(".part.npz")
        np.savez(draft, scores=scores, **told)
        draft.replace(path)
    return scores, told


def results(folder: Path, seconds: float, cache: Path | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """For each system the values of all tests' queries, and the means of what it came to."""
    values: dict[str, list[Any]] = {name: [] for name in SYSTEMS}
    told: dict[str, list[Any]] = {name: [] for name in SYSTEMS}
    for number, fold in enumerate(folds_of(folder)):
        for name, system in SYSTEMS.items():
            key = f"{folder.name}-{seconds:g}-{number}-{name}"
            scores, about = kept(cache, key, lambda s=system, f=fold: s(f, seconds))  # type: ignore[misc]
            values[name].append(rw.evaluate(scores, fold.test, [MEASURE])[MEASURE].per_query)
            told[name].append(about)
            print(f"{key}: {np.nanmean(values[name][-1]):.4f} {about}", flush=True)
    means = {
        name: {key: float(np.mean([each[key] for each in found])) for key in found[0]}
        for name, found in told.items()
    }
    return {name: np.concatenate(parts) for name, parts in values.items()}, means


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--cache", type=Path)
    options = parser.parse_args()
    small = rw.synthetic.random_net(6, 20)
    for learner, _ in spread(rw.measure(MEASURE)):  # what is compiled first is not timed
        learner.fit(small, valid=small)
    if options.cache is not None:
        options.cache.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    for folder in options.folders:
        values, told = results(folder, options.seconds, options.cache)
        best = max(PEERS, key=lambda name: np.nanmean(values[name]))
        for name, own in values.items():
            gains = own - values[best]
            gains = gains[~np.isnan(gains)]
            random = np.random.default_rng(0)
            drawn = [gains[random.integers(len(gains), size=len(gains))].mean() for _ in range(RESAMPLED)]
            low, high = np.quantile(drawn, [0.025, 0.975])
            rows.append(
                {"data": folder.name, "system": name, "ndcg@10": float(np.nanmean(own)), "best peer": best,
                 "gain": float(gains.mean()), "from": float(low), "to": float(high), **told[name]}
            )  # fmt: skip
    print(table(rows))
    if options.json:
        write_json(options.json, rows)


if __name__ == "__main__":
    main()
