"""Gradients of a loop with Accelerate: accumulated over two batches, before clipping.

pip install torch accelerate
python examples/gradients_accelerate.py [LOGDIR]
"""

import sys

import torch
from accelerate import Accelerator

from optim.integrations.accelerate import attach

logdir = sys.argv[1] if len(sys.argv) > 1 else "runs/gradients_accelerate"
torch.manual_seed(0)
x = torch.randn(512, 8)
data = torch.utils.data.TensorDataset(x, torch.sin(x.sum(dim=1, keepdim=True)))
model = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
model, optimizer, loader = accelerator.prepare(model, optimizer, torch.utils.data.DataLoader(data, 32, shuffle=True))
hook = attach(accelerator, optimizer, logdir, model)

for _ in range(4):
    for inputs, targets in loader:
        with accelerator.accumulate(model):
            loss = hook.loss(torch.nn.functional.mse_loss(model(inputs), targets))
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
            optimizer.zero_grad()
accelerator.log({"eval/loss": torch.nn.functional.mse_loss(model(x), data.tensors[1])}, step=32)  # in the same run
hook.remove()
