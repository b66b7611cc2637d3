"""Results of a class of the user, in a file that does not import that class.

A gradient for a NamedTuple or dataclass is an instance of the same class. The file gets hold of the
class through the argument: ``params._replace(w=dw, b=db)``, ``dataclasses.replace(params, w=dw)``.
"""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from ..containers import kind_of
from .fixed import nodes_of

Homes = dict[type, tuple[str, Any]]  # a class: where an instance is, and its static part


def homes_of(interface: Any) -> Homes:
    """The classes of the user that occur in the parameters, and where each does first."""
    homes: Homes = {}
    for parameter in getattr(interface, "parameters", ()):
        for path, tree in nodes_of(parameter.tree, parameter.name):
            if hasattr(tree, "_replace") or _is_replaceable(tree):
                homes.setdefault(type(tree), (path, kind_of(type(tree)).split(tree)[0]))
    return homes


def _is_replaceable(tree: Any) -> bool:
    return dataclasses.is_dataclass(tree) and all(field.init for field in dataclasses.fields(tree))


def rebuilt(tree: Any, parts: list[ast.expr], homes: Homes) -> ast.expr | None:
    """The expression that puts an instance together from its children; None if none is at hand."""
    path, known = homes.get(type(tree), (None, None))
    kind = kind_of(type(tree))
    static, _ = kind.split(tree)
    if path is None or static != known:
        return None
    names = [way.removeprefix(".") for way in kind.accessors(static, len(parts))]
    fields = [ast.keyword(name, part) for name, part in zip(names, parts, strict=True)]
    home = ast.parse(path, mode="eval").body
    if hasattr(tree, "_replace"):
        return ast.Call(ast.Attribute(home, "_replace"), [], fields)
    return ast.Call(ast.Attribute(ast.Name("dataclasses"), "replace"), [home], fields)
