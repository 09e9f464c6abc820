"""Which curves are drawn together, and on which axis."""

import numpy as np
import pytest
from audits.reports import curve, healthy

from summaries.auditing.report.panels import panels

FLAT = np.ones(10)


def titles(curves):
    return [(panel.title, panel.kind, [curves[i].tag for i in panel.curves]) for panel in panels(curves)]


def test_every_curve_is_in_one_panel():
    curves = healthy("run").curves
    drawn = [index for panel in panels(curves) for index in panel.curves]
    assert sorted(drawn) == list(range(len(curves)))


def test_order_and_company():
    curves = [
        curve("speed", "steps_per_second", FLAT),
        curve("bound", "clip_norm", FLAT),
        curve("norm", "global_norm", FLAT),
        curve("eval", "validation_loss", FLAT),
        curve("loss", "loss", FLAT),
    ]
    assert titles(curves) == [
        ("Loss", "lines", ["loss", "eval"]),
        ("Gradient norm and its bound", "lines", ["norm", "bound"]),
        ("speed", "lines", ["speed"]),
    ]
    assert [panel.further for panel in panels(curves)] == [False, False, True]


@pytest.mark.parametrize(
    ("logged", "shown"),
    [
        (["stem/w", "layer_0/w", "layer_10/w", "head/w"], ["stem/w", "layer_0/w", "layer_10/w", "head/w"]),
        (["layer_0/w", "layer_1/w", "layer_10/w", "layer_2/w"], ["layer_0/w", "layer_1/w", "layer_2/w", "layer_10/w"]),
    ],
    ids=["as the run has them", "by their numbers, if they came by the alphabet"],
)
def test_layers_are_in_the_order_of_the_network(logged, shown):
    curves = [curve(name, "gradient_norm", FLAT, name) for name in logged]
    assert titles(curves) == [("Gradient norm of each variable", "heat", shown)]


def test_one_variable_is_a_line():
    assert titles([curve("n", "gradient_norm", FLAT, "w")]) == [("Gradient norm of each variable", "lines", ["n"])]


def test_more_losses_than_colors():
    curves = [curve(f"loss{i}", "loss", FLAT) for i in range(10)]
    assert [len(panel.curves) for panel in panels(curves)] == [8, 1, 1]


@pytest.mark.parametrize(
    ("role", "value", "log"),
    [
        ("loss", [1, 5], False),
        ("loss", [1, 50], True),
        ("loss", [1, 50, np.nan, np.inf], True),
        ("loss", [-1, 50], False),
        ("loss", [np.nan], False),
        ("loss", [0.0, 0.0], False),
        ("loss", [], False),
        ("", [0, 1, 50], True),  # a zero among magnitudes
        ("", [0, 0, 0, 1, 50], False),  # mostly zero
        ("", [1e-320, 1e308], True),
        ("learning_rate", [1e-6, 1e-3], False),
    ],
)
def test_logarithm(role, value, log):
    (panel,) = panels([curve("tag", role, value)])
    assert panel.log is log


def test_nothing_to_draw():
    assert panels([]) == []


def test_rewards_come_first_and_the_main_one_before_the_others():
    curves = [
        curve("train/loss", "auxiliary_loss", FLAT),
        curve("Episode/rew_a", "reward", FLAT),
        curve("Train/mean_episode_length", "episode_length", FLAT),
        curve("Train/mean_reward", "reward", FLAT),
    ]
    assert [(panel.title, [curves[i].tag for i in panel.curves]) for panel in panels(curves, "Train/mean_reward")] == [
        ("Reward", ["Train/mean_reward", "Episode/rew_a"]),
        ("Episode length", ["Train/mean_episode_length"]),
        ("Auxiliary losses", ["train/loss"]),
    ]


def test_the_main_loss_is_drawn_first_and_metrics_have_axes_of_their_own():
    curves = [curve("a/loss", "loss", FLAT), curve("MAE", "metric", FLAT), curve("loss", "loss", FLAT)]
    assert [(panel.title, [curves[i].tag for i in panel.curves]) for panel in panels(curves, "loss")] == [
        ("Loss", ["loss", "a/loss"]),
        ("MAE", ["MAE"]),
    ]


def test_the_chart_of_the_worst_finding_comes_first_and_is_not_folded():
    curves = [curve("loss", "loss", FLAT), curve("lr", "learning_rate", FLAT), curve("kl_loss", "auxiliary_loss", FLAT)]
    made = panels(curves, "loss", worst="kl_loss")
    assert [(panel.title, panel.further) for panel in made] == [
        ("Auxiliary losses", False),
        ("Loss", False),
        ("Learning rate", False),
    ]
    assert [panel.title for panel in panels(curves, "loss", worst="gone")] == [
        "Loss",
        "Learning rate",
        "Auxiliary losses",
    ]


def test_a_training_loss_that_goes_to_zero_does_not_flatten_the_validation():
    falls, doubles = np.geomspace(1, 1e-4, 50), np.linspace(0.8, 1.7, 50)
    (panel,) = panels([curve("loss", "loss", falls), curve("val_loss", "validation_loss", doubles)])
    assert not panel.log
    (panel,) = panels([curve("loss", "loss", 1e6 * falls), curve("val_loss", "validation_loss", doubles)])
    assert panel.log
    (panel,) = panels([curve("loss", "loss", falls), curve("val_loss", "validation_loss", 20 * falls)])
    assert panel.log
