"""Functions that are transformed inside of user code: read on their own, and put back in place."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...containers import LEAVES, kind_of
from ...core.errors import BadArgument, NotSupported
from ...core.grammar import Atom, Block, Effect, Function, Let, Var
from ...core.headings import has_headings
from ...core.walk import Copier, atom_vars, free_vars
from ...ops.value import Value
from ...ops.value import atom as as_atom
from ..branches.journal import Cell
from ..entry import Results, bound_arguments, plain, signature_of
from ..frames import stamp
from ..interface import Interface, Parameter, Result
from ..values import ABSENT, Axisless, Closure, Lane, is_axisless, is_number

if TYPE_CHECKING:
    from ..reader import Reader


def subfunction(
    reader: Reader, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Function, Interface]:
    """Reads a function on fresh variables for the floating point leaves of its arguments.

    What else it uses (integers, variables of the code around it) is captured as it is.
    """
    name = getattr(function, "__name__", "function")
    name = "function" if name == "<lambda>" else name
    signature = signature_for(function)
    bound = bound_to(function, signature, name, args, kwargs)
    fresh = Fresh(reader)
    for value in bound.arguments.values():
        reader.outside.seen_whole(value)
    trees = {key: fresh.tree(value, key) for key, value in bound.arguments.items()}
    for key, (value, _) in trees.items():
        bound.arguments[key] = value
    origin, made, mark = reader.builder.origin, stamp(), reader.journal.mark()
    with reader.builder.nested() as block:
        result = reader.call(function, bound.args, bound.kwargs)
        results = Results(reader)
        tree = results.add(result)
        _check_no_writes(reader, mark, made, fresh)
    fresh.check_written(block, results.atoms)
    reader.journal.rollback(mark)
    parameters = [
        Parameter(p.name, trees[p.name][1] if p.name in trees else p.default, p.kind, p.default)
        for p in signature.parameters.values()
        if p.name in trees or p.default is not p.empty
    ]
    new = Function(name, fresh.vars, block, results.atoms, {}, reader.assumptions.guards, origin)
    return new, Interface(name, parameters, tree, [], None)


def signature_for(function: Any) -> inspect.Signature:
    if not isinstance(function, Closure):
        return signature_of(function)
    args, kinds = function.node.args, inspect.Parameter
    plain = [*args.posonlyargs, *args.args]
    defaults = dict(zip([p.id for p in plain][len(plain) - len(function.defaults) :], function.defaults))
    parameters = [kinds(p.id, kinds.POSITIONAL_OR_KEYWORD, default=defaults.get(p.id, kinds.empty)) for p in plain]
    if args.vararg is not None:
        parameters.append(kinds(args.vararg.id, kinds.VAR_POSITIONAL))
    parameters += [
        kinds(p.id, kinds.KEYWORD_ONLY, default=function.keyword_defaults.get(p.id, kinds.empty))
        for p in args.kwonlyargs
    ]
    if args.kwarg is not None:
        parameters.append(kinds(args.kwarg.id, kinds.VAR_KEYWORD))
    return inspect.Signature(parameters)


def bound_to(
    function: Any, signature: inspect.Signature, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> inspect.BoundArguments:
    if not isinstance(function, Closure):
        return bound_arguments(function, name, args, kwargs)
    try:
        return signature.bind(*args, **kwargs)
    except TypeError as error:
        raise BadArgument(f"{name}() {error}", instead=f"Call it as {name}{plain(signature)}.") from None


class Fresh:
    """Replaces floating point leaves by fresh variables."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.vars: list[Var] = []
        self.arrays: list[tuple[Value, Value, Atom]] = []  # an array given, for the function, at first

    def tree(self, value: Any, name: str) -> tuple[Any, Any]:
        """The value for the function, and the tree of its variables for the interface."""
        value = self.reader.usable(value)
        if isinstance(value, Value):
            return self._leaf(value, name)
        if is_number(value) and not isinstance(value, (bool, int)):
            return self._leaf(Value(as_atom(value)), name)
        kind = kind_of(type(value))
        if kind is LEAVES or value is None:
            return value, value
        static, children = kind.split(value)
        pairs = [self.tree(child, name) for child in children]
        made = [kind.build(type(value), static, [pair[k] for pair in pairs]) for k in (0, 1)]
        self.reader.arguments.containers[id(made[0])] = made[0]
        return made[0], made[1]

    def _leaf(self, value: Value, name: str) -> tuple[Any, Any]:
        is_new = value.type.is_inexact or isinstance(value, Lane)
        if not is_new and not value.ndim:
            return value, value.atom
        atom = value.atom
        if is_new:
            atom = Var(value.type, name)
            self.vars.append(atom)
        made = Axisless(atom) if is_axisless(value) else Value(atom)
        self.arrays.append((value, made, atom))
        return made, atom

    def is_own(self, place: Any) -> bool:
        """Whether a place is an array of the function's own: a derivative leaves those given alone."""
        return isinstance(place, Cell) and any(place.holder is made for _, made, _ in self.arrays)

    def check_written(self, block: Block, results: list[Atom]) -> None:
        """Raises where an array that the function writes shares memory with another that it uses."""
        written = [given for given, made, atom in self.arrays if made.atom is not atom]
        if not written:
            return
        aliases = self.reader.aliases
        used = set(self._roots([var for result in results for var in atom_vars(result)], block))
        for given in written:
            others = [other for other, _, _ in self.arrays if other is not given]
            twice = sum(other is given for other, _, _ in self.arrays) > 1
            around = any(isinstance(cell, Value) and cell.atom in used for cell in aliases.group(given))
            if twice or around or any(aliases.are_related(given, other) for other in others):
                raise _shared_and_written(self.reader, given)

    def _roots(self, ends: list[Var], block: Block) -> Iterator[Any]:
        """The arrays around the function that it uses, and those that they are views of."""
        definitions = self.reader.builder.numbering.definitions
        for var in free_vars(block, ends):
            atom: Any = var
            while isinstance(atom, Var):
                yield atom
                stmt = definitions.get(atom)
                atom = stmt.args[0] if stmt is not None and stmt.args and stmt.op.view else None


