"""The constructor, the writer's attributes, flush, close and what comes after it, and what tensorboardX alone has."""

import copy
import importlib
import json
import os
import pickle
import time
from pathlib import Path

import numpy as np
from conformance.observing import by_tensorboard, events, run_files
from conformance.rows import SAME, accepted, different, refused, row
from tensorboard.compat import proto as tensorboard
from tensorboard.compat.proto import event_pb2, summary_pb2  # noqa: F401 - attributes of tensorboard
from tensorboardX import proto as of_tensorboardx

TWO_STARTS = different("START is written twice: TensorBoard's Python reader ignores a run's first")
MAX_QUEUE = different("it could be TF1's max_queue, too, and is taken as that, with a warning: it hides no data")
OWN = different("an event keeps its own time, as with TF1; torch sets it to now")
NOTHING_FIXED = accepted("neither a step nor a time is fixed")
WHOLE = accepted("any whole number is a step")
A_COPY = refused("a copy would write to the file of the first; the originals allow it")
NEVER = different("the time is now if none is given; tensorboardX stores 0")
NESTED = different("the run is named <main_tag>_<name>, as torch does; tensorboardX nests <main_tag>/<name>")
NO_LOGDIR = accepted("both names of the directory are known, as torch and tensorboardX each have one")


def made(what, make, *, torch=SAME, tensorboardX=SAME, **options):
    return row("SummaryWriter", what, make=make, torch=torch, tensorboardX=tensorboardX, **options)


def suffixes(root):
    return [path.name.endswith(".end") for paths in run_files(root).values() for path in paths]


def begin_a_new_file(w):
    """tensorboardX names a file by the second, and within it writes the same file again."""
    if type(w).__module__.startswith("tensorboardX"):
        time.sleep(1.1)


def restart(writer_class, directory, purge_step=3):
    """Five steps, a crash, and two more from the third on."""
    with writer_class(directory) as first:
        for step in range(5):
            first.add_scalar("loss", step, step)
    begin_a_new_file(first)
    return writer_class(directory, purge_step=purge_step)


def go_on(w):
    for step in (3, 4):
        w.add_scalar("loss", 10 + step, step)


def attributes(*names):
    return lambda w: [getattr(w, name) for name in names]


def after_close(act):
    def use(w):
        w.add_scalar("before", 1.0, 1)
        w.close()
        begin_a_new_file(w)
        return act(w)

    return use


def in_a_block(w):
    with w as entered:
        entered.add_scalar("inside", 1.0, 1)
    return entered is w


def in_a_block_that_fails(w):
    try:
        with w:
            w.add_scalar("inside", 1.0, 1)
            raise LookupError  # noqa: TRY301 - a user's error
    except LookupError:
        return "raised"


def at_once(w):
    """What a reader finds while the writer is open."""
    w.add_scalar("t", 1.0, 1)
    w.flush()
    found = events(Path.cwd())
    return [[point["tag"], point["step"]] for points in found.values() for point in points]


def event(of=tensorboard):
    """An event, of either library's messages."""
    summary = of.summary_pb2.Summary
    points = summary(value=[summary.Value(tag="t", simple_value=0.5)])
    return of.event_pb2.Event(step=4, wall_time=1.7e9, summary=points)


def file_writer_uses(of):
    return {
        "add_summary": lambda w: w.file_writer.add_summary(event(of).summary, 3),
        "add_summary with walltime": lambda w: w.file_writer.add_summary(event(of).summary, 3, walltime=1.7e9),
        "add_event": lambda w: w.file_writer.add_event(event(of), walltime=1.7e9),
        "add_event with step and walltime": lambda w: w.file_writer.add_event(event(of), 5, 1.6e9),
    }


def relative(w):
    w.add_scalars("m", {"a": 1.0}, 1)
    return sorted(os.path.relpath(directory, "run") for directory in w.all_writers)


def exported(w):
    """The values of export_scalars_to_json, without the times and the runs' names."""
    for step in range(2):
        w.add_scalars("m", {"a": step, "b": 2 * step}, step)
    w.export_scalars_to_json("scalars.json")
    with open("scalars.json", encoding="utf-8") as file:
        runs = json.load(file).values()
    return sorted([[step, value] for _, step, value in points] for points in runs)


def global_writer(writer_class, directory, **options):
    """The GlobalSummaryWriter of the library whose SummaryWriter this is."""
    package = importlib.import_module(writer_class.__module__.partition(".")[0])
    return package.GlobalSummaryWriter(directory, **options)


