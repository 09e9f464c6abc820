"""W&B's offline files: one that W&B wrote, and others with damage."""

import json
from pathlib import Path
from struct import pack
from zlib import crc32

import numpy as np
import pytest
from helpers import ROOT

from summaries.tools.formats.points import Facts, LeftOut
from summaries.tools.formats.wandb import read_wandb, wandb_files
from summaries.wire.protobuf import varint

GOLDEN = ROOT / "tests/golden/wandb/run-abc12345.wandb"
MAGIC = b":W&B\xe1\xbe\x00"
BLOCK = 1 << 15


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def item(key, value):
    return field(1, field(1, key.encode()) + field(16, json.dumps(value).encode()))


def history(**row):
    return field(2, b"".join(item(key, value) for key, value in row.items()))


def log(*records):
    """The file of these records, cut into fragments and blocks."""
    out = bytearray(MAGIC)
    for record in records:
        left, first = record, True
        while first or left:
            room = BLOCK - len(out) % BLOCK
            if room < 7:
                out += bytes(room)
                continue
            data, left = left[: room - 7], left[room - 7 :]
            kind = {(True, True): 1, (True, False): 2, (False, False): 3, (False, True): 4}[first, not left]
            out += pack("<IHB", crc32(bytes([kind]) + data), len(data), kind) + data
            first = False
    return bytes(out)


def read(path):
    """(run, tag, step, time, value) of each point, the facts, and what was left out."""
    left_out, rows, facts = LeftOut(), [], []
    for one in read_wandb(str(path), left_out):
        if isinstance(one, Facts):
            facts.append(one)
        else:
            columns = ([one.tags[tag] for tag in one.tag], one.step, one.wall_time, one.value)
            rows += zip([one.run] * len(one.step), *map(list, columns), strict=True)
    return rows, facts, left_out


def test_what_wandb_wrote():
    rows, facts, left_out = read(GOLDEN)
    series = {}
    for run, tag, step, time, value in rows:
        assert (run, 1.7e9 < time < 1.9e9) == ("a run", True)
        series.setdefault(tag, []).append((step, value))
    assert series["loss"][:100] == [(i, 1 / (1 + i)) for i in range(100)]
    np.testing.assert_equal(series["loss"][100:], [(100, np.nan), (101, np.inf), (102, -np.inf)])
    assert series["train/acc"] == [(i, float(i)) for i in range(100)]
    assert series["flag"] == [(i, float(i % 2 == 0)) for i in range(100)]
    assert series["nested.a"] == [(i, i * 2.0) for i in range(100)]
    assert series["eval"] == [(1000, 3.0), (1001, 4.0)]
    assert set(series) == {"loss", "train/acc", "flag", "nested.a", "eval"}
    config = {"lr": 0.1, "seed": 3.0, "opt.name": "adam", "opt.betas": "[0.9, 0.999]", "nesterov": True, "late": 5.0}
    assert facts == [Facts("a run", config, {"notes": "the rate is too high"})]
    assert left_out == {
        f"values of '{tag}' that are no numbers": count
        for tag, count in {"text": 100, "nested.b": 100, "hist._type": 1, "hist.values": 1, "hist.bins": 1}.items()
    }


def test_our_log_is_as_wandb_writes_it():
    """Else the tests below would say nothing."""
    rows, *_ = read(GOLDEN)
    assert len(rows) > 400
    assert GOLDEN.stat().st_size > BLOCK


def test_records_over_several_blocks(tmp_path):
    path = tmp_path / "run-x.wandb"
    sizes = [10, BLOCK - 200, 3 * BLOCK, 5, BLOCK - 8, 0, 100_000]
    path.write_bytes(
        log(*(history(loss=float(i), text="x" * size, _step=i, _timestamp=i) for i, size in enumerate(sizes)))
    )
    rows, _, left_out = read(path)
    assert rows == [("x", "loss", i, float(i), float(i)) for i in range(len(sizes))]
    assert left_out == {"values of 'text' that are no numbers": len(sizes)}


@pytest.mark.parametrize("fill", range(20))
def test_blocks_that_end_with_a_few_bytes(tmp_path, fill):
    path = tmp_path / "run-x.wandb"
    head = len(log(history(_step=0, text="")))
    first = history(_step=0, text="x" * (BLOCK - head - 10 + fill))
    path.write_bytes(log(first, history(_step=1, loss=2.0)))
    assert read(path)[0][-1][:3] == ("x", "loss", 1)


@pytest.mark.parametrize("batch", [1, 7, 1 << 15])
def test_batches(tmp_path, monkeypatch, batch):
    monkeypatch.setattr("summaries.tools.formats.gathering._POINTS", batch)
    path = tmp_path / "run-x.wandb"
    path.write_bytes(log(*(history(a=i, b=-i, _step=i) for i in range(10))))
    assert [row[1:3] for row in read(path)[0]] == [(tag, i) for i in range(10) for tag in "ab"]


def test_damage_is_counted_and_reading_goes_on_with_the_next_block(tmp_path):
    path = tmp_path / "run-x.wandb"
    records = [history(loss=float(i), text="x" * 1000, _step=i) for i in range(100)]
    data = bytearray(log(*records))
    data[40_000] ^= 1
    path.write_bytes(data)
    rows, _, left_out = read(path)
    steps = [row[2] for row in rows]
    lost = sorted(set(range(100)) - set(steps))
    assert left_out["damaged fragments"] == 1
    assert steps == sorted(steps)
    assert lost == list(range(lost[0], lost[-1] + 1))
    assert len(rows) > 60


@pytest.mark.parametrize("cut", [8, 13, 20, 500, 40_000])
def test_an_unfinished_file(tmp_path, cut):
    path = tmp_path / "run-x.wandb"
    path.write_bytes(log(*(history(loss=float(i), text="x" * 1000, _step=i) for i in range(60)))[:cut])
    rows, facts, _ = read(path)
    assert [row[2] for row in rows] == list(range(len(rows)))
    assert [one.run for one in facts] == ["x"]


def test_records_that_are_no_messages(tmp_path):
    path = tmp_path / "run-x.wandb"
    bad_text = field(2, field(1, field(1, b"\xff") + field(16, b"1")))
    deep = field(2, field(1, field(1, b"x") + field(16, b"[" * 9999)))  # nor what takes more than Python's stack
    path.write_bytes(
        log(
            b"\x12\xff",
            bad_text,
            deep,
            history(_step=1, x=10**400),
            history(loss=1.0),
            history(loss=2.0, _step=5),
            field(9, b"else"),
        )
    )
    rows, _, left_out = read(path)
    assert [row[2] for row in rows] == [1, 5]
    assert left_out == {
        "records that are no messages": 3,
        "digits of integers of 'x' beyond float64": 1,
        "history without a step": 1,
    }


def test_runs_of_one_name_and_one_run_in_two_files(tmp_path):
    named = field(17, field(8, b"same"))
    for folder, run_id in (("a", "1"), ("b", "1"), ("c", "2")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"run-{run_id}.wandb").write_bytes(log(named, history(loss=1.0, _step=int(run_id))))
    assert [row[0] for row in read(tmp_path)[0]] == ["same", "same", "same,2"]
    assert [Path(file).parent.name for file in wandb_files(str(tmp_path))] == ["a", "b", "c"]


def test_another_file(tmp_path):
    path = tmp_path / "x.wandb"
    path.write_bytes(b":W&B\xe1\xbe\x01")
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - all of its text follows
        read(path)
    assert str(caught.value) == f"{path}: not a .wandb file of version 0, which begins with {MAGIC!r}"
