"""TF1's own clients write with our writer what they write with TensorFlow's: hooks, monitored sessions, supervisors.

TensorFlow is no dependency: these tests run where it is installed, and are skipped elsewhere. With the peers' Python:
    PYTHONPATH=.:tests python -m pytest tests/interop/test_tensorflow_clients.py
"""

import pytest
from helpers import event_files
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from summaries import SummaryWriter, summary_iterator

pytest.importorskip("tensorflow", reason="TensorFlow is no dependency", exc_type=ImportError)
pytestmark = [pytest.mark.filterwarnings("ignore")]

STEPS = 4


@pytest.fixture(scope="module")
def tf():
    import tensorflow.compat.v1 as tf

    tf.disable_eager_execution()
    tf.logging.set_verbosity(tf.logging.ERROR)
    return tf


@pytest.fixture
def use(tf, monkeypatch):
    """Make this class TensorFlow's FileWriter, wherever a client looks for one."""
    from tensorflow.python.summary.writer import writer_cache
    from tensorflow.python.training import supervisor

    def patch(writer):
        monkeypatch.setattr(writer_cache, "FileWriter", writer)
        monkeypatch.setattr(supervisor._summary, "FileWriter", writer)
        monkeypatch.setattr(tf.summary, "FileWriter", writer)

    yield patch
    tf.summary.FileWriterCache.clear()


def model(tf):
    """The operation that takes a step, and the summary."""
    step = tf.train.get_or_create_global_step()
    x = tf.get_variable("x", [2], initializer=tf.constant_initializer(3.0))
    loss = tf.reduce_sum(tf.square(x))
    tf.summary.scalar("loss", loss)
    tf.summary.histogram("weights", x)
    return tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step), tf.summary.merge_all()


def with_a_hook(tf, directory):
    train, summary = model(tf)
    writer = tf.summary.FileWriter(directory, tf.get_default_graph())
    hook = tf.train.SummarySaverHook(save_steps=1, summary_writer=writer, summary_op=summary)
    with tf.train.SingularMonitoredSession(hooks=[hook]) as session:
        for _ in range(STEPS):
            session.run(train)
    writer.close()


def in_a_monitored_session(tf, directory):
    train, _ = model(tf)
    options = {"save_summaries_steps": 1, "save_checkpoint_steps": 2, "log_step_count_steps": None}
    with tf.train.MonitoredTrainingSession(checkpoint_dir=directory, **options) as session:
        for _ in range(STEPS):
            session.run(train)
    tf.summary.FileWriterCache.clear()


def under_a_supervisor(tf, directory):
    train, summary = model(tf)
    supervisor = tf.train.Supervisor(logdir=directory, save_summaries_secs=0, save_model_secs=0, summary_op=None)
    with supervisor.managed_session() as session:
        for _ in range(STEPS):
            session.run(train)
            supervisor.summary_computed(session, session.run(summary))


def nodes(graph):
    """What is the same when a model is built again: functions get new numbers, and protobuf orders maps freely."""
    return [(node.name, node.op, node.device, "_output_shapes" in node.attr) for node in graph.node]


def logged(tf, directory):
    """Each event: its step and what it says."""
    for path in event_files(directory):
        for event in list(summary_iterator(path))[1:]:
            what = event.WhichOneof("what")
            said = getattr(event, what)
            if what == "graph_def":
                said = nodes(tf.GraphDef.FromString(said))
            elif what == "meta_graph_def":
                meta = tf.MetaGraphDef.FromString(said)
                said = nodes(meta.graph_def), sorted(meta.collection_def), meta.meta_info_def.tensorflow_version
            yield event.step, what, str(said).replace(str(directory), "DIRECTORY")


@pytest.mark.parametrize("train", [with_a_hook, in_a_monitored_session, under_a_supervisor])
def test_the_same_events(tf, use, tmp_path, train):
    for name, writer in ("theirs", tf.summary.FileWriter), ("ours", SummaryWriter):
        use(writer)
        with tf.Graph().as_default():
            train(tf, str(tmp_path / name))
    theirs, ours = (list(logged(tf, tmp_path / name)) for name in ("theirs", "ours"))
    whats = {what for _, what, _ in theirs}
    assert {"graph_def", "meta_graph_def", "session_log", "summary"} <= whats
    assert ours == theirs
    accumulator = EventAccumulator(str(tmp_path / "ours")).Reload()
    assert accumulator.Tags()["meta_graph"] is True
    assert [event.step for event in accumulator.Scalars("loss")] == list(range(1, STEPS + 1))


def test_a_graph_def_of_tensorflow(tf, tmp_path):
    with tf.Graph().as_default() as graph:
        model(tf)
        definition = graph.as_graph_def()
        for name, writer in ("theirs", tf.summary.FileWriter), ("ours", SummaryWriter):
            writer(str(tmp_path / name), graph_def=definition).close()
    assert list(logged(tf, tmp_path / "ours")) == list(logged(tf, tmp_path / "theirs"))


def test_bfloat16_reaches_tensorflow_as_it_is(tf, tmp_path):
    import ml_dtypes
    import numpy as np

    array = np.array([1.5, -0.0, np.inf, 3e38], ml_dtypes.bfloat16)
    with SummaryWriter(tmp_path) as writer:
        writer.add_tensor("weights", array)
    (value,) = [v for event in tf.train.summary_iterator(str(event_files(tmp_path)[0])) for v in event.summary.value]
    got = tf.make_ndarray(value.tensor)
    assert got.dtype == array.dtype
    assert got.tobytes() == array.tobytes()
