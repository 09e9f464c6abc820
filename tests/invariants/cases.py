"""The programs: three healthy ones, and for each mistake, reference and healthy variant the text that differs.

What is wrong is named as in `tests/loops`, where the same mistakes are labelled.
"""

import re
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"


@dataclass
class Case:
    """A program of `programs/` in which some text is replaced.

    Attributes:
        name: of the case.
        program: from which it is made; it is checked by the invariants of that one.
        edits: (text, what it is replaced by) of each place.
        code: of the rule that names the mistake, or "" if there is none.
        since: the step from which on the program does something wrong.
        speaks: a pattern of the violated invariants that are taken to speak of the mistake.
        options: of our `attach`.
    """

    name: str
    program: str
    edits: tuple = ()
    code: str = ""
    since: int = 1
    speaks: str = ""
    options: str = ""

    def source(self):
        """The script."""
        text = (PROGRAMS / f"{self.program}.py").read_text()
        for old, new in self.edits:
            assert text.count(old) == 1, (self.name, old)
            text = text.replace(old, new)
        return text

    def spoken_of(self, text):
        """Whether a violated invariant speaks of the mistake."""
        return bool(self.speaks) and re.search(self.speaks, text) is not None


def made(name, program, *edits, **more):
    """A case of these edits."""
    return Case(name, program, edits, **more)


_SEED = ("torch.manual_seed(0)", "torch.manual_seed(1)")
_CLIP, _STEP = "    nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n", "    optimizer.step()\n"
_ZERO, _ZERO_LETTERS = "    optimizer.zero_grad()\n", "    of_letters.zero_grad()\n"
_LETTERS = "    of_letters.step()\n"
_BODY = '{"params": model.body.parameters()}'
_GROUPS = f'[{_BODY}, {{"params": model.head.parameters(), "lr": 2e-3}}]'
_SECOND = "nn.Conv2d(8, 16, 3, padding=1),\n            nn.BatchNorm2d(16),"
_ADAMW = "torch.optim.AdamW(net.parameters(), lr=1e-3)"
_UNCHANGED = r"(adam|Adam\.step)\(\) changes Parameter\.data:"  # it changed none

REFERENCES = {
    "pictures": (
        made("pictures", "pictures"),
        made(
            "pictures-of-another-kind",
            "pictures",
            _SEED,
            (_SECOND, "nn.Conv2d(8, 16, 3, padding=1),"),
            ("torch.optim.Adam(groups, lr=1e-3)", "torch.optim.SGD(groups, lr=1e-2, momentum=0.9)"),
        ),
    ),
    "texts": (
        made("texts", "texts"),
        made(
            "texts-of-another-kind",
            "texts",
            _SEED,
            (
                "torch.optim.Adagrad(model.letters.parameters(), lr=0.05)",
                "torch.optim.SGD([model.head.weight], lr=0.1)",
            ),
            ("nn.GRU(", "nn.LSTM("),
        ),
    ),
    "resumed": (
        made("resumed", "resumed"),
        made(
            "resumed-of-another-kind",
            "resumed",
            _SEED,
            ("nn.ReLU(), nn.Linear(32, 5)", "nn.Tanh(), nn.LayerNorm(32), nn.Linear(32, 5)"),
            (_ADAMW, "torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)"),
        ),
    ),
}
"""The programs that invariants are inferred from: the one without a mistake itself, and one of its kind with another
layer, another optimizer and another seed."""

MISTAKES = (
    made("the_head_is_not_in_the_optimizer", "pictures", (_GROUPS, "model.body.parameters()"), code="GL701"),
    made(
        "a_new_head_after_the_optimizer",
        "pictures",
        ("lr=1e-3)\n", "lr=1e-3)\nmodel.head = nn.Linear(256, 10)\n"),
        code="GL702",
        speaks=_UNCHANGED,
    ),
    made(
        "the_tie_is_lost",
        "texts",
        (
            _LETTERS,
            f"""{_LETTERS}    if i == 3:
        model.head.weight = nn.Parameter(model.head.weight.detach().clone())
        optimizer.add_param_group({{"params": [model.head.weight]}})
""",
        ),
        code="GL703",
        since=5,
    ),
    made(
        "a_group_with_rate_zero",
        "pictures",
        (_BODY, '{"params": model.body.parameters(), "lr": 0.0}'),
        code="GL704",
        speaks=_UNCHANGED,
    ),
    made(
        "two_optimizers_have_the_embedding",
        "texts",
        ("[*model.body.parameters(), model.head.bias]", "model.parameters()"),
        code="GL705",
        speaks=r"zero_grad\(\) changes Parameter\.grad:",
    ),
    made(
        "an_accidental_detach",
        "pictures",
        ("self.head(self.body(x))", "self.head(self.body(x).detach())"),
        code="GL711",
        speaks=_UNCHANGED + r"|requires_grad",
    ),
    made(
        "zero_grad_is_forgotten",
        "texts",
        (_ZERO + _ZERO_LETTERS, ""),
        code="GL712",
        speaks=r"zero_grad\(\)|changes Parameter\.grad:",
        since=2,
    ),
    made(
        "zero_grad_after_backward",
        "texts",
        ("    loss.backward()\n", f"    loss.backward()\n{_ZERO}"),
        code="GL713",
        speaks=_UNCHANGED + r"|zero_grad\(\)",
    ),
    made(
        "clipping_after_the_step",
        "pictures",
        (_CLIP + _STEP, _STEP + _CLIP),
        code="GL721",
        speaks=r"clip_grad_norm_\(\) always occurs",
    ),
    made(
        "evaluation_is_left_on",
        "pictures",
        ("    model.train()\n    return", "    return"),
        code="GL727",
        speaks=r"dropout\(\)|batch_norm\(\)",
        since=6,
    ),
    made(
        "updates_below_the_precision",
        "pictures",
        ("torch.randn(192, 1, 8, 8)", "torch.randn(192, 1, 8, 8, dtype=torch.bfloat16)"),
        ("torch.randn(64, 10)", "torch.randn(64, 10, dtype=torch.bfloat16)"),
        ("model = Net()", "model = Net().to(torch.bfloat16)"),
        ("2e-3", "2e-6"),
        ("1e-3", "1e-6"),
        code="GL731",
    ),
    made(
        "resumed_without_the_optimizer",
        "resumed",
        ('optimizer.load_state_dict(checkpoint["optimizer"])\n', ""),
        code="GL732",
        since=13,
        speaks=r"load_state_dict\(\)",
        options=", step=lambda: 13 + i",
    ),
)

HEALTHY = (
    made(
        "frozen",
        "pictures",
        (f"groups = {_GROUPS}", "model.body.requires_grad_(False).eval()\ngroups = model.head.parameters()"),
        ("    model.train()\n", "    model.head.train()\n"),
        ("\nmodel.train()\n", "\nmodel.head.train()\n"),
    ),
    made(
        "accumulated",
        "pictures",
        (_ZERO, ""),
        ("    loss.backward()\n", "    (loss / 2).backward()\n"),
        (_CLIP + _STEP, f"    if i % 2 == 1:\n    {_CLIP}    {_STEP}    {_ZERO}"),
    ),
    made("zeroed_after_the_step", "texts", (_ZERO + _ZERO_LETTERS, ""), (_LETTERS, _LETTERS + _ZERO + _ZERO_LETTERS)),
    made(
        "a_longer_checkpoint",
        "resumed",
        ("range(12)", "range(15)"),
        (_ADAMW, "torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=0.1)"),
        options=", step=lambda: 16 + i",
    ),
)
