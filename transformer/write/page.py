"""One function on its page: what is found out about it, and its lines."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ..core.errors import Origin
from ..core.factoring import factored
from ..core.grammar import Const, Function, If, Loop, Undefined, Var
from ..core.sizes import Dim, Size, leaves, replaced
from ..core.types import ArrayType
from ..core.walk import all_definitions, all_statements
from ..read.interface import Result
from .aliasing import is_array
from .comments import UserComments, is_marker
from .constants import Constants
from .demand import demand
from .dtypes import kind_tests
from .expressions import Expressions, copied
from .fixed import fixed_tests
from .flow import flow
from .guards import Guards
from .layout import LINE, Item, Line, Note, lines_of, printed
from .leaving import with_breaks
from .liveness import live_ranges
from .loops import Loops
from .moves import names_in
from .names import OF_THREADS, PRINTED, Names, fresh, identifier
from .nesting import nest
from .ranges import ranges
from .rebuilding import homes_of, rebuilt
from .shadows import Shadows, assignments
from .sharing import class_tests, memory_tests
from .signature import parameters, places, result_tree, results_in, taken_apart
from .sizes import SizePlan, extent_of_axis
from .storage import decide_storage
from .stores import stores
from .undefined import filled_edges
from .variables import share_variables, without_nested

DIMENSIONS = ("n", "m", "d", "p", "q", "r", "s")


@dataclass(frozen=True, slots=True)
class Options:
    """What is asked for; see `writer.write`."""

    annotate: bool = False
    guards: bool = False
    user_return: bool = False
    given: frozenset[Var] = frozenset()


@dataclass(slots=True)
class PrintedFunction:
    """One function as lines, with what it needs from its module."""

    lines: list[tuple[str, Origin | None]]
    trees: list[ast.AST]
    constants: Constants
    uses_grow: bool
    aliases: dict[str, str]              # of what its parameters hide


def print_function(
    function: Function,
    interface: Any,
    name: str,
    options: Options,
    namespace: dict[str, Any],
    callees: dict[Function, str],
) -> PrintedFunction:
    """Prints a function under a name. `callees` are the functions that it may call."""
    shadows = Shadows(interface)
    page = Page(function, shadows.interface, {name, *callees.values()}, namespace, callees, options.given)
    head = ast.FunctionDef(name, page.outside(interface), [ast.Pass()], [])
    body = page.printer.block(page.function.body)
    comments = UserComments(function.source if interface is None else interface.source, body)
    if body and is_marker(body[0]):                  # of a reverse sweep that needs nothing: a heading of all
        comments.before(body.pop(0))
    result = page.returned(options)
    items = with_breaks([*(Note(text) for text in about(function)), *page.top(options), *body, *result])
    aliases = shadows.lifted(items, {name, *callees.values()})
    if all(isinstance(item, Note) for item in items):
        items.append(Line(ast.Pass()))
    lines: list[tuple[str, Origin | None]] = [(line, function.origin) for line in printed(head, LINE)[:-1]]
    lines += lines_of(items, 1, comments)
    trees = [head, *_trees(items), *assignments(aliases)]
    return PrintedFunction(lines, trees, page.constants, page.printer.uses_grow, aliases)


ROLES = {"forward": "{}, with what its reverse needs", "reverse": "the reverse of {}", "jvp": "{} and its tangents"}
LANES = "_vmap"


def about(function: Function) -> Iterator[str]:
    """What a function that is called is, if a transformation made it."""
    if function.role in ROLES:
        name = function.name.removesuffix(LANES)
        lanes = ", for all lanes" * (name != function.name)
        yield ROLES[function.role].format(name.removesuffix(f"_{function.role}")) + lanes


class Page:
    """Everything that is found out about a function before it is printed."""

    def __init__(
        self,
        function: Function,
        interface: Any,
        taken: set[str],
        namespace: dict[str, Any],
        callees: dict[Function, str],
        given: frozenset[Var],
    ) -> None:
        self.interface = interface
        self.namespace = namespace
        self.places, self.function = _without_unused_results(function, interface)
        function = self.function
        forms, stored = ranges(function), stores(function)
        needed = demand(function, forms, stored)
        self.sizes = SizePlan(function, needed, forms, stored)
        self.flow = flow(function, needed, forms, stored, self.sizes)
        alive = live_ranges(self.flow)
        self.aliases = decide_storage(self.flow, alive, given)
        self.variables = share_variables(self.flow, alive, self.aliases)
        self.nesting = nest(self.flow, alive, self.variables, self.aliases)
        without_nested(self.variables, self.nesting.values, alive)
        self.constants = Constants(function, interface)
        named = set(_names_of_constants(function)) - self.constants.taken
        self.names = Names(self.flow, self.variables, taken | named)
        self.expressions = Expressions(needed, self.nesting, self.sizes, self.constants, self.aliases, namespace)
        filled = filled_edges(self.flow, self.aliases, self.variables, self.nesting)
        self.printer = Loops(self.flow, self.variables, self.aliases, self.names, self.expressions, filled, callees)
        self.inside: dict[Var, str] = {}  # variables in containers, and how they are reached
        self.unread: dict[Var, str] = {}  # the same for those that get no name of their own

    # -- names --------------------------------------------------------------------------------

    def outside(self, interface: Any) -> ast.arguments:
        """The parameters, as the interface names them. Gives every variable its name, those of parameters first."""
        fixed = self._of_params() if self.interface is None else self._of_interface()
        for var, name in fixed.items():
            self.names.fix(var, name)
        self._name_sizes()
        self.names.choose(var for var in self.variables if self._is_bound(var))
        if self.interface is None:
            return ast.arguments([], [ast.arg(n) for n in fixed.values()], None, [], [], None, [])
        hidden = [identifier(hidden.name) for hidden in interface.hidden]
        return parameters(interface, self.namespace, hidden)

    def _of_params(self) -> dict[Var, str]:
        names = set(PRINTED - OF_THREADS)
        return {param: fresh(identifier(param.name or f"x{k}"), names) for k, param in enumerate(self.function.params)}

    def _of_interface(self) -> dict[Var, str]:
        fixed = {hidden.var: identifier(hidden.name) for hidden in self.interface.hidden}
        for parameter in self.interface.parameters:
            for var, path in places(parameter):
                if path == parameter.name:
                    fixed[var] = path
                elif self._is_looked_at(var):
                    self.inside[var] = path
                else:
                    self.unread[var] = path
        self.names.taken |= {p.name for p in self.interface.parameters} - set(fixed.values())
        used = {*fixed.values(), *self.names.taken}
        fixed |= {var: fresh(identifier(var.name or path), used) for var, path in self.inside.items()}
        return fixed

    def _is_looked_at(self, var: Var) -> bool:
        """Whether a parameter is read, or a size is taken from it at the top."""
        return bool(self.flow.count.get(var)) or self.sizes.takes_from(var)

    def _is_bound(self, var: Var) -> bool:
        """Whether a value is bound to a name of its own somewhere."""
        return (
            var not in self.nesting.values
            and self.flow.stored.row(var) is None
            and self.variables[var] not in self.names.chosen
        )

    def _name_sizes(self) -> None:
        """Sizes are called what they are declared as, if nothing else is."""
        users = {var.name for var in all_definitions(self.function.body) if var.name}
        for dim in self.sizes.to_be_named():
            used = {*users, *self.names.taken, *self.names.holders}
            wishes = [wish for wish in (dim.name, *DIMENSIONS) if wish.isidentifier()]
            wish = self.sizes.given.get(dim) or next((wish for wish in wishes if wish not in used), "n")
            self.sizes.names[dim] = self.names.reserve(wish, users)

    # -- lines around the body ----------------------------------------------------------------

    def top(self, options: Options) -> list[Item]:
        """Types, tests, what is in containers, sizes, numbers."""
        notes: list[Item] = [Note(text) for text in self._types()] if options.annotate else []
        fixed = fixed_tests(self.interface) if options.guards else ()
        tests = list(self._tests()) if options.guards else []
        sizes = list(self._sizes())
        first, later = _apart(tests, sizes)
        return [*notes, *fixed, *self._unpacked(), *first, *sizes, *later, *self._numbers()]

    def _tests(self) -> Iterator[Item]:
        """What the code below rests on."""
        yield from Guards(self.function, self.sizes, self._reached).items()
        yield from kind_tests(filter(self.flow.count.get, self.function.params), self._reached)
        yield from class_tests(self.interface, self._reached)
        yield from memory_tests(self.interface, self._reached)

    def _reached(self, param: Var) -> ast.expr:
        """A parameter by its name, or by the way to it where it has none."""
        path = self.unread.get(param)
        return self.expressions.name(param) if path is None else ast.parse(path, mode="eval").body

    def _unpacked(self) -> Iterator[Item]:
        """`w = params["w"]`."""
        names = {var: self.names.of(var) for var in self.inside}
        for parameter in getattr(self.interface, "parameters", ()):
            yield from map(Line, taken_apart(parameter, names))

    def _sizes(self) -> Iterator[Line]:
        """`n, m = x.shape`."""
        for param, axes in self.sizes.definitions():
            tree = self.expressions.name(param)
            names: list[ast.expr] = [ast.Name(self.sizes.names[dim]) for _, dim in axes]
            assert isinstance(param.type, ArrayType)
            if len(axes) == param.type.rank > 1:
                yield Line(ast.Assign([ast.Tuple(names)], ast.Attribute(tree, "shape")))
                continue
            for (axis, _), target in zip(axes, names, strict=True):
                yield Line(ast.Assign([target], extent_of_axis(tree, param, axis)))
        for name, value in self.sizes.sums(self.expressions.name):
            yield Line(ast.Assign([ast.Name(name)], value))

    def _numbers(self) -> Iterator[Item]:
        """`dt = 0.01`."""
        for name, const in self.constants.local.items():
            yield Line(ast.Assign([ast.Name(name)], self.constants.literal(const)))

    def _types(self) -> list[str]:
        """The types of parameters, those of one type together: `w, b: f64[m]`."""
        by_type: dict[str, list[str]] = {}
        letters = dict(self.sizes.names)
        for param in self.function.params:
            if self.variables[param] in self.names.chosen:
                type = self._type(param.type, letters)
                by_type.setdefault(type, []).append(self.names.of(param))
        return [f"{', '.join(names)}: {type}" for type, names in by_type.items()]

    def _type(self, type: Any, letters: dict[Dim, str]) -> str:
        """A type with names for its sizes, which need not be names in the source."""
        if not isinstance(type, ArrayType) or not type.sizes:
            return repr(type)
        used = {*self.names.taken, *self.names.holders}
        factors = [factored(self.sizes.normal(size), self.sizes.known_sums()) for size in type.sizes]
        sizes = [_product([_letter(size, letters, used) for size in sizes]) for sizes in factors]
        return f"{type.with_sizes(())!r}[{', '.join(sizes)}]"

    # -- results ------------------------------------------------------------------------------

    def returned(self, options: Options) -> list[Item]:
        """The `return`, if there is anything to return."""
        results = self.function.results
        trees = [self._result(k, options) for k in range(len(results))]
        tree = getattr(self.interface, "result", None)
        if tree is None and results:
            tree = Result(0) if len(results) == 1 else tuple(map(Result, range(len(results))))
        if tree is None:
            return []
        homes = homes_of(self.interface) if options.guards else {}

        def leaf(item: Any) -> ast.expr:
            found = isinstance(item, Result)
            return trees[self.places[item.k]] if found else self.expressions.atom(item)

        def again(tree: Any, parts: list[ast.expr]) -> ast.expr | None:
            return rebuilt(tree, parts, homes)

        taken = {*self.names.taken, *self.names.holders}
        if self.interface is not None:
            taken.update(parameter.name for parameter in self.interface.parameters)
        return [Line(ast.Return(result_tree(tree, leaf, self.namespace, again, taken)))]

    def _result(self, k: int, options: Options) -> ast.expr:
        """A result, copied if it would share memory with a parameter, an earlier result or a record."""
        atom = self.function.results[k]
        if isinstance(atom, Undefined):
            return ast.Constant(None)
        tree = self.expressions.atom(atom)
        if not is_array(atom) or options.user_return:
            return tree
        assert isinstance(atom, Var)
        before = [other for other in self.function.results[:k] if isinstance(other, Var)]
        shared = any(self.aliases.may_share(atom, other) for other in before if is_array(other))
        kept = shared or not self.aliases.is_owned(atom) or self.aliases.in_storage(atom)
        return copied(tree) if kept else tree


def _apart(tests: list[Item], sizes: list[Line]) -> tuple[list[Item], list[Item]]:
    """The tests that stand above the names of sizes, which what has other axes does not have, and those that mention
    such a name."""
    bound = {name for line in sizes for name in names_in(line.node.targets[0])}        # type: ignore[attr-defined]
    later = [test for test in tests if any(bound & names_in(tree) for tree in _trees([test]))]
    return [test for test in tests if test not in later], later


def _letter(size: Any, letters: dict[Dim, str], used: set[str]) -> str:
    """What a size is called beside its parameter, `n + 1`: not like a variable, which would be something else."""
    dims = [leaf for leaf in leaves(size) if isinstance(leaf, Dim)]
    if len(dims) < len(leaves(size)):
        return ":"
    for dim in dims:
        if dim not in letters:
            free = [letter for letter in DIMENSIONS if letter not in letters.values() and letter not in used]
            letters[dim] = dim.name if dim.name.isidentifier() else free[0] if free else ":"
    named = replaced(size, lambda atom: Size.of(Dim(letters[atom])) if isinstance(atom, Dim) else None)
    return ":" if ":" in repr(named) else repr(named).replace("*", " * ").replace("//", " // ")


def _product(factors: list[str]) -> str:
    if ":" in factors:
        return ":"
    return " * ".join(f"({text})" if " " in text and len(factors) > 1 else text for text in factors)


def _without_unused_results(function: Function, interface: Any) -> tuple[dict[int, int], Function]:
    """The function with the results that its interface mentions, and where each has gone."""
    tree = getattr(interface, "result", None)
    every = range(len(function.results))
    wanted = list(every) if tree is None else sorted(set(results_in(tree)))
    places = {k: place for place, k in enumerate(wanted)}
    return places, replace(function, results=[function.results[k] for k in wanted])


def _names_of_constants(function: Function) -> Iterator[str]:
    for atom in _atoms_in(function):
        if type(atom) is Const and atom.name is not None and atom.name.isidentifier():
            yield atom.name


def _atoms_in(function: Function) -> Iterator[Any]:
    for stmt in all_statements(function.body):
        if isinstance(stmt, If):
            yield from (stmt.cond, *(atom for merge in stmt.merges for atom in (merge.then, merge.orelse)))
        elif isinstance(stmt, Loop):
            yield from (stmt.trips, *(atom for carry in stmt.carries for atom in (carry.init, carry.next)))
        else:
            yield from getattr(stmt, "args", ())
    yield from function.results


def _trees(items: list[Item]) -> Iterator[ast.AST]:
    for item in items:
        if isinstance(item, Line):
            yield item.node
        elif not isinstance(item, Note):
            yield item.head
            yield from _trees([*item.body, *item.orelse])
