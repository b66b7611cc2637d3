"""Elements that one statement of the user takes out of an array are taken out by one statement, also where those of its
derivative are taken out in between; so are the columns of a matrix, which the elements of a vector become in a batch.

    omega = params[0]
    domega = dparams[0]         becomes         omega, alpha = params
    alpha = params[1]                           domega, dalpha = dparams
    dalpha = dparams[1]
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..core.grammar import Atom, Let, type_of
from .layout import Item, Line
from .numbers import number


@dataclass(eq=False)
class _Taken:
    """A line `name = array[place]`, or `name = array[:, place]`, made from `read`."""

    line: Line
    name: str
    array: str
    place: int
    is_column: bool
    read: Let

    @property
    def source(self) -> tuple[Atom, bool]:
        return self.read.args[0], self.is_column


def taken_apart(items: list[Item], reads: Mapping[ast.stmt, Let], normal: Callable[[Any], Any]) -> list[Item]:
    """The items of a block, where `reads` are the lines that read an element and what they were made from; `normal`
    gives sizes as the function knows them."""
    found: list[Item] = []
    rest = items
    while rest:
        run = list(_run(rest, reads))
        found += _together(run, normal) if len(run) > 1 else rest[:1]
        rest = rest[max(len(run), 1):]
    return found


def _run(items: list[Item], reads: Mapping[ast.stmt, Let]) -> Iterator[_Taken]:
    """The lines at the beginning that read an element each for one statement, in any order."""
    names: set[str] = set()
    arrays: set[str] = set()
    origin = items[0].origin
    for item in items:
        taken = _taken(item, reads)
        if taken is None or taken.name in names or not _is_same_line(item.origin, origin):
            return
        names.add(taken.name)
        arrays.add(taken.array)
        if names & arrays:
            return
        yield taken


def _taken(item: Item, reads: Mapping[ast.stmt, Let]) -> _Taken | None:
    read = reads.get(item.node) if isinstance(item, Line) else None
    if not isinstance(item, Line) or read is None:
        return None
    match item.node:
        case ast.Assign([ast.Name(name)], ast.Subscript(ast.Name(array), ast.Constant(int(place)))):
            return _Taken(item, name, array, place, False, read)
        case ast.Assign([ast.Name(name)], ast.Subscript(ast.Name(array), ast.Tuple([rows, ast.Constant(int(place))]))):
            is_whole = isinstance(rows, ast.Slice) and rows.lower is rows.upper is rows.step is None
            return _Taken(item, name, array, place, True, read) if is_whole else None
    return None


def _is_same_line(one: Any, other: Any) -> bool:
    """Whether two origins are one line of the user's."""
    if one is None or other is None:
        return one is other
    return (one.file, one.line) == (other.file, other.line)


def _together(run: list[_Taken], normal: Callable[[Any], Any]) -> Iterator[Item]:
    """The lines of a run: where the first element of an array is read, all are that follow each other from there."""
    done: set[int] = set()
    for taken in run:
        if id(taken) in done:
            continue
        group = _first_ones([each for each in run if each.source == taken.source])
        type: Any = type_of(taken.read.args[0])
        is_all = len(group) == normal(type.sizes[int(taken.is_column)])
        if taken in group and len(group) > 1 and (not taken.is_column or is_all and type.rank == 2):
            done.update(map(id, group))
            yield _unpacked(group, is_all)
        else:
            yield taken.line


def _unpacked(group: list[_Taken], is_all: bool) -> Line:
    """`a, b = x`, or `a, b = x[:2]` where there may be more, or `a, b = x.T`."""
    array: ast.expr = ast.Name(group[0].array)
    if group[0].is_column:
        array = ast.Attribute(array, "T")
    elif not is_all:
        array = ast.Subscript(array, ast.Slice(None, number(len(group))))
    return Line(ast.Assign([ast.Tuple([ast.Name(taken.name) for taken in group])], array), group[0].line.origin)


def _first_ones(group: list[_Taken]) -> list[_Taken]:
    """Those that read the first, second, … element."""
    by_place = {taken.place: taken for taken in group}
    count = next(k for k in range(len(group) + 1) if k not in by_place)
    return [by_place[k] for k in range(count)]
