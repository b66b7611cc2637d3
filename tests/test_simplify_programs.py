"""Simplification of whole programs and their derivatives: the numbers stay, what is idle goes.

Of every program of the corpus: `TRANSFORMER_TEST_ALL=1 pytest tests/test_simplify_programs.py`.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from core_runner import run
from corpus import ALL, Program
from random_core import Generator
from thinned import some

from transformer import tree
from transformer.core.builder import Builder
from transformer.core.check import CoreError, check
from transformer.core.grammar import Atom, Call, Const, Function, Let, Var, type_of
from transformer.core.guards import Assumptions
from transformer.core.text import parse, text
from transformer.core.types import ArrayType
from transformer.core.walk import Copier, all_statements, reachable
from transformer.ops.regions import Slot
from transformer.ops.ruled import Ruled
from transformer.ops.saved import Layout
from transformer.ops.table import ops
from transformer.ops.value import Value
from transformer.read.interface import AxislessType
from transformer.read.raising.demand import Demand
from transformer.read.readings import Reading, read
from transformer.read.values import Hole
from transformer.run.signature import describe
from transformer.simplify import simplify
from transformer.simplify.dead import Before
from transformer.transform.forward import jvp
from transformer.transform.reverse.reverse import reverse

OPS = {**ops(), Ruled.name: Ruled}
CLASSES = {"Slot": Slot, "Hole": Hole, "Layout": Layout}
pytestmark = pytest.mark.filterwarnings("ignore")

EXAMPLES = [program for program in ALL if "expected" not in program.tags]


def copied(function: Function) -> Function:
    """A function with statements and variables of its own, and so are those that it calls; the parameters
    are the same."""
    copies = {each: Function(each.name, list(each.params), [], [], dict(each.dims), each.guards, each.origin, each.role)
              for each in reachable(function)}
    for each, copy in copies.items():
        copier = Copier()
        copy.body = copier.block(each.body)
        copy.results = list(copier.args(each.results))
        for stmt in all_statements(copy.body):
            if isinstance(stmt, Call):
                stmt.function = copies[stmt.function]
    return copies[function]


def is_linear(function: Function, assumptions: Assumptions) -> bool:
    try:
        check(function, assumptions=assumptions, linear=True)
    except CoreError:
        return False
    return True


def simplified(function: Function, assumptions: Assumptions, arguments: list[Any], tolerance: float
               ) -> Function:
    """The simplified function, which gives the same numbers and keeps every rule of Core."""
    check(function, assumptions=assumptions)
    before = run(function, *arguments)
    simple = simplify(copied(function), assumptions)
    check(simple, assumptions=assumptions, linear=is_linear(function, assumptions))
    printed = text(simple)
    assert text(parse(printed, OPS, CLASSES)) == printed
    assert_same(before, run(simple, *arguments), tolerance)
    assert not idle(simple), printed
    return simple


def assert_same(before: list[Any], after: list[Any], tolerance: float) -> None:
    for old, new in zip(before, after, strict=True):
        if isinstance(old, (list, type(None))):
            continue
        if np.ndim(old):
            assert np.asarray(old).dtype == np.asarray(new).dtype
        scale = np.max(np.abs(old), initial=1.0, where=np.isfinite(old))
        np.testing.assert_allclose(new, old, rtol=tolerance, atol=tolerance * scale)


def idle(function: Function) -> list[Let]:
    """Statements that a reader would delete."""
    lets = [stmt for stmt in all_statements(function.body) if isinstance(stmt, Let)]
    return [stmt for stmt in lets if _is_idle(stmt)]


def _is_idle(stmt: Let) -> bool:
    numbers = [atom.value if isinstance(atom, Const) and atom.name is None else None
               for atom in stmt.args]
    match stmt.op.name:
        case "multiply":
            return 1 in numbers and not any(
                isinstance(number, bool) for number in numbers) and _keeps_type(stmt)
        case "divide":
            return numbers[1] == 1 and _keeps_type(stmt)
        case "add":                                          # -0.0 + 0.0 is 0.0
            return numbers[1] == 0 and _keeps_type(stmt) and not stmt.target.type.is_inexact
        case "subtract":
            return numbers[1] == 0 and _keeps_type(stmt)
        case "reshape" | "broadcast_to":
            return _keeps_type(stmt)
    return stmt.op.name == "same"


def _keeps_type(stmt: Let) -> bool:
    return any(type_of(atom) == stmt.target.type for atom in stmt.args if isinstance(atom, Var))


# -- corpus ----------------------------------------------------------------------------------------

def reading_of(program: Program) -> tuple[Reading, list[Any]]:
    """A program as read for its first example, and the leaves of that example."""
    arguments = program.example(np.random.default_rng(0))
    names = list(inspect.signature(program.function).parameters)
    names += [f"argument{k}" for k in range(len(arguments))]
    static: set[str] = set()
    while True:
        described = describe(arguments, {}, names[:len(arguments)], static)
        try:
            reading = read(program.function, described.args, described.kwargs,
                           hints=described.hints, smallest=2)
        except Demand as demand:
            static |= set(demand.paths)
            continue
        return reading, list(_dynamic(arguments, described.args, reading))


def _dynamic(arguments: Any, described: Any, reading: Reading) -> Iterator[Any]:
    for leaf, type in zip(tree.leaves(arguments), tree.leaves(described), strict=True):
        if isinstance(type, ArrayType | AxislessType):
            yield leaf
    for hidden in reading.interface.hidden:
        yield hidden.fetch()


def scalar_result(function: Function) -> int | None:
    """Which result can be differentiated."""
    for k, atom in enumerate(function.results):
        type = type_of(atom)
        if isinstance(type, ArrayType) and not type.sizes and type.dtype.kind == "f":
            return k
    return None


def gradient(function: Function, assumptions: Assumptions) -> Function | None:
    """The gradient of a scalar result with respect to all parameters."""
    scalar = scalar_result(function)
    if scalar is None:
        return None
    seeds: list[Atom | None] = [Const(1.0) if k == scalar else None
                                for k in range(len(function.results))]
    active = [param.type.is_inexact for param in function.params]
    with assumptions.consistent():
        new = reverse(copied(function), active, seeds, Builder(assumptions))
    new.results = new.results[len(seeds):]
    return new


def squared(function: Function, assumptions: Assumptions) -> Function:
    """The sum of the squares of all results, which gives a gradient something to differentiate."""
    builder = Builder(assumptions)
    with builder.active(), builder.nested() as more:
        values = [Value(atom) for atom in function.results]
        terms = [np.sum(value * value) if value.ndim else value * value for value in values]
        total = sum(terms[1:], terms[0])
    return Function(function.name, function.params, [*function.body, *more], [total.atom],
                    function.dims, function.guards)


def tolerance_of(program: Program) -> float:
    return 1e-3 if "f32" in program.tags else 1e-9


def each(programs: list[Program]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("program", programs, ids=lambda program: program.name)


@each(some(EXAMPLES, 12))
def test_programs_and_their_gradients(program: Program) -> None:
    reading, arguments = reading_of(program)
    assumptions, tolerance = reading.assumptions, tolerance_of(program)
    function = simplified(reading.function, assumptions, arguments, tolerance)
    slope = gradient(function, assumptions)
    if slope is not None and slope.results:
        simplified(slope, assumptions, arguments, tolerance)


@each(some(EXAMPLES, 16, 1))
def test_second_derivatives(program: Program) -> None:
    reading, arguments = reading_of(program)
    assumptions, tolerance = reading.assumptions, tolerance_of(program)
    slope = gradient(simplify(reading.function, assumptions), assumptions)
    if slope is None or not slope.results:
        pytest.skip("there is nothing to differentiate")
    slope = squared(simplify(slope, assumptions), assumptions)
    curvature = gradient(slope, assumptions)
    assert curvature is not None
    simplified(curvature, assumptions, arguments, 100 * tolerance)


@each(some(EXAMPLES, 24, 2))
def test_tangents(program: Program) -> None:
    reading, arguments = reading_of(program)
    assumptions = reading.assumptions
    active = [param.type.is_inexact for param in reading.function.params]
    moving = [arg for arg, on in zip(arguments, active, strict=True) if on]
    with assumptions.consistent():
        tangent = jvp(simplify(reading.function, assumptions), active, Builder(assumptions))
    simplified(tangent, assumptions, [*arguments, *moving], tolerance_of(program))


# -- random programs -------------------------------------------------------------------------------

@pytest.mark.parametrize("seed", range(60))
def test_random_programs(seed: int) -> None:
    """Arrays written while views and older versions of them are alive."""
    rng = np.random.default_rng(seed)
    arguments = [rng.normal(size=6), rng.normal(size=(2, 3)), rng.normal(size=6), 0.7, 3]
    simplified(Generator(seed).function(), Assumptions(), arguments, 1e-9)


# -- ideal outcomes -------------------------------------------------------------------------------

def gradient_text(function: Any, arguments: list[Any], order: int = 1) -> str:
    """The body of the gradient (of the gradient, …) of a function for all parameters."""
    names = list(inspect.signature(function).parameters)
    described = describe(tuple(arguments), {}, names)
    reading = read(function, described.args, {}, hints=described.hints, smallest=2)
    result = simplify(reading.function, reading.assumptions)
    for _ in range(order):
        slope = gradient(result, reading.assumptions)
        assert slope is not None
        result = simplify(slope, reading.assumptions, Before.SOURCE)
    lines = text(result).splitlines()[1:]
    return "\n".join(line[4:] for line in lines if not line.startswith(("    dim", "    guard")))


def test_a_layer() -> None:
    def loss(w, b, x, y):
        return np.sum((np.tanh(x * w + b) - y) ** 2)

    matrix, row = np.ones((3, 2)), np.ones(2)
    printed = gradient_text(loss, [row, row, matrix, matrix])
    generated = printed.split("effect comment(text='reverse')\n")[1]
    values = [line.split(" = ")[1] for line in generated.splitlines()[:-1]]
    assert values == [
        "multiply(2, t_3)", "negative(t_4)", "multiply(t_2, t_2)", "subtract(1, t_5)",
        "multiply(t_4, t_6)", "sum(t_7, axis=0, spelling='np.sum')",
        "multiply(t_7, x)", "sum(t_8, axis=0, spelling='np.sum')", "multiply(t_7, w)"]


def test_a_polynomial_to_the_third_order() -> None:
    def polynomial(x):
        return 3 * x ** 5 - 2 * x ** 3 + x

    assert gradient_text(polynomial, [1.0], order=3) == (
        "effect comment(text='reverse')\nt: float = power(x, 2)\nt_1: float = multiply(180, t)\n"
        "x_bar: float = subtract(t_1, 12)\nreturn x_bar")


def test_a_stencil_stores_one_record_and_updates_in_place() -> None:
    def heat(u0, c, n, target):
        u = u0.copy()
        for _ in range(n):
            u[1:-1] += c * (u[2:] - 2 * u[1:-1] + u[:-2])
        return np.sum((u - target) ** 2)

    printed = gradient_text(heat, [np.ones(5), 0.1, 3, np.ones(5)])
    assert printed.count("record") == 1
    generated = printed.split("effect comment(text='reverse')\n")[1]
    assert generated.count(" = zeros(") == 0
    assert generated.count(" = addat(") == 3
