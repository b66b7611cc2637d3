"""Einstein's sums. In Core the subscripts are explicit: ``"ij,jk->ik"``, without ellipses."""

from __future__ import annotations

import string
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from ..core.builder import current
from ..core.errors import BadArgument, NotSupported, ShapeError
from ..core.sizes import Extent
from ..core.types import ArrayType
from .arithmetic import converted
from .base import Op
from .elementwise import broadcast, shape_text, size_text
from .indexing import write
from .products import common_dtype
from .value import Value, atom, call, emit, value

IGNORED = {"optimize", "order", "casting"}      # they change how a sum is computed, not what it is
UNKNOWN = 32                                    # what a size is taken for that is not known

MORE_AXES = ("has more dimensions than subscripts given in einstein sum, but no '...' ellipsis "
             "provided to broadcast the extra dimensions.")


class Einsum(Op):
    """A product of all operands, summed over the labels that the output does not have."""

    calls = (np.einsum,)
    variadic = True
    heavy = True
    linear = ("each",)
    makes_array = "never"                       # though it may give a view

    def front(args, kwargs, spelling):
        others = [key for key, item in kwargs.items() if key not in IGNORED and item is not None]
        if others:
            raise NotSupported(f"np.einsum with the argument {', '.join(others)} is not supported",
                               instead="Omit it.")
        subscripts, operands = _subscripts_first(args)
        operands = tuple(value(operand) for operand in operands)
        attrs = {"subscripts": normal_subscripts(subscripts, [operand.ndim for operand in operands])}
        in_pairs = {"optimize": True} if kwargs.get("optimize") and len(operands) > 2 else {}
        return emit(Einsum, tuple(map(atom, operands)), attrs | in_pairs, spelling)

    def types(operands: list[ArrayType], subscripts: str = "", optimize: bool = False) -> ArrayType:
        inputs, output = split(subscripts)
        sizes: dict[str, Extent] = {}
        for k, (labels, operand) in enumerate(zip(inputs, operands, strict=True)):
            _check_diagonals(labels, operand.sizes, k)
            for label, size in zip(labels, operand.sizes, strict=True):
                sizes[label] = _common(sizes.get(label, 1), size, operands)
        return ArrayType(common_dtype(*operands), tuple(sizes[label] for label in output))

    def contraction(*operands, subscripts="", optimize=False):
        return subscripts

    def definition(*operands, subscripts="", optimize=False):
        """Two operands at a time, where that sums over a label before the end, or multiplies matrices, as libraries
        do; in the dtype of the whole."""
        inputs, output = split(subscripts)
        steps = in_pairs(inputs, output, [operand.shape for operand in operands])
        if len(operands) < 3 or not (any(_sums(*step) for step in steps[:-1]) or any(
                _sums(pair, made) and set.union(*map(set, pair)) not in map(set, pair) for pair, made in steps)):
            return None
        dtype = common_dtype(*operands)
        factors = [(labels, each if each.dtype == dtype else converted(each, dtype))
                   for labels, each in zip(inputs, operands, strict=True)]
        for pair, made in steps:
            both = [factors.pop(next(k for k, (labels, _) in enumerate(factors) if labels == each)) for each in pair]
            factors.append((made, summed(both, made)))
        return factors[0][1]

    def run(*operands, subscripts, optimize=False):
        return np.einsum(subscripts, *operands, optimize=optimize)

    def view(*operands, subscripts, optimize=False):
        """NumPy gives a view where there is one operand and nothing is summed; it can be written."""
        inputs, output = split(subscripts)
        return len(operands) == 1 and set(inputs[0]) == set(output)

    def write_back(base, part, subscripts, optimize=False):
        (labels,), output = split(subscripts)
        if len(labels) == len(output):
            return np.einsum(f"{output}->{labels}", part)
        return write(base, part, tuple(_positions(size, output.index(label), len(output))
                                       for label, size in zip(labels, base.shape, strict=True)))

    def vjp(dy, k, *operands, subscripts, optimize=False):
        inputs, output = split(subscripts)
        factors = list(zip(inputs, operands, strict=True))
        own, x = factors.pop(k)
        others = [output, *(labels for labels, _ in factors)]
        target, extra = missing_factors(dy, own, x.shape, others)
        if output:
            return summed([(output, dy), *factors, *extra], target, optimize)
        return dy * summed([*factors, *extra], target, optimize) if factors or extra else dy

    def batch(lead, *operands, subscripts, optimize=False):
        inputs, output = split(subscripts)
        z = unused(subscripts)
        inputs = [z + labels if on else labels for labels, on in zip(inputs, lead, strict=True)]
        return np.einsum(f"{','.join(inputs)}->{z}{output}", *operands, optimize=optimize)

    def domain(rng):
        def case(subscripts, *shapes):
            return tuple(rng.normal(size=shape) for shape in shapes), {"subscripts": subscripts}
        return [case("ij,jk->ik", (2, 3), (3, 4)), case("i,i->", (3,), (3,)),
                case("ij->ji", (2, 3)), case("ij->i", (2, 3)), case("ii->", (3, 3)),
                case("ii->i", (3, 3)),
                case("bij,bjk->bik", (2, 2, 3), (2, 3, 2)), case("i,j,ij->", (2,), (3,), (2, 3)),
                case("ij,jk,kl->il", (2, 3), (3, 2), (2, 2)), case("ij,kj->ik", (2, 1), (3, 4)),
                case("iij,j->ij", (2, 2, 3), (3,)), case("i,->i", (3,), ())]


