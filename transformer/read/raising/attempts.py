"""Attempts: statements in a `try` that may raise what it catches, by themselves or in functions that they call.

    try:                             if b == 0.0:
        y = a / b                        y = 0.0
    except ZeroDivisionError:        else:
        y = 0.0                          y = a / b

A statement is read as it stands, and then taken apart before the first thing in it that may raise: what was read so far
stays, a test of the operands decides, and all the rest moves to the side where nothing is raised. So what a function
raises that was read in place, as ``if v < 0: raise ValueError``, is a jump as well. What is raised in a loop or in a
branch inside of a statement has no such test; then the `try` is refused (`trying.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from ...core.errors import NotSupported, TransformError
from ...core.grammar import Block, Effect, If, Let, Stmt
from ...ops.value import Value
from ..branches.branches import Unreachable, note_denied
from ..branches.conditions import branch
from ..branches.journal import Form, Name, held_now
from ..branches.or_none import knowing
from ..desugar.blocks import Attempt
from ..frames import stamp
from ..objects.classes import construct
from ..values import ABSENT, ExceptionValue
from .failures import Kinds, failures, meet
from .texts import arguments, carried, carrying, outline

if TYPE_CHECKING:
    from ..reader import Reader


@dataclass
class Catching:
    """The `try`s of one reading: what those catch that are being read, the innermost last; what attempts have raised,
    by the name that holds which; what a handler has at hand; of which statements it has been tested that they raise
    nothing of which kinds; and what is done with an exception on its way out of the lines that are being read."""

    kinds: list[Kinds] = field(default_factory=list)
    raised: dict[Any, list[ExceptionValue]] = field(default_factory=dict)
    handled: dict[Any, ExceptionValue] = field(default_factory=dict)
    tested: dict[Stmt, Kinds] = field(default_factory=dict)
    of_floats: bool = False                      # whether floating point raises exceptions here
    ways_out: list[Callable[[ExceptionValue], None]] = field(default_factory=list)

    def note_tested(self, stmt: Stmt, kinds: Kinds) -> None:
        self.tested[stmt] = (*self.tested.get(stmt, ()), *kinds)

    def catches(self, error: TransformError) -> bool:
        """Whether a `try` that is being read catches what reading has come to."""
        return not isinstance(error, NotSupported) and any(isinstance(error, kinds) for kinds in self.kinds)


@dataclass(frozen=True)
class Raised:
    """Something that a statement raises if a condition `holds`, or does not; `block` is what its text is made of."""

    condition: Any                               # None: in any case
    kind: type[BaseException]
    args: tuple[Any, ...]
    holds: bool = True
    block: tuple[Stmt, ...] = ()


@contextmanager
def passed_on_the_way_out(reader: Reader, do: Callable[[ExceptionValue], Any]) -> Iterator[None]:
    """Does something where a `raise` inside is about to leave the lines, with what the program sees of it."""
    frame, ways = reader.frame, reader.catching.ways_out

    def pass_out(raised: ExceptionValue) -> None:
        with reader.inside(frame):
            do(raised)

    ways.append(pass_out)
    try:
        yield
    finally:
        ways.remove(pass_out)


def go_out(reader: Reader, raised: ExceptionValue) -> None:
    """Does what is done on the way out, from the inside; what cannot be read there is left out."""
    ways, reader.catching.ways_out = reader.catching.ways_out, []
    try:
        for way in reversed(ways):
            checkpoint = reader.checkpoint()
            try:
                way(raised)
            except NotSupported:
                reader.restore(checkpoint)
    finally:
        reader.catching.ways_out = ways


@contextmanager
def however_left(reader: Reader, finish: Callable[[], Any]) -> Iterator[None]:
    """Does what is done on the way out behind the lines inside, and where a `try` catches what they raise."""
    try:
        yield
    except TransformError as error:
        if reader.catching.catches(error):
            finish()
        raise
    finish()


def read_attempt(reader: Reader, node: Any) -> None:
    """Reads a statement, and what follows it where it raises nothing, or where it does."""
    kinds = reader.catching.kinds[-1] if reader.catching.kinds else ()
    known_before, denied = reader.facts, len(reader.assumptions.denied)
    begun, moment = reader.journal.mark(), stamp()
    block, start = reader.builder.block, len(reader.builder.block)
    known = reader.assumptions.tested()
    behind: Callable[[], None] = partial(reader.execute, node.body)
    reader.journal.watched.append(block)
    try:
        reader.execute([node.statement])
    except Unreachable as end:
        behind = partial(_end, end)
    except TransformError as error:
        if isinstance(error, NotSupported) or error.on_a_path or not isinstance(error, kinds):
            raise
        note_denied(reader, denied)
        caught = caught_as(error, kinds)
        behind = partial(_jump, reader, node, Raised(None, caught.kind, caught.args))
    finally:
        depth = len(reader.journal.watched) - 1
        reader.journal.watched.pop()
    read = block[start:]
    tested = reader.assumptions.tested() != known    # facts that hold only where nothing was raised
    last = 0 if tested else _last_that_raises(reader, read, kinds)
    if not last or _changes_before(reader, begun, moment, start + last - 1, depth):
        return behind()                          # what is not tested is refused by the `try`
    contents, facts = held_now(reader.journal.changes(begun)), reader.facts
    reader.journal.rollback(begun)
    reader.facts = known_before
    del block[start:]

    def go_on() -> None:
        reader.journal.apply(contents)
        with knowing(reader, facts):
            behind()

    _go_on(reader, node, read, kinds, moment, go_on)


def _end(end: Unreachable) -> NoReturn:
    raise end


def _go_on(reader: Reader, node: Any, read: Block, kinds: Kinds, moment: int, behind: Callable[[], None]) -> None:
    """Puts statements that were read into the program, with a test before each that may raise; `moment` is when reading
    them began."""
    for k, stmt in enumerate(read):
        raised = _raised(reader, stmt, kinds)
        if raised is None:
            reader.builder.block.append(stmt)
            continue
        reader.catching.note_tested(stmt, kinds)
        kept = [] if isinstance(stmt, If | Effect) else [stmt]
        others = [*kept, *read[k + 1:]]
        return _tests(reader, node, raised, moment, partial(_go_on, reader, node, others, kinds, moment, behind))
    behind()


def _tests(reader: Reader, node: Any, raised: list[Raised], moment: int, otherwise: Callable[[], None]) -> None:
    if not raised:
        return otherwise()
    first, *others = raised
    if first.condition is None:
        return _jump(reader, node, first)
    jump, go_on = partial(_jump, reader, node, first), partial(_tests, reader, node, others, moment, otherwise)
    then, orelse = (jump, go_on) if first.holds else (go_on, jump)
    return branch(reader, first.condition, then, orelse, since=moment)


def _last_that_raises(reader: Reader, read: Block, kinds: Kinds) -> int:
    """The number of statements up to the last one of which can be tested whether it raises what is caught."""
    last = 0
    with reader.builder.nested():
        for k, stmt in enumerate(read, 1):
            raised = _raised(reader, stmt, kinds)
            if raised:
                last = k
            elif raised is not None:
                reader.catching.note_tested(stmt, kinds)
    return last


def _jump(reader: Reader, node: Any, raised: Raised) -> None:
    """Goes on where the exception is caught, with what was raised."""
    for stmt in raised.block:
        reader.builder.block.append(stmt)
    found, leaves = carried(ExceptionValue(raised.kind, raised.args))
    known = reader.catching.raised.setdefault((reader.frame.path, node.error), [])
    number = next((k for k, other in enumerate(known) if outline(other) == outline(found)), len(known))
    known[number:number + 1] = [found]
    held = {node.error: number, **{_leaf(node.error, number, k): leaf for k, leaf in enumerate(leaves)}}
    for name, value in held.items():
        reader.journal.write(Name(reader.frame.names, name), value)
    reader.execute(node.orelse)


def _leaf(error: str, number: int, k: int) -> str:
    """The name of a value in the arguments of an exception."""
    return f"{error}.{number}.{k}"


def number_of(reader: Reader, error: str) -> Any:
    """What tells which exception it was."""
    return reader.frame.names[error]


def possible(reader: Reader, error: str) -> Iterator[tuple[int, ExceptionValue]]:
    """What a name may stand for that holds what attempts have raised, with its number."""
    raised = reader.catching.raised[reader.frame.path, error]
    names, which = reader.frame.names, number_of(reader, error) if raised else None
    for number, found in enumerate(raised):
        if not isinstance(which, int) or which == number:
            held = carrying(found, [names[_leaf(error, number, k)] for k in range(len(carried(found)[1]))])
            yield number, construct(reader, held.kind, held.args, {})


def forget(reader: Reader, error: str) -> None:
    """Nothing has been raised yet, whatever was when the same lines were read before."""
    reader.catching.raised[reader.frame.path, error] = []
    names = reader.frame.names
    for name in [name for name in names if name == error or name.startswith(f"{error}.")]:
        reader.journal.write(Name(names, name), ABSENT)


# -- what may be raised ---------------------------------------------------------------------------


def caught_as(error: TransformError, kinds: Kinds = (BaseException,)) -> ExceptionValue:
    """What Python raises where reading found an error that one of these kinds catches."""
    public = (kind for kind in type(error).__mro__ if not issubclass(kind, TransformError))
    return ExceptionValue(next((kind for kind in public if issubclass(kind, kinds)), kinds[0]), error.raised_with)


def _raised(reader: Reader, stmt: Stmt, kinds: Kinds) -> list[Raised] | None:
    """What a statement may raise that is caught, in order; None where that is nothing, or cannot be told."""
    if isinstance(stmt, If | Effect):
        found = _raised_by_test(stmt)
        return [found] if found is not None and issubclass(found.kind, kinds) else None
    tested = reader.catching.tested.get(stmt, ())
    caught = [each for each in failures(reader, stmt) if meet(each.kind, kinds) and not meet(each.kind, tested)]
    if not caught or any(each.conditions is None for each in caught):
        return None
    tests = dict.fromkeys(each.conditions for each in caught if each.conditions is not None)
    return [Raised(condition, type(error), error.args) for test in tests for condition, error in test()]


def _raised_by_test(stmt: If | Effect) -> Raised | None:
    """What an ``if …: raise …`` raises, or a `raise` that every call comes to."""
    if isinstance(stmt, Effect):
        return _raised_by_effect(None, True, [stmt])
    for block, other in (stmt.then, stmt.orelse), (stmt.orelse, stmt.then):
        if block and not other and not stmt.merges:
            return _raised_by_effect(Value(stmt.cond), block is stmt.then, block)
    return None


def _raised_by_effect(condition: Value | None, holds: bool, block: Block) -> Raised | None:
    *before, effect = block
    if not isinstance(effect, Effect) or effect.kind != "raise" or "size" in effect.attrs:
        return None                              # a size that is not negative is a fact for all that follows
    if not all(isinstance(stmt, Let) for stmt in before):
        return None
    args = arguments(effect.attrs["template"], effect.args, effect.attrs.get("values", ()))
    return Raised(condition, effect.attrs["exception"], args, holds, tuple(before))


def _changes_before(reader: Reader, begun: int, moment: int, place: int, depth: int) -> bool:
    """Whether something else than what the statement computes has been changed before one of its parts may raise."""
    return any(
        not isinstance(changed, Form) and reader.existed(changed, old, moment) and moments[depth] <= place
        for changed, old, moments in reader.journal.entries(begun)
    )


STATEMENTS: dict[type, Any] = {Attempt: read_attempt}
