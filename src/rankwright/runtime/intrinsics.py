"""The one module that touches LLVM: what compiled Python cannot say by itself.

Each intrinsic is a plain Python function, which runs where the JIT is off, joined to the instruction that
compiled kernels get. Numba is imported when a kernel that uses one is first compiled.
"""

from __future__ import annotations

import functools
import struct
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ATOMIC = threading.Lock()


class Intrinsic:
    """A plain function in Python, an LLVM instruction inside kernels."""

    def __init__(self, plain: Callable[..., Any], make: Callable[[Any, Any, Any], Any]):
        self.plain = plain
        self._make = make
        functools.update_wrapper(self, plain)

    def __call__(self, *arguments: Any) -> Any:
        """Run the plain form: outside kernels, and where the JIT is off."""
        return self.plain(*arguments)

    @functools.cached_property
    def _numba_type_(self) -> Any:
        # How Numba types a global that it does not know.
        from llvmlite import ir
        from numba import types
        from numba.core.registry import cpu_target
        from numba.extending import intrinsic

        made = intrinsic(self._make(ir, types, _array_data))
        cpu_target.typing_context.refresh()
        return cpu_target.typing_context.resolve_value_type(made)


def _array_data(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    return context.make_array(kind)(context, builder, value).data


def instruction(make: Callable[[Any, Any, Any], Any]) -> Callable[[Callable[..., Any]], Intrinsic]:
    """Join a plain function to the maker of its instruction."""
    return lambda plain: Intrinsic(plain, make)


def _make_float_of_bits(ir: Any, types: Any, data: Any) -> Any:
    def typed(context: Any, bits: Any) -> Any:
        return types.float32(types.int32), lambda _c, builder, _s, args: builder.bitcast(
            args[0], ir.FloatType()
        )

    return typed


@instruction(_make_float_of_bits)
def float_of_bits(bits: int) -> np.float32:
    """The float32 with these 32 bits.

    >>> float_of_bits(0x3F800000)
    np.float32(1.0)
    """
    return np.float32(struct.unpack("<f", struct.pack("<i", int(bits)))[0])


def _make_bits_of_float(ir: Any, types: Any, data: Any) -> Any:
    def typed(context: Any, value: Any) -> Any:
        return types.int32(types.float32), lambda _c, builder, _s, args: builder.bitcast(
            args[0], ir.IntType(32)
        )

    return typed


@instruction(_make_bits_of_float)
def bits_of_float(value: float) -> np.int32:
    """The 32 bits of a float32. Those of floats that are not negative are in the floats' own order.

    >>> int(bits_of_float(1.0)) == 0x3F800000
    True
    """
    return np.int32(struct.unpack("<i", struct.pack("<f", float(value)))[0])


def _make_prefetch(ir: Any, types: Any, data: Any) -> Any:
    def typed(context: Any, array: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            from numba.core import cgutils

            i32 = ir.IntType(32)
            address = builder.gep(data(context, builder, signature.args[0], args[0]), [args[1]])
            byte = builder.bitcast(address, ir.IntType(8).as_pointer())
            kind = ir.FunctionType(ir.VoidType(), [byte.type, i32, i32, i32])
            function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
            builder.call(function, [byte, i32(0), i32(3), i32(1)])
            return context.get_dummy_value()

        return types.void(array, index), generate

    return typed


@instruction(_make_prefetch)
def prefetch(array: NDArray[Any], index: int) -> None:
    """Ask for the cache line of ``array[index]``: a hint, which may point past the end."""


def _make_copy32(ir: Any, types: Any, data: Any) -> Any:
    def typed(context: Any, target: Any, at: Any, source: Any, start: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            vector = ir.VectorType(ir.IntType(8), 32).as_pointer()
            to = builder.gep(data(context, builder, signature.args[0], args[0]), [args[1]])
            of = builder.gep(data(context, builder, signature.args[2], args[2]), [args[3]])
            loaded = builder.load(builder.bitcast(of, vector), align=1)
            builder.store(loaded, builder.bitcast(to, vector), align=1)
            return context.get_dummy_value()

        return types.void(target, at, source, start), generate

    return typed


@instruction(_make_copy32)
def copy32(target: NDArray[np.uint8], at: int, source: NDArray[np.uint8], start: int) -> None:
    """Copy 32 bytes of ``source`` from ``start`` to ``target[at:]``, as one vector.

    >>> target = np.zeros(32, np.uint8)
    >>> copy32(target, 0, np.arange(40, dtype=np.uint8), 8)
    >>> int(target[0]), int(target[31])
    (8, 39)
    """
    target[int(at) : int(at) + 32] = source[int(start) : int(start) + 32]


def _make_fetch_add(ir: Any, types: Any, data: Any) -> Any:
    def typed(context: Any, array: Any, index: Any, amount: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            address = builder.gep(data(context, builder, signature.args[0], args[0]), [args[1]])
            return builder.atomic_rmw("add", address, args[2], "seq_cst")

        return types.int64(array, types.int64, types.int64), generate

    return typed


@instruction(_make_fetch_add)
def fetch_add(array: NDArray[np.int64], index: int, amount: int) -> int:
    """Add to an int64 in one step that no other thread can divide; what was there before.

    >>> counter = np.zeros(1, np.int64)
    >>> fetch_add(counter, 0, 2), fetch_add(counter, 0, 2)
    (0, 2)
    """
    with _ATOMIC:
        before = int(array[index])
        array[index] += amount
    return before


def _make_load(ir: Any, types: Any, data: Any) -> Any:
    def typed(context: Any, array: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            address = builder.gep(data(context, builder, signature.args[0], args[0]), [args[1]])
            return builder.load_atomic(address, "acquire", 8)

        return types.int64(array, types.int64), generate

    return typed


@instruction(_make_load)
def load(array: NDArray[np.int64], index: int) -> int:
    """Read an int64 that another thread may be writing, and see all that it wrote before."""
    with _ATOMIC:
        return int(array[index])


def _make_store(ir: Any, types: Any, data: Any) -> Any:
    def typed(context: Any, array: Any, index: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            address = builder.gep(data(context, builder, signature.args[0], args[0]), [args[1]])
            builder.store_atomic(args[2], address, "seq_cst", 8)
            return context.get_dummy_value()

        return types.void(array, types.int64, types.int64), generate

    return typed


@instruction(_make_store)
def store(array: NDArray[np.int64], index: int, value: int) -> None:
    """Write an int64 that another thread may be reading."""
    with _ATOMIC:
        array[index] = value


def _make_pause(ir: Any, types: Any, data: Any) -> Any:
    import platform

    on_x86 = platform.machine().lower() in ("x86_64", "amd64", "i686", "x86")

    def typed(context: Any, spins: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            from numba.core import cgutils

            if on_x86:  # elsewhere spinning without the hint is merely warmer
                kind = ir.FunctionType(ir.VoidType(), [])
                builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.sse2.pause"), [])
            return context.get_dummy_value()

        return types.void(types.int64), generate

    return typed


@instruction(_make_pause)
def pause(spins: int) -> None:
    """Tell the processor that this thread is spinning; in Python, let others run."""
    if spins % 16 == 15:
        time.sleep(0)


def _make_give_way(ir: Any, types: Any, data: Any) -> Any:
    import os

    def typed(context: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            from numba.core import cgutils

            # Windows has the same call under another name; both take nothing and give an int.
            name = "sched_yield" if os.name == "posix" else "SwitchToThread"
            kind = ir.FunctionType(ir.IntType(32), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [])
            return context.get_dummy_value()

        return types.void(), generate

    return typed


@instruction(_make_give_way)
def give_way() -> None:
    """Let the system run another thread."""
    time.sleep(0)


def _make_trailing_zeros(ir: Any, types: Any, data: Any) -> Any:
    def typed(context: Any, bits: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            from numba.core import cgutils

            kind = ir.FunctionType(ir.IntType(64), [ir.IntType(64), ir.IntType(1)])
            function = cgutils.get_or_insert_function(builder.module, kind, "llvm.cttz.i64")
            return builder.call(function, [args[0], ir.IntType(1)(0)])

        # Signed bits give a signed number, so that index arithmetic stays in one of the two.
        whole = types.int64 if bits == types.int64 else types.uint64
        return whole(whole), generate

    return typed


@instruction(_make_trailing_zeros)
def trailing_zeros(bits: Any) -> Any:
    """How many zero bits stand below the lowest set one of 64; 64 if none is set. As signed as the bits.

    >>> trailing_zeros(0b1000)
    3
    """
    whole = int(bits)
    return type(bits)((whole & -whole).bit_length() - 1 if whole else 64)


def _make_eight_bytes(ir: Any, types: Any, data: Any) -> Any:
    def typed(context: Any, text: Any, at: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            address = builder.gep(data(context, builder, signature.args[0], args[0]), [args[1]])
            word = builder.bitcast(address, ir.IntType(64).as_pointer())
            return builder.load(word, align=1)

        return types.int64(text, types.int64), generate

    return typed


@instruction(_make_eight_bytes)
def eight_bytes(text: Any, at: int) -> int:
    """Eight bytes from ``at`` on as an int64, the first one lowest.

    >>> hex(eight_bytes(b"abcdefgh", 0))
    '0x6867666564636261'
    """
    return int.from_bytes(text[at : at + 8], "little", signed=True)


def _make_byte_at(ir: Any, types: Any, data: Any) -> Any:
    def typed(context: Any, text: Any, at: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            address = builder.gep(data(context, builder, signature.args[0], args[0]), [args[1]])
            return builder.zext(builder.load(address), ir.IntType(64))

        return types.int64(text, types.int64), generate

    return typed


@instruction(_make_byte_at)
def byte_at(text: Any, at: int) -> int:
    """One byte, without the look at whether ``at`` counts from the end, which costs a hot loop a tenth.

    >>> byte_at(b"abc", 1)
    98
    """
    return int(text[at])


def _make_rows(missing: bool) -> Callable[[Any, Any, Any], Any]:
    def make(ir: Any, types: Any, data: Any) -> Any:
        def typed(context: Any, tile: Any, at: Any, threshold: Any) -> Any:
            def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                # Four compares of 16: as one of 64, LLVM would join the masks in slower registers.
                i16, i64 = ir.IntType(16), ir.IntType(64)
                line = ir.VectorType(ir.FloatType(), 16)
                one = builder.insert_element(ir.Constant(line, ir.Undefined), args[2], ir.IntType(32)(0))
                picks = ir.Constant(ir.VectorType(ir.IntType(32), 16), [ir.IntType(32)(0)] * 16)
                threshold = builder.shuffle_vector(one, ir.Constant(line, ir.Undefined), picks)
                begin = data(context, builder, signature.args[0], args[0])
                rows = i64(0)
                for part in range(4):
                    address = builder.gep(begin, [builder.add(args[1], args[1].type(16 * part))])
                    values = builder.load(builder.bitcast(address, line.as_pointer()), align=4)
                    compare = builder.fcmp_unordered if missing else builder.fcmp_ordered
                    found = compare(">", values, threshold)
                    bits = builder.zext(builder.bitcast(found, i16), i64)
                    rows = builder.or_(rows, builder.shl(bits, i64(16 * part)))
                return rows

            return types.uint64(tile, at, threshold), generate

        return typed

    return make


@instruction(_make_rows(missing=False))
def rows_above(tile: NDArray[np.float32], at: int, threshold: float) -> np.uint64:
    """The places of the 64 numbers from ``at`` on that are above a threshold, as bits; none of NaN.

    >>> bin(rows_above(np.array([2.0, np.nan, 1.0, 3.0] + [0.0] * 60, np.float32), 0, 1.5))
    '0b1001'
    """
    return _bits(tile[int(at) : int(at) + 64] > threshold)


@instruction(_make_rows(missing=True))
def rows_not_below(tile: NDArray[np.float32], at: int, threshold: float) -> np.uint64:
    """The places of the 64 numbers from ``at`` on that are not ≤ a threshold, as bits; NaN is not.

    >>> bin(rows_not_below(np.array([2.0, np.nan, 1.0, 3.0] + [0.0] * 60, np.float32), 0, 1.5))
    '0b1011'
    """
    return _bits(~(tile[int(at) : int(at) + 64] <= threshold))


def _bits(found: NDArray[np.bool_]) -> np.uint64:
    return np.packbits(found, bitorder="little").view("<u8")[0].astype(np.uint64)


def _make_add_where(ir: Any, types: Any, data: Any) -> Any:
    def typed(context: Any, rows: Any, amount: Any, numbers: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            i16, i32 = ir.IntType(16), ir.IntType(32)
            line = ir.VectorType(i16, 64)
            undefined = ir.Constant(line, ir.Undefined)
            one = builder.insert_element(undefined, builder.trunc(args[1], i16), i32(0))
            picks = ir.Constant(ir.VectorType(i32, 64), [i32(0)] * 64)
            amount = builder.shuffle_vector(one, undefined, picks)
            begin = data(context, builder, signature.args[2], args[2])
            address = builder.bitcast(begin, line.as_pointer())
            before = builder.load(address, align=2)
            chosen = builder.bitcast(args[0], ir.VectorType(ir.IntType(1), 64))
            after = builder.select(chosen, builder.add(before, amount), before)
            builder.store(after, address, align=2)
            return context.get_dummy_value()

        return types.void(rows, amount, numbers), generate

    return typed


@instruction(_make_add_where)
def add_where(rows: int, amount: int, numbers: NDArray[np.uint16]) -> None:
    """Add to those of 64 numbers whose bit is set.

    >>> numbers = np.zeros(64, np.uint16)
    >>> add_where(0b101, 7, numbers)
    >>> numbers[:4]
    array([7, 0, 7, 0], dtype=uint16)
    """
    bits = np.unpackbits(np.array([int(rows)], "<u8").view(np.uint8), bitorder="little")
    numbers += bits * np.uint16(amount)
