"""Core to readable NumPy source.

`write` goes through these steps; each has its module:

    ranges, stores    how loops run, and where they keep what they record
    demand            what is needed at all
    sizes             which dimensions get a name
    flow, liveness    the order of statements; from where to where each value is needed
    aliasing, storage which arrays share memory; which writes are in place, which need a copy
    variables         which values share a Python variable
    nesting           which values are printed inside the expression that uses them
    names             what variables are called
    expressions, special, constants, statements, loops, moves, effects
                      the tree of Python
    signature, guards, header, comments, layout
                      the outside, and the text
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from ..core.errors import Origin
from ..core.grammar import Call, Const, Function, If, Loop, Undefined, Var
from ..core.guards import single_atom
from ..core.sizes import Dim, Size
from ..core.types import ArrayType
from ..core.walk import all_definitions, all_statements
from ..read.interface import Result
from .aliasing import Aliases, is_array
from .comments import UserComments
from .constants import Constants
from .demand import demand
from .expressions import Expressions, copied
from .fixed import fixed_tests
from .flow import Flow, flow
from .guards import Guards
from .header import Header, helper, imports
from .layout import Item, Line, Note, lines_of, printed
from .liveness import live_ranges
from .loops import Loops
from .names import Names, identifier
from .nesting import nest
from .ranges import ranges
from .rebuilding import homes_of, rebuilt
from .signature import parameters, places, result_tree, results_in
from .sizes import SizePlan, extent_of_axis
from .storage import decide_storage
from .stores import stores
from .undefined import filled_edges
from .variables import share_variables

DIMENSIONS = ("n", "m", "d", "p", "q", "r", "s")


@dataclass(slots=True)
class Written:
    """Source; the place in the user's source for its lines, counted from 1; and what names in it stand
    for, other than what it imports and defines itself."""

    source: str
    line_origins: dict[int, Origin] = field(default_factory=dict)
    namespace: dict[str, Any] = field(default_factory=dict)


def write(function: Function, interface: Any, *, name: str, header: Header | None = None,
          annotate: bool = False, guards: bool | None = None, user_return: bool = False) -> Written:
    """The source of a module that defines `function` as `name`.

    `annotate` adds the types of parameters as comments, `guards` tests of their shapes as the first
    lines (usual for what has a header, as nothing else tests them for a file). Results are fresh
    memory unless `user_return` says that they may be what the user's own return statement makes them.

    Parameters
        function    Core; the functions that it calls are printed above it.
        interface   its Python parameters and result (`read.interface.Interface`).
        header      where it came from, for the text at the top of a file.
    """
    namespace: dict[str, Any] = {}
    written: dict[Function, _Printed] = {}
    _print_callees(function, written, {name}, namespace)
    options = _Options(annotate, header is not None if guards is None else guards, user_return)
    main = _print_function(function, interface, name, options, namespace, {n.name for n in written.values()})
    return _module([*written.values(), main], header, namespace)


@dataclass(frozen=True, slots=True)
class _Options:
    annotate: bool = False
    guards: bool = False
    user_return: bool = False


@dataclass(slots=True)
class _Printed:
    """One function as lines, with what it needs from its module."""

    name: str
    lines: list[tuple[str, Origin | None]]
    trees: list[ast.AST]
    constants: Constants
    uses_grow: bool


def _print_callees(function: Function, written: dict[Function, _Printed], taken: set[str],
                   namespace: dict[str, Any]) -> None:
    """Prints the functions that a function calls, those that they call first."""
    for stmt in all_statements(function.body):
        if isinstance(stmt, Call) and stmt.function not in written and stmt.function is not function:
            callee = stmt.function
            callee.name = _fresh(identifier(callee.name), taken)
            written[callee] = _Printed(callee.name, [], [], Constants(callee, None), False)
            _print_callees(callee, written, taken, namespace)
            written[callee] = written.pop(callee)
            names = {printed.name for printed in written.values()} | taken
            written[callee] = _print_function(callee, None, callee.name, _Options(), namespace, names)


def _fresh(name: str, taken: set[str]) -> str:
    wish, k = name, 2
    while wish in taken:
        wish, k = f"{name}{k}", k + 1
    taken.add(wish)
    return wish


# -- one function -----------------------------------------------------------------------------------


class _Page:
    """Everything that is found out about a function before it is printed."""

    def __init__(self, function: Function, interface: Any, taken: set[str], namespace: dict[str, Any]) -> None:
        self.places, function = _without_unused_results(function, interface)
        self.function = function
        forms, stored = ranges(function), stores(function)
        needed = demand(function, forms, stored)
        self.sizes = SizePlan(function, needed, forms, stored)
        self.flow: Flow = flow(function, needed, forms, stored, self.sizes)
        alive = live_ranges(self.flow)
        self.aliases: Aliases = decide_storage(self.flow, alive)
        self.variables = share_variables(self.flow, alive, self.aliases)
        self.nesting = nest(self.flow, alive, self.variables, self.aliases)
        self.constants = Constants(function, interface)
        named = set(_names_of_constants(function)) - self.constants.taken
        self.names = Names(self.flow, self.variables, taken | named)
        self.expressions = Expressions(needed, self.nesting, self.sizes, self.constants,
                                       lambda var: self.printer.name(var), self.aliases, namespace)
        self.printer = Loops(self.flow, self.variables, self.aliases, self.names, self.expressions,
                             filled_edges(self.flow, self.aliases, self.variables, self.nesting))
        self.expressions.read = self.printer.read                                   # type: ignore[method-assign]

    def name_everything(self, fixed: dict[Var, str]) -> None:
        """Parameters keep their names, sizes are called what they are declared as."""
        for var, name in fixed.items():
            self.names.fix(var, name)
        users = {var.name for var in all_definitions(self.function.body)}
        for dim in self.sizes.named:
            self.sizes.names[dim] = self.names.reserve(self._wish(dim, users))
        self.names.choose(var for var in self._printed() if self.variables[var] not in self.names.chosen)

    def _wish(self, dim: Dim, users: set[str | None]) -> str:
        given = self.sizes.given.get(dim, dim.name)
        used = {*users, *self.names.taken, *self.names.holders}
        free = [name for name in (given, *DIMENSIONS) if name.isidentifier() and name not in used]
        return free[0] if free else "n"

    def _printed(self) -> Iterator[Var]:
        """Values that are bound to a name somewhere."""
        for var in self.variables:
            if var not in self.nesting.values and self.flow.stored.row(var) is None:
                yield var


def _without_unused_results(function: Function, interface: Any) -> tuple[dict[int, int], Function]:
    """The function with the results that its interface mentions, and where each has gone."""
    tree = getattr(interface, "result", None)
    wanted = sorted(set(results_in(tree))) if tree is not None else list(range(len(function.results)))
    places = {k: place for place, k in enumerate(wanted)}
    return places, replace(function, results=[function.results[k] for k in wanted])


def _names_of_constants(function: Function) -> Iterator[str]:
    for stmt in all_statements(function.body):
        atoms: list[Any] = list(getattr(stmt, "args", ()))
        if isinstance(stmt, If):
            atoms += [stmt.cond, *(a for m in stmt.merges for a in (m.then, m.orelse))]
        elif isinstance(stmt, Loop):
            atoms += [stmt.trips, *(a for c in stmt.carries for a in (c.init, c.next))]
        for atom in (*atoms, *function.results):
            if isinstance(atom, Const) and atom.name is not None and atom.name.isidentifier():
                yield atom.name


def _print_function(function: Function, interface: Any, name: str, options: _Options,
                    namespace: dict[str, Any], taken: set[str]) -> _Printed:
    page = _Page(function, interface, {name, *taken}, namespace)
    fixed, unpacked, arguments = _outside(page, interface, namespace)
    page.name_everything(fixed)
    body = page.printer.block(page.function.body)
    result = _return(page, interface, options, namespace)
    top: list[Item] = [*map(Line, unpacked(page)), *_size_lines(page)]
    if options.guards:
        top = [*fixed_tests(interface), *top, *Guards(function, page.sizes, page.expressions.name).items()]
    top += _constant_lines(page)
    notes: list[Item] = [Note(text) for text in _types(page)] if options.annotate else []
    items = [*notes, *top, *body, *result]
    head = ast.FunctionDef(name, arguments, [ast.Pass()], [])
    lines: list[tuple[str, Origin | None]] = [(line, function.origin) for line in printed(head, 88)[:-1]]
    lines += lines_of(items or [Line(ast.Pass())], 1, UserComments(getattr(interface, "source", None)))
    trees = [head, *_trees(items)]
    return _Printed(name, lines, trees, page.constants, page.printer.uses_grow)


def _outside(page: _Page, interface: Any, namespace: dict[str, Any]) -> Any:
    """The names of parameters, the statements that unpack containers, and the parameter list."""
    if interface is None:
        fixed = {param: _fresh_param(param, k, page) for k, param in enumerate(page.function.params)}
        args = ast.arguments([], [ast.arg(n) for n in fixed.values()], None, [], [], None, [])
        return fixed, lambda page: [], args
    fixed = {hidden.var: identifier(hidden.name) for hidden in interface.hidden}
    inside: dict[Var, str] = {}
    for parameter in interface.parameters:
        for var, path in places(parameter):
            if path == parameter.name:
                fixed[var] = path
            elif page.flow.count.get(var) or var in page.sizes.lasting and _has_named_dims(page, var):
                inside[var] = path
        page.names.taken.add(parameter.name) if parameter.name not in fixed.values() else None
    arguments = parameters(interface, namespace, [fixed[hidden.var] for hidden in interface.hidden])

    def unpack(page: _Page) -> list[ast.stmt]:
        return [ast.Assign([ast.Name(page.names.of(var))], ast.parse(path, mode="eval").body)
                for var, path in inside.items()]
    used = set(fixed.values())
    for var, path in inside.items():
        fixed[var] = _fresh(identifier(var.name or path), used | page.names.taken)
        used.add(fixed[var])
    return fixed, unpack, arguments


def _fresh_param(param: Var, k: int, page: _Page) -> str:
    name = identifier(param.name) if param.name else f"x{k}"
    others = {p.name for p in page.function.params[:k]}
    return f"{name}_{k}" if name in others else name


def _has_named_dims(page: _Page, var: Var) -> bool:
    return any(page.sizes.sources[dim][0] is var for dim in page.sizes.named)


def _size_lines(page: _Page) -> Iterator[Item]:
    """`n, m = x.shape`."""
    for param, axes in page.sizes.definitions():
        tree = page.expressions.name(param)
        names: list[ast.expr] = [ast.Name(page.sizes.names[dim]) for _, dim in axes]
        rank = param.type.rank                                                      # type: ignore[union-attr]
        if len(axes) == rank > 1:
            yield Line(ast.Assign([ast.Tuple(names)], ast.Attribute(tree, "shape")))
            continue
        for (axis, _), target in zip(axes, names):
            yield Line(ast.Assign([target], extent_of_axis(tree, param, axis)))


def _constant_lines(page: _Page) -> Iterator[Item]:
    for name, const in page.constants.local.items():
        yield Line(ast.Assign([ast.Name(name)], page.constants.literal(const)))


def _return(page: _Page, interface: Any, options: _Options, namespace: dict[str, Any]) -> list[Item]:
    results = page.function.results
    trees = [_result(page, k, options) for k in range(len(results))]
    tree = getattr(interface, "result", None)
    if tree is None and interface is None or tree is None and results:
        tree = Result(0) if len(results) == 1 else tuple(map(Result, range(len(results))))
    if tree is None:
        return []

    def leaf(item: Any) -> ast.expr:
        return trees[page.places[item.k]] if isinstance(item, Result) else page.expressions.atom(item)
    homes = homes_of(interface) if options.guards else {}
    return [Line(ast.Return(result_tree(tree, leaf, namespace, lambda *args: rebuilt(*args, homes))))]


def _result(page: _Page, k: int, options: _Options) -> ast.expr:
    """A result, copied if it would share memory with a parameter or with a result before it."""
    atom = page.function.results[k]
    if isinstance(atom, Undefined):
        return ast.Constant(None)
    tree = page.expressions.atom(atom)
    if not is_array(atom) or options.user_return:
        return tree
    before = [other for other in page.function.results[:k] if is_array(other)]
    shared = any(page.aliases.may_share(atom, other) for other in before)           # type: ignore[arg-type]
    return copied(tree) if shared or not page.aliases.is_owned(atom) else tree      # type: ignore[arg-type]


def _types(page: _Page) -> list[str]:
    """The types of parameters, those of one type together: `w, b: f64[m]`."""
    by_type: dict[str, list[str]] = {}
    letters = dict(page.sizes.names)
    for param in page.function.params:
        if page.variables[param] in page.names.chosen:
            by_type.setdefault(_type(page, param.type, letters), []).append(page.names.of(param))
    return [f"{', '.join(names)}: {type}" for type, names in by_type.items()]


def _type(page: _Page, type: Any, letters: dict[Dim, str]) -> str:
    """A type with names for its sizes, which need not be names in the source."""
    if not isinstance(type, ArrayType) or not type.sizes:
        return repr(type)
    sizes = [_size(page.sizes.normal(size), letters) for size in type.sizes]
    return f"{type.with_sizes(())!r}[{', '.join(sizes)}]"


def _size(size: Any, letters: dict[Dim, str]) -> str:
    dim = single_atom(size)
    if not isinstance(dim, Dim):
        return ":" if isinstance(size, Size) else str(size)
    if dim not in letters:
        free = [letter for letter in DIMENSIONS if letter not in letters.values()]
        letters[dim] = dim.name if dim.name.isidentifier() else free[0] if free else ":"
    return letters[dim]


def _trees(items: list[Item]) -> Iterator[ast.AST]:
    for item in items:
        if isinstance(item, Line):
            yield item.node
        elif not isinstance(item, Note):
            yield item.head
            yield from _trees([*item.body, *item.orelse])


# -- the module -------------------------------------------------------------------------------------


def _module(functions: list[_Printed], header: Header | None, namespace: dict[str, Any]) -> Written:
    """Header, imports, helpers, numbers, functions; two blank lines between them."""
    trees = [tree for function in functions for tree in function.trees]
    uses_grow = any(function.uses_grow for function in functions)
    used = imports(trees)
    if uses_grow and "import numpy as np" not in used:
        used.append("import numpy as np")
    parts: list[list[tuple[str, Origin | None]]] = []
    for lines in (header.lines() if header is not None else [], used):
        parts += [[(line, None) for line in lines]] if lines else []
    parts += [[(line, None) for line in _shared(functions)]] if _shared(functions) else []
    heads = len(parts)
    parts += [[(line, None) for line in helper("grow")]] if uses_grow else []
    parts += [function.lines for function in functions]
    lines: list[tuple[str, Origin | None]] = []
    for k, part in enumerate(parts):
        lines += [("", None)] * (0 if not lines else 2 if k >= heads else 1)
        lines += part
    origins = {number: origin for number, (_, origin) in enumerate(lines, start=1) if origin is not None}
    return Written("\n".join(text for text, _ in lines) + "\n", origins, namespace)


def _shared(functions: list[_Printed]) -> list[str]:
    """Numbers that the user has at the top of a module."""
    found: dict[str, str] = {}
    for function in functions:
        for name, const in function.constants.shared.items():
            found[name] = printed(ast.Assign([ast.Name(name)], function.constants.literal(const)), 88)[0]
    return list(found.values())
