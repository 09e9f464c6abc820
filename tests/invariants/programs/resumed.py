"""A perceptron that goes on from a checkpoint, with gradients of two batches for each step."""

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - as torch's own examples have it

torch.manual_seed(0)
x = torch.randn(320, 20)
y = (x @ torch.randn(20, 5)).argmax(1)


def made():
    net = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 5))
    return net, torch.optim.AdamW(net.parameters(), lr=1e-3)


def earlier():
    net, adam = made()
    for _ in range(12):
        adam.zero_grad()
        F.cross_entropy(net(x), y).backward()
        adam.step()
    return {"model": net.state_dict(), "optimizer": adam.state_dict()}


checkpoint = earlier()
model, optimizer = made()
model.load_state_dict(checkpoint["model"])
optimizer.load_state_dict(checkpoint["optimizer"])
model.train()
for i in range(20):
    optimizer.zero_grad()
    for k in (2 * i % 10, 2 * i % 10 + 1):
        rows = slice(k * 32, k * 32 + 32)
        (F.cross_entropy(model(x[rows]), y[rows]) / 2).backward()
    optimizer.step()
