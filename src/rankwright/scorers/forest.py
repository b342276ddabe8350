"""The forest core: trees whose values add up, on raw features.

Several outputs and a link serve learners of several classes: ``expectation`` turns K outputs into class
probabilities (softmax) and gives the expected label, ``ordinal`` does so for cumulative logits.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from rankwright.runtime.arrays import Floats, Singles
from rankwright.runtime.errors import InputError
from rankwright.runtime.threads import in_chunks
from rankwright.scorers.arrays import StoredArrays
from rankwright.scorers.base import Scorer
from rankwright.scorers.forest_checks import check_nodes
from rankwright.scorers.forest_kernels import TILE, Nodes, Tests, Words, by_masks, walk
from rankwright.scorers.forest_packing import bits_of_numbers, pack

Link = Literal["identity", "expectation", "ordinal"]
WALKED_ROWS = 4
"""Up to this many rows are walked one by one."""
MOST_LEAVES = 1024
"""Forests of larger trees are walked, whatever the rows."""
ROWS_A_PIECE = 64 * TILE


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class ForestScorer(Scorer):
    """Trees whose values add up. Made by the tree learners; ``trees`` holds one array a field of ``Nodes``.

    ``start[o]`` is what output o begins with. Missing values and categories go where training sent them.
    ``gains`` is by how much each node's split lowered what its tree was grown to lower, where that is known.
    """

    trees: Nodes
    start: Floats
    n_features: int = 0
    link: Link = "identity"
    gains: Singles | None = None

    kind: ClassVar[str] = "forest"
    rows_at_once: ClassVar[int | None] = None

    def __post_init__(self) -> None:
        for array in (*self.trees, self.start):
            array.flags.writeable = False
        if self.gains is not None:
            self.gains.flags.writeable = False
        super().__post_init__()

    @property
    def n_trees(self) -> int:
        """How many trees there are."""
        return len(self.trees.first_node) - 1

    def first(self, n_trees: int) -> Self:
        """The scorer of the first trees only."""
        if n_trees < 0:
            raise InputError(f"there are no {n_trees} trees; give a number of at least 0")
        n = min(n_trees, self.n_trees)
        nodes, leaves = self.trees.first_node[n], self.trees.first_leaf[n]
        sets = int(self.trees.category_set[:nodes].max(initial=-1)) + 1
        kept = self.trees._replace(
            first_node=self.trees.first_node[: n + 1],
            first_leaf=self.trees.first_leaf[: n + 1],
            values=self.trees.values[:leaves],
            sets=self.trees.sets[:sets],
            **{name: getattr(self.trees, name)[:nodes] for name in _BY_NODE},
        )
        return dataclasses.replace(self, trees=kept, gains=None if self.gains is None else self.gains[:nodes])

    def importance(self, by: Literal["gain", "splits"] = "gain") -> Floats:
        """What each feature is worth to the trees: what its splits gained in all, or how many there are.

        >>> import rankwright as rw
        >>> data = rw.synthetic.random_net(20, 20, 5, random_state=1)
        >>> forest = rw.MART(n_estimators=2, max_leaf_nodes=3).fit(data).scorer_
        >>> forest.importance("splits")
        array([0., 2., 0., 0., 2.])
        """
        if by not in ("gain", "splits"):
            raise InputError(f"by is {by!r}; it is 'gain' or 'splits'")
        if by == "splits":
            return np.bincount(self.trees.feature, minlength=self.n_features).astype(np.float64)
        if self.gains is None:
            raise InputError("these trees do not tell what their splits gained; ask by='splits'")
        return np.bincount(self.trees.feature, self.gains, minlength=self.n_features).astype(np.float64)

    def _score(self, values: NDArray[np.floating]) -> Floats:
        X = np.ascontiguousarray(values, np.float32)
        out = np.empty((len(X), len(self.start)))
        self.outputs(X, out)
        return linked(out, self.link)

    def outputs(self, X: NDArray[np.float32], out: Floats, n_jobs: int | None = None) -> None:
        """Write what the trees add up to, before the link: the same bits for any batch and any threads."""
        X = X.view()
        X.flags.writeable = False  # one compiled form, whoever owns the features
        packed = None if len(X) <= WALKED_ROWS else self._packed
        if packed is None:
            in_chunks(lambda a, b: walk(X, self.trees, self.start, a, b, out), _pieces(len(X)), n_jobs)
            return
        in_chunks(
            lambda a, b: by_masks(X, self.trees, *packed, self.start, a, b, out), _pieces(len(X)), n_jobs
        )

    @functools.cached_property
    def _packed(self) -> tuple[Tests, NDArray[np.int32], Words] | None:
        most = int(np.diff(self.trees.first_leaf).max(initial=1))
        if most > MOST_LEAVES:
            return None
        return pack(self.trees), np.unique(self.trees.feature), bits_of_numbers(most)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The trees' arrays, what they start from, the link, and the splits' gains where they are known."""
        link = np.array(_LINKS.index(self.link))
        gains = {} if self.gains is None else {"gains": self.gains}
        return {**self.trees._asdict(), "start": self.start, "link": link, **gains}

    @classmethod
    def from_arrays(cls, stored: StoredArrays, n_features: int, **about: Any) -> Self:
        """Trees from a file: every index is checked, since the kernels check none."""
        trees = Nodes(
            first_node=stored.take("first_node", np.int64, (None,)),
            first_leaf=stored.take("first_leaf", np.int64, (None,)),
            feature=stored.take("feature", np.int32, (None,)),
            threshold=stored.take("threshold", np.float32, (None,)),
            missing_left=stored.take("missing_left", np.bool_, (None,)),
            category_set=stored.take("category_set", np.int32, (None,)),
            left=stored.take("left", np.int32, (None,)),
            right=stored.take("right", np.int32, (None,)),
            values=stored.take("values", np.float64, (None, None)),
            sets=stored.take("sets", np.uint64, (None, 4)),
            first_code=stored.take("first_code", np.int64, (n_features + 1,)),
            codes=stored.take("codes", np.float32, (None,)),
        )
        check_nodes(trees, n_features)
        start = stored.floats("start", (trees.values.shape[1],))
        link = int(stored.take("link", np.int64, ()))
        if not 0 <= link < len(_LINKS):
            raise InputError(f"its link is {link}; this version knows 0 to {len(_LINKS) - 1}")
        gains = _gains(stored, len(trees.feature))
        return cls(trees, start, n_features, link=_LINKS[link], gains=gains, **about)


