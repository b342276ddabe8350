"""The parameters that all learners of boosted trees share, and the check of each."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from rankwright.runtime.arrays import Floats
from rankwright.runtime.errors import InputError
from rankwright.trees.grower import Shape


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class TreeParameters:
    """The parameters that all learners of boosted trees share.

    ``subsample`` and ``query_subsample`` are the shares of rows and of whole queries that a tree is grown on,
    ``feature_fraction`` the share of features, ``features_per_node`` how many of these a node may look at (a
    number, or below 1 a share; 0: all). ``random_bins`` tries one threshold at random for each feature, not
    all. ``exact_counts`` keeps gradients twice as wide, for weights that differ widely, and knows the rows of
    each side exactly. ``n_runs`` averages the trees of so many runs that differ by chance alone, as one
    scorer, at as many times the price. ``categorical_features`` are indices; of more than ``max_bins``
    categories the rarest are as good as missing. ``monotonic_cst`` has 1, −1 or 0 for each feature. With
    ``valid``, the best step is kept, and ``early_stopping_rounds`` without a better one end training. With
    ``warm_start`` another ``fit`` goes on from the trees of the one before, up to ``n_estimators`` in all.

    ``fit`` takes, beside ``progress=`` (which may raise ``StopIteration`` to end training):

    ``base=``              a ranker trained elsewhere: its scores are where boosting begins, and the sum of it
                           and the trees is left (not for classes)
    ``checkpoint=``        a file that holds the trees so far, written whole every ``checkpoint_every=`` steps
                           (10) and at the end; where it is there already, training goes on from it to the
                           same model, byte for byte. ``rankwright.load`` reads it as a model
    ``measure_train=True`` each record of ``history_`` has the measure on the training data too ("train")

    An interrupt (Ctrl-C) ends training after the step under way: the ranker keeps the trees so far, its
    scorer's ``training`` says so, and ``KeyboardInterrupt`` goes on.
    """

    n_estimators: int = 100
    learning_rate: float = 0.1
    max_leaf_nodes: int = 31
    max_depth: int | None = None
    min_samples_leaf: int = 20
    min_hessian: float = 1e-3
    l2_regularization: float = 0.0
    min_gain: float = 0.0
    max_bins: int = 255
    categorical_features: Sequence[int] = ()
    monotonic_cst: Sequence[int] | None = None
    subsample: float = 1.0
    query_subsample: float = 1.0
    feature_fraction: float = 1.0
    features_per_node: float = 0
    random_bins: bool = False
    exact_counts: bool = False
    n_runs: int = 1
    early_stopping_rounds: int | None = None
    warm_start: bool = False
    random_state: int = 0
    n_jobs: int | None = None

    @property
    def feature_importances_(self) -> Floats:
        """What each feature's splits gained, as a share of all; scikit-learn's name for it.

        >>> import rankwright as rw
        >>> data = rw.synthetic.random_net(20, 20, 5, random_state=1)
        >>> rw.MART(n_estimators=2, max_leaf_nodes=3).fit(data).feature_importances_.round(2)
        array([0.  , 0.25, 0.  , 0.  , 0.75])
        """
        scorer = self._fitted()  # type: ignore[attr-defined]
        forest = scorer.members[-1] if scorer.members else scorer  # behind a base
        gains: Floats = forest.importance("gain")
        return gains / max(gains.sum(), np.finfo(float).tiny)


def shape_of(learner: TreeParameters, n_features: int) -> Shape:
    """What the learner's trees may be; its parameters are checked here."""
    least = {
        "n_estimators": 1, "max_leaf_nodes": 2, "max_depth": 1, "min_samples_leaf": 1, "random_state": 0,
    }  # fmt: skip
    for name, lowest in least.items():
        value = getattr(learner, name)
        if name == "max_depth" and value is None:
            continue
        if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < lowest:
            raise InputError(f"{name} is {value!r}; it is a whole number of at least {lowest}")
    for name in ("l2_regularization", "min_hessian", "min_gain"):
        if not 0 <= getattr(learner, name) < np.inf:
            raise InputError(f"{name} is {getattr(learner, name)!r}; it is a number of at least 0")
    for name in ("learning_rate", "subsample", "query_subsample", "feature_fraction"):
        most = np.inf if name == "learning_rate" else 1
        if not 0 < getattr(learner, name) <= most:
            raise InputError(
                f"{name} is {getattr(learner, name)!r}; it is a number above 0"
                + f" and at most {most}" * (most == 1)
            )
    monotone = learner.monotonic_cst
    if monotone is not None and (len(monotone) != n_features or not set(monotone) <= {-1, 0, 1}):
        raise InputError(
            f"monotonic_cst is {monotone!r}; give 1, -1 or 0 for each of the {n_features} features"
        )
    outside = [f for f in learner.categorical_features if not 0 <= f < n_features]
    if outside:
        raise InputError(
            f"categorical_features names feature {outside[0]}; there are {n_features}, counted from 0"
        )
    both = [f for f in learner.categorical_features if monotone is not None and monotone[f] != 0]
    if both:
        raise InputError(
            f"feature {both[0]} is categorical and has a direction in monotonic_cst; "
            "categories have no order, so give 0 there"
        )
    return Shape(
        max_leaf_nodes=learner.max_leaf_nodes,
        max_depth=learner.max_depth,
        min_samples_leaf=learner.min_samples_leaf,
        min_hessian=learner.min_hessian,
        l2_regularization=learner.l2_regularization,
        min_gain=learner.min_gain,
        monotone=monotone,
        features_per_node=features_a_node(learner, n_features),
        random_bins=learner.random_bins,
        exact_counts=learner.exact_counts,
    )


def features_a_node(learner: TreeParameters, n_features: int) -> int:
    """How many features a node may look at; 0 for all."""
    given = learner.features_per_node
    if not isinstance(given, int | float | np.integer) or isinstance(given, bool) or not 0 <= given < np.inf:
        raise InputError(
            f"features_per_node is {given!r}; it is a number of features, a share below 1, or 0 for all"
        )
    if 0 < given < 1:
        return max(1, round(given * n_features))
    if given != int(given):
        raise InputError(f"features_per_node is {given!r}; a number of features is whole, a share is below 1")
    return int(given)
