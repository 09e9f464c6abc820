"""TF1's Supervisor, which writes the graph, the session's status and summaries."""

from conformance.clients.tf1_hooks import graph

LIBRARY = "TF1"
PACKAGE = "tensorflow-cpu"
TIMES = ("global_step/sec",)
STEPS_BY_THE_CLOCK = TIMES  # a thread of its own logs it


def train(directory):
    import tensorflow as tf

    v1 = tf.compat.v1
    v1.disable_eager_execution()  # which TF1 does not have
    with tf.Graph().as_default():
        v1.set_random_seed(0)
        minimize = graph()
        merged = v1.summary.merge_all()
        supervisor = v1.train.Supervisor(logdir=directory, summary_op=None, save_model_secs=0)
        with supervisor.managed_session() as session:
            for _ in range(6):
                session.run(minimize)
                supervisor.summary_computed(session, session.run(merged))
        supervisor.stop()
