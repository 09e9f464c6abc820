"""Programs without a mistake, of the kinds that strangers write: nothing is to be told of them."""

import copy

import torch
from loops.programs import F, letters, nn
from loops.strange_mistakes import ActorCritic, Lora, loader, norm_, perceptron
from torch.optim import lr_scheduler

STRANGE_HEALTHY = []
"""(what it is, the program)."""


def fine(loop):
    STRANGE_HEALTHY.append((loop.__name__, loop))
    return loop


@fine
def digits_by_epochs(watch):
    net = nn.Sequential(
        nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Dropout2d(0.25), nn.Flatten(), nn.Linear(288, 10), nn.LogSoftmax(1)
    )
    optimizer = torch.optim.Adadelta(net.parameters(), lr=1.0)
    schedule = lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.7)
    watch(optimizer, net)
    for _ in range(4):
        net.train()
        for x, y in loader(256, shuffle=True):
            optimizer.zero_grad()
            F.nll_loss(net(x), y).backward()
            optimizer.step()
        net.eval()
        with torch.no_grad():
            sum(F.nll_loss(net(x), y).item() for x, y in loader(64))
        schedule.step()


@fine
def words_with_a_carried_state(watch):
    (x, y), net = (
        letters(),
        nn.ModuleDict({"e": nn.Embedding(24, 16), "r": nn.LSTM(16, 32, 2, dropout=0.2), "d": nn.Linear(32, 24)}),
    )
    rate, state = 5.0, (torch.zeros(2, 20, 32), torch.zeros(2, 20, 32))
    optimizer = torch.optim.SGD(net.parameters(), rate)
    watch(optimizer, net)
    for i in range(0, 400, 20):
        net.zero_grad()
        state = tuple(s.detach() for s in state)
        out, state = net["r"](net["e"](x[i : i + 20].T), state)
        F.cross_entropy(net["d"](out).flatten(0, 1), y[i : i + 20].T.flatten()).backward()
        norm_(net.parameters(), 0.25)
        optimizer.step()
        if i % 100 == 80:
            optimizer.param_groups[0]["lr"] /= 4.0


@fine
def the_schedule_of_the_transformer_paper(watch):
    x, y = letters()
    layer = nn.TransformerEncoderLayer(16, 2, 32, 0.1, batch_first=True, norm_first=True)
    net = nn.Sequential(
        nn.Embedding(24, 16), nn.TransformerEncoder(layer, 1, enable_nested_tensor=False), nn.Linear(16, 24)
    )
    optimizer = torch.optim.Adam(net.parameters(), 1.0, betas=(0.9, 0.98), eps=1e-9)
    schedule = lr_scheduler.LambdaLR(optimizer, lambda t: 16**-0.5 * min((t + 1) ** -0.5, (t + 1) * 40**-1.5))
    watch(optimizer, net)
    for i in range(0, 400, 10):
        optimizer.zero_grad()
        F.cross_entropy(net(x[i : i + 10]).transpose(1, 2), y[i : i + 10], label_smoothing=0.1).backward()
        optimizer.step()
        schedule.step()


@fine
def diffusion_with_an_average(watch):
    net = nn.Sequential(nn.Linear(65, 64), nn.SiLU(), nn.Linear(64, 64))
    average = copy.deepcopy(net).requires_grad_(False).eval()
    optimizer = torch.optim.AdamW(net.parameters(), 2e-4)
    watch(optimizer, net)
    for x, _ in loader():
        noise, t = torch.randn(len(x), 64), torch.rand(len(x), 1)
        seen = torch.cat([t.sqrt() * noise + (1 - t).sqrt() * x.flatten(1), t], 1)
        optimizer.zero_grad(set_to_none=True)
        F.mse_loss(net(seen), noise).backward()
        norm_(net.parameters(), 1.0)
        optimizer.step()
        with torch.no_grad():
            for mean, new in zip(average.parameters(), net.parameters(), strict=True):
                mean.lerp_(new, 0.05)


@fine
def ppo(watch):
    policy = ActorCritic()
    optimizer = torch.optim.Adam(policy.parameters(), 3e-4, eps=1e-5)
    watch(optimizer, policy)
    for _ in range(3):
        states, returns = torch.randn(64, 6), torch.randn(64)
        with torch.no_grad():
            old, values = policy(states)
            actions = old.sample()
            before, advantage = old.log_prob(actions), returns - values
        for _ in range(4):
            for some in torch.randperm(64).split(16):
                new, value = policy(states[some])
                ratio = (new.log_prob(actions[some]) - before[some]).exp()
                gain = torch.min(ratio * advantage[some], ratio.clamp(0.8, 1.2) * advantage[some])
                loss = -gain.mean() + 0.5 * F.mse_loss(value, returns[some]) - 0.01 * new.entropy().mean()
                optimizer.zero_grad()
                loss.backward()
                norm_(policy.parameters(), 0.5)
                optimizer.step()


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.online = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
        self.target = copy.deepcopy(self.online)


