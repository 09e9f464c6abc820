"""TF1's FileWriter: its constructor and every method."""

import math
from pathlib import Path

import numpy as np
import tensorflow as tf
from conformance.rows import SAME, accepted, different, refused, tf1

v1 = tf.compat.v1

GOES_ON = different("what is logged after close() goes to a new file, as in torch; TF1 warns and drops it")
ANY_MESSAGE = accepted("messages of any library with TensorFlow's wire format are taken, and their bytes")
AT_ONCE = different("a writer has its file from the start; TF1's has it from its first event")


def summary(tag="t", value=0.5, **metadata):
    described = v1.SummaryMetadata(**metadata) if metadata else None
    return v1.Summary(value=[v1.Summary.Value(tag=tag, simple_value=value, metadata=described)])


def event(**what):
    return v1.Event(wall_time=1.7e9, step=4, **what)


def log(status):
    return v1.SessionLog(status=status, checkpoint_path="model.ckpt", msg="a message")


def graph():
    """A graph of three nodes, whose shapes are known."""
    built = tf.Graph()
    with built.as_default():
        v1.placeholder(tf.float32, [2, 3], name="x")
        tf.add(tf.constant([1.0, 2.0], name="one"), 2.0, name="sum")
    return built


def meta_graph():
    with graph().as_default():
        return v1.train.export_meta_graph()


def run_metadata():
    metadata = v1.RunMetadata()
    metadata.step_stats.dev_stats.add(device="/cpu:0").node_stats.add(node_name="sum", all_start_micros=5)
    return metadata


def merged(w):
    """What a session makes of summary operations."""
    with tf.Graph().as_default(), v1.Session() as session:
        v1.summary.scalar("loss", tf.constant(0.5))
        v1.summary.histogram("weights", tf.constant([1.0, 2.0, 3.0]))
        v1.summary.text("note", tf.constant("text"))
        v1.summary.image("picture", tf.zeros([1, 4, 4, 3]))
        for step in range(2):
            w.add_summary(session.run(v1.summary.merge_all()), step)


def described_twice(w):
    for step in range(3):
        w.add_summary(summary(display_name="Name", summary_description="what it is"), step)


def after_close(act):
    def use(w):
        w.add_summary(summary("before"), 1)
        w.close()
        return act(w)

    return use


def reopened(w):
    w.close()
    w.reopen()
    w.add_summary(summary("after"), 2)


def reopened_open(w):
    w.add_summary(summary("before"), 1)
    w.reopen()
    w.add_summary(summary("after"), 2)
    w.reopen()


def files(w):
    """How many files reopen() of an open writer leaves."""
    reopened_open(w)
    w.close()
    return len(list(Path("run").iterdir()))


def in_a_block(w):
    with w as entered:
        entered.add_summary(summary(), 1)
    return entered is w


def made(what, make, verdict=SAME, **options):
    return tf1(
        "FileWriter", what, options.pop("use", lambda w: w.add_summary(summary(), 1)), verdict, make=make, **options
    )


def call(*arguments, **options):
    return arguments, options


def adds(method, what, given, verdict=SAME):
    """A row of a method, whose arguments are made anew for each of the two."""

    def use(w):
        arguments, options = given()
        getattr(w, method)(*arguments, **options)

    return tf1(method, what, use, verdict)


STEPS = {
    "None": None,
    "an int": 7,
    "a negative int": -3,
    "a float with a fraction": 2.7,
    "a string": "3",
    "a NumPy int64": np.int64(5),
    "a NumPy 0-d array": np.array(5),
    "a NumPy float32": np.float32(5.5),
    "a bool": True,
    "a word": "three",
    "NaN": math.nan,
    "2**63": 2**63,
}

CONSTRUCTED = [
    made("the directory", lambda W, d: W(d)),
    made("logdir=", lambda W, d: W(logdir=d)),
    made("a Path", lambda W, d: W(Path(d))),
    made("graph, by position", lambda W, d: W(d, graph())),
    made("graph=", lambda W, d: W(d, graph=graph())),
    made("a GraphDef as graph", lambda W, d: W(d, graph().as_graph_def())),
    made("graph_def=", lambda W, d: W(d, graph_def=graph().as_graph_def())),
    made("graph=None", lambda W, d: W(d, graph=None)),
    made("both graphs", lambda W, d: W(d, graph=graph(), graph_def=graph().as_graph_def())),
    made("no graph", lambda W, d: W(d, graph=5)),
    made("max_queue and flush_secs, by position", lambda W, d: W(d, None, 5, 30)),
    made("max_queue=0", lambda W, d: W(d, max_queue=0)),
    made("flush_secs=0", lambda W, d: W(d, flush_secs=0)),
    made(
        "max_queue=1",
        lambda W, d: W(d, max_queue=1),
        use=lambda w: [w.add_summary(summary(), i) for i in range(20)],
    ),
    made("all arguments by position", lambda W, d: W(d, None, 10, 120, None, ".end")),
    made(
        "filename_suffix=",
        lambda W, d: W(d, filename_suffix=".end"),
        use=lambda w: [path.suffix for path in Path("run").iterdir()],
    ),
    made("filename_suffix=None", lambda W, d: W(d, filename_suffix=None)),
    made("session=None", lambda W, d: W(d, session=None)),
    made("session=", lambda W, d: W(d, session=v1.Session())),
    made("an unknown argument", lambda W, d: W(d, colour="red")),
]

