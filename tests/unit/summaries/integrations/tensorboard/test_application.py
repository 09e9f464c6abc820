"""The application: addresses, status, types, compression, and flags."""

import gzip
import json
import os
import re
from types import SimpleNamespace
from urllib.parse import quote

import pytest
from browser.plugin_runs import library_of, log_run

from summaries.auditing.config import ConfigError
from summaries.integrations.tensorboard.application import EVERY_ANSWER, Application, application

PREFIX = "/data/plugin/gradledger/"


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    log_run(root / "a", steps=40)
    return Application(library_of(root))


def ask(app, path, query="", method="GET", prefix=PREFIX, **headers):
    told = {}
    environ = {"REQUEST_METHOD": method, "PATH_INFO": prefix + path, "QUERY_STRING": query, **headers}
    content = b"".join(app(environ, lambda status, head: told.update(status=status, **dict(head))))
    return told, content


def test_files(app):
    told, content = ask(app, "page/plugin.js")
    assert told["status"] == "200 OK"
    assert told["Content-Type"] == "text/javascript; charset=utf-8"
    assert told["X-Content-Type-Options"] == "nosniff"
    assert int(told["Content-Length"]) == len(content)
    assert b"\nasync function render()" in content


def test_the_page_as_one_file(app):
    told, content = ask(app, "data/page", f"runs=[%22a%22]&tags=[%22train/loss%22]&at={quote('#/charts')}")
    assert (told["status"], told["Content-Type"]) == ("200 OK", "text/html; charset=utf-8")
    assert told["Content-Security-Policy"] == "default-src 'none'; sandbox"  # nothing runs where it comes from
    page = content.decode()
    index = json.loads(re.search('id="saved">(.*?)</script>', page)[1])
    assert (index["start"], index["tags"]) == ("#/charts", [["train/loss", 1]])
    assert [row["name"] for row in index["runs"]["runs"]] == ["a"]
    assert ask(app, "data/page", "runs=[%22b%22]")[0]["status"] == "404 Not Found"
    told, content = ask(app, "data/page", "tags=[1]")
    assert told["status"] == "400 Bad Request"
    assert json.loads(content)["error"] == "tags must be a JSON list of names, got '[1]'"


def test_below_a_prefix_of_tensorboards_path(app):
    assert ask(app, "page/plugin.css", prefix="/experiment/x/data/plugin/gradledger/")[0]["status"] == "200 OK"


@pytest.mark.parametrize(
    ("flags", "host", "origin", "status"),
    [
        ({}, "localhost:6006", "", "200 OK"),
        ({}, "127.0.0.1:6006", "http://127.0.0.1:6006", "200 OK"),
        ({}, "[::1]:6006", "", "200 OK"),
        ({}, "", "", "200 OK"),
        ({}, "evil.example:6006", "", "403 Forbidden"),
        ({}, "localhost.evil.example", "", "403 Forbidden"),
        ({}, "localhost:6006", "http://evil.example", "403 Forbidden"),
        ({}, "localhost:6006", "http://localhost:7007", "403 Forbidden"),
        ({}, "localhost:6006", "null", "403 Forbidden"),
        ({}, "[", "", "403 Forbidden"),
        ({"gradledger_hosts": "a.example, proxy.example"}, "Proxy.example", "https://proxy.example", "200 OK"),
        ({"bind_all": True}, "machine.example:6006", "", "200 OK"),
        ({"host": "192.0.2.1"}, "machine.example:6006", "", "200 OK"),
        ({"host": "127.0.0.1"}, "machine.example:6006", "", "403 Forbidden"),
        ({"bind_all": True}, "machine.example:6006", "http://evil.example", "403 Forbidden"),
    ],
)
def test_pages_of_other_sites_get_nothing(tmp_path, flags, host, origin, status):
    app = application(str(tmp_path), SimpleNamespace(**flags))
    assert ask(app, "page/plugin.js", HTTP_HOST=host, HTTP_ORIGIN=origin)[0]["status"] == status


