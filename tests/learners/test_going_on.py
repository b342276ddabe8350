"""A training that is interrupted, killed, ended or taken up again, and what is left of it."""

from __future__ import annotations

import dataclasses
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.learners.test_boosting import JIT_OFF, arrays_of, data, everything, untimed, weighted

import rankwright as rw
from rankwright.learners.base import mean_measure
from rankwright.learners.lambdamart import LambdaMART, MeasureLambdas
from rankwright.learners.mart import MART
from rankwright.learners.mcrank import McRank

ROOT = Path(__file__).resolve().parents[2]
STEPS = 3 if JIT_OFF else 8


def small(kind: Any = LambdaMART, **settings: Any) -> Any:
    return kind(**{"n_estimators": STEPS, "max_leaf_nodes": 4, "min_samples_leaf": 3, **settings})


MADE = {
    "orderings": lambda **more: LambdaMART(orderings=2, n_runs=2, **everything(n_estimators=STEPS, **more)),
    "listwise": lambda **more: LambdaMART(loss="xendcg", **everything(n_estimators=STEPS, **more)),
    "classes": lambda **more: McRank(**everything(n_estimators=STEPS, **more)),
    "squares": lambda **more: small(MART, early_stopping_rounds=2, learning_rate=1.0, **more),
}


def stop_after(steps: int, how: type[BaseException] = StopIteration) -> Any:
    """A callback that ends training."""
    seen: list[Any] = []

    def told(record: Any) -> None:
        seen.append(record)
        if len(seen) == steps:
            raise how

    return told


def test_a_callback_may_end_training() -> None:
    queries = data(0, 6, 10)
    whole = small().fit(queries)
    short = small().fit(queries, progress=stop_after(2))
    assert len(short.history_) == short.scorer_.n_trees == 2
    assert arrays_of(short.scorer_) == arrays_of(whole.scorer_.first(2))
    runs = small(n_runs=3, subsample=0.8).fit(queries, progress=stop_after(STEPS + 1))
    assert [record["run"] for record in runs.history_] == [1] * STEPS + [2]
    assert runs.scorer_.n_trees == STEPS + 1


def test_the_measure_on_the_training_data_is_recorded_where_asked_for() -> None:
    queries, valid = data(0, 6, 10), data(1, 5, 9)
    base = small(n_estimators=2).fit(queries)
    for kind, options in ((LambdaMART, {}), (McRank, {}), (MART, {"base": base})):
        ranker = small(kind, n_estimators=3).fit(queries, measure_train=True, **options)
        assert ranker.history_[-1]["train"] == ranker.score(queries)
    assert "train" not in small(n_estimators=1).fit(queries, valid=valid).history_[0]


