"""How many elements a slice takes from an axis, by the arithmetic of sizes.

A bound is None, a number, a size, or an integer that the program computes, as a size. The rule:

* a question whose answer rests on shapes and integer arguments (does ``x[1:]`` find an element?
  does ``x[:k]`` end inside?) is decided by the call being read and becomes a guard;
* a question about an integer computed by the program is decided only if the answer is certain, as
  it is for the index of a loop whose range is known;
* what stays open is left to NumPy, which clips: the length is then ``min(n, stop) -
  min(n, start)``, or ``min(n - start, stop - start)``, a size like any other, computed only where its value is
  needed. No two sizes are taken to be equal because they might be: ``x[i:i + 3] * w`` is refused if it may be cut
  short.

`length` gives None if not even the sign of a bound is known, that is, from which end it counts.
"""

from __future__ import annotations

from ..core.builder import current
from ..core.sizes import Extent, Least, Size, greatest, least, looks_negative


def length(size: Extent, start: Extent | None, stop: Extent | None, step: int) -> Extent | None:
    """The number of elements of ``x[start:stop:step]`` along an axis of `size` elements.

    >>> from ..core.builder import Builder
    >>> with Builder().active():
    ...     length(7, 1, None, 1), length(7, -3, None, 2), length(7, None, 2, -1)
    (6, 2, 4)
    """
    if not any(isinstance(item, Size) for item in (size, start, stop)):
        return len(range(size)[start:stop:step])                       # type: ignore
    low, high = (0, size) if step > 0 else (-1, size - 1)
    first, last = (low, high) if step > 0 else (high, low)
    begin = first if start is None else clipped(start, size, low, high)
    end = last if stop is None else clipped(stop, size, low, high)
    if begin is None or end is None:
        return None
    span = _between(begin, end) if step > 0 else begin - end
    count = ((_less(end, _uncut(begin, end)) if step > 0 else span) + abs(step) - 1) // abs(step)
    if current().assumptions.certainly_at_least(count, 0):
        return count
    return (not_negative(span) + abs(step) - 1) // abs(step)


def _between(begin: Extent, end: Extent) -> Extent:
    """`end - begin`; where `begin` is a bound cut off at `end`, written as that of ``x[:-1]`` is."""
    uncut = _uncut(begin, end)
    return _less(end, begin) if uncut is begin else greatest(end - uncut, 0)


def _less(end: Extent, begin: Extent) -> Extent:
    """`end - begin`, as ``min(3, n - i)`` where `end` is ``min(i + 3, n)``: so it is seen that it is 3 at most."""
    cut = next(end.atoms()) if isinstance(end, Size) else None
    if isinstance(cut, Least) and end == Size.of(cut):
        return least(cut.first - begin, cut.second - begin)
    return end - begin


def _uncut(begin: Extent, end: Extent) -> Extent:
    """A bound that is cut off at `end`, as it was before."""
    cut = next(begin.atoms()) if isinstance(begin, Size) else None
    return cut.first if isinstance(cut, Least) and cut.second == end and begin == Size.of(cut) else begin


def clipped(bound: Extent, size: Extent, low: Extent, high: Extent) -> Extent | None:
    """The position that a bound stands for, in `low..high`; None if its sign is open."""
    at_least = current().assumptions.at_least
    negative = is_negative(bound)
    if negative is None:
        return None
    if not negative:
        if at_least(high, bound):
            return bound
        return high if at_least(bound, high) else least(bound, high)
    position = bound + size
    if at_least(position, low):
        return position
    return low if at_least(low, position) else greatest(position, low)


def is_negative(bound: Extent) -> bool | None:
    """Whether a bound or position counts from the end; None if that is open."""
    at_least = current().assumptions.at_least
    for negative in (True, False) if looks_negative(bound) else (False, True):
        if at_least(-1, bound) if negative else at_least(bound, 0):
            return negative
    return None


def not_negative(span: Extent) -> Extent:
    """A span of positions, or 0 if it ends before it begins."""
    at_least = current().assumptions.at_least
    if at_least(span, 0):
        return span
    return 0 if at_least(0, span) else greatest(span, 0)
