"""Operations for kernels that numba lacks: reading, writing and prefetching at an address, and a float's bits.

Each read and write names its array in LLVM's alias metadata. So the compiler knows that the arrays of a step do not
overlap, and need not check before each vectorized loop; with more than four arrays it would give up vectorizing.
"""

from __future__ import annotations

from functools import cache
from typing import Any

__all__ = ["intrinsics"]


@cache
def intrinsics() -> tuple[Any, ...]:
    """(float32_at, float64_at, int64_at, load, store, fetch, bits, from_bits); numba is only imported here.

    float32_at(address) and the other two return pointers. load(pointer, i, k, n) reads element i of array k of n;
    store(pointer, i, x, k, n) writes it; k and n are literals. fetch(pointer, i) prefetches the cache line of element
    i, which may be beyond the array's end. bits(x) is an integer of the float's size, and from_bits is the inverse.
    """
    from numba.core import types  # noqa: PLC0415 - numba is optional, and slow to import
    from numba.extending import intrinsic  # noqa: PLC0415

    return (
        _pointer(intrinsic, types, types.float32),
        _pointer(intrinsic, types, types.float64),
        _pointer(intrinsic, types, types.int64),
        *_accesses(intrinsic, types),
        _fetch(intrinsic, types),
        *_bit_casts(intrinsic, types),
    )


def _pointer(intrinsic: Any, types: Any, item: Any) -> Any:
    @intrinsic
    def at(context: Any, address: Any) -> Any:
        def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], target.get_value_type(signature.return_type))

        return types.CPointer(item)(types.int64), generate

    return at


def _accesses(intrinsic: Any, types: Any) -> tuple[Any, Any]:
    @intrinsic(prefer_literal=True)
    def load(context: Any, pointer: Any, i: Any, k: Any, n: Any) -> Any:
        def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            access = builder.load(builder.gep(arguments[0], [arguments[1]], inbounds=True))
            _tell_arrays_apart(builder.module, access, k.literal_value, n.literal_value)
            return access

        return pointer.dtype(pointer, types.int64, k, n), generate

    @intrinsic(prefer_literal=True)
    def store(context: Any, pointer: Any, i: Any, x: Any, k: Any, n: Any) -> Any:
        def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> None:
            access = builder.store(arguments[2], builder.gep(arguments[0], [arguments[1]], inbounds=True))
            _tell_arrays_apart(builder.module, access, k.literal_value, n.literal_value)

        return types.void(pointer, types.int64, pointer.dtype, k, n), generate

    return load, store


def _fetch(intrinsic: Any, types: Any) -> Any:
    """https://llvm.org/docs/LangRef.html#llvm-prefetch-intrinsic."""
    from llvmlite import ir  # noqa: PLC0415 - comes with numba

    byte, option = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [byte, option, option, option])
    read_soon_data = [ir.Constant(option, number) for number in (0, 2, 1)]  # 2: into the second-level cache

    @intrinsic
    def fetch(context: Any, pointer: Any, i: Any) -> Any:
        def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> None:
            prefetch = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
            builder.call(prefetch, [builder.bitcast(builder.gep(arguments[0], [arguments[1]]), byte), *read_soon_data])

        return types.void(pointer, types.int64), generate

    return fetch


def _tell_arrays_apart(module: Any, access: Any, k: int, n: int) -> None:
    """https://llvm.org/docs/LangRef.html#noalias-and-alias-scope-metadata."""
    domain = module.add_metadata(["a step's arrays"])
    scopes = [module.add_metadata([f"array {i} of {n}", domain]) for i in range(n)]
    access.set_metadata("alias.scope", module.add_metadata([scopes[k]]))
    access.set_metadata("noalias", module.add_metadata([scope for i, scope in enumerate(scopes) if i != k]))


def _bit_casts(intrinsic: Any, types: Any) -> tuple[Any, Any]:
    pairs = {types.float32: types.int32, types.float64: types.int64}
    back = {integer: item for item, integer in pairs.items()}

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], target.get_value_type(signature.return_type))

    @intrinsic
    def bits(context: Any, x: Any) -> Any:
        return pairs[x](x), generate

    @intrinsic
    def from_bits(context: Any, x: Any) -> Any:
        return back[x](x), generate

    return bits, from_bits
