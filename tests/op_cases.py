"""Sample calls for every op, and a small interpreter that runs the Core of rules with NumPy.

A case is (operands, attrs) as the op's `domain` gives them; elementwise ops without one get cases
from the words of their `where`. A Python float among the operands stands for a variable that holds
a Python number, a Python int for a constant.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from transformer.core.builder import Builder
from transformer.core.grammar import Block, Const, Effect, Function, If, Let, Loop, Var, type_of
from transformer.core.guards import Assumptions
from transformer.core.sizes import Dim, Size, Unknown, replaced
from transformer.core.types import ArrayType, type_of_number
from transformer.core.walk import all_statements
from transformer.ops.base import Op
from transformer.ops.value import NUMBERS, Value, emit

Operands = tuple[Any, ...]
Case = tuple[Operands, dict[str, Any]]


# -- numbers on which an op is defined, and smooth in a neighbourhood ---------------------------


def _real(rng: np.random.Generator, shape: Any) -> Any:
    """Both signs; no halves and no whole numbers near, and no two alike."""
    size = rng.integers(0, 3, shape) + rng.uniform(0.1, 0.4, shape)
    return rng.choice([-1.0, 1.0], shape) * size


def _nonzero(rng: np.random.Generator, shape: Any) -> Any:
    return rng.choice([-1.0, 1.0], shape) * rng.uniform(0.6, 2.0, shape)


DRAWS: dict[str, Callable[[np.random.Generator, Any], Any]] = {
    "real": _real,
    "any": _real,
    "nonzero": _nonzero,
    "positive": lambda rng, shape: rng.uniform(0.3, 2.5, shape),
    "unit": lambda rng, shape: rng.uniform(-0.8, 0.8, shape),
    "probability": lambda rng, shape: rng.uniform(0.1, 0.9, shape),
    "above one": lambda rng, shape: rng.uniform(1.2, 3.0, shape),
    "low": lambda rng, shape: rng.uniform(-1.0, -0.5, shape),
    "high": lambda rng, shape: rng.uniform(0.5, 1.0, shape),
    "truth": lambda rng, shape: rng.integers(0, 2, shape).astype(bool)[()],
    "integer": lambda rng, shape: rng.integers(0, 6, shape)[()],
    "order": lambda rng, shape: 1,
    "degree": lambda rng, shape: 3,
    "above three": lambda rng, shape: rng.uniform(3.2, 5.0, shape),
}
SHAPES = {
    1: [((3, 4),), ((),)],
    2: [((3, 1), (4,)), ((), (2, 3)), ((2, 3), (2, 3)), ((), ())],
    3: [((2, 3), (3,), ()), ((2, 1), (1, 3), (2, 3))],
    4: [((), (), (), (3,)), ((2, 1), (1, 3), (3,), (2, 3))],
}


def cases(op: type[Op], rng: np.random.Generator) -> list[Case]:
    """Sample calls of an op."""
    return op.domain(rng) if op.domain is not None else elementwise_cases(op, rng)


def words_of(op: Any) -> tuple[str, ...]:
    """What each operand of an elementwise op is drawn from."""
    words = op.where
    return (words,) * len(op.operands) if isinstance(words, str) else words


def elementwise_cases(op: Any, rng: np.random.Generator) -> list[Case]:
    """Arrays that broadcast, scalars, and Python numbers."""
    words = words_of(op)
    shapes = SHAPES[len(words)]
    result = [tuple(DRAWS[w](rng, s) for w, s in zip(words, row)) for row in shapes]
    numbers = tuple(_python(DRAWS[word](rng, ())) for word in words)
    mixed = (numbers[0], *(DRAWS[word](rng, (3,)) for word in words[1:]))
    return [(operands, {}) for operands in [*result, numbers, mixed]]


def _python(number: Any) -> Any:
    """A Python float for a floating number; truth values and integers stay NumPy's."""
    return float(number) if isinstance(number, (float, np.floating)) else number


