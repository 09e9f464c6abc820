"""accelerate with log_with="tensorboard" and hyperparameters."""

LIBRARY = "torch"
PACKAGE = "accelerate"
TIMES = ()


def train(directory):
    import numpy as np
    import torch
    from accelerate import Accelerator

    accelerator = Accelerator(log_with="tensorboard", project_dir=directory, cpu=True)
    accelerator.init_trackers("run", config={"rate": 0.1, "epochs": 1, "optimizer": "sgd", "amsgrad": False})
    model = torch.nn.Linear(3, 1)
    model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), 0.1))
    for step in range(5):
        x = torch.randn(4, 3)
        loss = torch.nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        accelerator.log({"loss": loss.item(), "both": {"a": step, "b": 2 * step}, "note": f"step {step}"}, step=step)
    tracker = accelerator.get_tracker("tensorboard")
    tracker.log_images({"picture": np.zeros((2, 3, 4, 4), np.float32)}, step=5)
    accelerator.end_training()
