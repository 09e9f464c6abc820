"""Ignite: gradients of the user's own function, which its handlers come after."""

import importlib

import pytest
from frameworks.examples import check_example
from frameworks.reference_loop import CLIP, LR, STEPS, batches, by_hand, compare, network

from summaries import read_logdir

torch = pytest.importorskip("torch", reason="torch is not installed: make frameworks")
engines = pytest.importorskip("ignite.engine", reason="pytorch-ignite is not installed: make frameworks")
pytestmark = pytest.mark.filterwarnings("ignore")

from optim.integrations.ignite import attach  # noqa: E402 - it needs ignite


def trainer(logdir, clip, last=None, output=None, **options):
    model = network(torch)
    optimizer = torch.optim.SGD(model.parameters(), LR)

    def update(engine, batch):
        if engine.state.iteration == last:
            raise RuntimeError("no more data")
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(batch[0]), batch[1])
        loss.backward()
        if clip is not None:
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        return loss.item() if output is None else output(loss.item())

    engine = engines.Engine(update)
    attach(engine, optimizer, logdir, model, **options)
    return engine


@pytest.mark.parametrize("clip", [CLIP, None])
def test_before_clipping(logdir, clip):
    trainer(logdir, clip).run(batches(torch))
    compare(logdir, by_hand(torch, clip), clip)


@pytest.mark.parametrize("output", [None, lambda loss: {"loss": loss, "words": "none"}])
def test_what_the_engines_report(logdir, output):
    evaluator = engines.Engine(lambda _, batch: float(batch[0].sum()))
    average = importlib.import_module("ignite.metrics").Average()
    average.attach(evaluator, "mean")
    engine = trainer(logdir, None, output=output, evaluators={"validation": evaluator}, every_n_steps=2)
    engine.add_event_handler(engines.Events.EPOCH_COMPLETED, lambda _: evaluator.run(batches(torch)))
    engine.run(batches(torch), max_epochs=2)
    scalars = read_logdir(logdir)["."].scalars
    assert scalars["train/loss"].step.tolist() == list(range(2, 2 * STEPS + 1, 2))
    assert scalars["validation/mean"].step.tolist() == [STEPS, 2 * STEPS]
    assert scalars["validation/mean"].value.tolist() == pytest.approx([evaluator.state.metrics["mean"]] * 2)


def test_a_second_run_of_the_engine_is_logged_too(logdir):
    engine = trainer(logdir, None)
    for epochs in (1, 3):
        engine.run(batches(torch), max_epochs=epochs)
        scalars = read_logdir(logdir)["."].scalars
        for tag in ("train/loss", "gradients/global_norm"):
            assert scalars[tag].step.tolist() == list(range(1, epochs * STEPS + 1))


def test_a_run_after_an_exception_is_logged_until_the_hook_is_removed(logdir):
    model = network(torch)
    optimizer = torch.optim.SGD(model.parameters(), LR)
    fails = [True]

    def update(engine, batch):
        if engine.state.iteration == 3 and fails:
            raise RuntimeError(fails.pop())
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(batch[0]), batch[1])
        loss.backward()
        optimizer.step()
        return loss.item()

    engine = engines.Engine(update)
    hook = attach(engine, optimizer, logdir, model)
    with pytest.raises(RuntimeError):
        engine.run(batches(torch))
    engine.state.iteration = engine.state.epoch = 0
    engine.state.max_epochs = None
    engine.run(batches(torch), max_epochs=1)
    counts = {tag: len(read_logdir(logdir)["."].scalars[tag]) for tag in ("train/loss", "gradients/global_norm")}
    assert counts["train/loss"] == counts["gradients/global_norm"] == 2 + STEPS
    hook.remove()
    engine.state.max_epochs = None
    engine.run(batches(torch), max_epochs=1)
    assert {tag: len(read_logdir(logdir)["."].scalars[tag]) for tag in counts} == counts


def test_metrics_with_the_name_of_what_a_step_returns(logdir):
    """Each has a tag of its own."""
    metrics = importlib.import_module("ignite.metrics")
    evaluator = engines.Engine(lambda _, batch: float(batch[0].sum()))
    metrics.Average().attach(evaluator, "loss")
    engine = trainer(logdir, None, evaluators={"train": evaluator}, every_n_steps=2 * STEPS)
    metrics.RunningAverage(output_transform=float).attach(engine, "loss")
    engine.add_event_handler(engines.Events.EPOCH_COMPLETED, lambda _: evaluator.run(batches(torch)))
    engine.run(batches(torch), max_epochs=2)
    scalars = read_logdir(logdir)["."].scalars
    ends = [STEPS, 2 * STEPS]
    assert scalars["train/loss"].step.tolist() == [2 * STEPS]
    tags = "train/epoch_loss", "train/evaluated_loss"
    assert [scalars[tag].step.tolist() for tag in tags] == [ends, ends]
    last = sorted(scalars[tag].value[-1] for tag in tags)
    assert last == pytest.approx(sorted(each.state.metrics["loss"] for each in (engine, evaluator)))


def test_what_is_logged_elsewhere(logdir):
    trainer(logdir, None, log_metrics=False).run(batches(torch))
    assert "train/loss" not in read_logdir(logdir)["."].scalars


def test_an_exception_writes_what_was_kept(logdir):
    with pytest.raises(RuntimeError, match="no more data"):
        trainer(logdir, None, 4, keep_last=2, every_n_steps=100).run(batches(torch))
    runs = read_logdir(logdir)
    assert runs["incident=3"].scalars["gradients/global_norm"].step.tolist() == [2, 3]


def test_the_example(logdir):
    check_example("ignite", logdir, "0.bias", 64)