def counted(w):
    """Methods that have no step: each tag's calls are counted."""
    for value in (0.5, 0.25):
        w.add_scalar("loss", value)
        w.add_text("note", "text")
        w.add_image("picture", np.zeros((3, 4, 4), np.float32))
    w.add_scalar("other", 1.0)


def with_metadata(w, **metadata):
    with w.use_metadata(**metadata):
        w.add_scalar("t", 1.0)
        w.add_text("u", "text")
    w.add_scalar("t", 2.0, 5)


NOTHING = {"view": lambda root: sorted(run_files(root))}

CONSTRUCTED = [
    made("the directory", lambda W, d: W(d)),
    made("log_dir=", lambda W, d: W(log_dir=d)),
    made("logdir=", lambda W, d: W(logdir=d), torch=NO_LOGDIR),
    made("a Path", lambda W, d: W(Path(d))),
    made("a directory that is there already", lambda W, d: [os.mkdir(d), W(d)][1]),
    made("a directory below others", lambda W, d: W(d + "/a/b")),
    made("a relative directory", lambda W, d: W("run")),
    made("no directory", lambda W, d: W()),
    made("an empty directory name", lambda W, d: W("")),
    made("comment=", lambda W, d: W(comment="_comment")),
    made("comment=None", lambda W, d: W(d, comment=None)),
    made("comment and a directory, by position", lambda W, d: W(d, "comment")),
    made("comment and purge_step, by position", lambda W, d: W(d, "comment", 5), view=by_tensorboard),
    made("an empty comment and purge_step, by position", lambda W, d: W(d, "", 5), view=by_tensorboard),
    made("None and purge_step, by position", lambda W, d: W(d, None, 5), torch=MAX_QUEUE, tensorboardX=MAX_QUEUE),
    made("six arguments by position", lambda W, d: W(d, "", None, 10, 120, ".end"), view=suffixes),
    made("purge_step of a new run", lambda W, d: W(d, purge_step=3), torch=TWO_STARTS, tensorboardX=TWO_STARTS),
    made("purge_step after a crash", restart, use=go_on, view=by_tensorboard),
    made("purge_step=0", lambda W, d: restart(W, d, 0), use=go_on, view=by_tensorboard),
    made("purge_step=None", lambda W, d: restart(W, d, None), use=go_on, view=by_tensorboard),
    made(
        "purge_step: a float",
        lambda W, d: restart(W, d, 3.0),
        use=go_on,
        view=by_tensorboard,
        torch=WHOLE,
        tensorboardX=WHOLE,
    ),
    made(
        "max_queue=1",
        lambda W, d: W(d, max_queue=1),
        use=lambda w: [w.add_scalar("t", i, i) for i in range(30)],
    ),
    made(
        "max_queue=0",
        lambda W, d: W(d, max_queue=0),
        use=lambda w: [w.add_scalar("t", i, i) for i in range(30)],
    ),
    made("flush_secs=0", lambda W, d: W(d, flush_secs=0)),
    made("flush_secs=0.5", lambda W, d: W(d, flush_secs=0.5)),
    made("flush_secs: a large number", lambda W, d: W(d, flush_secs=10**6)),
    made("filename_suffix=", lambda W, d: W(d, filename_suffix=".end"), view=suffixes),
    made(
        "filename_suffix of further runs",
        lambda W, d: W(d, filename_suffix=".end"),
        use=lambda w: w.add_scalars("m", {"a": 1.0}),
        view=suffixes,
    ),
    made("an unknown argument", lambda W, d: W(d, colour="red")),
    made("write_to_disk=False", lambda W, d: W(d, write_to_disk=False), torch=None, **NOTHING),
    made("write_to_disk=False, by position", lambda W, d: W(d, "", None, 10, 120, "", False), torch=None, **NOTHING),
    made("write_to_disk=True", lambda W, d: W(d, write_to_disk=True), torch=None),
    made("comet_config=", lambda W, d: W(d, comet_config={"disabled": True}), torch=None),
    made("a directory where a file is", lambda W, d: [Path(d).write_text("", encoding="utf-8"), W(d)][1]),
]

