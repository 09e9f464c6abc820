"""A storage without a disk: files by address, in a dict. What is asked of it is counted, as a store would charge it."""

from contextlib import nullcontext

from summaries.storage.names import is_event_file
from summaries.storage.protocols import StoredFile


class MemoryStorage:
    """Files below `memory://`, whose identity is their version, as an object store has it."""

    poll_secs = 0.1

    def __init__(self, files=()):
        self.files = {}
        self.requests = []
        for path, data in dict(files).items():
            self.put(path, data)

    def put(self, path, data):
        """Put an object, which takes the place of the one with this path."""
        _, version = self.files.get(path, (b"", 0))
        self.files[path] = data, version + 1

    def discover(self, path, *, recursive=True, on_error=None):
        self.requests.append("list")
        if path in self.files:
            return [self._stored(path)]
        prefix = path.rstrip("/") + "/"
        below = [name for name in self.files if name.startswith(prefix)]
        if not below:
            raise FileNotFoundError(f"no such file or directory: {path}")
        return [
            self._stored(name)
            for name in reversed(below)
            if is_event_file(name) and (recursive or "/" not in name.removeprefix(prefix))
        ]

    def open(self, file, scan_from=None, scan_to=None):
        path = file if isinstance(file, str) else file.path
        if path not in self.files:
            raise FileNotFoundError(2, "No such file or directory", path)
        return MemoryFile(self, self.files[path][0])

    def expecting(self, files):
        return nullcontext()

    def exists(self, path):
        return any(name == path or name.startswith(f"{path}/") for name in self.files)

    def _stored(self, path):
        data, version = self.files[path]
        return StoredFile(path, len(data), version, self)


class MemoryFile:
    """What `ReadableFile` asks for, and nothing else."""

    def __init__(self, storage, data):
        self._storage = storage
        self._data = data

    def read_range(self, start, size):
        self._storage.requests.append((start, size))
        return self._data[start : start + size]

    def read_into(self, start, buffer):
        data = self.read_range(start, len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self):
        self._data = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
