"""Elements that one statement of the user takes out of an array are taken out by one statement.

    omega = params[0]
    alpha = params[1]           becomes         omega, alpha, beta = params
    beta = params[2]
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from ..core.grammar import Let, type_of
from .layout import Item, Line
from .numbers import number


def taken_apart(items: list[Item], reads: Mapping[ast.stmt, Let]) -> list[Item]:
    """The items of a block, where `reads` are the lines that read an element and what they were made from."""
    found: list[Item] = []
    rest = items
    while rest:
        lines = _in_order(rest, reads)
        found.append(_together(lines, reads) if len(lines) > 1 else rest[0])
        rest = rest[max(len(lines), 1):]
    return found


def _in_order(items: list[Item], reads: Mapping[ast.stmt, Let]) -> list[Line]:
    """The lines at the beginning that read the first, second, … element of one array for one statement, in the order
    of the elements. A sweep backwards may read them in another one."""
    found: dict[int, Line] = {}
    longest = 0
    for item in items:
        read = reads.get(item.node) if isinstance(item, Line) else None
        place = _place(item.node) if isinstance(item, Line) else None
        if not isinstance(item, Line) or read is None or place is None or place in found:
            break
        first = next(iter(found.values()), item)
        if not _is_one_line(item, first) or read.args != reads[first.node].args:
            break
        found[place] = item
        if max(found) == len(found) - 1:
            longest = len(found)
    return [found[k] for k in range(longest)]


def _is_one_line(one: Line, other: Line) -> bool:
    """Whether two lines come from one line of the user's."""
    if one.origin is None or other.origin is None:
        return one.origin is other.origin
    return (one.origin.file, one.origin.line) == (other.origin.file, other.origin.line)


def _place(node: ast.stmt) -> int | None:
    """The k of a statement `a = x[k]`."""
    match node:
        case ast.Assign([ast.Name()], ast.Subscript(ast.Name(), ast.Constant(int(value)))):
            return value
    return None


def _together(lines: list[Line], reads: Mapping[ast.stmt, Let]) -> Line:
    """`a, b = x`, or `a, b = x[:2]` where there may be more."""
    nodes: list[Any] = [line.node for line in lines]
    array = nodes[0].value.value
    type: Any = type_of(reads[nodes[0]].args[0])
    if type.sizes[0] != len(nodes):
        array = ast.Subscript(array, ast.Slice(None, number(len(nodes))))
    return Line(ast.Assign([ast.Tuple([node.targets[0] for node in nodes])], array), lines[0].origin)