def _positions(size: Extent, axis: int, rank: int) -> Any:
    """0, 1, 2, … along one of the axes of the output."""
    return call(np.arange, (size,), {})[tuple(slice(None) if k == axis else None for k in range(rank))]


def split(subscripts: str) -> tuple[list[str], str]:
    """The labels of the operands, and those of the output.

    >>> split("ij,jk->ik")
    (['ij', 'jk'], 'ik')
    """
    left, _, output = subscripts.partition("->")
    return left.split(","), output


def unused(subscripts: str) -> str:
    """A letter that does not occur."""
    letters = string.ascii_lowercase[::-1] + string.ascii_uppercase
    return next(c for c in letters if c not in subscripts)


def in_pairs(inputs: list[str], output: str, shapes: list[Any]) -> list[tuple[tuple[str, str], str]]:
    """In which order two operands at a time are multiplied: the labels of both, and those that are left of them. Next
    comes the pair that takes the fewest products, and of several the one of which the least is left.

    >>> in_pairs(["ij", "jk", "k"], "i", [(9, 9), (9, 9), (9,)])
    [(('jk', 'k'), 'j'), (('ij', 'j'), 'i')]
    """
    sizes = {label: size if isinstance(size, int) else UNKNOWN
             for labels, shape in zip(inputs, shapes, strict=True) for label, size in zip(labels, shape, strict=True)}
    waiting, steps = list(inputs), []

    def left_of(pair: tuple[str, str]) -> str:
        others = list(waiting)
        for labels in pair:
            others.remove(labels)
        needed = {*output, *"".join(others)}
        return "".join(label for label in dict.fromkeys("".join(pair)) if label in needed)

    def cost(pair: tuple[str, str]) -> tuple[int, int]:
        products, left = (prod(sizes[label] for label in set(labels)) for labels in ("".join(pair), left_of(pair)))
        return products, left

    while len(waiting) > 1:
        pair = min(combinations(waiting, 2), key=cost)
        made = left_of(pair) if len(waiting) > 2 else output
        for labels in pair:
            waiting.remove(labels)
        waiting.append(made)
        steps.append((pair, made))
    return steps


def _sums(pair: tuple[str, str], made: str) -> bool:
    """Whether a step sums over a label."""
    return not set("".join(pair)) <= set(made)


def summed(factors: list[tuple[str, Any]], output: str, optimize: bool = False) -> Any:
    """The sum of a product of labelled factors; a single one that fits stays as it is."""
    if len(factors) == 1 and factors[0][0] == output:
        return factors[0][1]
    subscripts = f"{','.join(labels for labels, _ in factors)}->{output}"
    return np.einsum(subscripts, *(factor for _, factor in factors), optimize=optimize)


def missing_factors(dy: Any, labels: str, shape: Any, others: list[str]
                    ) -> tuple[str, list[tuple[str, Any]]]:
    """The labels of an operand's cotangent, and the factors by which it gets them all.

    A label that occurs twice was a diagonal: an identity matrix puts the cotangent there. A label
    that occurs nowhere else was summed: ones spread the cotangent over it.
    """
    target, factors = "", []
    known = set("".join(others))
    for label, size in zip(labels, shape, strict=True):
        if label in target:
            twin = unused("".join(others) + labels + target)
            factors.append((label + twin, _made(dy, np.eye, size)))
            target += twin
            continue
        if label not in known:
            factors.append((label, _made(dy, np.ones, size)))
        target += label
    return target, _without_needless_ones(factors)


