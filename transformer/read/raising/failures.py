"""What statements may raise when the program runs, and under which conditions, where a test can tell."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...core.grammar import Atom, Block, Effect, Let, Loop, Stmt, Var, type_of
from ...core.sizes import Unknown, leaves
from ...core.types import ArrayType
from ...core.walk import all_statements, size_of_atom
from ...ops.arithmetic import converted
from ...ops.elements import number
from ...ops.factorizations import is_positive_definite
from ...ops.identity import stop_gradient
from ...ops.python_errors import (
    DIVISIONS,
    TESTED,
    both,
    is_pythons,
    may_raise,
    refused,
    refused_by_math,
    spelled_by_math,
)
from ...ops.regions import Slot, entries, is_mask, slots_of
from ...ops.value import Value, call
from ..branches.journal import Name
from .texts import formatted, text_of

if TYPE_CHECKING:
    from ..reader import Reader

SOLVERS = ("factorizations", "linear_algebra")  # families whose functions raise LinAlgError
MISSING = (KeyError, NameError, AttributeError)  # of what got a value on some paths only
INDEXED = frozenset({"get", "put", "addat", "take_along_axis"})
Kinds = tuple[type[BaseException], ...]
Conditions = Callable[[], Iterator[tuple[Any, BaseException]]]


class Failure(NamedTuple):
    """A class of exceptions, and what emits the conditions under which they are raised; None where nothing tells."""

    kind: type[BaseException]
    conditions: Conditions | None = None


def all_failures(reader: Reader, block: Block) -> Iterator[Failure]:
    """What the statements of a block may raise when the program runs; rather too much than too little."""
    if reader.catching.of_floats and any(isinstance(stmt, Let) for stmt in all_statements(block)):
        yield Failure(FloatingPointError)
    trips = {stmt.position: stmt.trips for stmt in all_statements(block) if isinstance(stmt, Loop)}
    for stmt in all_statements(block):
        tested, inside = reader.catching.tested.get(stmt, ()), _is_inside(reader, stmt, trips)
        for failure in failures(reader, stmt):
            if not meet(failure.kind, tested) and not (inside and failure.kind is IndexError):
                yield failure


def meet(raised: type[BaseException], kinds: Kinds) -> bool:
    """Whether what is raised may be caught."""
    return any(issubclass(raised, kind) or issubclass(kind, raised) for kind in kinds)


def _is_inside(reader: Reader, stmt: Stmt, trips: dict[Var, Atom | None]) -> bool:
    """Whether all places are positions of loops with an iteration for each place, or for fewer."""
    if not isinstance(stmt, Let) or stmt.op.name not in ("get", "put", "addat"):
        return False
    shape: Any = Value(stmt.args[0]).shape
    slots: Any = slots_of(stmt)
    for entry, axis, count in entries(stmt.attrs["index"], tuple(map(Value, slots))):
        if isinstance(entry, Slot) and count:
            last = trips.get(slots[entry.k])
            if last is None or not reader.assumptions.certainly_at_least(shape[axis], size_of_atom(last)):
                return False
    return True


def failures(reader: Reader, stmt: Stmt) -> Iterator[Failure]:
    """What a statement may raise by itself."""
    if isinstance(stmt, Let):
        yield from _of_op(stmt)
        for atom in stmt.args:
            if atom in reader.partial:
                yield from map(Failure, _of_missing(reader.partial[atom]))       # type: ignore[index]
    elif isinstance(stmt, Effect):
        yield from _of_effect(stmt)
    elif hasattr(stmt, "function"):
        yield Failure(BaseException)


def _of_missing(key: Any) -> tuple[type[Exception], ...]:
    """What is raised where a place holds nothing, of which this is the key."""
    place = key[0] if isinstance(key, tuple) and key else None
    return (NameError,) if isinstance(place, tuple) and place[1:2] == (Name.__name__,) else MISSING


def _of_effect(stmt: Effect) -> Iterator[Failure]:
    if stmt.kind == "raise":
        kind = stmt.attrs.get("exception")
        yield Failure(kind if isinstance(kind, type) else BaseException)
    elif stmt.kind == "assert":
        yield Failure(AssertionError)
    elif stmt.kind == "enter":
        if "='raise'" in stmt.attrs["context"]:
            yield Failure(FloatingPointError)
    elif stmt.kind not in ("print", "warn", "log", "exit"):
        yield Failure(BaseException)


def _of_op(stmt: Let) -> Iterator[Failure]:
    home = stmt.op.__module__
    if not home.startswith("transformer.ops."):
        yield Failure(BaseException)
    if home.endswith(SOLVERS) and stmt.op.name not in NEVER_FAILING:
        tests = UNSOLVED.get(stmt.op.name)
        yield Failure(np.linalg.LinAlgError, None if tests is None else partial(tests, stmt))
    yield from _of_numbers(stmt)
    if stmt.op.name in INDEXED and any(not is_mask(type_of(slot)) for slot in slots_of(stmt)):
        is_one = all(isinstance(slot, ArrayType) and not slot.rank for slot in map(type_of, slots_of(stmt)))
        yield Failure(IndexError, partial(_outside, stmt) if is_one and "index" in stmt.attrs else None)
    types = [type_of(atom) for atom in (*stmt.args, *stmt.targets)]
    sizes = [size for type in types if isinstance(type, ArrayType) for size in type.sizes]
    if any(isinstance(leaf, Unknown) for size in sizes for leaf in leaves(size)):
        yield Failure(ValueError)


def _singular(stmt: Let) -> Iterator[tuple[Any, BaseException]]:
    """That a matrix is exactly singular: LAPACK has met a pivot of 0, where no derivative is to be taken."""
    sign, _ = np.linalg.slogdet(call(stop_gradient, (Value(stmt.args[0]),), {}))
    yield np.any(sign == 0) if sign.ndim else sign == 0, np.linalg.LinAlgError("Singular matrix")


def _not_positive_definite(stmt: Let) -> Iterator[tuple[Any, BaseException]]:
    holds = call(is_positive_definite, (Value(stmt.args[0]),), {})
    yield np.logical_not(holds), np.linalg.LinAlgError("Matrix is not positive definite")


UNSOLVED = {"solve": _singular, "inv": _singular, "cholesky": _not_positive_definite}
NEVER_FAILING = frozenset({"is_positive_definite", "det", "slogdet"})


def _of_numbers(stmt: Let) -> Iterator[Failure]:
    """What Python or `math` raises for numbers; NumPy never does."""
    if not may_raise(stmt):
        return
    if spelled_by_math(stmt):
        tests = partial(refused_by_math, stmt) if stmt.op.name in TESTED else None
        yield from (Failure(kind, tests) for kind in (ValueError, OverflowError))
        return
    tests = partial(refused, stmt)
    if stmt.op.name in DIVISIONS:
        yield Failure(ZeroDivisionError, tests)
    elif stmt.op.name == "power":
        yield from (Failure(kind, tests) for kind in (ZeroDivisionError, ValueError))
        yield Failure(OverflowError, partial(_too_large, stmt))
    else:
        yield from (Failure(kind, tests) for kind in (ValueError, OverflowError))


def _too_large(stmt: Let) -> Iterator[tuple[Any, BaseException]]:
    """That a power of floats is too large."""
    x, y = map(Value, stmt.args)
    if is_pythons(stmt) and stmt.targets[0].type.dtype.kind == "f":      # type: ignore[union-attr]
        power = np.power(converted(x, np.dtype(float)), converted(y, np.dtype(float)))
        yield both(np.isinf(power), np.isfinite(x), np.isfinite(y)), OverflowError(34, "Numerical result out of range")


def _outside(stmt: Let) -> Iterator[tuple[Any, BaseException]]:
    """That a place is not in an array."""
    slots = tuple(map(Value, slots_of(stmt)))
    shape = Value(stmt.args[0]).shape
    for entry, axis, count in entries(stmt.attrs["index"], slots):
        if isinstance(entry, Slot) and count:
            k, size = slots[entry.k], number(shape[axis])
            text = ["index ", formatted(k), f" is out of bounds for axis {axis} with size ", formatted(size)]
            is_list = stmt.op.name == "get" and stmt.targets[0].type.weak          # type: ignore[union-attr]
            yield operator.or_(k < number(-shape[axis]), k >= size), IndexError(
                "list index out of range" if is_list else text_of(text))
