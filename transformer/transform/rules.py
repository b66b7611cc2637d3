"""Applying an op's derivative rule, in either mode: the one place that knows the facets.

Rules neither un-broadcast nor cast; `fitted` does both. A cotangent is kept as small as it comes:
its shape only has to broadcast to its primal's (that of a sum stays a scalar); `full` widens it
where a rule looks at more than corresponding elements.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from ..core.builder import Builder, current
from ..core.errors import NotDifferentiable
from ..core.grammar import Const, Function, Let, Var, type_of
from ..core.halves import finfo, of_numpy
from ..core.sizes import Extent
from ..core.types import ArrayType
from ..core.walk import all_definitions, reachable
from ..ops.creation import zeros
from ..ops.value import Value, call, is_weak, rule_attrs, value
from .symmetric import symmetric_cotangent, symmetric_tangent


def operands_of(stmt: Let) -> list[Value]:
    return [Value(atom) for atom in stmt.args]


def results_of(stmt: Let) -> Any:
    values = tuple(Value(target) for target in stmt.targets)
    return values[0] if len(values) == 1 else values


def has_rule(op: Any) -> bool:
    """Whether an op states its derivative itself (and need not be expanded by its definition)."""
    return bool(op.partials or op.vjp or op.jvp or op.derivative is not None)


def family_of(stmt: Let) -> str | None:
    """``"math"`` for an op on Python numbers that gives one: its rules use math as well."""
    return "math" if getattr(stmt.target.type, "weak", False) else None


def expand(stmt: Let, builder: Builder) -> list[Any]:
    """Emits the definition of a defined op; gives the atoms of its results."""
    with builder.at(stmt.origin):
        result = stmt.op.definition(*operands_of(stmt), **rule_attrs(stmt))
    results = result if isinstance(result, tuple) else (result,)
    return [value(r).atom for r in results]


def tangents(stmt: Let, given: list[Value | None]) -> list[Value | None]:
    """The tangents of a statement's results; `given` are those of its operands (None for zero)."""
    op, attrs = stmt.op, rule_attrs(stmt)
    if op.derivative is not None:
        return [None] * len(stmt.targets)
    operands, y = operands_of(stmt), results_of(stmt)
    if op.symmetric:
        given = [None if t is None else symmetric_tangent(stmt, t) for t in given]
    if op.tangent is not None:
        results = (y,) if op.elementwise else ()
        terms = [op.tangent(tuple(given), *operands, *results, **attrs)]
    else:
        again = partial(_apply_again, op, spelling=spelled_by_numpy(stmt))
        terms = [_tangent_term(op, i, t, operands, y, attrs, again) for i, t in enumerate(given) if t is not None]
    count = len(stmt.targets)
    rows = [term if isinstance(term, tuple) else (term,) * count for term in terms]
    return [_total(stmt.targets[k], [row[k] for row in rows]) for k in range(count)]


def spelled_by_numpy(stmt: Let) -> str | None:
    """How the user called an op of which NumPy has several names: a tangent goes by the same."""
    spelling: str | None = stmt.attrs.get("spelling")
    return spelling if spelling is not None and spelling.startswith("np.") else None


def _tangent_term(op: Any, i: int, t: Value, operands: list[Value], y: Any, attrs: dict[str, Any], again: Any) -> Any:
    if op.partials is not None:
        return op.partials[i](t, *operands, y)
    if op.jvp is not None:
        return _rule(op, op.jvp, i)(t, *operands, y, **attrs)
    if op.variadic:
        return _variadic_term(op, i, t, operands, attrs, again)
    if not _is_linear(op, i):
        raise not_differentiable(op, i)
    return again([*operands[:i], t, *operands[i + 1:]], attrs)


def _variadic_term(op: Any, i: int, t: Value, operands: list[Value], attrs: dict[str, Any], again: Any) -> Any:
    """Linear in all operands together (concatenate): zeros for the others; in each (einsum): themselves."""
    if op.linear == ("each",):
        return again([*operands[:i], t, *operands[i + 1:]], attrs)
    others = [zeros(operand.type) for operand in operands]
    return again([*others[:i], t, *others[i + 1:]], attrs)


