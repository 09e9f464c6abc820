"""TF1's SummarySaverHook and StepCounterHook with a writer that is given."""

LIBRARY = "TF1"
PACKAGE = "tensorflow-cpu"
TIMES = ("global_step/sec",)


def graph():
    """A step that counts, a loss that falls, and their summaries."""
    import tensorflow as tf

    v1 = tf.compat.v1
    step = v1.train.get_or_create_global_step()
    weight = v1.get_variable("weight", initializer=2.0)
    loss = tf.square(weight, name="loss")
    v1.summary.scalar("loss", loss)
    v1.summary.histogram("weight", weight)
    return v1.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)


def train(directory):
    import tensorflow as tf

    v1 = tf.compat.v1
    v1.disable_eager_execution()  # which TF1 does not have
    with tf.Graph().as_default():
        v1.set_random_seed(0)
        minimize = graph()
        writer = v1.summary.FileWriter(directory, v1.get_default_graph())
        hooks = [
            v1.train.SummarySaverHook(save_steps=2, summary_writer=writer, summary_op=v1.summary.merge_all()),
            v1.train.StepCounterHook(every_n_steps=4, summary_writer=writer),
        ]
        with v1.train.SingularMonitoredSession(hooks) as session:
            for _ in range(9):
                session.run(minimize)
        writer.close()
