"""The λ's of any measure as a loss for PyTorch: what goes backward is −λ, from the compiled kernels.

    loss.backward()   leaves   ∂loss/∂sᵢ = −λᵢ

The loss itself is the cost whose gradient that is while the order of the documents stays as it is: RankNet's
cross entropy with each pair weighted by its swap gain, for the default rule.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rankwright.measures import measure as read_measure
from rankwright.measures.base import Measure
from rankwright.measures.lists import Lists
from rankwright.measures.ranking import query_constants
from rankwright.pairwise.forces import Forces
from rankwright.pairwise.lambdas import check_measure
from rankwright.pairwise.rules import Rule
from rankwright.pairwise.rules import rule as read_rule
from rankwright.runtime.arrays import Integers
from rankwright.runtime.errors import InputError, require

torch: Any = require("torch", "torch")


class _Pushed(torch.autograd.Function):
    """Scores to the cost, and back to −λ."""

    @staticmethod
    def forward(ctx: Any, scores: Any, forces: Forces, share: float) -> Any:
        acting = forces.at(scores.detach().cpu().double().numpy())
        ctx.slopes = torch.as_tensor(0.0 - share * acting.lambdas, dtype=scores.dtype, device=scores.device)
        return scores.new_tensor(share * acting.potentials.sum())

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, slope: Any) -> Any:
        return slope * ctx.slopes, None, None


class LambdaLoss(torch.nn.Module):
    """A loss that moves scores by the λ's of a measure.

    ``measure`` is any with swap gains, a user's too; None leaves pairs unweighted, which is RankNet's cross
    entropy. ``rule`` is the construction of the λ's (``rankwright.pairwise.rules``). ``reduction``: "mean"
    over the queries, or "sum".

    Call it with a batch of queries, as one long row of scores and labels with ``offsets`` (where each query
    begins, and the end), or padded to queries × documents with a ``mask`` that is true where there is a
    document. A label NaN is unjudged. ``sample_weight`` (like ``labels``) enters a pair as the product of
    both; ``query_weight`` has one number a query.

    >>> scores = torch.tensor([0.0, 0.0, 0.0], requires_grad=True)
    >>> LambdaLoss("mrr", reduction="sum")(scores, [0, 1, 1], offsets=[0, 2, 3]).backward()
    >>> scores.grad
    tensor([ 0.2500, -0.2500,  0.0000])
    """

    def __init__(
        self,
        measure: str | Measure | None = "ndcg@10",
        *,
        rule: str | Rule | Callable[..., None] = "RankNetWeightPairs",
        reduction: str = "mean",
    ):
        super().__init__()
        self.measure = None if measure is None else read_measure(measure)
        self.rule = read_rule(rule)
        self.reduction = reduction
        if reduction not in ("mean", "sum"):
            raise InputError(f"reduction is {reduction!r}; it is mean or sum")
        if self.measure is None and self.rule.needs_measure:
            raise InputError(f"{self.rule!r} moves documents by what a measure gains; give it a measure")
        if self.measure is not None:
            check_measure(self.measure)
            # Batches are small: without this their normalisers would be found in plain Python.
            _ = query_constants.compiled, self.measure.constant_kernel.compiled

    def forward(
        self,
        scores: Any,
        labels: Any,
        offsets: Any = None,
        mask: Any = None,
        *,
        sample_weight: Any = None,
        query_weight: Any = None,
    ) -> Any:
        """The loss of a batch."""
        if not isinstance(scores, torch.Tensor) or not scores.is_floating_point():
            raise InputError(f"the scores are {_kind(scores)}; give a tensor of floating-point numbers")
        present, bounds = _layout(scores, offsets, mask)
        documents = None
        if sample_weight is not None:
            documents = _not_negative(_flat(sample_weight, scores, present, "sample_weight"), "sample_weight")
        forces = Forces(
            self.rule,
            Lists(_flat(labels, scores, present, "labels"), bounds),
            self.measure,
            weights=documents,
            query_weight=None if query_weight is None else _query_weights(query_weight, len(bounds) - 1),
        )
        share = 1.0 / (len(bounds) - 1) if self.reduction == "mean" else 1.0
        return _Pushed.apply(scores if present is None else scores[present], forces, share)

    def extra_repr(self) -> str:
        """What it was made with."""
        return f"measure={self.measure}, rule={self.rule!r}, reduction={self.reduction!r}"


def _layout(scores: Any, offsets: Any, mask: Any) -> tuple[Any, Integers]:
    """Where there are documents in a padded batch (None in one row), and the bounds of the queries."""
    if offsets is not None:
        given = _numbers(offsets, "offsets").numpy()
        bounds = given.astype(np.int64)
        ends = given.ndim == 1 and len(given) > 1 and given[0] == 0 and scores.shape == (given[-1],)
        if mask is not None or not ends or (given != bounds).any() or (np.diff(bounds) < 0).any():
            raise InputError(
                "offsets must rise from 0 to the number of scores, which lie in one row, in whole numbers "
                f"and without a mask; the scores have shape {tuple(scores.shape)}"
            )
        return None, bounds
    if scores.ndim != 2:
        raise InputError(
            f"the scores have shape {tuple(scores.shape)}; give one row of them with offsets, "
            "or queries × documents, with a mask where some have fewer"
        )
    if mask is None:
        present = torch.ones(scores.shape, dtype=torch.bool, device=scores.device)
    else:
        present = _numbers(mask, "mask").to(device=scores.device, dtype=torch.bool)
    if present.shape != scores.shape or not len(present):
        raise InputError(
            f"the mask has shape {tuple(present.shape)} and the scores {tuple(scores.shape)}; "
            "both are queries × documents"
        )
    return present, np.concatenate([[0], np.cumsum(present.sum(dim=1).cpu().numpy())]).astype(np.int64)


def _flat(values: Any, scores: Any, present: Any, name: str) -> Any:
    """Numbers of documents in one row, as float64."""
    given = _numbers(values, name)
    if given.shape != scores.shape:
        raise InputError(
            f"{name} have shape {tuple(given.shape)} and the scores {tuple(scores.shape)}; give one a score"
        )
    return (given if present is None else given[present.cpu()]).numpy()


def _query_weights(values: Any, n_queries: int) -> Any:
    given = _numbers(values, "query_weight").numpy()
    if given.shape != (n_queries,):
        raise InputError(f"query_weight has shape {given.shape} for {n_queries} queries; give one a query")
    return _not_negative(given, "query_weight")


def _numbers(values: Any, name: str) -> Any:
    """Numbers however given, as a tensor of float64."""
    try:
        return torch.as_tensor(values, dtype=torch.float64).detach().cpu()
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(
            f"{name} are {_kind(values)}; give a tensor, an array or a list of numbers"
        ) from error


def _not_negative(weights: Any, name: str) -> Any:
    bad = np.flatnonzero(~((weights >= 0) & np.isfinite(weights)))
    if len(bad):
        raise InputError(
            f"{name}, row {bad[0]}: {weights[bad[0]]:g} is no weight; weights are finite and not negative"
        )
    return weights


def _kind(values: Any) -> str:
    return f"a tensor of {values.dtype}" if isinstance(values, torch.Tensor) else f"{values!r:.60}"
