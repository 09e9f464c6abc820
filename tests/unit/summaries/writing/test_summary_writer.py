"""SummaryWriter: what it adds to a writer of one file."""

import os
import re
import shutil
import threading

import numpy as np
import onnx
import pytest
from helpers import event_files, events, run_script, scalars

from summaries import (
    Event,
    GraphDef,
    NonFiniteWarning,
    RunMetadata,
    SessionLog,
    SummaryWriter,
    kinds,
    read_run,
    summary_iterator,
)
from summaries.wire.pb import NodeDef, StepStats
from summaries.writing import histograms

GRAPH = GraphDef(node=[NodeDef(name="x", op="Placeholder")])


def test_the_default_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for writer in (SummaryWriter(comment="_lr"), SummaryWriter(None, "_lr")):
        writer.close()
        assert re.fullmatch(r"runs.[A-Z][a-z]{2}\d\d_\d\d-\d\d-\d\d_.+_lr", writer.log_dir)
    assert len(list(tmp_path.glob("runs/*/*tfevents*"))) == 2


def test_torchs_name_for_the_directory(logdir):
    with SummaryWriter(log_dir=logdir, max_queue=10, flush_secs=120, filename_suffix=".end") as writer:
        assert (writer.log_dir, writer.get_logdir()) == (str(logdir), str(logdir))
        assert writer.path.endswith(".end")
    text = r"^logdir and log_dir are two names for one argument: .* is used, not 'other'$"
    with pytest.warns(UserWarning, match=text), SummaryWriter(logdir, log_dir="other") as writer:
        assert writer.log_dir == str(logdir)


@pytest.mark.parametrize("graph", [GRAPH, GRAPH.SerializeToString()], ids=["message", "bytes"])
@pytest.mark.parametrize("name", ["graph", "graph_def"])
def test_a_graph_from_the_start(logdir, graph, name):
    SummaryWriter(logdir, **{name: graph}).close()
    assert [event.graph_def for event in events(logdir)] == [GRAPH.SerializeToString()]


def test_what_has_a_graph(logdir):
    class Holder:
        def as_graph_def(self):
            return GRAPH

    with SummaryWriter(logdir) as writer:
        writer.add_graph(Holder(), 7)
    assert [(event.step, event.graph_def) for event in events(logdir)] == [(7, GRAPH.SerializeToString())]


@pytest.mark.parametrize(
    ("graph", "kind", "text"),
    [
        (None, ValueError, "add_graph needs a graph or a graph_def, got neither"),
        (7, TypeError, "graph must be a protobuf message or its bytes, got int"),
        (b"\xff", ValueError, "graph must be a GraphDef, got 1 bytes that do not parse as one: "),
    ],
)
def test_no_graph(logdir, graph, kind, text):
    with SummaryWriter(logdir) as writer, pytest.raises(kind, match=f"^{re.escape(text)}"):
        writer.add_graph(graph)


def test_an_onnx_model(logdir, tmp_path):
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    nodes = [
        helper.make_node("Gemm", ["x", "w"], ["h"], name="dense/gemm", alpha=0.5),
        helper.make_node("Split", ["h"], ["a", "b"], name="split"),
        helper.make_node("Add", ["a", "b"], ["y"]),
    ]
    x = helper.make_tensor_value_info("x", kind, ["batch", 4])
    y = helper.make_tensor_value_info("y", kind, ["batch", 1])
    weights = helper.make_tensor("w", kind, [4, 2], np.zeros(8))
    onnx.save(helper.make_model(helper.make_graph(nodes, "model", [x], [y], [weights])), tmp_path / "model.onnx")
    with SummaryWriter(logdir) as writer:
        writer.add_onnx_graph(tmp_path / "model.onnx")
    graph = GraphDef.FromString(events(logdir)[0].graph_def)
    assert {node.name: (node.op, list(node.input)) for node in graph.node} == {
        "x": ("Placeholder", []),
        "w": ("Const", []),
        "dense/gemm": ("Gemm", ["x", "w"]),
        "split": ("Split", ["dense/gemm"]),
        "y": ("Add", ["split", "split:1"]),
        "output/y": ("Identity", ["y"]),
    }


