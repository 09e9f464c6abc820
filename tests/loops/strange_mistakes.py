"""Programs with one mistake each, as strangers write them: the labels were fixed before the hook had seen any."""

import copy

import torch
from loops.programs import F, digits, letters, nn

STRANGE_MISTAKES = []
"""(what it is, the codes that name the cause, the step at which it can be known, the program)."""
norm_ = torch.nn.utils.clip_grad_norm_


def strange(known, *codes):
    """List a program, with the codes of which one names its cause."""

    def listed(loop):
        STRANGE_MISTAKES.append((loop.__name__, codes, known, loop))
        return loop

    return listed


def loader(rows=640, batch=32, **options):
    torch.manual_seed(0)
    return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*digits(rows)), batch, **options)


def perceptron():
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 40), nn.GELU(), nn.LayerNorm(40), nn.Linear(40, 10))


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine = nn.Linear(6, 32)
        self.action_head, self.value_head = nn.Linear(32, 3), nn.Linear(32, 1)

    def forward(self, state):
        x = torch.relu(self.affine(state))
        return torch.distributions.Categorical(logits=self.action_head(x)), self.value_head(x).squeeze(-1)


@strange(1, "GL701")
def a_critic_without_an_optimizer(watch):
    policy = ActorCritic()
    optimizer = torch.optim.RMSprop([*policy.affine.parameters(), *policy.action_head.parameters()], 7e-4, eps=1e-5)
    watch(optimizer, policy)
    for _ in range(10):
        states, returns = torch.randn(20, 6), torch.randn(20)
        actions, values = policy(states)
        advantage = returns - values
        loss = -(actions.log_prob(actions.sample()) * advantage.detach()).mean() + 0.5 * advantage.pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        norm_(policy.parameters(), 0.5)
        optimizer.step()


class Lora(nn.Module):
    def __init__(self, linear, rank=4):
        super().__init__()
        self.linear, self.down, self.up = linear, nn.Linear(linear.in_features, rank, bias=False), None
        self.up = nn.Linear(rank, linear.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x):
        return self.linear(x) + self.up(self.down(x))


@strange(1, "GL701", "GL702")
def adapters_after_the_optimizer(watch):
    model = perceptron()
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3, betas=(0.9, 0.95))
    for i in (1, 4):
        model[i] = Lora(model[i].requires_grad_(False))
    watch(optimizer, model)
    for x, y in loader():
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)


@strange(1, "GL702")
def weight_norm_after_the_optimizer(watch):
    net = nn.Sequential(nn.Conv1d(1, 8, 5, padding=2), nn.ELU(), nn.Conv1d(8, 1, 5, padding=2))
    optimizer = torch.optim.NAdam(net.parameters(), 2e-3)
    for layer in (net[0], net[2]):
        torch.nn.utils.parametrizations.weight_norm(layer)
    watch(optimizer, net)
    for _ in range(12):
        x = torch.sin(torch.rand(8, 1, 1) * torch.arange(40))
        optimizer.zero_grad()
        F.smooth_l1_loss(net(x[..., :-1]), x[..., 1:]).backward()
        optimizer.step()


@strange(6, "GL702")
def a_checkpoint_is_assigned(watch):
    net, x = perceptron(), torch.randn(64, 64)
    best = copy.deepcopy(net.state_dict())
    optimizer = torch.optim.Adamax(net.parameters(), 2e-3)
    watch(optimizer, net)
    for epoch in range(4):
        for part in x.split(16):
            optimizer.zero_grad()
            net(part).logsumexp(1).mean().backward()
            optimizer.step()
        if epoch == 0:
            net.load_state_dict(copy.deepcopy(best), assign=True)


@strange(3, "GL704")
def a_rate_of_zero_for_the_backbone(watch):
    model = nn.ModuleDict({"backbone": perceptron(), "head": nn.Linear(10, 10)})
    optimizer = torch.optim.SGD(
        [{"params": model["backbone"].parameters(), "lr": 0.0}, {"params": model["head"].parameters()}],
        lr=0.05, momentum=0.9, nesterov=True,
    )  # fmt: skip
    watch(optimizer, model)
    for x, y in loader():
        optimizer.zero_grad()
        F.cross_entropy(model["head"](model["backbone"](x)), y).backward()
        optimizer.step()


