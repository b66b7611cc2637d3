"""Long functions in parts: the time that a compiler takes for a function grows with the square of its length.

    def step_kernel(x, w, y):               def compute_y(x, w, n, y):
        n = x.shape[0]                          total = 0.0
        total = 0.0                             for i in range(n):
        for i in range(n):                          total += x[i]
            total += x[i]                       for i in range(n):
        for i in range(n):          →               y[i] = w[i] / total
            y[i] = w[i] / total                 return total
        …
        return total                        def step_kernel(x, w, y):
                                                n = x.shape[0]
                                                total = compute_y(x, w, n, y)
                                                …
                                                return total

A part is a run of statements, of the function or of a long loop in it, that nothing leaves. It takes the names that it
reads, and gives those that it binds and others read behind it. Loops or calls in it are worth the call: numbers that
are computed one after another, as those of small arrays that have become numbers, stay together.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ..write.layout import Group, Item, Line

LONG = 240                             # statements of a function that is compiled as a whole
PART = 80                              # statements of a part, at most, but for one that is longer alone
LEAST = 12                             # statements that are worth a function
DEEPEST = 1                            # loops around a part
MOST_GIVEN = 8                         # names that a part gives

Names = frozenset[str]
Share = Callable[[Group, str], str]    # takes a function, and its name as one would like it; gives the name


def in_parts(params: Sequence[str], items: list[Item], share: Share, kept: Names, alike: Sequence[set[str]]
             ) -> list[Item]:
    """The statements of a function, calls of parts among them if it is long; what calls one of the functions that are
    `kept` stays in it. The arrays with names that are `alike` may share memory: no part takes two of them, since it is
    compiled as if its arrays were apart."""
    if _length(items) <= LONG:
        return items
    local = frozenset(params) | set(_bound(items))
    return _Division(share, kept, local, alike).block(items, frozenset(params), frozenset())


class _Division:
    def __init__(self, share: Share, kept: Names, local: Names, alike: Sequence[set[str]]) -> None:
        self.share, self.kept, self.local, self.alike = share, kept, local, alike

    def block(self, items: list[Item], before: Names, after: Names, depth: int = 0) -> list[Item]:
        """A block with parts; `before` are the names that are bound before it, `after` those that are read behind it,
        or before they are bound by the next iteration."""
        made: list[Item] = []
        count = 0
        for run in self._runs(items):
            count += len(run)
            made += self._run(run, before, _live(items[count:], after), depth)
            before |= _certain(run)
        return made

    def _runs(self, items: list[Item]) -> Iterator[list[Item]]:
        """The statements in groups: a long one alone, and what may not be moved."""
        run: list[Item] = []
        for item in items:
            alone = _length([item]) > PART or not self._may_move(item)
            if run and (alone or _length([*run, item]) > PART):
                yield run
                run = []
            run.append(item)
            if alone:
                yield run
                run = []
        if run:
            yield run

    def _run(self, run: list[Item], before: Names, after: Names, depth: int) -> list[Item]:
        item = run[0]
        if len(run) == 1 and _length(run) > PART:
            return [self._divided(item, before, after, depth)] if _is_loop(item) and depth < DEEPEST else run
        if _length(run) < LEAST or not any(map(_takes_time, run)) or not all(map(self._may_move, run)):
            return run
        if len(after.intersection(_bound(run))) > MOST_GIVEN:
            return run
        needed = _live(run, frozenset(_bound(run)) & after) & self.local
        if not needed <= before or any(len(needed & names) > 1 for names in self.alike):
            return run
        return [self._part(run, [name for name in _in_order(run) if name in needed], after)]

    def _divided(self, item: Any, before: Names, after: Names, depth: int) -> Item:
        """A long loop whose body has parts."""
        inside = _live([item], after) | after
        bound = before | set(_names(getattr(item.head, "target", None)))
        return Group(item.head, self.block(item.body, bound, inside, depth + 1), item.orelse, item.origin)

    def _part(self, run: list[Item], taken: list[str], after: Names) -> Line:
        given = [name for name in dict.fromkeys(_bound(run)) if name in after]
        names: list[ast.expr] = list(map(ast.Name, given))
        body = list(run)
        if names:
            body.append(Line(ast.Return(names[0] if len(names) == 1 else ast.Tuple(names))))
        params = ast.arguments([], [ast.arg(name) for name in taken], None, [], [], None, [])
        name = self.share(Group(ast.FunctionDef("", params, [], [], None), body), f"compute_{_result(run, given)}")
        call = ast.Call(ast.Name(name), list(map(ast.Name, taken)), [])
        if not names:
            return Line(ast.Expr(call), run[0].origin)
        return Line(ast.Assign([names[0] if len(names) == 1 else ast.Tuple(names)], call), run[0].origin)

    def _may_move(self, item: Item) -> bool:
        """Whether a statement ends nothing but what is in it, and calls no function that calls this one."""
        return not _leaves(item) and self.kept.isdisjoint(_in_order([item]))


def _length(items: Iterable[Item]) -> int:
    return sum(1 + _length(item.body) + _length(item.orelse) if isinstance(item, Group) else 1 for item in items)


def _is_loop(item: Item) -> bool:
    return isinstance(item, Group) and isinstance(item.head, (ast.For, ast.While))


def _takes_time(item: Item) -> bool:
    """Whether a statement is a loop, or calls what has loops."""
    return _is_loop(item) or isinstance(item, Line) and isinstance(item.node, ast.Expr)


def _leaves(item: Item, loop: bool = False) -> bool:
    """Whether a statement may leave the function, or a loop around it."""
    if isinstance(item, Line):
        return isinstance(item.node, ast.Return) or isinstance(item.node, (ast.Break, ast.Continue)) and not loop
    if not isinstance(item, Group):
        return False
    return (any(_leaves(each, loop or _is_loop(item)) for each in item.body)
            or any(_leaves(each, loop) for each in item.orelse))


def _result(run: list[Item], given: list[str]) -> str:
    """What a part is there for: the last array that it writes, or number that it gives."""
    written = [name for item in run for name in _written(item)]
    return (written or given or ["part"])[-1]


def _written(item: Item) -> Iterator[str]:
    """The names of arrays whose elements a statement writes."""
    if isinstance(item, Group):
        for inner in (*item.body, *item.orelse):
            yield from _written(inner)
    elif isinstance(item, Line):
        for target in _targets(item.node):
            if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                yield target.value.id


# -- names ----------------------------------------------------------------------------------------


def _live(items: Sequence[Item], after: Names) -> Names:
    """The names whose values before some statements may be read, if those `after` are read behind them."""
    for item in reversed(items):
        after = _before(item, after)
    return after


def _before(item: Item, after: Names) -> Names:
    if isinstance(item, Line):
        return after - set(_plain_targets(item.node)) | set(_read(item.node))
    if not isinstance(item, Group):
        return after
    head: Any = item.head
    match head:
        case ast.For() | ast.While():
            test = head.iter if isinstance(head, ast.For) else head.test
            bound = set(_names(head.target)) if isinstance(head, ast.For) else set()
            around = after | set(_names(test)) | _live(item.orelse, after)
            once = around | _live(item.body, around) - bound
            return around | _live(item.body, once) - bound
        case ast.If():
            return _live(item.body, after) | _live(item.orelse, after) | set(_names(head.test))
    return after | set(_in_order([item]))


def _bound(items: Iterable[Item]) -> Iterator[str]:
    """The names that statements bind."""
    for item in items:
        if isinstance(item, Line):
            yield from _plain_targets(item.node)
        elif isinstance(item, Group):
            yield from _names(getattr(item.head, "target", None))
            yield from _bound((*item.body, *item.orelse))


def _certain(items: Iterable[Item]) -> Names:
    """The names that are certainly bound behind statements."""
    found: Names = frozenset()
    for item in items:
        if isinstance(item, Line):
            found |= set(_plain_targets(item.node))
        elif isinstance(item, Group) and isinstance(item.head, ast.If):
            found |= _certain(item.body) & _certain(item.orelse)
    return found


def _in_order(items: Iterable[Item]) -> dict[str, None]:
    """All names in statements, in the order of their appearance."""
    found: dict[str, None] = {}
    for item in items:
        if isinstance(item, Line):
            found.update(dict.fromkeys(_names(item.node)))
        elif isinstance(item, Group):
            found.update(dict.fromkeys(_names(item.head)))
            found.update(_in_order((*item.body, *item.orelse)))
    return found


def _targets(node: Any) -> Iterator[ast.expr]:
    for target in getattr(node, "targets", None) or [getattr(node, "target", None)]:
        yield from target.elts if isinstance(target, ast.Tuple) else [target]


def _plain_targets(node: Any) -> Iterator[str]:
    for target in _targets(node):
        if isinstance(target, ast.Name):
            yield target.id


def _read(node: Any) -> Iterator[str]:
    """The names that a simple statement reads; an array of which it writes elements is read as well."""
    if isinstance(node, (ast.Assign, ast.AugAssign)):
        yield from _names(node.value)
        for target in _targets(node):
            if isinstance(node, ast.AugAssign) or not isinstance(target, ast.Name):
                yield from _names(target)
    else:
        yield from _names(node)


def _names(node: Any) -> Iterator[str]:
    if node is not None:
        yield from (each.id for each in ast.walk(node) if isinstance(each, ast.Name))
