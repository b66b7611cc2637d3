"""Integers of Python that certainly stay within 64 bits, so that nobody has to look whether they do.

Sizes do, and products of two of them; positions of loops; remainders by what does; what a loop adds little to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...core.builder import current
from ...core.grammar import UNDEFINED, Atom, Carry, Let, Loop, Merge, Var, type_of
from ...core.sizes import Dim, Extent, Floor, Greatest, Least, Size, Unknown
from ...core.types import ArrayType
from ...core.walk import size_of_atom
from ...ops.integers import PLACES, affine, is_exact
from ...ops.proof_rules import divided
from ...ops.proofs import Ranges

Interval = tuple[int, int]
WIDEST: Interval = (-2 ** 63, 2 ** 63 - 1)
UNSIGNED: Interval = (0, 2 ** 64 - 1)                  # of uint64, which may be negative as int64
ENDLESS: Interval = (-2 ** 127, 2 ** 127)
LARGEST_SIZE, LARGEST_FACTOR = 2 ** 47, 2 ** 31      # of an array in memory; where two sizes are multiplied
LARGEST_STEP, COUNTED = 2 ** 10, (-2 ** 61, 2 ** 61)   # what is counted in such steps in a lifetime
COUNT = 0, LARGEST_SIZE
DEEPEST = 16


class Magnitudes:
    """Intervals in which integers of a function lie."""

    def __init__(self, ranges: Ranges | None = None) -> None:
        self.ranges = ranges             # what is certain at the place that a pass has come to
        self.sources = {} if ranges is None else ranges.sources
        self.supposed: dict[Var, Interval] = {}
        self.found: dict[tuple[Any, int], Interval] = {}     # of one question, under what is supposed

    def of(self, atom: Any, depth: int = DEEPEST) -> Interval:
        """The interval of an integer, which has 64 bits: one with more is refused where it is made."""
        if depth == DEEPEST:
            self.found = {}
        interval = self._of(atom, depth)
        return interval if interval == UNSIGNED else within_64_bits(interval)

    def _of(self, atom: Any, depth: int) -> Interval:
        if atom is UNDEFINED:
            return 0, 0                  # its use raises before
        if isinstance(atom, int):        # a place
            return atom, atom
        if isinstance(atom, Var) and atom in self.supposed:
            return self.supposed[atom]
        if is_exact(atom) and not _is_itself(size := affine(atom), atom):
            return self._of_size(size, depth)
        type: Any = type_of(atom)
        if not isinstance(type, ArrayType) or type.dtype.kind not in "iub":
            return WIDEST
        narrow = type.dtype.kind != "i" or type.dtype.itemsize < 8
        own = (0, 2 ** (8 * type.dtype.itemsize) - 1) if type.dtype.kind != "i" else (
            -2 ** (8 * type.dtype.itemsize - 1), 2 ** (8 * type.dtype.itemsize - 1) - 1)
        return own if narrow or depth == 0 or not isinstance(atom, Var) else self._of_var(atom, depth - 1)

    def exact(self, stmt: Let, depth: int = DEEPEST) -> Interval:
        """The interval of what a statement would give if integers had no end."""
        rule = RULES.get(stmt.op.name)
        interval = ENDLESS if rule is None else rule(*(self.of(arg, depth) for arg in stmt.args))
        if depth == 0 or is_within_64_bits(interval):
            return interval
        if stmt.op.name in ("add", "multiply"):
            interval = self._of_steps(stmt, interval, depth - 1)
        if not is_exact(stmt.target) or _is_itself(size := affine(stmt.target), stmt.target):
            return interval
        return _common(interval, self._of_size(size, depth - 1))

    def _of_steps(self, stmt: Let, interval: Interval, depth: int) -> Interval:
        """Of `k * i`, where i is a position and at most ``whole // k``; of `start + i`, where it is below
        ``stop - start``."""
        for one, other in (stmt.args, stmt.args[::-1]):
            low, high = current().assumptions.ranges.get(Unknown(one), (None, None))
            if low == 0 and high is not None and stmt.op.name == "add":
                last = high + size_of_atom(other)                        # stop - start - 1 + start
                return _common(interval, (self.of(other, depth)[0], self._of_terms(last, depth)[1]))
            elif low == 0 and high is not None:
                whole = divided(high, other)
                if whole is not None and self.of(other, depth)[0] > 0:
                    return _common(interval, (0, max(self.of(whole, depth)[1], 0)))
        return interval

    def _of_size(self, size: Extent, depth: int) -> Interval:
        """Kept, as the terms of a size may mention others, each of them several times."""
        key = size, depth
        if key not in self.found:
            self.found[key] = self._size_computed(size, depth)
        return self.found[key]

    def _size_computed(self, size: Extent, depth: int) -> Interval:
        """By the terms, and where these are large together: by the first and the last position of a loop, of which
        one bound of its range is left (`start + k`), and by conditions that hold here (``2 * step <= n``)."""
        interval = self._of_terms(size, depth)
        if depth == 0 or is_within(interval, COUNTED):
            return interval
        for atom, count, bounds in _positions(size):
            first, last = (self._of_size(size + (bound - Size.of(atom)) * count, depth - 1) for bound in bounds)
            interval = _common(interval, _union(first, last))
            break
        for fact in self.ranges.facts() if self.ranges is not None else ():
            for times in _times_in(fact, size):
                least, most = self._of_terms(size - fact * times, depth - 1)
                interval = _common(interval, (least, ENDLESS[1]) if times > 0 else (ENDLESS[0], most))
        return interval

    def _of_var(self, var: Var, depth: int) -> Interval:
        """Kept, as the sides of branches that follow one another rest on the same integers."""
        key = var, depth
        if key not in self.found:
            self.found[key] = self._computed(var, depth)
        return self.found[key]

    def _computed(self, var: Var, depth: int) -> Interval:
        bounds = current().assumptions.ranges.get(Unknown(var), (None, None))
        _, part = self.sources.get(var, (None, None))
        if bounds != (None, None) and part is None:
            return self._ends(bounds, COUNTED, depth)
        stmt = current().numbering.definitions.get(var)
        if stmt is not None:
            return _cut(self.exact(stmt, depth))
        if isinstance(part, Merge):
            return _union(self.of(part.then, depth), self.of(part.orelse, depth))
        return self._of_carry(var, bounds, depth) if isinstance(part, Carry) else WIDEST

    def _ends(self, bounds: Any, otherwise: Interval, depth: int) -> Interval:
        """The interval between bounds that are known, or not."""
        low, high = (end if bound is None else self._of_size(bound, depth)[k]
                     for k, (bound, end) in enumerate(zip(bounds, otherwise, strict=True)))
        return low, high

    def _of_carry(self, var: Var, bounds: Any, depth: int) -> Interval:
        """Of what a loop carries, between bounds that are known: where it begins, if it drifts slowly; or the same
        after an iteration as before."""
        loop, carry = self.sources[var]
        before, found = dict(self.supposed), self.found
        widest = self._ends(bounds, WIDEST, depth)
        counted = _common(COUNTED, widest)
        try:
            self.supposed[carry.entry], self.found = counted, {}
            first = self.of(carry.init, depth)
            if not is_within(first, COUNTED):
                return widest
            drifts = _drifts(carry.next, carry.entry, self.sources, depth)
            stays = drifts or is_within(self._of_next(loop, carry, depth), COUNTED)
            return counted if stays else widest
        finally:
            self.supposed, self.found = before, found

    def _of_next(self, loop: Loop, carry: Carry, depth: int) -> Interval:
        """After an iteration, in which the condition of the loop holds."""
        if self.ranges is None:
            return self.of(carry.next, depth)
        self.found = {}
        with self.ranges.before(loop), self.ranges.block(loop.cond):
            return self.of(carry.next, depth)

    def _of_terms(self, size: Extent, depth: int) -> Interval:
        if isinstance(size, int):
            return size, size
        total: Interval = (0, 0)
        for monomial, count in size.terms.items():
            largest = LARGEST_SIZE if len(monomial) < 2 else LARGEST_FACTOR
            term: Interval = (count, count)
            for atom in monomial:
                low, high = self._of_atom(atom, depth)
                term = _times(term, (max(low, -largest), min(high, largest)) if isinstance(atom, Dim) else (low, high))
            total = total[0] + term[0], total[1] + term[1]
        return total

    def _of_atom(self, atom: Any, depth: int) -> Interval:
        match atom:
            case Dim():
                return 0, LARGEST_SIZE
            case Unknown(var):
                if var in self.supposed:
                    return self.supposed[var]
                return self._of_var(var, depth - 1) if depth > 0 else WIDEST
            case Floor(numerator, denominator):
                low, high = self._of_size(numerator, depth)
                least = self._of_size(denominator, depth)[0]
                return (low // least, high // least) if least > 0 else WIDEST
            case Least(first, second) | Greatest(first, second):
                return _union(self._of_size(first, depth), self._of_size(second, depth))
        return WIDEST


def _is_itself(size: Extent, atom: Atom) -> bool:
    return isinstance(atom, Var) and size == Size.of(Unknown(atom))


def _positions(size: Extent) -> Iterator[tuple[Unknown, int, tuple[Extent, Extent]]]:
    """What is certainly within bounds, of the terms of a size, with how often it is in it."""
    if isinstance(size, Size):
        known = current().assumptions.ranges
        for monomial, count in size.terms.items():
            if len(monomial) == 1 and isinstance(atom := monomial[0], Unknown):
                low, high = known.get(atom, (None, None))
                if low is not None and high is not None:
                    yield atom, count, (low, high)


def _times_in(fact: Extent, size: Extent) -> Iterator[int]:
    """How many times a fact is taken away from a size so that a term goes, for each of its terms."""
    if isinstance(fact, Size) and isinstance(size, Size):
        for monomial, count in fact.terms.items():
            times, rest = divmod(size.terms.get(monomial, 0), count)
            if monomial and times and not rest:
                yield times


def _drifts(atom: Any, entry: Var, sources: Mapping[Var, Any], depth: int) -> bool:
    """Whether an integer is at most a small step away from what an iteration begins with."""
    if depth == 0 or not is_exact(atom):
        return False
    step = affine(atom) - affine(entry)
    if isinstance(step, int):
        return abs(step) <= LARGEST_STEP
    _, part = sources.get(atom, (None, None)) if isinstance(atom, Var) else (None, None)
    if isinstance(part, Merge):
        return all(_drifts(side, entry, sources, depth - 1) for side in (part.then, part.orelse))
    return isinstance(part, Carry) and atom is part.out and _drifts(part.init, entry, sources, depth - 1) and _drifts(
        part.next, part.entry, sources, depth - 1)


def is_within(inner: Interval, outer: Interval) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def is_within_64_bits(interval: Interval) -> bool:
    return is_within(interval, WIDEST)


def within_64_bits(interval: Interval) -> Interval:
    return _common(interval, WIDEST)


def _cut(interval: Interval) -> Interval:
    return interval if is_within_64_bits(interval) else WIDEST


def _union(one: Interval, other: Interval) -> Interval:
    return min(one[0], other[0]), max(one[1], other[1])


def _common(one: Interval, other: Interval) -> Interval:
    return max(one[0], other[0]), min(one[1], other[1])


def _times(one: Interval, other: Interval) -> Interval:
    corners = [a * b for a in one for b in other]
    return min(corners), max(corners)


def _quotient(x: Interval, divisor: Interval) -> Interval:
    if divisor[0] > 0:
        return min(x[0], 0), max(x[1], 0)
    largest = max(map(abs, x))
    return -largest - 1, largest


def _rest(x: Interval, divisor: Interval) -> Interval:
    return min(divisor[0] + 1, 0), max(divisor[1] - 1, 0)


def _shifted(x: Interval, bits: Interval) -> Interval:
    if bits[0] < 0 or bits[1] > 63:
        return ENDLESS
    return _times(x, (2 ** bits[0], 2 ** bits[1]))


RULES: dict[str, Any] = {
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "subtract": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "multiply": _times,
    "negative": lambda a: (-a[1], -a[0]),
    "absolute": lambda a: (0, max(map(abs, a))),
    "square": lambda a: (0, max(abs(a[0]), abs(a[1])) ** 2),
    "floor_divide": _quotient, "remainder": _rest, "left_shift": _shifted,
    "right_shift": lambda a, b: _union(a, (0, 0)),
    "minimum": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "maximum": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    "where": lambda condition, a, b: _union(a, b),
    "same": lambda a: a, "positive": lambda a: a, "cast": lambda a: a, "load": lambda x, *at: x,
    **dict.fromkeys(PLACES, lambda *operands: COUNT),
}
