"""The driver as source: it allocates, calls libraries, decides, and launches kernels.

    y = cp.empty(n, np.float32)
    fill_y[over_threads(n)](n, x, y)
    return y
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from ...core.grammar import Effect, Let
from ...core.types import ArrayType
from ...write.effects import PLAIN
from ...write.expressions import dotted
from ...write.layout import Group, Item, Line
from ...write.natural import NATURAL
from ...write.numbers import number
from ..expand.checks import CHECK, printed
from ..nest.nest_walk import statements
from ..nest.nests import ROOM, Allocate, Block, Launch, Library, Load, Nest, Product
from ..printing.hosted import Fixed
from ..printing.numbers import dtype_tree
from ..printing.statements import MEMORY, memory_name
from . import grids, long_axes, reserved
from .driven import Fetched, OfNumpy, differs
from .graphs import is_replayed
from .halves import dtype_in_kernels
from .kernels import Kernels
from .launches import CELL
from .library import taken_as_they_are
from .products import everything, product, stacked

# What CuPy has under NumPy's names; all else is computed by NumPy or SciPy.
OF_CUPY = ("np.linalg.", "np.fft.", "np.sort", "np.argsort", "np.searchsorted", "np.bincount", "np.partition")


class Driver(Kernels):
    """Prints all there is."""

    in_kernel = False

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.fresh: set[Any] = set()                                     # arrays that a library makes
        self.names.used |= reserved.NAMES
        self.names.ever = self.numbers.functions.taken                   # no function has the name of a variable
        self.names.ever |= self.names.reserved

    def collect_hosted(self, block: Block) -> None:
        """Libraries and effects are called where they stand."""

    def _sizes(self) -> list[Item]:
        launches = any(isinstance(each, Launch) for each in statements(self.lowered.body))
        items = super()._sizes()
        computed = self.composites.sizes
        long: list[ast.expr] = [ast.Name(name) for dim, name in self.names.sizes.items()
                                if dim not in computed or not long_axes.is_bounded(computed[dim])]
        return [*items, *self.checks(long)] if launches else items

    def returned(self, atom: Any) -> ast.expr:
        """A number of the device is an array without axes."""
        tree = self.atom(atom)
        if atom in self.lowered.cells:
            return ast.Call(ast.Attribute(tree, "reshape"), [ast.Tuple([])], [])
        return tree

    def row(self, store: ast.expr, position: ast.expr, value: Any) -> ast.expr:
        """A number is kept as a part of one element, which nobody has to wait for."""
        if value in self.lowered.cells:
            return ast.Subscript(store, ast.Slice(position, ast.BinOp(position, ast.Add(), number(1)), None))
        return super().row(store, position, value)

    def row_type(self, value: Any) -> Any:
        return ArrayType(value.type.dtype) if value in self.lowered.cells else super().row_type(value)

    def _loop(self, stmt: Any) -> list[Item]:
        items = super()._loop(stmt)
        return items if self.in_kernel else [_on_device(item) for item in items]

    def _head(self, stmt: Any, tests: bool) -> ast.stmt:
        """`for t in replayed(steps)`, where the steps are alike."""
        head = super()._head(stmt, tests)
        if not self.in_kernel and isinstance(head, ast.For) and is_replayed(stmt):
            function = self.function_name(self.numbers.functions.grid(grids.replayed))
            head.iter = ast.Call(function, [self.atom(stmt.trips)], [])
        return head

    def _not_negative(self, stmt: Any) -> list[Item]:
        """Which is for compilers of processors."""
        return []

    def _launch(self, stmt: Any) -> list[Item]:
        self.in_kernel = True
        items = super()._launch(stmt)
        self.in_kernel = False
        return items

    def value(self, stmt: Let) -> ast.expr:
        if not self.in_kernel and differs(stmt):
            return OfNumpy(self).value(stmt)
        tree = super().value(stmt)
        if stmt.op is Load and not self.in_kernel:
            return ast.Call(ast.Attribute(tree, "item"), [], [])
        return tree

    def _allocated(self, name: str, type: ArrayType, origin: Any) -> Item:
        if self.in_kernel:
            return self._local(name, type, origin)
        sizes = [self.size(size) for size in type.sizes]
        shape = sizes[0] if len(sizes) == 1 else ast.Tuple(sizes)
        dtype = [] if type.dtype == np.float64 else [dtype_tree(type.dtype)]
        return Line(ast.Assign([ast.Name(name)], ast.Call(dotted("cp.empty"), [shape, *dtype], [])), origin)

    def _local(self, name: str, type: ArrayType, origin: Any) -> Item:
        sizes = [self.size(size) for size in type.sizes]
        shape = sizes[0] if len(sizes) == 1 else ast.Tuple(sizes)
        memory = "shared" if self.together else "local"
        tree = ast.Call(dotted(f"cuda.{memory}.array"), [shape, dtype_in_kernels(type.dtype)], [])
        return Line(ast.Assign([ast.Name(name)], tree), origin)

    def _product(self, stmt: Product) -> list[Item]:
        return [Line(_OnDevice().visit(product(self, stmt)), stmt.origin)]

    def _nest(self, stmt: Nest) -> list[Item]:
        if self.in_kernel:
            return super()._nest(stmt)
        with self.names.scope():
            for index in stmt.indices:
                self.names.index(index.var)
            tree = stacked(self, stmt)
        return super()._nest(stmt) if tree is None else [Line(tree, stmt.origin)]

    def block(self, block: Block) -> list[Item]:
        if not self.in_kernel:
            self.fresh |= taken_as_they_are(block)
        return super().block(block)

    def _allocate(self, stmt: Allocate) -> list[Item]:
        if stmt.target not in self.fresh:
            return super()._allocate(stmt)
        self.names.give(stmt.target, memory_name(stmt))
        return []

    def _library(self, stmt: Library) -> list[Item]:
        let = Let(stmt.targets, stmt.op, stmt.args, stmt.attrs, stmt.origin)
        tree = Fixed(self).application(let)
        if ast.unparse(ast.fix_missing_locations(tree)).startswith(OF_CUPY):
            tree = _OnDevice().visit(tree)
        else:
            tree = brought(Fetched(self).application(let), len(stmt.targets))
        targets = [self._target(stmt, var) for var in stmt.targets]
        return [Line(ast.Assign([targets[0] if len(targets) == 1 else ast.Tuple(targets)], tree), stmt.origin)]

    def _target(self, stmt: Library, var: Any) -> ast.expr:
        if not stmt.is_array(var):
            return ast.Name(self.names.give(var, NATURAL.get(stmt.op.name, stmt.op.name)))
        return self.atom(var) if var in self.fresh else everything(self.atom(var))

    def in_driver(self) -> Any:
        return Fixed(self)

    def _effect(self, stmt: Effect) -> list[Item]:
        if self.telling is not None:
            return self.telling.found(self, stmt)
        if stmt.kind == CHECK:
            return printed(self, stmt)
        if stmt.kind == ROOM:
            return [_on_device(self._room(stmt))]
        return [Line(PLAIN[stmt.kind](stmt, Fixed(self)), stmt.origin)]


def brought(tree: ast.expr, count: int) -> ast.expr:
    """What a function of the host gives, on the device: `cp.asarray(…)`, of several results `map(cp.asarray, …)`."""
    if count == 1:
        return ast.Call(dotted("cp.asarray"), [tree], [])
    return ast.Call(ast.Name("map"), [dotted("cp.asarray"), tree], [])


class _OnDevice(ast.NodeTransformer):
    """`cp.` in place of `np.`; CuPy has no `svdvals`."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if ast.unparse(node.func) == "np.linalg.svdvals":
            none = ast.keyword("compute_uv", ast.Constant(False))
            node = ast.Call(dotted("np.linalg.svd"), node.args, [*node.keywords, none])
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name("cp") if node.id == "np" else node


def _on_device(item: Item) -> Item:
    """With functions of CuPy in place of those of NumPy that make arrays."""
    if isinstance(item, Line):
        return Line(_Made().visit(item.node), item.origin)
    if isinstance(item, Group):
        return Group(item.head, list(map(_on_device, item.body)), list(map(_on_device, item.orelse)), item.origin)
    return item


class _Made(ast.NodeTransformer):
    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if node.attr in ("empty", "empty_like", "concatenate") and _is_of_numpy(node.value):
            return ast.Attribute(ast.Name("cp"), node.attr)
        return self.generic_visit(node)


def _is_of_numpy(tree: ast.expr) -> bool:
    return isinstance(tree, ast.Name) and tree.id == "np"


MEMORY.setdefault(CELL, "number")
