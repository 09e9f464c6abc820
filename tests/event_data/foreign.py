"""A small sound source of every format that `convert` reads, made without the libraries that write such.

Each function writes into an empty directory and returns what is to be converted. `hurt` is called with what stands
behind checksums or in a database, such as a record or a row, and gives what is stored instead.
"""

import json
import sqlite3
import struct
import zipfile
import zlib

__all__ = ["MAKERS", "leveldb_log"]

STEPS = range(4)
CONFIG = {"lr": 0.1, "on": True, "opt": {"name": "adam", "betas": [0.9, 0.999]}}


def png(width=1, height=2):
    """A picture of one colour."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    pixels = zlib.compress((b"\x00" + b"\x00" * width) * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def leveldb_log(magic, records):
    """A log of LevelDB's format that is shorter than a block."""
    data = magic
    for record in records:
        data += struct.pack("<IHB", zlib.crc32(record, zlib.crc32(b"\x01")), len(record), 1) + record
    return data


def csv(place, _hurt=bytes):
    rows = "".join(f"a,loss,{step},{100 + step},{1 / (1 + step)}\n" for step in STEPS)
    (place / "a.csv").write_text("run,tag,step,wall_time,value\n" + rows)
    return place / "a.csv"


def wide_csv(place, _hurt=bytes):
    (place / "results.csv").write_text("epoch,loss, acc\n" + "".join(f"{step},{step / 2},0.5\n" for step in STEPS))
    (place / "args.yaml").write_text("lr: 0.1\nopt:\n  name: adam\nlayers:\n- 1\n- 2\n")
    return place


