"""One line for any torch loop: the gradients before clipping, and a flight recorder that catches a spoilt batch.

pip install torch
python examples/gradients_torch.py [LOGDIR]
"""

import sys

import torch

from optim.integrations.torch import attach

logdir = sys.argv[1] if len(sys.argv) > 1 else "runs/gradients_torch"
torch.manual_seed(0)
x = torch.randn(256, 8)
y = torch.sin(x.sum(dim=1, keepdim=True))
model = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
hook = attach(optimizer, logdir, model, every_n_steps=10, keep_last=50)  # the line

SPOILT = 150
for step in range(1, 201):
    rows = torch.randint(0, 256, (32,))
    targets = y[rows] * 1e4 if step == SPOILT else y[rows]
    loss = torch.nn.functional.mse_loss(model(x[rows]), targets)
    optimizer.zero_grad()
    loss.backward()
    hook.loss(loss)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
hook.remove()
print(f"every tenth step: {logdir}; every step around the spoilt batch: {logdir}/incident={SPOILT}")
