"""Kernels: plain Python functions that Numba compiles when they are first needed.

Importing Numba takes a third of a second and compiling a kernel up to a few more, so a kernel is compiled
on its first call and never at import. Until then it is an ordinary function: small inputs are cheaper
without a compiler, and give the same bits with it (kernels whose two forms may differ say so).
"""

from __future__ import annotations

import functools
import hashlib
import os
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from rankwright.runtime.intrinsics import Intrinsic

Signature = str | Callable[[], Any]

LOOSE = {"reassoc", "contract", "arcp", "afn"}
"""Flags under which the optimiser may change the bits of a result."""


class Kernel:
    """A function in two forms: ``plain`` (Python) and ``compiled`` (by Numba, on first use).

    Calling the kernel runs the compiled form. Other kernels may call it by its name, and it may be given
    to them as an argument (``kernel.compiled``) where they declare a function type.
    """

    def __init__(self, function: Callable[..., Any], signature: Signature | None, options: dict[str, Any]):
        self._function = function
        self._signature = signature
        self._options = options
        functools.update_wrapper(self, function)

    def __call__(self, *arguments: Any) -> Any:
        """Run the compiled form."""
        return self.compiled(*arguments)

    def __reduce__(self) -> str:
        return str(self.plain.__qualname__)

    @functools.cached_property
    def plain(self) -> Callable[..., Any]:
        """The Python function; the kernels that it calls by name run in their plain form too."""
        function = self._function
        names = dict(function.__globals__)
        plain = types.FunctionType(
            function.__code__, names, function.__name__, function.__defaults__, function.__closure__
        )
        for name in function.__code__.co_names:
            called = names.get(name)
            if isinstance(called, Kernel):
                names[name] = plain if called is self else called.plain
            elif isinstance(called, Intrinsic):
                names[name] = called.plain
        return plain

    @functools.cached_property
    def compiled(self) -> Any:
        """The form that Numba compiled, from its cache on disk where that is fresh."""
        return self._compile(self._function, self._options)

    @functools.cached_property
    def nested(self) -> Any:
        """The compiled form that kernels have within the kernels that call them.

        It has no way in from Python, whose code (it takes every array of every argument apart) costs more to
        compile than many a kernel. With loose arithmetic it leaves no call either: a caller's machine code
        holds its own copy of what it calls, optimised once more, so that under loose flags it may give other
        bits than the kernel by itself, and which of the two would run goes by what the process has loaded
        before.
        """
        name = f"{self._function.__name__}_nested"
        function = types.FunctionType(self._function.__code__, self._function.__globals__, name)
        function.__qualname__, function.__module__ = name, self._function.__module__
        more = {"forceinline": self.is_loose, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        return self._compile(function, self._options | more)

    def _compile(self, function: Callable[..., Any], options: dict[str, Any]) -> Any:
        import numba

        signature = self._signature() if callable(self._signature) else self._signature
        # A signature given to njit compiles at once, before the cache could be told what to go by; so the
        # dispatcher is made without one and the signature compiled after.
        dispatcher = numba.njit(**options)(function)
        if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
            return self.plain
        _stamp(dispatcher, _digest(self, set()))
        if signature is not None:
            dispatcher.compile(signature)
            dispatcher.disable_compile()
        return dispatcher

    @functools.cached_property
    def is_loose(self) -> bool:
        """Whether the bits of its results, or of a kernel's that it calls, are the optimiser's choice."""
        flags = self._options["fastmath"]
        if flags is True or (flags and LOOSE & set(flags)):
            return True
        called = (self._function.__globals__.get(name) for name in self._function.__code__.co_names)
        return any(kernel.is_loose for kernel in called if isinstance(kernel, Kernel) and kernel is not self)

    @functools.cached_property
    def pointer(self) -> Any:
        """The compiled form, to be given to a kernel that declares a function type, for short calls.

        Numba looks a function up each time it is given, a tenth of a millisecond; this knows its address.
        """
        compiled = self.compiled
        return compiled if compiled is self.plain else _pointer_type()(compiled, self._signature)

    @property
    def py_func(self) -> Callable[..., Any]:
        """The function itself, where Numba looks for it to put an inlined kernel into its caller."""
        return self._function

    @property
    def targetoptions(self) -> dict[str, Any]:
        """The options, where Numba looks for ``inline``."""
        return self._options

    @property
    def is_typed(self) -> bool:
        """Whether it says what types it takes, and so can be compiled before it is called."""
        return self._signature is not None

    @property
    def is_compiled(self) -> bool:
        """Whether this process has the compiled form already."""
        return "compiled" in self.__dict__

    @property
    def _numba_type_(self) -> Any:
        # How Numba types a global that it does not know: this lets kernels call kernels by name.
        return self.nested._numba_type_


def kernel(
    signature: Signature | None = None,
    *,
    fastmath: bool | set[str] = False,
    inline: bool = False,
    cache: bool = True,
) -> Callable[[Callable[..., Any]], Kernel]:
    """Make a function a kernel: compiled without the GIL, without bounds checks, cached on disk.

    ``signature`` is Numba's, as text or as a function that returns it (for types that need Numba imported);
    without one the kernel is compiled for the types of each call.

    >>> @kernel("float64(float64)", cache=False)
    ... def twice(x):
    ...     return 2 * x
    >>> twice.plain(1.5), twice(1.5)
    (3.0, 3.0)
    """
    options: dict[str, Any] = {
        "nogil": True,
        "cache": cache,
        "fastmath": fastmath,
        "error_model": "numpy",
        "boundscheck": False,
    }
    if inline:
        options["inline"] = "always"
    return lambda function: Kernel(function, signature, options)


def readonly(item: str, dimensions: int = 1) -> Any:
    """Numba's type of an array that a kernel reads; arrays that may be written are taken too.

    >>> readonly("float32", 2)
    Array(float32, 2, 'C', True, aligned=True)
    """
    from numba import types

    return types.Array(getattr(types, item), dimensions, "C", readonly=True)


def function_type(signature: str) -> Any:
    """Numba's type of a pointer to a function with this signature."""
    from numba import types
    from numba.core.sigutils import normalize_signature

    arguments, result = normalize_signature(signature)
    return types.FunctionType(result(*arguments))


@functools.cache
def _pointer_type() -> Any:
    from numba import types

    class Pointer(types.WrapperAddressProtocol):
        """A function by its address."""

        def __init__(self, dispatcher: Any, signature: str):
            self._numba_type_ = function_type(signature)
            self._dispatcher = dispatcher  # keeps the code alive
            result = dispatcher.get_compile_result(self.signature())
            name = result.fndesc.llvm_cfunc_wrapper_name
            self._address = result.library.get_pointer_to_function(name)

        def __wrapper_address__(self) -> Any:
            return self._address

        def signature(self) -> Any:
            return self._numba_type_.signature

    return Pointer


def _digest(kernel: Kernel, met: set[Kernel]) -> str:
    """A digest of all that a kernel is made of: its code, and the constants and kernels that it names.

    Numba's own cache watches the file of the kernel alone: it would keep one whose callee or constant in
    another file has changed, and forget all kernels of a file where a comment has.
    """
    met.add(kernel)
    options = {
        name: sorted(value) if isinstance(value, set) else value for name, value in kernel._options.items()
    }
    signature = kernel._signature if isinstance(kernel._signature, str) else ""
    digest = hashlib.sha256(f"{options}{signature}{_code(kernel._function.__code__)}".encode())
    for name in kernel._function.__code__.co_names:
        value = kernel._function.__globals__.get(name)
        if isinstance(value, Kernel):
            digest.update(("" if value in met else _digest(value, met)).encode())
        elif isinstance(value, type):
            digest.update(f"{value.__qualname__}{getattr(value, '_fields', '')}".encode())
        elif isinstance(value, bool | int | float | str | tuple | np.generic):
            digest.update(f"{type(value)}{value!r}".encode())
        elif value is not None and hasattr(value, "plain"):  # an intrinsic
            digest.update(Path(value.plain.__code__.co_filename).read_bytes())
    return digest.hexdigest()


def _code(code: types.CodeType) -> str:
    """A function's code without the lines that it stands in."""
    constants = [_code(value) if isinstance(value, types.CodeType) else value for value in code.co_consts]
    return repr((code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars))


def _stamp(dispatcher: Any, digest: str) -> None:
    """Have Numba's cache go by this digest, and pass over what it cannot read."""
    index = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if index is None or not hasattr(index, "_source_stamp"):
        return
    index._source_stamp = digest
    read = index._load_index

    def read_if_fresh() -> Any:
        try:
            return read()
        except Exception:
            # An index that another version wrote may name types which are gone; it is as stale as its stamp.
            return {}

    index._load_index = read_if_fresh
