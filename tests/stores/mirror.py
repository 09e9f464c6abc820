"""Local files as if they were in a store: the tests of the readers run against a store without being changed."""

import atexit
import functools
import hashlib
import logging
import os
import stat
import time
from dataclasses import replace

from summaries.storage.object_store import ObjectStore

_COARSEST_NS = 100_000_000  # of the times of files, with room


class Mirror(ObjectStore):
    """Puts local files into a store when they are listed or opened, and reads them from there.

    Args:
        address: the directory of the store that the files are put into.
        options: those of its file system.
    """

    poll_secs = 0.05

    def __init__(self, address, options):
        super().__init__(address, options)
        self._put = {}

    def __reduce__(self):
        return Mirror, (self._address, self._options)

    def discover(self, path, *, recursive=True, on_error=None):
        """The files, with local paths as they were given."""
        if os.path.lexists(path):
            self.put(path)
        elif path in self._put:
            self._remove(path)
        files = super().discover(path, recursive=recursive, on_error=on_error)
        whole = os.path.abspath(path)
        below = (file for file in files if file.path != path)
        return [replace(file, path=path + file.path.removeprefix(whole)) for file in below] or files

    def open(self, file, scan_from=None, scan_to=None):
        """Open a file by its local path."""
        self.put(file if isinstance(file, str) else file.path)
        return super().open(file, scan_from, scan_to)

    def put(self, path):
        """Put what has changed below a path, and remove what is gone."""
        paths = (
            [path] if os.path.isfile(path) else [os.path.join(at, n) for at, _, names in os.walk(path) for n in names]
        )
        found = {os.path.abspath(path) for path in paths if stat.S_ISREG(os.lstat(path).st_mode)}
        for gone in [
            name for name in self._put if name.startswith(os.path.abspath(path) + os.sep) and name not in found
        ]:
            self._remove(gone)
        for name in found:
            now, status = time.time_ns(), os.stat(name)
            state = status.st_ino, status.st_size, status.st_mtime_ns
            before, digest, is_sure = self._put.get(name, (None, None, False))
            if before == state and is_sure:
                continue
            with open(name, "rb") as file:
                data = file.read()
            kept, digest = digest, hashlib.sha256(data).digest()
            if (before, kept) != (state, digest):
                self._system.pipe_file(self._inner(name), data)
            # A file that is soon written again, with as many bytes, may have the same time then.
            self._put[name] = state, digest, now - status.st_mtime_ns > _COARSEST_NS

    def _remove(self, name):
        self._system.rm_file(self._inner(name))
        del self._put[name]

    def _inner(self, path):
        return self._inside + os.path.abspath(path)

    def _outer(self, inside):
        return inside.removeprefix(self._inside)


@functools.cache
def mirror_at(place):
    """The mirror in an address, or in a new bucket of an S3 server for "s3"."""
    if place != "s3":
        return Mirror(place, {})
    from moto.server import ThreadedMotoServer
    from stores.bucket import Bucket

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    port = server.get_host_and_port()[1]
    bucket = Bucket(port, "mirror", port)  # without the proxy: nobody makes trouble, or counts requests
    atexit.register(server.stop)  # no thread of its own outlives the interpreter
    return Mirror(bucket.address, bucket.options)
