"""The function that users call around a compiled kernel: takes containers apart, makes the arrays that
the kernel fills, puts the result together.

    def loss_grad(params, x):
        w = params["w"]
        dw = np.empty(len(w))
        loss_grad_kernel(w, x, dw)
        return {"w": dw}

What the kernel gets are the parameters of the Core function and then the arrays it fills; what it returns
are its other results, in their order. What is a parameter or a constant itself is no result of a kernel.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core.grammar import Const, Function, If, Loop, Undefined, Var, is_array, type_of
from ..core.sizes import Dim, Size, Unknown, leaves
from ..core.types import ArrayType
from ..core.walk import all_statements
from ..read.interface import Result
from .dtypes import dtype_tests
from .expressions import dtype_tree
from .fixed import fixed_tests
from .guards import Guards
from .layout import Group, Item, Line, lines_of
from .names import PRINTED, fresh, identifier
from .numbers import number, number_class, of_numpy
from .rebuilding import homes_of, rebuilt
from .shadows import Shadows, assignments
from .sharing import class_tests, memory_tests
from .signature import parameters, places, result_tree, results_in
from .sizes import SizePlan, bound_by, extent_of_axis

FLOAT64 = "float64"


@dataclass(slots=True)
class Kernel:
    """A kernel as its entry calls it."""

    name: str
    params: list[Var]
    outside: list[Var]                   # the arrays that its caller allocates
    zeroed: list[Var]                    # those of them that are full of zeros
    in_place: list[Var]                  # the results that are in the memory of a parameter
    results: list[Any]
    cells: set[Var]                      # the results that are numbers on a device: arrays without axes
    turned: Collection[Var]              # the parameters whose transposes it takes
    donated: Collection[Var]             # the parameters whose memory it may use for results
    library: str                         # which makes arrays: NumPy, as `np`, or CuPy, as `cp`
    raises_in_pieces: bool               # the texts of its errors, which the entry puts together


@dataclass(slots=True)
class EntrySource:
    """The lines of an entry, its name, and what names in it stand for that it does not define."""

    lines: list[str]
    name: str
    namespace: dict[str, Any] = field(default_factory=dict)


def computed(function: Function) -> list[Any]:
    """The results of a function that a kernel has to give, each once."""
    params = set(function.params)
    return list(dict.fromkeys(atom for atom in function.results if _is_computed(atom, params)))


def _is_computed(atom: Any, params: set[Var]) -> bool:
    if isinstance(atom, Size):
        return any(isinstance(leaf, Unknown) and leaf.var not in params for leaf in leaves(atom))
    return isinstance(atom, Var) and atom not in params


def write_entry(function: Function, interface: Any, kernel: Kernel, name: str, *, written: dict[Var, Any],
                is_transformed: bool, axisless: Iterable[Var], guards: bool) -> EntrySource:
    """The entry `name` of a function, which calls its kernel. `written` are the parameters that the user's function
    writes, with their new values; results of what is transformed are fresh memory, or that of donated parameters;
    `axisless` are the parameters that are arrays without axes. With `guards` it tests the shapes it is given."""
    return _Entry(function, interface, kernel, name, written, is_transformed, set(axisless)).printed(guards)


class _Sizes(SizePlan):
    """The sizes of arrays that are allocated, in terms of the parameters."""

    def __init__(self, function: Function, dims: dict[Dim, tuple[Var, int]], shapes: list[tuple[Any, ...]]) -> None:
        self.bound = bound_by(function.guards)
        self.places = {}
        self.params, self.body = function.params, function.body
        self.known, self.counts = None, {}
        self.sources = dims
        self.names = {}
        self.lasting = set(function.params)
        self.shapes = self._shapes()
        sizes = [size for shape in shapes if self.whole(shape) is None for size in shape if isinstance(size, Size)]
        self._name(sizes, function.size_names)
        needed = [*self.named, *(dim for size in sizes for dim in self._dims(size))]
        self.named |= {dim: None for dim, times in Counter(needed).items() if times > 1}
        wholes = {whole for shape in shapes if (whole := self.whole(shape)) is not None}
        self.looked_at = {dims[dim][0] for dim in needed} | wholes


class _Guards(Guards):
    """All tests: a kernel refuses nothing by itself, as NumPy does where lengths in a product differ."""

    def _collect(self) -> None:
        self.refused = set()
        super()._collect()


class _Entry:
    def __init__(self, function: Function, interface: Any, kernel: Kernel, name: str, written: dict[Var, Any],
                 is_transformed: bool, axisless: set[Var]) -> None:
        self.declared, self.shadows = interface, Shadows(interface)
        interface = self.shadows.interface
        self.function, self.interface, self.kernel = function, interface, kernel
        self.name, self.written, self.is_transformed, self.axisless = name, written, is_transformed, axisless
        self.namespace: dict[str, Any] = {}
        hidden = {hidden.var: identifier(hidden.name) for hidden in interface.hidden}
        self.paths: dict[Var, str] = {var: path for p in interface.parameters for var, path in places(p)} | hidden
        self.used = {name, kernel.name, *PRINTED, *hidden.values(), *(p.name for p in interface.parameters)}
        self.bound: dict[Var, str] = {}
        self.wide: dict[Var, str] = {}           # what is computed with in place of numbers of 16 bits
        self.sizes = _Sizes(function, self._dims(), [target.type.sizes for target in kernel.outside])   # type: ignore[union-attr]
        self.given: dict[Any, ast.expr] = {}
        self.filled: set[Any] = set()            # what the kernel writes into memory that is made here
        self.on_device = {atom for atom, found in zip(computed(function), kernel.results) if found in kernel.cells}

    def printed(self, guards: bool) -> EntrySource:
        hidden = [identifier(hidden.name) for hidden in self.declared.hidden]
        head = ast.FunctionDef(self.name, parameters(self.declared, self.namespace, hidden), [], [])
        items = [*self._unpacked(), *self._sizes()]
        if guards:
            items = [*fixed_tests(self.interface), *items, *self._tests()]
        items += [*self._widened(), *self._allocated(), *self._call(), *self._handed_back(), *self._returned(guards)]
        aliases = [Line(node) for node in assignments(self.shadows.lifted(items, self.used))]
        lines = [text for text, _ in lines_of([*aliases, Group(head, items)], 0)]
        lines[len(aliases):len(aliases)] = ["", ""] * bool(aliases)
        return EntrySource(lines, self.name, self.namespace)

    # -- parameters ---------------------------------------------------------------------------

    def _dims(self) -> dict[Dim, tuple[Var, int]]:
        """Where each dimension is found."""
        found = dict(self.function.dims)
        for param in self.function.params:
            for axis, size in enumerate(getattr(param.type, "sizes", ())):
                atoms = list(size.atoms()) if isinstance(size, Size) else []
                if len(atoms) == 1 and isinstance(atoms[0], Dim) and size == Size.of(atoms[0]):
                    found.setdefault(atoms[0], (param, axis))
        return found

    def _unpacked(self) -> Iterator[Item]:
        """`w = params["w"]`, of what is looked at more than once."""
        looked_at = self.sizes.looked_at | set(self.written)
        for var, path in self.paths.items():
            if var in looked_at and not path.isidentifier():
                self.bound[var] = fresh(identifier(var.name or path), self.used)
                yield _assign(self.bound[var], ast.parse(path, mode="eval").body)

    def reached(self, param: Var) -> ast.expr:
        """A parameter as its caller gave it."""
        return ast.parse(self.bound.get(param) or self.paths[param], mode="eval").body

    def _widened(self) -> Iterator[Item]:
        """`x32 = x.astype(np.float32)`, of numbers of 16 bits that a kernel takes."""
        for param in self.kernel.params:
            if param in self.interface.halves:
                tree = self.argument(param)
                self.wide[param] = fresh(f"{identifier(param.name or 'x')}32", self.used)
                yield _assign(self.wide[param], _in_dtype(tree, param.type, np.dtype(np.float32)))    # type: ignore[arg-type]

    def argument(self, param: Var) -> ast.expr:
        """A parameter as a kernel takes it: an array without axes is a number."""
        return ast.Name(self.wide[param]) if param in self.wide else self._in_own_dtype(param)

    def _in_own_dtype(self, param: Var) -> ast.expr:
        tree = self.reached(param)
        if param not in self.axisless:
            return tree
        if self.kernel.library == "np":
            return ast.Subscript(tree, ast.Tuple([]))
        return ast.Call(_dtype(param.type), [ast.Call(ast.Attribute(tree, "item"), [], [])], [])   # type: ignore[arg-type]

    def _tests(self) -> Iterator[Item]:
        """What the code below rests on."""
        yield from _Guards(self.function, self.sizes, self.reached).items()
        yield from dtype_tests(self.function, self.interface.halves, self.reached)
        yield from class_tests(self.interface, self.reached)
        yield from memory_tests(self.interface, self.reached)

    # -- arrays -------------------------------------------------------------------------------

    def _sizes(self) -> Iterator[Item]:
        """`n, m = x.shape`."""
        for dim in self.sizes.to_be_named():
            wish = self.sizes.given.get(dim, dim.name)
            wish = wish if wish.isidentifier() else next((w for w in "nmdpqrs" if w not in self.used), "n")
            self.sizes.names[dim] = fresh(wish, self.used)
        for param, axes in self.sizes.definitions():
            rank = param.type.rank                                                         # type: ignore[union-attr]
            names: list[ast.expr] = [ast.Name(self.sizes.names[dim]) for _, dim in axes]
            if len(axes) == rank > 1:
                yield Line(ast.Assign([ast.Tuple(names)], ast.Attribute(self.reached(param), "shape")))
                continue
            for axis, dim in axes:
                yield _assign(self.sizes.names[dim], extent_of_axis(self.reached(param), param, axis))
        for name, value in self.sizes.sums():
            yield _assign(name, value)

    def _allocated(self) -> Iterator[Item]:
        """`dw = np.empty((n, m), np.float32)`."""
        for target in self.kernel.outside:
            type: ArrayType = target.type                                                  # type: ignore[assignment]
            shape = self.sizes.shape(type.sizes, self.argument)
            if isinstance(shape, ast.Tuple) and len(shape.elts) == 1:
                shape = shape.elts[0]
            kind = [] if type.dtype.name == FLOAT64 else [_dtype(type)]
            name = fresh(identifier(target.name or "result"), self.used)
            self.given[target] = ast.Name(name)
            maker = "zeros" if target in self.kernel.zeroed else "empty"
            yield _assign(name, ast.Call(of_numpy(maker), [shape, *kind], []))

    # -- the call -----------------------------------------------------------------------------

    def _call(self) -> Iterator[Item]:
        arguments = [*map(self._passed, self.kernel.params), *(self.given[target] for target in self.kernel.outside)]
        call = ast.Call(ast.Name(self.kernel.name), arguments, [])
        in_place = {param: self.argument(param) if param in self.wide else self.reached(param)
                    for param in self.kernel.in_place}
        passed = {**self.given, **in_place}
        rest = [k for k, atom in enumerate(self.kernel.results) if atom not in passed]
        names = [fresh(identifier(getattr(self.kernel.results[k], "name", None) or "value"), self.used) for k in rest]
        targets: list[ast.expr] = [ast.Name(name) for name in names]
        atoms = computed(self.function)
        for k, atom in enumerate(self.kernel.results):
            self.given[atoms[k]] = targets[rest.index(k)] if k in rest else passed[atom]
        self.filled = {atoms[k] for k in range(len(atoms)) if k not in rest}
        in_pieces = self.kernel.raises_in_pieces
        if len(names) == 1 and not (self.written or passed or in_pieces) and self._is_nested(atoms[rest[0]]):
            self.given[atoms[rest[0]]] = call
            return
        target = targets[0] if len(names) == 1 else ast.Tuple(targets)
        stmt = ast.Assign([target], call) if names else ast.Expr(call)
        yield Line(_in_one_piece(stmt) if in_pieces else stmt)

    def _passed(self, param: Var) -> ast.expr:
        """An argument of the kernel: the transpose of an array that lies column by column."""
        tree = self.argument(param)
        return ast.Attribute(tree, "T") if param in self.kernel.turned else tree

    def _handed_back(self) -> Iterator[Item]:
        """`x[...] = x2`, for arrays that the function writes."""
        for param, value in self.written.items():
            if value is not param:
                target = ast.Subscript(self.reached(param), ast.Constant(...))
                yield Line(ast.Assign([target], self._number_or_array(value)))

    def _is_nested(self, atom: Any) -> bool:
        """Whether a result is mentioned once."""
        returned = [self.function.results[k] for k in results_in(self.interface.result)]
        return returned.count(atom) == 1 and not (self.is_transformed and self._same_memory(atom))

    # -- the result ---------------------------------------------------------------------------

    def _returned(self, guards: bool) -> list[Item]:
        tree = self.interface.result
        homes = homes_of(self.interface) if guards else {}
        if tree is None:
            return []
        seen: set[Any] = set()

        def leaf(item: Any) -> ast.expr:
            if not isinstance(item, Result):
                return self._number_or_array(item)
            atom = self.function.results[item.k]
            of_kind = self._result if is_array(atom) or self.is_transformed else self._without_axes
            found = of_kind(item.k, atom)
            if item.k in self.interface.halves and not self._is_given(atom):
                return _in_dtype(found, type_of(atom), self.interface.halves[item.k])     # type: ignore[arg-type]
            if self.is_transformed and is_array(atom):
                found = self._apart(atom, found, atom in seen)
            seen.add(atom)
            return found

        def again(tree: Any, parts: list[ast.expr]) -> ast.expr | None:
            return rebuilt(tree, parts, homes)

        return [Line(ast.Return(result_tree(tree, leaf, self.namespace, again, self.used)))]

    def _is_given(self, atom: Any) -> bool:
        """Whether a result is the array itself that was an argument."""
        return any(value is atom for value in self.written.values()) or atom in self.paths

    def _result(self, k: int, atom: Any) -> ast.expr:
        """A result as the user's function gives it: the array itself where that is an argument."""
        for param, value in self.written.items():
            if value is atom:
                return self.reached(param)
        if atom in self.paths and is_array(atom):
            return self.reached(atom)
        return self._number(k, atom)

    def _number(self, k: int, atom: Any) -> ast.expr:
        """A result, which is in its own dtype where it is an argument of 16 bits, and not float32 made of one."""
        is_given = k in self.interface.halves and atom in self.paths
        return self._in_own_dtype(atom) if is_given else self._number_or_array(atom)

    def _without_axes(self, k: int, atom: Any) -> ast.expr:
        """A result without axes: a number, or an array, which may be that of an argument."""
        found = self._number(k, atom)
        if k not in self.interface.axisless:
            return found
        param = self.interface.axisless[k]
        return ast.Call(of_numpy("array"), [found], []) if param is None else self.reached(param)

    def _number_or_array(self, atom: Any) -> ast.expr:
        if atom in self.paths:
            return self.argument(atom)
        if isinstance(atom, Undefined):
            return ast.Constant(None)
        if isinstance(atom, Size) and atom not in self.given:
            return self.sizes.tree(atom, self.argument)
        tree = number(atom.value) if isinstance(atom, Const) else self.given[atom]
        type = type_of(atom)
        if atom in self.on_device:                                       # Python's numbers are not on it
            return ast.Call(ast.Attribute(tree, "item"), [], []) if type.weak else tree    # type: ignore[union-attr]
        is_number = isinstance(type, ArrayType) and not type.sizes and not type.weak
        return ast.Call(_dtype(type), [tree], []) if is_number else tree                   # type: ignore[arg-type]

    def _apart(self, atom: Any, found: ast.expr, is_again: bool) -> ast.expr:
        """A result in memory of its own: `u.copy() if np.may_share_memory(u, u0) else u`."""
        copied = ast.Call(ast.Attribute(found, "copy"), [], [])
        params = [] if atom in self.filled else self._same_memory(atom)
        if is_again or atom in self.paths:
            return copied
        if not params:
            return found
        shared: list[ast.expr] = [ast.Call(ast.Attribute(ast.Name(self.kernel.library), "may_share_memory"),
                                              [found, self.reached(p)], []) for p in params]
        return ast.IfExp(shared[0] if len(shared) == 1 else ast.BoolOp(ast.Or(), shared), copied, found)

    def _same_memory(self, atom: Any) -> list[Var]:
        """The parameters whose memory a result may be: those that loops and branches hand on."""
        sources: dict[Any, list[Any]] = {}
        for stmt in all_statements(self.function.body):
            if isinstance(stmt, If):
                sources.update({merge.target: [merge.then, merge.orelse] for merge in stmt.merges})
            elif isinstance(stmt, Loop):
                for carry in stmt.carries:
                    sources[carry.out] = sources[carry.entry] = [carry.init, carry.next]
        seen: set[Any] = set()
        pending: list[Any] = [atom]
        while pending:
            one = pending.pop()
            if one in seen:
                continue
            seen.add(one)
            pending += sources.get(one, [])
        return [param for param in self.paths if param in seen and param not in self.kernel.donated and is_array(param)]


def _in_one_piece(stmt: ast.stmt) -> ast.stmt:
    """A call, with the text of an error put together, of which numba raises the pieces."""
    made = ast.parse('try:\n    pass\nexcept IndexError as error:\n'
                     '    raise IndexError(" ".join(map(str, error.args))) from None').body[0]
    assert isinstance(made, ast.Try)
    made.body = [stmt]
    return made


def _assign(name: str, value: ast.expr) -> Line:
    return Line(ast.Assign([ast.Name(name)], value))


def _in_dtype(tree: ast.expr, type: ArrayType, dtype: np.dtype[Any]) -> ast.expr:
    """An array or a number in another dtype: `x.astype(np.float32)`, `np.float16(t)`."""
    if type.sizes:
        return ast.Call(ast.Attribute(tree, "astype"), [dtype_tree(dtype)], [])
    if isinstance(tree, ast.Call) and tree.args and len(tree.args) == 1 and ast.unparse(tree.func) == "np.float32":
        tree = tree.args[0]
    return ast.Call(dtype_tree(dtype), [tree], [])


def _dtype(type: ArrayType) -> ast.expr:
    return of_numpy("bool_") if type.dtype.kind == "b" else number_class(type.dtype)
