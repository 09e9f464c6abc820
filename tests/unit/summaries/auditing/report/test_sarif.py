"""The report as SARIF 2.1.0: what its schema says."""

import json

import jsonschema
import pytest
from audits.reports import HOSTILE, small
from helpers import ROOT

from summaries import Failure, Report, RunReport
from summaries.auditing.report.sarif import sarif

SCHEMAS = ROOT / "tests/golden/schemas"


@pytest.mark.parametrize("name", ["a", "dir/b c", HOSTILE])
def test_sarif_is_what_its_schema_says(name):
    schema = json.loads((SCHEMAS / "sarif-2.1.0-rtm.5.json").read_text())
    value = json.loads(sarif(small(name, name, name)))
    jsonschema.validate(value, schema, jsonschema.Draft4Validator)
    (run,) = value["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["GL301", "GL107"]
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    assert run["results"][0]["level"] == "error"
    assert run["results"][0]["occurrenceCount"] == 29


def test_sarif_of_nothing():
    schema = json.loads((SCHEMAS / "sarif-2.1.0-rtm.5.json").read_text())
    jsonschema.validate(json.loads(sarif(Report(()))), schema, jsonschema.Draft4Validator)


@pytest.mark.parametrize(
    ("path", "uri"),
    [("s3://bucket/a b:c", "s3://bucket/a%20b%3Ac"), ("filecache::s3://b/x", "filecache::s3://b/x"), ("a:b", "a%3Ab")],
)
def test_the_uri_of_an_address_keeps_its_scheme(path, uri):
    report = Report((RunReport("run", (path,), (), failures=(Failure("run", path, "gone"),)),))
    (note,) = json.loads(sarif(report))["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert note["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri
