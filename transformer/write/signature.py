"""The outside of a printed function: its parameters, what is taken out of containers, its result."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..containers import LEAVES, kind_of
from ..core.grammar import Const, Undefined, Var
from ..core.sizes import Size
from ..read.interface import Items, Maybe, Result
from .layout import INDENT, LINE
from .numbers import number

Names = dict[str, Any]
KINDS = inspect.Parameter
ATOMS = (Var, Const, Size, Undefined, Result)


def is_leaf(tree: Any) -> bool:
    """Whether a node of a parameter's or result's tree is an atom of Core or a static object."""
    return isinstance(tree, ATOMS) or kind_of(type(tree)) is LEAVES


def parameters(interface: Any, names: Names, hidden: list[str]) -> ast.arguments:
    """The parameters as the user declared them; hidden arrays follow, by keyword if they must."""
    plain: list[ast.arg] = []
    before: list[ast.arg] = []
    only: list[ast.arg] = []
    defaults: list[ast.expr] = []
    only_defaults: list[ast.expr | None] = []
    varargs = kwargs = None
    for parameter in interface.parameters:
        argument = ast.arg(parameter.name)
        default = _default(parameter, names)
        if parameter.kind is KINDS.VAR_POSITIONAL:
            varargs = argument
        elif parameter.kind is KINDS.VAR_KEYWORD:
            kwargs = argument
        elif parameter.kind is KINDS.KEYWORD_ONLY:
            only.append(argument)
            only_defaults.append(default)
        else:
            (before if parameter.kind is KINDS.POSITIONAL_ONLY else plain).append(argument)
            defaults += [default] if default is not None else []
    for name in hidden:
        if defaults or varargs or only:
            only.append(ast.arg(name))
            only_defaults.append(None)
        else:
            plain.append(ast.arg(name))
    return ast.arguments(before, plain, varargs, only, only_defaults, kwargs, defaults)


def _default(parameter: Any, names: Names) -> ast.expr | None:
    """A default value as a literal, or by a name that stands for the object."""
    default = parameter.default
    if default is inspect.Parameter.empty:
        return None
    tree = literal(default)
    if tree is None:
        name = f"default_{parameter.name}"
        names[name] = default
        tree = ast.Name(name)
    return tree


def literal(value: Any) -> ast.expr | None:
    """A number, string, None, or a container of them as an expression; None for other objects."""
    if value is None or value is Ellipsis or type(value) in (bool, str, bytes):
        return ast.Constant(value)
    if type(value) in (int, float, complex):
        return number(value)
    if type(value) in (tuple, list):
        items = [literal(item) for item in value]
        if any(item is None for item in items):
            return None
        return ast.Tuple(items) if type(value) is tuple else ast.List(items)  # type: ignore[arg-type]
    if type(value) is dict and all(isinstance(key, (str, int)) for key in value):
        items = [literal(item) for item in value.values()]
        return None if any(item is None for item in items) else ast.Dict([literal(key) for key in value], items)  # type: ignore[arg-type]
    return None


# -- taking containers apart ----------------------------------------------------------------------


def places(parameter: Any) -> Iterator[tuple[Var, str]]:
    """The Core variables in a parameter, and how Python reaches each: `params['w']`."""
    yield from _places(parameter.tree, parameter.name)


def _places(tree: Any, path: str) -> Iterator[tuple[Var, str]]:
    if isinstance(tree, Var):
        yield tree, path
    elif not is_leaf(tree):
        kind = kind_of(type(tree))
        static, children = kind.split(tree)
        children = list(children)
        for accessor, child in zip(kind.accessors(static, len(children)), children):
            yield from _places(child, path + accessor)


def taken_apart(parameter: Any, names: Mapping[Var, str]) -> Iterator[ast.stmt]:
    """What binds the leaves of a parameter that have names: ``(w, b), (v, c) = params``, ``w = params["w"]``."""
    yield from _taken_apart(parameter.tree, parameter.name, names)


def _taken_apart(tree: Any, path: str, names: Mapping[Var, str]) -> Iterator[ast.stmt]:
    value = ast.parse(path, mode="eval").body
    if isinstance(tree, Var):
        if tree in names and path != names[tree]:
            yield ast.Assign([ast.Name(names[tree])], value)
    elif not is_leaf(tree) and tree is not None:
        targets = _targets(tree, names)
        if isinstance(targets, ast.Tuple) and _are_worth_it(targets, path):
            yield ast.Assign([targets], value)
            return
        kind = kind_of(type(tree))
        static, children = kind.split(tree)
        children = list(children)
        for accessor, child in zip(kind.accessors(static, len(children)), children):
            yield from _taken_apart(child, path + accessor, names)


def _targets(tree: Any, names: Mapping[Var, str]) -> ast.expr | None:
    """What a tree of tuples and lists is assigned to; None for one that has others in it."""
    if is_leaf(tree) or tree is None:
        return ast.Name(names.get(tree, "_") if isinstance(tree, Var) else "_")
    if type(tree) not in (tuple, list):
        return None
    parts = [_targets(child, names) for child in tree]
    return None if None in parts or not parts else ast.Tuple(parts)                       # type: ignore[arg-type]


def _are_worth_it(targets: ast.Tuple, path: str) -> bool:
    """Whether most of the names are used, and all fit in a line."""
    found = [node.id for node in ast.walk(targets) if isinstance(node, ast.Name)]
    used = sum(name != "_" for name in found)
    return used > 1 and 2 * used > len(found) and sum(len(name) + 3 for name in found) + len(path) < LINE - len(INDENT)


# -- putting the result together --------------------------------------------------------------------


def result_tree(
    tree: Any, leaf: Callable[[Any], ast.expr], names: Names, rebuilt: Callable[[Any, list[ast.expr]], ast.expr | None],
    taken: Collection[str],
) -> ast.expr:
    """The expression of what is returned; `leaf` gives that of an atom, `rebuilt` that of an instance
    of a class of the user, if there is a way without naming the class. Objects get names in `names`, other
    than those `taken`, which the function gives to something else."""
    if is_leaf(tree):
        return _static_or_leaf(tree, leaf, names, taken)
    if tree is None:
        return ast.Constant(None)
    if isinstance(tree, Items):
        return _listed([leaf(array) for array in tree.arrays], tree.are_plain)
    if isinstance(tree, Maybe):
        item = result_tree(tree.item, leaf, names, rebuilt, taken)
        return ast.IfExp(leaf(tree.there), item, ast.Constant(None))
    kind = kind_of(type(tree))
    static, children = kind.split(tree)
    parts = [result_tree(child, leaf, names, rebuilt, taken) for child in children]
    if type(tree) is tuple:
        return ast.Tuple(parts)
    if type(tree) is list:
        return ast.List(parts)
    if type(tree) is dict and all(literal(key) is not None for key in tree):
        return ast.Dict([literal(key) for key in tree], parts)
    return rebuilt(tree, parts) or _constructed(tree, parts, names, taken)


def _listed(arrays: list[ast.expr], are_plain: tuple[bool, ...]) -> ast.expr:
    """``xs.tolist()``, ``list(rows)``, ``list(zip(ts.tolist(), xs.tolist()))``."""
    lists: list[ast.expr] = [
        ast.Call(ast.Attribute(array, "tolist"), [], []) if plain else ast.Call(ast.Name("list"), [array], [])
        for array, plain in zip(arrays, are_plain, strict=True)]
    return lists[0] if len(lists) == 1 else ast.Call(ast.Name("list"), [ast.Call(ast.Name("zip"), lists, [])], [])


def results_in(tree: Any) -> Iterator[int]:
    """The places of the results that a tree mentions."""
    if isinstance(tree, Result):
        yield tree.k
    elif not is_leaf(tree):
        for child in kind_of(type(tree)).split(tree)[1]:
            yield from results_in(child)


def _static_or_leaf(tree: Any, leaf: Callable[[Any], ast.expr], names: Names, taken: Collection[str]) -> ast.expr:
    if isinstance(tree, ATOMS):
        return leaf(tree)
    known = literal(tree)
    if known is None:
        name = _fresh("value", tree, names, taken)
        known = ast.Name(name)
    return known


def _constructed(tree: Any, parts: list[ast.expr], names: Names, taken: Collection[str]) -> ast.expr:
    """A call of a NamedTuple's or a plain dataclass's own class; others are put together by a function."""
    cls = type(tree)
    fields = getattr(cls, "_fields", None)
    if fields is not None and len(fields) == len(parts):
        name = _fresh(cls.__name__, cls, names, taken)
        return ast.Call(ast.Name(name), [], [ast.keyword(f, p) for f, p in zip(fields, parts)])
    maker = _Maker(cls, kind_of(cls).split(tree)[0])
    name = _fresh(f"make_{cls.__name__.lower()}", maker, names, taken)
    return ast.Call(ast.Name(name), parts, [])


@dataclass(frozen=True)
class _Maker:
    """Builds one container from its children."""

    cls: type
    static: Any

    def __call__(self, *children: Any) -> Any:
        return kind_of(self.cls).build(self.cls, self.static, list(children))


def _fresh(name: str, value: Any, names: Names, taken: Collection[str]) -> str:
    wish, k = name, 2
    while wish in taken or wish in names and names[wish] is not value and names[wish] != value:
        wish, k = f"{name}{k}", k + 1
    names[wish] = value
    return wish
