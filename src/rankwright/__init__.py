"""Rankwright learns to rank: any measure, any learner, results that come with their proof.

Names are imported when they are first used, so that ``import rankwright`` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankwright.data import Qrels as Qrels
    from rankwright.data import QuerySet as QuerySet
    from rankwright.data import Rankings as Rankings
    from rankwright.data import Run as Run
    from rankwright.data import preparation as preparation
    from rankwright.data import read_letor as read_letor
    from rankwright.data import read_parquet as read_parquet
    from rankwright.data import read_qrels as read_qrels
    from rankwright.data import read_run as read_run
    from rankwright.data import synthetic as synthetic
    from rankwright.data import write_letor as write_letor
    from rankwright.data import write_run as write_run
    from rankwright.diagnostics.conservative import conservative as conservative
    from rankwright.diagnostics.effective_pairs import effective_pairs as effective_pairs
    from rankwright.diagnostics.local_optimality import local_optimality as local_optimality
    from rankwright.ensembles.combine import blend as blend
    from rankwright.ensembles.combine import combine as combine
    from rankwright.ensembles.committee import Committee as Committee
    from rankwright.evaluation.compare import compare as compare
    from rankwright.evaluation.cross_validation import QueryKFold as QueryKFold
    from rankwright.evaluation.cross_validation import cross_validate as cross_validate
    from rankwright.evaluation.cross_validation import make_scorer as make_scorer
    from rankwright.evaluation.evaluate import evaluate as evaluate
    from rankwright.evaluation.importance import permutation_importance as permutation_importance
    from rankwright.learners.adarank import AdaRank as AdaRank
    from rankwright.learners.coordinate_ascent import CoordinateAscent as CoordinateAscent
    from rankwright.learners.kernel_ranknet import KernelRankNet as KernelRankNet
    from rankwright.learners.lambdamart import LambdaMART as LambdaMART
    from rankwright.learners.lambdarank import LambdaRank as LambdaRank
    from rankwright.learners.listmle import ListMLE as ListMLE
    from rankwright.learners.listnet import ListNet as ListNet
    from rankwright.learners.mart import MART as MART
    from rankwright.learners.mcrank import McRank as McRank
    from rankwright.learners.oapbpm import OAPBPM as OAPBPM
    from rankwright.learners.prank import PRank as PRank
    from rankwright.learners.random_forest import RandomForestRanker as RandomForestRanker
    from rankwright.learners.rankboost import RankBoost as RankBoost
    from rankwright.learners.ranknet import RankNet as RankNet
    from rankwright.learners.rankprop import RankProp as RankProp
    from rankwright.learners.ranksvm import RankSVM as RankSVM
    from rankwright.learners.structured_svm import DORM as DORM
    from rankwright.learners.structured_svm import SVMAUC as SVMAUC
    from rankwright.learners.structured_svm import SVMMAP as SVMMAP
    from rankwright.learners.structured_svm import SVMMRR as SVMMRR
    from rankwright.learners.structured_svm import SVMNDCG as SVMNDCG
    from rankwright.learners.structured_svm import SVMNDCGNC as SVMNDCGNC
    from rankwright.learners.structured_svm import StructuredRanker as StructuredRanker
    from rankwright.learners.structured_svm import SVMCombo as SVMCombo
    from rankwright.learners.torch import TorchRanker as TorchRanker
    from rankwright.measures import Measure as Measure
    from rankwright.measures import measure as measure
    from rankwright.pairwise.rules import rule as rule
    from rankwright.pairwise.torch import LambdaLoss as LambdaLoss
    from rankwright.runtime.errors import InputError as InputError
    from rankwright.runtime.errors import RankwrightError as RankwrightError
    from rankwright.runtime.errors import SlowWarning as SlowWarning
    from rankwright.scorers import ForestScorer as ForestScorer
    from rankwright.scorers import KernelScorer as KernelScorer
    from rankwright.scorers import LinearScorer as LinearScorer
    from rankwright.scorers import NetworkScorer as NetworkScorer
    from rankwright.scorers import QuadraticScorer as QuadraticScorer
    from rankwright.scorers import QueryScaling as QueryScaling
    from rankwright.scorers import Scorer as Scorer
    from rankwright.scorers import Stack as Stack
    from rankwright.scorers import Standardising as Standardising
    from rankwright.scorers import Sum as Sum
    from rankwright.scorers import load as load

__version__ = "0.1.0"

_HOMES = {
    "DORM": "learners.structured_svm",
    "ForestScorer": "scorers",
    "Committee": "ensembles.committee",
    "InputError": "runtime.errors",
    "KernelRankNet": "learners.kernel_ranknet",
    "KernelScorer": "scorers",
    "LambdaLoss": "pairwise.torch",
    "LambdaMART": "learners.lambdamart",
    "LambdaRank": "learners.lambdarank",
    "ListNet": "learners.listnet",
    "ListMLE": "learners.listmle",
    "RankProp": "learners.rankprop",
    "AdaRank": "learners.adarank",
    "RankBoost": "learners.rankboost",
    "RandomForestRanker": "learners.random_forest",
    "CoordinateAscent": "learners.coordinate_ascent",
    "LinearScorer": "scorers",
    "MART": "learners.mart",
    "McRank": "learners.mcrank",
    "Measure": "measures",
    "NetworkScorer": "scorers",
    "OAPBPM": "learners.oapbpm",
    "PRank": "learners.prank",
    "QuadraticScorer": "scorers",
    "QueryScaling": "scorers",
    "Qrels": "data",
    "QueryKFold": "evaluation.cross_validation",
    "QuerySet": "data",
    "RankNet": "learners.ranknet",
    "RankSVM": "learners.ranksvm",
    "Rankings": "data",
    "RankwrightError": "runtime.errors",
    "Run": "data",
    "SVMAUC": "learners.structured_svm",
    "SVMCombo": "learners.structured_svm",
    "SVMMAP": "learners.structured_svm",
    "SVMMRR": "learners.structured_svm",
    "SVMNDCG": "learners.structured_svm",
    "SVMNDCGNC": "learners.structured_svm",
    "Scorer": "scorers",
    "Stack": "scorers",
    "Standardising": "scorers",
    "StructuredRanker": "learners.structured_svm",
    "Sum": "scorers",
    "TorchRanker": "learners.torch",
    "blend": "ensembles.combine",
    "combine": "ensembles.combine",
    "compare": "evaluation",
    "conservative": "diagnostics",
    "cross_validate": "evaluation.cross_validation",
    "effective_pairs": "diagnostics",
    "evaluate": "evaluation",
    "load": "scorers",
    "local_optimality": "diagnostics",
    "make_scorer": "evaluation.cross_validation",
    "SlowWarning": "runtime.errors",
    "measure": "measures",
    "permutation_importance": "evaluation",
    "preparation": "data",
    "read_letor": "data",
    "read_parquet": "data",
    "read_qrels": "data",
    "read_run": "data",
    "rule": "pairwise.rules",
    "synthetic": "data",
    "write_letor": "data",
    "write_run": "data",
}

__all__ = ["__version__", *sorted(_HOMES)]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'rankwright' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"rankwright.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