def test_compression(app):
    told, content = ask(app, "page/plugin.js", HTTP_ACCEPT_ENCODING="gzip, br")
    assert told["Content-Encoding"] == "gzip"
    assert gzip.decompress(content) == ask(app, "page/plugin.js")[1]
    told, _ = ask(app, "data/layers", "run=a", HTTP_ACCEPT_ENCODING="gzip")
    assert told["Content-Type"] == "application/octet-stream"
    assert "Content-Encoding" not in told


@pytest.mark.parametrize(
    ("path", "query", "status", "said"),
    [
        ("page/../application.py", "", "404 Not Found", "there is no file '../application.py'"),
        ("data/secrets", "", "404 Not Found", "there is nothing at 'data/secrets'"),
        ("", "", "404 Not Found", "there is nothing at ''"),
        ("data/run", "run=b", "404 Not Found", "there is no run 'b'"),
        ("data/run", "", "400 Bad Request", "the query must have run=, got nothing"),
        ("data/rule", "code=GL000", "404 Not Found", None),
    ],
)
def test_what_is_not_there(app, path, query, status, said):
    told, content = ask(app, path, query)
    assert told["status"] == status
    assert told["Content-Type"] == "application/json"
    assert said is None or json.loads(content) == {"error": said}


def test_other_methods(app):
    assert ask(app, "page/plugin.js", method="HEAD")[1] == b""
    told, content = ask(app, "data/runs", method="POST")
    assert told["status"] == "405 Method Not Allowed"
    assert json.loads(content) == {"error": "only GET is answered, got POST"}


def test_a_bug_of_ours_is_said(app, monkeypatch, caplog):
    monkeypatch.setitem(EVERY_ANSWER, "runs", lambda *_: 1 // 0)
    told, content = ask(app, "data/runs")
    assert told["status"] == "500 Internal Server Error"
    assert json.loads(content) == {"error": "ZeroDivisionError: integer division or modulo by zero"}
    assert "gradledger cannot answer data/runs" in caplog.text


def test_a_run_that_is_still_being_read(app, monkeypatch):
    def late(library, query):
        raise TimeoutError("run 'a' is still being read")

    monkeypatch.setitem(EVERY_ANSWER, "run", late)
    assert ask(app, "data/run", "run=a")[0]["status"] == "503 Service Unavailable"


def test_a_name_that_is_not_utf8(tmp_path):
    log_run(os.fsencode(tmp_path).decode() + "/" + os.fsdecode(b"caf\xe9 <b>"), steps=5)
    app = Application(library_of(tmp_path))
    (row,) = json.loads(ask(app, "data/runs")[1])["runs"]
    assert row["name"] == "caf\udce9 <b>"
    assert ask(app, "data/run", "run=caf%E9%20%3Cb%3E")[0]["status"] == "200 OK"


def test_flags(tmp_path):
    log_run(tmp_path / "new" / "a", steps=300, diverges=True)
    configuration = tmp_path / "audit.toml"
    configuration.write_text('[tool.gradledger.audit]\nignore = ["GL304"]\n')
    spec = f"name:{tmp_path}/new"
    app = application(
        "", SimpleNamespace(logdir_spec=spec, gradledger_memory_mb=3, gradledger_config=str(configuration))
    )
    while (answer := json.loads(ask(app, "data/runs")[1]))["reading"] or not answer["runs"]:
        pass
    assert answer["order"] == ["name/a"]
    assert answer["memory"][1] == 3 << 20
    assert "GL304" not in answer["runs"][0]["codes"]


def test_a_configuration_that_is_wrong(tmp_path):
    (tmp_path / "audit.toml").write_text('[tool.gradledger.audit]\nignore = ["GL999"]\n')
    with pytest.raises(ConfigError, match="GL999"):
        application("runs", SimpleNamespace(gradledger_config=str(tmp_path / "audit.toml")))
