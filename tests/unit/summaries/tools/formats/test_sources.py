"""What a path is told to be; and of each format, what is broken or something else."""

import json
import re
import sqlite3
import zipfile

import numpy as np
import pytest

from summaries import read_logdir
from summaries.tools import convert
from summaries.tools.formats.sources import SOURCES, format_of

TRAINER = {"log_history": [{"step": 1, "loss": 1 / 3, "epoch": 0.5}], "global_step": 1}
TASK = {"id": "t", "name": "first", "hyperparams": {"General": {"lr": {"value": "0.1"}}, "Args": {"n": {"value": "3"}}}}
EVENT = {
    "type": "training_stats_scalar",
    "iter": 4,
    "timestamp": 1.5e12,
    "metric": "loss",
    "variant": "a",
    "value": 0.1,
}
METRIC = {"type": "metric_msg", "payload": {"metric": {"metricName": "loss", "metricValue": 0.1, "step": 4}}}


def database(path, rows=((0, '{"loss": 0.1}'),)):
    with sqlite3.connect(path) as file:
        file.execute("CREATE TABLE metrics (id INTEGER PRIMARY KEY, run_id, run_name, timestamp, step, metrics)")
        file.execute("CREATE TABLE configs (run_id, run_name, config)")
        sql = "INSERT INTO metrics (run_id, run_name, timestamp, step, metrics) VALUES ('1', 'first', ?, ?, ?)"
        file.executemany(sql, [("2026-01-01T00:00:00+00:00", *row) for row in rows])
        file.execute("INSERT INTO configs VALUES ('1', 'first', '{\"lr\": 0.1, \"_Own\": 1}')")
    file.close()


def archive(path, **files):
    with zipfile.ZipFile(path, "w") as file:
        for name, text in files.items():
            file.writestr(name.replace("__", "."), text)


def clearml(path):
    archive(path, task__json=json.dumps(TASK), metrics__jsonl=json.dumps([EVENT, "x"]) + "\nnonsense\n")


def comet(path):
    archive(path, experiment__json='{"offline_id": "e"}', messages__json=json.dumps(METRIC) + "\n")


