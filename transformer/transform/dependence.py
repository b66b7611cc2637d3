"""How what ops give depends on a variable: as a sum or a product with it, element by element."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ..core.grammar import Atom, Const, Let, type_of
from ..ops.reduction import gone
from ..ops.value import rule_attrs

Axes = tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Dependence:
    """How a value depends on the variable in question; `axes` are those of the variable, by the value's own."""

    is_factor: bool
    weight: float
    axes: Axes


class Depends(Exception):
    """A value is neither free of the variable nor has it as a term or factor."""


Given = Sequence[Dependence | None]


def _rank(atom: Atom) -> int:
    return len(type_of(atom).sizes)                                                   # type: ignore[union-attr]


def only(given: Given) -> Dependence:
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
    like = only(given)
    return like if like.is_factor else replace(like, weight=-like.weight)


def _unchanged(stmt: Let, given: Given) -> Dependence | None:
    return _spread(stmt, given)[0]


def _exponential(stmt: Let, given: Given) -> Dependence | None:
    if only(given).is_factor:
        raise Depends
    return replace(only(given), is_factor=True)


def _logarithm(stmt: Let, given: Given) -> Dependence | None:
    if not only(given).is_factor:
        raise Depends
    return replace(only(given), is_factor=False)


def _to_power(exponent: float) -> Callable[[Let, Given], Dependence | None]:
    def rule(stmt: Let, given: Given) -> Dependence | None:
        like = only(given)
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
        like = only(given[:1])
        folded = gone(len(like.axes), stmt.attrs.get("axis"))
        if of == "factors" and not like.is_factor or any(like.axes[k] is not None for k in folded):
            raise Depends
        if rule_attrs(stmt).keys() - {"axis", "keepdims"} or any(given[1:]):
            raise Depends
        keeps = stmt.attrs.get("keepdims", False)
        return replace(like, axes=tuple(axis for k, axis in enumerate(like.axes) if keeps or k not in folded))
    return rule


def _running(stmt: Let, given: Given) -> Dependence | None:
    """A running sum has the factor that all of its terms have."""
    like = only(given)
    axis = stmt.attrs.get("axis")
    if not like.is_factor or rule_attrs(stmt).keys() - {"axis"} or any(
            each is not None for k, each in enumerate(like.axes) if axis in (None, k)):
        raise Depends
    return replace(like, axes=(None,) * _rank(stmt.target) if axis is None else like.axes)


def product(stmt: Let, given: Given) -> Dependence | None:
    """Of a product that sums over axes, a factor can be taken out that does not go along these."""
    subscripts = stmt.op.contraction(*map(type_of, stmt.args), **rule_attrs(stmt))
    inputs, _, output = subscripts.replace(" ", "").partition("->")
    like = only(given)
    labels = inputs.split(",")[given.index(like)]
    if not like.is_factor or len(set(labels)) != len(like.axes) or "." in subscripts:
        raise Depends
    by_label = dict(zip(labels, like.axes))
    if any(axis is not None and label not in output for label, axis in by_label.items()):
        raise Depends
    return replace(like, axes=tuple(by_label.get(label) for label in output))


def _transposed(stmt: Let, given: Given) -> Dependence | None:
    like = only(given)
    order = stmt.attrs.get("axes") or range(len(like.axes))[::-1]
    return replace(like, axes=tuple(like.axes[k] for k in order))


def _expanded(stmt: Let, given: Given) -> Dependence | None:
    like = only(given)
    new = stmt.attrs["axis"]
    new = (new,) if isinstance(new, int) else new
    old = iter(like.axes)
    return replace(like, axes=tuple(None if k in new else next(old) for k in range(_rank(stmt.target))))


def _rearranged(stmt: Let, given: Given) -> Dependence | None:
    """Any order of elements that all have the same number as a term or factor."""
    like = only(given[:1])
    if any(axis is not None for axis in like.axes):
        raise Depends
    return replace(like, axes=(None,) * _rank(stmt.target))


def _put_together(stmt: Let, given: Given) -> Dependence | None:
    """Arrays of such elements, one behind the other."""
    if any(each != given[0] for each in given):
        raise Depends
    return _rearranged(stmt, given[:1])


def _squeezed(stmt: Let, given: Given) -> Dependence | None:
    like = only(given)
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
