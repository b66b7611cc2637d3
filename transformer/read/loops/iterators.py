"""`itertools`, `np.ndindex` and `np.ndenumerate`: what they run over, as an `Iteration`.

Where all lengths are those of ranges and arrays, the loop stays a loop; combinations of items are made
one by one, and need lengths that are known.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.sizes import Extent, product
from ...ops.value import Value
from ..objects.containers import iterated
from ..operators import binary
from ..raising.demand import static
from ..subscripts import subscript
from ..values import known_of
from .iteration import Iteration, behind, iteration_of, runs_once, zipped
from .ranges import made_range
from .stepping import ENDLESS, check_any_order

if TYPE_CHECKING:
    from ..reader import Reader

def products(reader: Reader, *iterables: Any, repeat: Any = 1) -> Iteration:
    """`itertools.product`: position `k` counts through all combinations, the last one fastest."""
    parts = [iteration_of(reader, iterable) for iterable in iterables] * static(reader, repeat, "`repeat`")
    for part in parts:
        check_any_order(reader, part)
    if any(part.is_static for part in parts):
        return _listed(itertools.product(*(iterated(reader, part) for part in parts)))
    lengths = [part.length for part in parts]

    def element(k: Any) -> Any:
        return tuple(part.element(place) for part, place in zip(parts, _places(reader, k, lengths)))

    return Iteration(product(lengths), element, held=tuple(parts), is_ahead=True)


def _places(reader: Reader, k: Any, lengths: list[Extent]) -> list[Any]:
    """The places along each axis of the element `k` of a grid."""
    places: list[Any] = []
    for length in reversed(lengths[1:]):
        places.append(binary(reader, operator.mod, k, length))
        k = binary(reader, operator.floordiv, k, length)
    return [k, *reversed(places)] if lengths else []


def _listed(items: Any) -> Iteration:
    found = list(items)
    return Iteration(len(found), found.__getitem__, is_static=True, held=tuple(found), is_ahead=True)


def selections(choose: Callable[..., Any]) -> Callable[..., Iteration]:
    """`itertools.combinations` and its like."""

    def select(reader: Reader, iterable: Any, r: Any = None) -> Iteration:
        items = iterated(reader, iterable)
        given = () if r is None else (static(reader, r, "the number of items in a combination"),)
        return _listed(choose(items, *given))

    return select


def chained(reader: Reader, *iterables: Any) -> Any:
    """`itertools.chain`: one list of all items."""
    return _listed(item for iterable in iterables for item in iterated(reader, iterable))


def chained_from(reader: Reader, iterable: Any) -> Any:
    return runs_once(chained)(reader, *iterated(reader, iterable))


def sliced(reader: Reader, iterable: Any, *bounds: Any) -> Any:
    """`itertools.islice`."""
    whole = iteration_of(reader, iterable)
    if len(bounds) == 1:
        bounds = (0, *bounds)
    start, stop = 0 if bounds[0] is None else bounds[0], bounds[1]
    step = 1 if len(bounds) < 3 or bounds[2] is None else bounds[2]
    if known_of(start) != 0 or known_of(step) != 1:
        check_any_order(reader, whole)
    if stop is None and whole.length == ENDLESS and known_of(step) == 1:
        return behind(reader, whole, start)
    if whole.is_static and isinstance(whole.length, int) and (stop is not None or whole.length != ENDLESS):
        last = whole.length if stop is None else min(static(reader, stop, "the bound"), whole.length)
        return _listed(whole.element(k) for k in range(static(reader, start, "the bound"), last, step))
    last = whole.length if stop is None else _shorter(reader, stop, whole.length)
    places = iteration_of(reader, made_range(reader, start, last, step))
    return Iteration(places.length, lambda k: whole.element(places.element(k)), held=(whole,))


def _shorter(reader: Reader, stop: Any, length: Extent) -> Any:
    from .folds import least_of

    return stop if length == ENDLESS else least_of(reader, stop, length)


def accumulated(reader: Reader, iterable: Any, func: Any = operator.add, *, initial: Any = None) -> Any:
    """`itertools.accumulate`: a list, filled as a loop would."""
    from ..branches.conditions import branch, truth
    from .comprehensions import append, folded

    items: list[Any] = reader.own([])
    whole = iteration_of(reader, iterable)

    def step(total: Any, item: Any) -> Any:
        total = reader.call(func, (total, item), {})
        append(reader, items, total)
        return total

    def fill(first: Any, rest: Iteration) -> None:
        append(reader, items, first)
        folded(reader, rest, step, first)

    def fill_from_first() -> None:
        fill(whole.element(0), replace(behind(reader, whole, 1), is_ahead=True))

    if initial is None:
        branch(reader, truth(reader, whole.length), fill_from_first, lambda: None)
    else:
        fill(initial, whole)
    return reader.usable(items)


def paired(reader: Reader, iterable: Any) -> Any:
    """`itertools.pairwise`."""
    whole = iteration_of(reader, iterable)
    check_any_order(reader, whole)
    return replace(zipped(reader, whole, behind(reader, whole, 1)), is_ahead=True)


def counted(reader: Reader, start: Any = 0, step: Any = 1) -> Iteration:
    """`itertools.count`: ends with what it is zipped with."""
    return Iteration(ENDLESS, lambda k: binary(reader, operator.add, start, binary(reader, operator.mul, k, step)))


def repeated(reader: Reader, item: Any, times: Any = ENDLESS) -> Iteration:
    """`itertools.repeat`."""
    return Iteration(iteration_of(reader, made_range(reader, times)).length, lambda k: item, held=(item,))


def cycled(reader: Reader, iterable: Any) -> Iteration:
    """`itertools.cycle`: ends with what it is zipped with."""
    whole = iteration_of(reader, iterable)
    check_any_order(reader, whole)
    return Iteration(ENDLESS, lambda k: whole.element(binary(reader, operator.mod, k, whole.length)), whole.is_static,
                     held=(whole,), is_ahead=True)


def zipped_longest(reader: Reader, *iterables: Any, fillvalue: Any = None) -> Iteration:
    """`itertools.zip_longest`."""
    return _listed(itertools.zip_longest(*(iterated(reader, part) for part in iterables), fillvalue=fillvalue))


def starred(reader: Reader, function: Any, iterable: Any) -> Iteration:
    """`itertools.starmap`."""
    whole = iteration_of(reader, iterable)
    return Iteration(whole.length, lambda k: reader.call(function, tuple(iterated(reader, whole.element(k))), {}),
                     whole.is_static, held=(whole, function))


def indices_of(reader: Reader, *shape: Any) -> Iteration:
    """`np.ndindex`."""
    sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
    return products(reader, *(made_range(reader, size) for size in sizes))


def enumerated_elements(reader: Reader, array: Any) -> Iteration:
    """`np.ndenumerate`."""
    if not isinstance(array, Value):
        array = reader.call(np.asarray, (array,), {})
    places = indices_of(reader, array.shape)

    def element(k: Any) -> Any:
        index = places.element(k)
        return index, subscript(reader, array, index)

    return Iteration(places.length, element, held=(array,))


ITERATORS: dict[Any, Callable[..., Any]] = {
    itertools.product: products,
    itertools.combinations: selections(itertools.combinations),
    itertools.combinations_with_replacement: selections(itertools.combinations_with_replacement),
    itertools.permutations: selections(itertools.permutations),
    itertools.chain: chained,
    itertools.chain.from_iterable: chained_from,
    itertools.islice: sliced,
    itertools.accumulate: accumulated,
    itertools.pairwise: paired,
    itertools.count: counted,
    itertools.repeat: repeated,
    itertools.cycle: cycled,
    itertools.zip_longest: zipped_longest,
    itertools.starmap: starred,
    np.ndindex: indices_of,
    np.ndenumerate: enumerated_elements,
}
