"""Neighbouring loops of a sweep become one, where an iteration of the second touches nothing that the first one has yet
to touch; what has just been written is not read.

    for j in range(m):                          for j in range(m):
        part[j] = y[i, j]                           y_ij = y[i, j]
    for j in range(m):                              y[i, j] = 0.0
        y[i, j] = 0.0                      →        y[i + 1, j] += y_ij * b
    for j in range(m):
        y[i + 1, j] += part[j] * b

Where the first of two loops over rows goes a few rows further, these are done before. Sums over the same places join
nests and other sums. Arrays are memory here, which a sweep changes again and again. (`merging` has joined what it
could where they were values.)
"""

from __future__ import annotations

from typing import Any

from ...core.builder import current
from ...core.grammar import Atom, Carry, If, Let, Loop, Var
from ...core.sizes import Extent, Size, Unknown
from ...core.types import INT
from ...core.walk import Copier, atom_of_size
from ...ops.identity import Same
from ..memory.overwritten import without_lost
from ..nest.access import place_key
from ..nest.copying import NestCopier
from ..nest.dependence import Frame, accesses, conflicts
from ..nest.levels import key_of
from ..nest.lifetimes import mentioned, written
from ..nest.nest_walk import defined, inner_blocks, is_load, is_numeric, loaded, statements
from ..nest.nests import Block, Fold, Index, Nest, Store, split

MOST_STATEMENTS = 64                   # of a loop that comes about
MOST_ROWS_APART = 2                    # of two nests that are joined as far as both go
MOST_BETWEEN = 12                      # statements that a nest is moved past


def join(block: Block, in_sweep: bool = False) -> Block:
    """The block with nests joined: those in its loops, and elsewhere those that write to the same array."""
    made: Block = []
    for stmt in block:
        for inner in inner_blocks(stmt):
            inner[:] = join(inner, in_sweep or isinstance(stmt, Loop) or isinstance(stmt, Nest) and stmt.ordered)
        made.append(stmt)
        if isinstance(stmt, Nest):
            _join_last(made, in_sweep)
        if in_sweep and isinstance(made[-1], (Nest, Fold)):
            _join_sums(made)
    return made


def _join_last(made: Block, in_sweep: bool) -> None:
    """Joins the last nest with one before it, which may move to it: what is between does not touch the same."""
    last, touched, changed = made[-1], set[Var](), set[Var]()
    for first in made[-2:-2 - MOST_BETWEEN:-1]:
        if isinstance(first, Nest) and touched.isdisjoint(written(first)) and changed.isdisjoint(loaded(first)):
            rest, both = _joint_of_most(first, last) if in_sweep else ([], None)
            both = both or (_joint(first, last) if in_sweep or written(first) & written(last) else None)
            if both is not None:
                made[-1], place = both, made.index(first)
                made[place:place + 1] = rest
                _join_last(made, in_sweep)
                return
        if not isinstance(first, (Let, Nest, Store)):
            return
        touched |= mentioned(first)
        changed |= written(first)


def _join_sums(made: Block) -> None:
    """Joins the last statement with a sum before it, or with a nest if it is a sum, to which it moves past what does
    not touch the same; and what they become with one before."""
    last, uses, changes = made[-1], mentioned(made[-1]), written(made[-1])
    for k in range(len(made) - 2, max(-1, len(made) - 2 - MOST_BETWEEN), -1):
        first = made[k]
        both = _joint_sum(first, last) if isinstance(first, (Nest, Fold)) else None
        if both is not None:
            between = made[k + 1:-1]
            made[k:] = [both]
            _join_sums(made)
            made += between
            return
        if not isinstance(first, (Let, Nest, Fold, Store)) or not changes.isdisjoint(loaded(first)) or (
                not uses.isdisjoint((*written(first), *defined(first)))):
            return


def _joint_sum(first: Nest | Fold, second: Nest | Fold) -> Fold | None:
    """One fold that does what a nest and a fold, or two folds over the same places do one after the other."""
    pair = first, second
    if not any(isinstance(each, Fold) for each in pair) or not all(map(_is_one_loop, pair)):
        return None
    if not _are_alike(*pair) or not mentioned(second).isdisjoint(defined(first)):
        return None
    index, copier = first.indices[0], NestCopier({second.indices[0].var: first.indices[0].var})
    own = [Carry(copier.fresh(c.entry), c.init, c.next, c.out) for c in getattr(second, "carries", ())]
    body = _in_order(index, first.body, copier.block(second.body), apart=True)
    if body is None:
        return None
    for carry in own:
        carry.next = copier.atom(carry.next)
    return Fold([index], [*getattr(first, "carries", ()), *own], body, first.origin)


