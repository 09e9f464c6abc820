"""Runs of strangers are fetched from where they were published, and nothing is kept that is another file by now."""

import hashlib
import json
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from strangers.fetch import SOURCES, address, fetch


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def published(tmp_path):
    """A server of what one repository has, and its address."""
    folder = tmp_path / "published" / "owner" / "name" / "HEAD" / "some runs"
    folder.mkdir(parents=True)
    (folder / "events.1").write_bytes(b"events")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path / "published"))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_what_has_its_checksum_is_kept_and_the_rest_is_told(published, tmp_path):
    right = hashlib.sha256(b"events").hexdigest()
    sources = {
        "good": {"source": "owner/name/some runs", "files": {"events.1": right}, "findings": []},
        "changed": {"source": "owner/name/some runs", "files": {"events.1": "0" * 64}, "findings": []},
        "gone": {"source": "owner/name/some runs", "files": {"events.2": right}, "findings": []},
    }
    place = tmp_path / "here"
    place.mkdir()
    told = dict(fetch(place, sources, published))
    assert told["good"] == ""
    assert told["changed"].endswith(f"another file by now, with SHA-256 {right[:12]}…, want 000000000000…")
    assert "404" in told["gone"]
    assert (place / "good" / "events.1").read_bytes() == b"events"
    assert list(json.loads((place / "LABELS.json").read_text())) == ["good"]


def test_each_run_has_a_source_and_checksums():
    for run, one in json.loads(SOURCES.read_text(encoding="utf-8")).items():
        assert one["source"].count("/") >= 1, run
        assert one["files"], run
        assert address(one["source"], "a b").startswith("https://raw.githubusercontent.com/")
