"""Core to readable NumPy source.

`write` goes through these steps; each has its module:

    ranges, stores      how loops run, and where they keep what they record
    demand              what is needed at all
    sizes               which dimensions get a name
    flow, liveness      the order of statements; from where to where each value is needed
    aliasing, storage,  which arrays share memory; which writes are in place, which need a copy;
    giving              which arrays a function that is called may write to
    variables           which values share a Python variable
    nesting             which values are printed inside the expression that uses them
    undefined           names that are not bound on every path
    names               what variables are called
    expressions, special, constants, statements, loops, moves, effects
                        the tree of Python
    leaving, returning  loops that are left by `break`, branches that are left by `return`
    signature, rebuilding, guards, fixed, comments, layout, page
                        the outside of a function, and its lines
    header, prelude     what stands above it in a module
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..core.errors import Origin
from ..core.grammar import Call, Function
from ..core.walk import all_statements, reachable
from .giving import given_params
from .header import Header, helper, imports, mentioned
from .layout import LINE, printed
from .names import HELPERS, fresh, identifier
from .page import Options, PrintedFunction, print_function
from .shadows import assignments
from .unwrapping import has_tests, unwrapped

__all__ = ["Header", "Written", "write"]

Lines = list[tuple[str, Origin | None]]


@dataclass(slots=True)
class Written:
    """Source; the place in the user's source for its lines, counted from 1; and what names in it
    stand for, other than what it imports and defines itself."""

    source: str
    line_origins: dict[int, Origin] = field(default_factory=dict)
    namespace: dict[str, Any] = field(default_factory=dict)


def write(
    function: Function,
    interface: Any,
    *,
    name: str,
    header: Header | None = None,
    annotate: bool = False,
    guards: bool | None = None,
    user_return: bool = False,
) -> Written:
    """The source of a module that defines `function` as `name`.

    `interface` has its Python parameters and its result (`read.interface.Interface`); functions that
    it calls are printed above it. `header` is the text at the top of a file. `annotate` adds the types
    of parameters as comments, `guards` tests of their shapes as the first lines (usual for what has
    a header, as nothing else tests them for a file). Results are fresh memory unless `user_return`
    says that they may be what the user's own return statement makes them.
    """
    namespace: dict[str, Any] = {}
    guards = header is not None if guards is None else guards
    if interface is not None and not (guards and has_tests(function)):
        function = unwrapped(function, interface)
    callees: dict[Function, str] = {function: name}
    _name_callees(function, callees, {name, *_names_of_parameters(function, interface)})
    called = [each for each in _callees_first(function, {function}) if each is not function]
    together = frozenset() if interface is None else interface.together
    given = given_params([function, *called], together) if called else frozenset()
    parts = [print_function(each, None, callees[each], Options(given=given), namespace, callees) for each in called]
    options = Options(annotate, guards, user_return, given)
    parts.append(print_function(function, interface, name, options, namespace, callees))
    return _module(parts, header, namespace)


def _names_of_parameters(function: Function, interface: Any) -> Iterator[str]:
    """What parameters are called, of the function and of those that it calls, which hide functions of that name."""
    for each in reachable(function):
        yield from (param.name for param in each.params if param.name)
    if interface is not None:
        yield from (parameter.name for parameter in interface.parameters)


def _name_callees(function: Function, callees: dict[Function, str], taken: set[str]) -> None:
    """Names the functions that a function calls, and those that they call."""
    for stmt in all_statements(function.body):
        if isinstance(stmt, Call) and stmt.function not in callees:
            callees[stmt.function] = fresh(identifier(stmt.function.name), taken)
            _name_callees(stmt.function, callees, taken)


def _callees_first(function: Function, seen: set[Function]) -> Iterator[Function]:
    """A function after those that it calls, in the order of the calls."""
    for stmt in all_statements(function.body):
        if isinstance(stmt, Call) and stmt.function not in seen:
            seen.add(stmt.function)
            yield from _callees_first(stmt.function, seen)
    yield function


def _module(functions: list[PrintedFunction], header: Header | None, namespace: dict[str, Any]) -> Written:
    """Header, imports, helpers, numbers, functions; two blank lines before each function."""
    uses_grow = any(function.uses_grow for function in functions)
    shared = _shared(functions)
    nodes = mentioned([*shared, *(tree for function in functions for tree in function.trees)])
    helpers = [list(helper(name)) for name in [*["grow"] * uses_grow, *sorted(_helpers(nodes))]]
    used = imports(nodes)
    if any("np." in line for lines in helpers for line in lines) and "import numpy as np" not in used:
        used.append("import numpy as np")
    aliases = [printed(node, LINE)[0] for function in functions for node in assignments(function.aliases)]
    aliases = list(dict.fromkeys(aliases))
    numbers = [printed(node, LINE)[0] for node in shared]
    heads = [header.lines() if header is not None else [], used, [*numbers, *aliases * (not helpers)]]
    parts: list[Lines] = [[(line, None) for line in head] for head in heads if head]
    count = len(parts)
    parts += [[(line, None) for line in lines] for lines in [*helpers, *[aliases] * bool(helpers and aliases)]]
    parts += [function.lines for function in functions]
    lines: Lines = []
    for k, part in enumerate(parts):
        blank = 0 if not lines else 2 if k >= count else 1
        lines += [*[("", None)] * blank, *part]
    origins = {k: origin for k, (_, origin) in enumerate(lines, start=1) if origin is not None}
    return Written("\n".join(text for text, _ in lines) + "\n", origins, namespace)


def _helpers(nodes: list[ast.AST]) -> set[str]:
    """The functions from the prelude that are mentioned."""
    return {node.id for node in nodes if isinstance(node, ast.Name)} & HELPERS - {"grow"}


def _shared(functions: list[PrintedFunction]) -> list[ast.stmt]:
    """Numbers that the user has at the top of a module, as assignments."""
    found: dict[str, ast.stmt] = {}
    for function in functions:
        for name, const in function.constants.shared.items():
            found[name] = ast.Assign([ast.Name(name)], function.constants.literal(const))
    return list(found.values())
