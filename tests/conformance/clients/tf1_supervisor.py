"""TF1's Supervisor, which writes the graph, the session's status and summaries."""

import threading

from conformance.clients.tf1_hooks import graph

LIBRARY = "TF1"
PACKAGE = "tensorflow-cpu"
TIMES = ("global_step/sec",)
STEPS_BY_THE_CLOCK = TIMES  # a thread of its own logs it


def logged_by_its_thread(writer):
    """An event that is set when the supervisor's thread has logged; this process gives summaries as bytes."""
    logged, add_summary = threading.Event(), writer.add_summary

    def noticing(summary, step=None):
        add_summary(summary, step)
        if not isinstance(summary, bytes):
            logged.set()

    writer.add_summary = noticing
    return logged


def train(directory):
    import tensorflow as tf

    v1 = tf.compat.v1
    v1.disable_eager_execution()  # which TF1 does not have
    with tf.Graph().as_default():
        v1.set_random_seed(0)
        minimize = graph()
        merged = v1.summary.merge_all()
        # Its thread logs when it has started, and an hour later again.
        supervisor = v1.train.Supervisor(logdir=directory, summary_op=None, save_model_secs=0, save_summaries_secs=3600)
        logged = logged_by_its_thread(supervisor.summary_writer)
        with supervisor.managed_session() as session:
            for _ in range(6):
                session.run(minimize)
                supervisor.summary_computed(session, session.run(merged))
            logged.wait(600)
        supervisor.stop()