def in_dtype(operands: Operands, dtype: Any, rng: np.random.Generator) -> Operands:
    """The floating operands in another dtype; complex ones get an imaginary part."""
    def convert(x: Any) -> Any:
        if np.asarray(x).dtype.kind != "f" or type(x) is float:
            return x
        shift = 1j * rng.uniform(0.1, 0.3, np.shape(x)) if np.dtype(dtype).kind == "c" else 0
        return np.asarray(x + shift).astype(dtype)[()]
    return tuple(map(convert, operands))


# -- operands as Core, Core as numbers ----------------------------------------------------------


@dataclass
class Sample:
    """A function of one op on the operands of a case; `values` are those of its parameters."""

    function: Function
    builder: Builder
    values: list[Any]
    dims: dict[Any, int]


def sample(op: type[Op], case: Case, symbolic: bool = False) -> Sample:
    """Core of one application of `op`. `symbolic` gives axes longer than 1 a named dimension."""
    operands, attrs = case
    dims: dict[Any, int] = {}
    atoms = [_atom(x, dims if symbolic else None) for x in operands]
    builder = Builder(Assumptions(dims))
    with builder.active(), builder.nested() as body:
        results = emit(op, tuple(atoms), attrs)
    results = results if isinstance(results, tuple) else (results,)
    params = [atom for atom in atoms if isinstance(atom, Var)]
    values = [x for x, atom in zip(operands, atoms) if isinstance(atom, Var)]
    function = Function(op.name, params, body, [result.atom for result in results])
    return Sample(function, builder, values, dims)


def _atom(x: Any, dims: dict[Any, int] | None) -> Any:
    if isinstance(x, int) and not isinstance(x, bool):
        return Const(x)
    type = type_of_value(x)
    if dims is not None:
        for length in type.sizes:
            dims[Dim(f"n{len(dims)}")] = length
        names = map(Size.of, list(dims)[len(dims) - type.rank:])
        type = type.with_sizes(tuple(1 if n == 1 else d for n, d in zip(type.sizes, names)))
    return Var(type, is_parameter=True)


def type_of_value(x: Any) -> ArrayType:
    """The Core type of an array or a number."""
    return type_of_number(x) if isinstance(x, NUMBERS) else ArrayType(x.dtype, x.shape)


def evaluate(function: Function, values: Sequence[Any], dims: dict[Any, int] | None = None
             ) -> list[Any]:
    """Runs a Core function without branches with NumPy."""
    env: dict[Any, Any] = {**dict(zip(function.params, values)), **(dims or {})}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        run_block(function.body, env)
    return [resolved(result, env) for result in function.results]


def run_block(block: Block, env: dict[Any, Any]) -> None:
    """Runs the statements of a block, entering what they define."""
    for stmt in block:
        match stmt:
            case Let():
                _run_let(stmt, env)
            case Loop():
                _run_loop(stmt, env)
            case If():
                assert not resolved(stmt.cond, env), stmt            # a test of operands, which raises
            case _:
                assert isinstance(stmt, Effect) and stmt.kind == "comment", stmt


def _run_let(stmt: Let, env: dict[Any, Any]) -> None:
    attrs = {key: resolved(item, env) for key, item in stmt.attrs.items() if key != "spelling"}
    operands = [resolved(atom, env) for atom in stmt.args]
    result = _runner(stmt)(*operands, **attrs)
    results = result if isinstance(result, tuple) else (result,)
    for target, item in zip(stmt.targets, results):
        check(item, target, env)
        env[target] = item


def _run_loop(stmt: Loop, env: dict[Any, Any]) -> None:
    """Counted loops, which are the only ones in rules."""
    trips = resolved(stmt.trips, env)
    values = [resolved(carry.init, env) for carry in stmt.carries]
    records: list[list[Any]] = [[None] * trips for _ in stmt.records]
    for position in reversed(range(trips)) if stmt.down else range(trips):
        env[stmt.position] = position
        env.update({read.target: resolved(read.source, env)[position] for read in stmt.reads})
        env.update({carry.entry: value for carry, value in zip(stmt.carries, values)})
        run_block(stmt.body, env)
        values = [resolved(carry.next, env) for carry in stmt.carries]
        for row, record in zip(records, stmt.records):
            row[position] = resolved(record.value, env)
    env.update({carry.out: value for carry, value in zip(stmt.carries, values)})
    env.update({record.target: row for row, record in zip(records, stmt.records)})


