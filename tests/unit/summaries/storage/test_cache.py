"""The cache: what is asked of the store the second time, and that entries are never trusted more than they deserve."""

import os
import threading
from types import SimpleNamespace

import pytest
from stores.memory import MemoryStorage

from summaries.cli import main
from summaries.storage import cache
from summaries.storage.cache import CachedStorage, cache_directory, clear_cache
from summaries.storage.protocols import chunks

XDG = os.path.abspath("/xdg").replace(os.sep, "/")
PATH = "memory://logs/a.tfevents"
DATA = bytes(range(256)) * 16


class Store(MemoryStorage):
    """With what is expected of it, and reads of as many bytes as there are."""

    def __init__(self, files):
        super().__init__(files)
        self.expected = []

    def expecting(self, files, starts):
        self.expected += [(file.path, start) for file, start in zip(files, starts, strict=True)]
        return super().expecting(files)

    @property
    def reads(self):
        """The offsets that were read from."""
        return [request[0] for request in self.requests if request != "list"]


@pytest.fixture
def store():
    return Store({PATH: DATA})


def read(storage, path=PATH):
    """The files of a path, scanned."""
    files = storage.discover(path)
    with storage.expecting(files):
        contents = []
        for file in files:
            with file.open(0) as opened:
                contents.append(b"".join(chunks(opened)))
    return b"".join(contents)


@pytest.fixture
def cached(store, tmp_path):
    return CachedStorage(store, str(tmp_path / "cache"))


def test_an_unchanged_file_is_not_fetched(store, cached, tmp_path):
    assert read(cached) == DATA
    store.requests.clear()
    assert read(cached) == DATA
    assert read(CachedStorage(store, str(tmp_path / "cache"))) == DATA  # another process
    assert store.requests == ["list", "list"]
    assert store.expected == [(PATH, 0)]
    assert oct((tmp_path / "cache").stat().st_mode)[-3:] == "700"


def test_a_grown_file_is_fetched_from_where_it_ended(store, cached):
    read(cached)
    store.requests.clear()
    store.put(PATH, DATA + b"more")
    assert read(cached) == DATA + b"more"
    assert min(store.reads) == len(DATA) - 256
    assert store.expected[-1] == (PATH, len(DATA) - 256)
    store.requests.clear()
    assert read(cached) == DATA + b"more"
    assert store.requests == ["list"]


@pytest.mark.parametrize("after", [b"x" * 5000, DATA[:-1], DATA[1:] + b"x", b"", DATA[:-256] + b"x" * 300], ids=len)
def test_a_replaced_file_is_fetched_anew(store, cached, after):
    read(cached)
    store.put(PATH, after)
    assert read(cached) == after
    assert read(cached) == after


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-1],
        lambda data: data[:100] + b"\0" + data[101:],
        lambda data: b"\0" * len(data),
        lambda data: data[:20],
        lambda _: b"",
        lambda data: data + b"x",
    ],
)
@pytest.mark.parametrize("more", [b"", b"more"])
def test_a_damaged_entry_is_ignored(store, cached, tmp_path, damage, more):
    read(cached)
    (entry,) = (tmp_path / "cache").iterdir()
    entry.write_bytes(damage(entry.read_bytes()))
    store.put(PATH, DATA + more)
    assert read(cached) == DATA + more


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="only POSIX tells who may write to a directory")
def test_a_directory_that_others_may_write_to_is_not_used(store, cached, tmp_path, caplog):
    """What they had put there would be read in place of the file."""
    read(cached)
    (entry,) = (tmp_path / "cache").iterdir()
    planted = entry.read_bytes()
    (tmp_path / "cache").chmod(0o777)
    store.requests.clear()
    unused = CachedStorage(store, str(tmp_path / "cache"))
    assert caplog.messages == [f"files are not kept in {tmp_path / 'cache'}: others may write to {tmp_path / 'cache'}"]
    assert read(unused) == DATA
    assert store.reads
    assert entry.read_bytes() == planted


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root gives files away")
def test_an_entry_of_another_user_is_not_read(store, cached, tmp_path):
    read(cached)
    (entry,) = (tmp_path / "cache").iterdir()
    os.chown(entry, 12345, -1)
    store.requests.clear()
    assert read(cached) == DATA
    assert store.reads


def test_an_item_is_read_from_the_cache_and_does_not_fill_it(store, cached, tmp_path):
    (file,) = cached.discover(PATH)
    with file.open() as opened:
        assert opened.read_range(300, 4) == DATA[300:304]
    assert not (tmp_path / "cache").exists()
    read(cached)
    store.requests.clear()
    with file.open() as opened:
        assert opened.read_range(300, 4) == DATA[300:304]
    assert store.requests == []