def _shared_and_written(reader: Reader, given: Value) -> NotSupported:
    name = getattr(given.atom, "name", None)
    return NotSupported(
        "a transformed function writes to " + (repr(name) if name else "an argument")
        + ", which shares memory with another array that it uses",
        reader.builder.origin,
        why="The write would also change the other array.",
        instead="Pass a copy: x.copy().",
    )


def _check_no_writes(reader: Reader, mark: int, made: int, fresh: Fresh) -> None:
    """A function that is transformed may change only what it makes itself."""
    for place, old in reader.journal.changes(mark).values():
        if reader.existed(place, old, made) and old is not ABSENT and not fresh.is_own(place):
            raise NotSupported(
                "a transformed function writes to an outside variable or array",
                reader.builder.origin,
                instead="Return the new value from it.",
            )


def inlined(
    reader: Reader, function: Function, interface: Interface, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Puts the body of a Core function in place; gives its result for these arguments."""
    mapping: dict[Var, Atom] = {}
    for tree, value in interface.given(args, kwargs):
        _match(reader, tree, value, mapping)
    wanted = {param: mapping[param] for param in function.params if param in mapping}
    missing = [param for param in function.params if param not in mapping]
    if missing:
        raise BadArgument(f"{interface.name}() is missing the argument {missing[0].name!r}", reader.builder.origin)
    results = inline(reader, function, [wanted[param] for param in function.params])
    if has_headings(function):
        reader.builder.emit(Effect("comment", (), {"end of": "reverse"}))
    return _filled(reader, interface.result, results)


def inline(reader: Reader, function: Function, atoms: list[Atom]) -> list[Atom]:
    """Copies the body of a function into the current block, with its parameters replaced."""
    copier = Copier(dict(zip(function.params, atoms)))
    for stmt in copier.block(function.body):
        reader.builder.emit(stmt)
        if isinstance(stmt, Let):
            reader.builder.numbering.define(stmt)
    reader.assumptions.inherit(copier.mapping, copier.size)
    return [copier.atom(result) for result in function.results]


def _match(reader: Reader, tree: Any, value: Any, mapping: dict[Var, Atom]) -> None:
    value = reader.usable(value)
    if isinstance(tree, Var):
        mapping[tree] = as_atom(value)
        return
    kind = kind_of(type(tree))
    if kind is LEAVES or tree is None or value is None:
        return
    static, children = kind.split(tree)
    given = kind.matching_children(static, value) if type(value) is type(tree) else None
    if given is None or len(given) != len(children):
        raise BadArgument("an argument of a transformed function does not have the structure that the function was "
                          "transformed for", reader.builder.origin)
    for child, part in zip(children, given):
        _match(reader, child, part, mapping)


def _filled(reader: Reader, tree: Any, results: list[Atom]) -> Any:
    if isinstance(tree, Result):
        return Value(results[tree.k])
    kind = kind_of(type(tree))
    if kind is LEAVES or tree is None:
        return tree
    static, children = kind.split(tree)
    return reader.own(kind.build(type(tree), static, [_filled(reader, child, results) for child in children]))
