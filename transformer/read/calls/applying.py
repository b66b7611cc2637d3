"""Applying an op to what the user wrote as its arguments, and what NumPy would share of them.

An op that gives a view in NumPy gives a `View` here, so that writes are seen on both sides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import BadArgument, NotSupported, ShapeError
from ...core.grammar import Const, Let, type_of
from ...core.halves import NumpyNumber
from ...core.types import type_of_number
from ...ops import value as values
from ...ops.arguments import NotKnown
from ...ops.arithmetic import converted
from ...ops.table import lookup
from ...ops.value import Value, emit
from ..branches.mixed import check_items, check_truths, check_widths
from ..branches.or_none import needed
from ..branches.testing import fitting
from ..contiguity import note_order, shares_memory
from ..lists.recorded import RecordedList, Recording
from ..raising.blame import as_numpy_raises
from ..raising.demand import need
from ..raising.errors import UNKNOWN_ARGUMENT, as_user_error
from ..rank_zero import as_array, gives_array
from ..values import UNKNOWN, Axisless, Conflict, DynamicRange, Lazy, OrNone, View, is_array, is_axisless, known_of

if TYPE_CHECKING:
    from ..reader import Reader


def apply_op(reader: Reader, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a function that has an op gives."""
    found = lookup(function)
    assert found is not None
    op, spelling = found
    try:
        result = apply_found(reader, op, args, kwargs, spelling)
    except (NotSupported, BadArgument, ShapeError) as error:
        raise as_numpy_raises(reader, error, function, args, kwargs) from None
    result = settle(reader, function, args, kwargs, result)
    note_order(reader, function, args, kwargs, result)
    return as_array(result) if function in AS_ARRAY and isinstance(result, Value) and not result.ndim else result


AS_ARRAY = (np.asarray, np.asanyarray)


def apply_found(reader: Reader, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], spelling: str | None) -> Any:
    """Applies an op; its results are views where they share memory with its first operand."""
    args = tuple(prepared(reader, arg) for arg in args)
    kwargs = {key: prepared(reader, arg) for key, arg in kwargs.items()}
    check_truths(reader, op, args, spelling)
    check_widths(reader, op, args)
    check_items(reader, op, args)
    with as_user_error(reader):
        try:
            result = fitting(reader, lambda: values.apply(op, args, kwargs, spelling), (args, kwargs))
        except NotKnown as error:
            return need(reader, error.value, error.message.removesuffix(UNKNOWN_ARGUMENT), error.instead)
    given = [arg for arg in (*args, *kwargs.values()) if is_array(arg)]
    return shared(reader, result, given)


def shared(reader: Reader, result: Any, given: list[Value]) -> Any:
    """A result of an op with the memory it shares with the arrays given."""
    if isinstance(result, (tuple, list)):
        return type(result)(shared(reader, item, given) for item in result)
    if not isinstance(result, Value) or any(result is array for array in given):
        return result
    if not result.ndim:
        stmt = reader.builder.numbering.definitions.get(result.atom)  # type: ignore[arg-type]
        if stmt is None or result.type.weak or not gives_array(stmt, given):
            return result
        result = as_array(result)
    return viewed(reader, result, given) if given else result


def viewed(reader: Reader, result: Value, given: list[Value]) -> Value:
    """The result as a view of one of the arrays given, where a chain of views leads to it."""
    chain: list[Let] = []
    atom: Any = result.atom
    while True:
        base = next((array for array in given if array.atom is atom), None)
        if base is not None:
            break
        stmt = reader.builder.numbering.definitions.get(atom)
        if stmt is None or not stmt.args or not is_view(stmt):
            return result
        chain.append(stmt)
        atom = stmt.args[0]
    for stmt in reversed(chain):
        base = _view_of(reader, base, stmt)
    return base