def test_session_logs_and_run_metadata(logdir):
    with SummaryWriter(logdir) as writer:
        writer.add_session_log(SessionLog(status=SessionLog.START), 5)
        writer.add_run_metadata(RunMetadata(step_stats=StepStats()), "step5", 5)
        with pytest.raises(ValueError, match="the tag 'step5' was already used for run metadata: use each tag once"):
            writer.add_run_metadata(RunMetadata(), "step5", 6)
    log, metadata = events(logdir)
    assert (log.step, log.session_log.status) == (5, SessionLog.START)
    assert (metadata.step, metadata.tagged_run_metadata.tag) == (5, "step5")


def test_purge_step_reaches_every_file(logdir):
    with SummaryWriter(logdir, purge_step=40) as writer:
        writer.add_scalars("curves", {"a": 1.0}, 41)
        writer.add_hparams({"lr": 0.1}, {}, run_name="hp")
    for directory in (logdir, logdir / "curves_a", logdir / "hp"):
        first = events(directory)[0]
        assert (first.step, first.session_log.status) == (40, SessionLog.START)


def test_close_flush_and_reopen_reach_the_runs_below(logdir):
    writer = SummaryWriter(logdir, flush_secs=float("inf"))
    writer.add_scalars("curves", {"a": 1.0, "b": 2.0}, 1)
    writer.flush()
    assert scalars(*event_files(logdir / "curves_b")) == [(1, "curves", 2.0)]
    writer.close()
    writer.add_scalars("curves", {"a": 3.0}, 2)
    assert not writer.closed
    writer.close()
    writer.reopen()
    writer.add_scalars("curves", {"a": 4.0}, 3)
    writer.close()
    files = [scalars(path) for path in event_files(logdir / "curves_a")]
    assert files == [[(1, "curves", 1.0)], [(2, "curves", 3.0)], [(3, "curves", 4.0)]]


def test_a_thousand_curves_need_no_file_handles(tmp_path, logdir):
    pytest.importorskip("resource", reason="needs a limit on open files, which this platform does not have")
    program = """
import resource, sys
from summaries import SummaryWriter
resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))
with SummaryWriter(sys.argv[1]) as writer:
    for step in range(2):
        writer.add_scalars("curves", {str(i): float(i) for i in range(1000)}, step)
"""
    run_script(tmp_path, program, logdir)
    assert len(list(logdir.iterdir())) == 1001
    assert scalars(*event_files(logdir / "curves_999")) == [(0, "curves", 999.0), (1, "curves", 999.0)]


@pytest.mark.parametrize("deferred", [False, True])
def test_a_large_histogram_is_of_the_values_in_the_call_and_in_its_place(deferred, logdir, monkeypatch):
    monkeypatch.setattr(histograms, "is_worth_deferring", lambda *_: deferred)
    values = np.random.default_rng(0).normal(size=100_000).astype(np.float32)
    with SummaryWriter(logdir, flush_secs=float("inf")) as writer:
        for step in range(5):
            writer.add_scalar("before", step, step)
            writer.add_histogram("h", values, step)
            values += 1
            writer.add_scalar("after", step, step)
    seen = [(event.step, value.tag) for event in events(logdir) for value in event.summary.value]
    assert seen == [(step, tag) for step in range(5) for tag in ("before", "h", "after")]
    minima = [v.histo.min for event in events(logdir) for v in event.summary.value if v.tag == "h"]
    np.testing.assert_allclose(np.diff(minima), 1, atol=1e-4)


@pytest.mark.parametrize("deferred", [False, True])
@pytest.mark.parametrize("size", [2, 100_000])
def test_values_that_are_not_finite_are_warned_of_once_a_tag(size, deferred, logdir, monkeypatch):
    monkeypatch.setattr(histograms, "is_worth_deferring", lambda *_: deferred)
    values = np.append(np.ones(size - 1), np.nan)
    text = "tag 'h' got values that are not finite at step 0: written as counts in the outermost bins, NaN in none"
    with SummaryWriter(logdir) as writer:
        with pytest.warns(NonFiniteWarning, match=f"^{text}; warned once per tag$"):
            writer.add_histogram("h", values, 0)
        writer.add_histogram("h", values, 1)


