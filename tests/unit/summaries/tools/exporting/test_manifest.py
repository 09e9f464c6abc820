"""What a dataset says of itself, and how a run is known to be the same."""

import json
import os

import pytest
from stores.memory import MemoryStorage

from summaries import SummaryWriter, export
from summaries.storage.logdir import run_files
from summaries.tools.exporting.manifest import fingerprint

pytest.importorskip("pyarrow.parquet", reason="an extra")


@pytest.fixture
def logs(tmp_path):
    for name in ("a", "b/c", "d"):
        with SummaryWriter(tmp_path / "logs" / name) as writer:
            for step in range(5):
                writer.add_scalar("loss", float(step), step, walltime=1.7e9)
    return tmp_path / "logs"


def test_the_manifest(logs, tmp_path):
    target = tmp_path / "ds"
    export(logs, target, tags=["lo*"])
    tree = json.loads((target / "_manifest.json").read_text())
    (runs,) = tree.pop("files").values()
    assert tree == {"gradledger_dataset": 2, "tags": ["lo*"], "latest": False}
    assert list(runs) == ["a", "b/c", "d"]
    size = sum(path.stat().st_size for path in (logs / "a").iterdir())
    assert {**runs["a"], "fingerprint": len(runs["a"]["fingerprint"])} == {
        "bytes": size,
        "fingerprint": 32,
        "points": 5,
    }


@pytest.mark.parametrize("target", ["logs", "other", "other/notes"])
def test_other_directories_and_files_are_refused(logs, tmp_path, target):
    (tmp_path / "other").mkdir()
    (tmp_path / "other/notes").touch()
    with pytest.raises(ValueError, match="must be new") as raised:
        export(logs, tmp_path / target)
    assert str(raised.value) == (
        f"the target must be new, empty, or a dataset of gradledger with its _manifest.json: {tmp_path / target}"
    )


@pytest.mark.parametrize(
    "name",
    [
        "{elsewhere}/precious",
        "../precious",
        "a/../../precious",
        "precious",
        ".",
        "part-1.parquet",
        "part-00000.parquet\n",
    ],
)
def test_a_manifest_names_no_file_but_the_dataset_s_own(logs, tmp_path, name):
    """Whoever made the dataset could have any file overwritten."""
    precious = tmp_path / "precious"
    precious.write_text("precious")
    export(logs, tmp_path / "ds")
    path = tmp_path / "ds/_manifest.json"
    tree = json.loads(path.read_text())
    tree["files"][name.format(elsewhere=tmp_path)] = {"new": {"bytes": 0}}
    path.write_text(json.dumps(tree))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ValueError, match="not the manifest"):
        export(logs, tmp_path / "ds", incremental=False)
    assert precious.read_text() == "precious"
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="only POSIX has pipes")
def test_a_link_in_a_dataset_is_replaced_and_not_followed(logs, tmp_path):
    precious = tmp_path / "precious"
    export(logs, tmp_path / "ds")
    for name in ("part-00000.parquet", "_manifest.json"):
        content = (tmp_path / "ds" / name).read_bytes()
        precious.write_bytes(content)
        (tmp_path / "ds" / name).unlink()
        (tmp_path / "ds" / name).symlink_to(precious)
        export(logs, tmp_path / "ds", incremental=False)
        assert precious.read_bytes() == content
        assert not (tmp_path / "ds" / name).is_symlink()


@pytest.mark.parametrize(
    "text", ["", "[]", "[" * 9999, "{}", '{"gradledger_dataset": 3}', '{"gradledger_dataset": 2, "files": 3}']
)
def test_manifests_of_others(logs, tmp_path, text):
    path = tmp_path / "ds/_manifest.json"
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(ValueError, match="not the manifest") as raised:
        export(logs, tmp_path / "ds")
    assert str(raised.value) == f"not the manifest of a dataset of version 2: {path}"


@pytest.mark.only_on_disks(reason="files of a store have versions")
def test_a_fingerprint_changes_with_the_files(logs, tmp_path):
    (path,) = (logs / "a").iterdir()
    before = fingerprint(run_files(logs / "a"))
    assert fingerprint(run_files(logs / "a")) == before
    (tmp_path / "elsewhere").mkdir()
    copy = tmp_path / "elsewhere" / path.name
    copy.write_bytes(path.read_bytes())
    os.utime(copy, ns=(0, path.stat().st_mtime_ns))
    assert fingerprint(run_files(tmp_path / "elsewhere")) == before  # where another machine mounts it
    seen = {before}
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))
    seen.add(fingerprint(run_files(logs / "a")))
    with open(path, "ab") as file:
        file.write(bytes(1))
    os.utime(path, ns=(0, copy.stat().st_mtime_ns))
    seen.add(fingerprint(run_files(logs / "a")))
    (logs / "a/empty.tfevents").touch()
    seen.add(fingerprint(run_files(logs / "a")))
    assert len(seen) == 4


def test_a_fingerprint_in_a_store_is_of_versions():
    storage = MemoryStorage({"memory://a/x.tfevents": b"x"})
    before = fingerprint(storage.discover("memory://a"))
    assert fingerprint(storage.discover("memory://a")) == before
    storage.put("memory://a/x.tfevents", b"y")
    assert fingerprint(storage.discover("memory://a")) != before


@pytest.mark.only_on_disks(reason="a store has no links")
def test_an_unknown_file_has_no_fingerprint(tmp_path):
    (tmp_path / "x.tfevents").symlink_to("nowhere")
    assert fingerprint(run_files(tmp_path)) is None