@strange(2, "GL705")
def the_embedding_is_in_both(watch):
    x, y = letters()
    model = nn.Sequential(nn.Embedding(24, 16), nn.Flatten(), nn.Linear(12 * 16, 64), nn.Tanh(), nn.Linear(64, 24))
    embedding = torch.optim.Adagrad(model[0].parameters(), 0.05)
    dense = torch.optim.AdamW([p for p in model.parameters() if p.dim() > 1], 1e-3)
    bias = torch.optim.SGD([p for p in model.parameters() if p.dim() == 1], 1e-2)
    watch(dense, model)
    for i in range(0, 320, 16):
        for optimizer in (embedding, dense, bias):
            optimizer.zero_grad()
        F.cross_entropy(model(x[i : i + 16]), y[i : i + 16, -1]).backward()
        for optimizer in (embedding, dense, bias):
            optimizer.step()


class Translator(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(24, 24)
        self.encoder = nn.GRU(24, 32, batch_first=True)
        self.decoder = nn.GRUCell(24, 32)
        self.project = nn.Linear(32, 24)

    def forward(self, source, target):
        _, hidden = self.encoder(self.embed(source))
        hidden = hidden[0].detach()
        scores = []
        for t in range(target.shape[1]):
            hidden = self.decoder(F.one_hot(target[:, t], 24).float(), hidden)
            scores.append(self.project(hidden))
        return torch.stack(scores, 2)


@strange(1, "GL711")
def the_encoder_state_is_detached(watch):
    (x, y), model = letters(), Translator()
    optimizer = torch.optim.RAdam(model.parameters(), 3e-3)
    watch(optimizer, model)
    for i in range(0, 320, 32):
        optimizer.zero_grad()
        F.cross_entropy(model(x[i : i + 32], x[i : i + 32]), y[i : i + 32]).backward()
        norm_(model.parameters(), 5.0)
        optimizer.step()


class Features(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 3), nn.Conv2d(6, 12, 3)
        self.fc1, self.fc2 = nn.Linear(48, 24), nn.Linear(24, 10)

    def forward(self, x):
        x = F.relu(self.conv2(F.relu(self.conv1(x))))
        x = torch.from_numpy(F.max_pool2d(x, 2).detach().numpy()).flatten(1)
        return F.log_softmax(self.fc2(F.relu(self.fc1(x))), 1)


@strange(1, "GL711")
def features_by_way_of_numpy(watch):
    model = Features()
    optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
    watch(optimizer, model)
    for x, y in loader():
        optimizer.zero_grad()
        F.nll_loss(model(x), y).backward()
        optimizer.step()


@strange(2, "GL712")
def zeroed_once_an_epoch(watch):
    model = perceptron()
    optimizer = torch.optim.Adagrad(model.parameters(), 1e-2)
    watch(optimizer, model)
    for _ in range(2):
        optimizer.zero_grad()
        for x, y in loader():
            F.cross_entropy(model(x), y).backward()
            optimizer.step()


@strange(1, "GL713")
def the_closure_zeroes_last(watch):
    model = nn.Linear(5, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    watch(optimizer, model)
    x = torch.randn(50, 5)
    y = x @ torch.tensor([[1.0], [2.0], [0.0], [-1.0], [3.0]])

    def closure():
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.zero_grad()
        return loss

    for _ in range(12):
        optimizer.step(closure)


@strange(3, "GL711", "GL714")
def the_generator_learns_from_a_detached_fake(watch):
    generator = nn.Sequential(nn.Linear(8, 32), nn.LeakyReLU(0.2), nn.Linear(32, 64), nn.Tanh())
    critic = nn.Sequential(nn.Linear(64, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
    of_g = torch.optim.Adam(generator.parameters(), 2e-4, betas=(0.5, 0.999))
    of_d = torch.optim.Adam(critic.parameters(), 2e-4, betas=(0.5, 0.999))
    watch(of_g, generator)
    for x, _ in loader():
        fake = generator(torch.randn(len(x), 8)).detach()
        of_d.zero_grad()
        (F.softplus(-critic(x.flatten(1))) + F.softplus(critic(fake))).mean().backward()
        of_d.step()
        of_g.zero_grad()
        F.softplus(-critic(fake)).mean().backward()
        of_g.step()


@strange(2, "GL721")
def clipped_after_an_accumulated_step(watch):
    model = perceptron()
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3, foreach=True)
    watch(optimizer, model)
    for i, (x, y) in enumerate(loader()):
        with torch.autocast("cpu", torch.bfloat16):
            loss = F.cross_entropy(model(x), y) / 2
        loss.backward()
        if (i + 1) % 2 == 0:
            optimizer.step()
            norm_(model.parameters(), max_norm=1.0)
            optimizer.zero_grad()


@strange(1, "GL722")
def values_are_clipped_while_scaled(watch):
    model = perceptron()
    optimizer, scaler = torch.optim.RMSprop(model.parameters(), 1e-3), torch.amp.GradScaler("cpu", init_scale=2.0**12)
    watch(optimizer, model)
    for x, y in loader():
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            loss = F.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        torch.nn.utils.clip_grad_value_(model.parameters(), 0.5)
        scaler.step(optimizer)
        scaler.update()


@strange(1, "GL724")
def the_warm_up_steps_first(watch):
    model = perceptron()
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
    warm_up = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, epochs=2, steps_per_epoch=20)
    watch(optimizer, model)
    for _ in range(2):
        for x, y in loader():
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            warm_up.step()
            optimizer.step()


@strange(21, "GL725")
def milestones_of_epochs_at_each_batch(watch):
    model, data = perceptron(), loader()
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, weight_decay=5e-4)
    schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, [6, 12, 16], 0.1)
    watch(optimizer, model)
    for _ in range(4):
        for x, y in data:
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
            schedule.step()


