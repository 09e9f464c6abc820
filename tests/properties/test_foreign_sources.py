"""Other tools' files that are damaged or made to do harm: `convert` reads them, or says what is wrong with which."""

import itertools
import json
import random
import shutil

import pytest
from event_data.foreign import MAKERS

from summaries import read_logdir
from summaries.tools import convert

pytestmark = [
    pytest.mark.only_on_disks(reason="what is converted lies on a disk"),
    pytest.mark.filterwarnings("ignore:tag should not be empty"),
]

SEEDS = 25
ODD_BYTES = [
    b"\x00", b"\xff", b'"\\ud800"', b"1e400", b"-1", b"9" * 30, b"9" * 5000, b"null", b"[]", b"{}", b"NaN",
    b"[[" * 2000, b'{"a":' * 2000, b",", b"\n", b'"', b"../../x", b"\x1b[31m", b"true", b"9223372036854775808", b"..",
    b"/", b"0",
]  # fmt: skip
ODD_TEXT = "\x1b[31m\r\n::error::\u202e\u2028[bold]<script>/../`$(id)`"
DEEP = [[]]
for _ in range(500):
    DEEP = [DEEP]
ODD_VALUES = [
    None, True, "x", "\ud800", 10**400, float("inf"), float("nan"), -1, 1 << 63, [], {}, [1, [2]], {"a": {"b": []}},
    DEEP, "../x", "", ".", ODD_TEXT, ODD_TEXT + "x" * (1 << 20), {"": {"": 1}}, {ODD_TEXT: 1.0}, {"\ud800": "\udfff"},
    {"_type": "trackio.image", "file_path": "../../etc/passwd"}, {"_type": ODD_TEXT},
    {"_type": "trackio.histogram", "bins": [1, 10**400, 2], "values": [2, 3]},
]  # fmt: skip


def format_of(name):
    return name.partition(",")[0]


def hurt(data, moments):
    """Some bytes of it changed, cut out, doubled, replaced by what is odd, or all behind them cut off."""
    data = bytearray(data)
    for _ in range(moments.randint(1, 4)):
        if not data:
            break
        start = moments.randrange(len(data))
        stop = start + moments.choice([1, 1, 2, 4, 20, 200])
        new = [bytes([moments.randrange(256)]), b"", 2 * data[start:stop], moments.choice(ODD_BYTES)]
        if moments.randrange(6):
            data[start:stop] = moments.choice(new)
        else:
            del data[start:]
    return bytes(data)


def tried(source, name, target):
    """Convert; or see that the error is for people, names the source, and leaves nothing."""
    said = None
    try:
        done = convert(source, target, source_format=format_of(name))
    except (ValueError, OSError) as error:
        said = error
    if said is None:
        if done.runs:
            read_logdir(target)
        shutil.rmtree(target)
    else:
        assert not isinstance(said, UnicodeError), said
        assert str(source) in str(said), str(said)[:300]
        assert not target.exists()


def skip_without_parquet(name):
    if name in {"parquet", "neptune"}:
        pytest.importorskip("pyarrow", reason="an extra")


@pytest.mark.parametrize("name", MAKERS)
def test_a_sound_source(name, tmp_path):
    skip_without_parquet(name)
    (tmp_path / "source").mkdir()
    done = convert(MAKERS[name](tmp_path / "source"), tmp_path / "runs")
    assert done.source_format == format_of(name)
    assert done.points
    assert len(read_logdir(tmp_path / "runs")) == 1


@pytest.mark.parametrize("name", MAKERS)
def test_damage(name, tmp_path):
    skip_without_parquet(name)
    for seed in range(SEEDS):
        moments = random.Random(f"{name} {seed}")
        place = tmp_path / str(seed)
        place.mkdir()
        if seed % 2:  # behind checksums, where there are any
            source = MAKERS[name](place, lambda data: hurt(data, moments) if moments.random() < 0.4 else data)  # noqa: B023
        else:
            source = MAKERS[name](place)
            files = sorted(file for file in place.rglob("*") if file.is_file())
            for file in moments.sample(files, moments.randint(1, min(2, len(files)))):
                file.write_bytes(hurt(file.read_bytes(), moments))
        tried(source, name, tmp_path / "runs")


