"""`try`: read where it is known whether something inside raises what it catches.

The body is read as it stands. If one of its statements may raise, when the program runs, something that a
handler catches, the `try` is refused: what comes afterwards would depend on it. The handlers are not read, but
for one that catches what reading itself has come to: a key or an attribute that is not there, in any call. What the
program itself raises in it with `raise` is no jump any more by then (`desugar/raises.py`).
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import gast
import numpy as np

from ..core.errors import NotSupported, TransformError
from ..core.grammar import Block, Effect, Let, type_of
from ..core.sizes import Unknown, leaves
from ..core.types import ArrayType
from ..core.walk import all_statements
from ..ops.regions import is_mask
from .assignment import bind
from .kinds import python_type
from .values import ExceptionValue

if TYPE_CHECKING:
    from .reader import Reader

SOLVERS = ("factorizations", "linear_algebra")  # families whose functions raise LinAlgError
HARMLESS = frozenset({"add", "subtract", "multiply", "negative", "less", "less_equal", "greater", "greater_equal",
                      "equal", "not_equal", "logical_and", "logical_or", "logical_not", "where"})
MISSING = (KeyError, NameError, AttributeError)  # of what got a value on some paths only
ARITHMETIC = (ZeroDivisionError, OverflowError, ValueError)


def read_try(reader: Reader, node: Any) -> None:
    """Reads `try` as if nothing were raised in it; refused where a handler could catch something."""
    if getattr(node, "raised", None) is not None:
        _read_raised(reader, node)
        return
    caught = [kind for handler in node.handlers for kind in _kinds(reader, handler)]
    block, start = reader.builder.block, len(reader.builder.block)
    try:
        reader.execute(node.body)
    except TransformError as error:
        handler = next((each for each in node.handlers if isinstance(error, _kinds(reader, each))), None)
        if handler is None or isinstance(error, NotSupported):
            raise
        if not _is_certain(reader, error):
            raise _refusal(reader, str(error.message)) from None
        _check_nothing_else(reader, block[start:], caught)
        _handle(reader, handler, error)
    else:
        _check_nothing_else(reader, block[start:], caught)
        reader.execute(node.orelse)
    reader.execute(node.finalbody)


def _read_raised(reader: Reader, node: Any) -> None:
    """Reads a `try` that raises, and nothing else: the class of the exception chooses what is read of it."""
    found = node.raised.exc
    raised = reader.evaluate(found.func if isinstance(found, gast.Call) else found)
    if not isinstance(raised, type):                      # an object, or what a function makes
        raised = reader.evaluate(found)
    kind = raised if isinstance(raised, type) else python_type(raised)
    handler = next((each for each in node.handlers if issubclass(kind, _kinds(reader, each))), None)
    if handler is None:
        reader.execute([node.raised])
    else:
        error = None if handler.name is None else reader.evaluate(found)
        _handle(reader, handler, ExceptionValue(error, ()) if isinstance(error, type) else error)


def _is_certain(reader: Reader, error: TransformError) -> bool:
    """Whether every call comes to an error: not on one path only, nor in one iteration."""
    return isinstance(error, (KeyError, AttributeError)) and not error.on_a_path and not reader.loops


def _handle(reader: Reader, handler: Any, error: Any) -> None:
    if handler.name is not None:
        bind(reader, handler.name, getattr(error, "__cause__", None) or error)
    reader.execute(handler.body)


def _check_nothing_else(reader: Reader, block: Block, caught: list[type[BaseException]]) -> None:
    """Refuses what a handler may catch when the program runs."""
    for kind in caught:
        raised = next((found for found in _raised(reader, block) if _meet(found, kind)), None)
        if raised is not None:
            article = "an" if raised.__name__[0] in "AEIOU" else "a"
            raise _refusal(reader, f"{article} {raised.__name__} may be raised in it")


def what_may_be_raised(reader: Reader, block: Block) -> type[BaseException] | None:
    """An exception that the statements of a block may raise when the program runs, if there is any."""
    return next(_raised(reader, block), None)


def _kinds(reader: Reader, handler: Any) -> tuple[type[BaseException], ...]:
    """What a handler catches."""
    found = BaseException if handler.type is None else reader.evaluate(handler.type)
    return found if isinstance(found, tuple) else (found,)


def _meet(raised: type[BaseException], kind: type[BaseException]) -> bool:
    return issubclass(raised, kind) or issubclass(kind, raised)


def _refusal(reader: Reader, why: str) -> NotSupported:
    return NotSupported(
        "`try` with an exception that is caught",
        reader.builder.origin,
        why=f"{why[:1].upper()}{why[1:]}." if why else None,
        instead="Write what should happen when no exception is raised, and check before.",
    )


def _raised(reader: Reader, block: Block) -> Iterator[type[BaseException]]:
    """What the statements of a block may raise when the program runs; rather too much than too little."""
    for stmt in all_statements(block):
        if isinstance(stmt, Let):
            yield from _raised_by(stmt)
            yield from MISSING if any(atom in reader.partial for atom in stmt.args) else ()
        elif isinstance(stmt, Effect):
            yield from _raised_by_effect(stmt)
        elif hasattr(stmt, "function"):
            yield BaseException


def _raised_by_effect(stmt: Effect) -> Iterator[type[BaseException]]:
    if stmt.kind == "raise":
        kind = stmt.attrs.get("exception")
        yield kind if isinstance(kind, type) else BaseException
    elif stmt.kind == "assert":
        yield AssertionError
    elif stmt.kind != "print":
        yield BaseException


def _raised_by(stmt: Let) -> Iterator[type[BaseException]]:
    home = stmt.op.__module__
    types = [type_of(atom) for atom in (*stmt.args, *stmt.targets)]
    if not home.startswith("transformer.ops."):
        yield BaseException
    if home.endswith(SOLVERS):
        yield np.linalg.LinAlgError
    if _is_of_python(stmt):
        yield from ARITHMETIC
    if stmt.op.name in ("get", "put", "addat", "take_along_axis") and _looks_up(stmt):
        yield IndexError
    sizes = [size for type in types if isinstance(type, ArrayType) for size in type.sizes]
    if any(isinstance(leaf, Unknown) for size in sizes for leaf in leaves(size)):
        yield ValueError


def _is_of_python(stmt: Let) -> bool:
    """Whether Python or `math` computes with numbers here, and may refuse some of them; NumPy never does."""
    spelling = stmt.attrs.get("spelling") or ""
    types: list[Any] = [type_of(atom) for atom in stmt.args]
    if stmt.op.name == "cast":                             # int(nan), int(inf)
        return types[0].is_inexact and not stmt.targets[0].type.is_inexact
    if spelling.startswith("math.") or hasattr(builtins, spelling):
        return True
    if spelling.startswith(("np.", "scipy.")):
        return False
    return stmt.op.name not in HARMLESS and all(isinstance(type, ArrayType) and type.weak for type in types)


def _looks_up(stmt: Let) -> bool:
    """Whether an index has positions that are computed."""
    slots = stmt.args[1:] if stmt.op.name == "get" else stmt.args[2:]
    return any(not is_mask(type_of(slot)) for slot in slots)


STATEMENTS = {gast.Try: read_try}
