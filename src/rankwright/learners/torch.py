"""Any PyTorch module as a ranker: batches of queries, λ's of any measure, the best epoch kept."""

from __future__ import annotations

import copy
import math
import os
import time
from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rankwright.data import QuerySet
from rankwright.learners.base import DEFAULT_MEASURE, Ranker, generator, judge
from rankwright.learners.nets import rows_of, told_apart
from rankwright.measures import Measure
from rankwright.measures.lists import Lists
from rankwright.runtime.errors import InputError, require
from rankwright.runtime.progress import told
from rankwright.scorers import Standardising, Transform, load
from rankwright.scorers.torch import TorchScorer, one_score_a_row, scores_in_blocks
from rankwright.scorers.transform import UNCHANGED

Record = dict[str, Any]
OPTIMISERS = {"adam": "Adam", "sgd": "SGD"}


class TorchRanker(Ranker):
    """A PyTorch module that scores documents, trained on the λ's of a measure.

    ``module`` is a ``torch.nn.Module``, whose copy starts from its parameters, or a function of the number of
    features that makes one. It turns rows of float32 features into one score each. ``loss`` is called with
    scores, labels and offsets; by default it is ``LambdaLoss(measure)``, which trains on the queries that the
    measure tells apart (a loss of your own gets all of them). ``optimiser`` is "adam", "sgd" or a
    function of the parameters that makes one of PyTorch's; ``batch_size`` counts queries. The epoch that is
    best on ``valid`` (else the last) is kept.

    >>> import torch
    >>> X = np.random.default_rng(0).standard_normal((100, 3))
    >>> y, qid = np.round(X[:, 0]).clip(0, 2), np.repeat(np.arange(10), 10)
    >>> ranker = TorchRanker(lambda n: torch.nn.Linear(n, 1), epochs=30, learning_rate=0.1)
    >>> round(ranker.fit(X, y, qid=qid).score(X, y, qid=qid), 2)
    1.0
    """

    needs_swap_gains = True

    def __init__(
        self,
        module: Any = None,
        *,
        measure: str | Measure = DEFAULT_MEASURE,
        loss: Callable[..., Any] | None = None,
        standardise: bool = True,
        epochs: int = 100,
        learning_rate: float = 0.001,
        optimiser: str | Callable[..., Any] = "adam",
        batch_size: int = 16,
        early_stopping_rounds: int | None = None,
        device: str = "cpu",
        random_state: Any = 0,
    ):
        self.module = module
        self.measure = measure
        self.loss = loss
        self.standardise = standardise
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.optimiser = optimiser
        self.batch_size = batch_size
        self.early_stopping_rounds = early_stopping_rounds
        self.device = device
        self.random_state = random_state

    @classmethod
    def load(cls, path: str | os.PathLike[str], module: Any) -> Self:
        """A fitted ranker from a model file, with a module of the make that was saved."""
        scorer = load(path)
        if not isinstance(scorer, TorchScorer):
            raise InputError(f"{path} holds a {scorer.kind} model, no PyTorch module; use rankwright.load")
        ranker = cls(module, measure=str(scorer.measure or DEFAULT_MEASURE))
        ranker.scorer_ = scorer.with_module(module)
        ranker.n_features_in_, ranker.history_ = scorer.n_features, []
        return ranker

    def _fit(
        self, queries: QuerySet, valid: QuerySet | None, progress: Callable[[Record], None] | None = None
    ) -> None:
        torch: Any = require("torch", "torch")
        self._check()
        transform: Transform = Standardising.of(queries.features) if self.standardise else UNCHANGED
        random = generator(self.random_state)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(random.integers(2**62)))
            module = self._module(torch, queries.n_features).to(self.device)
            batches = _Batches(
                torch, queries, transform, self._trained(queries), self.batch_size, self.device
            )
            held_out = None if valid is None or valid.labels is None else valid
            self.history_ = self._train(torch, module, batches, transform, held_out, random, progress)
        about = self._about(queries, epochs=len(self.history_))
        self.scorer_ = TorchScorer.of(module, queries.n_features, transform=transform, **about)

    def _train(
        self,
        torch: Any,
        module: Any,
        batches: _Batches,
        transform: Transform,
        valid: QuerySet | None,
        random: np.random.Generator,
        progress: Callable[[Record], None] | None,
    ) -> list[Record]:
        """All epochs; leaves the module with the parameters of the best one."""
        loss, optimiser = self._loss(), self._optimiser(torch, module)
        mean = None if valid is None else judge(self.selection_measure, valid)
        rows = None if valid is None else rows_of(valid, transform)
        best, best_state, since, began = -math.inf, None, 0, time.perf_counter()
        history: list[Record] = []
        for number in range(1, self.epochs + 1):
            taken = (number - 1) * len(batches)
            lost = self._epoch(module, loss, optimiser, batches, random, taken)
            record: Record = {"epoch": number, "loss": lost}
            if mean is not None and rows is not None:
                record["valid"] = mean(scores_in_blocks(module.eval(), rows, self.device))
            history.append({**record, "seconds": time.perf_counter() - began})
            goes_on = told(progress, history[-1])
            if mean is not None:
                since += 1
                if record["valid"] > best:
                    best, best_state, since = record["valid"], copy.deepcopy(module.state_dict()), 0
            if not goes_on:
                break
            if self.early_stopping_rounds is not None and since >= self.early_stopping_rounds:
                break
        if best_state is not None:
            module.load_state_dict(best_state)
        return history

    def _epoch(
        self,
        module: Any,
        loss: Any,
        optimiser: Any,
        batches: _Batches,
        random: np.random.Generator,
        step: int,
    ) -> float:
        """One pass over the batches, after so many steps; the mean loss of a query."""
        module.train()
        total, count = 0.0, 0
        for batch in batches.shuffled(random):
            optimiser.zero_grad()
            scores = one_score_a_row(module(batch.rows), len(batch.rows))
            if not scores.isfinite().all():
                raise InputError(
                    f"training diverged at step {step:,} with a learning rate of {self.learning_rate:g}: "
                    "the module's scores have no bound; lower learning_rate"
                )
            value = loss(scores, *batch.known, **batch.weights)
            value.backward()
            optimiser.step()
            total += value.item() * batch.n_queries
            count += batch.n_queries
            step += 1
        return total / count

    def _check(self) -> None:
        for name in ("epochs", "batch_size", "early_stopping_rounds"):
            value = getattr(self, name)
            if value is None and name == "early_stopping_rounds":
                continue
            if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
                raise InputError(f"{name} is {value!r}; give a whole number of at least 1")
        rate = self.learning_rate
        if not isinstance(rate, int | float | np.number) or not 0 < rate < math.inf:
            raise InputError(f"learning_rate is {rate!r}; give a finite number above 0")
        if self.loss is not None and not callable(self.loss):
            raise InputError(f"loss is {self.loss!r}; give a function of scores, labels and offsets, or None")

    def _trained(self, queries: QuerySet) -> NDArray[np.int64]:
        """The queries that have documents to tell apart."""
        assert queries.labels is not None
        lists = Lists(queries.labels, queries.offsets, rows=queries.rows)
        if self.loss is not None:  # which may learn from what the measure, by which it is selected, passes by
            return np.flatnonzero(queries.sizes)
        return told_apart(self.selection_measure, queries, lists)

    def _module(self, torch: Any, n_features: int) -> Any:
        if isinstance(self.module, torch.nn.Module):
            return self._tried(torch, copy.deepcopy(self.module), n_features)
        made = self.module(n_features) if callable(self.module) else None
        if not isinstance(made, torch.nn.Module):
            raise InputError(
                f"module is {self.module!r}; give a torch.nn.Module, or a function of the number of features "
                "that makes one"
            )
        return self._tried(torch, made, n_features)

    def _tried(self, torch: Any, module: Any, n_features: int) -> Any:
        """The module, once it has scored rows of float32 zeros."""
        try:
            scores_in_blocks(module.eval(), np.zeros((1, n_features), np.float32))
        except InputError:
            raise
        except Exception as error:
            cause = " ".join(str(error).split())
            raise InputError(
                f"the module cannot score rows of {n_features} float32 features ({cause}); give one that can"
            ) from error
        return module

    def _loss(self) -> Any:
        if self.loss is not None:
            return self.loss
        from rankwright.pairwise.torch import LambdaLoss

        return LambdaLoss(self.selection_measure)

    def _optimiser(self, torch: Any, module: Any) -> Any:
        if callable(self.optimiser):
            return self.optimiser(module.parameters())
        if self.optimiser not in OPTIMISERS:
            raise InputError(f"optimiser is {self.optimiser!r}; give adam, sgd, or a function that makes one")
        return getattr(torch.optim, OPTIMISERS[self.optimiser])(module.parameters(), lr=self.learning_rate)


