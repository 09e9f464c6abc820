"""What numba lacks for generated kernels: vectors of elements, and memory by address.

A kernel names its vectors itself. So its sums stay in registers over a whole block, it fetches memory between the
arithmetic of the same loop, and compiling it takes half as long as letting LLVM find the vectors. Each operation is one
LLVM instruction, or a few, which are never reordered or contracted: so elements are computed exactly as NumPy computes
them. A vector has as many lanes on every processor, which the order of sums depends on; LLVM splits it as it must.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["apart", "int64_at", "intrinsics"]

_CACHE_LINE = 64  # bytes
_VECTORS_AHEAD = 4  # of an array: by then the processor looks ahead by itself


@cache
def intrinsics(dtype: str, lanes: int) -> dict[str, Any]:
    """The functions for kernels by name, with LANES, and AHEAD, how many elements ahead to fetch.

    real_at(address) is a pointer, as is data(array).
    item(p, i) reads one element; put(p, i, x) writes it. load(p, i) reads the vector that begins at element i;
    store(p, i, x) writes it. load_first(p, i, n) repeats element i from lane n on; store_first(p, i, n, x) writes n
    elements. fetch(p, i) prefetches, also beyond the array's end, and fetch_first(p) an array's first vectors.

    real(x) is a vector of equal elements; operations have the names of NumPy's ufuncs. more(x, y) is the larger, and y
    if they are equal or one is NaN; clamp(x, low, high) leaves NaN as it is; leading(x, n) is 0 from lane n on. wide(x)
    is a vector of float64s; wider(x) makes one, and wide_add and wide_multiply take two. count_nonzero(x, n) adds 1 to
    the elements of n where x is not 0, count_nonfinite(x, n) where it is not finite. total(x), wide_total(x) and
    largest(x) reduce a vector to a float64.

    Args:
        dtype: the elements' dtype, "float32" or "float64".
        lanes: the elements of a vector, a power of two.
    """
    kinds = _kinds(dtype, lanes)
    # A processor prefetches only a few arrays, and none beyond its page, so kernels do, far enough ahead to arrive in
    # time. Gradient descent takes a quarter less time this way.
    ahead = 2048 * 8 // kinds.item.bitwidth
    return {"LANES": lanes, "AHEAD": ahead, **_memory(kinds), **_operations(kinds), **_reductions(kinds)}


class _Vector(types.Type):  # type: ignore[misc]  # numba is untyped
    """The type of a vector for numba, which has LLVM's as `llvm`."""

    def __init__(self, name: str, element: Any, lanes: int) -> None:
        self.llvm = ir.VectorType(element, lanes)
        super().__init__(f"{name} x {lanes}")


@register_model(_Vector)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, kind.llvm)


class _Kinds(NamedTuple):
    """The types of vectors, and of an element."""

    lanes: int
    item: Any
    real: Any  # elements
    wide: Any  # as many float64s
    mask: Any  # booleans


def _kinds(dtype: str, lanes: int) -> _Kinds:
    item = getattr(types, dtype)
    real = _Vector(dtype, ir.FloatType() if dtype == "float32" else ir.DoubleType(), lanes)
    wide = _Vector("wide", ir.DoubleType(), lanes)
    return _Kinds(lanes, item, real, wide, _Vector("bool", ir.IntType(1), lanes))


def _made(result: Any, arguments: Sequence[Any], build: Callable[..., Any]) -> Any:
    """An intrinsic of these types: build(builder, *values) emits its instructions."""

    def typed() -> tuple[Any, Any]:
        return result(*arguments), lambda _context, builder, _signature, values: build(builder, *values)

    of_number = (
        lambda _context: typed(),
        lambda _context, _a: typed(),
        lambda _context, _a, _b: typed(),
        lambda _context, _a, _b, _c: typed(),
        lambda _context, _a, _b, _c, _d: typed(),
    )
    return intrinsic(of_number[len(arguments)])  # numba counts its arguments


def _int64_at(builder: Any, address: Any) -> Any:
    return builder.load(builder.inttoptr(address, address.type.as_pointer()))


int64_at: Any = _made(types.int64, [types.int64], _int64_at)
"""The integer at an address."""


def _apart(builder: Any) -> None:
    builder.function.attributes.add("noinline")


apart: Any = _made(types.void, [], _apart)
"""A function that calls this is there once, and not repeated in each that calls it."""


