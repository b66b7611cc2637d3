"""The stages in order. Read this page first: everything else is one of them.

     user function ──read──▶ Core ──transform──▶ Core ──simplify──▶ Core ──write──▶ NumPy source
                                                                        ──lower──▶ explicit loops

A `Request` is a function (or a transformation of one, of one, …) with abstract arguments. `generate` gives the
source of the transformed function with everything known about it, `generate_loops` the explicit loops that are
compiled, or kernels for a GPU. `prepare` has the stages that they share.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from enum import Enum
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


class Product(Enum):
    """What is made of Core in the end."""

    SOURCE = "NumPy source"
    LOOPS = "explicit loops for numba"
    KERNELS = "kernels for a GPU, and their driver"

    @property
    def for_gpu(self) -> bool:
        return self is Product.KERNELS

    @property
    def before(self) -> Before:
        """What the last simplification has to keep."""
        return Before.SOURCE if self is Product.SOURCE else Before.LOOPS


@dataclass(frozen=True)
class Request:
    """A function, or a transformation of one, of one, …, and the abstract arguments that it is generated for: pytrees
    of types and of objects that are known.

    `hints` are the sizes of the call, `smallest` what every dimension is at least. With a `header` the source is that
    of a file, which tests the shapes it is given; `name` is what the user's function is called there, if not by its
    own name, and `called` what the result is called. With `with_stages` the text of every stage is kept."""

    target: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    hints: Mapping[Any, int] = field(default_factory=dict)
    smallest: int = 2
    header: Header | None = None
    name: str | None = None
    called: str | None = None
    with_stages: bool = False

    @property
    def modes(self) -> list[Any]:
        """The transformations, innermost first."""
        return taken_apart(self.target)[1]

    @property
    def extras(self) -> list[Any]:
        """The arguments that transformations add."""
        return list(self.args[len(self.args) - sum(mode.extras for mode in self.modes):])


@dataclass
class Prepared:
    """A transformed function as Core, its interface, and the text of every stage, if it was asked for."""

    function: Function
    interface: Interface
    reading: Reading
    stages: dict[str, str] = field(default_factory=dict, kw_only=True)
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
    def bounded(request: Request, *args: Any, **kwargs: Any) -> Any:
        try:
            return stages(request, *args, **kwargs)
        except RecursionError:
            raise NotSupported(
                "the generated code would be too large", place_of(taken_apart(request.target)[0]),
                why="Every item of a list becomes a variable, and selecting among them by index nests branches.",
                instead="Keep items of one type in an array: np.ones(n, bool) instead of [True] * n.") from None

    return cast(Stages, bounded)


@of_bounded_depth
def generate(request: Request) -> Generated:
    """All stages to NumPy source. Raises a located `TransformError`; nothing is changed or written by then."""
    made = prepare(request, Product.SOURCE)
    without_repeated_tests(made.function, made.reading.assumptions)
    with Builder(made.reading.assumptions).active():
        made.function = with_tests_of_names(made.function, in_loops=True)
        printed = over_items(with_rows_in_order(made.function))
    note_memory(made, request.modes)
    written = write(printed, made.interface, name=made.interface.name, header=request.header, annotate=True,
                    guards=request.header is not None)
    generated = Generated(made.function, made.interface, made.reading, written, stages=made.stages)
    if request.with_stages:
        generated.stages["source"] = generated.source
    return generated


@of_bounded_depth
def generate_loops(request: Request, product: Product = Product.LOOPS, donated: Collection[str] = (),
                   turned: Collection[str] = ()) -> Looped:
    """All stages to explicit loops, or to kernels; options as for `entered`. Records that take much memory are kept
    for blocks of iterations only if they do so in the loops, too: what is done strip by strip keeps those of one
    strip."""
    if product is Product.LOOPS:
        looped = _loops(request, product, donated, turned, splits_unasked=False)
        if not looped.has_large_records or _keeps_little(looped):
            return looped
    return _loops(request, product, donated, turned, splits_unasked=True)


def _keeps_little(looped: Looped) -> bool:
    made = bytes_made(looped.module.kernel.lowered)
    return made is not None and stays_small(made, looped.reading.assumptions)


def _loops(request: Request, product: Product, donated: Collection[str], turned: Collection[str],
           splits_unasked: bool) -> Looped:
    from .entering import entered
    made = prepare(request, product, splits_unasked)
    module = entered(made, request, product, donated, turned)
    looped = Looped(made.function, made.interface, made.reading, module, request.header, stages=made.stages,
                    has_large_records=made.has_large_records)
    if request.with_stages:
        looped.stages["loops"] = looped.source
    return looped


def prepare(request: Request, product: Product, splits_unasked: bool = True) -> Prepared:
    """The stages before anything is printed: the function is read, transformed once for each mode, and simplified
    each time for what is done next."""
    modes, args, kwargs = entered_by(request)
    made = _read(request, product, modes, args, kwargs)
    note(request, made, "read")
    _simplify(made, modes, product)
    without_clocks(made.function)
    differentiates = any(mode.differentiates for mode in modes)
    if differentiates or asks_for_names(made.function):
        with Builder(made.reading.assumptions).active():
            made.function = with_tests_of_names(made.function, in_loops=not differentiates)
    note(request, made, "simplified")
    for k, mode in enumerate(modes):
        with made.reading.assumptions.consistent(), step(k):
            _transform(made, mode, splits_unasked)
            note(request, made, mode.suffix)
            _simplify(made, modes[k + 1:], product)
        note(request, made, f"{mode.suffix}, simplified")
    made.function.guards = made.reading.assumptions.guards
    made.interface.name = request.called or made.interface.name
    _compute_in_float32(request, made, product)
    return made


def _read(request: Request, product: Product, modes: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]
          ) -> Prepared:
    """The user's function as it is read. If it is lowered as it is, arrays that it writes are further results, which
    the entry hands back to its caller's arrays."""
    for_source = product is Product.SOURCE
    with ExitStack() as around, refused_by(modes):
        for mode in reversed(modes):
            around.enter_context(mode.around())
        reading = read(
            taken_apart(request.target)[0], args, kwargs, hints=request.hints, smallest=request.smallest,
            mapped={path for mode in modes for path in mode.mapped()},
            with_lists=product is Product.LOOPS and not modes,
            keeps=not product.for_gpu and all(
                mode.takes_calls or for_source and mode.takes_helpers for mode in modes),
            for_source=for_source)
    reading.interface.name, reading.interface.positional = request.name or reading.interface.name, len(args)
    if not modes and not for_source:
        reading.function.results += [written.value for written in reading.written]
    return Prepared(reading.function, reading.interface, reading)


