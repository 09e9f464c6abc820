"""What lists training loops with one mistake each, and the mistakes in what is stepped, and by which gradients."""

import copy
import functools
import itertools

import torch
from loops.programs import F, nn, program

MISTAKES = []
"""(what it is, the code, the step at which it can be known, the loop): a loop is given what attaches to it."""


def mistake(code, known, *names):
    """List a loop once for each of these programs."""

    def listed(loop):
        for name in names:
            MISTAKES.append((f"{loop.__name__}-{name}", code, known, functools.partial(loop, name)))  # noqa: PERF401 - as it reads
        return loop

    return listed


def adam(p, lr=1e-3, **options):
    return torch.optim.Adam(p.parameters(), lr, **options)


def steps(p, optimizer, count=8, before=None, after=None):
    """The usual loop."""
    for i in range(count):
        optimizer.zero_grad()
        p.loss().backward()
        if before is not None:
            before(i)
        optimizer.step()
        if after is not None:
            after(i)


def scaled(p, optimizer, scaler, before_step, count=8):
    for _ in range(count):
        optimizer.zero_grad()
        scaler.scale(p.loss()).backward()
        before_step()
        scaler.step(optimizer)
        scaler.update()


@mistake("GL701", 1, "flat", "conv", "transformer")
def the_head_is_not_in_the_optimizer(name, watch):
    p = program(name)
    optimizer = torch.optim.AdamW(p.model.body.parameters(), 1e-3)
    watch(optimizer, p.model)
    steps(p, optimizer)


@mistake("GL701", 5, "flat", "lstm")
def a_layer_that_is_added_later(name, watch):
    p = program(name)
    optimizer = adam(p)
    watch(optimizer, p.model)
    steps(p, optimizer, 4)
    width = p.model.head.in_features
    p.model.head = nn.Sequential(nn.Linear(width, width), p.model.head)
    steps(p, optimizer)


@mistake("GL702", 1, "flat", "conv")
def a_new_head_after_the_optimizer(name, watch):
    p = program(name)
    optimizer = adam(p)
    p.model.head = nn.Linear(p.model.head.in_features, 10)
    watch(optimizer, p.model)
    steps(p, optimizer)


@mistake("GL702", 4, "lstm", "transformer")
def parameters_that_are_made_anew_while_it_trains(name, watch):
    p = program(name)
    optimizer = adam(p)
    watch(optimizer, p.model)
    steps(p, optimizer, 3)
    p.model.head.bias = nn.Parameter(p.model.head.bias.detach().clone())
    steps(p, optimizer)


@mistake("GL703", 4, "lstm")
def the_tie_is_lost(name, watch):
    p = program(name)
    optimizer = adam(p)
    watch(optimizer, p.model)
    steps(p, optimizer, 3)
    p.model.head.weight = nn.Parameter(p.model.head.weight.detach().clone())
    optimizer.add_param_group({"params": [p.model.head.weight]})
    steps(p, optimizer)


@mistake("GL703", 3, "transformer")
def a_copied_layer_was_shared(name, watch):
    p = program(name)
    p.model.body.layers[1] = p.model.body.layers[0]
    optimizer = adam(p)
    watch(optimizer, p.model)
    steps(p, optimizer, 2)
    p.model.body.layers[1] = copy.deepcopy(p.model.body.layers[0])
    optimizer.add_param_group({"params": list(p.model.body.layers[1].parameters())})
    steps(p, optimizer)


@mistake("GL704", 1, "flat", "lstm")
def a_group_with_rate_zero(name, watch):
    p = program(name)
    own = set(p.model.body.parameters())
    groups = [{"params": [q for q in p.parameters() if q not in own], "lr": 0.0}, {"params": list(own)}]
    optimizer = torch.optim.SGD(groups, 0.1)
    watch(optimizer, p.model)
    steps(p, optimizer)


@mistake("GL705", 2, "flat", "transformer")
def two_optimizers_have_the_head(name, watch):
    p = program(name)
    optimizer, second = adam(p), torch.optim.SGD(p.model.head.parameters(), 0.1)
    watch(optimizer, p.model)
    steps(p, optimizer, after=lambda _: second.step())


class Cut(nn.Module):
    def __init__(self, model, cut):
        super().__init__()
        self.model, self.cut = model, cut

    def forward(self, x):
        model = self.model
        hidden = (
            model.features(x)
            if hasattr(model, "features")
            else model.body(x.flatten(1) if x.dim() == 4 and not isinstance(model.body[0], nn.Conv2d) else x)
        )
        out = model.head(self.cut(hidden))
        return out.transpose(1, 2) if hasattr(model, "features") else out


