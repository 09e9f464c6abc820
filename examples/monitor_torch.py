"""See what the gradients of a torch model do: clipping, torch's own Adam, and GradientMonitor.

pip install torch
python examples/monitor_torch.py [LOGDIR]
"""

import sys

import torch

from optim import GradientMonitor
from summaries import SummaryWriter

torch.manual_seed(0)
x = torch.randn(256, 8)
y = torch.sin(x.sum(dim=1, keepdim=True))
model = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

with SummaryWriter(sys.argv[1] if len(sys.argv) > 1 else "runs/monitor_torch") as writer:
    monitor = GradientMonitor(writer)
    for step in range(1, 101):
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        monitor.observe(step, model, clip_norm=0.5, learning_rate=1e-2, loss=loss)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
