"""What a `for` loop runs over: how many items there are, and which one stands at a position.

Every iterable becomes an `Iteration`. Ranges and arrays give loops of Core; `zip`, `enumerate` and
`reversed` of them do, too. Where an iterable holds Python objects (`is_static`), the loop is unrolled.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import wraps
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...core.errors import NotSupported, ShapeError, as_raised
from ...core.sizes import Extent, Size, greatest, least
from ...ops.integers import affine
from ...ops.value import Value
from ..branches.or_none import needed
from ..calls.applying import apply_op
from ..kinds import described, type_name
from ..lists.recorded import RecordedList, Recording
from ..objects.derived_builtins import base_of
from ..operators import binary
from ..raising.errors import as_user_error
from ..values import Closure, DynamicRange, Lazy, known_of
from .ahead import Ahead
from .producers import Producer, begin, collected_items
from .stepping import ENDLESS, check_any_order, steps_of

if TYPE_CHECKING:
    from ..reader import Reader


@dataclass(eq=False)
class Use:
    """Whether the program has begun to use an iterator in a loop, and how many items `next` took before."""

    begun: bool = False
    taken: Any = 0


@dataclass(frozen=True, eq=False)
class Iteration:
    """`length` items; `element(k)` is the one at position k, an int or a `Value`. `held` are the
    containers and arrays that it keeps hold of. With `use` it is an iterator of the program, which runs
    once; `items`, where there are some, is the list of what it gives."""

    __tree_leaf__: ClassVar[bool] = True
    length: Extent
    element: Callable[[Any], Any]
    is_static: bool = False
    counts: bool = False  # `element(k)` is k itself
    held: tuple[Any, ...] = ()
    independent: bool = False  # no item's turn depends on another's: the user says so
    use: Use | None = None
    items: Any = None
    is_ahead: bool = False  # its items were computed when it was made, or are looked at once more
    stands_for: Any = None  # the class that the program called to make it


def iteration_of(reader: Reader, value: Any) -> Iteration:
    """How a value is iterated over."""
    value = needed(reader, value)
    if isinstance(value, Iteration):
        return _begun(reader, value)
    if isinstance(value, (range, DynamicRange)):
        return _over_range(reader, value.start, value.stop, value.step)
    if isinstance(value, Value):
        return _over_array(reader, value)
    if isinstance(value, np.ndarray):
        raise AssertionError("arrays from outside are lifted")
    if isinstance(value, RecordedList):
        def element(k: Any) -> Any:
            return reader.usable(value.home).item(reader, k)           # as it is by then

        return Iteration(value.length(reader), element, held=(value,))
    if isinstance(value, Recording):
        raise value.cannot_change(reader, "iteration over a list that the loop appends to")
    if isinstance(value, Producer) and (steps := steps_of(reader, value)) is not None:
        return _begun(reader, steps)
    if isinstance(value, Producer | Lazy):
        return computed_ahead(reader, (value,), lambda: iteration_of(reader, items_of(reader, value)))
    return _over_objects(reader, value)


def but_first(reader: Reader, iteration: Iteration) -> Iteration:
    """All items but the first one, of those that have one."""
    return replace(iteration, length=iteration.length - 1, counts=False,
                   element=lambda k: iteration.element(next_place(reader, k)))


def next_place(reader: Reader, k: Any) -> Any:
    return binary(reader, operator.add, k, 1)


def items_of(reader: Reader, value: Producer | Lazy) -> Any:
    """The list of what a generator gives."""
    from .comprehensions import collected

    if isinstance(value, Producer):
        return collected_items(reader, value)
    return reader.usable(collected(reader, value))


def computed_ahead(reader: Reader, sources: tuple[Any, ...], compute: Callable[[], Iteration]) -> Iteration:
    """What runs over items that are computed now from the sources, although Python would compute them later."""
    ahead = Ahead(reader, sources)
    made = compute()
    ahead.check_computed()
    return replace(made, held=(*made.held, ahead))


def check_held(iteration: Iteration) -> None:
    """Raises where what the items were computed from has changed."""
    for each in iteration.held:
        if isinstance(each, Ahead):
            each.check_unchanged()
        elif isinstance(each, Iteration):
            check_held(each)


def _begun(reader: Reader, value: Iteration) -> Iteration:
    """What is left of an iterator of the program: what `next` has not taken, as long as no loop has begun to use it."""
    if value.use is None:
        return value
    begin(reader, value.use, "an iterator")
    return behind(reader, whole_of(reader, value), value.use.taken)


def whole_of(reader: Reader, value: Iteration) -> Iteration:
    """All that an iterator of the program runs over, of which nothing has changed."""
    check_held(value)
    if value.items is None:
        return replace(value, use=None)
    made = iteration_of(reader, reader.usable(value.items))
    return replace(made, held=(*made.held, value))


def behind(reader: Reader, whole: Iteration, taken: Any) -> Iteration:
    """All items but so many of the first, if there are as many."""
    if taken == 0:
        return whole
    rest = whole.length if whole.length == ENDLESS else whole.length - taken
    if isinstance(rest, Size) and isinstance(taken, int) and not reader.assumptions.follows(rest, 0):
        rest = non_negative(reader, rest)
    return replace(whole, length=rest, counts=False,
                   element=lambda k: whole.element(binary(reader, operator.add, k, taken)))


def runs_once(make: Callable[..., Any], cls: Any = None) -> Callable[..., Any]:
    """A builtin that gives an iterator, by what it runs over, or by the list of what it gives."""

    @wraps(make)
    def made(reader: Reader, *args: Any, **kwargs: Any) -> Iteration:
        sources = (*args, *kwargs.values())
        whole, shallow = Ahead(reader, sources), Ahead(reader, sources, of_items=False)
        result = make(reader, *args, **kwargs)
        if not isinstance(result, Iteration):
            whole.check_computed()
            return Iteration(0, lambda k: None, held=(result, whole), use=reader.own(Use()), items=result,
                             stands_for=cls)
        if result.is_ahead:
            shallow.check_computed()
            result = replace(result, held=(*result.held, shallow))
        return replace(result, use=reader.own(Use()), stands_for=cls)

    return made


def iterator(reader: Reader, value: Any) -> Any:
    """`iter`."""
    if isinstance(value, Producer | Lazy) or isinstance(value, Iteration) and value.use is not None:
        return value
    return replace(iteration_of(reader, value), use=reader.own(Use()))


def _over_range(reader: Reader, start: Any, stop: Any, step: Any) -> Iteration:
    length = _length_of_range(reader, start, stop, step)
    unit = step if isinstance(step, int) and abs(step) == 1 else None
    counts = isinstance(start, int) and start == 0 and unit == 1

    def element(k: Any) -> Any:
        if counts:
            return k
        offset = binary(reader, operator.mul, step, k) if unit is None else k
        if unit == -1:
            return binary(reader, operator.sub, start, offset)
        return offset if isinstance(start, int) and start == 0 else binary(reader, operator.add, start, offset)

    return Iteration(length, element, counts=counts)


def _length_of_range(reader: Reader, start: Any, stop: Any, step: Any) -> Extent:
    """How many numbers a range has; computed by the program where it is open in which direction it goes."""
    from ..library.calls import call_library
    from ..library.steps import count_of_range

    first, last, stride = affine(start), affine(stop), affine(step)
    for span, size in ((last - first, stride), (first - last, -stride)):
        if reader.assumptions.certainly_at_least(size, 1):
            return non_negative(reader, (span + size - 1) // size)
    count = call_library(reader, count_of_range, (start, stop, step), {})
    return non_negative(reader, affine(count))


def non_negative(reader: Reader, length: Extent) -> Extent:
    """A length, or 0 where it may come out negative."""
    if isinstance(length, int):
        return max(0, length)
    if reader.assumptions.certainly_at_least(length, 0):
        return length
    return greatest(length, 0)


def _over_array(reader: Reader, array: Value) -> Iteration:
    if not array.ndim:
        name = type_name(array)
        instead = "Write range(n) to count to a number n." if array.dtype.kind in "iu" else None
        raise as_raised(TypeError(f"'{name}' object is not iterable"), reader.builder.origin, instead)
    return Iteration(array.shape[0], lambda k: apply_op(reader, operator.getitem, (array, k), {}), held=(array,))


def iterator_of(reader: Reader, value: Any) -> Any:
    """What an `__iter__` gives that is a function of Python's; an object without one as it is."""
    user = getattr(type(value), "__iter__", None)
    if not hasattr(user, "__code__"):
        return value
    iterator = reader.call(user, (value,), {})
    if iterator is value:
        raise NotSupported(f"iteration over {described(value)} with a custom __next__ is not supported",
                           reader.builder.origin, instead="Write __iter__ as a generator, with `yield`.")
    return iterator


