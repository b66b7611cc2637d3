"""A function is read again and again, until a reading finds nothing that it would have had to know before."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from ..core.errors import NotSupported, TransformError
from ..core.guards import Assumptions
from ..core.types import ArrayType
from .branches.casts import Widen
from .branches.testing import Untested, testing_signs
from .entry import Reading, read_target
from .findings import Findings
from .raising.demand import Unroll
from .reader import Reader
from .requests import Request

__all__ = ["Reading", "read"]

MOST_READINGS = 128  # each asks for one more loop to be unrolled


def read(
    target: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    hints: Mapping[Any, int],
    smallest: int = 0,
    mapped: Collection[str] = (),
    with_lists: bool = False,
    keeps: bool = False,
    for_source: bool = False,
) -> Reading:
    """The Core of a function for abstract arguments.

    `args` and `kwargs` are pytrees whose leaves are `ArrayType`s (dynamic) or any other objects
    (static). `hints` are the dimensions of the call being read, `smallest` is what every dimension
    is known to be at least. `mapped` are the paths of arguments that differ from lane to lane. `with_lists` are
    results lists whose length the program finds (`Items`). With `keeps`, functions that are called very often stay
    functions (`keeping`), and where what is read is wanted `for_source`, those that are called repeatedly.

    Raises `Demand` if an argument has to be static, a located `TransformError` for what cannot be
    read.
    """
    findings = Findings()
    for _ in range(MOST_READINGS):
        reader = Reader(Assumptions(hints, smallest), findings, mapped)
        reader.recursion.keeping.depth = int(not keeps)
        reader.recursion.keeping.for_source = for_source
        try:
            with reader.builder.active(), reader.assumptions.block(), testing_signs(reader):
                reading = read_target(reader, target, args, kwargs, with_lists)
                reader.recursion.keeping.settle(reader, reading.function)
                return reading
        except Request as request:
            request.note(findings)
        except Widen as request:
            _declare(findings.declared, request, reader)
        except Unroll as request:
            if not findings.unroll(request):
                _go_on(request.refusal, reader)
        except TransformError as refusal:
            _go_on(refusal, reader)
        except RecursionError:
            raise NotSupported(
                "the function is nested too deeply",
                reader.builder.origin,
                instead="Split long expressions and chains of elif.",
            ) from None
    raise NotSupported(
        "too many loops would have to be unrolled",
        reader.builder.origin,
        instead="Keep one type and shape for each variable in a loop, or split the function.",
    )


def _declare(declared: dict[Any, ArrayType], request: Widen, reader: Reader) -> None:
    if declared.get(request.key) == request.type:
        raise NotSupported(
            f"a variable that may be unassigned is {request.type} on one path and not on another",
            reader.builder.origin,
            instead="Assign a value of the same type before.",
        ) from None
    declared[request.key] = request.type


def _go_on(refusal: TransformError, reader: Reader) -> None:
    """Raises a refusal, unless another reading may succeed."""
    if not _may_go_on(refusal, reader):
        raise _first_said(refusal, reader.findings) from None


def _may_go_on(refusal: TransformError, reader: Reader) -> bool:
    """Whether another reading may succeed, in which the program tests more, or loops are unrolled."""
    places = {refusal.place} if isinstance(refusal, Untested) else set(reader.builder.float_powers)
    found = places - reader.tested
    reader.tested |= found
    findings = reader.findings
    if found or findings.unroll_all() or _may_fork(refusal, reader):
        return True
    return findings.begin_apart(reader.refused.loops.get(refusal), refusal) or findings.begin_alike()


def _may_fork(refusal: TransformError, reader: Reader) -> bool:
    fork, known = reader.refused.forks.get(refusal), reader.findings.forks
    if fork is None or fork in known:
        return False
    known[fork] = refusal
    return True


def _first_said(refusal: TransformError, findings: Findings) -> TransformError:
    """A refusal, or the first one of that line, which reading the program in other parts has not helped."""
    def line(error: TransformError) -> tuple[Any, ...]:
        return (error.origin.file, error.origin.line) if error.origin else (error,)

    before = (*findings.first_apart.values(), *findings.all_alike.values(), *findings.forks.values())
    return next((each for each in before if line(each) == line(refusal)), refusal)
