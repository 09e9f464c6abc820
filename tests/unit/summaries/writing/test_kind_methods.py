"""The methods for kinds: every argument of tensorboardX's, metadata once per tag, what a block gives its calls."""

import re
from contextlib import suppress

import numpy as np
import pytest
from engines import ENGINES, read_run
from helpers import event_files, events
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from summaries import NonFiniteWarning, SummaryWriter, summary_iterator


def values(directory):
    return [value for event in events(directory) for value in event.summary.value]


def test_a_video_in_another_order(logdir):
    video = np.random.default_rng(0).integers(0, 256, (1, 3, 3, 4, 5)).astype(np.uint8)
    with SummaryWriter(logdir) as writer:
        writer.add_video("a", video, 0, 4, 1.0)
        writer.add_video("a", video.transpose(0, 1, 3, 4, 2), 0, 4, 1.0, "NTHWC")
    first, second = values(logdir)
    assert first == second


def test_boxes_with_tensorboardxs_order_of_arguments(logdir):
    picture, boxes = np.zeros((20, 20, 3)), np.array([[1, 1, 9, 9], [5, 5, 15, 15]])
    with SummaryWriter(logdir) as writer:
        writer.add_image_with_boxes("a", picture, boxes, 1, 1.0, 1, "HWC", ["x", "y"])
        writer.add_image_with_boxes("a", picture, boxes, 1, 1.0, "HWC", ["x", "y"])
    first, second = values(logdir)
    assert first == second


@pytest.mark.parametrize(
    "arguments",
    [("Loss", "of **training**"), ("Loss", False, "", "of **training**"), (False, False, "Loss", "of **training**")],
)
def test_a_title_and_a_description_in_tensorboardxs_places(logdir, arguments):
    with SummaryWriter(logdir) as writer:
        writer.add_scalar("loss", 0.5, 1, 1.0, *arguments)
    (value,) = values(logdir)
    assert (value.simple_value, value.metadata.display_name) == (0.5, "Loss")
    assert value.metadata.summary_description == "of **training**"


class OnAnotherDevice:
    """A tensor that counts how often it is waited for."""

    shape = ()
    waits = 0

    def item(self):
        self.waits += 1
        return 0.5


@pytest.mark.parametrize("options", [{"new_style": True}, {"display_name": "Loss"}, {"double_precision": True}, {}])
def test_a_tensor_is_converted_once(logdir, options):
    tensor = OnAnotherDevice()
    with SummaryWriter(logdir) as writer:
        writer.add_scalar("loss", tensor, 1, **options)
    assert tensor.waits == 1


def test_double_precision_alone_is_ignored_as_torch_does(logdir):
    with SummaryWriter(logdir) as writer:
        writer.add_scalar("loss", 0.1, 1, double_precision=True)
        with pytest.warns(NonFiniteWarning, match=r"^tag 'loss' got 1e\+300 at step 2: written as inf;"):
            writer.add_scalar("loss", 1e300, 2, double_precision=True)
    assert [value.WhichOneof("value") for value in values(logdir)] == ["simple_value"] * 2
    assert [event.value for event in EventAccumulator(str(logdir)).Reload().Scalars("loss")] == [
        np.float32(0.1),
        np.inf,
    ]


def test_double_precision_in_the_new_style_is_stored_and_the_user_told_once(logdir):
    text = (
        "scalar 'twice' is stored with double precision: TensorBoard shows it only with --load_fast=false; "
        "warned once per tag"
    )
    with SummaryWriter(logdir) as writer:
        with pytest.warns(UserWarning, match=f"^{re.escape(text)}$"):
            writer.add_scalar("twice", 1e300, 0, new_style=True, double_precision=True)
        for step in (1, 2):  # a warning would be an error
            writer.add_scalar("twice", 1e300, step, new_style=True, double_precision=True)
    assert read_run(logdir).scalars["twice"].value.tolist() == [1e300] * 3


def log_kinds(writer, step):
    """A value of each kind that has metadata."""
    writer.add_scalar("scalar", 0.5, step, new_style=True)
    writer.add_scalar("titled", 0.5, step, display_name="Title")
    writer.add_text("text", f"step {step}", step)
    writer.add_tensor("tensor", np.full(2, float(step)), step)
    writer.add_pr_curve("curve", [0, 1], [0.2, 0.8], step, 3)
    writer.add_mesh("mesh", np.full((1, 4, 3), float(step)), global_step=step)


