"""What cancels: variables with which results are computed that do not depend on them.

    top = np.max(x)                     a term of itself
    e = np.exp(x - top)                 a factor exp(-top) of what does not depend on `top`
    total = np.sum(e)                   the same factor
    p = e / total                       does not depend on `top`

So no derivative goes by way of `top`: it is nothing but the choice that keeps the exponentials finite. A person who
writes the derivative of a softmax leaves it out, where the rules of `max`, `exp` and `/` give terms whose sum is zero
but for rounding.

A variable v is tried in two forms, as a term and as a factor, and what is computed with it is followed: each value is
``free + weight * v`` or ``free * v ** weight`` element by element, or it ends the trial. The exponential makes
a factor exp(weight * v) of a term, the logarithm a term of a factor. The elements of v go with those of a value: `axes`
says for each axis of a value which one of v it is, as a sum may only go over others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import Any

from ..core.builder import current
from ..core.grammar import Atom, Block, Const, Effect, Let, Stmt, Var, type_of
from ..core.types import ArrayType
from ..core.walk import all_uses, blocks_of, tail_uses
from ..ops.identity import StopGradient
from ..ops.reduction import gone
from ..ops.regions import Slot, block_of, entries
from .activity import Summaries, active_vars, differentiable_args, flows

Axes = tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Dependence:
    """How a value depends on the variable in question; `axes` are those of the variable, by the value's own."""

    is_factor: bool
    weight: float
    axes: Axes


Given = Sequence[Dependence | None]


class Depends(Exception):
    """A value is neither free of the variable nor has it as a term or factor."""


def hold(block: Block, inputs: Iterable[Var], results: Iterable[object], summaries: Summaries | None = None) -> None:
    """Makes constants, for derivatives of `results` with respect to `inputs`, of what cancels in a block and in those
    nested in it; in place."""
    results = list(results)
    _hold(block, active_vars(block, inputs, results, summaries), {each for each in results if isinstance(each, Var)})


def _hold(block: Block, active: Collection[Var], ends: set[Var]) -> None:
    for stmt in block:
        inner = {source for _, source in flows(stmt) if isinstance(source, Var)}
        for nested in blocks_of(stmt):
            _hold(nested, active, inner)
    trial = Trial(block, active, ends)
    held = [stmt for stmt in reversed(block) if isinstance(stmt, Let) and trial.cancels(stmt)]
    for stmt in held:
        block.insert(block.index(stmt) + 1, constant_after(stmt))


def constant_after(stmt: Let) -> Let:
    """What makes the result of a statement a constant, of a variable that is now the statement's result."""
    var = stmt.target
    stmt.targets = (Var(var.type),)
    return Let((var,), StopGradient, stmt.targets, {}, stmt.origin)