def _without_needless_ones(factors: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Labels that an identity matrix brings need no ones."""
    brought = {label for labels, _ in factors if len(labels) == 2 for label in labels}
    return [(labels, factor) for labels, factor in factors if labels not in brought]


def _made(dy: Any, function: Any, size: Extent) -> Any:
    if isinstance(dy, Value):
        return call(function, (size,), {"dtype": dy.dtype})
    return function(size, dtype=dy.dtype)


# -- from what the user wrote ----------------------------------------------------------------


def _subscripts_first(args: tuple[Any, ...]) -> tuple[str, list[Any]]:
    """Subscripts and operands, also where every operand is followed by a list of numbers."""
    if not args:
        raise BadArgument("must specify the einstein sum subscripts string and at least one "
                          "operand")
    if isinstance(args[0], str):
        return args[0], list(args[1:])
    operands, lists = list(args[:len(args) // 2 * 2:2]), list(args[1::2])
    text = ",".join(map(_letters, lists))
    return (f"{text}->{_letters(args[-1])}" if len(args) % 2 else text), operands


def _letters(labels: Any) -> str:
    return "".join("..." if label is Ellipsis else string.ascii_letters[label] for label in labels)


def normal_subscripts(subscripts: str, ranks: list[int]) -> str:
    """Subscripts in explicit form, with letters instead of ellipses.

    >>> normal_subscripts("ij, jk", [2, 2])
    'ij,jk->ik'
    >>> normal_subscripts("...i,i->...", [3, 1])
    'abi,i->ab'
    """
    left, arrow, output = subscripts.replace(" ", "").partition("->")
    inputs = left.split(",")
    if len(inputs) != len(ranks):
        more = "more" if len(ranks) > len(inputs) else "fewer"
        raise BadArgument(f"{more} operands provided to einstein sum function than specified in "
                          "the subscripts string")
    extra = [_extra_axes(labels, ranks[k], k) for k, labels in enumerate(inputs)]
    letters = [c for c in string.ascii_letters if c not in subscripts][:max(extra)]
    inputs = [labels.replace("...", "".join(letters[len(letters) - count:]))
              for labels, count in zip(inputs, extra, strict=True)]
    joined = "".join(letters)
    if arrow:
        output = output.replace("...", joined)
    else:
        named = "".join(c for labels in inputs for c in labels if c not in letters)
        output = joined + "".join(c for c in sorted(set(named)) if named.count(c) == 1)
    _check_output(inputs, output, letters)
    return f"{','.join(inputs)}->{output}"


def _extra_axes(labels: str, rank: int, k: int) -> int:
    """How many axes the ellipsis of an operand stands for."""
    named = labels.replace("...", "")
    if not all(c in string.ascii_letters for c in named):
        raise BadArgument("invalid subscript in string, subscripts must be letters")
    extra = rank - len(named)
    if extra < 0:
        raise ShapeError("einstein sum subscripts string contains too many subscripts for operand "
                         f"{k}")
    if extra and "..." not in labels:
        raise ShapeError(f"operand {MORE_AXES}")
    return extra


def _check_output(inputs: list[str], output: str, letters: list[str]) -> None:
    for c in output:
        if c not in "".join(inputs):
            raise BadArgument(f"einstein sum subscripts string included output subscript '{c}' "
                              "which never appeared in an input")
        if output.count(c) > 1:
            raise BadArgument("einstein sum subscripts string includes output subscript "
                              f"'{c}' multiple times")
    if any(letter not in output for letter in letters):
        raise ShapeError(f"output {MORE_AXES}")


def _check_diagonals(labels: str, sizes: tuple[Extent, ...], k: int) -> None:
    first: dict[str, Extent] = {}
    for label, size in zip(labels, sizes, strict=True):
        known = first.setdefault(label, size)
        if not current().assumptions.equal(known, size):
            raise ShapeError(f"dimensions in operand {k} for collapsing index '{label}' don't "
                             f"match ({size_text(known)} != {size_text(size)})")


def _common(known: Extent, size: Extent, operands: list[ArrayType]) -> Extent:
    try:
        return broadcast((known,), (size,))[0]
    except ShapeError:
        shapes = " ".join(shape_text(operand.sizes) for operand in operands)
        raise ShapeError("operands could not be broadcast together with remapped shapes: "
                         f"{shapes}") from None