def test_metadata_is_written_once_a_tag(logdir):
    with SummaryWriter(logdir) as writer:
        for step in range(3):
            log_kinds(writer, step)
    tags = ["scalar", "titled", "text/text_summary", "tensor", "curve", "mesh_VERTEX"]
    assert [(value.tag, value.HasField("metadata")) for value in values(logdir)] == [
        (tag, step == 0) for step in range(3) for tag in tags
    ]


@pytest.mark.parametrize("engine", ENGINES)
def test_values_without_metadata_are_read_as_their_tags_first(logdir, engine):
    with SummaryWriter(logdir) as writer:
        for step in range(3):
            log_kinds(writer, step)
    run = read_run(logdir, engine=engine)
    assert {tag: len(series) for tag, series in run.scalars.items()} == {"scalar": 3, "titled": 3}
    assert [(len(items), *items) for items in (run.texts, run.tensors, run.pr_curves, run.meshes)] == [
        (1, "text/text_summary"),
        (1, "tensor"),
        (1, "curve"),
        (1, "mesh_VERTEX"),
    ]
    assert [item.tolist() for item in run.tensors["tensor"].value] == [[0, 0], [1, 1], [2, 2]]
    assert len(run.meshes["mesh_VERTEX"]) == len(run.texts["text/text_summary"]) == len(run.pr_curves["curve"]) == 3
    accumulator = EventAccumulator(str(logdir), {"tensors": 0}).Reload()
    for tag, plugin in (
        ("text/text_summary", "text"),
        ("tensor", "tensor"),
        ("curve", "pr_curves"),
        ("mesh_VERTEX", "mesh"),
    ):
        assert accumulator.SummaryMetadata(tag).plugin_data.plugin_name == plugin
        assert len(accumulator.Tensors(tag)) == 3


def test_each_file_has_its_own_metadata(logdir):
    writer = SummaryWriter(logdir)
    for step in range(2):
        writer.add_text("note", "x", step)
    writer.close()
    writer.add_text("note", "x", 2)  # goes on in a new file
    writer.close()
    described = [
        [value.HasField("metadata") for event in list(summary_iterator(path))[1:] for value in event.summary.value]
        for path in event_files(logdir)
    ]
    assert described == [[True, False], [True]]


def test_a_users_summary_is_left_as_it_is(logdir):
    from summaries import text

    summary = text("note", "x")
    before = summary.SerializeToString()
    with SummaryWriter(logdir) as writer:
        for step in range(2):
            writer.add_summary(summary, step)
    assert summary.SerializeToString() == before


def test_a_block_gives_its_step_and_time_to_calls_without(logdir):
    with SummaryWriter(logdir) as writer:
        with writer.use_metadata(global_step=10, walltime=5.0) as same:
            assert same is writer
            writer.add_scalar("a", 1.0)
            writer.add_scalar("a", 2.0)
            writer.add_scalar("a", 3.0, 11, 6.0)
            writer.add_text("b", "x")
            writer.add_scalars("c", {"d": 1.0})
            writer.add_graph(b"")
        writer.add_scalar("a", 4.0)
    times = [(event.step, event.wall_time) for event in events(logdir)]
    assert times[:5] == [(10, 5.0), (10, 5.0), (11, 6.0), (10, 5.0), (10, 5.0)]
    assert times[5][0] == 0
    assert times[5][1] > 1e9
    assert [(event.step, event.wall_time) for event in events(logdir / "c_d")] == [(10, 5.0)]


def test_blocks_in_blocks_and_errors_in_them(logdir):
    with SummaryWriter(logdir) as writer:
        with writer.use_metadata(global_step=1):
            with suppress(KeyError), writer.use_metadata(walltime=2.0):
                writer.add_scalar("a", 0.0)
                raise KeyError
            writer.add_scalar("a", 0.0)
            with writer.use_metadata(global_step=3), writer.use_metadata():
                writer.add_scalar("a", 0.0)
        writer.add_scalar("a", 0.0)
    got = [(event.step, event.wall_time == 2.0) for event in events(logdir)]
    assert got == [(1, True), (1, False), (3, False), (0, False)]
