"""Loops: `for` and `while` become loops of Core; loops over containers are unrolled, others on demand."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import gast

from ...core.errors import NotSupported, TransformError
from ...core.sizes import Size
from ...ops.value import Value
from ..branches.conditions import branch, condition, negated, truth
from ..branches.journal import Cell, Name, Place
from ..branches.testing import Untested
from ..findings import REST
from ..frames import Frame, stamp
from ..objects.objects import ATTRIBUTES, made_of
from ..raising.demand import Demand, Opens, Unroll, need
from ..raising.errors import is_of_program
from ..requests import Request
from ..sources.scope import uses_in, writes_of
from ..values import ABSENT, Lazy, cell_of, is_array
from .iteration import (
    Iteration,
    but_first,
    check_held,
    iteration_of,
    iterator_of,
    next_place,
    size_of_container,
    sizes_of_held,
)
from .loop_reading import LoopPlan, LoopReading
from .producers import Producer, run_producer
from .stepping import ENDLESS, parts_of

if TYPE_CHECKING:
    from ..findings import Findings
    from ..reader import Reader

MOST_UNROLLED = 64


def read_for(reader: Reader, node: Any) -> Any:
    from ..assignment import bind
    from .comprehensions import each_in_turn

    frame = reader.frame
    source = reader.evaluate(node.iter)
    if made_of(type(source)) is ATTRIBUTES:
        source = iterator_of(reader, source)
    goes_on = _until(reader, getattr(node, "stop", None))
    take = partial(_take, reader, node)
    if isinstance(source, Producer) and (goes_on is None or not _is_in_steps(source)):
        return run_producer(reader, source, take, goes_on)
    if isinstance(source, Lazy) and source.listed is None:
        return each_in_turn(reader, source, take, goes_on, _assigned(node))
    with reader.builder.at(frame.origin(node.iter)):
        iteration = iteration_of(reader, source)
    run = LoopRun(
        reader,
        (frame.path, node),
        iteration,
        lambda k: bind(reader, node.target, iteration.element(k)),
        lambda: reader.execute(node.body),
        test=goes_on,
    )
    with frame.holding(source):
        run.read(lambda run: _plan(reader, node, run))


def _is_in_steps(made: Producer) -> bool:
    """Whether items are taken one by one, or have been computed."""
    return made.steps is not None or made.listed is not None or parts_of(made) is not None


def _take(reader: Reader, node: Any, item: Any) -> None:
    """One iteration, with an item that a generator has yielded."""
    from ..assignment import bind

    bind(reader, node.target, item)
    reader.execute(node.body)


def _until(reader: Reader, flag: str | None) -> Callable[[], Any] | None:
    """The test before each iteration of a loop that a flag ends."""
    if flag is None:
        return None
    names = reader.frame.names
    return lambda: negated(reader, truth(reader, reader.usable(names[flag])))


def read_while(reader: Reader, node: Any) -> None:
    run = LoopRun(
        reader,
        (reader.frame.path, node),
        None,
        lambda k: None,
        lambda: reader.execute(node.body),
        test=lambda: _asked(reader, node.test),
    )
    run.read(lambda run: _plan(reader, node, run))


def _asked(reader: Reader, test: Any) -> Any:
    """What the test of a `while` gives; one that does more than to ask belongs into the body."""
    mark, moment = reader.journal.mark(), stamp()
    found = condition(reader, test)
    if any(reader.existed(place, old, moment) for place, old in reader.journal.changes(mark).values()):
        place = reader.frame.origin(test)
        if place in reader.findings.asked:       # where it is written is not where a library is shown
            raise NotSupported("a `while` condition that writes to an array, a container or an object is not supported",
                               place, instead="Write `while True:`, and leave the loop with `if …: break`.")
        raise Asked(place)
    return found


class Asked(Request):
    """The test of a `while` writes something: the function has to be read with the test in the body."""

    def note(self, findings: Findings) -> None:
        findings.asked.add(self.key)


class LoopRun:
    """A loop about to be read: as one of Core, or iteration by iteration."""

    def __init__(
        self,
        reader: Reader,
        key: Any,
        iteration: Iteration | None,
        bind: Callable[[Any], None],
        body: Callable[[], None],
        test: Callable[[], Any] | None,
    ) -> None:
        self.reader = reader
        self.key = key
        self.iteration = iteration
        self.bind = bind
        self.body = body
        self.test = test

    @property
    def length(self) -> Any:
        if self.iteration is None or self.iteration.length == ENDLESS and self.test is not None:
            return None
        return self.iteration.length

    def read(self, plan: Callable[[LoopRun], LoopPlan]) -> None:
        if self.length == 0 and isinstance(self.length, int) or self._never_begins():
            return
        if self.key in self.reader.findings.first_apart:
            self._read_first_apart(plan)
        elif self.is_static or self._is_unrolled():
            self._read_unrolled(plan)
        elif self._is_to_carry_sizes():
            self._read_instead(plan)
        else:
            self._read_as_one(plan)

    def _read_first_apart(self, plan: Callable[[LoopRun], LoopPlan]) -> None:
        """Reads the first iteration by itself, and the others as a loop that begins with what it leaves."""
        if not self._begins():
            return
        watched = [] if self.iteration is None else sizes_of_held(self.reader, self.iteration)
        rest = LoopRun(self.reader, (REST, self.key), self.iteration and but_first(self.reader, self.iteration),
                       lambda k: self.bind(next_place(self.reader, k)), self.body, self.test)

        def iterate() -> None:
            self.bind(0)
            self.body()
            self._check_unchanged(watched)
            rest.read(plan)

        branch(self.reader, True if self.test is None else self.test(), iterate, lambda: None)

    def _begins(self) -> bool:
        """Whether there is a first item, for all calls that this code is made for."""
        assumptions, length = self.reader.assumptions, self.length
        if length is None or assumptions.decide(length - 1):
            return True
        if isinstance(length, int) or assumptions.decide(-1 * length):
            return False
        self._need(length, "the number of iterations", self.reader.findings.first_apart[self.key])
        raise AssertionError("a number that is not known cannot be had")

    def _read_unrolled(self, plan: Callable[[LoopRun], LoopPlan]) -> None:
        """Reads the loop iteration by iteration; as one that carries sizes, if that cannot be or serves better."""
        checkpoint = self.reader.checkpoint()
        self.reader.unrolling.append(self)
        try:
            return self.unroll(self.reader.unrolled.get(self.key))
        except Opens as request:
            self._check_own(request)
            self.reader.restore(checkpoint)
            self.reader.findings.instead[self.key] = True
        except (TransformError, Unroll) as failed:
            if self.is_static or self._may_be_mended(failed) or self._is_caught(failed):
                raise
            self.reader.restore(checkpoint)
            self._open(failed.refusal if isinstance(failed, Unroll) else failed)
        finally:
            self.reader.unrolling.pop()
        self.read(plan)

    def _read_instead(self, plan: Callable[[LoopRun], LoopPlan]) -> None:
        """Reads the loop as one that carries sizes; unrolled after all where that is not possible."""
        checkpoint, findings = self.reader.checkpoint(), self.reader.findings.copy()
        self.reader.findings.instead[self.key] = True
        self.reader.opened[self.key] = self.reader.unrolled[self.key]
        try:
            return self._read_as_one(plan)
        except (TransformError, Unroll, Demand):
            self.reader.restore(checkpoint)
            self.reader.findings.restore(findings)
            self.reader.findings.instead[self.key] = False
        self.read(plan)

    def _read_as_one(self, plan: Callable[[LoopRun], LoopPlan]) -> None:
        """Reads the loop as one of Core; unrolled, or as one that carries sizes, where it turns out to need that."""
        checkpoint = self.reader.checkpoint()
        watched = [] if self.iteration is None else sizes_of_held(self.reader, self.iteration)
        try:
            LoopReading(self.reader, plan(self)).read()
            return self._check_unchanged(watched)
        except Opens as request:
            self._check_own(request)
            self.reader.restore(checkpoint)
            self._open(None)
        except NotSupported as failed:
            if self.reader.opened.get(self.key) is None or self._may_be_mended(failed):
                raise
            raise self.reader.opened[self.key] from None             # type: ignore[misc]
        except Unroll as request:
            self._check_own(request)
            self.reader.restore(checkpoint)
            if not self._is_tested_instead(request.refusal):
                if self.key in self.reader.opened:
                    raise self.reader.opened[self.key] or request.refusal from None
                if not request.first_apart or not self.reader.findings.begin_apart(self.key, request.refusal):
                    self.reader.unrolled[self.key] = request.refusal
        self.read(plan)

    def _check_own(self, request: Opens | Unroll) -> None:
        """Passes a request on that is for another loop."""
        if request.loop is not self.key and request.loop != self.key:
            raise request

    def _open(self, refusal: TransformError | None) -> None:
        """From now on the loop carries sizes; so do loops around it that were being unrolled, if they can."""
        self.reader.opened[self.key] = refusal
        for run in self.reader.unrolling:
            if run is not self and not run.is_static and run.key not in self.reader.findings.instead:
                raise Opens(run.key)

    def _may_be_mended(self, failed: TransformError | Unroll) -> bool:
        """Whether another reading can do what this one could not: with another loop unrolled, or a test of sizes."""
        if isinstance(failed, Unroll):
            return failed.loop not in self.reader.unrolled
        return isinstance(failed, Untested) and failed.place not in self.reader.tested

    def _is_caught(self, failed: TransformError | Unroll) -> bool:
        """Whether the program raises it in an iteration, and goes on behind the loop with what was done by then."""
        return isinstance(failed, TransformError) and is_of_program(failed) and self.reader.catching.catches(failed)

    @property
    def is_static(self) -> bool:
        """Whether the loop runs over a container, or once, and is unrolled in any case."""
        return self.iteration is not None and (self.iteration.is_static or self._runs_once())

    def _runs_once(self) -> bool:
        return isinstance(self.length, int) and self.length == 1 and self.test is None

    def _is_to_carry_sizes(self) -> bool:
        """Whether the loop carries sizes if it can, rather than to be unrolled: that serves for all lengths."""
        if self.key not in self.reader.unrolled or self.key in self.reader.opened:
            return False
        return self.reader.findings.instead.get(self.key, not isinstance(self.length, int))

    def _is_unrolled(self) -> bool:
        is_open = self.key in self.reader.opened or self._is_to_carry_sizes()
        return self.key in self.reader.unrolled and not is_open

    def _never_begins(self) -> bool:
        """Whether the condition of a `while` is certainly false at first: then its body need not mean anything."""
        if self.iteration is not None or self.test is None:
            return False
        checkpoint = self.reader.checkpoint()
        going_on = self.test()
        self.reader.restore(checkpoint)
        return not isinstance(going_on, Value) and not going_on

    def _is_tested_instead(self, refusal: TransformError) -> bool:
        """Whether the program is to test sizes, as the loop cannot be unrolled for all lengths."""
        few = isinstance(self.length, int) and self.length <= MOST_UNROLLED
        if few or not isinstance(refusal, Untested) or refusal.place in self.reader.tested:
            return False
        self.reader.tested.add(refusal.place)
        return True

    def unroll(self, refusal: TransformError | None) -> None:
        """Reads the body once for each iteration."""
        count = self.length
        if self.iteration is None or count is None:
            return self._unroll_while(refusal)
        if isinstance(count, Size | Value):
            self._need(count, "the number of iterations", refusal)
        if not self.iteration.is_static and count > MOST_UNROLLED:
            raise self._too_long(refusal)
        watched = sizes_of_held(self.reader, self.iteration)
        for k in range(count):
            if not self._iterate(k, watched):
                return
        going_on = True if self.test is None else self.test()
        if isinstance(going_on, Value) or going_on:
            self._check_unchanged(watched)

    def _check_unchanged(self, watched: list[tuple[Any, int]]) -> None:
        """Raises where a container that the loop runs over has got items, or lost some."""
        if self.iteration is not None:
            check_held(self.iteration)
        if any(size_of_container(self.reader, container) != size for container, size in watched):
            raise NotSupported(
                "changing the length of a container while a loop iterates over it is not supported",
                self.reader.builder.origin,
                instead="Loop over a copy: list(items).",
            )

    def _iterate(self, k: int, watched: list[tuple[Any, int]]) -> bool:
        """Reads one iteration; False if the loop has certainly ended before it."""
        going_on = True if self.test is None else self.test()

        def one() -> None:
            self.bind(k)
            self.body()

        if not isinstance(going_on, Value) and not going_on:
            return False
        self._check_unchanged(watched)
        branch(self.reader, going_on, one, lambda: None)
        return True

    def _unroll_while(self, refusal: TransformError | None) -> None:
        assert self.test is not None
        for k in range(MOST_UNROLLED + 1):
            going_on = self.test()
            if isinstance(going_on, Value):
                self._need(going_on, "the condition", refusal)
            if not going_on:
                return
            self.bind(k)
            self.body()
        raise self._too_long(refusal)

    def _need(self, value: Any, what: str, refusal: TransformError | None) -> None:
        """Raises what makes a value known; where there is no way, why the loop has to be unrolled, if it is known."""
        try:
            need(self.reader, value, f"{what} of a loop that has to be unrolled")
        except TransformError as error:
            raise refusal or error from None

    def _too_long(self, refusal: TransformError | None) -> TransformError:
        return refusal or NotSupported(f"this loop would have to be unrolled more than {MOST_UNROLLED} times",
                                       self.reader.builder.origin,
                                       why="The types or the structure of its variables differ between iterations.",
                                       instead="Keep one type and shape for each variable, and convert indexed "
                                               "containers to arrays: np.array(items).")


def _plan(reader: Reader, node: Any, run: LoopRun) -> LoopPlan:
    """The loop of a statement as it is to be read into Core."""
    frame = reader.frame
    writes = writes_of(node)
    iteration = run.iteration
    by_position = iteration is not None and iteration.counts and isinstance(getattr(node, "target", None), gast.Name)
    return LoopPlan(
        run.key,
        frame,
        run.length,
        run.bind,
        run.body,
        run.test,
        guess=guessed_places(frame, writes.assigned, writes.augmented, writes.stored),
        used_later=lambda name: is_used_outside(frame, node, name),
        assigned=_assigned(node),
        position_name=node.target.id if by_position else None,
        independent=iteration is not None and iteration.independent,
    )


def _assigned(node: Any) -> frozenset[str]:
    """The names that an iteration binds."""
    writes = writes_of(node)
    return frozenset(writes.assigned | writes.augmented | _target_names(node))


def _target_names(node: Any) -> set[str]:
    target = getattr(node, "target", None)
    return set() if target is None else {n.id for n in gast.walk(target) if isinstance(n, gast.Name)}


def guessed_places(frame: Frame, assigned: set[str], augmented: set[str], stored: set[str]) -> list[tuple[Place, bool]]:
    """What a loop may carry, by the names it assigns to; with whether whole numbers surely change."""
    places: dict[Any, tuple[Place, bool]] = {}
    changed = assigned | augmented | stored
    for name, value in frame.names.items():                             # as the program introduces them
        if name not in changed or value is ABSENT:
            continue
        if name not in assigned and is_array(value):
            place: Place = Cell(cell_of(value))
        elif name in assigned | augmented:
            place = Name(frame.names, name)
        else:
            continue
        places[place.identity] = place, name in augmented
    return list(places.values())


def is_used_outside(frame: Frame, node: Any, name: str) -> bool:
    """Whether code of the function outside of a loop may use what the loop leaves in a name."""
    return uses_in(frame.scope.node)[name] > uses_in(node)[name]


STATEMENTS = {gast.For: read_for, gast.While: read_while}