def test_sixteen_threads_with_every_kind(logdir):
    def work(number):
        for step in range(50):
            writer.add_scalar(f"scalar/{number}", step, step)
            writer.add_text(f"text/{number}", str(step), step)
            writer.add_scalars("curves", {str(number): step}, step)

    with SummaryWriter(logdir, max_queue=7) as writer:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    seen = [(value.tag, event.step) for event in events(logdir) for value in event.summary.value]
    for number in range(16):
        assert [step for tag, step in seen if tag == f"scalar/{number}"] == list(range(50))
        assert [step for tag, step in seen if tag == f"text/{number}/text_summary"] == list(range(50))
        assert len(scalars(*event_files(logdir / f"curves_{number}"))) == 50


def test_what_is_no_dictionary(logdir):
    with (
        SummaryWriter(logdir) as writer,
        pytest.raises(TypeError, match=r"^tag_scalar_dict must be a dictionary"),
    ):
        writer.add_scalars("losses", None)


@pytest.mark.parametrize("reopen", [SummaryWriter.reopen, SummaryWriter._get_file_writer])
def test_one_curve_that_cannot_be_written_costs_no_other(logdir, reopen):
    """flush() and close() try every file of the run, and then raise what was wrong."""
    writer = SummaryWriter(logdir, flush_secs=float("inf"))
    writer.add_scalars("loss", {"train": 1.0, "test": 2.0}, 1)
    writer.flush()
    shutil.rmtree(logdir / "loss_train")
    (logdir / "loss_train").touch()  # where no directory can be
    writer.add_scalars("loss", {"train": 1.0, "test": 2.0}, 2)
    writer.add_scalar("main", 1.0, 1)
    for finish in (writer.flush, writer.close):
        with pytest.raises(FileExistsError, match="loss_train"):
            finish()
    assert read_run(logdir).scalars["main"].step.tolist() == [1]
    assert read_run(logdir / "loss_test").scalars["loss"].step.tolist() == [1, 2]
    (logdir / "loss_train").unlink()
    reopen(writer)  # what waits goes to new files
    writer.close()
    assert read_run(logdir / "loss_train").scalars["loss"].step.tolist() == [2]


def test_a_bad_number_among_curves_leaves_all_as_they_were(logdir):
    with SummaryWriter(logdir) as writer:
        text = r"^tag_scalar_dict\['b'\] must be a number, got 'x'$"
        with pytest.raises(TypeError, match=text):
            writer.add_scalars("loss", {"a": 1.0, "b": "x"}, 1)
        with pytest.raises(TypeError, match=r"^global_step must be an integer or None"):
            writer.add_scalars("loss", {"a": 1.0}, "x")
    assert [entry.name for entry in logdir.iterdir() if entry.is_dir()] == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_does_not_purge(logdir):
    """The parent has said from where on it supersedes; what it logs since then stays."""
    writer = SummaryWriter(logdir, purge_step=100)
    child = os.fork()
    if child == 0:
        writer.add_scalars("loss", {"a": 9.0}, 150)
        writer.close()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    writer.add_scalars("loss", {"a": 1.0}, 149)
    writer.close()
    assert sorted(read_run(logdir / "loss_a").scalars["loss"].step.tolist()) == [149, 150]
    assert len(read_run(logdir / "loss_a").session_logs) == 2  # the parent's START, which it writes twice


def test_run_metadata_that_was_not_taken_can_be_logged_again(logdir):
    writer = SummaryWriter(logdir, flush_secs=float("inf"))
    writer._run_file._errors.append(OSError(28, "No space left on device"))
    writer._run_file.queue.limit = -1
    with pytest.raises(OSError, match="No space left"):
        writer.add_run_metadata(RunMetadata(), "step1")
    writer.add_run_metadata(RunMetadata(), "step1")
    writer.close()
    assert list(read_run(logdir).run_metadata) == ["step1"]


@pytest.mark.parametrize("style", [{"new_style": True}, {"display_name": "x"}, {"double_precision": True}])
def test_every_style_of_scalar_warns(logdir, style):
    with SummaryWriter(logdir) as writer:
        with pytest.warns(NonFiniteWarning, match="^tag 'loss' got nan at step 1: written as nan; ") as caught:
            writer.add_scalar("loss", np.nan, 1, **style)
        assert caught[0].filename == __file__
        with pytest.warns(NonFiniteWarning, match="^tag 'metric' got nan"):
            writer.add_hparams({"lr": 1}, {"metric": np.nan})


