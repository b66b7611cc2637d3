"""Comprehensions and generator expressions: loops that append to a list, or feed a sum."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import gast

from ..core.errors import NotSupported
from ..core.sizes import Size
from ..ops.value import Value
from .conditions import branch, truth
from .demand import need, static
from .frames import Frame
from .iteration import Iteration, iteration_of
from .journal import Name
from .loop_reading import LoopPlan
from .loops import LoopRun
from .operators import binary
from .scope import scope_of
from .values import Lazy

if TYPE_CHECKING:
    from .reader import Reader

RESULT = "result of the comprehension"


def read_list(reader: Reader, node: Any) -> Any:
    frame = _frame(reader, node, reader.frame)
    items: list[Any] = reader.own([])
    with reader.inside(frame):
        _generate(reader, node, 0, lambda: _append(reader, items, reader.evaluate(node.elt)))
    return items


def _append(reader: Reader, items: list[Any], item: Any) -> None:
    from .containers import call_method
    from .values import ContainerMethod
    call_method(reader, ContainerMethod(items, "append"), (item,), {})


def read_set(reader: Reader, node: Any) -> Any:
    items = reader.usable(read_list(reader, node))
    return reader.own({static(reader, item, "an item of a set") for item in items})


def read_dict(reader: Reader, node: Any) -> Any:
    frame = _frame(reader, node, reader.frame)
    made: dict[Any, Any] = reader.own({})

    def add() -> None:
        from .containers import set_item
        key = reader.evaluate(node.key)
        set_item(reader, made, key, reader.evaluate(node.value))

    with reader.inside(frame):
        _generate(reader, node, 0, add)
    return made


def read_generator(reader: Reader, node: Any) -> Any:
    return Lazy(node, reader.frame)


def collected(reader: Reader, lazy: Lazy) -> Any:
    """The list of what a generator expression yields."""
    with reader.inside(lazy.frame):
        return read_list(reader, lazy.node)


def _frame(reader: Reader, node: Any, outer: Frame) -> Frame:
    return Frame(scope_of(node), outer.file, outer.function, outer.globals, {}, outer, outer.path)


def _generate(reader: Reader, node: Any, level: int, yield_item: Callable[[], None]) -> None:
    """Reads the loops of a comprehension from a level on."""
    generator = node.generators[level]
    frame = reader.frame
    iteration = iteration_of(reader, reader.evaluate(generator.iter))

    def body() -> None:
        _filtered(reader, generator.ifs, lambda: yield_item() if level + 1 == len(node.generators)
                  else _generate(reader, node, level + 1, yield_item))

    run_loop(reader, (frame.path, generator), iteration, lambda k: _bind(reader, generator, iteration, k), body,
             _position_name(generator, iteration))


def _position_name(generator: Any, iteration: Iteration) -> str | None:
    named = iteration.counts and isinstance(generator.target, gast.Name)
    return generator.target.id if named else None


def _bind(reader: Reader, generator: Any, iteration: Iteration, k: Any) -> None:
    from .assignment import bind
    bind(reader, generator.target, iteration.element(k))


def _filtered(reader: Reader, conditions: list[Any], yield_item: Callable[[], None]) -> None:
    if not conditions:
        return yield_item()
    cond = truth(reader, reader.evaluate(conditions[0]))
    branch(reader, cond, lambda: _filtered(reader, conditions[1:], yield_item), lambda: None)


def run_loop(reader: Reader, key: Any, iteration: Iteration, bind: Callable[[Any], None],
             body: Callable[[], None], name: str | None = None) -> None:
    """A loop that binds names of its own only."""
    frame = reader.frame
    run = LoopRun(reader, key, iteration, bind, body, None)
    run.read(lambda: LoopPlan(key, frame, run.length, bind, body, position_name=name,
                              used_later=lambda name: name == RESULT))


def collect(reader: Reader, iteration: Iteration) -> Any:
    """`list(...)` of what is iterated over."""
    items: list[Any] = reader.own([])
    key = (reader.frame.path, reader.builder.origin, "list")
    run_loop(reader, key, iteration, lambda k: None, lambda: None) if False else _collect(
        reader, key, iteration, items)
    return items


def _collect(reader: Reader, key: Any, iteration: Iteration, items: list[Any]) -> None:
    element: list[Any] = []

    def bind(k: Any) -> None:
        element[:] = [iteration.element(k)]

    run_loop(reader, key, iteration, bind, lambda: _append(reader, items, element[0]))


def folded(reader: Reader, iteration: Iteration, combine: Callable[[Any, Any], Any], start: Any) -> Any:
    """`combine(… combine(combine(start, first), second) …)`, as `functools.reduce` does."""
    if iteration.is_static or isinstance(iteration.length, int) and iteration.length <= 1:
        total = start
        for k in range(_known(reader, iteration.length)):
            total = combine(total, iteration.element(k))
        return total
    frame = reader.frame
    place = Name(frame.names, RESULT)
    reader.journal.write(place, start)
    item: list[Any] = []

    def bind(k: Any) -> None:
        item[:] = [iteration.element(k)]

    def body() -> None:
        reader.journal.write(place, combine(frame.names[RESULT], item[0]))

    key = (frame.path, reader.builder.origin, "fold")
    run = LoopRun(reader, key, iteration, bind, body, None)
    run.read(lambda: LoopPlan(key, frame, run.length, bind, body, guess=[(place, True)],
                              used_later=lambda name: name == RESULT))
    return reader.usable(frame.names[RESULT])


def _known(reader: Reader, length: Any) -> int:
    if isinstance(length, Size | Value):
        need(reader, length, "the number of items here")
    return length


def summed(reader: Reader, lazy: Lazy, start: Any) -> Any:
    """`sum(f(x) for x in xs)`: the items are added where they are computed."""
    node = lazy.node
    frame = _frame(reader, node, lazy.frame)
    place = Name(frame.names, RESULT)
    with reader.inside(frame):
        frame.names[RESULT] = start
        if len(node.generators) != 1:
            return _sum_of_list(reader, lazy, start)
        generator = node.generators[0]
        iteration = iteration_of(reader, reader.evaluate(generator.iter))

        def add() -> None:
            item = reader.evaluate(node.elt)
            reader.journal.write(place, binary(reader, operator.add, frame.names[RESULT], item))

        def bind(k: Any) -> None:
            _bind(reader, generator, iteration, k)

        def body() -> None:
            _filtered(reader, generator.ifs, add)

        key = (frame.path, generator)
        run = LoopRun(reader, key, iteration, bind, body, None)
        run.read(lambda: LoopPlan(key, frame, run.length, bind, body, guess=[(place, True)],
                                  used_later=lambda name: name == RESULT,
                                  position_name=_position_name(generator, iteration)))
        return reader.usable(frame.names[RESULT])


def _sum_of_list(reader: Reader, lazy: Lazy, start: Any) -> Any:
    raise NotSupported("a sum over a generator with several `for`", reader.builder.origin,
                       instead="Write sum(sum(... for b in ...) for a in ...).")


EXPRESSIONS = {gast.ListComp: read_list, gast.SetComp: read_set, gast.DictComp: read_dict,
               gast.GeneratorExp: read_generator}
