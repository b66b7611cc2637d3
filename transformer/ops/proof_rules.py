"""What has to hold of the operands of an op, so that all it gives is at least a bound, or at most one.

    minimum(a, b) is at least 0     where a and b both are
    minimum(a, b) is at most n      where one of them is

A rule asks for what it needs of operands by `proof`; see `proofs`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.builder import current
from ..core.equations import single_atom
from ..core.grammar import Atom, Const, Let, Var, type_of
from ..core.sizes import Extent, Size, Unknown, product, replaced
from .integers import affine, definition_of, is_exact

ABOVE, BELOW = 1, -1                   # at least a bound, at most a bound
Proof = Callable[[Any, int, Extent], bool]
Rule = Callable[[Let, Var, int, Extent, Proof], bool]


def _any(stmt: Let, target: Var, side: int, bound: Extent, proof: Proof) -> bool:
    return any(proof(atom, side, bound) for atom in stmt.args)


def _all(stmt: Let, target: Var, side: int, bound: Extent, proof: Proof) -> bool:
    return all(proof(atom, side, bound) for atom in stmt.args)


def _extreme(smaller: int) -> Rule:
    """`np.minimum` (BELOW) is at most what one operand is at most, and at least what both are."""
    def rule(stmt: Let, target: Var, side: int, bound: Extent, proof: Proof) -> bool:
        return (_any if side == smaller else _all)(stmt, target, side, bound, proof)

    return rule


def _first(stmt: Let, target: Var, side: int, bound: Extent, proof: Proof) -> bool:
    return proof(stmt.args[0], side, bound)


def _written(stmt: Let, target: Var, side: int, bound: Extent, proof: Proof) -> bool:
    return proof(stmt.args[0], side, bound) and proof(stmt.args[1], side, bound)


def _chosen(stmt: Let, target: Var, side: int, bound: Extent, proof: Proof) -> bool:
    return all(proof(atom, side, bound) for atom in stmt.args[1:])


def _clipped(stmt: Let, target: Var, side: int, bound: Extent, proof: Proof) -> bool:
    x, low, high = stmt.args
    if side == BELOW:
        return proof(high, side, bound)
    return proof(high, side, bound) and (proof(low, side, bound) or proof(x, side, bound))


def _added(stmt: Let, target: Var, side: int, bound: Extent, proof: Proof) -> bool:
    left, right = stmt.args
    pairs = (left, right), (right, left)
    shifted = any(is_exact(other) and proof(one, side, bound - affine(other)) for one, other in pairs)
    if shifted or any(proof(one, side, 0) and proof(other, side, bound) for one, other in pairs):
        return True
    return any(end is not None and proof(one, side, bound - end) for one, end in (
        (one, _end(other, side)) for one, other in pairs))


def _end(atom: Any, side: int) -> Extent | None:
    """The smallest, or the largest, of the numbers of a range, or of a part of one."""
    stmt = definition_of(atom)
    if stmt is not None and stmt.op.name == "arange":
        ends = _ends(stmt)
        return None if ends is None else ends[side != ABOVE]
    return _end(stmt.args[0], side) if stmt is not None and RULES.get(stmt.op.name) is _first else None


def _subtracted(stmt: Let, target: Var, side: int, bound: Extent, proof: Proof) -> bool:
    left, right = stmt.args
    return is_exact(right) and proof(left, side, bound + affine(right)) or (
        is_exact(left) and proof(right, -side, affine(left) - bound))


def _negated(stmt: Let, target: Var, side: int, bound: Extent, proof: Proof) -> bool:
    return proof(stmt.args[0], -side, -bound)


def _multiplied(stmt: Let, target: Var, side: int, bound: Extent, proof: Proof) -> bool:
    for one, other in (stmt.args, stmt.args[::-1]):
        count = affine(other) if is_exact(other) else None
        if isinstance(count, int) and count > 0 and isinstance(bound, int):
            return proof(one, side, -(-bound // count) if side == ABOVE else bound // count)
        whole = divided(_end(one, side), other) if side == BELOW else None
        if whole is not None and proof(whole, BELOW, bound):             # k * i, where i is at most whole // k
            return proof(other, ABOVE, 1)
    return side == ABOVE and bound == 0 and _all(stmt, target, side, bound, proof)


def divided(size: Extent | None, divisor: Atom) -> Atom | None:
    """What was divided, if a size is the quotient of something by this divisor."""
    if not isinstance(size, Size):
        return None
    atom = single_atom(replaced(size, lambda atom: affine(atom.var) if isinstance(atom, Unknown) else None))
    stmt = definition_of(atom.var) if isinstance(atom, Unknown) else None
    if stmt is None or stmt.op.name != "floor_divide" or not is_exact(divisor) or not is_exact(stmt.args[1]):
        return None
    return stmt.args[0] if affine(stmt.args[1]) == affine(divisor) else None


def _quotient(stmt: Let, target: Var, side: int, bound: Extent, proof: Proof) -> bool:
    x, divisor = stmt.args
    count = affine(divisor) if is_exact(divisor) else None
    if not isinstance(count, int) or count <= 0:
        return False
    return proof(x, side, bound * count if side == ABOVE else bound * count + count - 1)


def _rest(stmt: Let, target: Var, side: int, bound: Extent, proof: Proof) -> bool:
    """What is left by a positive divisor lies below it."""
    divisor = stmt.args[1]
    if not proof(divisor, ABOVE, 1):
        return False
    return proof(Const(0), ABOVE, bound) if side == ABOVE else proof(divisor, BELOW, bound + 1)


def _size(stmt: Let, axis: Any = None) -> Extent:
    type: Any = type_of(stmt.args[0])
    return product(type.sizes) if axis is None else type.sizes[axis]


def _between(last: Callable[[Let, Var], Extent]) -> Rule:
    """A position, from 0 to the last one."""
    def rule(stmt: Let, target: Var, side: int, bound: Extent, proof: Proof) -> bool:
        if side == ABOVE:
            return proof(Const(0), ABOVE, bound)
        from ..core.walk import atom_of_size
        return proof(atom_of_size(current().assumptions.normal(last(stmt, target))), BELOW, bound)

    return rule


def _of_range(stmt: Let, target: Var, side: int, bound: Extent, proof: Proof) -> bool:
    from ..core.walk import atom_of_size
    ends = _ends(stmt)
    return ends is not None and proof(atom_of_size(ends[side != ABOVE]), side, bound)


def _ends(stmt: Let) -> tuple[Extent, Extent] | None:
    """The smallest and the largest number of a range of integers, if it has any."""
    start, stop, step = stmt.attrs.get("start", 0), stmt.attrs["stop"], stmt.attrs.get("step", 1)
    if not isinstance(step, int) or isinstance(start, float) or isinstance(stop, float):
        return None
    return (start, stop - 1) if step > 0 else (stop + 1, start)


def _cast(stmt: Let, target: Var, side: int, bound: Extent, proof: Proof) -> bool:
    source: Any = type_of(stmt.args[0])
    type: Any = target.type
    if source.dtype.kind == "b":
        return proof(Const(int(side == BELOW)), side, bound)
    return source.dtype.kind in "iu" and type.dtype.kind in "iu" and proof(stmt.args[0], side, bound)


def _never_negative(stmt: Let, target: Var, side: int, bound: Extent, proof: Proof) -> bool:
    return side == ABOVE and proof(Const(0), ABOVE, bound)


def _without_sign(stmt: Let, target: Var, side: int, bound: Extent, proof: Proof) -> bool:
    x = stmt.args[0]
    if side == BELOW:
        return proof(x, BELOW, bound) and proof(x, ABOVE, -bound)
    return proof(Const(0), ABOVE, bound) or proof(x, ABOVE, bound) or proof(x, BELOW, -bound)


RULES: dict[str, Rule] = {
    "minimum": _extreme(BELOW), "maximum": _extreme(ABOVE), "where": _chosen, "clip": _clipped,
    "add": _added, "subtract": _subtracted, "negative": _negated, "multiply": _multiplied,
    "floor_divide": _quotient, "remainder": _rest, "cast": _cast, "same": _first, "positive": _first,
    "square": _never_negative, "absolute": _without_sign,
    "arange": _of_range,
    "zeros": lambda stmt, target, side, bound, proof: proof(Const(0), side, bound),
    "ones": lambda stmt, target, side, bound, proof: proof(Const(1), side, bound),
    **dict.fromkeys(("argmax", "argmin"), _between(lambda stmt, _: _size(stmt, stmt.attrs.get("axis")) - 1)),
    **dict.fromkeys(("argsort", "argpartition"), _between(lambda stmt, _: _size(stmt, stmt.attrs.get("axis", -1)) - 1)),
    "nonzero": _between(lambda stmt, target: _size(stmt, stmt.targets.index(target)) - 1),
    "flatnonzero": _between(lambda stmt, _: _size(stmt) - 1),
    **dict.fromkeys(("count_nonzero", "searchsorted"), _between(lambda stmt, _: _size(stmt))),
    # Elements of the operands, at other places.
    **dict.fromkeys(("get", "reshape", "ravel", "flatten", "copy", "transpose", "swapaxes", "moveaxis", "expand_dims",
                     "squeeze", "broadcast_to", "flip", "roll", "tile", "repeat", "diagonal", "sort", "full"), _first),
    **dict.fromkeys(("concatenate", "stack", "hstack", "vstack", "dstack", "column_stack", "array"), _all),
    "put": _written,
}
WRAPPING = frozenset(("add", "subtract", "negative", "multiply", "square", "absolute"))


def may_wrap(stmt: Let, target: Var) -> bool:
    """Whether what an op computes, or makes of an operand, may not fit its dtype."""
    type: Any = target.type
    if type.dtype.kind not in "iu":
        return False
    rule = RULES[stmt.op.name]
    items = stmt.args[:1] if rule is _first else stmt.args[:2] if rule is _written else stmt.args
    return stmt.op.name in WRAPPING and not type.weak or any(
        each.dtype.kind in "iu" and not each.weak and not np.can_cast(each.dtype, type.dtype)    # type: ignore[union-attr]
        for each in map(type_of, items))