def _is_one_loop(stmt: Nest | Fold) -> bool:
    """Whether a nest or fold goes along one axis, and only computes numbers, and reads and writes them."""
    return len(stmt.indices) == 1 and all(isinstance(each, (Let, If, Store)) for each in statements(stmt.body))


def _in_order(index: Index, first: Block, second: Block, apart: bool = False) -> Block | None:
    """What the iterations of two loops do, if those of the second touch nothing that the first one has yet to touch;
    `apart`, nothing that other ones touch at all, so that many can be done at a time."""
    early, late = accesses(first), accesses(second)
    frame = Frame(index.var, index.size)
    if early is None or late is None or any(frame.meet(y, x) or apart and frame.meet(x, y)
                                            for x, y in conflicts(early, late)):
        return None
    return without_lost(_not_read_again(join(_numbers_first(first, second), in_sweep=True)))


def _joint(first: Any, second: Any) -> Nest | None:
    if not (is_numeric(first) and is_numeric(second) and _are_alike(first, second)):
        return None
    a, b = split(first, 1), split(second, 1)
    index = a.indices[0]
    inside: Block = NestCopier({b.indices[0].var: index.var}).block(b.body)
    body = _in_order(index, a.body, inside)
    if body is None:
        return None
    ordered = first.ordered or second.ordered
    if len(body) == 1 and isinstance(body[0], Nest) and len(first.indices) > 1:
        return Nest([index, *body[0].indices], body[0].body, first.origin, ordered)
    return Nest([index], body, first.origin, ordered)


def _joint_of_most(first: Any, second: Any) -> tuple[Block, Nest | None]:
    """What a nest over rows does for those that it has more than a second one, and what both do for the others."""
    more = _rows_more(first, second)
    if more is None:
        return [], None
    count = second.indices[0].size
    both = _joint(_of_rows(first, 0, count), second)
    return ([], None) if both is None else ([_of_rows(first, count, more)], both)


def _rows_more(first: Any, second: Any) -> int | None:
    """How many rows more one of two nests has, if these are few."""
    if first.ordered or not (_has_loops(first) and _has_loops(second)):
        return None
    more = current().assumptions.normal(first.indices[0].size - second.indices[0].size)
    return more if isinstance(more, int) and 0 < more <= MOST_ROWS_APART else None


def _of_rows(nest: Nest, first: Extent, count: Extent) -> Nest:
    """What a nest does for some of its rows."""
    index = Index(Var(INT, nest.indices[0].var.name), count)
    current().assumptions.within(index.var, 0, count - 1)
    alone = count == 1 and len(nest.indices) > 1
    place = atom_of_size(first if alone else Size.of(Unknown(index.var)) + first)
    copy = NestCopier({nest.indices[0].var: place}).stmt(Nest(nest.indices[1:], nest.body, nest.origin))
    return Nest([*([] if alone else [index]), *copy.indices], copy.body, nest.origin)


def _are_alike(first: Nest | Fold, second: Nest | Fold) -> bool:
    """Whether two nests run over the same places, with something in common, and both along a row or neither."""
    normal = current().assumptions.normal
    touched = [written(nest) | loaded(nest) for nest in (first, second)]
    sizes = [[normal(index.size) for index in nest.indices] for nest in (first, second)]
    count = sum(1 for _ in statements([first, second]))
    are_rows = _has_loops(first)
    return (sizes[0][:1 if are_rows else None] == sizes[1][:1 if are_rows else None] and are_rows == _has_loops(second)
            and not touched[0].isdisjoint(touched[1]) and count <= MOST_STATEMENTS)


def _has_loops(nest: Nest | Fold) -> bool:
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
            key = (stmt.args[0], place_key(stmt.args[1:])) if is_load(stmt) else key_of(
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
            known[stmt.array, place_key(stmt.at)] = stmt.value
        elif is_load(stmt):
            known[stmt.args[0], place_key(stmt.args[1:])] = stmt.target
        made.append(stmt)
    return made
