"""Sizes that are not the same in all lanes, such as ``len(a) + len(b)`` of parts that masks selected, as arrays with a
number for each lane."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.grammar import Atom, Var
from ...core.sizes import Dim, Extent, Floor, Least, Monomial, Size, SizeAtom, Unknown
from ...core.walk import atom_of_size
from ...ops.value import Value, call


def lanes_of_size(size: Extent, lane_of: Callable[[Var], Atom]) -> Any:
    """A size in every lane; `lane_of` gives all lanes of an integer, or the integer where it is the same in all."""
    if not isinstance(size, Size):
        return Value(atom_of_size(size))
    return sum((_term(monomial, count, lane_of) for monomial, count in size.terms.items()), start=0)


def _term(monomial: Monomial, count: int, lane_of: Callable[[Var], Atom]) -> Any:
    factors = [_factor(atom, lane_of) for atom in monomial]
    return math.prod([*factors[1:], *([count] if count != 1 else [])], start=factors[0]) if factors else count


def _factor(atom: SizeAtom, lane_of: Callable[[Var], Atom]) -> Any:
    if isinstance(atom, Dim):
        return Value(Size.of(atom))
    if isinstance(atom, Unknown):
        return Value(lane_of(atom.var))
    if isinstance(atom, Floor):
        function, sizes = operator.floordiv, (atom.numerator, atom.denominator)
    else:
        function, sizes = np.minimum if isinstance(atom, Least) else np.maximum, (atom.first, atom.second)
    return call(function, tuple(lanes_of_size(size, lane_of) for size in sizes), {})