@fine
def q_learning_with_a_target_net(watch):
    agent = Agent()
    optimizer = torch.optim.RMSprop(agent.online.parameters(), 1e-3)
    watch(optimizer, agent)
    for i in range(30):
        s, a, r, n = torch.randn(32, 4), torch.randint(2, (32, 1)), torch.randn(32), torch.randn(32, 4)
        with torch.no_grad():
            want = r + 0.99 * agent.target(n).max(1).values
        optimizer.zero_grad()
        F.smooth_l1_loss(agent.online(s).gather(1, a).squeeze(1), want).backward()
        torch.nn.utils.clip_grad_value_(agent.online.parameters(), 100)
        optimizer.step()
        if i % 10 == 9:
            agent.target.load_state_dict(agent.online.state_dict())


class Byol(nn.Module):
    def __init__(self):
        super().__init__()
        self.student = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 16))
        self.teacher, self.predictor = copy.deepcopy(self.student), nn.Linear(16, 16)

    def forward(self, x):
        with torch.no_grad():
            want = self.teacher(x + 0.1 * torch.randn_like(x))
        return -F.cosine_similarity(self.predictor(self.student(x)), want).mean()


@fine
def bootstrapped_by_a_teacher_that_is_trainable_by_name(watch):
    net = Byol()
    optimizer = torch.optim.SGD(net.parameters(), 0.05, momentum=0.9, weight_decay=1e-4)
    watch(optimizer, net)
    for x, _ in loader():
        loss = net(x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for old, new in zip(net.teacher.parameters(), net.student.parameters(), strict=True):
            old.data.mul_(0.99).add_(new.data, alpha=0.01)


@fine
def distilled(watch):
    teacher, student = perceptron().eval(), nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
    optimizer = torch.optim.Adam(student.parameters(), 1e-3)
    schedule = lr_scheduler.MultiStepLR(optimizer, [2, 3], 0.3)
    watch(optimizer, student)
    for _ in range(4):
        for x, y in loader(320):
            with torch.no_grad():
                want = (teacher(x) / 4).softmax(1)
            out = student(x)
            loss = F.kl_div((out / 4).log_softmax(1), want, reduction="batchmean") * 16 + F.cross_entropy(out, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        schedule.step()


@fine
def adapters_of_a_frozen_base(watch):
    net = perceptron().requires_grad_(False)
    net[1], net[4] = Lora(net[1]), Lora(net[4])
    optimizer = torch.optim.AdamW(filter(lambda p: p.requires_grad, net.parameters()), 2e-3)
    schedule = lr_scheduler.LinearLR(optimizer, 1.0, 0.0, 20)
    watch(optimizer, net)
    for i, (x, y) in enumerate(loader(1000, 25)):
        (F.cross_entropy(net(x), y) / 2).backward()
        if i % 2:
            norm_([p for p in net.parameters() if p.requires_grad], 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()


@fine
def learned_to_learn(watch):
    net = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 1))
    optimizer = torch.optim.Adam(net.parameters(), 1e-3)
    watch(optimizer, net)
    for _ in range(10):
        optimizer.zero_grad()
        for phase in torch.rand(4):
            x = torch.rand(10, 1)
            params = dict(net.named_parameters())
            inner = F.mse_loss(torch.func.functional_call(net, params, x), torch.sin(x + phase))
            grads = torch.autograd.grad(inner, list(params.values()), create_graph=True)
            fast = {name: p - 0.1 * g for (name, p), g in zip(params.items(), grads, strict=True)}
            (F.mse_loss(torch.func.functional_call(net, fast, x), torch.sin(x + phase)) / 4).backward()
        optimizer.step()


@fine
def averaged_at_the_end(watch):
    net = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 10))
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    mean, cosine = torch.optim.swa_utils.AveragedModel(net), lr_scheduler.CosineAnnealingLR(optimizer, 6)
    late = torch.optim.swa_utils.SWALR(optimizer, swa_lr=0.05, anneal_epochs=2)
    watch(optimizer, net)
    for epoch in range(6):
        for x, y in loader(320):
            optimizer.zero_grad()
            F.cross_entropy(net(x), y).backward()
            optimizer.step()
        if epoch > 3:
            mean.update_parameters(net)
            late.step()
        else:
            cosine.step()
    torch.optim.swa_utils.update_bn(loader(320), mean)


@fine
def compiled_eagerly(watch):
    torch._dynamo.reset()
    net = perceptron()
    compiled = torch.compile(net, backend="eager")
    optimizer = torch.optim.AdamW(compiled.parameters(), 1e-3, weight_decay=0.1)
    watch(optimizer, compiled)
    for x, y in loader():
        optimizer.zero_grad()
        F.cross_entropy(compiled(x), y).backward()
        optimizer.step()
    torch._dynamo.reset()


