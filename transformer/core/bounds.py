"""Certain lower and upper bounds of sizes, by the ranges of the integers in them.

    (n - 1 - k) * d     is not below 0 for k in 0..n-1, and so ``x[k*d:(k + 1)*d]`` of n*d elements has d of them
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Union

from .sizes import (
    Dim,
    Extent,
    Floor,
    Greatest,
    Least,
    Size,
    SizeAtom,
    leaves,
    looks_negative,
    occurs,
    product,
    replaced,
)

DEEPEST_NEST = 16          # replacements tried to bound one size from below
LARGEST = 2 ** 63 - 1      # integer of a program: the end of a range that is no bound of a size
MOST_EXTREMES = 4          # of which a bound takes either part, one after the other


Range = tuple[Union[Extent, None], Union[Extent, None]]


class _Noting(dict[SizeAtom, Range]):
    """The ranges of integers; what is `known` by them is dropped when one changes."""

    def __init__(self, known: dict[Extent, bool]) -> None:
        super().__init__()
        self.known = known

    def __setitem__(self, atom: SizeAtom, range: Range) -> None:
        self.known.clear()
        super().__setitem__(atom, range)

    def setdefault(self, atom: SizeAtom, range: Range) -> Range:
        if atom not in self:
            self[atom] = range
        return self[atom]


class Bounds:
    """Bounds of sizes: `ranges` are those of integers, and named dimensions are at least `smallest`."""

    def __init__(self, smallest: int) -> None:
        self.smallest = smallest
        self._never_negative: dict[Extent, bool] = {}  # which sizes are, as far as they were asked for
        self.ranges = _Noting(self._never_negative)

    def normal(self, size: Extent) -> Extent:
        """`size` in terms of one representative of each class of equal sizes."""
        return size

    def lower_bound(self, size: Extent) -> int | None:
        """A number that `size` is certainly not below, or None."""
        return self._lower_bound(size, MOST_EXTREMES)

    def is_never_negative(self, size: Extent) -> bool:
        """Whether 0 is such a number; parts that do not matter for that are not looked at."""
        if isinstance(size, int):
            return size >= 0
        known = self._never_negative.get(size)
        if known is None:
            low = self._lower_bound(size, MOST_EXTREMES, 0)
            known = self._never_negative[size] = low is not None and low >= 0
        return known

    def _lower_bound(self, size: Extent, extremes: int, enough: int | None = None) -> int | None:
        """The number; or any, as long as it tells whether it is `enough`."""
        found = next(extremes_of(size), None)
        if found is not None and extremes:
            return self._of_either(size, *found, extremes - 1, enough)
        low = self._bound_of_quotients(size)
        if low is not None and enough is not None and low >= enough:
            return low
        lows = [each for each in (low, self._bound_of_whole(size, extremes, enough)) if each is not None]
        return max(lows, default=None)

    def _bound_of_quotients(self, size: Extent) -> int | None:
        """The number for a sum of what is certainly not negative, as far as multiples of ``n // 3`` are in it: so
        2*(n//3) is not below 0, where all that is known of it by 2*(n - 2) is that it is not below -1."""
        terms = list(size.terms.items()) if isinstance(size, Size) else []
        if not any(isinstance(atom, Floor) for monomial, _ in terms for atom in monomial):
            return None
        if any(count < 0 for monomial, count in terms if monomial):
            return None
        total = 0
        for monomial, count in terms:
            least = self._least_value(monomial) if monomial else 1
            if least is None:
                return None
            total += count * least
        return total

    def _bound_of_whole(self, size: Extent, extremes: int, enough: int | None) -> int | None:
        """The number, where quotients are not below what comes of their numerators."""
        lowest, scale = self._lowest(size)
        if not isinstance(lowest, Size):
            return None if lowest is None else -(-lowest // scale)
        if extremes and any(extremes_of(lowest)):
            low = self._lower_bound(lowest, extremes - 1, None if enough is None else (enough - 1) * scale + 1)
            return None if low is None else -(-low // scale)
        low = lowest.constant
        for monomial, count in lowest.terms.items():
            least = self._least_value(monomial) if count > 0 or not monomial else None
            if least is None:
                return None
            low += count * least if monomial else 0
        return -(-low // scale)

    def _of_either(self, size: Extent, atom: Least | Greatest, count: int, extremes: int, enough: int | None
                   ) -> int | None:
        """A lower bound of a size with `count * min(a, b)` in it: that with either of them in its place, if the count
        is negative; the lower one of both otherwise. With `max` it is the other way round."""
        rest = size - Size.of(atom) * count
        needs_both = isinstance(atom, Least) == (count > 0)
        first = self._lower_bound(rest + atom.first * count, extremes, enough)
        if first is None and needs_both:
            return None
        if enough is not None and first is not None and needs_both is (first < enough):
            return first
        second = self._lower_bound(rest + atom.second * count, extremes, enough)
        if first is None or second is None:
            return None if needs_both else second if first is None else first
        return min(first, second) if needs_both else max(first, second)

    def if_any(self, count: Extent) -> Extent:
        """How many there are, where there is one at all: ``n - 1`` for ``max(n - 1, 0)``."""
        def floored(atom: SizeAtom) -> Extent | None:
            if not isinstance(atom, Greatest) or atom.second != 0:
                return None
            low = self.lower_bound(-replaced(count, lambda each: 0 if each == atom else None))
            return atom.first if low is not None and low >= 0 else None

        return replaced(count, floored)

    def highest(self, size: Extent) -> Extent | None:
        """A size without integers that have a range, which `size` is certainly not above; None if there is none."""
        lowest, scale = self._lowest(-self.normal(size))
        return None if lowest is None or scale != 1 else -lowest

    def _least_value(self, monomial: tuple[SizeAtom, ...]) -> int | None:
        """A number that a product of atoms is certainly not below."""
        if len(monomial) == 1 and isinstance(monomial[0], (Least, Greatest)):
            atom = monomial[0]
            lows = [low for low in map(self.lower_bound, (atom.first, atom.second)) if low is not None]
            if isinstance(atom, Greatest):
                return max(lows, default=None)
            return min(lows) if len(lows) == 2 else None
        if len(monomial) == 1 and (divisor := _divisor(monomial[0])) > 1:
            low = self.lower_bound(monomial[0].numerator)                         # type: ignore[union-attr]
            return None if low is None else low // divisor
        if not all(isinstance(atom, Dim) for atom in monomial):
            return None
        return 0 if any(atom.inner for atom in monomial) else self.smallest ** len(monomial)   # type: ignore[union-attr]

    def _lowest(self, size: Extent) -> tuple[Extent | None, int]:
        """A size that `size * scale` is not below, free of integers with a range and of divisions
        by numbers; and that scale."""
        scale = 1
        for _ in range(DEEPEST_NEST):
            atom, factor = self._innermost(list(self._loose_terms(size)))
            if atom is None:
                return size, scale
            divisor = _divisor(atom)
            if isinstance(factor, int) and factor % divisor:
                size, scale = size * divisor, scale * divisor
                continue
            bound = self._bound_of(atom, factor)
            if bound is None:
                return None, scale
            size = size - Size.of(atom) * factor + bound
        return None, scale

    def _loose_terms(self, size: Extent) -> Iterator[tuple[SizeAtom, Extent]]:
        """Integers with a range and divisions by numbers, with what they are multiplied by: a number, or for an
        integer with a range a multiple of a product of dimensions, which are not negative."""
        for monomial, count in size.terms.items() if isinstance(size, Size) else ():
            if len(monomial) == 1 and (monomial[0] in self.ranges or _divisor(monomial[0]) > 1):
                yield monomial[0], count
            others = [atom for atom in monomial if not isinstance(atom, Dim)]
            if len(others) == 1 < len(monomial) and others[0] in self.ranges:
                yield others[0], product(Size.of(atom) for atom in monomial if isinstance(atom, Dim)) * count

    def _innermost(self, terms: list[tuple[SizeAtom, Extent]]) -> tuple[SizeAtom | None, Extent]:
        """The term to replace first: its bound may be one of the others, as ``k < i`` in ``i - k``."""
        for atom, factor in terms[:-1]:
            if not any(self._rests_on(other, atom) for other, _ in terms if other is not atom):
                return atom, factor
        return terms[-1] if terms else (None, 0)

    def _rests_on(self, atom: SizeAtom, other: SizeAtom, depth: int = DEEPEST_NEST) -> bool:
        """Whether the range of an integer, or a quotient, is in terms of another one, or of some that are in turn."""
        ends = (atom.numerator,) if isinstance(atom, Floor) else self.ranges.get(atom, ())
        return depth > 0 and any(
            occurs(other, end) or any(self._rests_on(leaf, other, depth - 1) for leaf in leaves(end))
            for end in ends if isinstance(end, Size))

    def _bound_of(self, atom: SizeAtom, factor: Extent) -> Extent | None:
        """What `factor * atom` is not below; ``q * (a // q)`` lies in ``a - q + 1 .. a``."""
        if isinstance(atom, Floor) and isinstance(factor, int):
            divisor = _divisor(atom)
            top = atom.numerator if factor < 0 else atom.numerator - divisor + 1
            return top * (factor // divisor)
        low, high = self.ranges[atom]
        end = high if looks_negative(factor) else low
        return None if end is None or end == LARGEST else self.normal(end) * factor


def extremes_of(size: Extent) -> Iterator[tuple[Least | Greatest, int]]:
    """What a size has of multiples of `min` and `max`, those first that others are not made of."""
    if not isinstance(size, Size):
        return
    found = {monomial[0]: count for monomial, count in size.terms.items()
             if len(monomial) == 1 and isinstance(monomial[0], (Least, Greatest))}
    inner = [atom for atom in found if len(found) > 1 and any(
        occurs(atom, Size.of(other)) for other in found if other != atom)]
    for atom in (*(each for each in found if each not in inner), *inner):
        yield atom, found[atom]


def _divisor(atom: SizeAtom) -> int:
    """The number that an atom divides by, 1 when there is none."""
    known = isinstance(atom, Floor) and isinstance(atom.denominator, int) and atom.denominator > 0
    return atom.denominator if known else 1                              # type: ignore
