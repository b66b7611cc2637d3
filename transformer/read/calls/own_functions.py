"""A function that is read as one of its own: its body, and the calls of it.

Its arguments are parameters, so are the arrays around it that it writes to, which come back as further
results. What the calls have in common is found by reading the body until nothing new turns up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...core.equations import value_of
from ...core.errors import TransformError
from ...core.grammar import Atom, Call, Function, Var, type_of
from ...core.sizes import Extent, Size
from ...core.types import ArrayType, Type
from ...core.walk import Copier, atom_vars, free_vars
from ...ops.value import Value
from ..branches.branches import Unreachable
from ..branches.casts import cast
from ..branches.journal import Cell
from ..branches.structures import Clash, Fixed, Node, Slot, Template, atoms, build, capture, same_template, slots
from ..branches.template_joins import Joiner
from ..branches.testing import Untested
from ..frames import Frame, stamp
from ..raising.demand import Unroll
from ..values import is_array, may_be_array
from . import recursion_errors
from .lifting import lift
from .passed_arrays import check_passed
from .widening import Extents, Parameters, clashes, common, containers_in, with_arguments

if TYPE_CHECKING:
    from ..reader import Reader

Templates = dict[str, Template]
MOST_PASSES = 16
MOST_SIZES = 2  # sizes of a result that are tried

# What is taken as equal, and whether the size of the first result is what the conditions tell.
ATTEMPTS = ((None, False), ("sizes", False), (None, True), ("sizes", True), ("numbers", False))


class Again(Exception):
    """A call does not fit what was assumed of the function: it has to be read once more."""

    def __init__(self, own: Own) -> None:
        super().__init__(own)
        self.own = own


class Recursive(Exception):
    """A call leads back to the call of `frame`; `templates` is what the arguments of the two share."""

    def __init__(self, frame: Frame, templates: Templates) -> None:
        super().__init__(frame.function)
        self.frame = frame
        self.templates = templates


def key_of(frame: Frame) -> Any:
    """What tells a function apart from others in every reading."""
    around = frame.parent.path if frame.parent is not None else tuple(map(id, frame.cells.values()))
    return "recursion", frame.scope.node, around


def captured_arguments(reader: Reader, frame: Frame) -> Templates:
    assert frame.given is not None
    return {name: capture(reader, value) for name, value in frame.given.items()}


class Own:
    """A function that is read as one of its own. `frame` is the call that it was first read for, `result` what is known
    of what it gives: as a call of itself is met before that, the body is read until it does not change any more."""

    def __init__(self, reader: Reader, frame: Frame, templates: Templates, body: Callable[[], Any]) -> None:
        self.reader = reader
        self.frame = frame
        self.templates = templates
        self.body = body
        self.origin = reader.builder.origin
        self.result: Template | None = None
        self.with_conditions = False
        self.tries = 0
        self.shared: set[tuple[int, int]] = set()  # results, each with an argument that it may share memory with
        self.together: set[tuple[int, int]] = set()  # the same with another result
        self.captured: dict[tuple[int, int], Value] = {}  # the same with an array around the function
        self.written: dict[int, Value] = {}  # arrays around the function that it writes to
        self.changed: set[int] = set()  # the arguments that it writes to
        self.made = 0
        self.is_complete = False
        self.lifted: list[Atom] = []
        name = frame.function.rpartition(".")[2]
        self.name = name if name.isidentifier() else "function"
        count = reader.recursion.counts[self.name] = reader.recursion.counts.get(self.name, 0) + 1
        self.title = self.name if count == 1 else f"{self.name}, {count}"
        self.derivatives = reader.recursion.derivatives
        self.function = Function(self.name, [], [], [], origin=self.origin, role="called", size_names=reader.size_names)
        self.outer = captured_arguments(reader, frame)
        self.extents = self._outer_extents()
        self.parameters = Parameters(reader, self.title, self.extents, self.templates)

    # -- reading the function --------------------------------------------------------------------

    def read(self) -> Any:
        """Reads the function, and emits the call that it was found with."""
        recursion, guards = self.reader.recursion, len(self.reader.assumptions.guards)
        known = len(recursion.known)
        recursion.active.append(self)
        try:
            self._read_somehow()
        finally:
            recursion.active.remove(self)
        self.is_complete = True
        result = self.call(self.outer)
        if not recursion.active:
            self.lifted = lift(self.reader, self.function)
            self.emitted.args = (*self.emitted.args, *self.lifted)
            del recursion.known[known:]
        if self._stands_alone() and len(self.reader.assumptions.guards) == guards:
            recursion.known.append(self)
        return result

    def _read_somehow(self) -> None:
        """Reads the function for sizes as they are; where that cannot be, with more of them equal, or with the
        size of the first result as the conditions tell it. If tests in the program would help, with few."""
        checkpoint = self.reader.checkpoint()
        refusal: TransformError | Unroll | None = None
        attempts = sorted(ATTEMPTS, key=lambda attempt: not attempt[0]) if self.reader.tested else ATTEMPTS
        for equal, self.with_conditions in attempts:
            self.tries = MOST_SIZES
            try:
                if equal is None or self._take_equal(equal == "numbers"):
                    return self._until_settled()
            except (TransformError, Unroll) as error:
                preferred = isinstance(error, Untested) and equal == "sizes" and not self.with_conditions
                refusal = error if refusal is None or preferred else refusal
            self.reader.restore(checkpoint)
            self.extents, self.result = self._outer_extents(), None
        assert refusal is not None
        raise refusal

    def _outer_extents(self) -> Extents:
        return Extents(self._sizes(self._leaves(self.outer)), self.reader.assumptions)

    def _take_equal(self, as_numbers: bool) -> bool:
        """Takes sizes of the first call as equal that may be, to each other or to numbers, under guards; says
        whether there are any."""
        assumptions = self.reader.assumptions
        sizes = list(dict.fromkeys(size for size in self._sizes(self._leaves(self.outer)) if isinstance(size, Size)))
        pairs: list[tuple[Extent, Extent | None]] = [(one, other) for k, one in enumerate(sizes) for other in sizes[:k]]
        if as_numbers:
            pairs = [(size, value_of(size, assumptions.hints)) for size in sizes]
        found = [other is not None and assumptions.equal(one, other) for one, other in pairs]
        self.extents = self._outer_extents()
        return any(found)

    def _stands_alone(self) -> bool:
        """Whether the function uses nothing of the code around it, so that it may be called elsewhere."""
        ends = [var for result in self.function.results for var in atom_vars(result)]
        free = [var for var in free_vars(self.function.body, ends) if var not in self.function.params]
        free += [var for atom in self.lifted for var in atom_vars(atom)]
        return not self.written and all(var.is_parameter for var in free)

    def _until_settled(self) -> None:
        known = len(self.reader.recursion.known)
        for _ in range(MOST_PASSES):
            checkpoint = self.reader.checkpoint()
            try:
                if self._pass():
                    return
            except Again as request:
                if request.own is not self:
                    raise
            self.reader.restore(checkpoint)
            del self.reader.recursion.known[known:]
        raise recursion_errors.unsettled(self.name, self.origin)

    def _pass(self) -> bool:
        """Reads the body once; says whether what was assumed of it is so."""
        reader, journal = self.reader, self.reader.journal
        mark = journal.mark()
        cells = self._enter()
        begun = journal.mark()
        with standing_alone(reader) as block:
            try:
                value = reader.usable(self.body())
            except Unreachable:
                raise recursion_errors.endless(self.name, self.origin) from None
            template, settled = self._returned(capture(reader, value))
            settled = self._note_changes(begun) and settled
            results = [self._cast(fixed.atom, slot.type) for slot, fixed in template]
            results += [leaf.value.atom for k, leaf in enumerate(self.parameters.leaves) if k in self.changed]
            results += [cell.atom for cell in self.written.values()]
        journal.rollback(mark)
        if settled:
            self.function.body, self.function.results = block, results
            self.function.params = [leaf.var for leaf in self.parameters.leaves] + [
                var for var in cells.values() if isinstance(var, Var)
            ]
            self.function.dims = dict(self.parameters.dims)
        return settled

    def _enter(self) -> dict[int, Atom]:
        """Puts parameters in place of the arguments, and of the arrays around that are written to."""
        reader, frame = self.reader, self.frame
        before, self.parameters = self.parameters.leaves, Parameters(reader, self.title, self.extents, self.templates)
        frame.reset()
        for name, template in self.templates.items():
            frame.names[name] = self.parameters.build(template, name, name)
        if self.result is not None:
            values = [leaf.value for leaf in self.parameters.leaves]
            self.result = with_arguments(self.result, before, values, None)
        cells: dict[int, Atom] = {}
        for key, cell in self.written.items():
            cells[key] = Var(type_of(cell.atom), getattr(cell.atom, "name", None))
            reader.journal.write(Cell(cell), cells[key])
        reader.loop_vars.update({leaf.var: key_of(frame) for leaf in self.parameters.leaves})
        self.made = stamp()
        return cells

    def _cast(self, atom: Atom | None, type: ArrayType) -> Atom:
        assert atom is not None
        return cast(self.reader, atom, type)

    def _returned(self, captured: Template) -> tuple[list[tuple[Slot, Fixed]], bool]:
        """What the function returns, by slots; and whether that was known."""
        containers = [id(each) for each in containers_in([captured])]
        if len(containers) != len(set(containers)):
            raise recursion_errors.returned_twice(self.name, self.origin)
        one = self._opened(captured)
        joiner = Joiner(self.reader.assumptions, self.made, self.reader.guessing)
        joined = joiner.checked(one) if self.result is None else joiner.join(self.result, one)
        if self.tries and any(clash.by_size for clash in clashes(joined)):
            self.tries, joined = self.tries - 1, joiner.checked(one)  # of another size; the next pass will tell
        for clash in clashes(joined):
            raise recursion_errors.returning(self.name, clash.reason, self.origin)
        before, self.result = self.result, joined
        settled = self._settled(before, joined)
        found = list(atoms(joined, captured))
        settled = self._note_sharing(found) and settled
        return list(zip((s for s in slots(joined) if isinstance(s, Slot)), found)), settled

    def _settled(self, before: Template | None, joined: Template) -> bool:
        """Whether what the body gives is what was assumed while it was read."""
        return before is not None and same_template(before, joined)

    def _opened(self, captured: Template) -> Template:
        """A result with slots for what is computed; an argument that is returned is the argument."""
        match captured:
            case Node():
                return captured.with_children(map(self._opened, captured.children))
            case Fixed(value, atom) if atom is not None and not isinstance(value, int):
                type = _array_type(type_of(atom))
                if self.result is None and self.with_conditions:
                    return Slot(type.with_sizes(tuple(map(self.reader.assumptions.normal, type.sizes))))
                is_argument = is_array(value) and any(value is leaf.value for leaf in self.parameters.leaves)
                return captured if is_argument else Slot(type)
        return captured

    def _note_sharing(self, results: list[Fixed]) -> bool:
        """Notes which arrays returned may share memory with which arguments, with arrays around the function and with
        each other; whether that was known."""
        given = [leaf.value for leaf in self.parameters.leaves]
        arrays = [fixed.value for fixed in results]
        shared = {(k, j) for k, one in enumerate(arrays) for j, arg in enumerate(given) if self._may_share(one, arg)}
        together = {(k, j) for k, one in enumerate(arrays) for j in range(k) if self._may_share(one, arrays[j])}
        around = {(k, id(cell)): cell for k, one in enumerate(arrays) for cell in self._cells_around(one)}
        known = shared <= self.shared and together <= self.together and around.keys() <= self.captured.keys()
        self.shared = {(k, j) for k, j in self.shared | shared if k < len(arrays)}
        self.together = {(k, j) for k, j in self.together | together if k < len(arrays)}
        self.captured = {(k, key): cell for (k, key), cell in (self.captured | around).items() if k < len(arrays)}
        return known

    def _cells_around(self, value: Any) -> list[Value]:
        """The arrays around the function that a result may be, or be a view of."""
        if not may_be_array(value):
            return []
        own = {id(leaf.value) for leaf in self.parameters.leaves}
        cells = (cell for cell in self.reader.aliases.group(value) if isinstance(cell, Value) and id(cell) not in own)
        return [cell for cell in cells if id(cell) in self.written or self._was_there(cell)]

    def _was_there(self, cell: Value) -> bool:
        return isinstance(cell.atom, Var) and cell.atom.serial < self.made

    def _may_share(self, one: Any, other: Any) -> bool:
        return may_be_array(one) and may_be_array(other) and self.reader.aliases.are_related(one, other)

    def _note_changes(self, begun: int) -> bool:
        """Notes which arrays the body wrote to; whether all of them were known."""
        places = {id(leaf.value): k for k, leaf in enumerate(self.parameters.leaves)}
        known = True
        for place, old in self.reader.journal.changes(begun).values():
            if place.holder is self.frame.names or not self.reader.existed(place, old, self.made):
                continue
            if not isinstance(place, Cell):
                raise recursion_errors.changing(self.name, place.name, self.origin)
            if id(place.holder) in places:
                known = known and places[id(place.holder)] in self.changed
                self.changed.add(places[id(place.holder)])
            elif id(place.holder) not in self.written:
                known = False
                self.written[id(place.holder)] = place.holder
        return known

    # -- calling it ------------------------------------------------------------------------------

    def _leaves(self, captured: Templates) -> list[Fixed]:
        return [leaf for name, template in self.templates.items() for leaf in atoms(template, captured[name])]

    def _sizes(self, leaves: list[Fixed]) -> list[Extent]:
        """The sizes of the arguments, axis by axis."""
        normal = self.reader.assumptions.normal
        return [normal(size) for leaf in leaves for size in _array_type(type_of(leaf.atom)).sizes]

    def accepts(self, captured: Templates) -> bool:
        """Whether a call with these arguments is one of this function."""
        joined = self._joined(captured)
        if any(any(clashes(template)) for template in joined.values()):
            return False
        if not self.is_complete:
            return True
        fits = all(same_template(joined[name], template) for name, template in self.templates.items())
        fits = fits and self._is_of_kinds_met(captured)
        before = list(self.extents.labels)
        refined = fits and self.extents.refine(self._sizes(self._leaves(captured)))
        self.extents.labels = before
        return fits and not refined

    def _is_of_kinds_met(self, captured: Templates) -> bool:
        """Whether numbers are of kinds with which the function was called: 3 where it takes a float32 would fit, but
        what comes back would be a float32."""
        given, first = ([_kind_of(leaf.atom) for leaf in self._leaves(each)] for each in (captured, self.outer))
        own = [_kind_of(leaf.var) for leaf in self.parameters.leaves]
        return all(kind in kinds for kind, *kinds in zip(given, first, own, strict=True))

    def _joined(self, captured: Templates) -> Templates:
        return {name: common(self.reader, template, captured[name]) for name, template in self.templates.items()}

    def call(self, captured: Templates) -> Any:
        """Emits a call with these arguments; gives what it returns."""
        joined = self._joined(captured)
        widened = not all(same_template(joined[name], template) for name, template in self.templates.items())
        self.templates = joined
        leaves = self._leaves(captured)
        if widened:
            self.extents = self._outer_extents()
        if widened or self.extents.refine(self._sizes(leaves)):
            self.result = None
            raise Again(self)
        if not self.is_complete and self.reader.recursion.derivatives > self.derivatives:
            raise recursion_errors.differentiating(self.name, self.reader.builder.origin)
        if self.result is None:
            raise Unreachable
        arrays = [leaf.value for leaf in leaves] + list(self.written.values())
        written = [*sorted(self.changed), *range(len(leaves), len(arrays))]
        check_passed(self.reader, self.function, arrays, written)
        return self._emitted(leaves, captured)

    def _emitted(self, leaves: list[Fixed], captured: Templates) -> Any:
        reader = self.reader
        types = [slot.type for slot in slots(self.result) if isinstance(slot, Slot)]  # type: ignore[arg-type]
        arrays = [leaves[k].value for k in sorted(self.changed)] + list(self.written.values())
        args = [self._cast(leaf.atom, _array_type(p.var.type)) for leaf, p in zip(leaves, self.parameters.leaves)]
        args += [cell.atom for cell in self.written.values()]
        renamed = self._renamed(leaves, args)
        targets = [Var(renamed.type(type)) for type in types]
        targets += [Var(type_of(array.atom), getattr(array.atom, "name", None)) for array in arrays]
        self.emitted = Call(tuple(targets), self.function, (*args, *self.lifted), reader.builder.origin)
        reader.builder.emit(self.emitted)
        for array, new in zip(arrays, targets[len(types) :]):
            reader.write(array, new)
        return self._result(leaves, captured, [Value(target) for target in targets[: len(types)]])

    def _renamed(self, leaves: list[Fixed], args: list[Atom]) -> Copier:
        """What the parameters and dimensions of the function are in a call."""
        sizes: dict[Any, Extent] = {}
        labels = iter(self.extents.labels)
        for leaf, parameter in zip(leaves, self.parameters.leaves):
            own = _array_type(parameter.var.type).sizes
            for size, given in zip(own, _array_type(type_of(leaf.atom)).sizes):
                if next(labels)[0] == "dim":
                    sizes.setdefault(next(iter(size.atoms())), given)  # type: ignore[union-attr]
        mapping = {parameter.var: arg for parameter, arg in zip(self.parameters.leaves, args)}
        return Copier(mapping, sizes.get)

    def _result(self, leaves: list[Fixed], captured: Templates, values: list[Value]) -> Any:
        given = [leaf.value for leaf in leaves]
        related = [(k, given[j]) for k, j in sorted(self.shared)] + [(k, values[j]) for k, j in sorted(self.together)]
        for k, other in related + [(k, cell) for (k, _), cell in self.captured.items()]:
            if may_be_array(other):
                self.reader.aliases.derive(values[k], (other,))
        sources = tuple(containers_in(captured.values()))
        template = with_arguments(self.result, self.parameters.leaves, given, sources)
        return build(self.reader, template, iter(values), _no_conflict)


def _array_type(type: Type) -> ArrayType:
    assert isinstance(type, ArrayType)
    return type


def _no_conflict(clash: Clash) -> Any:
    raise AssertionError(clash.reason)


@contextmanager
def standing_alone(reader: Reader) -> Iterator[list[Any]]:
    """A block that sees nothing of the code around it: that has to come in by parameters."""
    loops, reader.loops = reader.loops, []
    try:
        with reader.builder.apart() as block:
            yield block
    finally:
        reader.loops = loops


def _kind_of(atom: Any) -> tuple[Any, bool]:
    type = _array_type(type_of(atom))
    return type.dtype, type.weak
