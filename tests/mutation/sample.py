"""Do the tests notice? Changes one line at a time in a sample of the central modules, and runs the tests of each.

    python3 -m venv /tmp/mutation
    /tmp/mutation/bin/pip install '.[dev]' cosmic-ray==8.7.0
    PYTHONPATH=tests nice /tmp/mutation/bin/python -m mutation.sample --seed 1 --count 60

cosmic-ray, which makes the mutants, is in no list of dependencies. The mutants live in a copy of the repository, made
anew for each run and removed at its end. A mutant first meets the tests that carry its module's name, then those of
its folder, then its area's. Exit status 1: one survived. Whoever reads the table tells which of those change a result.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import signal
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names
from mutation.trees import ROOT, TOO_LONG, copy_of_repository, run_tests

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MODULES = (
    *(f"summaries/{name}" for name in ("wire/*", "storage/*", "reading/*")),
    *(
        f"summaries/writing/{name}"
        for name in ("event_file_writer", "event_queue", "run_file", "flusher", "histograms")
    ),
    *(f"summaries/kinds/{name}" for name in ("histogram", "hparams")),
    *(f"summaries/auditing/{name}" for name in ("config", "engine", "curves", "signals/signals", "statistics/*")),
    *(
        f"summaries/auditing/rules/{name}"
        for name in ("timeline/steps", "losses/[!d]*", "optimizers/rates", "gradients/clipping")
    ),
    *(f"optim/{name}" for name in ("clip", "variable", "moving_average", "autodiff/backward")),
    *(f"optim/optimizers/{name}" for name in ("driver", "base", "wrappers", "clipping_wrappers", "skipping")),
    *(f"optim/optimizers/{name}" for name in ("sparse", "targets", "gradient_checks", "adam")),
    *(f"optim/{name}" for name in ("kernels/*", "schedules/*", "checkpoints/*")),
)
AREAS = {
    "summaries/wire": (
        "tests/unit/summaries/reading",
        "tests/properties/test_records.py",
        "tests/properties/test_s*.py",
        "tests/properties/test_mutated_messages.py",
    ),
    "summaries/storage": ("tests/unit/summaries/reading", "tests/unit/summaries/tools"),
    "summaries/reading": ("tests/properties/test_reader_runs.py", "tests/unit/summaries/tools"),
    "summaries/writing": ("tests/unit/optim/telemetry",),
    "summaries/kinds": ("tests/properties/test_histograms.py", "tests/unit/summaries/writing"),
    "summaries/auditing": (
        "tests/unit/summaries/auditing",
        "tests/properties/test_auditing.py",
        "tests/properties/test_th*.py",
    ),
    "optim": ("tests/unit/optim/[!k]*", "tests/unit/optim/kernels", "tests/properties/test_optim*.py"),
}
"""The tests of an area that are in other folders than those that mirror its modules."""

_ARITHMETIC = {"Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul", "FloorDiv_Mul", "Mod_Mul", "RShift_LShift", "LShift_RShift"}
_COMPARISONS = {
    f"{one}_{other}" for one in ("Lt", "LtE", "Gt", "GtE", "Eq", "NotEq") for other in ("Lt", "LtE", "Gt", "GtE", "Eq")
} | {"Is_IsNot", "IsNot_Is", "Eq_NotEq"}
_OTHERS = {
    "AddNot", "NumberReplacer", "ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "ReplaceAndWithOr", "ReplaceOrWithAnd",
    "ReplaceBreakWithContinue", "ReplaceContinueWithBreak", "ZeroIterationForLoop", "ReplaceUnaryOperator_Delete_Not",
    "ReplaceUnaryOperator_Delete_USub",
}  # fmt: skip
KEPT = (
    {f"ReplaceBinaryOperator_{name}" for name in _ARITHMETIC}
    | {f"ReplaceComparisonOperator_{name}" for name in _COMPARISONS}
    | _OTHERS
)
"""The operators that make plausible slips. `<` turned into `is` is noticed by every test, and would flatter them."""


class Mutant(NamedTuple):
    """One change of one line."""

    path: str
    line: int
    operator: str
    code: str
    before: str
    after: str


def main() -> int:
    """Sample, test, and print the table."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it; some tests send it
    arguments = parse_arguments()
    random_numbers = random.Random(arguments.seed)
    modules = [module for module in module_paths() if re.search(arguments.modules, module)]
    mutants = sample(modules, arguments.count, random_numbers)
    tried = {line for line in arguments.lines.split(",") if line}
    if tried:
        mutants = [mutant for mutant in mutants if f"{mutant.path}:{mutant.line}" in tried]
    survivors = 0
    with tempfile.TemporaryDirectory() as directory:
        tree = copy_of_repository(Path(directory) / "tree")
        limits = {module: time_limit(tree, module) for module in sorted({mutant.path for mutant in mutants})}
        for number, mutant in enumerate(mutants, 1):
            outcome = outcome_of(tree, mutant, limits[mutant.path])
            survivors += outcome == "SURVIVED"
            print(f"{number:3} {outcome:9} {mutant.path}:{mutant.line} {mutant.operator}")
            print(f"      - {mutant.before}\n      + {mutant.after}", flush=True)
    caught = len(mutants) - survivors
    print(f"seed {arguments.seed}: {len(mutants)} mutants, {caught} killed or timed out, {survivors} survived")
    return int(survivors > 0)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Run the tests against mutants of the central modules.")
    parser.add_argument("--seed", type=int, default=1, help="the same seed and source give the same mutants")
    parser.add_argument("--count", type=int, default=60, help="how many lines are changed, each in a mutant of its own")
    parser.add_argument("--modules", default="", help="a regular expression that a module's path must contain")
    parser.add_argument("--lines", default="", help="of the sample, only these: path:line, separated by commas")
    return parser.parse_args()


