"""Convolutions as loops over the shorter vector, which add the longer one where it lies.

    y = convolve(a, v)      →      loop k in m - 1: y[k:m - 1] += v[k] * a[:m - 1 - k]
                                   loop k in m:     y[m - 1:n] += v[k] * a[m - 1 - k:n - k]
                                   loop k in m - 1: y[n:n + k + 1] += v[k + 1] * a[n - k - 1:]

Most is added in the second one, which takes several rows in a pass (`jamming`). NumPy has a product of two vectors for
each element; so it is done here where there are fewer elements than items in each. Numbers outside of `a` are no
zeros, as they would not be left out where `v` is infinite.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ...core.builder import current
from ...core.grammar import Block, Carry, Function, If, Let, Loop, Var, type_of
from ...core.sizes import Extent
from ...core.types import INT, ArrayType
from ...core.walk import all_statements, atom_of_size
from ...ops.arithmetic import converted
from ...ops.creation import zeros
from ...ops.identity import Same
from ...ops.indexing import write
from ...ops.samples import Convolve
from ...ops.value import Value


def convolved_in_loops(function: Function) -> Function:
    """The function without calls of NumPy for that; the same one, if it has none."""
    has_any = any(isinstance(stmt, Let) and stmt.op is Convolve for stmt in all_statements(function.body))
    return replace(function, body=_block(function.body)) if has_any else function


def _block(block: Block) -> Block:
    made: Block = []
    for stmt in block:
        if isinstance(stmt, Let) and stmt.op is Convolve:
            made += _loops(stmt)
        elif isinstance(stmt, If):
            made.append(replace(stmt, then=_block(stmt.then), orelse=_block(stmt.orelse)))
        elif isinstance(stmt, Loop):
            made.append(replace(stmt, test=_block(stmt.test), body=_block(stmt.body)))
        else:
            made.append(stmt)
    return made


def _loops(stmt: Let) -> Block:
    """The loops of a convolution; itself where it is open which vector is longer."""
    operands = list(map(Value, stmt.args))
    if not _is_longer(*operands):
        operands.reverse()
    if not _is_longer(*operands) or "mode" in stmt.attrs and operands[0].atom is not stmt.args[0]:
        return [stmt]
    builder = current()
    type: Any = type_of(stmt.target)
    with builder.at(stmt.origin), builder.nested() as made:
        a, v = (converted(each, type.dtype) for each in operands)
        result = _overlapping(a, v, type) if "mode" in stmt.attrs else _whole(a, v, type)
    return [*made, Let(stmt.targets, Same, (result.atom,), {}, stmt.origin)]


def _is_longer(a: Any, v: Any) -> bool:
    """Whether it is as long as the other one or longer: in all calls that this code is made for."""
    return current().assumptions.choose(a.shape[0], v.shape[0])


def _are_few(y: Any, v: Any) -> bool:
    """Whether there are fewer results than items in each of them, in all calls that this code is made for: as in the
    derivative for the shorter vector."""
    return current().assumptions.choose(v.shape[0], y.shape[0] + 1)


def _overlapping(a: Any, v: Any, type: Any) -> Any:
    """Where all of the shorter one lies in the longer one."""
    (n,), (m,) = a.shape, v.shape
    y = zeros(type.with_sizes((n - m + 1,)))
    if type.dtype.kind in "fc" and _are_few(y, v):
        turned = v[::-1]
        return _added_up(y, n - m + 1, lambda y, k: write(y, np.sum(_part(a, k, m) * turned), k))
    return _added_up(y, m, lambda y, k: y + v[k] * _part(a, m - 1 - k, n - m + 1))


def _whole(a: Any, v: Any, type: ArrayType) -> Any:
    (n,), (m,) = a.shape, v.shape

    def before(y: Any, k: Any) -> Any:
        return _adds(y, k, m - 1 - k, v[k] * _part(a, 0, m - 1 - k))

    def inside(y: Any, k: Any) -> Any:
        return _adds(y, m - 1, n - m + 1, v[k] * _part(a, m - 1 - k, n - m + 1))

    def behind(y: Any, k: Any) -> Any:
        return _adds(y, n, k + 1, v[k + 1] * _part(a, n - 1 - k, k + 1))

    y = _added_up(zeros(type), m - 1, before)
    return _added_up(_added_up(y, m, inside), m - 1, behind)


def _part(x: Any, first: Any, count: Any) -> Any:
    return x[first:first + count]


def _adds(y: Any, first: Any, count: Any, more: Any) -> Any:
    return write(y, _part(y, first, count) + more, slice(first, first + count))


def _added_up(y: Any, count: Extent, step: Callable[[Any, Any], Any]) -> Any:
    """What a loop makes of an array, to which each of its iterations adds."""
    builder, position, entry = current(), Var(INT, "k"), Var(y.type, "y")
    builder.assumptions.within(position, 0, count - 1)
    with builder.nested() as body:
        new = step(Value(entry), Value(position))
    carry = Carry(entry, y.atom, new.atom, Var(y.type, "y"))
    builder.emit(Loop(position, atom_of_size(count), [carry], body, origin=builder.origin))
    return Value(carry.out)