class Trial:
    """The statements of one block, by what they use."""

    def __init__(self, block: Block, active: Collection[Var], ends: set[Var]) -> None:
        self.block = block
        self.active = active
        self.ends = ends
        self.users: dict[Var, list[int]] = {}
        self.lost: set[tuple[Var, bool]] = set()            # values that do not cancel as a term, or as a factor
        self.made = {target: stmt for stmt in block if isinstance(stmt, Let) for target in stmt.targets}
        for place, stmt in enumerate(block):
            for var in dict.fromkeys((*all_uses(stmt), *tail_uses(stmt))):
                self.users.setdefault(var, []).append(place)

    def cancels(self, stmt: Let) -> bool:
        """Whether nothing that leaves the block depends on the result of a statement, be it a term or a factor of what
        is made of it."""
        var = stmt.targets[0]
        if var not in self.active or var in self.ends or len(stmt.targets) > 1:
            return False
        if not isinstance(var.type, ArrayType) or var.type.dtype.kind != "f":
            return False
        return any(self._vanishes(var, Dependence(is_factor, 1, _own_axes(var))) for is_factor in (False, True))

    def _vanishes(self, var: Var, dependence: Dependence) -> bool:
        """Whether all that depends on a variable cancels. Where all goes by way of one value that is known not to, that
        decides, so that a long sum is not followed to its end from each of its terms."""
        known, alone = {var: dependence}, {var}
        waiting = list(self.users.get(var, ()))
        while waiting:
            stmt = self.block[heappop(waiting)]
            try:
                target, found = self._result(stmt, known)
            except Depends:
                return self._lose(var, dependence)
            if target is None or target in known:
                continue
            if alone.issuperset(atom for atom in all_uses(stmt) if atom in self.active):
                alone.add(target)                       # it rests on nothing else
            if found is None and target in alone:
                return False                            # `y / y` is nan where y is 0, and so is its derivative
            if found is not None:
                if target in self.ends or not waiting and self._is_lost(target, found):
                    return self._lose(var, dependence)
                known[target] = found
                for user in self.users.get(target, ()):
                    heappush(waiting, user)
        return True

    def _lose(self, var: Var, dependence: Dependence) -> bool:
        self.lost.add((var, dependence.is_factor))
        return False

    def _is_lost(self, var: Var, dependence: Dependence) -> bool:
        return (var, dependence.is_factor) in self.lost and dependence.axes == _own_axes(var)

    def _result(self, stmt: Stmt, known: dict[Var, Dependence]) -> tuple[Var | None, Dependence | None]:
        """What a statement gives, with how it depends; nothing if no derivative passes through it."""
        if isinstance(stmt, Effect):
            return None, None
        if not isinstance(stmt, Let):
            raise Depends
        if self._is_idle(stmt, known):
            return None, None
        given = [known.get(atom) for atom in stmt.args]                                # type: ignore[arg-type]
        return stmt.target, self._rule(stmt)(replace(stmt, args=tuple(map(self._folded, stmt.args))), given)

    def _folded(self, atom: Atom) -> Atom:
        """A constant for its negative, as in ``-np.inf``; any other atom as it is."""
        made = self.made.get(atom) if isinstance(atom, Var) else None
        if made is not None and made.op.name == "negative" and isinstance(made.args[0], Const):
            return Const(-made.args[0].value)
        return atom

    def _is_idle(self, stmt: Let, known: dict[Var, Dependence]) -> bool:
        passing = differentiable_args(stmt)
        return not any(t in self.active for t in stmt.targets) or all(atom not in known for atom in passing)

    def _rule(self, stmt: Let) -> Callable[[Let, Given], Dependence | None]:
        if len(stmt.targets) > 1:
            raise Depends
        if stmt.op.name == "get":
            return self._get
        rule = RULES.get(stmt.op.name) or (_product if stmt.op.contraction else None)
        if rule is None:
            raise Depends
        return rule

    def _get(self, stmt: Let, given: Given) -> Dependence:
        """A part of an array that has all elements of the variable, in their order."""
        whole = _only(given[:1])
        operands = tuple(map(type_of, stmt.args[1:]))
        block = block_of(stmt.attrs["index"], operands)
        plain: list[int | None] = []
        joint: list[int | None] = []
        for entry, axis, count in entries(stmt.attrs["index"], operands):
            own = [each for each in whole.axes[axis:axis + count] if each is not None]
            if entry is None or isinstance(entry, slice):
                plain += own or [None]
            else:
                joint += own
            if own and entry != slice(None) and not self._counts(stmt, entry, axis):
                raise Depends
        if joint and (block.rank, len(joint)) != (1, 1):
            raise Depends
        joint = joint or [None] * block.rank
        return replace(whole, axes=(*plain[:block.position], *joint, *plain[block.position:]))

    def _counts(self, stmt: Let, entry: Any, axis: int) -> bool:
        """Whether an entry of an index is ``np.arange`` of an axis."""
        index = stmt.args[1 + entry.k] if isinstance(entry, Slot) else None
        made = self.made.get(index) if isinstance(index, Var) else None
        type: Any = type_of(stmt.args[0])
        return made is not None and made.op.name == "arange" and _plain(made).keys() == {"stop"} and (
            current().assumptions.equal(made.attrs["stop"], type.sizes[axis]))


def _own_axes(var: Var) -> Axes:
    """The axes of a variable as its own."""
    return tuple(None if size == 1 else k for k, size in enumerate(var.type.sizes))   # type: ignore[union-attr]


# -- what ops make of them -------------------------------------------------------------------------


def _rank(atom: Atom) -> int:
    return len(type_of(atom).sizes)                                                   # type: ignore[union-attr]


def _plain(stmt: Let) -> dict[str, Any]:
    """The attributes of a statement, without how its function was spelled."""
    return {key: value for key, value in stmt.attrs.items() if key != "spelling"}


