"""The page without TensorBoard: who is answered, and what the server says of wrong places."""

import http.client
import socket
import threading
from urllib.parse import urlsplit

import pytest
from browser.plugin_runs import log_run, soon

from summaries.integrations.viewer import Guard, Viewer

HOST = "127.0.0.1:6007"


@pytest.fixture
def guard():
    def application(_environ, start_response):
        start_response("200 OK", [])
        return [b"data"]

    guard = Guard(application)
    guard.port = 6007
    return guard


def ask(guard, path="/", query="", **headers):
    told = {}
    environ = {"REQUEST_METHOD": "GET", "PATH_INFO": path, "QUERY_STRING": query, "HTTP_HOST": HOST, **headers}
    content = b"".join(guard(environ, lambda status, head: told.update(status=status, **dict(head))))
    return told, content.decode()


def test_the_token_becomes_a_cookie(guard):
    told, _ = ask(guard, query=f"token={guard.token}")
    assert (told["status"], told["Location"]) == ("303 See Other", "/")
    name_and_value, *attributes = told["Set-Cookie"].split("; ")
    assert attributes == ["Path=/", "HttpOnly", "SameSite=Strict"]
    told, page = ask(guard, HTTP_COOKIE=f"other=1; {name_and_value}")
    assert told["status"] == "200 OK"
    assert "default-src 'none'; script-src 'self'" in told["Content-Security-Policy"]
    assert "alone.js" in page
    assert ask(guard, "/data/plugin/gradledger/data/runs", HTTP_COOKIE=name_and_value)[1] == "data"


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        ({}, "open the link that gradledger view printed: it has a token\n"),
        ({"HTTP_COOKIE": "gradledger-6007=guess"}, "open the link that gradledger view printed: it has a token\n"),
        (
            {"HTTP_COOKIE": "gradledger-6007=\u00e9; [;="},
            "open the link that gradledger view printed: it has a token\n",
        ),
        (
            {"HTTP_HOST": "evil.example:6007"},
            "gradledger answers only at 127.0.0.1:6007, got Host: 'evil.example:6007'\n",
        ),
        ({"HTTP_HOST": "127.0.0.1"}, "gradledger answers only at 127.0.0.1:6007, got Host: '127.0.0.1'\n"),
        (
            {"HTTP_ORIGIN": "http://evil.example"},
            "gradledger does not answer other sites, got Origin: 'http://evil.example'\n",
        ),
        ({"HTTP_ORIGIN": "null"}, "gradledger does not answer other sites, got Origin: 'null'\n"),
    ],
)
@pytest.mark.parametrize("path", ["/", "/data/plugin/gradledger/data/runs", "/data/plugin/gradledger/page/plugin.js"])
def test_who_is_refused(guard, path, headers, said):
    told, content = ask(guard, path, **headers)
    assert (told["status"], content) == ("403 Forbidden", said)
    assert "Set-Cookie" not in told


def test_the_token_counts_at_the_beginning_only(guard):
    assert ask(guard, "/data/plugin/gradledger/data/runs", f"token={guard.token}")[0]["status"] == "403 Forbidden"
    other = ask(guard, query=f"token={guard.token}", HTTP_HOST="evil.example:6007")
    assert other[0]["status"] == "403 Forbidden"


def test_a_server(tmp_path):
    log_run(tmp_path / "a", steps=20)
    log_run(tmp_path / "b" / "a", steps=20)
    viewer = Viewer([str(tmp_path / "a"), str(tmp_path / "b")])
    thread = threading.Thread(target=viewer.run, daemon=True)
    thread.start()
    address = urlsplit(viewer.address)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
    connection.request("GET", f"/?{address.query}")
    answer = connection.getresponse()
    answer.read()
    cookie = answer.headers["Set-Cookie"].split(";")[0]
    for name in ("a", "b/a"):
        connection.request("GET", f"/data/plugin/gradledger/data/run?run={name}", headers={"Cookie": cookie})
        answer = connection.getresponse()
        assert (answer.status, answer.headers["Content-Type"]) == (200, "application/octet-stream")
        answer.read()
    viewer.close()


def test_a_place_that_does_not_exist(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no such file or directory: .*missing"):
        Viewer([str(tmp_path / "missing")])


def test_a_port_that_is_taken(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as other, pytest.raises(OSError, match="in use"):
        Viewer([str(tmp_path)], port=other.getsockname()[1])


def test_runs_are_read_before_the_page_is_there(tmp_path):
    log_run(tmp_path / "a", steps=3)
    viewer = Viewer([str(tmp_path)])
    thread = threading.Thread(target=viewer.run)
    thread.start()
    assert soon(lambda: viewer._library.names() == ["a"])
    viewer.close()
    thread.join()
