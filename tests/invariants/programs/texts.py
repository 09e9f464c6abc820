"""The next letter by a recurrent network, whose embedding is its output's weight too; two optimizers."""

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - as torch's own examples have it

torch.manual_seed(0)
texts = (torch.randint(24, (160, 1)) + torch.randint(1, 4, (160, 1)) * torch.arange(13)) % 24


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.letters = nn.Embedding(24, 32)
        self.body = nn.GRU(32, 32, batch_first=True)
        self.head = nn.Linear(32, 24)
        self.head.weight = self.letters.weight

    def forward(self, x):
        hidden, _ = self.body(self.letters(x))
        return self.head(hidden).transpose(1, 2)


model = Net()
of_letters = torch.optim.Adagrad(model.letters.parameters(), lr=0.05)
optimizer = torch.optim.AdamW([*model.body.parameters(), model.head.bias], lr=1e-3)
model.train()
for i in range(20):
    part = texts[i % 5 * 32 : i % 5 * 32 + 32]
    optimizer.zero_grad()
    of_letters.zero_grad()
    loss = F.cross_entropy(model(part[:, :-1]), part[:, 1:])
    loss.backward()
    optimizer.step()
    of_letters.step()
