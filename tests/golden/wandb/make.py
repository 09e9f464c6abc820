"""Ask W&B for an offline file, which says nothing of the machine. Needs wandb (made with 0.31.0) and NumPy.

python tests/golden/wandb/make.py; the file is below ./wandb then.
"""

CONFIG = {"lr": 0.1, "seed": 3, "opt": {"name": "adam", "betas": [0.9, 0.999]}, "nesterov": True, "none": None}


def main():
    import wandb

    settings = wandb.Settings(
        x_disable_meta=True, x_disable_stats=True, x_disable_machine_info=True, console="off", disable_git=True,
        disable_code=True, host="host", run_id="abc12345", username="user", email="", program="train.py",
    )  # fmt: skip
    run = wandb.init(
        project="digits", mode="offline", settings=settings, name="a run", notes="the rate is too high", config=CONFIG
    )
    for i in range(100):
        nested = {"a": i * 2.0, "b": "x"}
        run.log({"loss": 1 / (1 + i), "train/acc": i, "flag": i % 2 == 0, "text": "a" * (i % 150), "nested": nested})
    for value in ("nan", "inf", "-inf"):
        run.log({"loss": float(value)})
    run.log({"eval": 3}, step=1000)
    run.log({"eval": 4, "hist": wandb.Histogram([1, 2, 3])}, step=1001)
    run.config.update({"late": 5})
    run.finish()


if __name__ == "__main__":
    main()
