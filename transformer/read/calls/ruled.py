"""Functions with rules of their own: reading a call of one, and reading a rule where it is needed.

A call is read like any other; a `ruled` statement follows, through which the results go. When a
transformation comes to it, it reads the rule, with the operands of that statement as arguments: the
rule's statements then stand where the derivative stands.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Any

from ...containers import LEAVES, kind_of
from ...core.builder import current
from ...core.errors import BadArgument, NotSupported, Origin, SourceError
from ...core.grammar import Atom, Block, Const, Effect, Var, type_of
from ...core.sizes import Size
from ...core.walk import all_statements, atom_vars, free_vars
from ...ops.ruled import Ruled
from ...ops.value import Value, is_inexact
from ...ops.value import atom as as_atom
from ..branches.branches import Unreachable
from ..branches.casts import Widen
from ..frames import Frame, stamp
from ..interface import Result
from ..kinds import described
from ..lists.recorded import RecordedList, Recording
from ..objects.objects import hold_dynamic
from ..raising.demand import Unroll
from ..sources.scope import Scope
from ..sources.source import find_source
from ..values import ABSENT, Closure
from .subfunctions import bound_to, signature_for

if TYPE_CHECKING:
    from ..reader import Reader

LATER = "It is read when the derivative is computed, when its value may have changed."
MOST_READINGS = 64  # each asks for one more loop of the rule to be unrolled


@dataclass(eq=False)
class Leaves:
    """Takes trees apart into atoms; the tree that is left has `Result(k)` in place of atom `k`. `values` are what the
    atoms were in the trees."""

    reader: Reader
    wanted: Callable[[Any], bool] = lambda value: True
    atoms: list[Atom] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)

    def tree(self, value: Any) -> Any:
        value = self.reader.usable(value)
        if isinstance(value, (Value, Size)):
            return self._leaf(value)
        if isinstance(value, (RecordedList, Recording)):
            length = value.length(self.reader)
            value = [value.item(self.reader, k) for k in range(length)] if isinstance(length, int) else value
        kind = kind_of(type(value))
        if kind is LEAVES or value is None:
            return value
        static, children = kind.split(value)
        return kind.build(type(value), static, [self.tree(child) for child in children])

    def _leaf(self, value: Any) -> Any:
        if not self.wanted(value):
            return value
        self.atoms.append(as_atom(value))
        self.values.append(value)
        return Result(len(self.atoms) - 1)


def filled(reader: Reader, tree: Any, leaf: Callable[[int], Any], other: Callable[[Any], Any] = lambda item: item
           ) -> Any:
    """The tree with `leaf(k)` for `Result(k)`, and `other(item)` for every other leaf."""
    if isinstance(tree, Result):
        return leaf(tree.k)
    kind = kind_of(type(tree))
    if kind is LEAVES or tree is None:
        return other(tree)
    static, children = kind.split(tree)
    return reader.own(kind.build(type(tree), static, [filled(reader, child, leaf, other) for child in children]))


def places_in(tree: Any) -> Iterator[int]:
    """The numbers of the `Result`s in a tree."""
    if isinstance(tree, Result):
        yield tree.k
    elif tree is not None and (kind := kind_of(type(tree))) is not LEAVES:
        for child in kind.split(tree)[1]:
            yield from places_in(child)


def as_value(atom: Atom) -> Any:
    """What reading works with for an atom: sizes and whole numbers are static."""
    if isinstance(atom, Size):
        return atom
    if isinstance(atom, Const) and not atom.type.is_inexact:
        return atom.value
    return Value(atom)


def matched(reader: Reader, wanted: Any, given: Any, what: str) -> Iterator[tuple[int, Any]]:
    """Pairs (k, value) of a tree and what a rule gave for it. None stands for zeros, also for a whole
    container; what a rule gives for other leaves does not matter."""
    given = reader.usable(given)
    if isinstance(wanted, Result):
        yield wanted.k, given
        return
    kind = kind_of(type(wanted))
    if kind is LEAVES or wanted is None or given is None:
        return
    static, children = kind.split(wanted)
    parts = kind.matching_children(static, given) if type(given) is type(wanted) else None
    if parts is None or len(parts) != len(children):
        raise BadArgument(f"{what} is {what_is(given)}, expected {what_is(wanted)}",
                          instead="Return the structure of the value that it belongs to, or None for zeros.")
    for child, part in zip(children, parts):
        yield from matched(reader, child, part, what)


def what_is(value: Any) -> str:
    """What a rule gave, in words: with the number of items where that may be what is wrong."""
    if isinstance(value, Result):
        return "an array or a number"
    sized = isinstance(value, (tuple, list))
    return described(value) + (f" of {len(value)}" if sized else "")


# -- calls -----------------------------------------------------------------------------------------


@dataclass(eq=False)
class Use:
    """A call of a function with a rule: `custom` is the function, `rule` what it was told when the call
    was read, `arguments` the trees of its arguments over the operands, `result` that of its results."""

    custom: Any
    rule: Any
    reader: Reader
    arguments: tuple[Any, ...]
    result: Any
    serial: int = field(default_factory=count().__next__)

    def __core_text__(self) -> str:
        return f"{self.custom.kind} {self.custom.__name__}"


def read_call(reader: Reader, custom: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a call of a function with a rule gives."""
    rule = frozen(reader, reader.outside.lift(custom.rule, lambda key: getattr(custom, key), "rule", None))
    arguments = positional(custom.function, custom.__name__, args, kwargs)
    _check_objects(arguments, f"{custom.__name__}, which has a custom rule, receives")
    operands = Leaves(reader)
    trees = tuple(operands.tree(argument) for argument in arguments)
    mark, made, start = reader.journal.mark(), stamp(), len(reader.builder.block)
    result = reader.call(custom.function, arguments, {})
    check_no_writes(reader, mark, made, "a function with a rule of its own")
    _check_objects(result, f"{custom.__name__}, which has a custom rule, returns")
    if not any(type_of(atom).is_inexact for atom in operands.atoms):
        return result
    outcome = Leaves(reader, is_inexact)
    tree = outcome.tree(result)
    if not outcome.atoms:
        return result
    shape = filled(reader, tree, Result, lambda item: None)
    use = Use(custom, rule, reader, trees, shape)
    mark_effects(reader.builder.block[start:], use)
    return related(reader, through(reader, tree, outcome.values, operands.atoms, use), result)


