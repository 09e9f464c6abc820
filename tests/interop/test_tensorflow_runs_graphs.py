"""TensorFlow imports the graphs that we trace, and computes the same losses.

TensorFlow is no dependency: these tests run where it is installed, and are skipped elsewhere. With the peers' Python:
    PYTHONPATH=.:tests python tests/interop/test_tensorflow_runs_graphs.py
"""

import numpy as np
import pytest
from optimizing.losses import FUNCTIONS, LOSSES, PICTURES, inputs, mixed

from optim import Variable, trace_graph

# Losses all of whose calls TensorFlow has operations for.
GRAPHS = {
    **LOSSES,
    **{
        name: FUNCTIONS[name]
        for name in (
            *("operators", "power", "mod", "matmul of vectors", "matmul of batches", "dot", "tensordot"),
            *("exponentials", "trigonometry", "inverse trigonometry", "hyperbolic", "where", "clip", "average"),
            *("splitting", "matmul broadcast", "indexing", "ufunc methods", "nan"),
        )
    },
    "reductions": lambda A, S, v, c, P: mixed(
        np.sum(A, 0), np.mean(A, -1, keepdims=True), np.max(A, (0, 1)), np.min(A), np.prod(P, 1), np.var(A, 0, ddof=1),
        np.std(A), np.cumsum(A, 1), np.argmax(A, axis=1) * 1.0, np.where(np.all(P > 0), 1.0, A),
    ),
    "movements": lambda A, S, v, c, P: mixed(
        A.T, A.reshape(2, 6), A[None, :, 1], A[1:, ::-1], A[..., -1], A[[2, 0, 0]], A[:, [1, -1]], np.stack([A, P], 1),
        np.vstack([A, v]), np.hstack([v, v]), np.column_stack([v, v]), np.moveaxis(PICTURES * c, 0, 2), np.flip(A, 1),
        np.tile(A, (2, 1)), np.broadcast_to(v, (2, 4)), np.expand_dims(v, 1), np.squeeze(A[None]), np.diag(S),
        np.take(A, [1, 1], axis=0), np.take(A, [0, 3], axis=-1), np.swapaxes(A, 0, 1), np.diag(v),
    ),
    "linear algebra": lambda A, S, v, c, P: mixed(
        np.linalg.inv(S), np.linalg.det(S), np.linalg.solve(S, v), np.linalg.solve(S, A.T), np.linalg.norm(A, axis=1),
        np.linalg.slogdet(S)[1], np.linalg.eigh(S + S.T)[0], np.linalg.norm(v), np.einsum("ij,kj->ik", A, P),
        np.einsum("...j,j", A, v), np.outer(v, v), np.inner(A, v),
    ),
}  # fmt: skip


def computed(tf, graph):
    """The loss, by TensorFlow."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tf.import_graph_def(tf.compat.v1.GraphDef.FromString(graph.SerializeToString()), name="")
        session.run("init")
        return session.run(f"{graph.node[-1].name}:0")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss", GRAPHS.values(), ids=GRAPHS)
def test_the_same_loss(loss, dtype):
    tf = pytest.importorskip("tensorflow", reason="tensorflow is not installed; it is no dependency")
    values = inputs(dtype)
    variables = {name: Variable(value, name=f"layer/{name}") for name, value in values.items()}
    graph = trace_graph(lambda: loss(**variables))
    assert not [node.op for node in graph.node if node.op.startswith("numpy.")]
    np.testing.assert_allclose(computed(tf, graph), loss(**values), rtol=1e-5, atol=1e-5)


def main():
    """Every loss of the tables; and which calls have no operation in TensorFlow."""
    import tensorflow as tf

    without = set()
    for name, loss in {**GRAPHS, **LOSSES, **FUNCTIONS}.items():
        values = inputs(np.float64)
        variables = {key: Variable(value, name=key) for key, value in values.items()}
        graph = trace_graph(lambda loss=loss, variables=variables: loss(**variables))
        missing = {node.op for node in graph.node if node.op.startswith("numpy.")}
        without |= missing
        if missing:
            print(f"{name:28s} without twin: {', '.join(sorted(missing))}")
            continue
        try:
            theirs, ours = computed(tf, graph), loss(**values)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told
            print(f"{name:28s} FAILED {type(error).__name__}: {str(error)[:600]}")
            continue
        worst = np.max(np.abs(theirs - ours) / np.maximum(1, np.abs(ours)))
        print(f"{name:28s} {worst:.1e}{'' if worst < 1e-5 else '  DIFFERS'}")
    print("no twin:", ", ".join(sorted(without)))


if __name__ == "__main__":
    main()
