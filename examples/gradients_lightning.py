"""Gradients of Lightning's Trainer, before it clips them.

pip install torch lightning
python examples/gradients_lightning.py [LOGDIR]
"""

import sys
from typing import Any

import lightning.pytorch as pl
import torch

from optim.integrations.lightning import GradientCallback


class Regression(pl.LightningModule):  # type: ignore[misc]
    """A small network that learns the sine of a sum."""

    def __init__(self) -> None:
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))

    def training_step(self, batch: Any, number: int) -> Any:
        """The loss of a batch."""
        return torch.nn.functional.mse_loss(self.net(batch[0]), batch[1])

    def validation_step(self, batch: Any, number: int) -> None:
        """What is logged here is in the same run as the gradients."""
        self.log("val_loss", torch.nn.functional.mse_loss(self.net(batch[0]), batch[1]))

    def configure_optimizers(self) -> Any:
        """Adam."""
        return torch.optim.Adam(self.parameters(), lr=1e-2)


logdir = sys.argv[1] if len(sys.argv) > 1 else "runs/gradients_lightning"
pl.seed_everything(0)
x = torch.randn(512, 8)
data = torch.utils.data.TensorDataset(x, torch.sin(x.sum(dim=1, keepdim=True)))
trainer = pl.Trainer(
    max_epochs=4, gradient_clip_val=0.5, accelerator="cpu", devices=1, logger=False, enable_checkpointing=False,
    enable_progress_bar=False, enable_model_summary=False, callbacks=[GradientCallback(logdir, keep_last=100)],
)  # fmt: skip
training, validation = torch.utils.data.random_split(data, [448, 64])
trainer.fit(
    Regression(),
    torch.utils.data.DataLoader(training, batch_size=28, shuffle=True),
    torch.utils.data.DataLoader(validation, batch_size=64),
)
