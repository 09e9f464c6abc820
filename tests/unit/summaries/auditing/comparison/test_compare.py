"""Populations with known truth, from files to the comparison."""

import numpy as np
import pytest
from labelled import populations

from summaries import SummaryWriter, compare
from summaries.auditing.comparison.hyperparameters import check_stated

pytestmark = pytest.mark.filterwarnings("ignore::summaries.NonFiniteWarning")
ODD = "lr=0.001_bs=32/seed=1"
LOST = "lr=0.01_bs=128/seed=2"


@pytest.fixture(scope="module", params=range(5))
def found(request, tmp_path_factory):
    directory = tmp_path_factory.mktemp("sweep")
    return compare(populations.sweep(directory, request.param, odd=ODD, diverged=[LOST]))


@pytest.mark.filterwarnings("ignore::summaries.NonFiniteWarning")
def test_groups(found):
    assert (found.metric, found.measure, found.by) == ("val/loss", "final", ("lr", "bs"))
    assert len(found.members) == 24
    assert [len(group.runs) for group in found.groups] == [4] * 6
    best = [group.hyperparameters["lr"] for group in found.groups[:2]]
    assert best == [0.001, 0.001]
    assert sum(group.diverged for group in found.groups) == 1


def test_what_separates(found):
    first, second = found.separations
    assert (first.hyperparameter, first.levels[0][0]) == ("lr", "0.001")
    assert first.p < 0.02
    assert (second.hyperparameter, second.p > 0.05) == ("bs", True)
    assert 0 < found.within < 0.7


def test_outliers_and_seeds_that_disagree(found):
    assert {outlier.run for outlier in found.outliers} == {ODD, LOST}
    assert found.outliers[0].run == LOST
    assert np.isinf(found.outliers[0].deviations)
    assert [group.hyperparameters for group in found.groups if group.disagree] == [{"lr": 0.001, "bs": 32.0}]


def test_recorded_incidents_are_no_runs_of_their_own(tmp_path):
    for rate in (0.1, 0.2):
        for place in (f"lr={rate}", f"lr={rate}/incident=3"):
            with SummaryWriter(tmp_path / place) as writer:
                writer.add_scalar("train/loss", rate, 3)
                if "incident" in place:
                    writer.add_text("incident", "SIGTERM", 3)
    found = compare(tmp_path)
    assert [member.run for member in found.members] == ["lr=0.1", "lr=0.2"]
    assert found.left_out == ()


@pytest.mark.parametrize("seed", range(5))
def test_a_sweep_in_which_nothing_is_odd(tmp_path, seed):
    found = compare(populations.sweep(tmp_path, seed))
    assert found.outliers == ()
    assert [group for group in found.groups if group.disagree] == []
    assert found.taught is None


def test_marks_teach_what_is_good(tmp_path):
    populations.sweep(tmp_path, 0)
    found = compare(tmp_path, good=["lr=0.001_*/seed=[01]"], bad=["lr=0.0001_*/seed=[01]"])
    assert (found.taught.good, found.taught.bad, found.taught.auc) == (4, 4, 1.0)
    assert 0.55 < found.taught.cut < 0.65
    verdicts = {member.run: member.verdict for member in found.members}
    assert {verdict for run, verdict in verdicts.items() if "lr=0.001_" in run} == {"good"}
    assert {verdict for run, verdict in verdicts.items() if "lr=0.001_" not in run} == {"bad"}


def test_marks_choose_the_metric(tmp_path):
    rng = np.random.default_rng(0)
    for name, level in ((f"{kind}{i}", (0.2 if kind == "a" else 0.6) + 0.01 * i) for kind in "ab" for i in range(8)):
        with SummaryWriter(tmp_path / name) as writer:
            for step in range(30):
                writer.add_scalar("val/loss", 1 + 0.1 * rng.standard_normal(), step)
                writer.add_scalar("train/loss", level, step)
    assert compare(tmp_path).metric == "val/loss"
    found = compare(tmp_path, good=["a*"])
    assert (found.metric, found.taught.candidates) == ("train/loss", 4)


def test_a_table(tmp_path):
    populations.sweep(tmp_path / "runs", 0)
    rows = [f"lr={rate:g}_bs={batch}/seed={seed},{seed % 2},{'good' if rate == 0.001 else 'bad'}\n"
            for rate in populations.RATES for batch in populations.BATCHES for seed in populations.SEEDS]  # fmt: skip
    (tmp_path / "table.csv").write_text("run,warmup,label\n" + "".join(rows))
    found = compare(tmp_path / "runs", table=tmp_path / "table.csv", by=["warmup"])
    assert [dict(group.hyperparameters) for group in found.groups] in ([{"warmup": 0}, {"warmup": 1}],
                                                                      [{"warmup": 1}, {"warmup": 0}])  # fmt: skip
    assert (found.taught.good, found.taught.bad) == (8, 16)


def log(directory, loss, tag="loss", hparams=None):
    with SummaryWriter(directory) as writer:
        for step in range(20):
            writer.add_scalar(tag, loss, step)
        if hparams:
            writer.add_hparams(hparams, {})


def test_runs_that_state_nothing_are_grouped_by_name(tmp_path):
    for name, loss in (("base/version_0", 1.0), ("base/version_1", 1.1), ("wide-seed0", 0.5), ("wide-seed1", 0.6)):
        log(tmp_path / name, loss)
    assert [dict(group.hyperparameters) for group in compare(tmp_path).groups] == [{"run": "wide"}, {"run": "base"}]


def test_hyperparameters_of_the_dashboard(tmp_path):
    for number, rate in enumerate((0.1, 0.2, 0.1)):
        log(tmp_path / f"run{number}", rate, hparams={"lr": rate, "name": "x"})
    found = compare(tmp_path)
    assert found.by == ("lr",)
    assert [dict(group.hyperparameters) for group in found.groups] == [{"lr": 0.1}, {"lr": 0.2}]
    assert found.left_out == ()


