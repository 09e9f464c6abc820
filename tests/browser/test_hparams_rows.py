"""Five trials through one writer, as the example in torch's documentation of add_hparams logs them, are five rows."""

import pytest
from browser.dashboard import VIEWPORT, Dashboard, serve

from summaries import SummaryWriter

TRIALS = {0.1 * i: (10 * i, 10.5 * i) for i in range(5)}  # learning rate → accuracy, loss


@pytest.fixture(scope="module")
def logdir(tmp_path_factory):
    directory = tmp_path_factory.mktemp("trials") / "run"
    with SummaryWriter(directory) as writer:
        for i, (lr, (accuracy, loss)) in enumerate(TRIALS.items()):
            writer.add_hparams({"lr": lr, "bsize": i}, {"hparam/accuracy": accuracy, "hparam/loss": loss})
    return directory.parent


def test_each_call_of_add_hparams_is_a_row(logdir, browser, screenshots):
    runs = {str(path.parent.relative_to(logdir)): "hparam/loss" for path in logdir.rglob("*tfevents*")}
    assert len(runs) == len(TRIALS)
    with serve(logdir, "python", runs) as address:
        dashboard = Dashboard(browser.new_page(viewport=VIEWPORT), address)
        dashboard.open("hparams")
        for run in runs:
            dashboard.wait_for_text("vaadin-grid-cell-content", run)
        cells = dashboard.page.locator("vaadin-grid-cell-content").filter(visible=True).all_text_contents()
        shown = {text.strip() for text in cells}
        dashboard.page.screenshot(path=screenshots / "hparams_rows.png")
        dashboard.page.close()
    for numbers in ((lr, *metrics) for lr, metrics in TRIALS.items() if lr):
        assert {f"{number:#.5g}" for number in numbers} <= shown
    assert dashboard.errors == []
