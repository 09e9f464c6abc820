"""MLflow's file store: one as MLflow writes it, and our own read back."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from summaries import SummaryWriter, read_logdir, read_run
from summaries.tools.formats import mlflow
from summaries.tools.formats.event_files import write_runs
from summaries.tools.formats.mlflow import is_mlflow, read_mlflow, write_mlflow
from summaries.tools.formats.points import Facts, LeftOut

RUN = "a50b1b958d3a48eb8337d4d36b4ca143"
# What MLflow 3.17 wrote.
STORE = {
    "0/meta.yaml": "experiment_id: '0'\nlifecycle_stage: active\nname: Default\n",
    "33/meta.yaml": "creation_time: 1795359447972\nexperiment_id: '33'\nlifecycle_stage: active\nname: digits\n",
    f"33/{RUN}/meta.yaml": f"lifecycle_stage: active\nrun_id: {RUN}\nrun_name: clean run\nstatus: 3\ntags: []\n",
    f"33/{RUN}/params/flag": "True",
    f"33/{RUN}/params/lr": "0.1",
    f"33/{RUN}/params/opt/name": "adam",
    f"33/{RUN}/metrics/nostep": "1795359448024 2.0 0\n",
    f"33/{RUN}/metrics/train/acc": "1795359448019 0.0 0\n1795359448020 1.0 1\n",
    f"33/{RUN}/metrics/loss": "1795359448019 1.0 0\n1795359448020 0.3333333333333333 1\n1795359448023 nan 5\n"
    "1795359448023 inf 6\n",
    f"33/{RUN}/tags/mlflow.user": "root",
    f"33/{RUN}/tags/mlflow.runName": "clean run",
    f"33/{RUN}/tags/mlflow.note.content": "went well",
    f"33/{RUN}/tags/who": "me",
}


def store(directory, files):
    for name, contents in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(contents, encoding="utf-8")
    return str(directory)


def read(path):
    left_out = LeftOut()
    return list(read_mlflow(path, left_out)), left_out


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="only POSIX has pipes")
def test_pipes_and_links_are_left_out(tmp_path):
    """A pipe has no end; a link could have any file of whoever converts copied into a run."""
    path = tmp_path / "store"
    store(path, STORE)
    (tmp_path / "secret").write_text("1795359448019 1.0 0\n")
    run = path / "33" / RUN
    os.mkfifo(run / "metrics" / "pipe")
    (run / "metrics" / "link").symlink_to(tmp_path / "secret")
    (run / "params" / "link").symlink_to(tmp_path / "secret")
    (run / "tags" / "linked").symlink_to(tmp_path)
    (path / "0" / "meta.yaml").unlink()
    os.mkfifo(path / "0" / "meta.yaml")
    (points, facts), left_out = read(str(path))
    (want, want_facts), _ = read(store(tmp_path / "clean", STORE))
    assert points.tags == want.tags
    assert facts == want_facts
    assert left_out["links, pipes and devices"] == 4


def test_as_mlflow_writes_it(tmp_path):
    (points, facts), left_out = read(store(tmp_path, STORE))
    rows = zip([points.tags[tag] for tag in points.tag], points.step, points.wall_time, points.value, strict=True)
    np.testing.assert_equal(
        list(rows),
        [
            ("loss", 0, 1795359448.019, 1.0),
            ("train/acc", 0, 1795359448.019, 0.0),
            ("loss", 1, 1795359448.020, 1 / 3),
            ("train/acc", 1, 1795359448.020, 1.0),
            ("loss", 5, 1795359448.023, np.nan),
            ("loss", 6, 1795359448.023, np.inf),
            ("nostep", 0, 1795359448.024, 2.0),
        ],
    )
    parameters = {"flag": True, "lr": 0.1, "opt/name": "adam"}
    assert facts == Facts("clean run", parameters, {"note": "went well", "who": "me"})
    assert (points.run, left_out.notes()) == ("clean run", ["tags of MLflow's own: 1 left out"])


@pytest.mark.parametrize("inside", ["", "33", f"33/{RUN}"])
def test_a_store_an_experiment_or_a_run(tmp_path, inside):
    path = store(tmp_path, STORE) + "/" + inside
    assert is_mlflow(path)
    assert read(path)[0][0].run == "clean run"
    assert not is_mlflow(path + "/nowhere")


def test_names(tmp_path):
    files = {
        "1/meta.yaml": "name: 'it''s'\n",
        "1/a/meta.yaml": "run_name: x\n",
        "1/b/meta.yaml": 'run_name: "x"\n',
        "1/c/meta.yaml": "run_name: x\nlifecycle_stage: deleted\n",
        "2/d/meta.yaml": "",
        "2/d/metrics/y": "1 2\n3 4 5 dataset digest\nx 1 2\n7\n1 2 99999999999999999999\n\n",
    }
    for run in ("1/a", "1/b", "1/c", "2/d"):
        (tmp_path / run / "params").mkdir(parents=True)
    items, left_out = read(store(tmp_path, files))
    assert [one.run for one in items[::2]] == ["it's/x", "it's/x,b", "2/d"]
    points = items[-2]
    assert (points.step.tolist(), points.wall_time.tolist(), points.value.tolist()) == ([0, 5], [0.001, 0.003], [2, 4])
    assert left_out == {
        "runs that are deleted in MLflow": 1, "lines of 'y' that are no points": 4, "tags of MLflow's own": 0,
    }  # fmt: skip


def test_no_run(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        read(str(tmp_path))
    assert str(caught.value) == f"no run of MLflow (meta.yaml beside metrics, params or tags) below {tmp_path}"


def test_written_and_read_back(tmp_path):
    with SummaryWriter(tmp_path / "logs" / "a/b") as writer:
        for step in (-3, 0, 2**40):
            writer.add_scalar("loss/train", 1 / 3, step, 1e9 + step % 100 / 8)
        writer.add_hparams({"lr": 0.1, "on": True, "name": "größe"}, {})
    runs = read_logdir(tmp_path / "logs")
    (tmp_path / "store").mkdir()
    assert write_mlflow(runs.items(), str(tmp_path / "store"), "an experiment") == (3, {})
    assert is_mlflow(str(tmp_path / "store"))
    written = write_runs(read_mlflow(str(tmp_path / "store"), LeftOut()), str(tmp_path / "back"))
    back = read_run(tmp_path / "back/a/b")
    found, series = back.scalars["loss/train"], runs["a/b"].scalars["loss/train"]
    assert (written.points, back.hparams) == (3, runs["a/b"].hparams)
    order = np.argsort(series.wall_time, kind="stable")
    for column in ("step", "wall_time", "value"):
        np.testing.assert_array_equal(getattr(found, column), getattr(series, column)[order])


def test_tags_that_mlflow_does_not_take(tmp_path):
    with SummaryWriter(tmp_path / "logs") as writer:
        for tag in ("loss", "loss/train", "../../up", "größe", "a\nb"):
            writer.add_scalar(tag, 1.0, 0, float("inf"))
    (tmp_path / "store").mkdir()
    points, changed = write_mlflow([("a run", read_run(tmp_path / "logs"))], str(tmp_path / "store"), "x")
    assert points == 5
    assert changed == {"loss": "loss_", "../../up": "__/__/up", "größe": "gr__e", "a\nb": "a_b"}
    (found, facts), _ = read(str(tmp_path / "store"))
    assert sorted(found.tags) == sorted([*changed.values(), "loss/train"])
    assert (facts.run, sorted(entry.name for entry in tmp_path.iterdir())) == ("a run", ["logs", "store"])


WORDS = st.sampled_from(
    ["1", "1700000000000", "0.5", "-2", "nan", "inf", "x", "1_0", "9007199254740993", str(2**63), "٣"]
)
SPACES = st.sampled_from([" ", " ", " ", "  ", "\t", "\v", "\xa0", "\u2028"])
ENDS = st.sampled_from(["\n", "\n", "\r\n", "\r", "\n\n", "\f", " \n"])


@given(st.lists(st.tuples(st.lists(st.tuples(WORDS, SPACES), min_size=1, max_size=4), WORDS, ENDS), max_size=6))
def test_plain_metrics_are_read_as_any_others(lines):
    text = "".join("".join(map("".join, pairs)) + word + end for pairs, word, end in lines)
    found, left_out = [], [LeftOut(), LeftOut()]
    with pytest.MonkeyPatch.context() as patch:
        found.append(mlflow._metric("loss", text, left_out[0]))
        patch.setattr(mlflow, "_plain_metric", lambda *_: None)
        found.append(mlflow._metric("loss", text, left_out[1]))
    assert found[0].tobytes() == found[1].tobytes()
    assert left_out[0] == left_out[1]