def test_an_interrupt_leaves_the_trees_so_far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within a step (which is finished), between steps, and before the first."""
    queries, valid = data(0, 6, 10), data(1, 5, 9)
    whole = small().fit(queries, valid=valid)
    gradients, steps = MeasureLambdas.gradients, []

    def interrupted(self: Any, scores: Any, step: int) -> Any:
        steps.append(step)
        if len(steps) == 2:
            signal.raise_signal(signal.SIGINT)
        return gradients(self, scores, step)

    monkeypatch.setattr(MeasureLambdas, "gradients", interrupted)
    within = small()
    with pytest.raises(KeyboardInterrupt, match="after 2 steps"):
        within.fit(queries, valid=valid)
    between = small()
    with pytest.raises(KeyboardInterrupt):
        between.fit(queries, valid=valid, progress=stop_after(2, KeyboardInterrupt))
    for ranker in (within, between):
        assert untimed(ranker.history_) == untimed(whole.history_)[:2]
        assert ranker.scorer_.training["interrupted"] is True
        assert ranker.score(valid) == max(record["valid"] for record in ranker.history_)
        ranker.save(tmp_path / "model.rw")
        assert np.array_equal(rw.load(tmp_path / "model.rw").predict(valid), ranker.predict(valid))
    assert "interrupted" not in whole.scorer_.training
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler

    def at_once(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(MeasureLambdas, "gradients", at_once)
    nothing = small()
    with pytest.raises(KeyboardInterrupt):
        nothing.fit(queries)
    assert not hasattr(nothing, "scorer_")


def test_interrupts_at_any_moment() -> None:
    queries = weighted(0, 12, 20)
    made = everything(n_estimators=4 if JIT_OFF else 60, n_jobs=2)
    begun = time.perf_counter()
    whole = LambdaMART(**made).fit(queries)
    seconds, random = time.perf_counter() - begun, np.random.default_rng()
    for delay in random.uniform(0, seconds, 4):
        timer = threading.Timer(delay, lambda: os.kill(os.getpid(), signal.SIGINT))
        ranker = LambdaMART(**made)
        try:
            timer.start()
            ranker.fit(queries)
            timer.join()  # (it may strike after training)
        except KeyboardInterrupt:
            timer.join()
        if hasattr(ranker, "scorer_"):
            n = ranker.scorer_.n_trees
            assert n == len(ranker.history_)
            assert arrays_of(ranker.scorer_) == arrays_of(whole.scorer_.first(n))


@pytest.mark.parametrize("name", MADE)
def test_a_checkpoint_is_gone_on_from_to_the_same_file(name: str, tmp_path: Path) -> None:
    queries, valid = weighted(0, 6, 10), data(1, 5, 9)
    whole = MADE[name]().fit(queries, valid=valid)
    whole.save(tmp_path / "whole.rw")
    for steps in {1, len(whole.history_) - 1}:
        path = tmp_path / f"{steps}.ckpt"
        MADE[name]().fit(
            queries, valid=valid, checkpoint=path, checkpoint_every=1, progress=stop_after(steps)
        )
        assert rw.load(path).predict(valid).shape == (len(valid),)  # it is a model by itself
        for _ in range(2):  # the second time there is nothing left to do
            ranker = MADE[name](n_jobs=1).fit(queries, valid=valid, checkpoint=path)
            ranker.save(tmp_path / "again.rw")
            assert (tmp_path / "again.rw").read_bytes() == (tmp_path / "whole.rw").read_bytes()
        known = [{k: v for k, v in record.items() if k != "seconds"} for record in ranker.history_]
        assert known == untimed(whole.history_)


def test_a_checkpoint_stands_by_steps_and_says_no_time(tmp_path: Path) -> None:
    queries, paths = data(0, 6, 10), [tmp_path / "a", tmp_path / "b"]
    seen: list[int] = []

    def look(record: Any) -> None:
        seen.append(0 if not paths[0].exists() else len(rw.load(paths[0]).scorers[0].trees.first_node) - 1)

    small(n_estimators=5).fit(queries, checkpoint=paths[0], checkpoint_every=2, progress=look)
    small(n_estimators=5).fit(queries, checkpoint=paths[1])
    assert seen == [0, 2, 2, 4, 4]
    assert paths[0].read_bytes() == paths[1].read_bytes() and b"seconds" not in paths[0].read_bytes()
    assert not [path for path in tmp_path.iterdir() if path not in paths]
    more = small(n_estimators=7).fit(queries, checkpoint=paths[0])  # more steps may be asked for
    assert arrays_of(more.scorer_) == arrays_of(small(n_estimators=7).fit(queries).scorer_)
    with pytest.raises(rw.InputError, match="there are 7 steps and 1 runs already"):
        small(n_estimators=3).fit(queries, checkpoint=paths[0])


def test_a_checkpoint_of_another_training_is_refused(tmp_path: Path) -> None:
    queries, valid, path = data(0, 6, 10), data(1, 5, 9), tmp_path / "c.ckpt"
    small().fit(queries, valid=valid, checkpoint=path)
    before = path.read_bytes()
    other = queries.with_weights(query_weight=[2, 1, 1, 1, 1, 1])
    base = small(MART, n_estimators=1).fit(queries)
    refused: list[tuple[Any, Any, dict[str, Any], str]] = [
        (small(learning_rate=0.3), queries, {"valid": valid}, "learning_rate = 0.1, and here it is 0.3"),
        (small(MART), queries, {"valid": valid}, "learner = 'LambdaMART', and here it is 'MART'"),
        (small(), other, {"valid": valid}, "a checkpoint of other data; give"),
        (small(), queries, {}, "other data to stop by"),
        (small(), queries, {"valid": queries}, "other data to stop by"),
        (small(), queries, {"valid": valid, "base": base}, "other data"),
        (small(), queries, {"valid": valid, "checkpoint_every": 0}, "checkpoint_every is 0"),
    ]
    for ranker, given, options, message in refused:
        with pytest.raises(rw.InputError, match=message):
            ranker.fit(given, checkpoint=path, **options)
    assert path.read_bytes() == before
    base.save(path)
    with pytest.raises(rw.InputError, match=r"c\.ckpt is no checkpoint; give the name of another file"):
        small().fit(queries, valid=valid, checkpoint=path)


@pytest.mark.parametrize(
    "history", [[3], [[3]], [[{"step": 1}]], [[{"leaves": 4, "valid": "0.5"}]], [], [[]], [[], []]], ids=str
)
def test_a_checkpoint_that_tells_nonsense_of_itself_is_refused(history: Any, tmp_path: Path) -> None:
    queries, path = data(0, 6, 10), tmp_path / "c.ckpt"
    small(n_estimators=1).fit(queries, checkpoint=path)
    kept = rw.load(path)
    told = {**kept.training, "checkpoint": {**kept.training["checkpoint"], "history": history}}
    dataclasses.replace(kept, training=told).save(path)
    with pytest.raises(rw.InputError, match=r"c\.ckpt: its trees are not those of its history"):
        small(n_estimators=1).fit(queries, checkpoint=path)


KILLED = """
import os, random, sys, time
from tests.learners.test_boosting import data, weighted
from tests.learners.test_going_on import MADE
folder, name = sys.argv[1:]
queries, valid = weighted(0, 6, 10), data(1, 5, 9)
def fit(**options):
    return MADE[name](n_jobs=1).fit(queries, valid=valid, **options)
