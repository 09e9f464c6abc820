"""Pictures by convolutions and batch norm: after each epoch a validation, and a step of the schedule."""

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - as torch's own examples have it

torch.manual_seed(0)
x = torch.randn(192, 1, 8, 8)
y = (x.flatten(1) @ torch.randn(64, 10)).argmax(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.Flatten(),
            nn.Dropout(0.1),
        )
        self.head = nn.Linear(256, 10)

    def forward(self, x):
        return self.head(self.body(x))


def validate(model):
    model.eval()
    with torch.no_grad():
        loss = F.cross_entropy(model(x[160:]), y[160:])
    model.train()
    return loss.item()


model = Net()
groups = [{"params": model.body.parameters()}, {"params": model.head.parameters(), "lr": 2e-3}]
optimizer = torch.optim.Adam(groups, lr=1e-3)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 5)
model.train()
for i in range(20):
    rows = slice(i % 5 * 32, i % 5 * 32 + 32)
    pictures, labels = x[rows], y[rows]
    optimizer.zero_grad()
    loss = F.cross_entropy(model(pictures), labels)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if i % 5 == 4:
        validate(model)
        schedule.step()
