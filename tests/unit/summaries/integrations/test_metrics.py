"""What Prometheus is told, read back by its own parser, and who is told."""

import http.client
import math
import threading
from urllib.parse import urlsplit

import numpy as np
import pytest
from browser.plugin_runs import end_libraries, library_of, log_run, log_steps, soon

from summaries import SummaryWriter
from summaries.integrations.metrics import FAMILIES, Metrics, MetricsServer
from summaries.tools.showing import show

ODD = '\x1b[31m"quoted"\\back\nline\u202e'


@pytest.fixture(autouse=True)
def _end():
    yield
    end_libraries()


def samples(text):
    """(metric, run, tag or code) → value; the real parser refuses what Prometheus would."""
    parser = pytest.importorskip("prometheus_client.parser")
    found = {}
    for family in parser.text_string_to_metric_families(text):
        assert family.type == "gauge"
        assert family.documentation == FAMILIES[family.name]
        for sample in family.samples:
            labels = sample.labels
            key = sample.name, labels.get("run"), labels.get("tag") or labels.get("code")
            assert key not in found, "Prometheus refuses a series that comes twice"
            found[key] = sample.value
    return found


def test_what_is_told_is_what_the_files_say(tmp_path):
    log_run(tmp_path / "good", steps=300)
    log_run(tmp_path / "bad", diverges=True)
    found = samples(Metrics(library_of(tmp_path)).text())
    for run, last in ("good", 299), ("bad", 399):
        for one in show(tmp_path / run):
            assert found["gradledger_last_value", run, one.tag] == one.values.last
        assert found["gradledger_last_step", run, None] == last
        assert found["gradledger_last_event_timestamp_seconds", run, None] == 1.79e9 + last
        assert found["gradledger_steps_per_second", run, None] == pytest.approx(1)
    assert found["gradledger_verdict", "bad", None] == 2
    assert found["gradledger_findings", "bad", "GL304"] == 1
    assert found["gradledger_reading", None, None] == found["gradledger_failures", None, None] == 0


def test_only_wanted_tags_have_values(tmp_path):
    log_run(tmp_path / "a", steps=20)
    found = samples(Metrics(library_of(tmp_path), tags=("train/*",)).text())
    assert [tag for name, _, tag in found if name == "gradledger_last_value"] == ["train/loss"]


def test_a_run_that_grows(tmp_path):
    log_run(tmp_path / "a", steps=20)
    metrics = Metrics(library_of(tmp_path))
    assert samples(metrics.text())["gradledger_last_step", "a", None] == 19
    with SummaryWriter(tmp_path / "a") as writer:
        writer.add_scalar("train/loss", 0.25, 50)
    assert soon(lambda: samples(metrics.text())["gradledger_last_step", "a", None] == 50)
    assert samples(metrics.text())["gradledger_last_value", "a", "train/loss"] == 0.25


def test_only_what_changed_is_made_again(tmp_path, monkeypatch):
    for name in "abc":
        log_run(tmp_path / name, steps=5)
    metrics, made = Metrics(library_of(tmp_path)), []
    plain = Metrics._values
    monkeypatch.setattr(
        Metrics, "_values", lambda self, book, report: [made.append(book.name), *plain(self, book, report)][1:]
    )
    first = metrics.text()
    assert metrics.text() == first
    assert made == ["a", "b", "c"]
    with SummaryWriter(tmp_path / "b") as writer:
        writer.add_scalar("train/loss", 0.25, 50)
    assert soon(lambda: metrics.text() != first)
    assert set(made[3:]) == {"b"}


@pytest.mark.filterwarnings("ignore::summaries.NonFiniteWarning")
def test_what_is_not_finite(tmp_path):
    with SummaryWriter(tmp_path / "a") as writer:
        for tag, value in ("nan", math.nan), ("up", math.inf), ("down", -math.inf):
            writer.add_scalar(tag, value, 1)
    found = samples(Metrics(library_of(tmp_path)).text())
    assert math.isnan(found["gradledger_last_value", "a", "nan"])
    assert found["gradledger_last_value", "a", "up"] == math.inf
    assert found["gradledger_last_value", "a", "down"] == -math.inf


def test_hostile_names_are_escaped_and_names_that_look_alike_come_once(tmp_path):
    shown = '\\x1b[31m"quoted"\\back\\nline\\u202e'
    with SummaryWriter(tmp_path / "a") as writer:
        for number, tag in enumerate((ODD, shown, "gradledger_verdict 3\n")):
            writer.add_scalar(tag, number, 1)
    text = Metrics(library_of(tmp_path)).text()
    assert all(line.isprintable() for line in text.split("\n"))
    found = samples(text)
    assert found["gradledger_last_value", "a", shown] == 0
    assert found["gradledger_last_value", "a", "gradledger_verdict 3\\n"] == 2
    assert found["gradledger_series_left_out", None, None] == 1
    assert found["gradledger_verdict", "a", None] <= 0


def ask(server, path="/metrics", method="GET", **headers):
    connection = http.client.HTTPConnection(urlsplit(server.address).netloc, timeout=60)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    return answer.status, answer.getheader("Content-Type"), answer.read().decode()


def test_the_server(tmp_path):
    log_run(tmp_path / "a", steps=20)
    server = MetricsServer([str(tmp_path)])
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    assert soon(lambda: 'gradledger_last_step{run="a"} 19.0' in ask(server)[2])
    status, kind, text = ask(server)
    assert (status, kind) == (200, "text/plain; version=0.0.4; charset=utf-8")
    assert samples(text)["gradledger_last_step", "a", None] == 19
    assert ask(server, method="HEAD")[::2] == (200, "")
    assert ask(server, "/")[::2] == (404, "the metrics are at /metrics\n")
    refused = (403, "only this machine is answered, by its own name\n")
    assert ask(server, Host="evil.example")[::2] == refused
    assert ask(server, Origin="http://evil.example")[::2] == refused
    assert ask(server, method="POST")[0] == 501
    with pytest.raises(OSError, match=r"Address already in use|Only one usage"):
        MetricsServer([str(tmp_path)], port=urlsplit(server.address).port)
    with pytest.raises(OSError, match=r"nothing can listen at '::1', port 0: .+; it must be an IPv4 address or a name"):
        MetricsServer([str(tmp_path)], host="::1")
    server._server.shutdown()
    thread.join()
    server.close()


def test_a_place_that_does_not_exist(tmp_path):
    with pytest.raises(FileNotFoundError, match="missing"):
        MetricsServer([str(tmp_path / "missing")])


def test_points_are_told_at_once_and_judged_when_the_time_has_come(tmp_path):
    log_run(tmp_path / "a", steps=100)
    library = library_of(tmp_path)
    library._audit_secs = 3600.0
    with SummaryWriter(tmp_path / "a") as writer:
        log_steps(writer, np.random.default_rng(0), range(100, 400), diverges=True)
    assert soon(lambda: library.book("a").last[0, 0] == 399)
    assert library.book("a").report.points == 100 * 26
    assert not library.book("a").is_judged
    library._audit_secs = 0.0
    assert soon(lambda: library.book("a").report.points == 400 * 26)
    assert "GL304" in {finding.code for finding in library.book("a").report.findings}