FILES = {
    "trackio": ("digits.db", database),
    "clearml": ("offline-t.zip", clearml),
    "comet": ("e.zip", comet),
    "trainer": ("trainer_state.json", lambda path: path.write_text(json.dumps(TRAINER))),
    "csv": ("metrics.csv", lambda path: path.write_text("epoch,loss,step\n0,0.1,4\n")),
    "log": ("train.log", lambda path: path.write_text("step=4 loss=0.1\n")),
    "jsonl": ("a.ndjson", lambda path: path.write_text('{"step": 4, "loss": 0.1}\n')),
}
EMPTY = {
    "swanlab": ("run-a.swanlab", lambda path: path.write_bytes(b":SWL\xd6\xe1\x02")),
    "wandb": ("run-a.wandb", lambda path: path.write_bytes(b":W&B\xe1\xbe\0")),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_and_a_directory_of_it_are_told(tmp_path, name):
    file, make = FILES[name]
    make(tmp_path / file)
    assert format_of(str(tmp_path / file), prefer_events=False) == name
    assert format_of(str(tmp_path), prefer_events=False) == ("events" if SOURCES[name].alone else name)
    assert convert(tmp_path / file, tmp_path / "runs").points >= 1
    if not SOURCES[name].alone:
        (tmp_path / "run").mkdir()
        (tmp_path / "run" / "events.out.tfevents.1.h").write_bytes(b"")
        assert format_of(str(tmp_path / "run"), prefer_events=True) == "events"


@pytest.mark.parametrize(
    ("name", "contents", "text"),
    [
        ("a.db", b"SQLite format 3", "{}: not an SQLite database, which begins with b'SQLite format 3\\x00'"),
        ("a.db", b"SQLite format 3\0" + bytes(90), "{}: not a whole SQLite database: file is not a database"),
        ("a.zip", b"PK\3\4 and so on", "{}: not a whole ZIP file: File is not a zip file"),
        ("a.swanlab", b":SWL\xd6\xe1\x01",
         "{}: not a .swanlab file of version 2, which begins with b':SWL\\xd6\\xe1\\x02'"),
        ("trainer_state.json", b"[]",
         "{}: there must be a list 'log_history' of objects, as a Trainer writes it"),
        ("trainer_state.json", b"{",
         "{}: not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        ("a.csv", b"a,b\n1,2\n",
         "{}: there must be a column 'step', and either 'tag' and 'value' or one for each tag, got 'a', 'b'"),
    ],
)  # fmt: skip
def test_what_is_broken_or_something_else(tmp_path, name, contents, text):
    path = tmp_path / name
    path.write_bytes(contents)
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - all of its text follows
        convert(path, tmp_path / "runs")
    assert str(caught.value) == text.format(path)
    assert not (tmp_path / "runs").exists()


def test_a_database_that_is_cut_off(tmp_path):
    database(tmp_path / "whole.db", [(i, json.dumps({"loss": i / 3, "text": "x" * 500})) for i in range(200)])
    (tmp_path / "a.db").write_bytes((tmp_path / "whole.db").read_bytes()[:40_000])
    with pytest.raises(ValueError, match=r"a\.db: not a whole SQLite database: database disk image is malformed"):
        convert(tmp_path / "a.db", tmp_path / "runs")


def test_what_of_a_database_is_left_out(tmp_path):
    media = '{"x": {"_type": "trackio.image"}}'
    database(tmp_path / "a.db", [(0, '{"big": 9007199254740993, "n": null}'), (None, "{}"), (1, "[]"), (2, media)])
    assert set(convert(tmp_path / "a.db", tmp_path / "runs").notes) == {
        "rows that are no JSON objects: 1 left out",
        "values of 'x', a trackio.image: 1 left out",
        "digits of integers of 'big' beyond float64: 1 left out",
        "values of 'n' that are no numbers: 1 left out",
        "history without a step: 1 left out",
        "settings of Trackio's own: 1 left out",
    }


def test_an_archive_counts_what_is_no_event(tmp_path):
    clearml(tmp_path / "a.zip")
    done = convert(tmp_path / "a.zip", tmp_path / "runs")
    assert set(done.notes) == {
        "rows of metrics.jsonl that are no objects: 1 left out", "lines of metrics.jsonl that are not JSON: 1 left out",
        "1 value rounded to float32; --double keeps them as they are",
    }  # fmt: skip
    run = read_logdir(tmp_path / "runs")["first"]
    assert (run.hparams, run.scalars["loss/a"].step.tolist()) == ({"lr": 0.1, "Args.n": 3.0}, [4])


def test_a_csv_of_a_run_that_is_still_writing(tmp_path):
    (tmp_path / "version_0").mkdir()
    (tmp_path / "version_0/metrics.csv").write_text("epoch,loss,step\n0,0.5,1\n0,0.2")
    (tmp_path / "version_0/hparams.yaml").write_text("lr: 0.1\nlayers:\n- 2\n- 3\n")
    done = convert(tmp_path, tmp_path.parent / f"{tmp_path.name}-runs")
    assert done.notes[0] == "last rows that are not whole: 1 left out"
    run = read_logdir(tmp_path.parent / f"{tmp_path.name}-runs")["version_0"]
    assert (run.scalars["loss"].value.tolist(), run.hparams) == ([0.5], {"lr": 0.1, "layers": "[2, 3]"})


def test_checkpoints_of_one_trainer_are_one_run(tmp_path):
    for steps in (1, 3):
        rows = [{"step": i, "loss": i / 3} for i in range(steps)]
        (tmp_path / f"checkpoint-{steps}").mkdir()
        (tmp_path / f"checkpoint-{steps}" / "trainer_state.json").write_text(json.dumps({"log_history": rows}))
    done = convert(tmp_path, tmp_path / "runs", double_precision=True)
    assert (done.runs, done.points) == (1, 3)
    np.testing.assert_array_equal(read_logdir(tmp_path / "runs")["."].scalars["loss"].value, np.arange(3) / 3)


@pytest.mark.parametrize("pattern", ["(", r"(?P<loss>\S+)", r"(?P<step>\d+)"])
def test_patterns_that_are_none(tmp_path, pattern):
    (tmp_path / "a.log").write_text("step=1 loss=2\n")
    with pytest.raises(ValueError, match="a pattern must"):
        convert(tmp_path / "a.log", tmp_path / "runs", pattern=pattern)
    with pytest.raises(ValueError, match="a pattern is for plain logs, got one for csv: name the format log"):
        convert(tmp_path / "a.csv", tmp_path / "runs", pattern=pattern)


def test_logs(tmp_path):
    (tmp_path / "a.log").write_text(
        "2026-11-24T10:00:00Z step=1 loss=.5 name=x lr: 1e-3\nhello\n\nEpoch: 2, loss = nan\nstep=1.5 loss=3\n"
    )
    done = convert(tmp_path / "a.log", tmp_path / "runs", double_precision=True)
    assert done.notes[:2] == ("lines without a step: 2 left out", "history without a step: 1 left out")
    run = read_logdir(tmp_path / "runs")["."]
    assert (run.scalars["lr"].value.tolist(), run.scalars["lr"].wall_time.tolist()) == ([0.001], [1795514400.0])


@pytest.mark.parametrize(
    ("line", "step", "values", "notes"),
    [
        ("step=9007199254740993 loss=1", 9007199254740993, {"loss": 1.0}, ()),
        ("step=1e3 loss=1_0.5", 1000, {"loss": 10.5}, ()),
        ("step: 1, loss: 0.5. v=1.2.3 t=12:30:01 n=12abc", 1, {"loss": 0.5}, ()),
        ("step:   1  loss:   0.5 acc  =  1", 1, {"loss": 0.5, "acc": 1.0}, ()),
        ("\x1b[32mstep=1\x1b[0m \x1b[1;31mloss=0.5\x1b[0m", 1, {"loss": 0.5}, ()),
        ("step=1 \u640d\u5931=0.5", 1, {"\u640d\u5931": 0.5}, ()),
        ("step=1 loss=0,25 n=1,234.5 lr=1,acc=1", 1, {"lr": 1.0, "acc": 1.0},
         ("values of 'loss' that are no numbers: 1 left out", "values of 'n' that are no numbers: 1 left out")),
        ("step=1 train loss: 0.5, val loss: 0.25", 1, {"loss": 0.25},
         ("values of 'loss', which another in their line replaces: 1 left out",)),
    ],
)  # fmt: skip
def test_what_numbers_are_like_in_a_log(tmp_path, line, step, values, notes):
    (tmp_path / "a.log").write_text(line, encoding="utf-8")
    done = convert(tmp_path / "a.log", tmp_path / "runs", double_precision=True)
    scalars = read_logdir(tmp_path / "runs")["."].scalars
    assert {tag: (series.step.tolist(), series.value.tolist()) for tag, series in scalars.items()} == {
        tag: ([step], [value]) for tag, value in values.items()
    }
    assert done.notes[:-1] == notes


def test_a_step_with_a_comma_is_not_guessed(tmp_path):
    (tmp_path / "a.log").write_text("step=1,000 loss=0.5\n")
    assert convert(tmp_path / "a.log", tmp_path / "runs").notes == ("history without a step: 1 left out",)


@pytest.mark.parametrize(
    "line", ["a" * 10**6, "a/" * 10**6, "a-b." * 10**6, "a=" + "1" * 10**6 + "x", "a=1" + ",1" * 10**6]
)
def test_a_long_line_of_a_log_is_passed_once(tmp_path, line):
    """Tried at each of its characters, it would take hours."""
    (tmp_path / "a.log").write_text(f"{line}\nstep=1 loss=0.5\n")
    assert convert(tmp_path / "a.log", tmp_path / "runs").points == 1


@pytest.mark.parametrize(
    ("name", "broken", "why"),
    [
        ("trackio", b"SQLite", "not an SQLite database, which begins with b'SQLite format 3\\x00'"),
        ("clearml", b"PK", "not a whole ZIP file: File is not a zip file"),
        ("comet", b"PK", "not a whole ZIP file: File is not a zip file"),
        ("swanlab", b"", "not a .swanlab file of version 2, which begins with b':SWL\\xd6\\xe1\\x02'"),
        ("wandb", b"", "not a .wandb file of version 0, which begins with b':W&B\\xe1\\xbe\\x00'"),
    ],
)
def test_a_broken_file_of_a_directory_is_named(tmp_path, name, broken, why):
    file, make = {**FILES, **EMPTY}[name]
    (tmp_path / "from").mkdir()
    make(tmp_path / "from" / file)
    path = tmp_path / "from" / f"broken{(tmp_path / file).suffix}"
    path.write_bytes(broken)
    assert convert(tmp_path / "from", tmp_path / "runs").broken == (f"{path}: {why}",)
    (tmp_path / "from" / file).unlink()  # and nothing else is there
    with pytest.raises(ValueError, match=f"^{re.escape(f'{path}: {why}')}$"):
        convert(tmp_path / "from", tmp_path / "more", source_format=name)
    with pytest.raises(ValueError, match=f"^{re.escape(f'{path}: {why}')}$"):
        convert(tmp_path / "from", tmp_path / "more")


def test_damage_within_a_file_of_a_directory_leaves_it_out(tmp_path):
    """It shows where the file is read, not where it is opened: nothing of it is carried over."""
    (tmp_path / "from").mkdir()
    rows = [(i, json.dumps({"loss": i / 3, "text": "x" * 500})) for i in range(200)]
    for name in ("a", "b"):
        database(tmp_path / "from" / f"{name}.db", rows)
        clearml(tmp_path / "from" / f"{name}.zip")
        (tmp_path / "from" / name).mkdir()
        (tmp_path / "from" / name / "trainer_state.json").write_text(json.dumps(TRAINER))
    for name, start, stop in (("a.db", 12_288, 40_960), ("a.zip", 80, 90), ("a/trainer_state.json", 30, 40)):
        data = bytearray((tmp_path / "from" / name).read_bytes())
        data[start:stop] = bytes(stop - start)
        (tmp_path / "from" / name).write_bytes(data)
    for format_, name, said in (
        ("trackio", "a.db", "not a whole SQLite database: database disk image is malformed"),
        ("clearml", "a.zip", "not a whole ZIP file: "),
        ("trainer", "a/trainer_state.json", "not JSON: "),
    ):
        converted = convert(tmp_path / "from", tmp_path / format_, source_format=format_)
        assert [text.startswith(f"{tmp_path / 'from' / name}: {said}") for text in converted.broken] == [True]
        assert converted.runs == 1


@pytest.mark.parametrize(
    ("name", "file", "contents", "note"),
    [
        ("csv", "other.csv", b"step;loss\n1;2\n", "files *.csv of another format: 1 left out"),
        ("clearml", "other.zip", b"PK\5\6" + bytes(18), ".zip files without task.json and metrics.jsonl: 1 left out"),
    ],
)
def test_a_file_of_a_directory_that_is_another_one_is_counted(tmp_path, name, file, contents, note):
    own, make = FILES[name]
    (tmp_path / "from").mkdir()
    make(tmp_path / "from" / own)
    (tmp_path / "from" / file).write_bytes(contents)
    converted = convert(tmp_path / "from", tmp_path / "runs")
    assert note in converted.notes
    assert converted.broken == ()


def test_a_repository_of_aim_is_told(tmp_path):
    (tmp_path / "repo" / ".aim" / "meta").mkdir(parents=True)
    said = "is a repository of Aim's, which only Aim opens: the page of `convert` has a program for it$"
    with pytest.raises(ValueError, match=said):
        convert(tmp_path / "repo", tmp_path / "runs")


def test_settings_beside_that_cannot_be_read_are_told(tmp_path):
    for name, text in (("a", '{"lr": '), ("b", "{}\n"), ("c", "lr: 0.1\n")):
        (tmp_path / "from" / name).mkdir(parents=True)
        (tmp_path / "from" / name / "metrics.csv").write_text("step,loss\n1,0.5\n")
        (tmp_path / "from" / name / "hparams.yaml").write_text(text)
    assert "files of settings that cannot be read: 1 left out" in convert(tmp_path / "from", tmp_path / "runs").notes


def test_settings_of_trackio(tmp_path):
    database(tmp_path / "a.db", [(0, '{"loss": 1}')])
    with sqlite3.connect(tmp_path / "a.db") as file:
        settings = {"a.b": 1, "a": {"b": 2}, "_Group": "mine", "_Created": "today"}
        file.execute("UPDATE configs SET config = ?", (json.dumps(settings),))
    file.close()
    assert set(convert(tmp_path / "a.db", tmp_path / "runs").notes) >= {
        "settings of Trackio's own: 1 left out",
        "settings that have the name of another one: 1 left out",
    }
    assert next(iter(read_logdir(tmp_path / "runs").values())).hparams == {"a.b": 2.0, "group": "mine"}


def test_rows_of_a_database_that_are_odd(tmp_path):
    histogram = '{"h": {"_type": "trackio.histogram", "bins": [0, 1], "values": [2]}}'
    database(tmp_path / "a.db", [(0, None), (1, 5), ("x", histogram), (None, histogram), (2, '{"loss": 1}')])
    with sqlite3.connect(tmp_path / "a.db") as file:
        file.execute("UPDATE metrics SET timestamp = '0001-01-01T00:00:00' WHERE step = 2")
        file.execute("UPDATE configs SET config = NULL")
    file.close()
    assert set(convert(tmp_path / "a.db", tmp_path / "runs").notes) == {
        "rows that are no JSON objects: 3 left out",
        "values of 'h', a trackio.histogram: 2 left out",
        "history without a step: 2 left out",
        "1 point had no time, and got that of the conversion",
    }


@pytest.mark.parametrize("hyperparameters", [[1], {"General": "x"}, {"General": {"lr": "x"}}])
def test_settings_of_clearml_that_are_none(tmp_path, hyperparameters):
    events = [EVENT | {"value": 1, "timestamp": 10**400}]
    archive(
        tmp_path / "a.zip", task__json=json.dumps({"hyperparams": hyperparameters}), metrics__jsonl=json.dumps(events)
    )
    assert convert(tmp_path / "a.zip", tmp_path / "runs").notes[:2] == (
        "values that should be JSON objects: 1 left out",
        "1 point had no time, and got that of the conversion",
    )


@pytest.mark.parametrize(
    ("message", "note"),
    [
        ({"type": "metric_msg", "payload": {"metric": [1]}}, "values that should be JSON objects: 1 left out"),
        ({"type": "parameter_msg", "payload": {"param": "x"}}, "values that should be JSON objects: 1 left out"),
        ({"type": "file_upload", "payload": {"additional_params": 1}},
         "values that should be JSON objects: 1 left out"),
        ({"type": "file_upload", "payload": {"upload_type": "text-sample", "file_path": "experiment.json",
                                             "additional_params": {"step": 2**70, "fileName": "t"}}},
         "files of the type text-sample: 1 left out"),
    ],
)  # fmt: skip
def test_messages_of_comet_that_are_odd(tmp_path, message, note):
    archive(tmp_path / "e.zip", experiment__json="{}", messages__json=json.dumps(message))
    assert note in convert(tmp_path / "e.zip", tmp_path / "runs").notes


def test_a_run_is_not_joined_to_one_whose_name_was_given_apart(tmp_path):
    database(tmp_path / "a.db", [(0, '{"loss": 1}'), (0, '{"loss": 2}'), (0, '{"loss": 3}')])
    with sqlite3.connect(tmp_path / "a.db") as file:
        file.execute("UPDATE metrics SET run_id = id, run_name = CASE id WHEN 3 THEN 'first,2' ELSE 'first' END")
    file.close()
    convert(tmp_path / "a.db", tmp_path / "runs")
    values = {
        name: run.scalars["loss"].value.tolist() for name, run in read_logdir(tmp_path / "runs").items() if run.scalars
    }
    assert values == {"first": [1.0], "first,2": [2.0], "first,2,3": [3.0]}