def _runner(stmt: Let) -> Callable[..., Any]:
    spelling = stmt.attrs.get("spelling") or ""
    return getattr(math, spelling[5:]) if spelling.startswith("math.") else stmt.op.run


def check(item: Any, target: Var, env: dict[Any, Any]) -> None:
    """The shape that Core says is the one there is; the dtype as well, but for Python numbers."""
    type = target.type
    assert isinstance(type, ArrayType)
    assert np.shape(item) == resolved(type.sizes, env), f"{type} for shape {np.shape(item)}"
    if not type.weak:
        assert np.asarray(item).dtype == type.dtype, f"{type} for {np.asarray(item).dtype}"


def resolved(item: Any, env: dict[Any, Any]) -> Any:
    """An atom or attribute as the number, array, tuple … that it is."""
    if isinstance(item, Const):
        return item.value
    if isinstance(item, Var):
        return env[item]
    if isinstance(item, Size):
        return replaced(item, lambda a: int(env[a.var if isinstance(a, Unknown) else a])
                        if isinstance(a, (Dim, Unknown)) else None)
    if isinstance(item, tuple | list):
        return type(item)(resolved(part, env) for part in item)
    if isinstance(item, slice):
        return slice(*(resolved(part, env) for part in (item.start, item.stop, item.step)))
    return item


# -- tangents -----------------------------------------------------------------------------------


def tangents(values: Sequence[Any], active: Sequence[bool], rng: np.random.Generator) -> list[Any]:
    """Random directions for the active values, complex for complex ones."""
    return [direction(x, rng) for x, on in zip(values, active) if on]


def direction(x: Any, rng: np.random.Generator) -> Any:
    """A random array of the shape and dtype of `x`; a Python number for one."""
    kind = np.asarray(x).dtype
    step = rng.standard_normal(np.shape(x))
    if kind.kind == "c":
        step = step + 1j * rng.standard_normal(np.shape(x))
    return type(x)(step) if isinstance(x, (float, complex)) else np.asarray(step, kind)[()]


def differences(function: Callable[..., list[Any]], values: list[Any], active: Sequence[bool],
                steps: list[Any], length: float = 1e-5) -> list[Any]:
    """Central differences of a function's results along the direction `steps`."""
    def moved(sign: float) -> list[Any]:
        rest = iter(steps)
        return [x + sign * length * next(rest) if on else x for x, on in zip(values, active)]
    above, below = function(*moved(1.0)), function(*moved(-1.0))
    return [(np.asarray(a) - np.asarray(b)) / (2 * length) for a, b in zip(above, below)]


def inner(left: Sequence[Any], right: Sequence[Any]) -> float:
    """`Re(sum(left * right))`: a cotangent against a tangent."""
    return float(sum(np.real(np.sum(np.asarray(a) * np.asarray(b))) for a, b in zip(left, right)))


def subsets(count: int) -> Iterator[tuple[bool, ...]]:
    """Every choice of some of `count` things, but none."""
    for bits in range(1, 2 ** count):
        yield tuple(bool(bits >> k & 1) for k in range(count))


def batched(op: type[Op], stacked: Operands, lead: Sequence[bool], attrs: dict[str, Any]) -> Sample:
    """Core of the batching rule of `op`."""
    atoms = [_atom(x, None) for x in stacked]
    builder = Builder(Assumptions())
    with builder.active(), builder.nested() as body:
        results = op.batch(tuple(lead), *map(Value, atoms), **attrs)
    results = results if isinstance(results, tuple) else (results,)
    params = [atom for atom in atoms if isinstance(atom, Var)]
    values = [x for x, atom in zip(stacked, atoms) if isinstance(atom, Var)]
    return Sample(Function(op.name, params, body, [r.atom for r in results]), builder, values, {})


def statements(block: Block) -> Iterator[Let]:
    """The applications of ops in a block and in its loops."""
    return (stmt for stmt in all_statements(block) if isinstance(stmt, Let))


def types_of(function: Function) -> list[Any]:
    """The types of a function's results."""
    return [type_of(result) for result in function.results]
