"""A training loop by hand, which the integrations' logs are compared with: small, one process, plain torch."""

import numpy as np

from summaries import read_run

LR, CLIP = 0.1, 0.05
STEPS = 6


def network(torch, seed=0):
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(8, 18), torch.nn.Tanh(), torch.nn.Linear(18, 1))


def batches(torch, steps=STEPS, rows=4):
    """(x, y) for each step."""
    random = torch.Generator().manual_seed(1)
    made = [torch.randn(rows, 8, generator=random) for _ in range(steps)]
    return [(x, torch.sin(x.sum(1, keepdim=True))) for x in made]


def norms(torch, model):
    """Tag → value: what is to be logged of the gradients as they are now."""
    found = {f"gradients/norm/{name}": float(p.grad.norm()) for name, p in model.named_parameters()}
    found |= {f"weights/norm/{name}": float(p.detach().norm()) for name, p in model.named_parameters()}
    total = torch.nn.utils.get_total_norm([p.grad for p in model.parameters()])
    return found | {"gradients/global_norm": float(total)}


def by_hand(torch, clip=CLIP, accumulate=1, steps=STEPS):
    """For each step of SGD on `network`, its norms before clipping, and its updates'; `accumulate` batches make one."""
    model = network(torch)
    optimizer = torch.optim.SGD(model.parameters(), LR)
    found = []
    for i, (x, y) in enumerate(batches(torch, steps * accumulate)):
        (torch.nn.functional.mse_loss(model(x), y) / accumulate).backward()
        if (i + 1) % accumulate:
            continue
        found.append(norms(torch, model))
        if clip is not None:
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        before = {name: p.detach().clone() for name, p in model.named_parameters()}
        optimizer.step()
        updates = {name: float((p.detach() - before[name]).norm()) for name, p in model.named_parameters()}
        found[-1] |= {f"updates/norm/{name}": norm for name, norm in updates.items()}
        optimizer.zero_grad()
    return found


def compare(logdir, wanted, clip=CLIP, prefix="", first=1):
    """The run has the wanted values at each step, and tells those before clipping from those after."""
    scalars = read_run(logdir).scalars
    for tag in wanted[0]:
        found = scalars[tag.replace("/norm/", f"/norm/{prefix}")]
        tolerance = 1e-4 if tag.startswith("updates/") else 1e-5  # differences of weights are rounded
        np.testing.assert_allclose(found.value, [step[tag] for step in wanted], rtol=tolerance, err_msg=tag)
        assert found.step.tolist() == list(range(first, first + len(wanted))), tag
    if clip is None:
        assert "gradients/clip_norm" not in scalars
    else:
        before, after = scalars["gradients/global_norm"].value, scalars["gradients/clipped_global_norm"].value
        np.testing.assert_allclose(after, np.minimum(before, clip), rtol=1e-6)
        assert (before > 1.5 * clip).all()
        assert scalars["gradients/clipped"].value.all()
    return scalars
