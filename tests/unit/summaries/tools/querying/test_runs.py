"""The table of runs."""

import pytest

from summaries import SummaryWriter, dataset, read_logdir

pytest.importorskip("pyarrow", reason="an extra")


def test_a_row_for_each_run(tmp_path):
    with SummaryWriter(tmp_path / "lr=0.1") as writer:
        for step in (3, 1):
            writer.add_scalar("loss", 1.0, step, walltime=1.7e9 + step)
        writer.add_text("config", '{"act": "relu", "wd": 0.5}', 0, walltime=1.7e9)
    with SummaryWriter(tmp_path / "b"):
        pass
    (tmp_path / "b/opt.yaml").write_text("lr: 1\n")
    path = read_logdir(tmp_path)["lr=0.1"].files[0]
    with open(path, "r+b") as file:
        file.seek(-2, 2)
        file.write(b"xy")
    table = dataset(tmp_path, of="runs").to_table()
    empty, run = table.to_pylist()
    assert (empty["run"], empty["points"], empty["first_step"], empty["hparams/lr"]) == ("b", 0, None, 1.0)
    read = read_logdir(tmp_path)["lr=0.1"]
    assert run["bytes"] == sum(file.size for file in read.stored)
    assert (run["files"], run["records"], run["tags"], run["points"]) == (1, read.records[0], 1, 2)
    assert (run["first_step"], run["last_step"]) == (1, 3)
    assert (run["first_wall_time"], run["last_wall_time"]) == (1.7e9 + 1, 1.7e9 + 3)
    assert run["version"] == "brain.Event:2"
    assert (run["faults"], run["damaged"]) == (1, True)
    assert run["first_fault"] == str(read.faults[0])
    assert table.schema.field("hparams/lr").metadata == {b"source": b"opt.yaml, name"}