def test_a_directory_that_torch_adds_belongs_to_the_run_above_it(tmp_path):
    for number, rate in enumerate((0.1, 0.2)):
        log(tmp_path / f"run{number}", rate)
        with SummaryWriter(tmp_path / f"run{number}/1700000000.5") as writer:
            writer.add_hparams({"lr": rate}, {"hparam/accuracy": 0.5})
    found = compare(tmp_path)
    assert [member.run for member in found.members] == ["run0", "run1"]
    assert found.by == ("lr",)


def test_validation_runs_beside_training_runs(tmp_path):
    for rate in (0.1, 0.2):
        for part in ("train", "validation"):
            log(tmp_path / f"lr={rate}/{part}", rate, tag="epoch_loss")
    found = compare(tmp_path)
    assert [member.run for member in found.members] == ["lr=0.1/validation", "lr=0.2/validation"]
    why = "its epoch_loss is a training loss, that of others a validation loss"
    assert found.left_out == tuple((f"lr={rate}/train", why) for rate in (0.1, 0.2))


@pytest.mark.parametrize("metric", [None, "loss/x"])
def test_what_behaves_like_a_loss_in_some_runs_is_compared_in_all(tmp_path, metric):
    """Its name leaves open what it is: it is a run's loss if it comes down there."""
    curves = {
        "lr=0.1": lambda step: 2 * 0.95**step,
        "lr=0.2": lambda step: 1.0 + step % 2,
        "lr=0.3": lambda step: 1 + step * 0.05,
        "lr=0.4": lambda step: 3 * 0.95**step,
    }
    for name, curve in curves.items():
        with SummaryWriter(tmp_path / name) as writer:
            for step in range(60):
                writer.add_scalar("loss/x", curve(step), step)
    log(tmp_path / "other", 1.0, tag="fps")
    found = compare(tmp_path, metric=metric)
    assert {member.run for member in found.members} == set(curves)
    assert found.left_out == (("other", "it has no loss/x"),)


def test_one_rank_speaks_for_its_job(tmp_path):
    for rate in (0.1, 0.2):
        for rank in range(3):
            log(tmp_path / f"lr={rate}/rank={rank}", rate)
    assert [member.run for member in compare(tmp_path).members] == ["lr=0.1/rank=0", "lr=0.2/rank=0"]


def test_of_very_many_hyperparameters_the_nearest_are_named():
    stated = [*(f"arg_{number}" for number in range(100)), "learning_rate"]
    with pytest.raises(ValueError, match=r"; stated: learning_rate, arg_0 and 99 others$"):
        check_stated(["rate"], stated)


def test_larger_is_better(tmp_path):
    for rate in (0.1, 0.2):
        log(tmp_path / f"lr={rate}", 10 * rate, tag="accuracy")
    found = compare(tmp_path, metric="accuracy", maximize=True)
    assert [(member.run, member.final) for member in found.members] == [("lr=0.2", 2.0), ("lr=0.1", 1.0)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "acc"}, "no run has the metric 'acc'"),
        ({"by": ["lrr"]}, "no run states the hyperparameter 'lrr'; stated: lr"),
        ({"good": ["lr=0.1"], "bad": ["*"]}, "a run must be good or bad, got patterns of both kinds that match lr=0.1"),
        ({"good": ["*"]}, "marks must name at least one good and one bad run, got only good ones"),
        ({"bad": ["*"]}, "marks must name at least one good and one bad run, got only bad ones"),
    ],
)
def test_what_cannot_be_compared(tmp_path, options, message):
    for rate in (0.1, 0.2):
        log(tmp_path / f"lr={rate}", rate)
    with pytest.raises(ValueError, match="^" + message.replace("*", r"\*") + "$"):
        compare(tmp_path, **options)


def test_no_loss(tmp_path):
    log(tmp_path / "a", 1.0, tag="fps")
    with pytest.raises(ValueError, match=r"^no run has a loss: name a tag with --metric$"):
        compare(tmp_path)


def test_identical_runs(tmp_path):
    """Constant metrics are the same in many runs; that says nothing."""
    for name, factor in (("a", 1.0), ("b", 1.0), ("c", 2.0), ("d", 0.0), ("e", 0.0)):
        with SummaryWriter(tmp_path / name) as writer:
            for step in range(30):
                writer.add_scalar("loss", factor * 0.9**step, step)
    assert compare(tmp_path).identical == (("a", "b"),)


def test_groups_whose_runs_differ_in_more_than_the_seed(tmp_path):
    found = compare(populations.sweep(tmp_path, 0, odd=ODD), by=["bs"])
    assert [group.disagree for group in found.groups] == [False, False]
    assert found.explained.startswith("groups by bs explain ")
    whole = compare(tmp_path)
    assert [group.hyperparameters for group in whole.groups if group.disagree] == [{"lr": 0.001, "bs": 32.0}]
    assert whole.explained.endswith(" of the variance of the runs' ranks, the seeds the rest")


def test_by_what_a_file_beside_the_run_states(tmp_path):
    for run, decay in (("a", 0.1), ("b", 0.2)):
        with SummaryWriter(tmp_path / run) as writer:
            for step in range(20):
                writer.add_scalar("loss", 1 / (1 + step), step)
        (tmp_path / run / "hparams.yaml").write_text(f"wd: {decay}\nout: {run}\n")
    groups = compare(tmp_path, by=["wd"]).groups
    assert sorted(group.hyperparameters["wd"] for group in groups) == [0.1, 0.2]
    assert compare(tmp_path).by == ("run",)  # else `out`, which tells all runs apart