SUMMARIES = [
    adds("add_summary", "a Summary", lambda: call(summary(), 3)),
    adds("add_summary", "its bytes", lambda: call(summary().SerializeToString(), 3)),
    adds("add_summary", "by name", lambda: call(summary=summary(), global_step=3)),
    adds("add_summary", "no step", lambda: call(summary())),
    adds("add_summary", "NaN", lambda: call(summary(value=math.nan), 3)),
    adds("add_summary", "an empty tag", lambda: call(summary(tag=""), 3)),
    adds("add_summary", "an empty Summary", lambda: call(v1.Summary(), 3)),
    adds("add_summary", "no Summary", lambda: call("text", 3)),
    adds("add_summary", "None", lambda: call(None, 3)),
    adds("add_summary", "bytes of no message", lambda: call(b"\xff\xff", 3)),
    tf1("add_summary", "what a session made", merged),
    tf1("add_summary", "metadata is written once per tag", described_twice),
    tf1("add_summary", "in order", lambda w: [w.add_summary(summary(), step) for step in (5, 3, 4)]),
    *(adds("add_summary", f"step: {what}", lambda step=step: call(summary(), step)) for what, step in STEPS.items()),
    adds("add_event", "an Event", lambda: call(event(summary=summary()))),
    adds("add_event", "a log message", lambda: call(event(log_message=v1.LogMessage(message="text")))),
    adds("add_event", "by name", lambda: call(event=event(summary=summary()))),
    adds("add_event", "no Event", lambda: call(event(summary=summary()).SerializeToString()), ANY_MESSAGE),
    adds("add_event", "None", lambda: call(None)),
    adds("add_session_log", "START", lambda: call(log(v1.SessionLog.START), 3)),
    adds("add_session_log", "CHECKPOINT, no step", lambda: call(log(v1.SessionLog.CHECKPOINT))),
    adds("add_session_log", "by name", lambda: call(session_log=log(v1.SessionLog.STOP), global_step=3)),
    adds("add_session_log", "step: a string", lambda: call(log(v1.SessionLog.STOP), "3")),
    adds("add_session_log", "None", lambda: call(None, 3), refused("None is no SessionLog; TF1 stores an empty event")),
]

GRAPHS = [
    adds("add_graph", "a Graph", lambda: call(graph())),
    adds("add_graph", "a Graph and a step", lambda: call(graph(), 3)),
    adds("add_graph", "a GraphDef", lambda: call(graph().as_graph_def())),
    adds("add_graph", "a GraphDef as graph_def", lambda: call(None, None, graph().as_graph_def())),
    adds("add_graph", "a Graph as graph_def", lambda: call(None, None, graph())),
    adds("add_graph", "both", lambda: call(graph(), 1, graph().as_graph_def())),
    adds("add_graph", "neither", lambda: call(None)),
    adds("add_graph", "no graph", lambda: call(5)),
    adds("add_graph", "by name", lambda: call(graph=graph(), global_step=3)),
    adds("add_meta_graph", "a MetaGraphDef", lambda: call(meta_graph())),
    adds("add_meta_graph", "a step", lambda: call(meta_graph(), 3)),
    adds("add_meta_graph", "by name", lambda: call(meta_graph_def=meta_graph(), global_step=3)),
    adds("add_meta_graph", "no MetaGraphDef", lambda: call(graph())),
    adds("add_run_metadata", "RunMetadata", lambda: call(run_metadata(), "step", 3)),
    adds("add_run_metadata", "no step", lambda: call(run_metadata(), "step")),
    adds("add_run_metadata", "by name", lambda: call(run_metadata=run_metadata(), tag="step", global_step=3)),
    tf1("add_run_metadata", "a tag twice", lambda w: [w.add_run_metadata(run_metadata(), "step", i) for i in (1, 2)]),
    adds("add_run_metadata", "None", lambda: call(None, "step")),
]

LIFETIMES = [
    tf1("get_logdir", "the directory", lambda w: w.get_logdir(), view=lambda root: None),
    tf1("flush", "twice", lambda w: [w.add_summary(summary(), 1), w.flush(), w.flush()]),
    tf1("flush", "after close", after_close(lambda w: w.flush())),
    tf1("close", "twice", after_close(lambda w: w.close())),
    tf1("close", "nothing was logged", lambda w: None, AT_ONCE),
    tf1("close", "then add_summary", after_close(lambda w: w.add_summary(summary("after"), 2)), GOES_ON),
    tf1("close", "then add_event", after_close(lambda w: w.add_event(event(summary=summary("after")))), GOES_ON),
    tf1("close", "then add_session_log", after_close(lambda w: w.add_session_log(log(v1.SessionLog.STOP), 2)), GOES_ON),
    tf1("close", "then get_logdir", after_close(lambda w: w.get_logdir())),
    tf1("reopen", "after close", reopened),
    tf1("reopen", "of an open writer", reopened_open),
    tf1("reopen", "of an open writer: files", files),
    tf1("with", "closes at the end", in_a_block),
]

ROWS = [*CONSTRUCTED, *SUMMARIES, *GRAPHS, *LIFETIMES]
