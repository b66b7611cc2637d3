"""Comprehensions and generator expressions: loops that append to a list, or feed a sum."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import gast

from ..branches.conditions import branch, condition, negated, truth
from ..branches.journal import Item, Place
from ..frames import Frame
from ..objects.containers import call_method, iterated, set_item
from ..objects.keys import ITEM, hashed
from ..sources.scope import scope_of
from ..values import ABSENT, ContainerMethod, Lazy
from .iteration import Iteration, iteration_of
from .loop_reading import LoopPlan
from .loops import LoopRun
from .producers import Producer, begin, collected_items, run_producer
from .totals import added_to

if TYPE_CHECKING:
    from ..reader import Reader


def read_list(reader: Reader, node: Any) -> Any:
    items: list[Any] = reader.own([])
    Comprehension(reader, node).read(lambda: append(reader, items, reader.evaluate(node.elt)))
    return items


def append(reader: Reader, items: list[Any], item: Any) -> None:
    call_method(reader, ContainerMethod(items, "append"), (item,), {})


def read_set(reader: Reader, node: Any) -> Any:
    items = iterated(reader, reader.usable(read_list(reader, node)))
    return reader.own({hashed(reader, item, ITEM) for item in items})


def read_dict(reader: Reader, node: Any) -> Any:
    made: dict[Any, Any] = reader.own({})

    def add() -> None:
        key = reader.evaluate(node.key)
        set_item(reader, made, key, reader.evaluate(node.value))

    Comprehension(reader, node).read(add)
    return made


def read_generator(reader: Reader, node: Any) -> Any:
    return reader.own(Lazy(node, reader.frame, reader.evaluate(node.generators[0].iter)))


def listed(reader: Reader, iterable: Any) -> Any:
    """The list of what a generator yields; what is none stays as it is."""
    if isinstance(iterable, Producer):
        return collected_items(reader, iterable)
    if isinstance(iterable, Iteration) and iterable.use is not None:
        iteration = iteration_of(reader, iterable)
        return iteration if iterable.items is None else reader.usable(iterable.items)
    return reader.usable(collected(reader, iterable)) if isinstance(iterable, Lazy) else iterable


def collected(reader: Reader, lazy: Lazy) -> Any:
    """The list of what a generator expression yields."""
    items: list[Any] = reader.own([])
    _each(reader, lazy, lambda item: append(reader, items, item))
    return items


def _each(
    reader: Reader,
    lazy: Lazy,
    use: Callable[[Any], None],
    guess: list[tuple[Place, bool]] | None = None,
    goes_on: Callable[[], Any] | None = None,
    assigned: frozenset[str] = frozenset(),
) -> None:
    """Does something with every item of a generator expression, where it is computed."""
    begin(reader, lazy, "a generator expression")
    with reader.inside(lazy.frame):
        loops = Comprehension(reader, lazy.node, guess, lazy.first, goes_on, assigned)
        loops.read(lambda: use(reader.evaluate(lazy.node.elt)))


def each_in_turn(
    reader: Reader,
    lazy: Lazy,
    use: Callable[[Any], None],
    goes_on: Callable[[], Any] | None,
    assigned: frozenset[str],
) -> None:
    """Does something with items of a generator expression where they are computed, as long as it goes on; what is done
    stands in the frame of now, and may assign to some names there."""
    outer = reader.frame

    def use_outside(item: Any) -> None:
        with reader.inside(outer):
            use(item)

    _each(reader, lazy, use_outside, None, goes_on, assigned)


def summed(reader: Reader, items: Lazy | Producer, start: Any) -> Any:
    """`sum(f(x) for x in xs)`: the items are added where they are computed."""
    total = Item(reader.own({"total": start}), "total")

    def add(item: Any) -> None:
        reader.journal.write(total, added_to(reader, reader.usable(total.get()), item))

    if isinstance(items, Producer):
        run_producer(reader, items, add)
        return reader.usable(total.get())
    _each(reader, items, add, [(total, True)])
    return reader.usable(total.get())


def all_hold(reader: Reader, items: Lazy | Producer, wanted: bool) -> Any:
    """Whether all items are true, or all are not: after the first that is otherwise nothing is computed."""
    hold = Item(reader.own({"hold": True}), "hold")

    def test(item: Any) -> None:
        found = truth(reader, item)
        reader.journal.write(hold, found if wanted else negated(reader, found))

    def goes_on() -> Any:
        return truth(reader, reader.usable(hold.get()))

    if isinstance(items, Producer):
        run_producer(reader, items, test, goes_on)
    else:
        _each(reader, items, test, [(hold, True)], goes_on)
    return reader.usable(hold.get())


class Comprehension:
    """The loops of a comprehension, in a frame of their own. Items are computed as long as it `goes_on`."""

    def __init__(
        self,
        reader: Reader,
        node: Any,
        guess: list[tuple[Place, bool]] | None = None,
        first: Any = ABSENT,
        goes_on: Callable[[], Any] | None = None,
        assigned: frozenset[str] = frozenset(),
    ) -> None:
        outer = reader.frame
        self.reader = reader
        self.generators = node.generators
        self.first = reader.evaluate(node.generators[0].iter) if first is ABSENT else first  # in the frame around it
        self.frame = Frame(scope_of(node), outer.file, outer.function, outer.globals, {}, outer, outer.path)
        self.guess = guess or []
        self.goes_on = goes_on
        self.assigned = assigned

    def read(self, yield_item: Callable[[], None]) -> None:
        with self.reader.inside(self.frame):
            self._level(0, yield_item)

    def _level(self, level: int, yield_item: Callable[[], None]) -> None:
        reader, generator = self.reader, self.generators[level]
        source = self.first if level == 0 else reader.evaluate(generator.iter)

        def inner() -> None:
            if level + 1 < len(self.generators):
                self._level(level + 1, yield_item)
            else:
                yield_item()

        def step() -> None:
            self._filtered(generator.ifs, inner)

        def take(item: Any) -> None:
            self._bind(generator.target, item)
            step()

        if isinstance(source, Producer):
            run_producer(reader, source, take, self.goes_on)
        elif isinstance(source, Lazy) and source.listed is None:
            each_in_turn(reader, source, take, self.goes_on, self.assigned)
        else:
            self._run(level, source, step)

    def _run(self, level: int, source: Any, step: Callable[[], None]) -> None:
        reader, generator = self.reader, self.generators[level]
        iteration = iteration_of(reader, source)
        counts = iteration.counts and isinstance(generator.target, gast.Name)

        run_loop(
            reader,
            (self.frame.path, generator),
            iteration,
            lambda k: self._bind(generator.target, iteration.element(k)),
            step,
            self.guess,
            generator.target.id if counts else None,
            self.goes_on,
            self.assigned,
        )

    def _bind(self, target: Any, value: Any) -> None:
        from ..assignment import bind

        bind(self.reader, target, value)

    def _filtered(self, conditions: list[Any], inner: Callable[[], None]) -> None:
        if not conditions:
            return inner()
        cond = condition(self.reader, conditions[0])
        branch(self.reader, cond, lambda: self._filtered(conditions[1:], inner), lambda: None)


def run_loop(
    reader: Reader,
    key: Any,
    iteration: Iteration,
    bind: Callable[[Any], None],
    body: Callable[[], None],
    guess: list[tuple[Place, bool]],
    name: str | None = None,
    test: Callable[[], Any] | None = None,
    assigned: frozenset[str] = frozenset(),
) -> None:
    """A loop that binds only names that nobody reads after it."""
    frame = reader.frame
    run = LoopRun(reader, key, iteration, bind, body, test)
    with frame.holding(iteration):
        run.read(lambda run: LoopPlan(run.key, frame, run.length, run.bind, body, run.test, guess,
                                      assigned=assigned, position_name=name))


def collect(reader: Reader, iteration: Iteration) -> Any:
    """`list(...)` of what is iterated over."""
    items: list[Any] = reader.own([])
    for_each(reader, iteration, "list", lambda item: append(reader, items, item), [])
    return items


def folded(reader: Reader, iteration: Iteration, combine: Callable[[Any, Any], Any], start: Any) -> Any:
    """`combine(… combine(combine(start, first), second) …)`, as `functools.reduce` does."""
    total = Item(reader.own({"total": start}), "total")

    def add(item: Any) -> None:
        reader.journal.write(total, combine(reader.usable(total.get()), item))

    for_each(reader, iteration, "fold", add, [(total, True)])
    return reader.usable(total.get())


def for_each(
    reader: Reader,
    iteration: Iteration,
    what: str,
    use: Callable[[Any], None],
    guess: list[tuple[Place, bool]] | None = None,
    test: Callable[[], Any] | None = None,
) -> None:
    """Does something with every item, in a loop, as long as a test holds."""
    element: list[Any] = []

    def bind(k: Any) -> None:
        element[:] = [iteration.element(k)]

    origin = reader.builder.origin
    place = (origin.file, origin.line, origin.column) if origin else None
    run_loop(reader, (reader.frame.path, place, what), iteration, bind, lambda: use(element[0]), guess or [],
             test=test)


EXPRESSIONS = {
    gast.ListComp: read_list,
    gast.SetComp: read_set,
    gast.DictComp: read_dict,
    gast.GeneratorExp: read_generator,
}