def _over_objects(reader: Reader, value: Any) -> Iteration:
    iterator = iterator_of(reader, value)
    if iterator is not value:
        return iteration_of(reader, iterator)
    if isinstance(value, (list, tuple)):
        from ..objects.containers import item

        if id(value) in reader.lists.views:
            return _over_view(reader, *reader.lists.views[id(value)])
        length = base_of(value).__len__(value)
        return Iteration(length, lambda k: item(reader, value, k), is_static=True, held=(value,))
    if isinstance(value, (dict, str, bytes, set, frozenset, Iterator)) or hasattr(value, "__iter__"):
        with as_user_error(reader):
            items = list(value)
        return Iteration(len(items), lambda k: items[k], is_static=True, held=(value,))
    if hasattr(type(value), "__getitem__"):
        raise NotSupported(
            f"iteration over {described(value)} that has __getitem__ but no __iter__ is not supported",
            reader.builder.origin,
            instead="Define __iter__, or loop over the indices: for i in range(n).",
        )
    raise as_raised(TypeError(f"'{type_name(value)}' object is not iterable"), reader.builder.origin)


def _over_view(reader: Reader, view: list[Any], source: dict[Any, Any], kind: str) -> Iteration:
    """`d.items()` and `d.values()` show what the dictionary holds when it is looked at."""
    from ..objects.containers import item

    keys = list(source)

    def element(k: int) -> Any:
        found = item(reader, source, keys[k])
        return (keys[k], found) if kind == "items" else found

    return Iteration(len(keys), element, is_static=True, held=(view, source))