def places(tree, at=()):
    """Where values are in a tree of JSON, and where a key can be added; of a list, the first item is enough."""
    yield at
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from places(value, (*at, key))
        yield (*at, None)
    elif isinstance(tree, list) and tree:
        yield from places(tree[0], (*at, 0))


def replaced(tree, at, odd):
    if not at:
        return odd
    if at[0] is None:
        return {**tree, odd if isinstance(odd, str) else ODD_TEXT: odd}
    if isinstance(tree, dict):
        return {key: replaced(value, at[1:], odd) if key == at[0] else value for key, value in tree.items()}
    return [replaced(tree[0], at[1:], odd), *tree[1:]]


def lines_of(data):
    """The values of JSON on the lines of a text, or None."""
    try:
        return [json.loads(line) for line in data.decode().splitlines()]
    except (ValueError, UnicodeDecodeError):
        return None


@pytest.mark.parametrize("name", ["clearml", "trackio", "comet", "trainer", "jsonl"])
def test_a_value_that_nobody_expects_at_each_place_of_json(name, tmp_path):
    """Each place of each different line gets some of the odd values, which go round."""
    stored = []  # what stands in an archive or a database; or else in files
    (tmp_path / "sound").mkdir()
    MAKERS[name](tmp_path / "sound", lambda data: stored.append(data) or data)
    stored += [file.read_bytes() for file in sorted((tmp_path / "sound").glob("*.json*"))]
    odd_values = itertools.cycle(ODD_VALUES)
    for payload in dict.fromkeys(stored):
        for number, line in enumerate(lines_of(payload) or ()):
            for at, odd in ((at, odd) for at in places(line) for odd in itertools.islice(odd_values, 3)):
                lines = lines_of(payload)
                lines[number] = replaced(line, at, odd)
                new = "\n".join(map(json.dumps, lines)).encode()
                place = tmp_path / "odd"
                place.mkdir()
                source = MAKERS[name](place, lambda data: new if data == payload else data)  # noqa: B023
                for file in place.glob("*.json*"):
                    file.write_bytes(new if file.read_bytes() == payload else file.read_bytes())
                tried(source, name, tmp_path / "runs")
                shutil.rmtree(place)


def odd_columns(pa, rows):
    """Name → a column of a type, or with values, that nobody expects."""
    return {
        "missing": None,
        "null": pa.nulls(rows),
        "text": pa.array(["x\x1b"] * rows),
        "large": pa.array([2**63 - 1] * rows),
        "unsigned": pa.array([2**64 - 1] * rows, pa.uint64()),
        "infinite": pa.array([float("inf")] * rows),
        "list": pa.array([[1]] * rows),
        "object": pa.array([{"a": 1}] * rows),
        "bytes": pa.array([b"\xff"] * rows),
        "categories": pa.array(["a"] * rows).dictionary_encode(),
        "date": pa.array([2**30] * rows, pa.date32()),
        "empty histogram": pa.array([{"edges": None, "values": None}] * rows),
    }


@pytest.mark.parametrize("name", ["parquet", "neptune"])
def test_a_column_of_another_type(name, tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    source = MAKERS[name](tmp_path)
    table = pq.read_table(source)
    for i, column in enumerate(table.column_names):
        for values in odd_columns(pa, len(table)).values():
            changed = table.remove_column(i) if values is None else table.set_column(i, column, values)
            pq.write_table(changed, source)
            tried(source, name, tmp_path / "runs")


def test_a_name_that_is_too_long_for_a_file_is_cut(tmp_path):
    rows = "".join(f"{run},loss,1,0.5\n" for run in ("x" * 300, "x" * 301, "é/" * 3000))
    (tmp_path / "a.csv").write_text(f"run,tag,step,value\n{rows}", encoding="utf-8")
    done = convert(tmp_path / "a.csv", tmp_path / "runs")
    assert len(read_logdir(tmp_path / "runs")) == done.runs == 3
    assert f"the run {'x' * 300!r} is at {'x' * 45}-" in done.notes[-3]


def test_names_of_one_path_take_no_longer_than_others(tmp_path):
    from summaries.tools.formats.event_files import _Paths

    paths = _Paths()
    found = [paths.of(f"{i:b}".replace("1", "./").replace("0", "/") + "a") for i in range(20_000)]
    assert len(set(found)) == len(found)
    assert found[:3] == ["a", "a_2", "a_3"]