def _only(given: Given) -> Dependence:
    """The dependence of an operation's one operand that has any."""
    found = [each for each in given if each is not None]
    if len(found) != 1:
        raise Depends
    return found[0]


def _spread(stmt: Let, given: Given) -> list[Dependence | None]:
    """Operands broadcast to the axes of the result."""
    rank = _rank(stmt.target)
    spread = [each and replace(each, axes=(None,) * (rank - len(each.axes)) + each.axes) for each in given]
    if len({(each.is_factor, each.axes) for each in spread if each is not None}) > 1:
        raise Depends
    return spread


def _weighted(like: Dependence, weight: float) -> Dependence | None:
    """The same with another weight; nothing, where that is zero."""
    return replace(like, weight=weight) if weight else None


def _one_of(given: Given) -> Dependence:
    return next(each for each in given if each is not None)


def _total(signs: tuple[int, int]) -> Callable[[Let, Given], Dependence | None]:
    """The rule of a sum or difference: weights of terms are added up, and a factor is put before it."""
    def rule(stmt: Let, given: Given) -> Dependence | None:
        spread = _spread(stmt, given)
        like = _one_of(spread)
        if like.is_factor:
            return _alike(stmt, spread)
        return _weighted(like, sum(sign * each.weight for sign, each in zip(signs, spread) if each is not None))
    return rule


def _scaled(signs: tuple[int, int]) -> Callable[[Let, Given], Dependence | None]:
    """The rule of a product or quotient: weights of factors are added up; a term may be multiplied by a number."""
    def rule(stmt: Let, given: Given) -> Dependence | None:
        spread = _spread(stmt, given)
        like = _one_of(spread)
        if like.is_factor:
            return _weighted(like, sum(sign * each.weight for sign, each in zip(signs, spread) if each is not None))
        number = stmt.args[0] if spread[0] is None else stmt.args[1]
        if not isinstance(number, Const) or signs[1] < 0 and spread[0] is None or not number.value:
            raise Depends
        return _weighted(like, like.weight * number.value ** signs[1])
    return rule


def _alike(stmt: Let, given: Given) -> Dependence | None:
    """Operands that depend on it in the same way, or whose value has the term or factor anyway."""
    like = _one_of(given)
    for atom, each in zip(stmt.args, given):
        if each != like and not (each is None and _absorbs(atom, like.is_factor)):
            raise Depends
    return like


def _absorbs(atom: Atom, is_factor: bool) -> bool:
    """Whether a number stays what it is with another factor (zero) or term (infinity)."""
    return isinstance(atom, Const) and (atom.value == 0 if is_factor else abs(atom.value) == math.inf)


def _chosen(stmt: Let, given: Given) -> Dependence | None:
    spread = _spread(stmt, [None, *given[1:]])
    like = _one_of(spread)
    for atom, each in zip(stmt.args[1:], spread[1:]):
        if each != like and not (each is None and _absorbs(atom, like.is_factor)):
            raise Depends
    return like


def _negated(stmt: Let, given: Given) -> Dependence | None:
    like = _only(given)
    return like if like.is_factor else replace(like, weight=-like.weight)


def _unchanged(stmt: Let, given: Given) -> Dependence | None:
    return _spread(stmt, given)[0]


def _exponential(stmt: Let, given: Given) -> Dependence | None:
    if _only(given).is_factor:
        raise Depends
    return replace(_only(given), is_factor=True)


def _logarithm(stmt: Let, given: Given) -> Dependence | None:
    if not _only(given).is_factor:
        raise Depends
    return replace(_only(given), is_factor=False)


def _to_power(exponent: float) -> Callable[[Let, Given], Dependence | None]:
    def rule(stmt: Let, given: Given) -> Dependence | None:
        like = _only(given)
        if not like.is_factor:
            raise Depends
        return _weighted(like, like.weight * exponent)
    return rule


def _power(stmt: Let, given: Given) -> Dependence | None:
    exponent = stmt.args[1]
    if not isinstance(exponent, Const) or given[1] is not None:
        raise Depends
    like = _spread(stmt, given)[0]
    if like is None or not like.is_factor:
        raise Depends
    return _weighted(like, like.weight * exponent.value)


