"""Signatures that are made by functions, all of them, also of kernels that only others call."""

import importlib
import pkgutil

import numba
import pytest

import rankwright
from rankwright.runtime.kernels import Kernel


def signatures():
    for module in pkgutil.walk_packages(rankwright.__path__, "rankwright."):
        if ".cli" in module.name or module.name.endswith(("__main__", "torch")):
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, Kernel) and callable(value._signature) and value.__module__ == module.name:
                yield pytest.param(value, id=f"{module.name}.{name}")


@pytest.mark.parametrize("kernel", list(signatures()))
def test_a_signature_has_a_type_for_each_argument(kernel):
    made = kernel._signature()
    assert isinstance(made, numba.core.typing.Signature)
    assert len(made.args) == kernel._function.__code__.co_argcount
