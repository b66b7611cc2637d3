"""From a function and abstract arguments to the finished `Reading`."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..containers import LEAVES, kind_of
from ..core.dims import dims_of
from ..core.equations import value_of
from ..core.errors import BadArgument, NotSupported, Origin, SourceError, TransformError, raised_as
from ..core.grammar import Atom, Const, Effect, Function, Var
from ..core.guards import Assumptions
from ..core.sizes import Size, Unknown
from ..core.types import ArrayType
from ..ops.table import lookup
from ..ops.value import Value
from ..ops.value import atom as as_atom
from .branches.asked_classes import check_questions
from .branches.branches import Unreachable
from .branches.mixed import check_digits
from .branches.or_none import needed, settled
from .branches.structures import Node, Slot
from .frames import Frame
from .interface import AxislessType, Interface, Items, Maybe, Parameter, Result
from .kinds import described
from .leaf_names import LeafNames, name_of
from .lists.joining import joined
from .lists.list_demands import known_or
from .lists.recorded import RecordedList, Recording
from .outside import Watch
from .places import place_of, python_of
from .raising.asked_places import with_questions
from .sharing import apart_arguments
from .sources.scope import Scope
from .sources.source import find_source
from .values import Axisless, Hole, OrNone, has_dynamic, is_axisless

if TYPE_CHECKING:
    from .reader import Reader


@dataclass(frozen=True, eq=False)
class WrittenArgument:
    """An array among the arguments that the function writes: its path, its variable, what it is in the
    end, and the place of the first write."""

    path: str
    var: Var
    value: Atom
    origin: Origin | None


@dataclass(eq=False)
class Reading:
    """A function as read. `watched` are ``(holder, key, object)``: the reading holds as long as
    ``holder(key) is object``. `written` are the arguments whose arrays the function writes in place;
    `paths` says where a parameter's variable is found in the arguments (``params['w']``), `apart` which
    arguments the function asks to share no memory."""

    function: Function
    interface: Interface
    watched: list[Watch]
    written: list[WrittenArgument]
    assumptions: Assumptions
    origin: Origin | None
    paths: dict[Var, str]
    apart: list[tuple[Var, Var]]
    reader: Any  # goes on reading where a rule of the user's is needed


def read_target(
    reader: Reader, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], with_lists: bool = False
) -> Reading:
    """Reads a call of `target` with arguments of these types."""
    name = getattr(target, "__name__", None) or type(getattr(target, "func", target)).__name__
    name = "function" if name == "<lambda>" else name
    source = _source_of(target)
    origin = None if source is None else place_of(target)
    reader.builder.origin = origin
    bound = bound_arguments(target, name, args, kwargs)
    arguments = Arguments(reader, bound.signature)
    for key, tree in bound.arguments.items():
        bound.arguments[key] = arguments.add(bound.signature.parameters[key], tree)
    with reader.inside(Frame(Scope(_EMPTY), "", name, {})):
        try:
            result = reader.call(target, bound.args, bound.kwargs)
        except Unreachable as end:
            raise always_raised(reader, end.raised, name, origin) from None
        reader.recursion.keeping.depth += 1
        results = Results(reader, with_lists)
        tree = results.add(result)
    check_digits(reader, reader.builder.block)
    reader.builder.block = with_questions(reader, reader.builder.block)
    check_questions(reader)
    _leave_out_names(reader.local_constants)
    params = [*arguments.vars, *(hidden.var for hidden in reader.outside.hidden)]
    function = Function(
        name, params, reader.builder.block, results.atoms, dims_of(params), reader.assumptions.guards, origin,
        size_names=reader.size_names,
    )
    interface = Interface(name, arguments.parameters(), tree, reader.outside.hidden, source, None, reader.returned)
    names = {id(value): var for var, value in zip(arguments.vars, reader.arguments.values)}
    interface.axisless = {k: names.get(id(value)) for k, value in results.axisless.items()}
    written = _written(reader, arguments.vars, origin)
    apart = apart_arguments(reader, arguments.vars)
    interface.apart = tuple(dict.fromkeys([*_sharing_none(written, params), *apart]))
    arrays_needed = [(one.var, True) for one in written if not Value(one.var).ndim]
    interface.classes = (*arrays_needed, *((var, False) for var in reader.arguments.numbers_needed))
    return Reading(
        function, interface, reader.outside.watched, written, reader.assumptions, origin, reader.arguments.paths, apart,
        reader,
    )


def _written(reader: Reader, arguments: list[Var], origin: Origin | None) -> list[WrittenArgument]:
    """The arguments that the function writes to, with what they are at its end."""
    known = reader.arguments
    return [
        WrittenArgument(known.paths[var], var, value.atom, known.first_writes.get(id(value), origin))
        for var, value in zip(arguments, known.values)
        if value.atom is not var
    ]


def _leave_out_names(constants: set[Const]) -> None:
    """Names that stand for several numbers, as in a loop that is unrolled, are those of none."""
    numbers: dict[str | None, set[str]] = {}
    for const in constants:
        numbers.setdefault(const.name, set()).add(repr(const.value))
    for const in constants:
        if len(numbers[const.name]) > 1:
            const.name = None


def _sharing_none(written: list[WrittenArgument], params: list[Var]) -> list[tuple[Var, Var]]:
    """The function is read as if what it writes shared no memory with other arguments."""
    arrays = [param for param in params if isinstance(param.type, ArrayType) and param.type.rank]
    return [(one.var, other) for one in written for other in arrays if other is not one.var]


def always_raised(reader: Reader, raised: Effect | None, name: str, origin: Origin | None) -> TransformError:
    """The exception that a function certainly raises, if it is known which: with the sizes of this call in its text."""
    last = raised or (reader.builder.block[-1] if reader.builder.block else None)
    if isinstance(last, Effect) and last.kind == "raise":
        sizes = [value_of(atom, reader.assumptions.hints) if isinstance(atom, Size) else None for atom in last.args]
        parts = ["".join(_shown(piece, sizes) for piece in part) if isinstance(part, tuple) else str(part)
                 for part in last.attrs["template"]]
        kind = last.attrs["exception"]
        known = kind.__module__ == "builtins" and parts
        message = ", ".join(parts) if known else ": ".join([kind.__name__, *parts])
        if None not in sizes:
            return raised_as(kind, message, last.origin,
                             f"Every call of {name} with arguments of these types and shapes raises it.")
    return NotSupported(f"{name} always raises an exception", origin, instead="Return a value on some path.")


def _shown(piece: Any, sizes: list[int | None]) -> str:
    return format(sizes[piece.k], piece.spec) if isinstance(piece, Hole) else str(piece)


class _Nothing:
    body: list[Any] = []


_EMPTY = _Nothing()


def _source_of(target: Any) -> Any:
    try:
        return find_source(python_of(target))
    except SourceError:
        return None


def signature_of(target: Any) -> inspect.Signature:
    """The signature of a function; operand names for functions that have an op and no signature."""
    function = getattr(target, "py_func", target)
    try:
        if callable(function):               # in its error `inspect` shows what is not, with all arrays that it holds
            return inspect.signature(function)
    except (TypeError, ValueError):
        pass
    found = lookup(target)
    names = found[0].operands if found is not None else ()
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    if names:
        return inspect.Signature([inspect.Parameter(name, kind) for name in names])
    return inspect.Signature([inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL)])


def bound_arguments(target: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> inspect.BoundArguments:
    signature = signature_of(target)
    try:
        return signature.bind(*args, **kwargs)
    except TypeError as error:
        raise BadArgument(f"{name}() {error}", instead=f"Call it as {name}{plain(signature)}.") from None


def plain(signature: inspect.Signature) -> inspect.Signature:
    """The signature without annotations."""
    parameters = [parameter.replace(annotation=parameter.empty) for parameter in signature.parameters.values()]
    return inspect.Signature(parameters)


class Arguments:
    """Makes a variable for every type in the arguments, named after its parameter."""

    def __init__(self, reader: Reader, signature: inspect.Signature) -> None:
        self.reader = reader
        self.signature = signature
        self.vars: list[Var] = []
        self._trees: dict[str, Any] = {}
        self._names = LeafNames(())
        reader.arguments.names |= set(signature.parameters)

    def add(self, parameter: inspect.Parameter, tree: Any) -> Any:
        """The value of a parameter."""
        self._names = LeafNames(_paths(tree, parameter.name))
        if parameter.kind is parameter.VAR_KEYWORD:
            made: dict[str, Any] = {}
            self._trees[parameter.name] = {}
            for key, item in tree.items():
                made[key], self._trees[parameter.name][key] = self._converted(item, key, key)
            return made
        value, self._trees[parameter.name] = self._converted(tree, parameter.name, parameter.name)
        return value

    def _converted(self, tree: Any, path: str, name: str) -> tuple[Any, Any]:
        """A tree of types as a tree of values, and as a tree of variables."""
        if isinstance(tree, ArrayType | AxislessType):
            value = self._argument(tree, path, name)
            return value, value.atom
        kind = kind_of(type(tree))
        if kind is LEAVES or tree is None:
            return tree, tree
        static, children = kind.split(tree)
        pairs = [
            self._converted(child, path + way, name_of(way, name))
            for way, child in zip(kind.accessors(static, len(children)), children)
        ]
        made = [kind.build(type(tree), static, [pair[k] for pair in pairs]) for k in (0, 1)]
        self.reader.arguments.containers[id(made[0])] = made[0]
        return made[0], made[1]

    def _argument(self, given: ArrayType | AxislessType, path: str, name: str) -> Value:
        reader = self.reader
        type = given.type if isinstance(given, AxislessType) else given
        taken = {var.name for var in self.vars} | (reader.arguments.names if path != name else set())
        var = Var(type, self._names.name(path, name, taken), is_parameter=not self._differs(type, path))
        self.vars.append(var)
        reader.arguments.paths[var] = path
        hints: dict[Any, int] = reader.assumptions.hints
        if path in hints:
            hints[Unknown(var)] = hints[path]
        value = Axisless(var) if isinstance(given, AxislessType) else Value(var)
        reader.arguments.values.append(value)
        return value

    def _differs(self, type: ArrayType, path: str) -> bool:
        """Whether an integer is another one in each lane: no guard tests it before the body runs, but the body does."""
        return path in self.reader.arguments.mapped and type.dtype.kind in "iub" and not type.sizes

    def parameters(self) -> list[Parameter]:
        return [
            Parameter(p.name, self._trees.get(p.name, p.default), p.kind, p.default)
            for p in self.signature.parameters.values()
            if p.name in self._trees or p.default is not p.empty
        ]


def _paths(tree: Any, path: str) -> Iterator[str]:
    """The ways to the leaves of an argument."""
    kind = None if tree is None or isinstance(tree, ArrayType | AxislessType) else kind_of(type(tree))
    if kind is None or kind is LEAVES:
        yield path
        return
    static, children = kind.split(tree)
    children = list(children)
    for way, child in zip(kind.accessors(static, len(children)), children):
        yield from _paths(child, path + way)


class Results:
    """Collects the dynamic leaves of what a function returns. Lists of a length that the program finds are refused,
    but where they are made of arrays at the end, `with_lists`; what may be None has to be there, but then."""

    def __init__(self, reader: Reader, with_lists: bool = False) -> None:
        self.reader = reader
        self.with_lists = with_lists
        self.atoms: list[Atom] = []
        self.axisless: dict[int, Any] = {}

    def add(self, value: Any) -> Any:
        """The tree of a result, with `Result(k)` for its dynamic leaves."""
        value = self.reader.usable(value)
        if self.with_lists and isinstance(value, OrNone) and settled(self.reader, value) is value:
            return Maybe(self.add(value.there), self.add(value.item))
        value = needed(self.reader, value, "the returned value is None, but a value is required")
        if isinstance(value, (Value, Size)):
            if is_axisless(value):
                self.axisless[len(self.atoms)] = value
            self.atoms.append(as_atom(value))
            return Result(len(self.atoms) - 1)
        if isinstance(value, (RecordedList, Recording)):
            return self._list(value)
        kind = kind_of(type(value))
        if kind is LEAVES or value is None:
            return self._static(value)
        if not self.reader.is_local(value):
            self.reader.outside.seen_whole(value)
        static, children = kind.split(value)
        return kind.build(type(value), static, [self.add(child) for child in children])

    def _list(self, value: Any) -> Any:
        length = value.length(self.reader)
        if not isinstance(length, int):
            found = self._items(value) if self.with_lists and isinstance(value, RecordedList) else None
            if found is not None:
                return found
            refused = NotSupported(
                "a list filled by a loop cannot be returned",
                self.reader.returned or self.reader.builder.origin,
                why="Its length is not known when the function is transformed.",
                instead="Return an array: np.array(items).",
            )
            raise known_or(self.reader, length, refused)
        return [self.add(value.item(self.reader, k)) for k in range(length)]

    def _items(self, value: RecordedList) -> Items | None:
        """A list by its arrays; None where its items are not of one type."""
        part = joined(self.reader, [part for part in value.all_parts(self.reader) if part != ()])
        template = None if part is None else part.template
        slots = [template] if isinstance(template, Slot) else getattr(template, "children", ())
        is_tuple = isinstance(template, Node) and template.cls is tuple and bool(slots)
        if part is None or not (is_tuple or isinstance(template, Slot)) or not all(isinstance(s, Slot) for s in slots):
            return None
        arrays = [part.array(self.reader)] if isinstance(template, Slot) else part.arrays
        plain = tuple(slot.type.weak and not slot.type.sizes for slot in slots)
        return Items(tuple(map(self.add, arrays)), plain)

    def _static(self, value: Any) -> Any:
        items = dict.values(value) if isinstance(value, dict) else value if isinstance(value, list) else ()
        is_ours = type(value).__module__.startswith("transformer.read")
        if is_ours or isinstance(value, range) or has_dynamic(tuple(items)):
            raise NotSupported(
                f"{described(value)} cannot be returned",
                self.reader.returned or self.reader.builder.origin,
                why="Results must be numbers, arrays or containers of these.",
                instead="Return the values that it produces, for example np.array(list(items)).",
            )
        return value
