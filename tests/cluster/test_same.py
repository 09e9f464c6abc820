"""What a cluster finds is what this machine finds, byte for byte: on disks, and in an object store."""

import pytest

from summaries import audit, compare, read_logdir, verify_logdir
from summaries.auditing.report import comparison
from summaries.auditing.report.json import json
from summaries.cli import main


def test_labelled_runs(executor, labelled_logdir):
    report = audit(labelled_logdir)
    assert len(report.findings) > 50
    assert "GL611" in {finding.code for finding in report.findings}
    assert json(audit(labelled_logdir, executor=executor)) == json(report)


def test_labelled_runs_in_a_store(executor, labelled_logdir, put):
    address, options = put(labelled_logdir)
    report = audit(address, storage_options=options)
    assert len(report.findings) > 50
    assert json(audit(address, executor=executor, storage_options=options)) == json(report)


def test_five_thousand_small_runs(executor, small_logdir):
    report = audit(small_logdir)
    assert len(report.runs) == 5_000
    assert report.findings
    assert json(audit(small_logdir, executor=executor)) == json(report)


def test_five_thousand_small_runs_in_a_store(executor, small_logdir, put):
    address, options = put(small_logdir)
    here = json(audit(small_logdir)).replace(str(small_logdir), address)
    assert json(audit(address, executor=executor, storage_options=options)) == here


def test_a_baseline_is_read_by_the_workers(executor, labelled_logdir):
    (baseline,) = labelled_logdir.glob("*_plain")
    report = audit(labelled_logdir, baseline=baseline)
    assert {"GL601", "GL602"} & {finding.code for finding in report.findings}
    assert json(audit(labelled_logdir, baseline=baseline, executor=executor)) == json(report)


def test_the_other_functions(executor, labelled_logdir):
    assert verify_logdir(labelled_logdir, executor=executor) == verify_logdir(labelled_logdir)
    assert comparison.json(compare(labelled_logdir, executor=executor)) == comparison.json(compare(labelled_logdir))
    here, there = read_logdir(labelled_logdir), read_logdir(labelled_logdir, executor=executor)
    assert list(there) == list(here)
    for name, run in here.items():
        assert list(there[name].scalars) == list(run.scalars)
        for tag, series in run.scalars.items():
            other = there[name].scalars[tag]
            assert (other.step.tobytes(), other.value.tobytes()) == (series.step.tobytes(), series.value.tobytes())


@pytest.fixture(params=["local", "address", "file", "yaml"])
def where(request, cluster, tmp_path):
    """What `--dask` may be."""
    if request.param == "address":
        return cluster.scheduler_address
    if request.param == "file":
        path = tmp_path / "scheduler.json"
        path.write_text(f'{{"address": "{cluster.scheduler_address}"}}')
        return str(path)
    if request.param == "yaml":
        path = tmp_path / "cluster.yaml"
        path.write_text(
            "distributed: {scheduler: {allowed-failures: 5}}\n"
            "gradledger:\n"
            "  cluster: distributed.LocalCluster\n"
            "  options: {n_workers: 0, threads_per_worker: 1, dashboard_address: ':0'}\n"
            "  workers: {minimum: 0, maximum: 2}\n"
        )
        return str(path)
    return "local"


def test_the_command(where, labelled_logdir, capsys):
    status = main(["audit", str(labelled_logdir), "--format", "json"])
    here = capsys.readouterr()
    assert main(["audit", str(labelled_logdir), "--format", "json", "--dask", where]) == status == 1
    assert capsys.readouterr() == here


def test_the_other_commands(cluster, labelled_logdir, capsys):
    assert main(["verify", str(labelled_logdir)]) == 0
    here = capsys.readouterr()
    assert main(["verify", str(labelled_logdir), "--dask", cluster.scheduler_address]) == 0
    there = capsys.readouterr()
    assert sorted(there.out.splitlines()) == sorted(here.out.splitlines())
    compared = ["compare", str(labelled_logdir), "--format", "json"]
    assert main(compared) == 0
    here = capsys.readouterr()
    assert main([*compared, "--dask", cluster.scheduler_address]) == 0
    assert capsys.readouterr() == here