def _check_objects(value: Any, what: str) -> None:
    """Raises where an object holds what is computed: a rule is about arrays, also those in containers."""
    kind = kind_of(type(value))
    for part in () if kind is LEAVES or value is None else kind.split(value)[1]:
        _check_objects(part, what)
    if kind is LEAVES and hold_dynamic((value,)):
        cls = type(value).__name__
        raise NotSupported(f"{what} an object of {cls} with computed attributes", current().origin,
                           why="Rules support arrays and containers of arrays; those in this object would be lost.",
                           instead=f"Pass its arrays, or make {cls} a dataclass.")


def mark_effects(block: Block, use: Use) -> None:
    """Notes where effects come from: where the rule takes the place of the function, they go."""
    for stmt in all_statements(block):
        if isinstance(stmt, Effect):
            stmt.attrs = {**stmt.attrs, "within": (*stmt.attrs.get("within", ()), use.serial)}


def through(reader: Reader, tree: Any, results: Sequence[Value], operands: list[Atom], use: Use) -> Any:
    """A tree with results that have passed through a `ruled` statement. They are what they were: arrays that the
    function was given, or of which it gives others, too, may not be written."""
    atoms = [result.atom for result in results]
    targets = current().let(Ruled, (*atoms, *operands), {"count": len(atoms), "use": use}, list(map(type_of, atoms)))
    values = list(map(Value, targets))
    share(reader, values, results, f"{use.custom.__name__} returns an array that has another name, too.")
    return filled(reader, tree, lambda k: values[k])


def share(reader: Reader, values: Sequence[Value], results: Sequence[Any], why: str) -> None:
    """Notes that values, which take the place of results, may share memory with what these do."""
    for value, result in zip(values, results, strict=True):
        reader.aliases.derive(value, (result,), why)


def related(reader: Reader, made: Any, result: Any) -> Any:
    """A result that was made anew, whose containers may be those of the result as it was."""
    if isinstance(result, (RecordedList, Recording)):
        reader.aliases.derive(made, (result.home,))
    elif result is not None and (kind := kind_of(type(result))) is not LEAVES:
        if made is not result and not isinstance(result, tuple):
            reader.aliases.derive(made, (result,))
        for part, was in zip(kind.split(made)[1], kind.split(result)[1], strict=True):
            related(reader, part, was)
    return made


def check_no_writes(reader: Reader, mark: int, made: int, what: str) -> None:
    for place, old in reader.journal.changes(mark).values():
        if reader.existed(place, old, made) and old is not ABSENT:
            raise NotSupported(f"{what} writes to an argument, or to an outside variable or array",
                               reader.builder.origin, instead="Write to a copy, and return it.")