_LINKS: tuple[Link, ...] = ("identity", "expectation", "ordinal")
_BY_NODE = ("feature", "threshold", "missing_left", "category_set", "left", "right")


def _gains(stored: StoredArrays, n_nodes: int) -> Singles | None:
    """What the splits gained; older files do not tell."""
    if stored.shape("gains") is None:
        return None
    gains = stored.take("gains", np.float32, (n_nodes,))
    if not (np.isfinite(gains) & (gains >= 0)).all():
        raise InputError("its array 'gains' holds numbers that no split gains")
    return gains


def linked(out: Floats, link: Link) -> Floats:
    """One score a row from the trees' outputs.

    >>> linked(np.zeros((1, 3)), "expectation")
    array([1.])
    """
    if link == "identity":
        return np.ascontiguousarray(out[:, 0])
    if link == "ordinal":
        # Output k is the logit of P(label > k); the expected label is the sum of these.
        terms = 1.0 / (1.0 + np.exp(-out))
    else:
        powers = np.exp(out - out.max(axis=1, keepdims=True))
        terms = powers * np.arange(out.shape[1]) / np.add.accumulate(powers, axis=1)[:, -1:]
    return np.ascontiguousarray(np.add.accumulate(terms, axis=1)[:, -1])


def _pieces(n: int) -> list[int]:
    return [*range(0, n, ROWS_A_PIECE), n]
