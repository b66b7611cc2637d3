"""Which numbers only a kernel knows, as they are read from arrays or made of such numbers.

    n = x.shape[0]          of the driver
    first = x[0]            of the device
    half = first / 2        of the device
"""

from __future__ import annotations

import math
from typing import Any, assert_never

from ...core.grammar import Call, Effect, If, Let, Loop, Var
from ...core.walk import atom_vars
from ..nest.lifetimes import mentioned
from ..nest.nest_walk import inner_blocks, is_load, statements
from ..nest.nests import Allocate, Block, Fold, Launch, Length, Library, Nest, Product, Stmt, Store, Task
from .telling import is_told

FEW = 1024                             # places for which one block is enough
FEW_STEPS = 32 * FEW                   # and items that are folded at these places


def on_device(body: Block) -> set[Var]:
    """The numbers that are computed from what arrays hold."""
    found: set[Var] = set()
    while new := {var for stmt in statements(body) for var in _known_by(stmt, found)} - found:
        found |= new
    return found


def _known_by(stmt: Stmt, found: set[Var]) -> set[Var]:
    match stmt:
        case Let() if stmt.op is Length:
            return set()
        case Let():
            return set(stmt.targets) if is_load(stmt) or not found.isdisjoint(atom_vars(stmt.args)) else set()
        case Library():
            return set(numbers_of(stmt))
        case Fold():
            return {var for carry in stmt.carries for var in (carry.entry, carry.out)}
        case If():
            decided = is_for_one_block(stmt, found)                      # else the driver takes one of the ways
            return {merge.target for merge in stmt.merges if is_number(merge.target) and (
                decided or not found.isdisjoint(atom_vars((merge.then, merge.orelse))))}
        case Loop():
            return _known_by_loop(stmt, found)
        case Call() | Effect() | Allocate() | Nest() | Store() | Product() | Task() | Launch():
            return set()
        case _:
            assert_never(stmt)


def _known_by_loop(loop: Loop, found: set[Var]) -> set[Var]:
    decided = is_for_one_block(loop, found)                              # else the driver counts iterations
    numbers = {var for carry in loop.carries if is_number(carry.entry) and (
        decided or not found.isdisjoint(atom_vars((carry.init, carry.next)))) for var in (carry.entry, carry.out)}
    if decided and loop.count is not None:
        numbers.add(loop.count)
    return numbers | {read.target for read in loop.reads if is_number(read.target)}


def is_number(var: Any) -> bool:
    """Whether a variable is a number, and no array."""
    return isinstance(var, Var) and not getattr(var.type, "sizes", True)


def numbers_of(stmt: Library) -> list[Var]:
    """The numbers that a call of a library gives: CuPy leaves them on the device."""
    return [target for target in stmt.targets if is_number(target) and target not in stmt.unread]


def is_for_one_block(stmt: If | Loop, device: set[Var]) -> bool:
    """Whether a branch or a loop is so small that one block does all of it: it has to look at what is on the device."""
    if not is_small(stmt) or not is_for_kernel(stmt, may_fail=isinstance(stmt, Loop)):
        return False
    return not device.isdisjoint(mentioned(stmt)) or any(
        is_load(each) or isinstance(each, Store) for each in statements([stmt]))


def is_test(stmt: If) -> bool:
    """Whether a branch only finds out which of many places is wrong, to tell it: the driver does so, element by
    element."""
    inside = list(statements(stmt.then))
    return (not stmt.orelse and not stmt.merges and any(isinstance(each, Effect) for each in inside)
            and all(isinstance(each, (Let, Nest, Effect)) for each in inside))


def is_small(stmt: Any) -> bool:
    """Whether a statement has no nest or fold of a size that is open, or of many places along all axes together."""
    return _places(stmt, Nest) <= FEW and _places(stmt, Nest | Fold) <= FEW_STEPS


def _places(stmt: Any, kinds: Any) -> float:
    """At how many places nests of these kinds, each in the one before, do something."""
    sizes = [index.size for index in stmt.indices] if isinstance(stmt, kinds) else []
    own = math.prod(max(size, 1) if isinstance(size, int) else math.inf for size in sizes)
    return own * max((_places(each, kinds) for block in inner_blocks(stmt) for each in block), default=1)


def is_for_kernel(stmt: Any, may_fail: bool = False) -> bool:
    """Whether a kernel can do all that a statement does, and no array has another name behind it. Errors it can tell,
    if the statement `may_fail`."""
    return not any(isinstance(each, (Allocate, Product, Library, Call)) or records(each) or _renames(each)
                   or isinstance(each, Effect) and not (may_fail and is_told(each)) for each in statements([stmt]))


def records(stmt: Any) -> bool:
    return bool(getattr(stmt, "records", ()) or getattr(stmt, "reads", ()))


def _renames(stmt: Any) -> bool:
    if any(not is_number(merge.target) for merge in getattr(stmt, "merges", ())):
        return True
    return any(not is_number(carry.entry) and not carry.entry is carry.init is carry.next is carry.out
               for carry in getattr(stmt, "carries", ()))


def is_launched(nest: Nest) -> bool:
    """Whether a kernel can do what is in a nest: what it allocates it alone reads and writes, place by place."""
    inside = {each.target for each in statements(nest.body) if isinstance(each, Allocate)}
    return not any(isinstance(each, (Product, Library, Call)) or records(each) or _renames(each)
                   or isinstance(each, Effect) and not is_told(each)
                   or isinstance(each, Allocate) and each.source in inside for each in statements(nest.body))
