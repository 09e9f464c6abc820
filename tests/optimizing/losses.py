"""Losses in plain NumPy, by name: autodiff must get them right, checked by finite differences.

A loss is a function of a matrix A [3, 4], a square S [4, 4], a vector v [4], a scalar c and a positive P [3, 4].
"""

import numpy as np

CONSTANT = np.random.default_rng(1).standard_normal((3, 4))
MASK = CONSTANT > 0
PICTURES = np.random.default_rng(3).standard_normal((6, 5, 3, 4))
ROWS = np.array([2, 0, 2])
EYE = np.eye(4)
WEIGHTS = np.random.default_rng(4).standard_normal(600)
LOW, HIGH = ("min", "max") if np.lib.NumpyVersion(np.__version__) >= "2.1.0" else ("a_min", "a_max")


def inputs(dtype=np.float64):
    rng = np.random.default_rng(0)
    shapes = {"A": (3, 4), "S": (4, 4), "v": (4,), "c": ()}
    values = {name: rng.standard_normal(shape).astype(dtype) for name, shape in shapes.items()}
    return values | {"P": rng.uniform(0.3, 2.0, (3, 4)).astype(dtype)}


def mixed(*results):
    """A number in which every element of the results has its own weight."""
    total = 0.0
    for result in results:
        flat = np.ravel(result)
        total = total + np.sum(flat * WEIGHTS[: np.size(result)])
    return total


def softmax(scores):
    exponentials = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    return exponentials / np.sum(exponentials, axis=-1, keepdims=True)


def recurrent(A, S, v, c, P):
    """A small version of the example's network: three pixels per step, and a readout."""
    state = np.zeros((5, 4))
    for pixels in PICTURES[..., 0]:
        state = np.tanh(pixels @ A + state @ S + v)
    scores = state @ P.T + c
    scores = scores - np.max(scores, axis=1, keepdims=True)
    total = np.log(np.sum(np.exp(scores), axis=1))
    return np.mean(total - scores[np.arange(5), [0, 1, 2, 1, 0]])


def attention(A, S, v, c, P):
    queries, keys, values = A @ S, P @ S.T, A + P
    return np.sum((softmax(queries @ keys.T / 2.0) @ values) ** 2)


def long_short_term_memory(A, S, v, c, P):
    hidden, cell = np.zeros(4), np.zeros(4)
    for x in CONSTANT:
        gate = 1 / (1 + np.exp(-(x * v + hidden @ S)))
        cell = gate * cell + (1 - gate) * np.tanh(x + c)
        hidden = gate * np.tanh(cell)
    return np.sum(hidden)


def convolution(A, S, v, c, P):
    images = PICTURES[..., 0]
    patches = np.lib.stride_tricks.sliding_window_view(images, (2, 2), axis=(1, 2))
    return np.sum(np.maximum(np.einsum("bijkl,kl->bij", patches, S[:2, :2]), 0.1 * c))


def batch_norm(A, S, v, c, P):
    mean, variance = np.mean(A, axis=0), np.var(A, axis=0)
    return mixed(v * (A - mean) / np.sqrt(variance + 1e-3) + c)


def in_place(A, S, v, c, P):
    hidden = A @ S
    also = hidden
    hidden += v
    hidden *= 2.0
    return np.sum(also**2)


def collect(A, S, v, c, P):
    total = 0.0
    for row, weight in zip(A, v, strict=False):
        total += weight * np.sum(row**2) if np.sum(row) > 0 else weight * np.abs(row).sum()
    return total