def sizes_of_held(reader: Reader, iteration: Iteration) -> list[tuple[Any, int]]:
    """The containers that are iterated over, and how many items each has."""
    found: list[tuple[Any, int]] = []
    for each in iteration.held:
        each = each.home if isinstance(each, RecordedList) else each
        if isinstance(each, Iteration):
            found += sizes_of_held(reader, each)
        elif isinstance(each, list | dict | set) and id(each) not in reader.lists.views:
            found.append((each, size_of_container(reader, each)))
    return found


def size_of_container(reader: Reader, container: Any) -> Any:
    contents = reader.contents.get(id(container))
    if isinstance(contents, RecordedList) and contents.within is None:
        return reader.assumptions.normal(contents.length(reader))
    return len(container) if contents is None else id(contents)


def zipped(reader: Reader, *values: Any, strict: bool = False) -> Any:
    """`zip`."""
    parts = [iteration_of(reader, value) for value in values]
    if not parts:
        return []
    length = parts[0].length
    for part in parts[1:]:
        length = _shorter(reader, length, part.length, strict)
    _require_all_items(reader, values, parts, length)
    return Iteration(
        length,
        lambda k: tuple(part.element(k) for part in parts),
        any(part.is_static for part in parts),
        held=tuple(parts),
    )


def _require_all_items(reader: Reader, values: tuple[Any, ...], parts: list[Iteration], length: Extent) -> None:
    """Refuses what would compute one item more, before another iterable ends: that may do something."""
    normal = reader.assumptions.normal
    ends = [normal(part.length) == normal(length) for part in parts]
    for value, is_end, later in zip(values, ends, range(1, len(ends) + 1)):
        if not is_end and any(ends[later:]) and _runs_code(value):
            raise NotSupported(
                "zip of an iterator that has more items than a later argument is not supported",
                reader.builder.origin,
                why="Python would compute one extra item and discard it.",
                instead="Pass it as the last argument, or build a list of its items first.",
            )


def _runs_code(value: Any) -> bool:
    """Whether items are computed by functions of the program."""
    if isinstance(value, Iteration):
        return any(map(_runs_code, value.held))
    return isinstance(value, Lazy | Producer | Closure | FunctionType)


def _shorter(reader: Reader, one: Extent, other: Extent, strict: bool) -> Extent:
    if isinstance(one, int) and isinstance(other, int):
        if strict and one != other:
            raise ShapeError("zip() has arguments of different lengths", reader.builder.origin)
        return min(one, other)
    if not strict and (isinstance(one, int) or isinstance(other, int)):
        for least_of_both, most in (
            ((one, other), (other, one)) if isinstance(one, int) else ((other, one), (one, other))
        ):
            if reader.assumptions.at_least(most, least_of_both):
                return least_of_both
    if reader.assumptions.equal(one, other):
        return reader.assumptions.normal(one)
    if strict:
        raise ShapeError("zip() has arguments of different lengths", reader.builder.origin)
    return least(one, other)


def enumerated(reader: Reader, iterable: Any, start: Any = 0) -> Iteration:
    """`enumerate`."""
    part = iteration_of(reader, iterable)

    def element(k: Any) -> Any:
        number = k if known_of(start) == 0 and not isinstance(start, Value) else binary(reader, operator.add, start, k)
        return number, part.element(k)

    return Iteration(part.length, element, part.is_static, held=(part,))


def turned(reader: Reader, iterable: Any) -> Iteration:
    """`reversed`."""
    part = iteration_of(reader, iterable)
    check_any_order(reader, part)
    last = part.length - 1

    def element(k: Any) -> Any:
        return part.element(binary(reader, operator.sub, last, k))

    return Iteration(part.length, element, part.is_static, held=(part,))