def _apply_again(op: Any, operands: list[Value], attrs: dict[str, Any], spelling: str | None) -> Any:
    from ..ops.value import emit
    return emit(op, tuple(operand.atom for operand in operands), attrs, spelling)


def _is_linear(op: Any, i: int) -> bool:
    return op.variadic or i >= len(op.operands) or op.operands[i] in op.linear or op.linear == ("each",)


def not_differentiable(op: Any, i: int) -> NotDifferentiable:
    operand = op.operands[i] if i < len(op.operands) else f"operand {i + 1}"
    return NotDifferentiable(f"the derivative of {op.name} with respect to its argument {operand!r} is not defined",
                             instead="Use stop_gradient on that argument to treat it as a constant.")


def _rule(op: Any, rules: tuple[Any, ...], i: int) -> Any:
    rule = rules[i] if i < len(rules) else rules[-1]
    if rule is None:
        raise not_differentiable(op, i)
    return rule


def _total(target: Var, terms: list[Any]) -> Value | None:
    terms = [term for term in terms if term is not None]
    if not terms:
        return None
    if not isinstance(target.type, ArrayType):
        return terms[0]
    if len(terms) > 1 and current().derivatives.mixes_widths:
        terms = [cast(value(term), target.type) for term in terms]
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return full(cast(value(total), target.type), target.type)


def cotangents(stmt: Let, given: list[Value], active: Any, guarded: Any = None) -> Iterator[tuple[int, Value]]:
    """Cotangent contributions of a statement's operands, last operand first: (place, cotangent). `guarded` is applied
    to each before it is summed."""
    op, attrs = stmt.op, rule_attrs(stmt)
    operands, y = operands_of(stmt), results_of(stmt)
    for i in reversed(range(len(operands))):
        if not active(stmt.args[i]):
            continue
        dy = given[0] if len(given) == 1 else tuple(given)
        term = _cotangent_term(op, i, dy, operands, y, attrs)
        if op.symmetric:
            term = symmetric_cotangent(stmt, term)
        if term is not None:
            over = stmt.target.type if op.elementwise else None
            is_array = isinstance(type_of(stmt.args[i]), ArrayType)
            if guarded is not None:
                term = guarded(term, stmt.args[i])
            yield i, fitted(term, over, operands[i].type) if is_array else term


def _cotangent_term(op: Any, i: int, dy: Any, operands: list[Value], y: Any, attrs: dict[str, Any]) -> Any:
    if op.partials is not None:
        return op.partials[i](dy, *operands, y)
    if op.variadic:
        return op.vjp[0](dy, i, *operands, **attrs)
    rule = _rule(op, op.vjp, i)
    return rule(dy, *operands, **attrs) if op.linear else rule(dy, *operands, y, **attrs)


def fitted(term: Any, over: Any, type: Any) -> Value:
    """A contribution summed down to the sizes of its primal, in its primal's dtype.

    `term` stands for a cotangent over the sizes of `over`, to which it broadcasts; None: over its own
    sizes. `type` is the primal's.
    """
    term = value(term)
    sizes = _joint(term.shape, type.sizes) if over is None else over.sizes
    return cast(_summed(term, sizes, type.sizes), type)


def _joint(first: tuple[Extent, ...], second: tuple[Extent, ...]) -> tuple[Extent, ...]:
    """The sizes of `first` and `second` together, where one of them may be 1 or missing."""
    rank = max(len(first), len(second))
    pairs = zip((1,) * (rank - len(first)) + first, (1,) * (rank - len(second)) + second)
    return tuple(b if a == 1 else a for a, b in pairs)