def _transform(made: Prepared, mode: Any, splits_unasked: bool) -> None:
    """One transformation."""
    builder = Builder(made.reading.assumptions)
    builder.reader, builder.derivatives.splits_unasked = made.reading.reader, splits_unasked
    made.function, made.interface = mode.transform(made.function, made.interface, builder)
    take_hidden(made.function, made.interface)
    made.has_large_records |= builder.derivatives.has_large_records


def _simplify(made: Prepared, coming: list[Any], product: Product) -> None:
    """Simplifies what was read or transformed, for the transformations that are still to come, or for the product."""
    if not coming:
        settled(made.function)
    before = Before.TRANSFORMATIONS if coming else product.before
    simplify(made.function, made.reading.assumptions, before)
    if not coming or not coming[0].differentiates:
        without_tests_of_places(made.function, made.reading.assumptions, before)


def _compute_in_float32(request: Request, made: Prepared, product: Product) -> None:
    """What has 16 bits is only kept in them (`transform/halves.py`). What a driver runs is read again when it is
    compiled, and comes here then."""
    if request.modes and request.modes[-1].gives_driver:
        return
    if in_float32(made.function, made.interface, by_entry=product is Product.LOOPS,
                  but_products=product.for_gpu):
        simplify(made.function, made.reading.assumptions, product.before)
        note(request, made, "in float32")


def note_memory(made: Prepared, modes: list[Any]) -> None:
    """What devices have together in a driver, which no phase is to write to."""
    if modes and modes[-1].gives_driver:
        interface = made.interface
        interface.together = held_together(made.function, interface.differing, modes[-1].mode.axis_name)


def entered_by(request: Request) -> tuple[list[Any], tuple[Any, ...], dict[str, Any]]:
    """The transformations, with what they take from the arguments of a call, and the arguments that are left for
    the user's function: without those that transformations add, and for one lane."""
    modes, args, kwargs = request.modes, request.args, request.kwargs
    names = passed_names(request.target, len(args))
    for k in reversed(range(len(modes))):
        with step(k):
            modes[k], args, kwargs = modes[k].entered(args, kwargs, names[:len(args)], request.hints)
    return modes, args, kwargs


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


def note(request: Request, made: Prepared, name: str) -> None:
    """Checks the function between two stages, if the settings say so, and notes its text, if wanted."""
    if config.check:
        check(made.function)
    if request.with_stages:
        while name in made.stages:
            name += "'"
        made.stages[name] = text(made.function)