def jsonl(place, _hurt=bytes):
    rows = ({"run": "a", "tag": "loss", "step": step, "wall_time": 100.5, "value": step / 2} for step in STEPS)
    (place / "a.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return place / "a.jsonl"


def parquet(place, _hurt=bytes):
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {"run": ["a"] * 4, "tag": ["loss"] * 4, "step": [*STEPS], "wall_time": [100.0] * 4, "value": [0.5] * 4}
    pq.write_table(pa.table(columns), place / "a.parquet")
    return place / "a.parquet"


def neptune(place, _hurt=bytes):
    import datetime as dt
    from decimal import Decimal

    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = ["float_series", "float_series", "string_series", "histogram_series", "float", "string", "string_set"]
    none = [None] * len(kinds)
    histogram = pa.struct({"type": pa.string(), "edges": pa.list_(pa.float64()), "values": pa.list_(pa.float64())})
    columns = {
        "project_id": ["p"] * len(kinds),
        "run_id": ["R-1"] * len(kinds),
        "attribute_path": ["loss", "loss", "words", "histo", "lr", "sys/name", "sys/tags"],
        "attribute_type": kinds,
        "step": pa.array([*map(Decimal, (1, 2, 1, 1)), None, None, None], pa.decimal128(18, 6)),
        "timestamp": pa.array([dt.datetime(2026, 1, 1, tzinfo=dt.UTC)] * 4 + none[4:], pa.timestamp("ms", tz="UTC")),
        "float_value": [0.5, 0.25, None, None, 0.1, None, None],
        "int_value": pa.array(none, pa.int64()),
        "string_value": [None, None, "hello", None, None, "first", None],
        "bool_value": pa.array(none, pa.bool_()),
        "datetime_value": pa.array(none, pa.timestamp("ms", tz="UTC")),
        "string_set_value": pa.array([*none[1:], ["a", "b"]], pa.list_(pa.string())),
        "histogram_value": pa.array(
            [None] * 3 + [{"type": "COUNTING", "edges": [0.0, 1.0, 2.0], "values": [1.0, 2.0]}] + [None] * 3, histogram
        ),
    }
    pq.write_table(pa.table(columns), place / "R-1_part_0.parquet")
    return place / "R-1_part_0.parquet"


def mlflow(place, _hurt=bytes):
    run = place / "1" / "abc"
    for name, text in {
        "../meta.yaml": "name: digits\n",
        "meta.yaml": "run_name: first\nlifecycle_stage: active\n",
        "metrics/train/loss": "".join(f"{1_700_000_000_000 + step} {step / 2} {step}\n" for step in STEPS),
        "params/lr": "0.1",
        "tags/mlflow.note.content": "went well",
    }.items():
        (run / name).parent.mkdir(parents=True, exist_ok=True)
        (run / name).write_text(text)
    return place


def _field(number, data):
    """A field of a protobuf message, of at most 127 bytes, or of one field that is longer."""
    size, length = len(data), b""
    while size > 127:
        length, size = length + bytes([size & 127 | 128]), size >> 7
    key = number << 3 | 2
    return (bytes([key]) if key < 128 else bytes([key & 127 | 128, key >> 7])) + length + bytes([size]) + data


def wandb(place, hurt=bytes):
    def items(values, key):
        parts = ((_field(key, name.encode()), _field(16, json.dumps(value).encode())) for name, value in values.items())
        return b"".join(_field(1, b"".join(part)) for part in parts)

    records = [
        _field(17, _field(8, b"first") + _field(9, b"went well") + _field(4, items(CONFIG, 1))),
        *(_field(2, items({"_step": n, "_timestamp": 1.7e9, "loss": n / 2, "a": {"b": 1}}, 2)) for n in STEPS),
        _field(5, items({"seed": 3}, 1)),
    ]
    (place / "run-abc.wandb").write_bytes(leveldb_log(b":W&B\xe1\xbe\x00", map(hurt, records)))
    return place / "run-abc.wandb"


def swanlab(place, hurt=bytes):
    from summaries.tools.formats.swanlab import _MAGIC, _record_type

    record = _record_type()
    time = {"seconds": 1_700_000_000}
    records = [
        record(start={"name": "first", "description": "went well", "id": "abc"}),
        *(record(scalar={"key": "loss", "step": n, "timestamp": time, "value": {"number": n / 2}}) for n in STEPS),
        record(media={"key": "img", "step": 9, "timestamp": time, "value": {"items": [{"filename": "a.png"}]}}),
        record(media={"key": "txt", "step": 9, "timestamp": time, "value": {"items": [{"filename": "a.txt"}]}}),
    ]
    (place / "run-abc.swanlab").write_bytes(leveldb_log(_MAGIC, [hurt(one.SerializeToString()) for one in records]))
    for name in ("media/image", "media/text", "files"):
        (place / name).mkdir(parents=True)
    (place / "media" / "image" / "a.png").write_bytes(png())
    (place / "media" / "text" / "a.txt").write_text("hello")
    (place / "files" / "config.yaml").write_text("lr:\n  desc: ''\n  sort: 1\n  value: 0.1\n")
    return place


def clearml(place, hurt=bytes):
    events = [
        {
            "timestamp": 1.7e12,
            "type": "training_stats_scalar",
            "iter": step,
            "metric": "loss",
            "variant": "a",
            "value": 1,
        }
        for step in STEPS
    ]
    picture = {"type": "training_debug_image", "iter": 1, "metric": "img", "variant": "a", "key": "a.png"}
    task = {"id": "1", "name": "first", "comment": "well", "hyperparams": {"General": {"lr": {"value": "0.1"}}}}
    with zipfile.ZipFile(place / "offline-1.zip", "w") as archive:
        archive.writestr("task.json", hurt(json.dumps(task).encode()))
        archive.writestr("metrics.jsonl", hurt(f"{json.dumps(events)}\n{json.dumps([picture])}\n".encode()))
        archive.writestr("data/a.png", hurt(png()))
    return place / "offline-1.zip"


def comet(place, _hurt=bytes):
    messages = [
        ("log_other", {"key": "Name", "value": "first"}),
        *(("metric_msg", {"metric": {"metricName": "loss", "metricValue": 0.5, "step": step}}) for step in STEPS),
        ("parameter_msg", {"param": {"paramName": "opt|lr", "paramValue": 0.1}}),
        ("file_upload", {"file_path": "a.png", "upload_type": "visualization", "additional_params": {"step": 1}}),
    ]
    (place / "experiment.json").write_text(json.dumps({"offline_id": "1"}))
    lines = (
        json.dumps({"type": kind, "payload": {**payload, "local_timestamp": 1.7e12}}) for kind, payload in messages
    )
    (place / "messages.json").write_text("".join(f"{line}\n" for line in lines))
    (place / "a.png").write_bytes(png())
    return place


def trackio(place, hurt=bytes):
    database = sqlite3.connect(place / "digits.db")
    database.execute("CREATE TABLE metrics (id INTEGER PRIMARY KEY, run_id, run_name, timestamp, step, metrics)")
    database.execute("CREATE TABLE configs (id INTEGER PRIMARY KEY, run_id, run_name, config)")
    rows = [{"loss": step / 2, "train": {"acc": 0.5}} for step in STEPS]
    rows.append({"img": {"_type": "trackio.image", "file_path": "a.png"}})
    rows.append({"h": {"_type": "trackio.histogram", "bins": [0, 1, 2], "values": [3, 4]}})
    for step, row in enumerate(rows):
        values = "1", "first", "2026-11-24T10:00:00+00:00", step, hurt(json.dumps(row).encode())
        database.execute(
            "INSERT INTO metrics (run_id, run_name, timestamp, step, metrics) VALUES (?, ?, ?, ?, ?)", values
        )
    values = "1", "first", hurt(json.dumps(CONFIG).encode())
    database.execute("INSERT INTO configs (run_id, run_name, config) VALUES (?, ?, ?)", values)
    database.commit()
    database.close()
    (place / "media").mkdir()
    (place / "media" / "a.png").write_bytes(png())
    return place / "digits.db"


def trainer(place, _hurt=bytes):
    history = [{"step": step, "epoch": step / 2, "loss": 0.5, "norm": float("nan")} for step in STEPS]
    state = {"log_history": history, "global_step": 3, "max_steps": 4, "trial_params": CONFIG}
    (place / "trainer_state.json").write_text(json.dumps(state))
    return place / "trainer_state.json"


def log(place, _hurt=bytes):
    lines = (f"2026-11-24 10:00:0{step},123 INFO step={step} loss=0.25 lr: 1e-3\n" for step in STEPS)
    (place / "train.log").write_text("".join(lines))
    return place / "train.log"


MAKERS = {
    "csv": csv, "csv, wide": wide_csv, "jsonl": jsonl, "parquet": parquet, "neptune": neptune, "mlflow": mlflow,
    "wandb": wandb, "swanlab": swanlab, "clearml": clearml, "comet": comet, "trackio": trackio, "trainer": trainer,
    "log": log,
}  # fmt: skip
"""Name → the function."""
