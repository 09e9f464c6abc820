"""The report as JSON: what its schema says."""

import json
from importlib.resources import files

import jsonschema
import pytest
from audits.reports import HOSTILE, small

from summaries.auditing.report.json import json as as_json


@pytest.mark.parametrize("name", ["a", HOSTILE])
def test_json_is_what_its_schema_says(name):
    schema = json.loads(files("summaries.auditing").joinpath("report/report.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    value = json.loads(as_json(small(name, name, name)))
    jsonschema.validate(value, schema, jsonschema.Draft202012Validator)
    assert value["findings"][0]["evidence"] == {"points": 29, "least": "nan", "most": "inf", "first value": "nan"}
    assert value["findings"][0]["tag"] == name
    assert value["runs"][0]["worst"] == "error"
    value["findings"][0]["severity"] = "fatal"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(value, schema, jsonschema.Draft202012Validator)
