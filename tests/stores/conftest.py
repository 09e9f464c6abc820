"""A real S3 server, moto's, behind a proxy: `make stores` installs it; elsewhere these tests are skipped."""

import itertools
import logging

import pytest

_buckets = itertools.count()


@pytest.fixture(scope="session")
def server():
    """The port of an S3 server."""
    reason = "needs servers of stores, which `make stores` installs"
    pytest.importorskip("s3fs", reason=reason)
    moto = pytest.importorskip("moto.server", reason=reason)
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = moto.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    yield server.get_host_and_port()[1]
    server.stop()


@pytest.fixture
def s3(server):
    """A bucket behind a proxy: `.address`, `.options`, `.system`, `.proxy`."""
    from stores.bucket import Bucket

    bucket = Bucket(server, f"bucket{next(_buckets)}")
    yield bucket
    bucket.close()
