"""gradledger show: statistics, texts and plots."""

import json
import re

import pytest
from event_data.odd_runs import NAME, ODD_RUNS, VERSION, WHOLE, event, losses

from summaries import hparams, text
from summaries.cli import main


@pytest.fixture
def shown(tmp_path, monkeypatch, capsys):
    """Write runs by name, show them, and return what is printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")

    def show(runs, *options, status=0):
        for name, data in runs.items():
            (tmp_path / name).mkdir(exist_ok=True)
            (tmp_path / name / NAME).write_bytes(data)
        assert main(["show", *runs, *options]) == status
        return capsys.readouterr()

    return show


def cells(printed, first):
    """The cells of the row that begins like this."""
    return next(line.split() for line in printed.splitlines() if line.startswith(first))


def test_a_row_of_statistics(shown):
    printed = shown({"run": WHOLE}, "--no-plot").out
    assert cells(printed, "tag")[:6] == ["tag", "points", "last", "step", "first", "last"]
    assert cells(printed, "loss")[:6] == ["loss", "3", "2", "3", "1", "1"]


def test_the_head_tells_when_a_run_took_place_and_not_when_it_was_labelled(shown, capsys):
    shown({"run": losses([2.0, 1.0], first=10)})
    assert main(["label", "run", "good"]) == 0
    capsys.readouterr()
    assert main(["show", "run", "--no-plot"]) == 0
    printed = capsys.readouterr().out
    assert "\n  steps 10 to 11, 1 scalar, 1 text, 2 files, " in printed
    assert ", took 1s\n" in printed


def test_what_is_odd_is_told(shown):
    odd = VERSION + losses([1.0, float("nan"), float("inf"), 2.0]) + losses([3.0], first=2)
    printed = shown({"run": odd}, "--no-plot").out
    assert "1 nan, 1 inf, 2 superseded" in printed


def test_runs_beside_each_other_by_what_tells_them_apart(shown):
    printed = shown({"lr=1": WHOLE, "lr=2": losses([1.0], "other")}, "--no-plot").out
    assert cells(printed, "loss")[:2] == ["loss", "lr=1"]
    assert cells(printed, "other")[:2] == ["other", "lr=2"]


def test_hyperparameters_and_texts(shown):
    data = WHOLE + event(summary=hparams({"lr": 0.1, "name": "x"}, {})) + event(summary=text("notes", "one\ntwo " * 99))
    printed = shown({"run": data}, "--no-plot").out
    assert "\n  lr=0.1, name=x\n" in printed
    assert "\nnotes/text_summary, step 0\n  one\n  two one\n" in printed
    assert "… 392 more characters: --full prints them" in printed
    assert "more characters" not in shown({"run": data}, "--no-plot", "--full").out


def test_without_tags_the_main_loss_is_drawn(shown):
    data = losses([1.0, 2.0], "lr") + losses([1.0, 2.0], "train/loss") + losses([1.0], "accuracy")
    assert [line for line in shown({"run": data}).out.splitlines() if "/loss" in line][-1] == "train/loss"


def test_with_tags_those_are_drawn(shown):
    data = losses([1.0, 2.0], "lr") + losses([1.0, 2.0], "train/loss") + losses([1.0], "accuracy")
    printed = shown({"run": data}, "--tags", "lr", "--tags", "a*").out
    assert printed.count("\nlr\n") == printed.count("\naccuracy\n") == 1
    assert "train/loss" not in printed


def test_more_tags_than_are_drawn(shown):
    data = b"".join(losses([1.0], f"tag{i}") for i in range(10))
    assert shown({"run": data}, "--tags", "*").out.endswith("\n2 more tags are not drawn\n")


def test_a_legend_of_several_runs(shown):
    printed = shown({"a": WHOLE, "b": WHOLE}).out
    assert printed.splitlines()[-2:] == ["  * a", "  + b"]


def test_what_is_said_of_the_axis(shown):
    assert "\nloss  smoothed 0.5, logarithmic\n" in shown({"run": WHOLE}, "--log", "--smooth", "0.5").out


def test_json_has_every_statistic(shown):
    [found] = json.loads(shown({"run": ODD_RUNS["partly finite"]}, "--json").out)
    assert found["path"] == "run"
    [loss] = found["tags"]
    assert loss["values"] | {"std": 0, "quantiles": 0} == {
        "nans": 1,
        "infinities": 1,
        "first": 1.0,
        "last": 3.0,
        "min": 1.0,
        "min_step": 0,
        "max": 3.0,
        "max_step": 4,
        "mean": 2.0,
        "std": 0,
        "quantiles": 0,
    }


def test_no_tag_matches(shown):
    assert shown({"run": WHOLE}, "--tags", "x*", "--tags", "y", status=2).err == (
        "gradledger: no tag matches 'x*'; there is loss\n"
    )


def test_faults_are_told_and_few_of_them(shown):
    printed = shown({"run": (ODD_RUNS["damaged"] + WHOLE) * 9}, status=1)
    assert printed.err.count("gradledger: data checksum mismatch") == 5
    assert re.search(
        r"\ngradledger: more such faults in \S+tfevents\S+: `gradledger verify` lists them\n$", printed.err
    )


def test_a_place_may_be_a_directory_of_runs(shown, capsys):
    shown({"a": WHOLE, "b": WHOLE})
    main(["show", ".", "--no-plot", "--runs", "b"])
    assert capsys.readouterr().out.startswith("./b\n  steps 0 to 2, 1 scalar, 1 file, began ")
