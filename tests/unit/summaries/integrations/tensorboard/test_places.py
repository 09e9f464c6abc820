"""Places: TensorBoard's two flags, with its own reading of commas and colons."""

import os

import pytest

from summaries.integrations.tensorboard.places import Place, existing_places, places_of, run_name


def test_logdir():
    assert places_of("runs/a") == (Place("runs/a"),)
    assert places_of("s3://bucket/runs") == (Place("s3://bucket/runs"),)
    assert places_of("~/runs") == (Place(os.path.expanduser("~/runs")),)
    assert places_of("") == ()


@pytest.mark.parametrize(
    ("spec", "places"),
    [
        ("a:/runs/a,b:/runs/b", [("/runs/a", "a"), ("/runs/b", "b")]),
        ("/runs/a:b", [("/runs/a:b", "")]),
        ("runs,name:more:colons", [("runs", ""), ("more:colons", "name")]),
        ("gs://bucket/a,name:gs://bucket/b", [("gs://bucket/a", ""), ("gs://bucket/b", "name")]),
        (",runs,", [("runs", "")]),
    ],
)
def test_logdir_spec(spec, places):
    assert places_of("", spec) == tuple(Place(path, name) for path, name in places)


def test_as_tensorboard_reads_it():
    ingester = pytest.importorskip("tensorboard.backend.event_processing.data_ingester")
    spec = "a:/runs/a,/runs/b:c,name:/more:colons,gs://bucket/a"
    ours = {place.path: place.name or None for place in places_of("", spec)}
    assert ingester._parse_event_files_spec(spec) == ours


def test_names_of_runs():
    assert run_name(Place("runs", "new"), "a/b") == "new/a/b"
    assert run_name(Place("runs", "new"), ".") == "new"
    assert run_name(Place("runs"), "a") == "a"


def test_existing_places_have_names_if_there_are_several(tmp_path):
    for name in "ab":
        (tmp_path / name / "runs").mkdir(parents=True)
    paths = [str(tmp_path / name / "runs") + os.sep * (name == "b") for name in "ab"]
    assert existing_places(paths[:1]) == (Place(paths[0]),)
    assert existing_places(paths) == (Place(paths[0], "runs"), Place(paths[1], "runs"))
    with pytest.raises(FileNotFoundError, match="missing"):
        existing_places([*paths, str(tmp_path / "missing")])
