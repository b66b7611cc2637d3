"""Loops that are left by `break`, as one would write them.

Core has no `break`: a flag ends a loop before its next iteration, and what follows the jump is in an `else`.

    stop = False                          for i in range(50):
    for i in range(50):                       x_k[i] = x
        if stop:                              x -= step
            break                             n += 1
        x_k[i] = x                            if abs(step) < tol:
        x -= step                                 break
        if abs(step) < tol:                   y = x
            stop = True
        else:
            y = x
        n += 1

A flag stays where something else reads it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from .layout import Group, Item, Line, Note

Known = Callable[[str], bool]       # whether a flag is certainly false


def with_breaks(items: list[Item]) -> list[Item]:
    """The items of a function, in which loops are left where a flag was set; where a second flag goes with the first
    one, it is alone once that is gone."""
    while True:
        flags = set[str]()
        items = _block(items, flags, lambda flag: False)
        if not flags:
            return items
        items = _without_flags(items, flags - {name for item in items for name in _read(item)})


def _block(items: list[Item], flags: set[str], is_false: Known) -> list[Item]:
    """The items of a block, as which begins some flags are known to be false."""
    made: list[Item] = []
    for item in items:
        if isinstance(item, Group):
            known = partial(_is_false, made, is_false)
            inside = partial(_is_false_inside, item, known)
            body, orelse = _block(item.body, flags, inside), _block(item.orelse, flags, known)
            item = Group(item.head, body, orelse, item.origin)
            item = _left_behind(_left(item, known, flags), known, flags)
        made.append(item)
    return made


def _is_false(before: list[Item], at_start: Known, flag: str) -> bool:
    """Whether the last thing that happened to a flag is that it was made false, or nothing since it was."""
    for item in reversed(before):
        if flag in _written(item):
            return isinstance(item, Line) and _sets(item.node, flag, False)
    return at_start(flag)


def _is_false_inside(loop: Group, before: Known, flag: str) -> bool:
    """The same for the body of a loop, which ends if its flag is true, and of a branch that tests it."""
    if isinstance(loop.head, ast.If):
        return flag == _negated(loop.head.test)[0] or before(flag)
    return flag == _tested(loop)[0] or flag not in _written(loop) and before(flag)


def _left(loop: Group, is_false: Known, flags: set[str]) -> Group:
    """A loop without the test of its flag, where that is false as it begins and set only to leave it."""
    flag, head, body = _tested(loop)
    if flag is None or not is_false(flag):
        return loop
    found = _leaving(body, flag)
    if found is None:
        return loop
    flags.add(flag)
    return Group(head, found, [], loop.origin)


def _left_behind(loop: Group, is_false: Known, flags: set[str]) -> Group:
    """A loop without a test of a flag behind the statement that sets it."""
    for flag in dict.fromkeys(_flags_tested(loop.body)) if isinstance(loop.head, (ast.For, ast.While)) else ():
        body = _without_test(loop.body, flag) if is_false(flag) else None
        if body is not None and not any(flag in _read(item) for item in body):
            flags.add(flag)
            loop = Group(loop.head, body, loop.orelse, loop.origin)
    return loop


def _flags_tested(items: list[Item]) -> Iterator[str]:
    for item in items:
        if isinstance(item, Group) and isinstance(item.head, ast.If):
            if isinstance(item.head.test, ast.Name) and _is_break(item.body):
                yield item.head.test.id
            yield from _flags_tested([*item.body, *item.orelse])


def _without_test(items: list[Item], flag: str) -> list[Item] | None:
    """Items without `if flag: break`, which leave the loop where they set the flag; None if that is not possible."""
    place = next((k for k, item in enumerate(items) if flag in _written(item) or flag in _read(item)), -1)
    first = items[place]
    if not isinstance(first, Group) or not isinstance(first.head, ast.If):
        return None
    for k in range(place + 1, len(items)):
        item = items[k]
        if isinstance(item, Group) and isinstance(item.head, ast.If) and _tests(item, flag):
            jumping = _jumping([first], flag)
            return None if jumping is None else [*items[:place], *items[place + 1:k], *jumping, *items[k + 1:]]
        if not _can_go_before(item, first):
            break
    body, orelse = (_without_test(block, flag) if any(flag in _read(item) for item in block) else block
                    for block in (first.body, first.orelse))
    if body is None or orelse is None:
        return None
    return [*items[:place], Group(first.head, body, orelse, first.origin), *items[place + 1:]]


def _tests(item: Group, flag: str) -> bool:
    return isinstance(item.head.test, ast.Name) and item.head.test.id == flag and _is_break(item.body) \
        and not item.orelse


def _tested(loop: Group) -> tuple[str | None, ast.stmt, list[Item]]:
    """The flag that ends a loop, and the loop without its test."""
    head, body = loop.head, loop.body
    if isinstance(head, ast.While):
        flag, rest = _negated(head.test)
        return flag, ast.While(rest, [], []), body
    if isinstance(head, ast.For) and body and isinstance(body[0], Group) and isinstance(body[0].head, ast.If):
        test = body[0].head.test
        if isinstance(test, ast.Name) and _is_break(body[0].body) and not body[0].orelse:
            return test.id, head, body[1:]
    return None, head, body


def _negated(test: ast.expr) -> tuple[str | None, ast.expr]:
    """The flag in `not flag` or `not flag and ...`, and what else is tested."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and isinstance(test.operand, ast.Name):
        return test.operand.id, ast.Constant(True)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        flag, rest = _negated(test.values[0])
        if flag is not None and isinstance(rest, ast.Constant):
            others = test.values[1:]
            return flag, others[0] if len(others) == 1 else ast.BoolOp(ast.And(), others)
    return None, test