LOSSES = {
    "recurrent network": recurrent,
    "attention": attention,
    "long short-term memory": long_short_term_memory,
    "convolution": convolution,
    "batch norm": batch_norm,
    "in place": in_place,
    "Python loop and branch": collect,
    "mean square": lambda A, S, v, c, P: np.mean((A @ v - 1.0) ** 2),
    "cross-entropy": lambda A, S, v, c, P: -np.mean(np.log(softmax(A @ S)[np.arange(3), ROWS])),
    "logistic": lambda A, S, v, c, P: np.mean(np.logaddexp(0, -(A @ v + c) * np.array([1, -1, 1]))),
    "Huber": lambda A, S, v, c, P: np.sum(np.where(np.abs(A) < 0.5, 0.5 * A**2, 0.5 * np.abs(A) - 0.125)),
    "hinge": lambda A, S, v, c, P: np.sum(np.maximum(0, 1 - A @ v)),
    "Gaussian": lambda A, S, v, c, P: np.linalg.slogdet(S @ S.T + EYE)[1] + v @ np.linalg.inv(S @ S.T + EYE) @ v,
    "Gaussian by Cholesky": lambda A, S, v, c, P: (
        np.sum(np.log(np.diag(np.linalg.cholesky(S @ S.T + EYE))))
        + np.sum(np.linalg.solve(np.linalg.cholesky(S @ S.T + EYE), v) ** 2)
    ),
    "Kullback-Leibler": lambda A, S, v, c, P: np.sum(softmax(A) * np.log(softmax(A) / softmax(P))),
    "cosine": lambda A, S, v, c, P: v @ A[0] / (np.linalg.norm(v) * np.linalg.norm(A[0])),
    "matrix factors": lambda A, S, v, c, P: np.sum((CONSTANT[:, :3] - A @ P.T) ** 2),
    "embedding": lambda A, S, v, c, P: mixed(A[ROWS], np.take(A, [0, 0, 1], axis=0), np.take(S, ROWS, axis=1)),
    "embedding of sentences": lambda A, S, v, c, P: mixed(np.mean(A[np.array([[0, 1], [2, 2]])], axis=1) @ S),
    "pairwise distances": lambda A, S, v, c, P: np.sum(np.sqrt(np.sum((A[:, None] - P[None] + 1) ** 2, -1))),
    "polynomial": lambda A, S, v, c, P: np.polynomial.polynomial.polyval(0.5, v) if False else np.sum(c**3 + v**4),
}