def test_the_least_recently_used_entries_go(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "_SWEEP_BYTES", 1)
    store = Store({f"memory://logs/{i}.tfevents": bytes([i]) * 1000 for i in range(5)})
    cached = CachedStorage(store, str(tmp_path), most_bytes=3300)
    for i in (0, 1, 2, 0, 3, 4):
        read(cached, f"memory://logs/{i}.tfevents")
        for age, entry in enumerate(sorted(tmp_path.iterdir(), key=lambda path: path.stat().st_mtime_ns)):
            os.utime(entry, (age, age))  # clocks may be coarse
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 3300
    store.requests.clear()
    for i in (0, 3, 4):
        read(cached, f"memory://logs/{i}.tfevents")
    assert store.reads == []


def test_a_cache_that_cannot_be_written(store, tmp_path):
    (tmp_path / "cache").write_text("a file")
    cached = CachedStorage(store, str(tmp_path / "cache"))
    assert read(cached) == read(cached) == DATA


def test_a_file_that_cannot_be_read_leaves_nothing(store, cached, tmp_path, monkeypatch):
    class Cut:
        def __init__(self, data):
            self.data = data

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def read_range(self, start, size):
            if start:
                raise OSError(5, "cut", PATH)
            return bytes(1 << 20)

    (file,) = cached.discover(PATH)
    monkeypatch.setattr(store, "open", lambda *_: Cut(DATA))
    with pytest.raises(OSError, match="cut"):
        file.open(0)
    assert list((tmp_path / "cache").iterdir()) == []


def test_several_threads_share_a_directory(store, tmp_path):
    found, errors = [], []

    def work():
        try:
            found.extend(read(CachedStorage(store, str(tmp_path))) for _ in range(20))
        except Exception as error:  # noqa: BLE001 - shown by the assertion
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert set(found) == {DATA}
    assert len(list(tmp_path.iterdir())) == 1


def test_the_directory(monkeypatch):
    monkeypatch.setenv("GRADLEDGER_CACHE_DIR", "")
    home = os.path.abspath("home")
    monkeypatch.setenv("XDG_CACHE_HOME", os.path.join(home, "cache"))
    assert cache_directory(True) == os.path.join(home, "cache", "gradledger", "runs")
    monkeypatch.setenv("GRADLEDGER_CACHE_DIR", "there")
    assert cache_directory(True) == os.path.join("there", "runs")
    assert cache_directory("here") == "here"


def test_it_is_cleared_by_a_command(store, cached, tmp_path, capsys):
    read(cached)
    directory = str(tmp_path / "cache")
    size = len(DATA) + 64
    assert main(["clear-cache", directory]) == 0
    assert capsys.readouterr().out == f"{directory}: 1 file removed, {size:,} bytes\n"
    assert clear_cache(directory) == (0, 0)
    assert clear_cache(str(tmp_path / "nowhere")) == (0, 0)
    assert read(cached) == DATA


def test_the_first_part_of_a_file_puts_it_into_the_cache_and_the_others_come_from_there(store, cached):
    (file,) = cached.discover(PATH)
    with file.open(1000, 2000) as later:
        assert later.read_range(1000, 10) == DATA[1000:1010]
    assert store.reads == [1000]
    with file.open(0, 1000) as first:
        assert first.read_range(0, 10) == DATA[:10]
    store.requests.clear()
    with file.open(1000, 2000) as later:
        assert later.read_range(1000, 10) == DATA[1000:1010]
    assert store.requests == []


@pytest.mark.parametrize(
    ("platform", "environment", "want"),
    [
        ("linux", {}, "home/.cache/gradledger"),
        ("darwin", {}, "home/Library/Caches/gradledger"),
        ("win32", {}, "home/AppData/Local/gradledger"),
        ("win32", {"LOCALAPPDATA": "local"}, "local/gradledger"),
        ("linux", {"XDG_CACHE_HOME": XDG}, f"{XDG}/gradledger"),
        ("darwin", {"XDG_CACHE_HOME": XDG}, f"{XDG}/gradledger"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "home/.cache/gradledger"),
        ("linux", {"XDG_CACHE_HOME": XDG, "GRADLEDGER_CACHE_DIR": "told"}, "told"),
    ],
)
def test_the_root(monkeypatch, platform, environment, want):
    for name in ("XDG_CACHE_HOME", "GRADLEDGER_CACHE_DIR", "LOCALAPPDATA"):
        monkeypatch.setenv(name, environment.get(name, ""))
    monkeypatch.setattr(os.path, "expanduser", lambda _: "home")
    monkeypatch.setattr(cache, "sys", SimpleNamespace(platform=platform))
    assert cache.cache_root().replace(os.sep, "/") == want


def test_a_user_without_a_home_has_no_directory(monkeypatch):
    for name in ("XDG_CACHE_HOME", "GRADLEDGER_CACHE_DIR", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    monkeypatch.setattr(cache, "sys", SimpleNamespace(platform="linux"))
    assert cache.cache_root() == os.path.join(os.path.abspath(os.sep), "nonexistent", ".cache", "gradledger")
