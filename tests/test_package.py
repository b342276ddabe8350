"""The package as a whole: what importing costs, what is public, what may know what."""

from __future__ import annotations

import ast
import importlib.metadata
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import rankwright as rw
from rankwright.measures import BUILT_IN
from rankwright.scorers import CORES

PACKAGE = Path(rw.__file__).parent

IMPORTING = "import rankwright as rw"
EVALUATING = """
import rankwright as rw
result = rw.evaluate([0.9, 0.2, 0.4], [0, 1, 2], ["ndcg@10", "map"], qid=["a", "a", "b"])
assert 0 < result["map"].mean < 1
"""
PREDICTING = """
import rankwright as rw
queries = rw.QuerySet([[1, 2], [3, 4], [5, 6]], [0, 1, 2], qid=["a", "a", "b"])
scorer = rw.LinearScorer([1.0, 2.0])
assert scorer.predict(queries).tolist() == [5, 11, 17]
"""
LOADING = (
    PREDICTING
    + """
import pathlib, tempfile
path = pathlib.Path(tempfile.mkdtemp()) / "model.rw"
scorer.save(path)
assert rw.load(path).predict(queries).tolist() == [5, 11, 17]
"""
)
HELPING = """
from rankwright.cli.main import main
try:
    main(["--help"])
except SystemExit as end:
    assert end.code == 0
"""
COMPILER = ("numba", "llvmlite")
LIBRARIES = (*COMPILER, "sklearn", "scipy", "pandas", "polars", "pyarrow", "narwhals", "altair", "matplotlib")


@pytest.mark.parametrize(
    ("what", "unwanted"),
    [
        (IMPORTING, (*LIBRARIES, "numpy", "click", "rich")),
        (HELPING, (*LIBRARIES, "numpy", "rich")),
        (EVALUATING, LIBRARIES),
        (PREDICTING, (*LIBRARIES, "safetensors")),
        (LOADING, LIBRARIES),
    ],
    ids=["import", "help", "evaluate", "predict", "load"],
)
def test_only_what_is_needed_is_imported(what: str, unwanted: tuple[str, ...]) -> None:
    code = f"{what}\nimport sys\nprint(sorted(set({unwanted!r}) & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert found.stderr == ""
    assert found.stdout.splitlines()[-1] == "[]"


def test_every_public_name_resolves_and_is_documented() -> None:
    assert len(rw.__all__) == len(set(rw.__all__))
    for name in rw.__all__:
        assert name in dir(rw)
        assert name.startswith("__") or inspect.getdoc(getattr(rw, name)), name


def test_type_checkers_see_the_same_names_as_users() -> None:
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {alias.asname for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen == set(rw.__all__) - {"__version__"}


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'LambdaMARTT'"):
        rw.LambdaMARTT  # noqa: B018


def test_the_installed_version_is_the_version() -> None:
    assert rw.__version__ == importlib.metadata.version("rankwright")


def test_the_package_says_that_it_is_typed() -> None:
    assert (PACKAGE / "py.typed").exists()


def learners() -> tuple[type, ...]:
    """All public learners."""
    public = [getattr(rw, name) for name in rw.__all__]
    return tuple(
        each for each in public if getattr(each, "__module__", "").startswith("rankwright.learners.")
    )


@pytest.mark.parametrize("members", [BUILT_IN, CORES, learners()], ids=["measures", "scorers", "learners"])
def test_no_member_of_a_family_imports_a_sibling(members: tuple[type, ...]) -> None:
    modules = {member.__module__ for member in members}
    assert modules
    for module in modules:
        assert not imported_by(module) & (modules - {module}), module


def imported_by(module: str) -> set[str]:
    """The modules that a module imports from, anywhere in it."""
    tree = ast.parse(Path(inspect.getfile(sys.modules[module])).read_text(encoding="utf-8"))
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found
