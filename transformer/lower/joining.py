"""Neighbouring loops of a sweep become one, where an iteration of the second touches nothing that the first one has yet
to touch; what has just been written is not read.

    for j in range(m):                          for j in range(m):
        part[j] = y[i, j]                           y_ij = y[i, j]
    for j in range(m):                              y[i, j] = 0.0
        y[i, j] = 0.0                      →        y[i + 1, j] += y_ij * b
    for j in range(m):
        y[i + 1, j] += part[j] * b

Arrays are memory here, which a sweep changes again and again. (`merging` has joined what it could where they were
values.)
"""

from __future__ import annotations

from typing import Any

from ..core.builder import current
from ..core.grammar import Atom, Const, Let, Loop, Var
from ..core.walk import Copier
from ..ops.identity import Same
from .copying import NestCopier
from .dependence import Frame, accesses, conflicts
from .levels import key_of
from .lifetimes import mentioned, written
from .nests import Block, Fold, Nest, Store, inner_blocks, is_load, is_numeric, loaded, split, statements
from .overwritten import without_lost

MOST_STATEMENTS = 64                   # of a loop that comes about
MOST_BETWEEN = 12                      # statements that a nest is moved past


def join(block: Block, in_sweep: bool = False) -> Block:
    """The block with nests joined: those in its loops, and elsewhere those that write to the same array."""
    made: Block = []
    for stmt in block:
        for inner in inner_blocks(stmt):
            inner[:] = join(inner, in_sweep or isinstance(stmt, Loop))
        made.append(stmt)
        if isinstance(stmt, Nest):
            _join_last(made, in_sweep)
    return made


def _join_last(made: Block, in_sweep: bool) -> None:
    """Joins the last nest with one before it, which may move to it: what is between does not touch the same."""
    last, touched, changed = made[-1], set[Var](), set[Var]()
    for first in made[-2:-2 - MOST_BETWEEN:-1]:
        if isinstance(first, Nest) and touched.isdisjoint(written(first)) and changed.isdisjoint(loaded(first)):
            both = _joint(first, last) if in_sweep or written(first) & written(last) else None
            if both is not None:
                made[-1] = both
                made.remove(first)
                return
        if not isinstance(first, (Let, Nest, Store)):
            return
        touched |= mentioned(first)
        changed |= written(first)


def _joint(first: Any, second: Any) -> Nest | None:
    if not (is_numeric(first) and is_numeric(second) and _are_alike(first, second)):
        return None
    a, b = split(first, 1), split(second, 1)
    index = a.indices[0]
    inside: Block = NestCopier({b.indices[0].var: index.var}).block(b.body)
    early, late = accesses(a.body), accesses(inside)
    frame = Frame(index.var, index.size)
    if early is None or late is None or any(frame.meet(y, x) for x, y in conflicts(early, late)):
        return None
    body = without_lost(_not_read_again(join(_numbers_first(a.body, inside), in_sweep=True)))
    ordered = first.ordered or second.ordered
    if len(body) == 1 and isinstance(body[0], Nest) and len(first.indices) > 1:
        return Nest([index, *body[0].indices], body[0].body, first.origin, ordered)
    return Nest([index], body, first.origin, ordered)


def _are_alike(first: Nest, second: Nest) -> bool:
    """Whether two nests run over the same places, with something in common, and both along a row or neither."""
    normal = current().assumptions.normal
    touched = [written(nest) | loaded(nest) for nest in (first, second)]
    sizes = [[normal(index.size) for index in nest.indices] for nest in (first, second)]
    count = sum(1 for _ in statements([first, second]))
    are_rows = _has_loops(first)
    return (sizes[0][:1 if are_rows else None] == sizes[1][:1 if are_rows else None] and are_rows == _has_loops(second)
            and not touched[0].isdisjoint(touched[1]) and count <= MOST_STATEMENTS)


def _has_loops(nest: Nest) -> bool:
    return len(nest.indices) > 1 or any(isinstance(stmt, (Nest, Fold)) for stmt in nest.body)


def _numbers_first(first: Block, second: Block) -> Block:
    """Both blocks, with the numbers that the second one begins with before the first one, if that does not change what
    they are read from."""
    changed = {array for stmt in first for array in written(stmt)}
    count = next((k for k, stmt in enumerate(second)
                  if not isinstance(stmt, Let) or not loaded(stmt).isdisjoint(changed)), len(second))
    return [*second[:count], *first, *second[count:]]


def _not_read_again(body: Block) -> Block:
    """A body in which numbers that it has stored or read itself are not read, and none is computed twice."""
    known: dict[Any, Atom] = {}
    computed: dict[Any, Atom] = {}
    names = Copier()
    made: Block = []
    for stmt in body:
        if isinstance(stmt, Let):
            key = (stmt.args[0], _key(stmt.args[1:])) if is_load(stmt) else key_of(
                Let(stmt.targets, stmt.op, names.args(stmt.args), stmt.attrs))
            earlier = (known if is_load(stmt) else computed).get(key)
            if earlier is not None and key is not None:
                names.mapping[stmt.target] = earlier
                stmt = Let(stmt.targets, Same, (earlier,), {}, stmt.origin)
            elif not is_load(stmt):
                computed[key] = stmt.targets[0]
        changed: set[Var] = written(stmt)
        known = {key: value for key, value in known.items() if key[0] not in changed}
        if isinstance(stmt, Store) and not stmt.adds:
            known[stmt.array, _key(stmt.at)] = stmt.value
        elif is_load(stmt):
            known[stmt.args[0], _key(stmt.args[1:])] = stmt.target
        made.append(stmt)
    return made


def _key(at: Any) -> tuple[Any, ...]:
    return tuple(k.value if isinstance(k, Const) else k for k in at)
