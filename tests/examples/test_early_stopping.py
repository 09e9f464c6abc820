"""The example stops a run that diverges, and trains again with a lower rate until one comes to its end."""

from helpers import ROOT, run

from summaries import audit, read_logdir


def test_it_stops_and_starts_again(tmp_path):
    out = run(ROOT / "examples/early_stopping.py", tmp_path)
    assert "GL304 loss-diverges" in out
    assert out.splitlines()[-1].startswith("rate 0.12: the line is 3.0")
    lengths = {name: len(one.scalars["train/loss"]) for name, one in read_logdir(tmp_path).items()}
    assert lengths["lr=1.2"] < 100
    assert lengths["lr=0.12"] == 400
    assert [finding.run for finding in audit(tmp_path).findings if finding.severity == 2] == ["lr=1.2"]
