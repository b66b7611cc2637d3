"""The nest form as Python that numba compiles: explicit loops over numbers.

What is printed is a function of the parameters, and of the arrays that it fills for its caller; it
returns its other results. It is plain Python over NumPy arrays, and runs as such, slowly.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ...core.equations import of_range, single_atom
from ...core.errors import Origin
from ...core.grammar import Let, Var, type_of
from ...core.sizes import Dim, Extent, Greatest, Size, leaves
from ...write.composites import Composites
from ...write.layout import Group, Item, Line, Note, lines_of
from ...write.names import PRINTED, fresh, identifier
from ...write.numbers import number
from ..nest.aliases import Memories
from ..nest.nest_walk import statements
from ..nest.nests import Allocate, Lowered
from .functions import Functions, module_of
from .lists import Lists
from .loops import Loops
from .own_functions import Facts
from .repeated import outlined
from .statements import memory_name
from .stretches import in_stretches


@dataclass
class Printed:
    """Source of a module; `name` is its function, `functions` are those that it calls, among them `vector`,
    those of vector mathematics, and `regrouped`, whose additions may be done in any order, and `hosted`,
    in which Python does something; `given` are the objects that it takes for granted, by name. `raising` are
    the lines below the imports that raise, with what they come from; `tasks` are the functions that threads share.
    `tree` is the function, `items` what its statements have become, by their identity; `forms` are the functions of
    which compiled code has forms of our own, such as a call of BLAS. `grids` are the names of the functions that say
    how many threads are launched, by their own, and `origins` the places in the program that kernels come from.
    `arrays` are the parameters of functions that are arrays, the others being None."""

    source: str
    name: str
    functions: list[str]
    vector: set[str]
    regrouped: set[str]
    given: dict[str, Any] = field(default_factory=dict)
    hosted: set[str] = field(default_factory=set)
    raising: dict[int, Origin] = field(default_factory=dict)
    tasks: set[str] = field(default_factory=set)
    tree: Group | None = None
    items: dict[int, list[Item]] = field(default_factory=dict)
    forms: dict[str, str] = field(default_factory=dict)
    grids: dict[str, str] = field(default_factory=dict)
    origins: dict[str, list[Origin]] = field(default_factory=dict)
    arrays: dict[str, list[Var | None]] = field(default_factory=dict)
    repeated: set[str] = field(default_factory=set)
    alone: set[str] = field(default_factory=set)


def print_lowered(lowered: Lowered, name: str, taken: Iterable[str] = ()) -> Printed:
    """The source of a lowered function; `taken` are names of the module that it becomes part of."""
    names = {lowered.function: name}
    for callee in lowered.callees:
        names[callee.function] = fresh(identifier(callee.function.name), {*names.values(), *PRINTED, *taken})
    functions = Functions({*names.values(), *taken})
    everything = [*lowered.callees, lowered]
    lists = Lists(everything, {*names.values(), *PRINTED, *taken})
    printers = [Printer(each, functions, names, lists) for each in everything]
    trees = [each.function(names[each.lowered.function], each is printers[-1]) for each in printers]
    functions.flatten()
    parts = functions.lines()
    raising: dict[int, Origin] = {}
    for tree in (*functions.tasks.values(), *trees):
        lines = list(lines_of([tree], 0))
        raising.update(raised_by(lines, _height(parts), functions.hosted))
        parts.append([text for text, _ in lines])
    called = [names[callee.function] for callee in lowered.callees]
    return Printed(module_of(parts), name, [*functions.trees, *functions.hosted, *functions.tasks, *called],
                   functions.vector, functions.regrouped, functions.given, set(functions.hosted), raising,
                   set(functions.tasks), trees[-1], printers[-1].items, functions.forms,
                   arrays={**functions.arrays, name: [*lowered.function.params, *lowered.outside]},
                   repeated=functions.repeated, alone=functions.alone)


def _height(parts: list[list[str]]) -> int:
    """How many lines definitions take, with two between them and the next."""
    return sum(len("\n".join(part).split("\n")) + 2 for part in parts)


def raised_by(lines: list[tuple[str, Origin | None]], above: int, hosted: Iterable[str] = ()) -> dict[int, Origin]:
    """The places of lines that raise, or call what Python does."""
    calls = tuple(f"{name}(" for name in hosted)
    return {above + k: origin for k, (text, origin) in enumerate(lines, 1)
            if origin is not None and (text.lstrip().startswith(("raise ", "assert "))
                                       or any(call in text for call in calls))}


class Printer(Loops):
    """Prints a function."""

    def function(self, name: str, is_kernel: bool = False) -> Group:
        lowered = self.lowered
        params = [self.names.give(param, "x") for param in lowered.function.params]
        makers = {stmt.target: memory_name(stmt) for stmt in lowered.body if isinstance(stmt, Allocate)}
        params += [self.names.give(target, "result" if target in lowered.results else makers[target])
                   for target in lowered.outside]
        heads = self._sizes()
        rows = [item for array in [*lowered.function.params, *lowered.outside] for item in self.ravels(array)]
        if is_kernel:
            self.memories = self._memories()
        params += [*self.lists.params(lowered.function), *self.depth.param(self.names)]
        items = [*self.depth.test(), *self.lists.made(lowered.function), *before_use(rows, self.block(lowered.body))]
        returned = list(map(self.returned, lowered.returned))
        if returned:
            items.append(Line(ast.Return(returned[0] if len(returned) == 1 else ast.Tuple(returned))))
        if is_kernel:                                                    # others may be given parts of one array
            known: dict[int, Facts] = {}
            items = in_stretches(self, params, outlined(self, params, items, known), known)
        arguments = ast.arguments([], [ast.arg(param) for param in params], None, [], [], None, [])
        return Group(ast.FunctionDef(name, arguments, [], [], None), [*heads, *items])

    def _memories(self) -> Memories:
        """Which arrays of a kernel may share memory: none of those that it is given, as far as it writes them."""
        inside = list(statements(self.lowered.body))
        sequences = [(each.target, each.args[0]) for each in inside if isinstance(each, Let) and each.op.of_sequences]
        rows = [(rows, array) for (array, _), rows in self.raveled.items()]
        own = {*self.lowered.function.params, *self.lowered.outside, *self.allocated}
        return Memories(self.lowered.body, own, [*sequences, *rows])

    def returned(self, atom: Any) -> ast.expr:
        return self.atom(atom)

    def _sizes(self) -> list[Item]:
        """`n, m = x.shape` for the dimensions that are mentioned, and `height = n - m + 1` for others."""
        arrays = [*self.lowered.function.params, *self.lowered.outside]
        self.existing = {Greatest(size, 0): size for array in arrays for size in getattr(array.type, "sizes", ())}
        sizes = [self.normal(size) for size in _mentioned(self.lowered, self.raveled, self.whole)]
        wished = self.lowered.function.size_names
        self.composites = Composites(sizes, wished)
        self.size_names = {single_atom(size): name for size, name in wished.items()} | self.composites.names
        mentioned = {leaf for size in (*sizes, *self.composites.sizes.values()) for leaf in leaves(size)}
        by_param: dict[Var, dict[int, Dim]] = {}
        for dim, (param, axis) in dimensions(self.lowered).items():
            if dim in mentioned:
                by_param.setdefault(param, {})[axis] = dim
        for dim in (*(dim for dims in by_param.values() for dim in dims.values()), *self.composites.sizes):
            self.names.sizes[dim] = self._size_name(dim)
        found = [item for param, dims in by_param.items() for item in self._sizes_of(param, dims)]
        return [*found, *(Line(ast.Assign([self._size_atom(dim)], self.sum(size)))
                          for dim, size in self.composites.sizes.items())]

    def _sizes_of(self, param: Var, dims: dict[int, Dim]) -> Iterator[Item]:
        shape = ast.Attribute(ast.Name(self.names.of[param]), "shape")
        rank = param.type.rank                                           # type: ignore[union-attr]
        if len(dims) == rank > 1:
            names: list[ast.expr] = [ast.Name(self.names.sizes[dims[axis]]) for axis in range(rank)]
            yield Line(ast.Assign([ast.Tuple(names)], shape))
            return
        for axis, dim in dims.items():
            yield Line(ast.Assign([ast.Name(self.names.sizes[dim])], ast.Subscript(shape, number(axis))))

    def _size_name(self, dim: Dim) -> str:
        wish = self.size_names.get(dim, dim.name)
        wishes = [wish] if wish.isidentifier() else ["n", "m", "d"]
        taken = self.names.used | self.names.reserved
        name = next((wish for wish in wishes if wish not in taken), wishes[0])
        name = fresh(identifier(name), taken)
        self.names.take(name)
        return name


def before_use(rows: list[Item], items: list[Item]) -> list[Item]:
    """Items with assignments right before the first one that mentions what they assign to."""
    waiting, found = {item.node.targets[0].id: item for item in rows}, []                # type: ignore[union-attr]
    for item in items:
        mentioned = set(_names_in([item])) if waiting else set()
        found += [waiting.pop(name) for name in list(waiting) if name in mentioned]
        found.append(item)
    return found


def _names_in(items: list[Item]) -> Iterator[str]:
    for item in items:
        for tree in () if isinstance(item, Note) else (item.node,) if isinstance(item, Line) else (item.head,):
            yield from (node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
        if isinstance(item, Group):
            yield from _names_in([*item.body, *item.orelse])


def dimensions(lowered: Lowered) -> dict[Dim, tuple[Var, int]]:
    """Where each named dimension is found: the parameter and the axis. What is called may be given only arrays of a
    size that is equal, by assumption, to the one that stands for both."""
    found = dict(lowered.function.dims)
    for param in lowered.function.params:
        for axis, size in enumerate(getattr(param.type, "sizes", ())):
            for atom in size.atoms() if isinstance(size, Size) else ():
                if isinstance(atom, Dim) and size == Size.of(atom):
                    found.setdefault(atom, (param, axis))
    for dim, place in list(found.items()):
        normal = lowered.assumptions.normal(Size.of(dim))
        for atom in normal.atoms() if isinstance(normal, Size) else ():
            if normal == Size.of(atom) and isinstance(atom, Dim):
                found.setdefault(atom, place)
    return found


def _mentioned(lowered: Lowered, raveled: dict[Any, Var], whole: Container[Extent]) -> Any:
    """Every size that is printed; loops over `whole` arrays need none."""
    for stmt in statements(lowered.body):
        if isinstance(stmt, Allocate) and stmt.target not in lowered.outside:
            yield from stmt.target.type.sizes                            # type: ignore[union-attr]
        for index in getattr(stmt, "indices", ()):
            if index.size not in whole:
                yield of_range(index.size)
        if isinstance(getattr(stmt, "trips", None), Size):
            yield of_range(stmt.trips)
        yield from _sizes_in((getattr(stmt, "args", ()), getattr(stmt, "at", ()), getattr(stmt, "cost", None),
                              list(getattr(stmt, "attrs", {}).values())))
        for carry in getattr(stmt, "carries", ()):
            yield from _sizes_in((carry.init, carry.next))
        for merge in getattr(stmt, "merges", ()):
            yield from _sizes_in((merge.then, merge.orelse))
        for record in getattr(stmt, "records", ()):
            yield from _sizes_in((record.value, getattr(record.target.type, "sizes", ()),
                                  getattr(type_of(record.value), "sizes", ())))
        yield from _sizes_in((getattr(stmt, "value", None), [part.at for part in getattr(stmt, "parts", ())]))
    yield from (size for rows in raveled.values() if len(rows.type.sizes) > 1 for size in rows.type.sizes)   # type: ignore[union-attr]
    yield from _sizes_in(lowered.results)


def _sizes_in(item: Any) -> Any:
    if isinstance(item, Size):
        yield item
    elif isinstance(item, (tuple, list)):
        for each in item:
            yield from _sizes_in(each)
