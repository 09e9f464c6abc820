"""What goes wrong in stores, made to happen: it passes unnoticed if it can, else it is a failure of that file."""

import errno

import pytest
from stores.proxy import cut, drop, expired, hang, refusal, shorten, slow_down

from summaries import Failure, SummaryWriter, audit, read_events, read_logdir, read_run, verify
from summaries.cli import main
from summaries.storage import prefetch, requests
from summaries.storage.object_store import ObjectStore
from summaries.storage.protocols import UnreachableError

ENDS = {
    slow_down: "Please reduce your request rate.",
    drop: "Connection was closed before we received a valid response",
    cut: "Not enough data to satisfy content length header",
    shorten: "the store returned",
    hang: "Read timeout",
    expired: "The provided token has expired.",
}


@pytest.fixture
def runs(tmp_path, s3):
    """Three runs, the last with two files."""
    for name in ("a", "b", "c", "c"):
        with SummaryWriter(str(tmp_path / name)) as writer:
            for step in range(200):
                writer.add_scalar("train/loss", 2.0 - 0.01 * step, step, walltime=1.7e9 + step)
    s3.put_tree(tmp_path, "runs/")
    return f"{s3.address}/runs"


def spoil(s3, trouble, **how):
    """Spoil the next requests; those that hang are given up soon."""
    if trouble is hang:
        s3.hurry()
    s3.proxy.trouble(trouble, **how)


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(requests, "PATIENCE_SECS", 0.5)


def keys(tmp_path, name):
    return [f"runs/{name}/{path.name}" for path in sorted((tmp_path / name).iterdir())]


@pytest.mark.parametrize("trouble", [slow_down, drop, cut, shorten, hang])
def test_what_passes_is_not_noticed(runs, s3, trouble):
    spoil(s3, trouble, times=2)
    found = read_logdir(runs, storage_options=s3.options)
    assert [len(run.scalars["train/loss"]) for run in found.values()] == [200, 200, 400]
    assert all(run.faults == () for run in found.values())


@pytest.mark.parametrize("trouble", [slow_down, drop, cut, hang])
def test_a_listing_that_fails_is_repeated(runs, s3, trouble):
    spoil(s3, trouble, when=lambda request: request.is_listing)
    assert len(read_logdir(runs, storage_options=s3.options)) == 3


@pytest.mark.parametrize("trouble", ENDS, ids=lambda trouble: trouble.__name__)
@pytest.mark.usefixtures("impatient")
def test_what_stays_is_a_failure_of_that_file(runs, s3, tmp_path, trouble):
    """All other files are audited, those of the same run too."""
    key = keys(tmp_path, "c")[0]
    spoil(s3, trouble, when=lambda request: request.is_read and key in request.path, times=10_000)
    report = audit(runs, storage_options=s3.options)
    (failure,) = report.failures
    assert (failure.run, failure.path) == ("c", f"{s3.address}/{key}")
    assert ENDS[trouble] in failure.reason
    assert [run.points for run in report.runs] == [200, 200, 200]
    assert not [finding for finding in report.findings if finding.code.startswith("GL1")]  # it is no damage


@pytest.mark.usefixtures("impatient")
def test_credentials_that_have_expired(runs, s3, capsys):
    """Asked for once, and said once."""
    s3.proxy.trouble(expired, when=lambda _: True, times=10_000)
    with pytest.raises(PermissionError) as raised:
        audit(runs, storage_options=s3.options)
    assert str(raised.value) == f"[Errno 13] The provided token has expired.: '{runs}'"
    assert len(s3.proxy.requests) == 1


def test_an_object_that_is_deleted_after_the_listing(runs, s3, tmp_path):
    key = keys(tmp_path, "b")[0]
    s3.proxy.trouble(lambda answer: answer, when=lambda request: key in request.path, before=lambda: s3.delete(key))
    report = audit(runs, storage_options=s3.options)
    assert report.failures == (Failure("b", f"{s3.address}/{key}", "No such file or directory"),)
    assert [run.points for run in report.runs] == [200, 0, 400]


@pytest.mark.parametrize("range_bytes", [1000, prefetch.RANGE_BYTES])
@pytest.mark.parametrize("steps", [50, 200, 300])
def test_an_object_that_is_replaced_after_the_listing(runs, s3, tmp_path, steps, range_bytes, monkeypatch):
    """Shorter, as long or longer: what is read is the new one, and never a mixture."""
    monkeypatch.setattr(prefetch, "RANGE_BYTES", range_bytes)
    with SummaryWriter(str(tmp_path / "new")) as writer:
        for step in range(steps):
            writer.add_scalar("train/loss", 7.0, step, walltime=1.7e9 + step)
    with open(writer.path, "rb") as file:
        new = file.read()
    key = keys(tmp_path, "b")[0]
    when = (lambda request: key in request.path and "bytes=3000-" in request.range) if range_bytes == 1000 else None
    s3.proxy.trouble(
        lambda answer: answer, when or (lambda request: key in request.path), before=lambda: s3.put(key, new)
    )
    run = read_run(f"{runs}/b", storage_options=s3.options)
    assert run.scalars["train/loss"].value.tolist() == [7.0] * steps
    assert run.faults == ()