ATTRIBUTES = [
    row("get_logdir", "the directory", lambda w: w.get_logdir(), tensorboardX=None),
    row("log_dir", "the directory", attributes("log_dir"), tensorboardX=None),
    row("logdir", "the directory", attributes("logdir"), torch=None),
    row("attributes", "as they are by default", attributes("purge_step", "filename_suffix"), tensorboardX=None),
    row("attributes", "by default, of tensorboardX", attributes("purge_step"), torch=None),
    row(
        "attributes",
        "as given",
        attributes("max_queue", "flush_secs", "filename_suffix"),
        make=lambda W, d: W(d, max_queue=7, flush_secs=3, filename_suffix=".end"),
        tensorboardX=None,
    ),
    row(
        "attributes",
        "default_bins",
        lambda w: np.round(np.log10(np.abs(w.default_bins[:5])), 3).tolist(),
    ),
    *(
        row("file_writer", what, use, **verdicts)
        for of, verdicts in ((tensorboard, {"tensorboardX": None}), (of_tensorboardx, {"torch": None}))
        for what, use in file_writer_uses(of).items()
    ),
    row(
        "file_writer",
        "add_event without a time",
        lambda w: w.file_writer.add_event(event()),
        torch=OWN,
        tensorboardX=None,
    ),
    row("file_writer", "get_logdir", lambda w: w.file_writer.get_logdir()),
    row("file_writer", "flush", lambda w: w.file_writer.flush()),
    row("file_writer", "is that of _get_file_writer()", lambda w: w.file_writer is w._get_file_writer()),
    row("file_writer", "event_writer", lambda w: w.file_writer.event_writer.add_event(event()), tensorboardX=None),
    row("all_writers", "of one run", lambda w: [os.path.basename(directory) for directory in w.all_writers]),
    row("all_writers", "with add_scalars", relative, tensorboardX=NESTED),
    row("all_writers", "flush of each", lambda w: [writer.flush() for writer in w.all_writers.values()]),
]

ENDS = [
    row("flush", "what was logged can be read", at_once, tensorboardX=None),  # it flushes what it has written so far
    row("flush", "twice", lambda w: [w.flush(), w.flush()]),
    row("flush", "after close", lambda w: [w.close(), w.flush()]),
    row("close", "twice", lambda w: [w.close(), w.close()]),
    row("close", "nothing was logged", lambda w: None),
    row("close", "then add_scalar", after_close(lambda w: w.add_scalar("after", 2.0, 2))),
    row(
        "close",
        "then every few steps",
        lambda w: [[w.add_scalar("t", s, s), w.close(), begin_a_new_file(w)] for s in (1, 2)],
    ),
    row("close", "then add_text", after_close(lambda w: w.add_text("after", "text", 2))),
    row("close", "then add_histogram", after_close(lambda w: w.add_histogram("after", np.arange(5.0), 2))),
    row(
        "close",
        "then add_scalars",
        after_close(lambda w: w.add_scalars("after", {"a": 2.0}, 2)),
        tensorboardX=NESTED,
    ),
    row(
        "close",
        "then add_hparams",
        after_close(lambda w: w.add_hparams({"lr": 0.1}, {"m": 1.0})),
        view=lambda root: None,
        tensorboardX=accepted("tensorboardX fails"),
    ),
    row("close", "then add_embedding", after_close(lambda w: w.add_embedding(np.eye(3, dtype=np.float32)))),
    row("close", "then get_logdir", after_close(lambda w: w.get_logdir()), tensorboardX=None),
    row("close", "file_writer is None", after_close(lambda w: w.file_writer is None)),
    row("with", "closes at the end", in_a_block),
    row("with", "an error inside", in_a_block_that_fails),
    row("with", "then add_scalar", lambda w: [in_a_block(w), begin_a_new_file(w), w.add_scalar("after", 2.0, 2)][2]),
    row("pickle", "a writer", pickle.dumps),
    row("pickle", "copy.copy", copy.copy, torch=A_COPY, tensorboardX=A_COPY),
    row("pickle", "copy.deepcopy", copy.deepcopy),
]

OF_TENSORBOARDX = [
    row("GlobalSummaryWriter", "counts the steps", counted, make=global_writer, view=by_tensorboard, torch=None),
    row("GlobalSummaryWriter", "a time", lambda w: w.add_scalar("t", 0.5, 1.7e9), make=global_writer, torch=None),
    row(
        "GlobalSummaryWriter",
        "coalesce_process=",
        counted,
        make=lambda W, d: global_writer(W, d, coalesce_process=False),
        view=by_tensorboard,
        torch=None,
    ),
    row("GlobalSummaryWriter", "file_writer", lambda w: w.file_writer.get_logdir(), make=global_writer, torch=None),
    row("export_scalars_to_json", "two curves", exported, torch=None, view=lambda root: None),
    row("use_metadata", "a step", lambda w: with_metadata(w, global_step=3), torch=None, tensorboardX=NEVER),
    row("use_metadata", "a step and a time", lambda w: with_metadata(w, global_step=3, walltime=1.7e9), torch=None),
    row("use_metadata", "neither", with_metadata, torch=None, tensorboardX=NOTHING_FIXED),
]

ROWS = [*CONSTRUCTED, *ATTRIBUTES, *ENDS, *OF_TENSORBOARDX]