fit().save(folder + "/whole.rw")  # all kernels are compiled before it forks
begun = time.perf_counter()
fit(checkpoint=folder + "/timed", checkpoint_every=1)
seconds = time.perf_counter() - begun
kills = 0
for attempt in range(200):
    child = os.fork()
    if child == 0:
        fit(checkpoint=folder + "/killed", checkpoint_every=1).save(folder + "/resumed.rw")
        os._exit(0)
    if kills < 8:
        time.sleep(random.uniform(0, seconds / 2))
        os.kill(child, 9)
    _, status = os.waitpid(child, 0)
    kills += status == 9
    if status == 0:
        break
print(kills)
"""


@pytest.mark.skipif(JIT_OFF or not hasattr(os, "fork"), reason="what is killed is a fork of a warm process")
@pytest.mark.parametrize("name", ["orderings", "squares"])
def test_killed_at_any_moment_and_taken_up_again(name: str, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-W", "ignore", "-c", KILLED, str(tmp_path), name]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 1
    assert (tmp_path / "resumed.rw").read_bytes() == (tmp_path / "whole.rw").read_bytes()


@pytest.mark.parametrize("name", MADE)
def test_more_trees_are_those_of_one_training(name: str, tmp_path: Path) -> None:
    queries, valid = weighted(0, 6, 10), data(1, 5, 9)
    ranker = MADE[name](warm_start=True).set_params(n_estimators=2).fit(queries, valid=valid)
    ranker = pickle.loads(pickle.dumps(ranker))
    whole = MADE[name](warm_start=True).fit(queries, valid=valid)
    ranker.set_params(n_estimators=STEPS).fit(queries, valid=valid)
    ranker.save(tmp_path / "a.rw")
    whole.save(tmp_path / "b.rw")
    assert (tmp_path / "a.rw").read_bytes() == (tmp_path / "b.rw").read_bytes()
    assert untimed(ranker.history_) == untimed(whole.history_)


def test_where_there_is_nothing_to_go_on_from() -> None:
    queries = data(0, 6, 10)
    ranker = small(warm_start=True).fit(queries)
    with pytest.raises(rw.InputError, match=f"there are {STEPS} steps and 1 runs already"):
        ranker.set_params(n_estimators=2).fit(queries)
    ranker.set_params(n_estimators=STEPS + 1)
    with pytest.raises(rw.InputError, match="the trees that there are have 19 features and 1 outputs"):
        ranker.fit(data(0, 6, 10, n_features=7))
    with pytest.raises(rw.InputError, match="the categories of the data are not those"):
        ranker.set_params(categorical_features=[2]).fit(queries)
    with pytest.raises(rw.InputError, match="stand on another base"):
        ranker.fit(queries, base=rw.LinearScorer(np.ones(19)))
    assert ranker.set_params(warm_start=False, n_estimators=1, categorical_features=()).fit(queries)
    # Validation that comes later knows nothing of the steps before it.
    late = small(warm_start=True, n_estimators=2).fit(queries).set_params(n_estimators=4)
    late.fit(queries, valid=data(1, 5, 9))
    assert late.scorer_.n_trees > 2 and len(late.history_) == 4


OBJECTIVES = {
    "lambdas": lambda **more: small(**more),
    "ranknet": lambda **more: small(loss="ranknet", **more),
    "listwise": lambda **more: small(loss="xendcg", **more),
    "squares": lambda **more: small(MART, **more),
    "two classes": lambda **more: small(MART, loss="logistic", **more),
    "balanced": lambda **more: small(MART, loss="balanced", **more),
}


@pytest.mark.parametrize("name", OBJECTIVES)
def test_trees_are_added_to_a_base(name: str, tmp_path: Path) -> None:
    queries, valid = weighted(0, 6, 10), data(1, 5, 9)
    base = small(MART, n_estimators=2, learning_rate=0.8).fit(queries)
    ranker = OBJECTIVES[name]().fit(queries, valid=valid, base=base)
    total = ranker.scorer_
    assert isinstance(total, rw.Sum) and total.scorers[0] is base.scorer_
    forest = total.scorers[1]
    assert not forest.start.any() and forest.n_trees > 0
    assert np.array_equal(total.predict(valid), base.predict(valid) + forest.predict(valid))
    assert max(record["valid"] for record in ranker.history_) == ranker.score(valid)
    assert ranker.history_[forest.n_trees - 1]["valid"] == mean_measure(
        ranker.selection_measure, valid, ranker.predict(valid)
    )
    ranker.save(tmp_path / "model.rw")
    loaded = rw.load(tmp_path / "model.rw")
    assert np.array_equal(loaded.predict(valid), ranker.predict(valid))
    assert loaded.parameters["learner"] == type(ranker).__name__
    # The file of a base will do, and another base makes other trees.
    again = OBJECTIVES[name]().fit(queries, valid=valid, base=loaded.members[0])
    assert arrays_of(again.scorer_.scorers[1]) == arrays_of(forest)
    other = OBJECTIVES[name]().fit(queries, valid=valid, base=rw.LinearScorer(np.zeros(19)))
    assert arrays_of(other.scorer_.scorers[1]) != arrays_of(forest)


def test_going_on_from_a_base(tmp_path: Path) -> None:
    """Checkpoints, more trees and runs, on a base."""
    queries = data(0, 6, 10)
    base = small(MART, n_estimators=2).fit(queries)
    settings: dict[str, Any] = {"n_runs": 2, "subsample": 0.8}
    whole = small(**settings).fit(queries, base=base)
    small(**settings).fit(
        queries, base=base, checkpoint=tmp_path / "c", checkpoint_every=1, progress=stop_after(STEPS + 1)
    )
    again = small(**settings).fit(queries, base=base, checkpoint=tmp_path / "c")
    assert arrays_of(again.scorer_.scorers[1]) == arrays_of(whole.scorer_.scorers[1])
    more = small(warm_start=True, n_estimators=1, **settings).fit(queries, base=base)
    more.set_params(n_estimators=STEPS).fit(queries)
    assert arrays_of(more.scorer_.scorers[1]) == arrays_of(whole.scorer_.scorers[1])
    assert more.scorer_.scorers[0] is base.scorer_


@pytest.mark.skipif(JIT_OFF, reason="enough trees to help take plain Python too long")
def test_a_base_helps_where_there_is_little_data() -> None:
    old, few, test = data(0, 60, 15), data(2, 2, 15), data(3, 60, 15)
    settings = {"n_estimators": 20, "max_leaf_nodes": 8}
    base = small(**settings).fit(old)
    assert small(**settings).fit(few, base=base).score(test) > small(**settings).fit(few).score(test) + 0.02


@pytest.mark.parametrize(
    ("learner", "base", "message"),
    [
        (small(), rw.LinearScorer([1.0, 2.0]), "base has 2 features and the data 19"),
        (small(MART), "bm25", "base is 'bm25'; give a fitted learner or a scorer"),
        (small(MART, loss="multiclass"), rw.LinearScorer(np.ones(19)), "a base has one score"),
        (small(McRank), rw.LinearScorer(np.ones(19)), "McRank has no base="),
    ],
)
def test_a_base_that_does_not_fit_is_refused(learner: Any, base: Any, message: str) -> None:
    with pytest.raises(rw.InputError, match=message):
        learner.fit(data(0, 2, 5), base=base)
