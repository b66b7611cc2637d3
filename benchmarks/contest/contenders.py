"""Who takes part in a case, and what was found before anything is timed: first calls and results."""

from __future__ import annotations

import signal
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from types import FrameType
from typing import Any

import numpy as np

from transformer import config, jit

from .case import Case
from .checking import disagreement
from .lazily import Steps, has_jax, jax

OURS, JAX, HAND, AS_IT_STANDS, NUMPY = "transformer", "JAX", "numba by hand", "numba as it stands", "NumPy"
PATIENCE = 20.0                     # seconds for a call of NumPy, where programs of loops take long
LONGEST = 120.0                     # and for a first call of what compiles
Call = Callable[[], Any]


@dataclass
class Entered:
    """Calls that agree with each other, seconds of first calls, and what is to be told."""

    calls: dict[str, Call] = field(default_factory=dict)
    results: dict[str, Any] = field(default_factory=dict)
    first: dict[str, float] = field(default_factory=dict)
    from_cache: float | None = None
    notes: list[str] = field(default_factory=list)
    is_wrong: bool = False


def entered(case: Case, args: tuple[Any, ...]) -> Entered:
    """Everybody's first call; whose result differs does not take part."""
    found = Entered()
    for name, make in makers(case, args).items():
        try:
            with no_longer_than(PATIENCE if name == NUMPY else LONGEST), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                call = make(found)
                started = perf_counter()
                found.results[name] = call()
                found.first.setdefault(name, perf_counter() - started)
            found.calls[name] = call
        except Exception as error:          # whatever a package says of what it does not take
            found.notes.append(f"{case.name}: {name}: {first_line(error)}")
    compare(case, found)
    return found


def makers(case: Case, args: tuple[Any, ...]) -> dict[str, Callable[[Entered], Call]]:
    """Each makes a call, once it has compiled what it needs to."""
    made: dict[str, Callable[[Entered], Call]] = {}
    if not case.is_derivative:
        made[NUMPY] = lambda found: lambda: case.program(*args)
    if case.jax and has_jax():
        made[JAX] = lambda found: fastest_form(case, args, found)
    made[OURS] = lambda found: compiled(case, args, found)
    hand = case.hand
    if hand is not None:
        made[HAND] = lambda found: lambda: hand(*args)
    if not case.is_derivative:
        made[AS_IT_STANDS] = lambda found: as_it_stands(case, args)
    return made


def compiled(case: Case, args: tuple[Any, ...], found: Entered) -> Call:
    """Ours; first with an empty folder for what is compiled, then from that folder."""
    target, usual = case.ours(), config.cache
    with tempfile.TemporaryDirectory() as folder:
        config.cache = Path(folder)
        try:
            found.first[OURS] = seconds(lambda: jit(target)(*args))
            again = jit(target)
            found.from_cache = seconds(lambda: again(*args))
        finally:
            config.cache = usual
    return lambda: again(*args)


def as_it_stands(case: Case, args: tuple[Any, ...]) -> Call:
    """numba on the source of the program."""
    from numba import njit
    function = njit(case.program)
    return lambda: function(*args)


def fastest_form(case: Case, args: tuple[Any, ...], found: Entered) -> Call:
    """The fastest of JAX's forms, by a few calls."""
    static = tuple(k for k, arg in enumerate(args) if isinstance(arg, int))
    given = [arg if isinstance(arg, int | float) else jax.tree.map(jax.device_put, arg) for arg in args]
    tried = []
    for again in (False, True) if case.is_derivative else (False,):
        for form in case.forms():
            Steps.again, Steps.taken = again, False
            call = blocking(jax.jit(form, static_argnums=static), given)
            first = seconds(call)
            if Steps.taken >= again:
                tried.append((min(seconds(call) for _ in range(7)), first, call))
    _, found.first[JAX], fastest = min(tried, key=lambda item: item[0])
    return fastest


def blocking(function: Callable[..., Any], given: list[Any]) -> Call:
    return lambda: jax.block_until_ready(function(*given))


def compare(case: Case, found: Entered) -> None:
    """Results against those of the first that has any: NumPy, else JAX, else numba by hand."""
    judge = next((name for name in (NUMPY, JAX, HAND) if name in found.results), None)
    for name in list(found.calls):
        wrong = judge and disagreement(found.results[name], found.results[judge], case.tolerance)
        if wrong:
            found.notes.append(f"{case.name}: {name}: {wrong}, beside {judge}")
            found.is_wrong |= name == OURS
            del found.calls[name]


def seconds(call: Call) -> float:
    started = perf_counter()
    call()
    return perf_counter() - started


def first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__


@contextmanager
def no_longer_than(limit: float) -> Iterator[None]:
    """Ends what takes longer, at the next step that Python takes."""
    def end(signum: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"takes more than {limit:.0f} s")
    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