def _is_break(items: list[Item]) -> bool:
    return len(items) == 1 and isinstance(items[0], Line) and isinstance(items[0].node, ast.Break)


def _sets(node: ast.stmt, flag: str, value: bool) -> bool:
    if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
        return False
    return node.targets[0].id == flag and isinstance(node.value, ast.Constant) and node.value.value is value


def _leaving(body: list[Item], flag: str) -> list[Item] | None:
    """A body that is left where it sets the flag, if nothing but that follows."""
    last = max((k for k, item in enumerate(body) if flag in _written(item)), default=None)
    if last is None or any(flag in _read(item) for item in body):
        return None
    step, after = body[last], body[last + 1:]
    if any(flag in _written(item) for item in body[:last]) or not all(_can_go_before(item, step) for item in after):
        return None
    jumping = _jumping([step], flag)
    return None if jumping is None else [*body[:last], *after, *jumping]


def _jumping(items: list[Item], flag: str) -> list[Item] | None:
    """The end of a body, with jumps after the flag is set; None where more would be skipped."""
    if not any(flag in _written(item) for item in items):
        return items
    items = _with_flag_last(items, flag)
    *first, last = items
    if any(flag in _written(item) for item in first):
        return None
    if isinstance(last, Line) and _sets(last.node, flag, True):
        return [*items, Line(ast.Break(), last.origin)]
    if not isinstance(last, Group) or not isinstance(last.head, ast.If):
        return None
    then, orelse = _jumping(last.body, flag), _jumping(last.orelse, flag)
    if then is None or orelse is None:
        return None
    if then and _ends_in_break(then):
        return [*first, Group(last.head, then, [], last.origin), *orelse]
    return [*first, Group(last.head, then, orelse, last.origin)]


def _with_flag_last(items: list[Item], flag: str) -> list[Item]:
    """Items with the flag set behind what is only assigned after it."""
    for k, item in enumerate(items):
        if isinstance(item, Line) and _sets(item.node, flag, True):
            if all(isinstance(each, Line) and isinstance(each.node, ast.Assign) and flag not in {
                    *_written(each), *_read(each)} for each in items[k + 1:]):
                return [*items[:k], *items[k + 1:], item]
    return items


def _ends_in_break(items: list[Item]) -> bool:
    return isinstance(items[-1], Line) and isinstance(items[-1].node, ast.Break)


def _can_go_before(item: Item, other: Item) -> bool:
    """Whether a number may as well be counted or kept before another statement."""
    if not isinstance(item, Line) or not isinstance(item.node, (ast.Assign, ast.AugAssign)):
        return False
    targets = item.node.targets if isinstance(item.node, ast.Assign) else [item.node.target]
    plain = all(isinstance(target, ast.Name) for target in targets)
    calls = any(isinstance(node, ast.Call) for node in ast.walk(item.node))
    return plain and not calls and not (
        _written(item) & {*_written(other), *_read(other)} or _read(item) & _written(other))


def _without_flags(items: list[Item], idle: set[str]) -> list[Item]:
    """The items without assignments to flags that nothing reads."""
    made: list[Item] = []
    for item in items:
        if isinstance(item, Group):
            body, orelse = _without_flags(item.body, idle), _without_flags(item.orelse, idle)
            made.append(Group(item.head, body, orelse, item.origin))
        elif not isinstance(item, Line) or not any(_sets(item.node, flag, value)
                                                   for flag in idle for value in (False, True)):
            made.append(item)
    return made


# -- what statements write and read -----------------------------------------------------------------


def _nodes(item: Item) -> Iterator[ast.AST]:
    if isinstance(item, Line):
        yield item.node
    elif not isinstance(item, Note):
        yield item.head
        for each in (*item.body, *item.orelse):
            yield from _nodes(each)


def _written(item: Item) -> set[str]:
    """The names that are assigned."""
    return {name for node in _nodes(item) for target in _targets(node) for name in _names([target])}


def _read(item: Item) -> set[str]:
    """The names that occur otherwise. A tree that was built has no contexts: targets are known by their place."""
    return {name for node in _nodes(item) for name in _names(_others(node))}


def _targets(node: ast.AST) -> list[ast.AST]:
    """The targets that are names, alone or several."""
    found: list[ast.AST] = [*getattr(node, "targets", ())] or [getattr(node, "target", None) or ast.Pass()]
    return [target for target in found if isinstance(target, (ast.Name, ast.Tuple))]


def _others(node: ast.AST) -> list[ast.AST]:
    targets = [] if isinstance(node, ast.AugAssign) else _targets(node)
    return [child for child in ast.iter_child_nodes(node) if child not in targets]


def _names(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        for each in ast.walk(node):
            if isinstance(each, ast.Name):
                yield each.id