@pytest.mark.parametrize("rule", ["auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt"])
def test_bins_by_rule_of_numbers_close_together_and_far_apart(rule):
    sums = np.random.default_rng(0).random((5000, 10))
    sums /= sums.sum(1, keepdims=True)
    for values in (sums.sum(1), np.array([1e308, -1e308, 0.0]), np.array([5e-324, 0.0, 1e-323])):
        histogram = kinds.histogram.histogram("h", values, rule).value[0].histo
        assert sum(histogram.bucket) == values.size
        assert np.isfinite(histogram.bucket_limit).all()


def test_bins_as_an_array(logdir):
    edges = np.linspace(0, 1, 5)
    with SummaryWriter(logdir) as writer:
        for step, size in enumerate((10, 100_000)):
            writer.add_histogram("h", np.full(size, 0.5), step, bins=edges)
    assert [histogram[:, 2].sum() for histogram in read_run(logdir).histograms["h"]] == [10, 100_000]


def test_a_single_sample_is_one_channel(logdir):
    with SummaryWriter(logdir) as writer:
        writer.add_audio("click", [0.5], 0)
        writer.add_audio("click", np.zeros((1, 1)), 1)
    assert read_run(logdir).audio["click"].step.tolist() == [0, 1]


def test_no_tag_leads_out_of_the_directory(logdir):
    with SummaryWriter(logdir / "run") as writer:
        writer.add_embedding(np.eye(3), tag="..")
        writer.add_embedding(np.eye(3), tag="../..")
    assert [entry.name for entry in logdir.iterdir()] == ["run"]
    assert not list((logdir / "run").glob("tensors.tsv"))
    assert len(list((logdir / "run").glob("00000/*/tensors.tsv"))) == 2


def test_add_graph_with_torchs_argument_for_no_module(logdir):
    with SummaryWriter(logdir) as writer, pytest.raises(TypeError, match=r"^input_to_model is for torch modules, got "):
        writer.add_graph(GRAPH, input_to_model=1)


def test_torchs_file_writer(logdir):
    """Lightning, stable-baselines3, MONAI and Composer use it."""
    writer = SummaryWriter(logdir)
    for file_writer in (writer._get_file_writer(), writer.file_writer):
        file_writer.add_summary(kinds.scalar.scalar("hp_metric", 1.0), 0)
        file_writer.add_event(Event(file_version="x"), step=3, walltime=5.0)
        file_writer.flush()
        assert file_writer.get_logdir() == str(logdir)
    assert writer.file_writer.event_writer._file_name == writer.path
    assert writer.file_writer.event_writer._ev_writer._file_name == writer.path
    writer.close()
    assert writer.file_writer is None
    writer._get_file_writer().add_summary(kinds.scalar.scalar("hp_metric", 2.0), 1)
    assert writer.file_writer is not None
    writer.close()
    assert read_run(logdir).scalars["hp_metric"].value.tolist() == [1.0, 1.0, 2.0]


def test_a_graph_and_its_cost(logdir):
    """What torch's file_writer takes."""
    with SummaryWriter(logdir) as writer:
        for _ in range(2):
            writer.file_writer.add_graph((GRAPH, RunMetadata(step_stats=StepStats())))
    run = read_run(logdir)
    assert list(run.run_metadata) == ["step1"]
    assert run.graph == GRAPH


def test_default_bins(logdir):
    """Programs for torch's writer read them, and set them."""
    with SummaryWriter(logdir) as writer:
        edges = writer.default_bins
        assert (len(edges), edges[0], edges[len(edges) // 2]) == (1549, -edges[-1], 0.0)
        writer.add_histogram("h", [0.0, 1.0], 0)
        writer.add_histogram("h", [0.0, 1.0], 0, bins=edges)
        writer.default_bins = 4
        writer.add_histogram("h", [0.0, 1.0], 0)
        assert writer.default_bins == 4
    plain, same, set_to_four = read_run(logdir).histograms["h"]
    np.testing.assert_array_equal(plain, same)
    assert set_to_four[:, 2].tolist() == [1, 0, 0, 1]


def test_a_file_begun_within_use_metadata_has_the_current_time(logdir):
    """By its name, files of a run are read in order."""
    writer = SummaryWriter(logdir)
    first = writer.path
    writer.close()
    with writer.use_metadata(walltime=5.0):
        writer.add_scalar("loss", 0.5, 1)
    writer.close()
    assert writer.path > first
    version, point = summary_iterator(writer.path)
    assert (version.wall_time > 1.7e9, point.wall_time) == (True, 5.0)
