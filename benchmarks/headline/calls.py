"""What a call costs: five small arrays."""

from benchmarks.contest.case import Case
from benchmarks.contest.contenders import AS_IT_STANDS, OURS
from benchmarks.timing import show


def first_numbers(a, b, c, d, e):
    return a[0] + b[0] * c[0] - d[0] * e[0]


def five(rng, n):
    return tuple(rng.normal(size=(5, n)))


CASES = [Case("call with five arrays of 4", first_numbers, five, (4,), (4,), (first_numbers,),
              counted=False)]


def overhead(found):
    """How much longer such a call takes than numba's own."""
    for each in found:
        ours, raw = each.minimum(OURS), each.minimum(AS_IT_STANDS)
        if each.case is CASES[0] and ours and raw:
            return [f"a call with five arrays takes {show(ours - raw)} longer than numba's own"]
    return []