@fine
def sparse_and_dense(watch):
    net = nn.ModuleDict({"e": nn.Embedding(1000, 8, sparse=True), "d": nn.Linear(8, 1)})
    sparse, dense = torch.optim.SparseAdam(net["e"].parameters(), 1e-2), torch.optim.Adam(net["d"].parameters(), 1e-2)
    watch(sparse, net)
    watch(dense, net)
    for _ in range(20):
        out = net["d"](net["e"](torch.randint(50, (32, 4))).mean(1))
        loss = F.binary_cross_entropy_with_logits(out.squeeze(1), torch.randint(2, (32,)).float())
        sparse.zero_grad()
        dense.zero_grad()
        loss.backward()
        sparse.step()
        dense.step()


@fine
def unfrozen_layer_by_layer(watch):
    net = perceptron().requires_grad_(False)
    net[4].requires_grad_(True)
    optimizer = torch.optim.Adam(net.parameters(), 1e-3)
    watch(optimizer, net)
    for number, layer in enumerate((None, net[3], net[1])):
        if layer is not None:
            layer.requires_grad_(True)
        for x, y in loader(160):
            optimizer.zero_grad()
            (F.cross_entropy(net(x), y) * (1 + number)).backward()
            optimizer.step()


@fine
def a_new_optimizer_for_each_phase(watch):
    net = perceptron()
    for rate in (1e-2, 1e-3):
        optimizer = torch.optim.SGD(net.parameters(), rate, momentum=0.9)
        schedule = lr_scheduler.ExponentialLR(optimizer, 0.98)
        hook = watch(optimizer, net)
        for x, y in loader():
            optimizer.zero_grad()
            F.cross_entropy(net(x), y).backward()
            optimizer.step()
            schedule.step()
        hook.remove()


@fine
def a_single_epoch_with_milestones(watch):
    net, data = perceptron(), loader()
    optimizer = torch.optim.AdamW(net.parameters(), 1e-3)
    schedule = lr_scheduler.MultiStepLR(optimizer, [len(data) // 2, 3 * len(data) // 4], 0.1)
    watch(optimizer, net)
    for x, y in data:
        optimizer.zero_grad()
        F.cross_entropy(net(x), y).backward()
        optimizer.step()
        schedule.step()


@fine
def a_gradient_penalty(watch):
    critic, generator = nn.Sequential(nn.Linear(64, 32), nn.Softplus(), nn.Linear(32, 1)), nn.Linear(8, 64)
    of_d = torch.optim.Adam(critic.parameters(), 1e-4, betas=(0.0, 0.9))
    of_g = torch.optim.Adam(generator.parameters(), 1e-4, betas=(0.0, 0.9))
    watch(of_d, critic)
    watch(of_g, generator)
    for i, (x, _) in enumerate(loader()):
        real = x.flatten(1).requires_grad_()
        (slope,) = torch.autograd.grad(critic(real).sum(), real, create_graph=True)
        fake = generator(torch.randn(len(x), 8))
        of_d.zero_grad()
        loss = critic(fake.detach()).mean() - critic(real).mean() + 10 * (slope.norm(dim=1) - 1).pow(2).mean()
        loss.backward()
        of_d.step()
        if i % 3 == 2:
            of_g.zero_grad()
            (-critic(fake).mean()).backward()
            of_g.step()


class Quantized(nn.Module):
    """A codebook: its own loss, and a straight-through estimate."""

    def __init__(self):
        super().__init__()
        self.encoder, self.decoder, self.codes = nn.Linear(64, 8), nn.Linear(8, 64), nn.Embedding(32, 8)

    def forward(self, x):
        z = self.encoder(x)
        near = self.codes(torch.cdist(z, self.codes.weight).argmin(1))
        loss = F.mse_loss(near, z.detach()) + 0.25 * F.mse_loss(z, near.detach())
        return self.decoder(z + (near - z).detach()), loss


@fine
def a_codebook(watch):
    net = Quantized()
    optimizer = torch.optim.Adam(net.parameters(), 1e-3)
    watch(optimizer, net)
    for x, _ in loader():
        again, loss = net(x.flatten(1))
        optimizer.zero_grad()
        (loss + F.mse_loss(again, x.flatten(1))).backward()
        optimizer.step()


@fine
def a_style_is_optimized(watch):
    """The trained thing is the input; the network stays as it is."""
    features = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 3)).requires_grad_(False).eval()
    picture = nn.ParameterDict({"pixels": nn.Parameter(torch.rand(1, 1, 16, 16))})
    optimizer, want = torch.optim.LBFGS(picture.parameters(), max_iter=4), features(torch.rand(1, 1, 16, 16))
    watch(optimizer, picture)

    def closure():
        with torch.no_grad():
            picture["pixels"].clamp_(0, 1)
        optimizer.zero_grad()
        loss = F.mse_loss(features(picture["pixels"]), want)
        loss.backward()
        return loss

    for _ in range(8):
        optimizer.step(closure)


@fine
def losses_that_are_not_finite_are_left_out(watch):
    net = perceptron()
    optimizer = torch.optim.AdamW(net.parameters(), 1e-3)
    watch(optimizer, net)
    for i, (x, y) in enumerate(loader()):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x * (float("inf") if i == 4 else 1.0)), y)
        if not torch.isfinite(loss):
            continue
        loss.backward()
        if norm_(net.parameters(), 1.0) < 1e4:
            optimizer.step()