def _memory(kinds: _Kinds) -> dict[str, Any]:

    vector, size = kinds.real.llvm, kinds.item.bitwidth // 8
    pointer = types.CPointer(kinds.item)
    spot = [pointer, types.int64]

    def place(builder: Any, p: Any, i: Any) -> Any:
        return builder.bitcast(builder.gep(p, [i]), vector.as_pointer())

    def load(builder: Any, p: Any, i: Any) -> Any:
        return builder.load(place(builder, p, i), align=size)

    def store(builder: Any, p: Any, i: Any, x: Any) -> None:
        builder.store(x, place(builder, p, i), align=size)

    def masked(builder: Any, name: str, kind: Any, n: Any, *values: Any) -> Any:
        """https://llvm.org/docs/LangRef.html#masked-vector-load-and-store-intrinsics."""
        place = values[-1]
        called = f"llvm.masked.{name}.v{vector.count}f{8 * size}.p0"
        mask = _first(builder, n, vector.count)
        option = ir.IntType(32)(size)
        given = [place, option, mask, values[0]] if name == "load" else [values[0], place, option, mask]
        types_ = [value.type for value in given]
        return builder.call(
            cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind, types_), called), given
        )

    def load_first(builder: Any, p: Any, i: Any, n: Any) -> Any:
        first = _equal(builder, builder.load(builder.gep(p, [i])), vector)
        return masked(builder, "load", vector, n, first, place(builder, p, i))

    def store_first(builder: Any, p: Any, i: Any, n: Any, x: Any) -> None:
        masked(builder, "store", ir.VoidType(), n, x, place(builder, p, i))

    def fetch(builder: Any, p: Any, i: Any, vectors: int = 1) -> None:
        """https://llvm.org/docs/LangRef.html#llvm-prefetch-intrinsic."""
        byte, option = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, option, option, option])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        start = builder.bitcast(builder.gep(p, [i]), byte)
        read_soon_data = [option(number) for number in (0, 3, 1)]  # 3: into the first-level cache
        for offset in range(0, vectors * kinds.lanes * size, _CACHE_LINE):
            builder.call(prefetch, [builder.gep(start, [option(offset)]), *read_soon_data])

    def fetch_first(builder: Any, p: Any) -> None:
        fetch(builder, p, ir.IntType(64)(0), _VECTORS_AHEAD)

    return {
        "real_at": _made(pointer, [types.int64], lambda builder, n: builder.inttoptr(n, vector.element.as_pointer())),
        **_of_any_type(kinds),
        "load": _made(kinds.real, spot, load),
        "store": _made(types.void, [*spot, kinds.real], store),
        "load_first": _made(kinds.real, [*spot, types.int64], load_first),
        "store_first": _made(types.void, [*spot, types.int64, kinds.real], store_first),
        "fetch": _made(types.void, spot, fetch),
        "fetch_first": _made(types.void, [pointer], fetch_first),
    }


