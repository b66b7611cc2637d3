"""Loops in blocks: a reverse sweep keeps the state at the start of each block, and runs a block again
when it gets there.

A loop of n iterations becomes a loop over blocks around a loop that is marked to be run again:

    for k in range(n):                  for start in range(0, n, size):
        u = step(u)         becomes         for k in range(start, min(start + size, n)):
                                                u = step(u)

With blocks of about √n iterations, about 2√n states are kept instead of n. (Griewank 1992 is the idea;
more levels would keep fewer.)

How often a `while` runs is known only when it ends. Its blocks grow: the first has one iteration, the next
one has two, and so on, so that m blocks have m(m+1)/2 iterations and 2m states are kept at most.

    while test(u):                      while test(u):
        u = step(u)         becomes         for _ in range(blocks + 1):
                                                if not test(u):
                                                    break
                                                u = step(u)
                                            blocks += 1
"""

from __future__ import annotations

from typing import Any

from ...core.builder import Builder
from ...core.errors import NotSupported
from ...core.grammar import Atom, Block, Call, Carry, Const, If, Let, Loop, Var
from ...core.sizes import Extent, Size, Unknown
from ...core.types import INT, ArrayType, SeqType
from ...core.walk import Copier, all_statements, atom_of_size, atom_vars, free_vars, runs_again, size_of_atom
from ...ops.arithmetic import Add, Cast
from ...ops.integers import shared
from ...ops.selection import Maximum, Minimum
from ...ops.value import Value, apply


def can_be_split(stmt: object) -> bool:
    """Whether a loop runs upwards and neither records nor reads what another one recorded."""
    return (isinstance(stmt, Loop) and not stmt.down and not stmt.records and not _tests_position(stmt)
            and bool(stmt.carries) and not _has_effects_of_others(stmt)
            and all(isinstance(read.target.type, ArrayType) and not _is_sequence(read.source) for read in stmt.reads))


def has_loops(block: Block) -> bool:
    return any(isinstance(stmt, Loop) for stmt in all_statements(block))


def check_splittable(loop: Loop) -> None:
    """Raises for a loop that cannot be run in blocks."""
    if loop.trips is None and any(loop.blocks):
        raise NotSupported("a while loop cannot be split into a fixed number of blocks", loop.origin,
                           why="Its number of iterations is known only when it ends.",
                           instead="Write checkpoint_loop(): the blocks then grow with the number of iterations.")
    if can_be_split(loop):
        return
    why = (
        "It changes nothing." if not loop.carries else
        "A recursive function that it calls has effects." if _has_effects_of_others(loop) else
        "It makes a list, or goes through one that another loop made.")
    raise NotSupported("this loop cannot be split into blocks", loop.origin, why=why,
                       instead="Remove checkpoint_loop, or loop over a range and change only arrays or numbers.")


def _has_effects_of_others(loop: Loop) -> bool:
    """Whether functions that the loop calls print or check something, which a second run would repeat."""
    return any(isinstance(stmt, Call) and not runs_again(stmt.function) for stmt in all_statements(loop.body))


def _tests_position(loop: Loop) -> bool:
    return loop.position in free_vars(loop.test, atom_vars(loop.cond))


def _is_sequence(atom: Any) -> bool:
    return isinstance(atom.type, SeqType)


def in_blocks(block: Block, builder: Builder) -> Block:
    """The block with the loops that ask for it split."""
    found: Block = []
    for stmt in block:
        if isinstance(stmt, If):
            stmt.then, stmt.orelse = in_blocks(stmt.then, builder), in_blocks(stmt.orelse, builder)
        elif isinstance(stmt, Loop):
            stmt.body = in_blocks(stmt.body, builder)
        if isinstance(stmt, Loop) and stmt.blocks:
            check_splittable(stmt)
            carry_told_sizes(stmt)
            with builder.nested() as split, builder.at(stmt.origin):
                _split(stmt, builder)
            found += split
        else:
            found.append(stmt)
    return found