@strange(3, "GL726")
def the_schedule_of_an_earlier_optimizer(watch):
    model = perceptron()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 200)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    watch(optimizer, model)
    for x, y in loader():
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
        schedule.step()


@strange(6, "GL727")
def validation_leaves_evaluation_on(watch):
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(32, 10)
    )
    optimizer = torch.optim.ASGD(model.parameters(), 1e-2)
    watch(optimizer, model)

    def validate():
        model.eval()
        with torch.inference_mode():
            return sum((model(x).argmax(1) == y).sum().item() for x, y in loader(64))

    model.train()
    for _ in range(3):
        for x, y in loader(160):
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
        validate()


@strange(4, "GL731")
def a_recurrent_network_in_bfloat16(watch):
    (x, y), model = (
        letters(),
        nn.ModuleDict({"e": nn.Embedding(24, 32), "r": nn.GRU(32, 48, batch_first=True), "o": nn.Linear(48, 24)}),
    )
    model.to(torch.bfloat16)
    optimizer = torch.optim.SGD(model.parameters(), 1e-5, momentum=0.9)
    watch(optimizer, model)
    for i in range(0, 384, 16):
        optimizer.zero_grad()
        scores = model["o"](model["r"](model["e"](x[i : i + 16]))[0])
        F.cross_entropy(scores.flatten(0, 1).float(), y[i : i + 16].flatten()).backward()
        optimizer.step()


@strange(4, "GL741")
def variances_become_infinite(watch):
    model = nn.Sequential(nn.Linear(16, 16), nn.BatchNorm1d(16), nn.Hardtanh(), nn.Linear(16, 1))
    optimizer = torch.optim.Rprop(model.parameters(), 1e-3)
    watch(optimizer, model)
    for i in range(12):
        x = torch.randn(32, 16) * (1e30 if i == 3 else 1.0)
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()


@strange(1, "GL742")
def detections_one_by_one(watch):
    model = nn.Sequential(nn.Conv3d(1, 4, 3, padding=1), nn.BatchNorm3d(4), nn.SiLU(), nn.Flatten(), nn.Linear(256, 2))
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, amsgrad=True)
    watch(optimizer, model)
    for i in range(16):
        loss = F.cross_entropy(model(torch.randn(1, 1, 4, 4, 4)), torch.tensor([i % 2]))
        loss.backward()
        if i % 4 == 3:
            optimizer.step()
            optimizer.zero_grad()


@strange(1, "GL703")
def untied_by_a_checkpoint_that_is_assigned(watch):
    net = nn.Sequential(nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 6))
    net[2].weight = net[0].weight
    optimizer = torch.optim.Adam(net.parameters())
    watch(optimizer, net)
    net.load_state_dict({name: value.clone() for name, value in net.state_dict().items()}, assign=True)
    optimizer.param_groups[0]["params"] = list(net.parameters())
    for _ in range(6):
        optimizer.zero_grad()
        net(torch.randn(8, 6)).square().mean().backward()
        optimizer.step()
