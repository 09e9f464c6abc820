"""What recorded norms say about a bound for clipping."""

import numpy as np
import pytest

from summaries import SummaryWriter, clip_advice, read_run
from summaries.cli import main

TAG = "gradients/global_norm"


def log(logdir, norms, tag=TAG):
    with SummaryWriter(logdir) as writer:
        for step, norm in enumerate(norms):
            writer.add_scalar(tag, norm, step)
    return logdir


def test_percentiles_and_shares(logdir):
    norms = np.random.default_rng(0).lognormal(size=500).astype(np.float32).astype(np.float64)
    advice = clip_advice(log(logdir, norms), bounds=[0.5, 1, 1e9])
    assert (advice.tag, advice.steps, advice.nonfinite) == (TAG, 500, 0)
    assert advice.mean == pytest.approx(norms.mean())
    for percentile, norm in advice.percentiles.items():
        assert norm == pytest.approx(np.percentile(norms, percentile))
    assert advice.would_clip == {0.5: np.mean(norms > 0.5), 1.0: np.mean(norms > 1), 1e9: 0.0}
    assert advice.suggested == pytest.approx(np.percentile(norms, 90))
    assert np.mean(norms > advice.suggested) == pytest.approx(0.1)
    assert not advice.recorded_after_clipping


@pytest.mark.filterwarnings("ignore::summaries.NonFiniteWarning")
def test_norms_that_are_not_finite_or_zero(logdir):
    advice = clip_advice(log(logdir, [0.0] * 95 + [1.0, 2.0, 3.0, np.nan, np.inf]))
    assert (advice.steps, advice.nonfinite) == (100, 2)
    assert advice.percentiles[50.0] == 0.0
    assert advice.suggested == pytest.approx(2.8)


def test_norms_that_were_clipped_already(logdir):
    rng = np.random.default_rng(0)
    advice = clip_advice(log(logdir, np.minimum(rng.lognormal(size=100), 2.0)))
    assert advice.recorded_after_clipping
    assert str(advice).splitlines()[-1].endswith("of the norms equal the largest: were they recorded after clipping?")


def test_what_a_restart_superseded_does_not_count(logdir):
    log(logdir, [1.0, 100.0, 100.0])
    with SummaryWriter(logdir, filename_suffix=".resumed") as writer:
        writer.add_scalar(TAG, 2.0, 1)
    assert clip_advice(logdir).percentiles[100.0] == 2.0


def test_steps_before_a_run_diverged(logdir):
    assert clip_advice(log(logdir, [1.0, 1.0, 50.0, 900.0]), last_step=1).percentiles[100.0] == 1.0


def test_a_run_that_is_read_already(logdir):
    log(logdir, [1.0, 2.0], "train/grad_norm")
    assert clip_advice(read_run(logdir), "train/grad_norm").mean == 1.5


REFUSED = {
    "no such tag": (
        LookupError,
        {"tag": "x"},
        "no scalars with tag 'x'; tags with 'norm' in them: gradients/global_norm",
    ),
    "bound": (ValueError, {"bounds": [0.0]}, "a bound must be positive and finite, got 0.0"),
    "no steps": (
        ValueError,
        {"last_step": -1},
        "'gradients/global_norm' must have a value that is positive and finite, got none of 0",
    ),
}


@pytest.mark.parametrize(("kind", "options", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(logdir, kind, options, message):
    log(logdir, [1.0])
    with pytest.raises(kind) as raised:
        clip_advice(logdir, **options)
    assert str(raised.value) == message


def test_many_tags_that_are_similar_are_not_all_named(logdir):
    with SummaryWriter(logdir) as writer:
        for i in range(20):
            writer.add_scalar(f"norm/{i}", 1.0)
    with pytest.raises(LookupError) as raised:
        clip_advice(logdir)
    assert str(raised.value).endswith(f"in them: {', '.join(f'norm/{i}' for i in range(8))}, …")


def test_the_command(logdir, capsys):
    log(logdir, np.arange(1.0, 12.0))
    assert main(["clip-advice", str(logdir), "--bound", "5", "--bound", "9"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out == (
        "gradients/global_norm: 11 steps, mean 6\n"
        "  1 % are at most 1.1\n"
        "  10 % are at most 2\n"
        "  25 % are at most 3.5\n"
        "  50 % are at most 6\n"
        "  75 % are at most 8.5\n"
        "  90 % are at most 10\n"
        "  95 % are at most 10.5\n"
        "  99 % are at most 10.9\n"
        "  100 % are at most 11\n"
        "  5 would have clipped 54.5%\n"
        "  9 would have clipped 18.2%\n"
        "suggested: clip_norm = 10\n"
    )


def test_the_command_without_norms(logdir, capsys):
    log(logdir, [1.0], "loss")
    assert main(["clip-advice", str(logdir)]) == 2
    _, err = capsys.readouterr()
    assert err == "gradledger: no scalars with tag 'gradients/global_norm'; tags with 'norm' in them: none\n"


def test_the_command_on_an_unfinished_file(logdir, capsys):
    log(logdir, [1.0, 2.0])
    (path,) = logdir.iterdir()
    path.write_bytes(path.read_bytes()[:-3])
    assert main(["clip-advice", str(logdir), "--tag", TAG]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("gradients/global_norm: 1 step, mean 1\n")
    assert err.startswith("gradledger: the bytes end inside a record")