def carry_told_sizes(loop: Loop) -> None:
    """Has a loop carry the sizes of arrays that its position tells: blocks begin and end at others."""
    following = atom_of_size(size_of_atom(loop.position) + 1)
    at_first, at_next = Copier({loop.position: Const(0)}), Copier({loop.position: following})
    told = {size: (Var(INT, "size"), Var(INT, "size")) for c in loop.carries for size in _sizes_told(loop, c)}
    for carry in loop.carries if told else ():
        pairs = list(zip(_sizes(carry.entry), _sizes(carry.out)))
        for k, var in enumerate((carry.entry, carry.out)):
            sizes = (Size.of(Unknown(told[pair[0]][k])) if pair[0] in told else pair[k] for pair in pairs)
            var.type = var.type.with_sizes(tuple(sizes))                                        # type: ignore[union-attr]
    loop.carries[:0] = [Carry(entry, atom_of_size(at_first.size(size)), atom_of_size(at_next.size(size)), out)
                        for size, (entry, out) in told.items()]


def _sizes_told(loop: Loop, carry: Carry) -> list[Extent]:
    return [size for size in _sizes(carry.entry) if loop.position in atom_vars(size)]


def _sizes(var: Var) -> tuple[Extent, ...]:
    return var.type.sizes if isinstance(var.type, ArrayType) else ()


def _split(loop: Loop, builder: Builder) -> None:
    """Emits a loop as a loop over blocks."""
    number = Var(INT, None if loop.trips is None else "block")
    around = Copier()
    outer = [around.fresh(c.entry) for c in loop.carries]           # whose types mention sizes among them
    index: Any = Value(number)
    blocks: Atom | None = None
    if loop.trips is not None:
        trips: Any = Value(loop.trips)
        size = _called("size", _size_of_block(trips, loop.blocks[0]))
        blocks = _called("blocks", (trips + size - 1) // size).atom
    with builder.nested() as body:
        if loop.trips is None:
            inner = _inner(loop, index * (index + 1) // 2, index + 1, outer, builder)
        else:
            start = _called("start", index * size)
            end = _called("end", apply(Minimum, (start + size, trips), {}, "min"))
            inner = _inner(loop, start, end - start, outer, builder)
        body += in_blocks([inner], builder)
    carries = [Carry(entry, c.init, own.out, c.out) for entry, c, own in zip(outer, loop.carries, inner.carries)]
    if loop.count is not None:
        carries.append(_counted(loop.count, inner, body))
    test, cond, _ = _tested(loop, around)
    made = Var(INT, "blocks") if loop.trips is None else None
    builder.emit(Loop(number, blocks, carries, body, test=test, cond=cond, count=made, origin=loop.origin,
                      again=loop.again, independent=loop.independent))


def _counted(count: Var, inner: Loop, body: Block) -> Carry:
    """The number of iterations, added up over blocks."""
    before, after = Var(INT), Var(INT)
    assert inner.count is not None
    body.append(Let((after,), Add, (before, inner.count), {}, inner.origin))
    return Carry(before, Const(0), after, count)


def _tested(loop: Loop, copier: Copier) -> tuple[Block, Any, Var | None]:
    """The condition of a loop on other entries, and a variable for the count of iterations."""
    return copier.block(loop.test), copier.atom(loop.cond), None if loop.cond is None else Var(INT)


def _called(name: str | None, value: Any) -> Any:
    """The value under a name that says what it is."""
    if isinstance(value.atom, Var) and value.atom.name is None:
        value.atom.name = name
    return value


def _size_of_block(trips: Any, blocks: int) -> Any:
    """How many iterations make a block, at least one."""
    if blocks:
        return apply(Maximum, ((trips + (blocks - 1)) // blocks, 1), {}, "max")
    root = (apply(Maximum, (trips, 1), {}, "max") - 1) ** 0.5
    whole: Any = shared(Cast, (root,), {"dtype": int}, "int")
    return whole + 1


def _inner(loop: Loop, start: Any, trips: Any, inits: list[Var], builder: Builder) -> Loop:
    """The loop over one block; what the loop read at its position is read by index."""
    from ...ops.indexing import read
    position = Var(loop.position.type)
    with builder.nested() as body:
        place = _called(loop.position.name, start + Value(position))
        elements = [read(Value(r.source), place) for r in loop.reads]
        copier = Copier({loop.position: place.atom, **{r.target: e.atom for r, e in zip(loop.reads, elements)}})
        entries = [copier.fresh(c.entry) for c in loop.carries]
        test, cond, count = _tested(loop, Copier(dict(copier.mapping)))
        body += copier.block(loop.body)
    carries = [Carry(entry, init, copier.atom(c.next), copier.fresh(c.out))
               for entry, init, c in zip(entries, inits, loop.carries)]
    return Loop(position, trips.atom, carries, body, test=test, cond=cond, count=count, origin=loop.origin,
                blocks=loop.blocks[1:], again=True, independent=loop.independent)