def _of_any_type(kinds: _Kinds) -> dict[str, Any]:
    """Memory of elements of any type."""

    @intrinsic
    def data(context: Any, array: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return context.make_array(signature.args[0])(context, builder, values[0]).data

        return types.CPointer(array.dtype)(array), generate

    @intrinsic
    def item(context: Any, p: Any, i: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return builder.load(builder.gep(values[0], [values[1]]))

        return p.dtype(p, types.int64), generate

    @intrinsic
    def put(context: Any, p: Any, i: Any, x: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> None:
            builder.store(values[2], builder.gep(values[0], [values[1]]))

        return types.void(p, types.int64, p.dtype), generate

    return {"data": data, "item": item, "put": put}


def _operations(kinds: _Kinds) -> dict[str, Any]:

    real, mask = kinds.real, kinds.mask
    emit = ir.IRBuilder

    def of_llvm(name: str, arguments: int) -> Any:
        return _made(real, [real] * arguments, lambda builder, *values: _llvm(builder, name, values))

    def sign(builder: Any, x: Any) -> Any:
        result = x  # NaN stays NaN
        for relation, number in (("==", 0.0), ("<", -1.0), (">", 1.0)):
            holds = builder.fcmp_ordered(relation, x, _constant(real, 0.0))
            result = builder.select(holds, _constant(real, number), result)
        return result

    def more(builder: Any, x: Any, y: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", x, y), x, y)

    def clamp(builder: Any, x: Any, low: Any, high: Any) -> Any:
        above = more(builder, low, x)
        return builder.select(builder.fcmp_ordered("<", high, above), high, above)

    binary = {"add": emit.fadd, "subtract": emit.fsub, "multiply": emit.fmul, "divide": emit.fdiv, "more": more}
    unary = {"negative": emit.fneg, "sign": sign}
    functions = {"sqrt": "sqrt", "absolute": "fabs", "exp": "exp", "log": "log"}
    compared = {"less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "=="}
    return {
        "real": _made(real, [types.float64], lambda builder, x: _equal(builder, x, real.llvm)),
        **{name: _made(real, [real, real], build) for name, build in binary.items()},
        **{name: _made(real, [real], build) for name, build in unary.items()},
        **{name: of_llvm(called, 1) for name, called in functions.items()},
        **{name: _made(mask, [real, real], _comparison(relation)) for name, relation in compared.items()},
        "not_equal": _made(mask, [real, real], lambda builder, x, y: builder.fcmp_unordered("!=", x, y)),
        "where": _made(real, [mask, real, real], emit.select),
        "power": of_llvm("pow", 2),
        "clamp": _made(real, [real, real, real], clamp),
    }


def _comparison(relation: str) -> Callable[..., Any]:
    return lambda builder, x, y: builder.fcmp_ordered(relation, x, y)


def _reductions(kinds: _Kinds) -> dict[str, Any]:

    real, wide, double = kinds.real, kinds.wide, ir.DoubleType()

    def halved(builder: Any, x: Any, combine: Callable[..., Any]) -> Any:
        lanes = kinds.lanes
        while lanes > 1:
            lanes //= 2
            x = combine(_taken(builder, x, range(lanes)), _taken(builder, x, range(lanes, 2 * lanes)))
        return builder.extract_element(x, ir.Constant(ir.IntType(32), 0))

    def wider(builder: Any, x: Any) -> Any:
        return x if x.type == wide.llvm else builder.fpext(x, wide.llvm)

    def total(builder: Any, x: Any) -> Any:
        return halved(builder, wider(builder, x), builder.fadd)

    def largest(builder: Any, x: Any) -> Any:
        def larger(x: Any, y: Any) -> Any:
            return builder.select(builder.fcmp_ordered(">", x, y), x, y)

        found = halved(builder, x, larger)
        found = found if real.llvm == wide.llvm else builder.fpext(found, double)
        return builder.fadd(found, double(0.0))  # of two zeros, which are equal, either may be found

    def count_nonzero(builder: Any, x: Any, n: Any) -> Any:
        is_nonzero = builder.fcmp_unordered("!=", x, _constant(real, 0.0))  # as NaN is
        return builder.select(is_nonzero, builder.fadd(n, _constant(real, 1.0)), n)

    def count_nonfinite(builder: Any, x: Any, n: Any) -> Any:
        return count_nonzero(builder, builder.fsub(x, x), n)

    def leading(builder: Any, x: Any, n: Any) -> Any:
        return builder.select(_first(builder, n, kinds.lanes), x, _constant(real, 0.0))

    return {
        "wide": _made(wide, [types.float64], lambda builder, x: _equal(builder, x, wide.llvm)),
        "wider": _made(wide, [real], wider),
        "wide_add": _made(wide, [wide, wide], ir.IRBuilder.fadd),
        "wide_multiply": _made(wide, [wide, wide], ir.IRBuilder.fmul),
        "total": _made(types.float64, [real], total),
        "wide_total": _made(types.float64, [wide], total),
        "largest": _made(types.float64, [real], largest),
        "count_nonzero": _made(real, [real, real], count_nonzero),
        "count_nonfinite": _made(real, [real, real], count_nonfinite),
        "leading": _made(real, [real, types.int64], leading),
    }


def _equal(builder: Any, x: Any, vector: Any) -> Any:
    """A vector of equal elements."""
    if isinstance(vector.element, ir.FloatType):
        x = builder.fptrunc(x, vector.element)
    none = ir.Constant(vector, ir.Undefined)
    return _taken(builder, builder.insert_element(none, x, ir.IntType(32)(0)), [0] * vector.count)


def _first(builder: Any, n: Any, lanes: int) -> Any:
    """Booleans: which lanes are the first n."""
    numbers = ir.VectorType(ir.IntType(64), lanes)
    return builder.icmp_signed("<", numbers(list(range(lanes))), _equal(builder, n, numbers))


def _constant(kind: Any, number: float) -> Any:
    return kind.llvm([number] * kind.llvm.count)


def _taken(builder: Any, x: Any, lanes: Sequence[int]) -> Any:
    """The vector of these elements of x."""
    return builder.shuffle_vector(x, x, ir.VectorType(ir.IntType(32), len(lanes))(list(lanes)))


def _llvm(builder: Any, name: str, values: Sequence[Any]) -> Any:
    """https://llvm.org/docs/LangRef.html#standard-c-c-library-intrinsics."""
    vector = values[0].type
    bits = 32 if vector.element == ir.FloatType() else 64
    kind = ir.FunctionType(vector, [vector] * len(values))
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{vector.count}f{bits}")
    return builder.call(function, values)