def test_an_object_that_is_replaced_all_the_time(runs, s3, tmp_path):
    key = keys(tmp_path, "b")[0]
    number = iter(range(10_000))
    s3.proxy.trouble(
        lambda answer: answer,
        when=lambda request: request.is_read and key in request.path,
        times=10_000,
        before=lambda: s3.put(key, b"%d" % next(number)),
    )
    report = audit(runs, storage_options=s3.options)
    reason = "replaced by another file while it was being read"
    assert report.failures == (Failure("b", f"{s3.address}/{key}", reason),)
    assert [run.points for run in report.runs] == [200, 0, 400]


@pytest.mark.usefixtures("impatient")
def test_events_of_a_body_that_stays_short(runs, s3, tmp_path):
    """It is not the end of the file, and no damage."""
    path = f"{s3.address}/{keys(tmp_path, 'a')[0]}"
    s3.proxy.trouble(shorten, times=10_000)
    for read in (verify, lambda path, **access: list(read_events(path, **access))):
        with pytest.raises(OSError, match=r"the store returned \d+ of \d+ bytes"):
            read(path, storage_options=s3.options)


@pytest.mark.usefixtures("impatient")
def test_the_command_line_goes_on(runs, s3, tmp_path, capsys):
    import json

    key = keys(tmp_path, "b")[0]
    s3.proxy.trouble(slow_down, when=lambda request: request.is_read and key in request.path, times=10_000)
    options = [
        part for name, value in s3.options.items() for part in ("--storage-option", f"{name}={json.dumps(value)}")
    ]
    assert main(["verify", runs, *options]) == 2
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 3 + 1  # and their sum
    assert err == f"gradledger: Please reduce your request rate.: '{s3.address}/{key}'\n"
    assert main(["audit", runs, "--jobs", "1", *options]) == 2
    out, err = capsys.readouterr()
    assert f"b: {s3.address}/{key}: Please reduce your request rate." in out
    assert s3.options["secret"] not in out + err


def test_no_credential_is_in_a_message(s3):
    """Not even where the server repeats it."""

    def denied(_):
        text = b"<Error><Code>InvalidAccessKeyId</Code><Message>AKIDEXAMPLE is not ours.</Message></Error>"
        return refusal(b"403 Forbidden", text)

    s3.proxy.trouble(denied, when=lambda _: True, times=100)
    with pytest.raises(PermissionError) as raised:
        read_run(f"{s3.address}/runs", storage_options=s3.options)
    assert raised.value.strerror == "*** is not ours."


@pytest.fixture
def gone(monkeypatch):
    """The server is there for one listing, and then gone; the requests after that."""
    from botocore.exceptions import EndpointConnectionError

    monkeypatch.setattr(requests, "PATIENCE_SECS", 3.0)
    monkeypatch.setattr(requests, "_LOST_SECS", 600.0)
    tries = []
    discover = ObjectStore.discover

    async def refused(*_, **__):
        tries.append(1)
        raise EndpointConnectionError(endpoint_url="http://gone")

    def last_answer(store, path, **how):
        found = discover(store, path, **how)
        monkeypatch.setattr(store._system, "_call_s3", refused)
        return found

    monkeypatch.setattr(ObjectStore, "discover", last_answer)
    return tries


REASON = 'the store cannot be reached (Could not connect to the endpoint URL: "http://gone")'


def test_a_server_that_is_gone(runs, s3, gone, capsys):
    """It is told once; and for some seconds, nothing else is asked for."""
    import json

    options = [
        part for name, value in s3.options.items() for part in ("--storage-option", f"{name}={json.dumps(value)}")
    ]
    assert main(["verify", runs, *options]) == 2
    out, err = capsys.readouterr()
    (line,) = err.splitlines()
    assert out == ""
    assert line.startswith(f"gradledger: {REASON}: '{runs}/")
    assert line.endswith("; 3 more not read")
    gone.clear()
    with pytest.raises(UnreachableError) as raised:
        audit(runs, storage_options=s3.options)
    assert str(raised.value) == f"[Errno {errno.EHOSTUNREACH}] {REASON}: '{runs}'"
    assert gone == []


def test_an_audit_of_a_server_that_is_gone(runs, s3, gone):
    report = audit(runs, storage_options=s3.options)
    found = [(failure.run, failure.path, failure.reason) for failure in report.failures]
    assert found == [
        ("a", "", f"{REASON}; 1 file not read"),
        ("b", "", f"{REASON}; 1 file not read"),
        ("c", "", f"{REASON}; 2 files not read"),
    ]
    assert gone
