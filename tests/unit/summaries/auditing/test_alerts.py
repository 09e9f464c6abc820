"""Alerts: what a server on loopback gets, what a command gets, and what is said when neither works."""

import http.server
import json
import subprocess
import sys
import threading

import pytest
from helpers import ROOT

from summaries import Finding, Severity, SummaryWriter
from summaries.auditing.alerts import AlertError, by_command, by_url
from summaries.cli import main

FINDING = Finding(
    "GL301", "non-finite-loss", Severity.ERROR, "a/<b>&c", "train/loss", (7, 9), "train/loss is nan", {"x": 1.5}
)
TEXT = "error GL301 non-finite-loss in a/<b>&c, steps 7 to 9\ntrain/loss is nan"


@pytest.fixture
def server():
    """A server on loopback that keeps what is posted to it, and answers with its `status`."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.server.posts.append((self.path, self.headers["Content-Type"], json.loads(body)))
            self.send_response(self.server.status)
            self.end_headers()

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as made:
        made.posts, made.status = [], 204
        made.address = f"http://127.0.0.1:{made.server_port}"
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def test_json(server):
    by_url(server.address + "/hook")(FINDING)
    ((path, kind, body),) = server.posts
    assert (path, kind) == ("/hook", "application/json")
    assert body["text"] == TEXT
    assert body["tool"]["name"] == "gradledger"
    assert (body["finding"]["code"], body["finding"]["steps"], body["finding"]["evidence"]) == (
        "GL301",
        [7, 9],
        {"x": 1.5},
    )


def test_slack_and_discord(server):
    by_url("slack+" + server.address)(FINDING)
    by_url("discord+" + server.address)(FINDING)
    slack, discord = (body for _, _, body in server.posts)
    assert slack == {"text": TEXT.replace("<b>&c", "&lt;b&gt;&amp;c")}
    assert discord == {"content": TEXT, "allowed_mentions": {"parse": []}}


@pytest.mark.parametrize(
    ("address", "keys"),
    [
        ("https://hooks.slack.com/services/T/B/x", {"text"}),
        ("https://discord.com/api/webhooks/1/x", {"content", "allowed_mentions"}),
        ("https://example.org/x", {"text", "tool", "finding"}),
        ("json+https://hooks.slack.com/x", {"text", "tool", "finding"}),
        ("slack+https://mattermost.example.org/hooks/a+b", {"text"}),
    ],
)
def test_the_host_says_which_shape(address, keys, monkeypatch):
    requests = []

    class Answer:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

    monkeypatch.setattr("urllib.request.urlopen", lambda request, **_: requests.append(request) or Answer())
    by_url(address)(FINDING)
    assert set(json.loads(requests[0].data)) == keys
    assert requests[0].full_url == address.removeprefix("json+").removeprefix("slack+")


@pytest.mark.parametrize(
    "address", ["", "example.org", "ftp://example.org", "slack+", "file:///etc/passwd", "https://"]
)
def test_what_is_no_address(address):
    with pytest.raises(ValueError, match=r"^--notify must be an http or https URL, got ") as raised:
        by_url(address)
    assert repr(address) in str(raised.value)


def test_a_server_that_fails_and_one_that_is_not_there(server):
    server.status = 500
    with pytest.raises(AlertError, match=r"^cannot notify 127\.0\.0\.1: HTTP Error 500: Internal Server Error$"):
        by_url(server.address + "/secret")(FINDING)
    with pytest.raises(AlertError, match=r"^cannot notify 127\.0\.0\.1: .*[Rr]efused"):
        by_url("http://127.0.0.1:9/secret")(FINDING)


def test_a_command_gets_the_finding(tmp_path):
    script = tmp_path / "alert.py"
    script.write_text(
        "import json, os, sys\n"
        "names = sorted(name for name in os.environ if name.startswith('GRADLEDGER_'))\n"
        "open(sys.argv[1], 'w').write(json.dumps([json.load(sys.stdin), {n: os.environ[n] for n in names}]))\n"
    )
    by_command(f"'{sys.executable}' '{script}' '{tmp_path / 'got it'}'")(FINDING)
    finding, environment = json.loads((tmp_path / "got it").read_text())
    assert finding["message"] == "train/loss is nan"
    assert environment == {
        "GRADLEDGER_CODE": "GL301", "GRADLEDGER_MESSAGE": "train/loss is nan", "GRADLEDGER_NAME": "non-finite-loss",
        "GRADLEDGER_RUN": "a/<b>&c", "GRADLEDGER_SEVERITY": "error", "GRADLEDGER_TAG": "train/loss",
    }  # fmt: skip


def test_commands_that_do_not_work():
    with pytest.raises(ValueError, match=r"^--exec must be a command, got ''$"):
        by_command("")
    with pytest.raises(ValueError, match=r"""^--exec must be a command, got "'a": No closing quotation$"""):
        by_command("'a")
    with pytest.raises(AlertError, match=r"^cannot run no-such-program: "):
        by_command("no-such-program")(FINDING)
    with pytest.raises(AlertError, match=r"returned non-zero exit status 3\.$"):
        by_command(f"'{sys.executable}' -c 'raise SystemExit(3)'")(FINDING)


def test_a_watch_gives_alerts_once(server, tmp_path):
    """Errors are posted, warnings are not; an alert that fails does not end the watch."""
    with SummaryWriter(tmp_path / "run") as writer:
        for step in range(100):
            writer.add_scalar("gradients/nonfinite", 3 * (step >= 50), step)
            writer.add_scalar("flat/loss", 2.3 + 0.01 * (step % 3), step)
    command = [sys.executable, "-u", "-m", "summaries", "audit", str(tmp_path), "--watch"]
    command += ["--notify", "http://127.0.0.1:9/secret", "--notify", server.address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout.readline().split()[1] == "GL401"
        while "GL303" not in process.stdout.readline():
            pass
        with SummaryWriter(tmp_path / "run", filename_suffix=".2") as writer:
            for step in range(100, 110):
                writer.add_scalar("gradients/nonfinite", 0, step)
        with SummaryWriter(tmp_path / "second") as writer:
            for step in range(60):
                writer.add_scalar("gradients/nonfinite", 3 * (step >= 50), step)
        while "second" not in process.stdout.readline():
            pass
        process.send_signal(2)
        _, errors = process.communicate()
    posted = [(body["finding"]["run"], body["finding"]["code"]) for _, _, body in server.posts]
    assert posted[0] == ("run", "GL401")
    assert set(posted[1:]) <= {("second", "GL401")}  # the interrupt may come before it
    assert "gradledger: cannot notify 127.0.0.1: " in errors
    assert "secret" not in errors


@pytest.mark.parametrize("option", [["--notify", "http://127.0.0.1:9"], ["--exec", "true"]])
def test_alerts_need_a_watch(option, tmp_path, capsys):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("loss", 1.0, 0)
    assert main(["audit", str(tmp_path), *option]) == 2
    assert capsys.readouterr().err == "gradledger: --notify and --exec tell of findings as they appear: add --watch\n"
