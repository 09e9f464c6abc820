"""What people say about runs, as it is read back: the last label, and the last note at each step."""

import json

import jsonschema
import pytest
from helpers import ROOT

from summaries import SummaryWriter, audit, read_run
from summaries.reading.annotations import Note, label_of, notes_of
from summaries.tools import label, note


@pytest.fixture
def run(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for step in range(100):
            writer.add_scalar("loss", 1 / (1 + step), step, walltime=1e9 + step)
    return tmp_path


def test_nothing_was_said(run):
    assert (label_of(read_run(run)), notes_of(read_run(run))) == ("", ())


def test_the_last_label_counts(run):
    label(run, "good")
    label(run, "bad")
    assert label_of(read_run(run)) == "bad"
    label(run, "none")
    assert label_of(read_run(run)) == ""


def test_what_is_no_label_is_none(run):
    with SummaryWriter(run) as writer:
        writer.add_text("gradledger/label", "excellent", 0)
    assert label_of(read_run(run)) == ""


def test_notes_are_in_the_order_of_their_steps(run):
    for step, words in ((50, "later"), (3, "first"), (3, "more")):
        note(run, step, words)
    assert notes_of(read_run(run)) == (Note(3, "first\n\nmore"), Note(50, "later"))


def test_the_audit_tells_them_and_finds_the_same(run):
    before = audit(run).findings
    label(run, "bad")
    note(run, 50, "a new data set")
    report = audit(run)
    assert report.findings == before
    assert (report.runs[0].label, report.runs[0].notes) == ("bad", (Note(50, "a new data set"),))
    told = json.loads(report.to_json())
    schema = json.loads((ROOT / "summaries/auditing/report/report.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(told, schema)
    assert told["runs"][0]["notes"] == [{"step": 50, "text": "a new data set"}]
