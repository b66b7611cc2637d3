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
    """The lines at the beginning that read the first, second, … element of one array for one statement."""
    lines: list[Line] = []
    for k, item in enumerate(items):
        read = reads.get(item.node) if isinstance(item, Line) else None
        if not isinstance(item, Line) or read is None or not _names_element(item.node, k):
            break
        if lines and (item.origin != lines[0].origin or read.args != reads[lines[0].node].args):
            break
        lines.append(item)
    return lines


def _names_element(node: ast.stmt, k: int) -> bool:
    """Whether a statement is `a = x[k]`."""
    match node:
        case ast.Assign([ast.Name()], ast.Subscript(ast.Name(), ast.Constant(value))):
            return bool(value == k)
    return False


def _together(lines: list[Line], reads: Mapping[ast.stmt, Let]) -> Line:
    """`a, b = x`, or `a, b = x[:2]` where there may be more."""
    nodes: list[Any] = [line.node for line in lines]
    array = nodes[0].value.value
    type: Any = type_of(reads[nodes[0]].args[0])
    if type.sizes[0] != len(nodes):
        array = ast.Subscript(array, ast.Slice(None, number(len(nodes))))
    return Line(ast.Assign([ast.Tuple([node.targets[0] for node in nodes])], array), lines[0].origin)