def module_paths() -> list[str]:
    """The central modules that have code."""
    found = [path for pattern in MODULES for path in sorted(ROOT.glob(f"{pattern}.py")) if path.name != "__init__.py"]
    return [path.relative_to(ROOT).as_posix() for path in found]


def sample(modules: Iterable[str], count: int, random_numbers: random.Random) -> list[Mutant]:
    """One mutant each of `count` lines, which are drawn evenly from all that can be changed."""
    places: dict[tuple[str, int], list[tuple[str, int]]] = {}
    sources = {module: (ROOT / module).read_text(encoding="utf-8") for module in modules}
    for module, source in sources.items():
        for line, operator, occurrence in mutations(source):
            places.setdefault((module, line), []).append((operator, occurrence))
    lines = list(places)
    random_numbers.shuffle(lines)
    mutants: list[Mutant] = []
    for module, line in lines:
        if len(mutants) == count:
            break
        operator, occurrence = random_numbers.choice(places[module, line])
        mutant = changed(module, sources[module], line, operator, occurrence)
        if mutant is not None:
            mutants.append(mutant)
    return mutants


def mutations(source: str) -> Iterator[tuple[int, str, int]]:
    """(line, operator, which of that operator's places it is) of everything that can be changed."""
    tree = get_ast(source)
    for name in operator_names():
        if name.partition("/")[2] not in KEPT:
            continue
        operator = get_operator(name)()
        positions = (start for node in ast_nodes(tree) for start, _ in operator.mutation_positions(node))
        for occurrence, (line, _) in enumerate(positions):
            yield line, name, occurrence


def changed(module: str, source: str, line: int, operator: str, occurrence: int) -> Mutant | None:
    """The mutant; None where it is no Python, or says the same, because only an annotation has changed."""
    code = mutate_code(source, get_operator(operator)(), occurrence)
    try:
        if code is None or program(code) == program(source):
            return None
    except SyntaxError:
        return None
    before, after = source.splitlines()[line - 1].strip(), code.splitlines()[line - 1].strip()
    return Mutant(module, line, operator.partition("/")[2], code, before, after)


def program(source: str) -> str:
    """What a module does, without its annotations, its imports for the type checker and the `*` in signatures."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.arg | ast.AnnAssign):
            node.annotation = ast.Constant(None)  # ours are never evaluated
        elif isinstance(node, ast.FunctionDef):
            node.returns = None
            signature = node.args
            signature.args = [*signature.posonlyargs, *signature.args, *signature.kwonlyargs]
            signature.defaults += filter(None, signature.kw_defaults)
            signature.posonlyargs, signature.kwonlyargs, signature.kw_defaults = [], [], []
    tree.body = [
        node for node in tree.body if not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test))
    ]
    return ast.dump(tree)


def rounds(tree: Path, module: str) -> list[list[str]]:
    """The tests of a module, nearest first."""
    folder, name = os.path.split(module)
    mirror = f"tests/unit/{folder}"
    named = sorted(path.relative_to(tree).as_posix() for path in tree.glob(f"{mirror}/test_{name[:-3]}*.py"))
    area = next(tests for start, tests in AREAS.items() if module.startswith(start))
    wide = sorted(path.relative_to(tree).as_posix() for pattern in area for path in tree.glob(pattern))
    near = [] if mirror == "tests/unit/optim" else [mirror]
    return [[module, *named], near, wide]


def time_limit(tree: Path, module: str) -> float:
    """How long a round of a module's tests may take, in seconds, given what they take while nothing is changed."""
    return 30 + 3 * max(seconds(tree, *tests) for tests in rounds(tree, module))


@cache
def seconds(tree: Path, *tests: str) -> float:
    begun = time.monotonic()
    failure = run_tests(tree, list(tests))
    if failure is not None:
        raise SystemExit(f"{failure}\nThese tests fail before anything is changed: {' '.join(tests)}")
    return time.monotonic() - begun


def outcome_of(tree: Path, mutant: Mutant, limit: float) -> str:
    path = tree / mutant.path
    original = path.read_text(encoding="utf-8")
    path.write_text(mutant.code, encoding="utf-8")
    try:
        failures = (run_tests(tree, tests, limit) for tests in rounds(tree, mutant.path))
        failure = next((failure for failure in failures if failure is not None), None)
    finally:
        path.write_text(original, encoding="utf-8")
    if failure is None:
        return "SURVIVED"
    return "timed out" if failure == TOO_LONG else "killed"


if __name__ == "__main__":
    sys.exit(main())