class _Batch:
    """Some queries: their rows of features, and what the loss is told."""

    def __init__(self, rows: Any, known: tuple[Any, Any], weights: dict[str, Any]):
        self.rows, self.known, self.weights = rows, known, weights
        self.n_queries = len(known[1]) - 1


class _Batches:
    """The queries to train on, as tensors."""

    def __init__(
        self,
        torch: Any,
        queries: QuerySet,
        transform: Transform,
        trained: NDArray[np.int64],
        size: int,
        device: str,
    ):
        self.torch, self.queries, self.trained, self.size = torch, queries, trained, size
        self.features = torch.from_numpy(rows_of(queries, transform)).to(device)

    def __len__(self) -> int:
        return -(-len(self.trained) // self.size)

    def shuffled(self, random: np.random.Generator) -> Iterator[_Batch]:
        """All queries once, in a new order."""
        order = random.permutation(self.trained)
        queries = self.queries
        assert queries.labels is not None
        for first in range(0, len(order), self.size):
            chosen = order[first : first + self.size]
            rows = np.concatenate([np.arange(queries.offsets[q], queries.offsets[q + 1]) for q in chosen])
            weights: dict[str, Any] = {}
            if queries.sample_weight is not None:
                weights["sample_weight"] = queries.sample_weight[rows]
            if queries.query_weight is not None:
                weights["query_weight"] = queries.query_weight[chosen]
            offsets = np.concatenate([[0], np.cumsum(queries.sizes[chosen])])
            known = queries.labels[rows], offsets
            yield _Batch(self.features[self.torch.from_numpy(rows).to(self.features.device)], known, weights)
