"""TF1's MonitoredTrainingSession, twice in one directory: the second goes on from the first's checkpoint."""

from conformance.clients.tf1_hooks import graph

LIBRARY = "TF1"
PACKAGE = "tensorflow-cpu"
TIMES = ("global_step/sec",)


def train(directory):
    import tensorflow as tf

    v1 = tf.compat.v1
    v1.disable_eager_execution()  # which TF1 does not have
    for last_step in (6, 12):
        with tf.Graph().as_default():
            v1.set_random_seed(0)
            minimize = graph()
            with v1.train.MonitoredTrainingSession(
                checkpoint_dir=directory,
                hooks=[v1.train.StopAtStepHook(last_step=last_step)],
                save_summaries_steps=2,
                log_step_count_steps=3,
            ) as session:
                while not session.should_stop():
                    session.run(minimize)
