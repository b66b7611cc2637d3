"""`try`: read where it is known whether something inside raises what it catches.

The body is read as it stands. If one of its statements may raise, when the program runs, something that a handler
catches, the function is read once more, with attempts in place of such statements (`attempts.py`); what these cannot
test is refused: what comes afterwards would depend on it. The handlers are not read, but
for one that catches what reading itself has come to: a key or an attribute that is not there, in any call. What the
program itself raises in it with `raise` is no jump any more by then (`desugar/raises.py`).
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import gast

from ...core.errors import NotSupported, TransformError
from ...core.grammar import Block
from ..assignment import bind
from ..branches.branches import Unreachable
from ..branches.conditions import branch
from ..desugar.blocks import Occurred
from ..kinds import python_type
from ..operators import binary
from ..requests import Request
from ..values import ExceptionValue
from .attempts import caught_as, forget, however_left, number_of, passed_on_the_way_out, possible
from .effects import raise_exception
from .failures import all_failures, meet

if TYPE_CHECKING:
    from ..findings import Findings
    from ..reader import Reader


class Attempts(Request):
    """What is raised in a `try` at this place is caught: the function has to be read with attempts."""

    def note(self, findings: Findings) -> None:
        findings.caught[self.key] = True


class Ends(Request):
    """A manager under `with` ends exceptions: the function has to be read with a `try` in its place."""

    def note(self, findings: Findings) -> None:
        findings.ended.add(self.key)


def read_try(reader: Reader, node: Any) -> None:
    """Reads `try` as if nothing were raised in it; where a handler could catch something, statements are attempts."""
    if getattr(node, "raised", None) is not None:
        _read_raised(reader, node)
        return
    if hasattr(node, "error"):
        forget(reader, node.error)
    finish = partial(reader.execute, node.finalbody)
    with however_left(reader, finish), passed_on_the_way_out(reader, lambda raised: finish()):
        _read_caught(reader, node)


def _read_caught(reader: Reader, node: Any) -> None:
    """Reads a `try` without its `finally`."""
    caught = tuple(kind for handler in node.handlers for kind in _kinds(reader, handler))
    block, start = reader.builder.block, len(reader.builder.block)
    try:
        with _catching(reader, caught):
            reader.execute(node.body)
    except Unreachable:
        _check_nothing_else(reader, node, block[start:], caught)
        raise
    except TransformError as error:
        handler = next((each for each in node.handlers if isinstance(error, _kinds(reader, each))), None)
        if handler is None or isinstance(error, NotSupported):
            raise
        if not _is_certain(reader, error) or _hands_on(handler):
            raise _refusal(reader, node, str(error.message)) from None
        _check_nothing_else(reader, node, block[start:], caught)
        _handle(reader, handler, caught_as(error, _kinds(reader, handler)))
    else:
        _check_nothing_else(reader, node, block[start:], caught)
        reader.execute(node.orelse)


@contextmanager
def _catching(reader: Reader, caught: tuple[type[BaseException], ...]) -> Iterator[None]:
    reader.catching.kinds.append(caught)
    try:
        yield
    finally:
        reader.catching.kinds.pop()


def _read_raised(reader: Reader, node: Any) -> None:
    """Reads a `try` that raises, and nothing else: the class of the exception chooses what is read of it."""
    found = node.raised.exc
    if isinstance(found, Occurred):
        occurred = list(possible(reader, found.id))
        if not occurred:                                  # the flag that leads here is one of several
            raise Unreachable
        return _read_occurred(reader, node, found.id, occurred)
    raised = reader.evaluate(found.func if isinstance(found, gast.Call) else found)
    if not isinstance(raised, type):                      # an object, or what a function makes
        raised = reader.evaluate(found)
    handler = _handler_of(reader, node, raised if isinstance(raised, type) else python_type(raised))
    if handler is None:
        return reader.execute([node.raised])
    error = None if handler.name is None else reader.evaluate(found)
    return _handle(reader, handler, ExceptionValue(error, ()) if isinstance(error, type) else error)


def _read_occurred(reader: Reader, node: Any, name: str, errors: list[tuple[int, ExceptionValue]]) -> None:
    """Reads what is done with each exception that an attempt may have raised; once where that does not differ."""
    number, first = errors[0]
    handler = _handler_of(reader, node, first.kind)
    others = errors[1:]
    if handler is not None and handler.name is None and not _raises_again(handler):
        others = [each for each in others if _handler_of(reader, node, each[1].kind) is not handler]
    alike = [each for each in errors if each not in others]

    def handle() -> None:
        if handler is None:
            raise_exception(reader, first.kind, first.args)
        reader.catching.handled[reader.frame.path, name] = first
        _handle(reader, handler, first)

    if not others:
        return handle()
    tests = [binary(reader, operator.eq, number_of(reader, name), number) for number, _ in alike]
    return branch(reader, reduce(partial(binary, reader, operator.or_), tests), handle,
                  lambda: _read_occurred(reader, node, name, others))


def _raises_again(handler: Any) -> bool:
    return any(isinstance(part, Occurred) for part in gast.walk(gast.Module(handler.body, [])))


def _hands_on(handler: Any) -> bool:
    """Whether a handler raises again what it has caught, which attempts have a name for."""
    return any(isinstance(part, gast.Raise) and part.exc is None for part in gast.walk(gast.Module(handler.body, [])))


def _handler_of(reader: Reader, node: Any, kind: type[BaseException]) -> Any:
    """The handler of a class of exceptions, if there is one."""
    return next((each for each in node.handlers if issubclass(kind, _kinds(reader, each))), None)


def read_occurred(reader: Reader, node: Any) -> Any:
    """The exception that a handler raises once more."""
    return reader.catching.handled[reader.frame.path, node.id]


def _is_certain(reader: Reader, error: TransformError) -> bool:
    """Whether every call comes to an error: not on one path only, nor in one iteration."""
    return isinstance(error, (KeyError, AttributeError)) and not error.on_a_path and not reader.loops


def _handle(reader: Reader, handler: Any, error: Any) -> None:
    if handler.name is not None:
        bind(reader, handler.name, error)
    reader.execute(handler.body)


def _check_nothing_else(reader: Reader, node: Any, block: Block, caught: tuple[type[BaseException], ...]) -> None:
    """Refuses what a handler may catch when the program runs."""
    raised = next((found.kind for found in all_failures(reader, block) if meet(found.kind, caught)), None)
    if raised is not None:
        article = "an" if raised.__name__[0] in "AEIOU" else "a"
        raise _refusal(reader, node,
                       f"{article} {raised.__name__} may be raised in it, which cannot be tested beforehand")


def what_may_be_raised(reader: Reader, block: Block) -> type[BaseException] | None:
    """An exception that the statements of a block may raise when the program runs, if there is any."""
    return next((found.kind for found in all_failures(reader, block)), None)


def _kinds(reader: Reader, handler: Any) -> tuple[type[BaseException], ...]:
    """What a handler catches."""
    found = BaseException if handler.type is None else reader.evaluate(handler.type)
    if isinstance(found, contextlib.suppress):
        found = vars(found)["_exceptions"]
    return found if isinstance(found, tuple) else (found,)


def _refusal(reader: Reader, node: Any, why: str) -> Exception:
    """What is raised where something may be caught: a refusal, if statements are attempts already."""
    if not reader.is_attempting:
        return Attempts(reader.frame.origin(node))
    return NotSupported("this `try` with a caught exception is not supported", reader.builder.origin,
                        why=f"{why[:1].upper()}{why[1:]}." if why else None,
                        instead="Test for the error before it is raised, or move loops of called functions into the "
                                "`try` block itself.")


STATEMENTS: dict[type, Any] = {gast.Try: read_try}
EXPRESSIONS: dict[type, Any] = {Occurred: read_occurred}
