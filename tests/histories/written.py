"""Histories that the real libraries write, offline: each function logs the same numbers, and says what came of them."""

import os
import subprocess
import sys

LOSS = [1 / (1 + i) for i in range(5)]
ODD = [float("nan"), float("inf"), float("-inf")]
CONFIG = {"lr": 0.1, "on": True, "opt": {"name": "adam", "betas": [0.9, 0.999]}}
FLAT = {"lr": 0.1, "on": True, "opt.name": "adam", "opt.betas": "[0.9, 0.999]"}


def trackio(place):
    import numpy as np

    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["TRACKIO_DIR"] = str(place)
    import trackio

    trackio.init(project="digits", name="first", config=CONFIG)
    for i, loss in enumerate(LOSS):
        trackio.log({"loss": loss, "train": {"acc": i * 0.1}, "text": "hello"})
    for i, odd in enumerate(ODD):
        trackio.log({"odd": odd}, step=10 + i)
    picture = trackio.Image(np.zeros((8, 9, 3), np.uint8), caption="c")
    table = trackio.Table(columns=["a"], data=[[1]])
    trackio.log({"img": picture, "tab": table, "h": trackio.Histogram([1, 2, 3])}, step=20)
    trackio.finish()


def swanlab(place):
    import numpy as np
    import swanlab

    swanlab.init(
        project="digits",
        experiment_name="first",
        description="went well",
        config=CONFIG,
        mode="offline",
        logdir=str(place),
    )
    for i, loss in enumerate(LOSS):
        swanlab.log({"loss": loss, "train": {"acc": i * 0.1}}, step=i)
    for i, odd in enumerate(ODD):
        swanlab.log({"odd": odd}, step=10 + i)
    swanlab.log({"img": swanlab.Image(np.zeros((8, 9, 3), np.uint8)), "txt": swanlab.Text("hello")}, step=20)
    swanlab.finish()


def clearml(place):
    import numpy as np

    os.environ["CLEARML_CACHE_DIR"] = os.environ["HOME"] = str(place)
    from clearml import Task

    # A process that it forks may hold the pipe of a `git` that another thread has just started: both wait for ever.
    Task._report_subprocess_enabled = False
    Task.set_offline(True)
    quiet = {"auto_connect_frameworks": False, "auto_resource_monitoring": False, "auto_connect_streams": False}
    task = Task.init(project_name="digits", task_name="first", **quiet)
    task.connect(CONFIG)
    log = task.get_logger()
    for i, loss in enumerate(LOSS):
        log.report_scalar("loss", "train", iteration=i, value=loss)
    for i, odd in enumerate(ODD):
        log.report_scalar("odd", "odd", iteration=10 + i, value=odd)
    log.report_single_value("final", 1 / 3)
    log.report_image("img", "a", iteration=20, image=np.zeros((8, 9, 3), np.uint8))
    log.report_histogram("h", "h", values=[1, 2, 3], iteration=20)
    task.flush(wait_for_uploads=True)
    task.close()


def comet_ml(place):
    import comet_ml
    from PIL import Image

    names = ("code", "graph", "env_details", "git_metadata", "env_gpu", "env_host", "env_cpu")
    quiet = {f"log_{name}": False for name in names} | {
        f"auto_{name}": False for name in ("param_logging", "metric_logging", "output_logging")
    }
    experiment = comet_ml.OfflineExperiment(
        project_name="digits", offline_directory=str(place), parse_args=False, **quiet
    )
    experiment.set_name("first")
    experiment.log_parameters(CONFIG)
    for i, loss in enumerate(LOSS):
        experiment.log_metric("loss", loss, step=i)
        with experiment.train():
            experiment.log_metric("acc", i * 0.1, step=i)
    for i, odd in enumerate(ODD):
        experiment.log_metric("odd", odd, step=10 + i)
    experiment.log_text("hello", step=20)
    Image.new("RGB", (9, 8)).save(place / "picture.png")  # an array of one colour is more than it can convert
    experiment.log_image(str(place / "picture.png"), name="img", step=20)
    experiment.log_histogram_3d([1, 2, 3], name="h", step=20)
    experiment.end()


def lightning(place):
    from lightning.pytorch.loggers import CSVLogger

    log = CSVLogger(str(place), "digits")
    log.log_hyperparams(CONFIG)
    for i, loss in enumerate(LOSS):
        log.log_metrics({"loss": loss, "epoch": 0}, i)
    for i, odd in enumerate(ODD):
        log.log_metrics({"odd": odd}, 10 + i)
    log.save()


def keras(place):
    os.environ.setdefault("KERAS_BACKEND", "jax")
    from keras.callbacks import CSVLogger

    log = CSVLogger(str(place / "log.csv"))
    log.on_train_begin()
    for i, loss in enumerate(LOSS):
        log.on_epoch_end(i, {"loss": loss, "odd": (ODD * 2)[i]})
    log.on_train_end()


def transformers(place):
    from transformers import TrainerState

    state = TrainerState(max_steps=12, num_train_epochs=3, trial_params=CONFIG)
    for i, loss in enumerate(LOSS):
        state.log_history.append({"loss": loss, "epoch": i / 2, "step": i})
        folder = place / f"checkpoint-{i}"
        folder.mkdir()
        state.save_to_json(str(folder / "trainer_state.json"))
    state.log_history += [{"odd": odd, "step": 10 + i} for i, odd in enumerate(ODD)]
    state.save_to_json(str(place / "trainer_state.json"))


def ultralytics(place):
    import argparse
    import time

    from ultralytics.engine.trainer import BaseTrainer
    from ultralytics.utils import YAML

    trainer = argparse.Namespace(csv=place / "results.csv", epoch=0, train_time_start=time.time())
    YAML.save(place / "args.yaml", CONFIG)
    for i, loss in enumerate(LOSS):
        trainer.epoch = i
        BaseTrainer.save_metrics(trainer, {"train/loss": loss, "odd": (ODD * 2)[i]})


def wandb(place):
    import wandb

    settings = wandb.Settings(x_disable_meta=True, x_disable_stats=True, console="off", disable_git=True)
    run = wandb.init(project="digits", mode="offline", dir=str(place), settings=settings, name="first", config=CONFIG)
    for i, loss in enumerate(LOSS):
        run.log({"loss": loss, "train": {"acc": i * 0.1}, "text": "hello"}, step=i)
    for i, odd in enumerate(ODD):
        run.log({"odd": odd}, step=10 + i)
    run.finish()


def write(library, place):
    """Have a library log below a directory, in a process of its own: most keep a state that outlives a run."""
    command = [sys.executable, __file__, library, str(place)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, cwd=place)
    assert done.returncode == 0, done.stdout + done.stderr


if __name__ == "__main__":
    from pathlib import Path

    sys.path.pop(0)  # this file's folder
    globals()[sys.argv[1]](Path(sys.argv[2]))