def _reduced(of: str) -> Callable[[Let, Given], Dependence | None]:
    """The rule of a reduction that keeps terms, factors or both."""
    def rule(stmt: Let, given: Given) -> Dependence | None:
        like = _only(given[:1])
        folded = gone(len(like.axes), stmt.attrs.get("axis"))
        if of == "factors" and not like.is_factor or any(like.axes[k] is not None for k in folded):
            raise Depends
        if _plain(stmt).keys() - {"axis", "keepdims"} or any(given[1:]):
            raise Depends
        keeps = stmt.attrs.get("keepdims", False)
        return replace(like, axes=tuple(axis for k, axis in enumerate(like.axes) if keeps or k not in folded))
    return rule


def _running(stmt: Let, given: Given) -> Dependence | None:
    """A running sum has the factor that all of its terms have."""
    like = _only(given)
    axis = stmt.attrs.get("axis")
    if not like.is_factor or _plain(stmt).keys() - {"axis"} or any(
            each is not None for k, each in enumerate(like.axes) if axis in (None, k)):
        raise Depends
    return replace(like, axes=(None,) * _rank(stmt.target) if axis is None else like.axes)


def _product(stmt: Let, given: Given) -> Dependence | None:
    """Of a product that sums over axes, a factor can be taken out that does not go along these."""
    subscripts = stmt.op.contraction(*map(type_of, stmt.args), **_plain(stmt))
    inputs, _, output = subscripts.replace(" ", "").partition("->")
    like = _only(given)
    labels = inputs.split(",")[given.index(like)]
    if not like.is_factor or len(set(labels)) != len(like.axes) or "." in subscripts:
        raise Depends
    by_label = dict(zip(labels, like.axes))
    if any(axis is not None and label not in output for label, axis in by_label.items()):
        raise Depends
    return replace(like, axes=tuple(by_label.get(label) for label in output))


def _transposed(stmt: Let, given: Given) -> Dependence | None:
    like = _only(given)
    order = stmt.attrs.get("axes") or range(len(like.axes))[::-1]
    return replace(like, axes=tuple(like.axes[k] for k in order))


def _expanded(stmt: Let, given: Given) -> Dependence | None:
    like = _only(given)
    new = stmt.attrs["axis"]
    new = (new,) if isinstance(new, int) else new
    old = iter(like.axes)
    return replace(like, axes=tuple(None if k in new else next(old) for k in range(_rank(stmt.target))))


def _rearranged(stmt: Let, given: Given) -> Dependence | None:
    """Any order of elements that all have the same number as a term or factor."""
    like = _only(given[:1])
    if any(axis is not None for axis in like.axes):
        raise Depends
    return replace(like, axes=(None,) * _rank(stmt.target))


def _put_together(stmt: Let, given: Given) -> Dependence | None:
    """Arrays of such elements, one behind the other."""
    if any(each != given[0] for each in given):
        raise Depends
    return _rearranged(stmt, given[:1])


def _squeezed(stmt: Let, given: Given) -> Dependence | None:
    like = _only(given)
    folded = gone(len(like.axes), stmt.attrs.get("axis"))
    if stmt.attrs.get("axis") is None or any(like.axes[k] is not None for k in folded):
        raise Depends
    return replace(like, axes=tuple(axis for k, axis in enumerate(like.axes) if k not in folded))


RULES: dict[str, Callable[[Let, Given], Dependence | None]] = {
    "add": _total((1, 1)), "subtract": _total((1, -1)), "multiply": _scaled((1, 1)), "divide": _scaled((1, -1)),
    "negative": _negated, "where": _chosen, "exp": _exponential, "log": _logarithm,
    "power": _power, "sqrt": _to_power(0.5), "square": _to_power(2), "reciprocal": _to_power(-1),
    "absolute": _to_power(1),
    "sum": _reduced("factors"), "mean": _reduced("terms and factors"), "max": _reduced("terms and factors"),
    "min": _reduced("terms and factors"), "cumsum": _running,
    **dict.fromkeys(("same", "cast", "copy", "broadcast_to"), _unchanged),
    **dict.fromkeys(("reshape", "ravel", "flip", "roll", "diagonal"), _rearranged), "squeeze": _squeezed,
    **dict.fromkeys(("concatenate", "stack"), _put_together),
    "transpose": _transposed, "expand_dims": _expanded,
}