@mistake("GL711", 1, "flat", "conv", "transformer")
def an_accidental_detach(name, watch):
    p = program(name)
    p.model = Cut(p.model, torch.detach)
    optimizer = adam(p)
    watch(optimizer, p.model)
    steps(p, optimizer)


@mistake("GL711", 1, "flat", "conv")
def by_way_of_numpy(name, watch):
    p = program(name)
    p.model = Cut(p.model, lambda hidden: torch.tensor(hidden.tolist()))
    optimizer = adam(p)
    watch(optimizer, p.model)
    steps(p, optimizer)


@mistake("GL711", 1, "conv", "flat")
def no_grad_is_left_on(name, watch):
    p = program(name)
    body, run = p.model.body, p.model.body.forward
    body.forward = torch.no_grad()(run)
    optimizer = adam(p)
    watch(optimizer, p.model)
    steps(p, optimizer)


@mistake("GL712", 2, "flat", "lstm", "conv")
def zero_grad_is_forgotten(name, watch):
    p = program(name)
    optimizer = torch.optim.SGD(p.parameters(), 1e-3)
    watch(optimizer, p.model)
    for _ in range(8):
        p.loss().backward()
        optimizer.step()


@mistake("GL712", 2, "transformer")
def zero_grad_of_another_optimizer(name, watch):
    p, q = program(name), program("flat")
    optimizer, other = adam(p), adam(q)
    watch(optimizer, p.model)
    for _ in range(8):
        other.zero_grad()
        p.loss().backward()
        torch.nn.utils.clip_grad_norm_(p.parameters(), 1.0)
        optimizer.step()


@mistake("GL713", 1, "flat", "lstm")
def zero_grad_after_backward(name, watch):
    p = program(name)
    optimizer = adam(p)
    watch(optimizer, p.model)
    steps(p, optimizer, before=lambda _: optimizer.zero_grad())


@mistake("GL713", 1, "conv", "transformer")
def zeros_after_backward(name, watch):
    p = program(name)
    optimizer = adam(p)
    watch(optimizer, p.model)
    steps(p, optimizer, before=lambda _: optimizer.zero_grad(set_to_none=False))


@mistake("GL713", 1, "flat")
def zero_grad_before_clipping(name, watch):
    p = program(name)
    optimizer = adam(p)
    watch(optimizer, p.model)

    def before(i):
        optimizer.zero_grad()
        torch.nn.utils.clip_grad_norm_(p.parameters(), 1.0)

    steps(p, optimizer, before=before)


@mistake("GL714", 2, "flat", "transformer")
def backward_is_called_once_only(name, watch):
    p = program(name)
    optimizer = adam(p)
    watch(optimizer, p.model)
    p.loss().backward()
    for _ in range(8):
        optimizer.step()
        p.loss()


@mistake("GL714", 1, "conv", "lstm")
def backward_is_forgotten(name, watch):
    p = program(name)
    optimizer = adam(p)
    watch(optimizer, p.model)
    for _ in range(8):
        optimizer.zero_grad()
        p.loss()
        optimizer.step()


@mistake("GL714", 2, "flat", "lstm")
def each_gradient_is_used_twice(name, watch):
    p = program(name)
    optimizer = adam(p)
    watch(optimizer, p.model)
    steps(p, optimizer, after=lambda _: optimizer.step())


@mistake("GL715", 2, "flat", "lstm")
def scores_are_given_as_log_probabilities(name, watch):
    p = program(name)
    optimizer = adam(p)
    hook = watch(optimizer, p.model)
    for x, y in itertools.islice(p.data, 8):
        optimizer.zero_grad()
        loss = F.nll_loss(p.model(x).softmax(1), y) / 2
        loss.backward()
        hook.loss(loss)
        optimizer.step()


@mistake("GL715", 2, "flat")
def labels_of_minus_one_and_one(name, watch):
    p = program(name)
    optimizer = adam(p, 0.1)
    hook = watch(optimizer, p.model)
    for x, _ in itertools.islice(p.data, 8):
        optimizer.zero_grad()
        loss = F.binary_cross_entropy_with_logits(p.model(x), torch.full((len(x), 10), -1.0))
        hook.loss(loss).backward()
        optimizer.step()