def positional(function: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """All arguments of a call by position, defaults included, as rules take them."""
    bound = bound_to(function, signature_for(function), name, args, kwargs)
    bound.apply_defaults()
    named = [p.name for p in bound.signature.parameters.values() if p.kind is inspect.Parameter.KEYWORD_ONLY]
    if bound.kwargs:
        which = ", ".join(map(repr, named or bound.kwargs))
        raise NotSupported(f"{name} has a custom rule and takes {which} by keyword only",
                           why="Rules receive all arguments by position.",
                           instead="Remove the * (or **) from its parameters.")
    return bound.args


def frozen(reader: Reader, rule: Any) -> Any:
    """A rule as it is now: functions defined in the code being read keep the names they see."""
    if isinstance(rule, tuple):
        return tuple(frozen(reader, part) for part in rule)
    if isinstance(rule, Closure):
        return replace(rule, frame=_frozen_frame(reader, rule.frame))
    return rule


def _frozen_frame(reader: Reader, frame: Frame) -> Frame:
    parent = None if frame.parent is None else _frozen_frame(reader, frame.parent)
    copied = replace(frame, names=dict(frame.names), parent=parent)
    reader.frames_made[id(copied.names)] = copied
    return copied


# -- rules -----------------------------------------------------------------------------------------


def read_rule(reader: Reader, function: Any, args: tuple[Any, ...], given: Iterable[Atom],
              kwargs: dict[str, Any] | None = None) -> Any:
    """What a rule gives: it is read into the current block. `given` are the atoms in its arguments,
    which, with arrays from outside, are all that it may use."""
    builder = current()
    start = len(builder.block)
    with _continued(reader, builder, getattr(function, "__name__", "rule")):
        mark, made = reader.journal.mark(), stamp()
        result = _unrolled_as_needed(reader, function, args, kwargs or {})
        check_no_writes(reader, mark, made, "a rule")
        check_captured(reader, function, builder.block[start:], given)
    return result


@contextmanager
def _continued(reader: Reader, builder: Any, name: str) -> Iterator[None]:
    """Goes on reading, in the block of another builder."""
    outer, reader.builder = reader.builder, builder
    try:
        with reader.inside(Frame(Scope(_EMPTY), "", name, {})):
            yield
    finally:
        reader.builder = outer


class _Nothing:
    body: list[Any] = []


_EMPTY = _Nothing()


def _unrolled_as_needed(reader: Reader, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a call; loops of the function itself that have to be unrolled are."""
    for _ in range(MOST_READINGS):
        checkpoint = reader.checkpoint()
        try:
            return reader.call(function, args, kwargs)
        except Unroll as request:
            around = any(loop.plan.key == request.loop for loop in reader.loops)
            if around or not reader.findings.unroll(request):
                raise
        except Widen as request:
            if reader.declared.get(request.key) == request.type:
                raise
            reader.declared[request.key] = request.type
        except Unreachable:
            raise NotSupported("this rule always raises an exception", origin_of(function),
                               instead="Return the derivative.") from None
        reader.restore(checkpoint)
    raise NotSupported("a rule needs too many unrolled loops", reader.builder.origin,
                       instead="Loop over arrays or ranges instead of containers.")


def check_captured(reader: Reader, function: Any, block: list[Any], given: Iterable[Atom], user: str = "a rule",
                   why: str = LATER, instead: str = "Pass it to the function as an argument.") -> None:
    """Raises where the statements of a function, `user` in words, rest on more than what was given to it."""
    allowed = {var for atom in given for var in atom_vars((atom, type_of(atom)))}
    allowed |= {hidden.var for hidden in reader.outside.hidden}
    for var in free_vars(block):
        if not _rests_on(var, allowed, reader.builder.numbering.definitions):
            what = f"`{var.name}`, a variable" if var.name else "a value"
            raise NotSupported(f"{user} uses {what} of the enclosing function", origin_of(function), why=why,
                               instead=instead)


def _rests_on(var: Var, allowed: set[Var], definitions: dict[Var, Any]) -> bool:
    """Whether a variable is allowed, or was computed before from nothing but what is."""
    pending, seen = [var], set(allowed)
    while pending:
        each = pending.pop()
        if each not in seen:
            seen.add(each)
            if each not in definitions:
                return False
            pending += atom_vars((definitions[each].args, definitions[each].attrs))
    return True


def origin_of(function: Any) -> Origin | None:
    """Where a function is defined."""
    if isinstance(function, Closure):
        return function.frame.origin(function.node)
    try:
        source = find_source(function)
    except (SourceError, AttributeError, TypeError):
        return None
    return Origin(source.file, source.tree.lineno, None, None, source.name)
