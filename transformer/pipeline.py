"""The stages in order. Read this page first: everything else is one of them.

     user function ──read──▶ Core ──transform──▶ Core ──simplify──▶ Core ──write──▶ NumPy source
                                                                        ──lower──▶ explicit loops

`generate` takes a function (or a transformation of one, of one, …) and abstract arguments, and gives
the source of the transformed function with everything known about it; `generate_loops` gives the
explicit loops that are compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from .core.builder import Builder
from .core.check import check
from .core.errors import NotSupported, TransformError
from .core.grammar import Function
from .core.text import text
from .lower.expand.unbound import asks_for_names, with_tests_of_names
from .lower.nest.footprint import bytes_made
from .read.calls.clocks import without_clocks
from .read.interface import Interface
from .read.places import place_of
from .read.raising.demand import Demand
from .read.readings import Reading, read
from .settings import config
from .simplify import simplify
from .simplify.asked_places import without_tests_of_places
from .simplify.dead import Before
from .simplify.made import without_repeated_tests
from .transform.argument_names import passed_names
from .transform.custom.applied import settled, take_hidden
from .transform.derived import taken_apart
from .transform.device_memory import held_together
from .transform.halves import in_float32
from .transform.reverse.memory import stays_small
from .write.counting_down import with_rows_in_order
from .write.header import Header
from .write.items import over_items
from .write.writer import Written, write

if TYPE_CHECKING:
    from .entering import Module


@dataclass
class Prepared:
    """A transformed function as Core, its interface, and the text of every stage."""

    function: Function
    interface: Interface
    reading: Reading
    stages: dict[str, str]
    has_large_records: bool = field(default=False, kw_only=True)


@dataclass
class Generated(Prepared):
    """The same with its source."""

    written: Written

    @property
    def source(self) -> str:
        return self.written.source

    @property
    def namespace(self) -> dict[str, Any]:
        """What names in the source stand for that it does not define."""
        return self.written.namespace


@dataclass
class Looped(Prepared):
    """The same as a module of explicit loops; with a header that of a file."""

    module: Module
    header: Header | None = None

    @property
    def source(self) -> str:
        return self.module.source if self.header is None else self.module.file(self.header)

    @property
    def namespace(self) -> dict[str, Any]:
        return self.module.entry.namespace


Stages = TypeVar("Stages", bound=Callable[..., Any])


def of_bounded_depth(stages: Stages) -> Stages:
    """Refuses, at its place, a function of which so much is made that Python cannot go through it."""
    @wraps(stages)
    def bounded(target: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return stages(target, *args, **kwargs)
        except RecursionError:
            raise NotSupported(
                "the generated code would be too large", place_of(taken_apart(target)[0]),
                why="Every item of a list becomes a variable, and selecting among them by index nests branches.",
                instead="Keep items of one type in an array: np.ones(n, bool) instead of [True] * n.") from None

    return cast(Stages, bounded)


@of_bounded_depth
def generate(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], *, hints: Mapping[Any, int],
             smallest: int, header: Header | None = None, name: str | None = None, called: str | None = None,
             stages: dict[str, str] | None = None) -> Generated:
    """All stages. With a header the source is that of a file, which tests the shapes it is given;
    `name` is what the user's function is called there, if not by its own name, and `called` what the result is
    called; `stages` receives the text of every stage. Raises a located `TransformError`; nothing is changed or
    written by then."""
    made = prepare(target, args, kwargs, hints=hints, smallest=smallest, name=name, stages=stages)
    made.interface.name = called or made.interface.name
    compute_in_float32(made, taken_apart(target)[1], Before.SOURCE, by_entry=False)
    without_repeated_tests(made.function, made.reading.assumptions)
    with Builder(made.reading.assumptions).active():
        made.function = with_tests_of_names(made.function, in_loops=True)
        printed = over_items(with_rows_in_order(made.function))
    note_memory(made, taken_apart(target)[1])
    written = write(printed, made.interface, name=made.interface.name, header=header, annotate=True,
                    guards=header is not None)
    if stages is not None:
        stages["source"] = written.source
    return Generated(made.function, made.interface, made.reading, made.stages, written)


@of_bounded_depth
def generate_loops(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], *, stages: dict[str, str] | None = None,
                   gpu: bool = False, **options: Any) -> Looped:
    """All stages to explicit loops, with the options of `_loops`. Records that take much memory are kept for blocks of
    iterations only if they do so in the loops, too: what is done strip by strip keeps those of one strip."""
    for splits_unasked in (False, True) if not gpu else (True,):
        noted: dict[str, str] | None = None if stages is None else {}
        looped = _loops(target, args, kwargs, stages=noted, gpu=gpu, splits_unasked=splits_unasked, **options)
        if splits_unasked or not looped.has_large_records or _keeps_little(looped):
            break
    if stages is not None and noted is not None:
        stages.update(noted)
    return looped


def _keeps_little(looped: Looped) -> bool:
    made = bytes_made(looped.module.kernel.lowered)
    return made is not None and stays_small(made, looped.reading.assumptions)


def _loops(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], *, hints: Mapping[Any, int], smallest: int,
           header: Header | None = None, name: str | None = None, called: str | None = None,
           stages: dict[str, str] | None = None, donated: Collection[str] = (), gpu: bool = False,
           splits_unasked: bool = True, turned: Collection[str] = ()) -> Looped:
    """All stages to explicit loops. Arrays that a function itself writes, which is not one that a
    transformation made, are further results, that the entry hands back to its caller's arrays; results may live
    in the arrays of arguments that are named in `donated`; those at the paths `turned` lie column by column. For a
    `gpu` they are kernels, launched by a driver."""
    from .entering import entered
    made = prepare(target, args, kwargs, hints=hints, smallest=smallest, name=name, stages=stages, hands_back=True,
                   splits_unasked=splits_unasked, with_lists=not gpu, for_gpu=gpu)
    made.interface.name = called or made.interface.name
    modes = taken_apart(target)[1]
    compute_in_float32(made, modes, Before.LOOPS, by_entry=not gpu, but_products=gpu)
    extras = list(args[len(args) - sum(mode.extras for mode in modes):])
    module = entered(made.function, made.interface, made.reading, extras, bool(modes), guards=header is not None,
                     donated=donated, gpu=gpu, turned=turned)
    looped = Looped(made.function, made.interface, made.reading, made.stages, module, header,
                    has_large_records=made.has_large_records)
    if stages is not None:
        stages["loops"] = looped.source
    return looped


def prepare(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], *, hints: Mapping[Any, int], smallest: int,
            name: str | None, stages: dict[str, str] | None, hands_back: bool = False,
            splits_unasked: bool = True, with_lists: bool = False, for_gpu: bool = False) -> Prepared:
    """The stages before anything is printed."""
    user, modes = taken_apart(target)
    modes, inner, kwargs = entered_by(target, args, kwargs, hints)
    with ExitStack() as around:
        for mode in reversed(modes):
            around.enter_context(mode.around())
        with refused_by(modes):
            mapped = {path for mode in modes for path in mode.mapped()}
            reading = read(user, inner, kwargs, hints=hints, smallest=smallest, mapped=mapped,
                           with_lists=with_lists and not modes,
                           keeps=not for_gpu and _take_calls(modes, for_source=not hands_back),
                           for_source=not hands_back)
    function, interface = reading.function, reading.interface
    interface.name, interface.positional = name or interface.name, len(inner)
    note(stages, "read", function)
    if not modes:
        settled(function)
    if hands_back and not modes:
        function.results += [written.value for written in reading.written]
    finished = Before.LOOPS if hands_back else Before.SOURCE
    simplify(function, reading.assumptions, Before.LOOPS if hands_back and not modes else Before.TRANSFORMATIONS)
    if not modes or not modes[0].differentiates:
        without_tests_of_places(function, reading.assumptions, Before.TRANSFORMATIONS if modes else finished)
    without_clocks(function)
    if any(mode.differentiates for mode in modes) or asks_for_names(function):
        with Builder(reading.assumptions).active():
            function = with_tests_of_names(function, in_loops=not any(mode.differentiates for mode in modes))
    note(stages, "simplified", function)
    has_large_records = False
    for k in range(len(modes)):
        function, interface, large = _step(k, modes, function, interface, reading, finished, splits_unasked, stages)
        has_large_records |= large
    function.guards = reading.assumptions.guards
    return Prepared(function, interface, reading, {} if stages is None else stages,
                    has_large_records=has_large_records)


def _take_calls(modes: list[Any], for_source: bool) -> bool:
    return all(mode.takes_calls or for_source and mode.takes_helpers for mode in modes)


def _step(k: int, modes: list[Any], function: Function, interface: Interface, reading: Reading, finished: Before,
          splits_unasked: bool, stages: dict[str, str] | None) -> tuple[Function, Interface, bool]:
    """One transformation, and whether it makes records that take much memory; what the last one makes is
    simplified for what it is `finished` for."""
    mode, builder, is_last = modes[k], Builder(reading.assumptions), k == len(modes) - 1
    builder.reader, builder.splits_unasked = reading.reader, splits_unasked
    with reading.assumptions.consistent(), step(k):
        function, interface = mode.transform(function, interface, builder)
        take_hidden(function, interface)
        if is_last:
            settled(function)
        note(stages, mode.suffix, function)
        before = finished if is_last else Before.TRANSFORMATIONS
        simplify(function, reading.assumptions, before)
        if is_last or not modes[k + 1].differentiates:
            without_tests_of_places(function, reading.assumptions, before)
    note(stages, f"{mode.suffix}, simplified", function)
    return function, interface, builder.has_large_records


def compute_in_float32(made: Prepared, modes: list[Any], before: Before, *, by_entry: bool,
                       but_products: bool = False) -> None:
    """What has 16 bits is only kept in them; options as for `halves.in_float32`. What a driver runs is read
    again when it is compiled, and comes here then."""
    if modes and modes[-1].gives_driver:
        return
    if in_float32(made.function, made.interface, by_entry=by_entry, but_products=but_products):
        simplify(made.function, made.reading.assumptions, before)
        note(made.stages, "in float32", made.function)


def note_memory(made: Prepared, modes: list[Any]) -> None:
    """What devices have together in a driver, which no phase is to write to."""
    if modes and modes[-1].gives_driver:
        interface = made.interface
        interface.together = held_together(made.function, interface.differing, modes[-1].mode.axis_name)


def entered_by(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], hints: Mapping[Any, int]
               ) -> tuple[list[Any], tuple[Any, ...], dict[str, Any]]:
    """The transformations, with what they take from the arguments of a call, and the arguments that are left for
    the user's function: without those that transformations add, and for one lane."""
    modes, names = taken_apart(target)[1], passed_names(target, len(args))
    found: list[Any] = []
    for k, mode in reversed(list(enumerate(modes))):
        with step(k):
            mode, args, kwargs = mode.entered(args, kwargs, names[:len(args)], hints)
        found.insert(0, mode)
    return found, args, kwargs


@contextmanager
def refused_by(modes: list[Any]) -> Iterator[None]:
    """Raises where an argument is demanded inside that one of the transformations cannot have known."""
    try:
        yield
    except Demand as demand:
        for k, mode in enumerate(modes):
            error = mode.refusal(demand.paths)
            if error is not None:
                error.step = k
                raise error from None
        raise


@contextmanager
def step(k: int) -> Iterator[None]:
    """Errors raised inside are those of the k-th transformation."""
    try:
        yield
    except TransformError as error:
        error.step = k if error.step is None else error.step
        raise


def note(stages: dict[str, str] | None, name: str, function: Function) -> None:
    """Checks a function between two stages, if the settings say so, and notes its text, if wanted."""
    if config.check:
        check(function)
    if stages is not None:
        while name in stages:
            name += "'"
        stages[name] = text(function)