def _summed(term: Value, over: tuple[Extent, ...], sizes: tuple[Extent, ...]) -> Value:
    if over == sizes:
        return _drop_leading(term, len(sizes))
    normal = current().assumptions.normal
    over, kept = tuple(map(normal, over)), tuple(map(normal, sizes))
    if over == kept:
        return _drop_leading(term, len(sizes))
    own = (1,) * (len(over) - term.ndim) + term.shape
    kept = (1,) * (len(over) - len(sizes)) + kept
    axes = [k for k in range(len(over)) if kept[k] == 1 and over[k] != 1]
    for k in axes:
        if own[k] == 1:
            term = call(operator.mul, (term, over[k]), {})
    missing = len(over) - term.ndim
    axes = [k - missing for k in axes if own[k] != 1]
    if axes:
        leading = list(range(term.ndim - len(sizes)))
        term = _sum_over(term, leading, keep=False) if set(axes) <= set(leading) else _sum_over(term, axes, keep=True)
    return _drop_leading(term, len(sizes))


def _sum_over(term: Value, axes: list[int], keep: bool) -> Value:
    if len(axes) == term.ndim:
        return np.sum(term)
    where = axes[0] if len(axes) == 1 else tuple(axes)
    return np.sum(term, axis=where, keepdims=True) if keep else np.sum(term, axis=where)


def _drop_leading(term: Value, rank: int) -> Value:
    """Removes leading axes of size 1 until the rank is at most `rank`."""
    extra = term.ndim - rank
    return term[(0,) * extra] if extra > 0 else term


def cast(term: Value, type: ArrayType) -> Value:
    """`term` in the dtype of `type`; a complex one loses its imaginary part for a real primal."""
    if term.dtype == type.dtype and not _may_be_narrowed(term, type):
        return term
    if isinstance(term.atom, Const) and type.is_inexact and not type.weak and term.dtype.kind != "c":
        return Value(Const(of_numpy(type.dtype).type(term.atom.value)))
    if term.dtype.kind == "c" and type.dtype.kind != "c":
        return cast(np.real(term), type)
    return term.astype(float if type.weak and type.dtype == np.float64 else type.dtype)


def _may_be_narrowed(term: Value, type: ArrayType) -> bool:
    """Whether a derivative is a number of Python's, its primal is none, and it may meet a narrower number: that
    would decide the dtype of what they give."""
    return current().derivatives.mixes_widths and is_weak(term.type) and not type.weak


def mixes_widths(function: Function) -> bool:
    """Whether a function, with those that it calls, has NumPy's floating point numbers of several widths."""
    bodies = [function, *reachable(function)]
    variables = [var for each in bodies for var in (*each.params, *all_definitions(each.body))]
    types = (var.type for var in variables if isinstance(var.type, ArrayType))
    return len({finfo(type.dtype).bits for type in types if type.is_inexact and not type.weak}) > 1


def full(term: Value, type: Any) -> Value:
    """`term` widened to the sizes of `type`."""
    if not isinstance(type, ArrayType):
        return term
    normal = current().assumptions.normal
    sizes = tuple(map(normal, type.sizes))
    if term.shape == sizes:
        return term
    if term.ndim == 0:
        return _filled(term, type)
    return call(np.broadcast_to, (term, sizes), {})


def _filled(term: Value, type: ArrayType) -> Value:
    return call(np.full, (type.sizes, term), {"dtype": type.dtype})


def added(first: Value, second: Value) -> Value:
    """The sum of two contributions to one cotangent."""
    return call(operator.add, (first, second), {})


def zero_or(term: Value | None, type: Any) -> Value:
    """A cotangent in full size; zeros when there is none."""
    return zeros(type) if term is None else full(term, type)


def sizes_of(atom: Any) -> tuple[Extent, ...]:
    """The sizes of an array, as they are compared."""
    return Value(atom).shape


def is_sparse(stmt: Let) -> bool:
    """Whether the cotangent of operand 0 is that of a part of it."""
    op = stmt.op
    return bool(op.accumulate) and not (op.takes_all and op.takes_all(**rule_attrs(stmt)))
