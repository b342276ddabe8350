"""The core that is somebody's PyTorch module.

A model file holds its parameters and buffers, never its code: a scorer that comes from a file predicts once
it was given a module of the same make.

    rw.load("model.rw").with_module(MyNet(46))

PyTorch's products round otherwise for another number of rows and, on some processors, at another place among
them. So this core alone does not keep the promise that a row's score does not depend on the rows around it:
here it holds to the rounding of float32. The same rows in the same order give the same bits.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from rankwright.runtime.arrays import Floats
from rankwright.runtime.errors import InputError, require
from rankwright.scorers.arrays import StoredArrays
from rankwright.scorers.base import Scorer

PREFIX = "module."
ROWS_A_BLOCK = 1024


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class TorchScorer(Scorer):
    """A PyTorch module that makes one score of each row of float32 features.

    ``state`` are its parameters and buffers; ``module`` is None where only a file is known.

    >>> import torch
    >>> net = torch.nn.Linear(2, 1)
    >>> _ = net.load_state_dict({"weight": torch.tensor([[1.0, -1.0]]), "bias": torch.tensor([0.5])})
    >>> TorchScorer.of(net, n_features=2).predict([[3, 1]])
    array([2.5])
    """

    state: Mapping[str, NDArray[Any]]
    width: int
    module: Any = None

    kind: ClassVar[str] = "torch"

    @classmethod
    def of(cls, module: Any, n_features: int, **about: Any) -> Self:
        """A scorer from a module as it is now; the module itself is left alone."""
        own = copy.deepcopy(module).cpu().eval()
        state = {}
        for name, tensor in own.state_dict().items():
            try:
                state[name] = tensor.numpy().copy()
            except TypeError as error:
                raise InputError(
                    f"the module's {name!r} is {tensor.dtype}, which no model file holds; convert it first"
                ) from error
        return cls(state=state, width=n_features, module=own, **about)

    @property
    def n_features(self) -> int:
        """How many features the module was trained on."""
        return self.width

    def with_module(self, module: Any) -> Self:
        """The same scorer with code to run: a copy of a module of the same make, with these parameters."""
        torch: Any = require("torch", "torch")
        if not isinstance(module, torch.nn.Module):
            raise InputError(
                f"the module is {module!r:.60}; give a torch.nn.Module of the make that was saved"
            )
        own = copy.deepcopy(module).cpu()
        try:
            own.load_state_dict({name: torch.from_numpy(array.copy()) for name, array in self.state.items()})
        except RuntimeError as error:
            cause = " ".join(str(error).split())
            raise InputError(f"this module is not of the make that was saved: {cause}") from error
        return dataclasses.replace(self, module=own.eval())

    def weights_vector(self) -> Floats:
        """All parameters in one row."""
        parts = [tensor.detach().double().numpy().ravel() for tensor in self._own().parameters()]
        return np.concatenate(parts)

    def with_weights(self, vector: Floats) -> Self:
        """The same module with other parameters."""
        torch: Any = require("torch", "torch")
        own = copy.deepcopy(self._own())
        with torch.no_grad():
            at = 0
            for tensor in own.parameters():
                part = torch.from_numpy(np.array(vector[at : at + tensor.numel()]))
                tensor.copy_(part.reshape(tensor.shape))
                at += tensor.numel()
        return dataclasses.replace(
            self, state={name: tensor.numpy() for name, tensor in own.state_dict().items()}, module=own
        )

    def _own(self) -> Any:
        if self.module is None:
            raise InputError(
                "a model file holds the parameters of a PyTorch module, not its code; "
                "give a module of the same make: rw.load(path).with_module(module)"
            )
        return self.module

    def _score(self, values: NDArray[np.floating]) -> Floats:
        return scores_in_blocks(self._own(), values)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Parameters and buffers."""
        return {PREFIX + name: array for name, array in self.state.items()}

    @classmethod
    def from_arrays(cls, stored: StoredArrays, n_features: int, **about: Any) -> Self:
        """Parameters and buffers, whatever they are: a module's own loading checks them."""
        return cls(state=stored.below(PREFIX).rest(), width=n_features, **about)


def scores_in_blocks(module: Any, values: NDArray[np.floating], device: str = "cpu") -> Floats:
    """What a module in its evaluating state makes of rows, in blocks."""
    torch: Any = require("torch", "torch")
    scores = np.empty(len(values))
    with torch.no_grad():
        for first in range(0, len(values), ROWS_A_BLOCK):
            rows = values[first : first + ROWS_A_BLOCK]
            block = torch.empty(*rows.shape)  # memory of its own, so aligned alike
            block.numpy()[:] = rows
            made = one_score_a_row(module(block.to(device)), len(rows))
            scores[first : first + len(rows)] = made.cpu().double().numpy()
    return scores


def one_score_a_row(scores: Any, n: int) -> Any:
    """A module's output as one score a row; refused if it has another shape."""
    if tuple(scores.shape) not in ((n,), (n, 1)):
        raise InputError(
            f"the module makes {tuple(scores.shape)} of {n} rows of features; it must give one score a row"
        )
    return scores.reshape(n)
