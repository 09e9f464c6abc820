"""Gradients of an Ignite engine, before its function clips them.

pip install torch pytorch-ignite
python examples/gradients_ignite.py [LOGDIR]
"""

import sys
from typing import Any

import torch
from ignite.engine import Engine

from optim.integrations.ignite import attach

logdir = sys.argv[1] if len(sys.argv) > 1 else "runs/gradients_ignite"
torch.manual_seed(0)
x = torch.randn(512, 8)
data = torch.utils.data.TensorDataset(x, torch.sin(x.sum(dim=1, keepdim=True)))
model = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)


def update(engine: Engine, batch: Any) -> float:
    """One step."""
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(batch[0]), batch[1])
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    return float(loss.detach())


trainer = Engine(update)
attach(trainer, optimizer, logdir, model)
trainer.run(torch.utils.data.DataLoader(data, batch_size=32, shuffle=True), max_epochs=4)