# Every function separately; the name says what is called.
FUNCTIONS = {
    "operators": lambda A, S, v, c, P: mixed((A + 2) * 3 - v / P, 1 - A, 2 / P, -A, +A, abs(A), A**2, 2**A, P**A),
    "power": lambda A, S, v, c, P: mixed(np.power(P, 2.5), np.power(P, A), P**-1, P**0.5, np.float_power(P, c)),
    "mod": lambda A, S, v, c, P: mixed(A % 0.7, np.remainder(P, 0.4), np.mod(3.0, P)),
    "matmul of vectors": lambda A, S, v, c, P: mixed(v @ v, A @ v, v @ S, S @ v),
    "matmul of batches": lambda A, S, v, c, P: mixed(PICTURES @ S, PICTURES @ v, A @ PICTURES[0].swapaxes(1, 2)),
    "matmul broadcast": lambda A, S, v, c, P: mixed(np.matmul(A[None], S[None, :]), v @ PICTURES[0].swapaxes(1, 2)),
    "dot": lambda A, S, v, c, P: mixed(
        np.dot(A, S), np.dot(A, v), np.dot(v, v), np.dot(c, A), np.dot(A, PICTURES[0].swapaxes(1, 2)), A.dot(S)
    ),
    "inner outer": lambda A, S, v, c, P: mixed(np.inner(A, P), np.inner(v, v), np.outer(v, A), np.outer(v[:2], v)),
    "tensordot": lambda A, S, v, c, P: mixed(
        np.tensordot(A, P), np.tensordot(A, S, 1), np.tensordot(A, P, axes=([0], [0])), np.tensordot(A, v, (1, 0)),
        np.tensordot(v, v, 0), np.tensordot(PICTURES, A, axes=[(2, 3), (0, 1)]), np.tensordot(A, P, ((-1,), (-1,))),
    ),
    "einsum": lambda A, S, v, c, P: mixed(
        np.einsum("ij,jk->ik", A, S), np.einsum("ij,ij", A, P), np.einsum("ij->j", A), np.einsum("...j,j", A, v),
        np.einsum("i,j->ij", v, v), np.einsum("ij,kj,k->i", A, P, A[:, 0]), np.einsum(A, [0, 1], S, [1, 2], [0, 2]),
        np.einsum("ij,jk", A, S, optimize=True), np.einsum("ii", S), np.einsum("iij,ji->i", S[:, :, None] * v, S),
    ),
    "kron vdot cross": lambda A, S, v, c, P: mixed(np.kron(A, v), np.vdot(A, P), np.cross(A[:, :3], P[:, :3])),
    "exponentials": lambda A, S, v, c, P: mixed(np.exp(A), np.exp2(A), np.expm1(A), np.log(P), np.log2(P)),
    "logarithms": lambda A, S, v, c, P: mixed(np.log10(P), np.log1p(P), np.logaddexp(A, P), np.logaddexp2(A, v)),
    "trigonometry": lambda A, S, v, c, P: mixed(np.sin(A), np.cos(A), np.tan(A), np.arctan(A), np.arctan2(A, P)),
    "inverse trigonometry": lambda A, S, v, c, P: mixed(np.arcsin(P / 3), np.arccos(P / 3), np.arctanh(P / 3)),
    "hyperbolic": lambda A, S, v, c, P: mixed(np.sinh(A), np.cosh(A), np.tanh(A), np.arcsinh(A), np.arccosh(P + 1)),
    "roots": lambda A, S, v, c, P: mixed(np.sqrt(P), np.cbrt(P), np.square(A), np.reciprocal(P), np.hypot(A, P)),
    "degrees": lambda A, S, v, c, P: mixed(np.deg2rad(A), np.rad2deg(A), np.degrees(A), np.radians(A), np.sinc(A)),
    "absolute": lambda A, S, v, c, P: mixed(np.abs(A), np.fabs(A), np.copysign(A, CONSTANT), np.absolute(c)),
    "extremes": lambda A, S, v, c, P: mixed(
        np.maximum(A, P), np.minimum(A, v), np.fmax(A, 0.1), np.fmin(c, A), np.maximum(A, c)
    ),
    "clip": lambda A, S, v, c, P: mixed(
        np.clip(A, -0.5, 0.5), np.clip(A, None, v), A.clip(-P, P), np.clip(A, a_min=0.1, a_max=None), np.clip(c, -9, 9)
    ),
    "where": lambda A, S, v, c, P: mixed(
        np.where(MASK, A, 0), np.where(A > P, A, c), np.where(MASK, v, P), np.where(MASK, 1.0, c)
    ),
    "select": lambda A, S, v, c, P: mixed(
        np.select([A > 1, A > 0], [A, A * P], 0.5), np.choose([0, 1, 1, 0], [v, v**2]), np.nan_to_num(A)
    ),
    "sum": lambda A, S, v, c, P: mixed(
        np.sum(A), A.sum(0), np.sum(A, axis=-1), np.sum(A, (0, 1)), np.sum(A, axis=1, keepdims=True),
        np.sum(A, where=MASK), np.sum(A, axis=0, where=MASK), np.sum(A, initial=5.0), A.sum(1, None, None, True),
        np.sum(PICTURES * v, axis=(0, -1)), np.sum(A, axis=()), np.sum(c),
    ),
    "mean": lambda A, S, v, c, P: mixed(
        np.mean(A), A.mean(0), np.mean(A, -1, keepdims=True), np.mean(A, (0, 1)), np.mean(A, where=MASK),
        np.mean(A, axis=1, where=MASK), np.mean(A, 0, np.float64),
    ),
    "var std": lambda A, S, v, c, P: mixed(
        np.var(A), A.var(0), np.var(A, 1, ddof=1), np.var(A, axis=(0, 1), keepdims=True), np.std(A),
        A.std(0, ddof=1), np.std(A, axis=-1, keepdims=True), np.var(A, where=MASK), np.var(A, 0, correction=1),
        np.std(A, axis=1, where=MASK),
    ),
    "prod": lambda A, S, v, c, P: mixed(
        np.prod(A), np.prod(A, 0), A.prod(axis=-1, keepdims=True), np.prod(A * MASK, axis=1),
        np.prod(A, where=MASK), np.prod(A, initial=2.0),
    ),
    "max min": lambda A, S, v, c, P: mixed(
        np.max(A), A.max(0), np.min(A, axis=1, keepdims=True), np.amax(A, axis=(0, 1)), np.min(A, 1),
        A.max(1, None, True), np.max(A, initial=0.1), np.max(A, axis=0, initial=-9, where=MASK), np.ptp(A, axis=1),
    ),
    "average": lambda A, S, v, c, P: mixed(
        np.average(A), np.average(A, axis=1, weights=P), np.average(A, 1, v**2), np.average(A, weights=P)
    ),
    "cumsum": lambda A, S, v, c, P: mixed(np.cumsum(A), A.cumsum(0), np.cumsum(A, axis=-1), np.cumsum(v)),
    "differences": lambda A, S, v, c, P: mixed(
        np.diff(A), np.diff(A, n=2), np.diff(A, axis=0), np.trapezoid(A), np.trapezoid(A, dx=0.5, axis=0),
        np.gradient(A, axis=1), np.trapezoid(v, np.arange(4.0) ** 2),
    ),
    "ufunc methods": lambda A, S, v, c, P: mixed(
        np.add.reduce(A), np.multiply.reduce(A, axis=1), np.maximum.reduce(A), np.minimum.reduce(A, axis=1),
        np.add.accumulate(A), np.multiply.outer(v, A), np.subtract.outer(v, v), np.add.reduce(A, axis=(0, 1)),
    ),
    "formulas": lambda A, S, v, c, P: mixed(
        np.median(v), np.median(A, axis=1), np.median(A, 0, keepdims=True), np.convolve(v, A[0]),
        np.convolve(v, [1.0, 2.0], "valid"), np.convolve(A[0], v[:3], mode="same"), np.polyval(v, c), np.polyval(v, A),
        *divmod(A, 0.7), np.block([[A, P], [P, A]]), np.block([[A], [v]]), np.clip(A, **{LOW: -c * c, HIGH: c * c + 1}),
    ),
    "nan": lambda A, S, v, c, P: mixed(
        np.nansum(np.where(MASK, A, np.nan), axis=0), np.nanmean(np.where(MASK, A, np.nan), axis=1)
    ),
    "indexing": lambda A, S, v, c, P: mixed(
        A[0], A[-1, 2], A[:, 1], A[1:, ::-1], A[..., None], A[None, 0, 1:3], A[0][1], v[::2], A[:, [0, 0, 2]],
    ),
    "fancy indexing": lambda A, S, v, c, P: mixed(
        A[MASK], A[ROWS], A[ROWS, ROWS], A[ROWS][:, ROWS], A[np.ix_([0, 2], [1, 1])], v[[3, 3, 3]],
        A[[True, False, True]],
        A[:, v > 0], A[np.newaxis, ROWS, 1:], np.compress([True, False, True], A, axis=0), np.extract(MASK, A),
        np.take_along_axis(A, np.argsort(A, 1), 1), np.take(A, [1, 1]), np.take(A, [0, 3], 1), A.take(2, axis=1),
    ),
    "joining": lambda A, S, v, c, P: mixed(
        np.concatenate([A, P]), np.concatenate((A, CONSTANT, P), axis=1), np.concatenate([A, v], axis=None),
        np.stack([A, P]), np.stack([v, v**2, np.ones(4)], axis=1), np.vstack([A, v]), np.hstack([v, v]),
        np.hstack([A, P]), np.dstack([A, P]), np.column_stack([v, v**2]), np.append(A, P), np.append(A, P, axis=0),
        np.block([A, P]), np.stack((c, 2 * c)),
    ),
    "splitting": lambda A, S, v, c, P: mixed(
        *np.split(A, 2, axis=1), *np.array_split(v, 3), np.hsplit(A, 2)[1], np.vsplit(S, 2)[0], *np.split(v, [1, 3])
    ),
    "shapes": lambda A, S, v, c, P: mixed(
        A.reshape(4, 3), np.reshape(A, (2, -1)), A.reshape((12,), order="F"), np.ravel(A), A.ravel(order="F"),
        A.flatten(), A.T, np.transpose(A, (1, 0)), np.expand_dims(A, (0, 2)), np.squeeze(A[None, :, None]),
        PICTURES @ np.transpose(P), P.transpose((1, 0)), PICTURES.transpose(1, 0, 3, 2) @ P[:, :2],
        A.transpose(), np.swapaxes(A, 0, -1), S.mT,
        np.moveaxis(A[None], 0, -1), np.rollaxis(A[None], 2), np.atleast_1d(c), np.atleast_2d(v), np.atleast_3d(A),
        np.squeeze(A[None], axis=0),
    ),
    "repeating": lambda A, S, v, c, P: mixed(
        np.tile(A, 2), np.tile(v, (2, 3)), np.repeat(A, 2), np.repeat(A, 3, axis=-1), np.repeat(v, [1, 0, 2, 3]),
        np.broadcast_to(v, (3, 4)), np.broadcast_to(c, (2, 2)), np.resize(v, (3, 3)), *np.broadcast_arrays(A, v),
    ),
    "turning": lambda A, S, v, c, P: mixed(
        np.roll(A, 1), np.roll(A, (1, -1), axis=(0, 1)), np.flip(A), np.flip(A, 1), np.fliplr(A), np.flipud(A),
        np.rot90(A), np.rot90(A, -1),
    ),
    "triangles": lambda A, S, v, c, P: mixed(
        np.diag(v), np.diag(S), np.diag(S, 1), np.diagonal(A), np.triu(A), np.tril(S, -1), np.trace(S),
        np.trace(A, offset=1), np.diagflat(v), np.diagonal(PICTURES * c, 1, 2, 3),
    ),
    "padding": lambda A, S, v, c, P: mixed(
        np.pad(A, 1), np.pad(A, ((1, 0), (0, 2)), constant_values=3.0), np.pad(v, 2, mode="edge"),
        np.pad(v, 2, mode="reflect"), np.pad(A, 1, "wrap"), np.delete(A, 1, axis=0), np.insert(v, 1, 5.0),
    ),
    "sorting": lambda A, S, v, c, P: mixed(np.sort(v), np.sort(A), np.sort(A, axis=0), np.sort(A, axis=None)),
    "norms": lambda A, S, v, c, P: mixed(
        np.linalg.norm(A), np.linalg.norm(v), np.linalg.norm(A, axis=1), np.linalg.norm(A, axis=0, keepdims=True),
        np.linalg.norm(v, 1), np.linalg.norm(v, np.inf), np.linalg.norm(v, 3), np.linalg.norm(A, "fro"),
        np.linalg.norm(A, "nuc"), np.linalg.norm(A, 2), np.linalg.norm(A, 1), np.linalg.norm(A, np.inf),
        np.linalg.norm(PICTURES * v, axis=(1, 3)), np.linalg.norm(A, axis=(0, 1), keepdims=True),
        np.linalg.norm(A, 1, axis=-1), np.linalg.vector_norm(A, axis=1), np.linalg.matrix_norm(A),
        np.linalg.norm(PICTURES[..., :3] * c, "nuc", axis=(2, 3)),
    ),
    "linear algebra": lambda A, S, v, c, P: mixed(
        np.linalg.inv(S), np.linalg.det(S), np.linalg.slogdet(S)[1], np.linalg.solve(S, v), np.linalg.solve(S, A.T),
        np.linalg.solve(S @ S.T + EYE, np.ones(4)), np.linalg.pinv(A), np.linalg.matrix_power(S, 3),
        np.linalg.multi_dot([A, S, v]), np.linalg.matrix_power(S, -2),
    ),
    "batched linear algebra": lambda A, S, v, c, P: mixed(
        np.linalg.inv(S * np.ones((2, 1, 1))), np.linalg.det(np.stack([S, S.T])),
        np.linalg.solve(np.stack([S, S.T]), np.stack([A.T, P.T])), np.linalg.slogdet(np.stack([S, S.T]))[1],
        np.linalg.solve(np.stack([S, S.T]), A.T),
    ),
    "decompositions": lambda A, S, v, c, P: mixed(
        np.linalg.cholesky(S @ S.T + EYE), np.linalg.eigvalsh(S + S.T), np.linalg.eigh(S + S.T)[0],
        np.linalg.eigh(S + S.T).eigenvectors ** 2, np.linalg.svd(A)[1], np.linalg.svd(A, compute_uv=False),
        np.abs(np.linalg.svd(A, full_matrices=False)[0]), np.linalg.svd(S)[2] ** 2, np.linalg.svdvals(A),
    ),
    "complex": lambda A, S, v, c, P: mixed(
        np.abs(np.fft.fft(v)) ** 2, np.real(np.fft.ifft(np.fft.fft(A) * v)), np.real(np.exp(1j * A)), np.abs(A + 1j * P)
    ),
    "ufuncs with dtype": lambda A, S, v, c, P: mixed(np.add(A, v, dtype=np.float64), A.astype(np.float64), +A),
    "views and copies": lambda A, S, v, c, P: mixed(np.copy(A), A.copy(), A.real, np.real(A), np.array_split(A, 2)[0]),
}  # fmt: skip
LOSSES.pop("polynomial")
