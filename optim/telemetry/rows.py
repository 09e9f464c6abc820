"""Torch tensors joined into rows of one width: a dozen operations measure each row, and with that hundreds of tensors.

To start an operation on a GPU, or to make a view of a tensor, takes the processor about 10 µs; an operation for each of
a few hundred tensors takes as long as a step. What belongs to a tensor is added up here, once it has been fetched.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["Rows", "in_rows", "joined", "of_pieces", "wide_dtype"]

_WIDTH = 1 << 10
_TOGETHER = 1 << 24  # elements that are joined at a time, or fewer: they are copied


class Rows(NamedTuple):
    """Pieces of tensors of one dtype on one device, one after the other; each begins a row, and zeros fill its last.

    Attributes:
        elements: a tensor [rows, width].
        members: of each piece, the key of its tensor; never empty.
        sizes: their numbers of elements, none of them 0.
    """

    elements: Any
    members: list[int]
    sizes: list[int]

    def norms(self) -> Any:
        """The norm of each row, of sums in the wide dtype."""
        return _vector_norm(self.elements, 2, wide_dtype(self.elements))

    def counts(self) -> Any:
        """How many elements of each row are not 0."""
        return self._count(self.elements)

    def counts_of_nonfinite(self) -> Any:
        """How many elements of each row are NaN or infinite."""
        return self._count(self.elements - self.elements)

    def sums(self) -> Any:
        """The sum of each row, in the wide dtype."""
        return self.elements.sum(dim=1, dtype=wide_dtype(self.elements))

    def _count(self, elements: Any) -> Any:
        exact = elements.dtype if elements.element_size() > 2 else sys.modules["torch"].float32  # noqa: PLR2004 - bytes
        return _vector_norm(elements, 0, exact)


def in_rows(tensors: Mapping[int, Any]) -> Iterator[Rows]:
    """Join tensors of floating dtypes on one device: those of one dtype, and large ones in pieces of one each."""
    waiting: dict[Any, list[tuple[int, Any]]] = {}
    counts: dict[Any, int] = {}
    for key, tensor in tensors.items():
        size, dtype = tensor.numel(), tensor.dtype
        for piece in tensor.reshape(-1).split(_TOGETHER) if size > _TOGETHER else (tensor,) if size else ():
            counts[dtype] = counts.get(dtype, 0) + piece.numel()
            if counts[dtype] > _TOGETHER and waiting.get(dtype):
                yield _rows_of(waiting.pop(dtype))
                counts[dtype] = piece.numel()
            waiting.setdefault(dtype, []).append((key, piece))
    yield from map(_rows_of, waiting.values())


def _rows_of(pieces: Sequence[tuple[int, Any]]) -> Rows:
    tensors = [piece for _, piece in pieces]
    sizes = [piece.numel() for piece in tensors]
    return Rows(joined(tensors, sizes), [key for key, _ in pieces], sizes)


def of_pieces(values: NDArray[np.float64], sizes: Sequence[int]) -> NDArray[np.float64]:
    """float64[…, pieces]: sums over the rows of each piece, of float64[…, rows]; sizes are the pieces'."""
    starts = np.cumsum([0, *(-(-size // _WIDTH) for size in sizes[:-1])])
    return np.add.reduceat(values, starts, axis=-1)


def joined(tensors: Sequence[Any], sizes: Sequence[int]) -> Any:
    """[rows, width]: dense tensors of one dtype on one device, one after the other.

    They are copied; a single one of several dimensions may not be. Elements of those of one dimension may be spaced.
    """
    torch = sys.modules["torch"]
    parts: list[Any] = []
    zeros: dict[int, Any] = {}  # by their number
    for tensor, size in zip(tensors, sizes, strict=True):
        parts.append(tensor)
        if lacking := -size % _WIDTH:
            if lacking not in zeros:
                zeros[lacking] = tensor.new_zeros(lacking)
            parts.append(zeros[lacking])
    one_dimension = all(part.dim() == 1 for part in parts)  # the other way would copy those that are spaced one by one
    join = torch.cat if one_dimension else torch._utils._flatten_dense_tensors  # noqa: SLF001 - as torch's DDP does
    return join(parts).view(-1, _WIDTH)


def wide_dtype(tensor: Any) -> Any:
    """The dtype in which sums are made where the tensor is: float64, if it can be had there."""
    torch = sys.modules["torch"]
    return torch.float32 if tensor.device.type == "mps" else torch.float64


def _vector_norm(elements: Any, order: int, dtype: Any) -> Any:
    return sys.modules["torch"].linalg.vector_norm(elements, order, dim=1, dtype=dtype)
