"""GL208: the audit says that an incident was recorded, where, and why."""

from audits.audited import found_in

from summaries import SummaryWriter


def record(directory, steps, *reasons):
    with SummaryWriter(directory) as writer:
        for step in steps:
            writer.add_scalar("train/loss", 1.0, step)
        for step, words in reasons:
            writer.add_text("incident", words, step)


def test_what_is_said(tmp_path):
    record(tmp_path / "incident=8", range(3, 11), (8, "gradients are not finite"), (10, "SIGTERM"))
    finding = found_in(tmp_path)["GL208"]
    assert finding.message == (
        "steps 3 to 10 are recorded, each of them: at step 8, gradients are not finite; at step 10, SIGTERM"
    )
    assert (finding.run, finding.severity.name) == ("incident=8", "INFO")
    assert (finding.tag, finding.steps, finding.count, finding.evidence) == ("", (3, 10), 2, {"points": 8})


def test_several_reasons_at_one_step(tmp_path):
    record(tmp_path / "incident=8", range(8), (7, "a spike of the loss"), (7, "dump() was called"))
    assert found_in(tmp_path)["GL208"].message == (
        "steps 0 to 7 are recorded, each of them: at step 7, a spike of the loss; at step 7, dump() was called"
    )


def test_a_long_reason_of_several_lines(tmp_path):
    record(tmp_path / "incident=8", [8], (8, "RuntimeError: " + "too long " * 30 + "\nsecond line"))
    assert found_in(tmp_path)["GL208"].message.endswith("at step 8, RuntimeError: " + "too long " * 11 + "too…")


def test_the_directory_of_the_incident_itself(tmp_path):
    record(tmp_path / "incident=8", range(8), (7, "SIGTERM"))
    assert "GL208" in found_in(tmp_path / "incident=8")


def test_other_runs(tmp_path):
    record(tmp_path / "texts" / "run", range(8), (7, "somebody's own text"))
    record(tmp_path / "name" / "incident=8", range(8))
    assert "GL208" not in found_in(tmp_path / "texts")
    assert "GL208" not in found_in(tmp_path / "name")
    record(tmp_path / "empty" / "incident=8", [], (7, "SIGTERM"))
    assert "GL208" not in found_in(tmp_path / "empty")