def _view_of(reader: Reader, base: Value, stmt: Let) -> Value:
    """What the statement makes of the array, as a view if that is certain."""
    op, others, attrs = stmt.op, stmt.args[1:], dict(stmt.attrs)
    spelling = attrs.pop("spelling", None)
    if is_axisless(base) and not Value(stmt.target).ndim and op.makes_array is None:
        return base  # in another shape or part it is the same element
    if op.write_back is None or not shares_memory(reader, stmt, base):
        result = Value(stmt.target) if Value(stmt.target).ndim else Axisless(stmt.target)
        why = op.unwritten if op.write_back is None else UNCERTAIN
        reader.aliases.derive(result, (base,), why)
        return result

    def extract(whole: Value) -> Value:
        return emit(op, (whole.atom, *others), attrs, spelling)

    def insert(whole: Value, part: Value) -> Value:
        made = op.write_back(whole, part, *map(Value, others), **attrs)
        return converted(made, whole.dtype) if made.type.weak and is_axisless(base) else made

    return View(base, extract, insert, reader.journal, stmt.target, by_elements=op.elementwise)


UNCERTAIN = "Whether this is a view or a copy depends on the layout of the array."


def is_view(stmt: Let) -> bool:
    """Whether NumPy gives a view of the first operand."""
    view = stmt.op.view
    if not callable(view):
        return bool(view)
    attrs = {key: value for key, value in stmt.attrs.items() if key != "spelling"}
    return bool(view(*map(type_of, stmt.args), **attrs))


def settle(
    reader: Reader, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], result: Any
) -> Any:
    """Notes what a scalar result is known to be; integers and truth values become static."""
    if not isinstance(result, Value) or result.ndim or result.known is not None:
        return result
    number = _computed(function, args, kwargs)
    if number is UNKNOWN:
        return result
    if isinstance(number, (bool, int, np.bool_, np.integer)):
        _drop(reader, result)
        return number
    if isinstance(result.atom, Const):
        return Value(result.atom, known=number)
    if type_of_number(number) != result.type:
        _drop(reader, result)
        return number
    result.known = number
    return result


def _computed(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a function of known numbers gives, or UNKNOWN."""
    known = [known_of(arg) for arg in (*args, *kwargs.values())]
    if not known or not all(isinstance(arg, PLAIN) and arg is not UNKNOWN for arg in known):
        return UNKNOWN
    try:
        with np.errstate(all="ignore"):
            number = function(*known[: len(args)], **dict(zip(kwargs, known[len(args) :])))
    except (ArithmeticError, ValueError, TypeError):
        return UNKNOWN
    return number if isinstance(number, NUMBERS) else UNKNOWN


NUMBERS = (bool, int, float, complex, NumpyNumber)
PLAIN = (*NUMBERS, str, type(None), type, np.dtype)


def _drop(reader: Reader, result: Value) -> None:
    """Takes back the statements that computed a number that is known."""
    block = reader.builder.block
    if block and isinstance(block[-1], Let) and block[-1].targets == (result.atom,):
        block.pop()


def prepared(reader: Reader, argument: Any) -> Any:
    """An argument as ops take it: lists of recorded values become arrays, arrays from outside values."""
    if isinstance(argument, Value):
        return argument
    if isinstance(argument, RecordedList):
        return argument.array(reader)
    if isinstance(argument, Recording):
        raise argument.cannot_change(reader, "an array of a list that the loop appends to")
    if isinstance(argument, OrNone):
        return prepared(reader, needed(reader, argument))
    if isinstance(argument, (np.ndarray, Conflict)):
        return reader.usable(argument)
    if isinstance(argument, (DynamicRange, range)):
        return _arange(reader, argument)
    if isinstance(argument, Lazy):
        from ..loops.comprehensions import collected

        return prepared(reader, collected(reader, argument))
    if type(argument) in (list, tuple):
        return type(argument)(prepared(reader, item) for item in argument)
    if isinstance(argument, slice):
        return slice(*(prepared(reader, part) for part in (argument.start, argument.stop, argument.step)))
    return argument


def _arange(reader: Reader, argument: Any) -> Value:
    result = apply_op(reader, np.arange, (argument.start, argument.stop, argument.step), {})
    assert isinstance(result, Value)
    return result


def emit_named(name: str, operands: tuple[Any, ...], spelling: str) -> Value:
    """An op by its name and with its own spelling, such as `and`."""
    from ...ops.table import ops

    result = emit(ops()[name], tuple(map(values.atom, operands)), {}, spelling)
    assert isinstance(result, Value)
    return result
