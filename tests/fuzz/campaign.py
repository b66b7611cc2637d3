"""Many programs: drawn, checked, counted, and made small where they fail."""

from __future__ import annotations

import contextlib
import re
import signal
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, Phase, given, reject, seed, settings

from .alike import draw_alike
from .checks import EVERY, Check
from .generate import FAMILIES, programs
from .lanes import LaneCheck
from .listed import FAMILIES as LISTED
from .listed import programs as listed_programs
from .listed_check import check_lists
from .program import Program
from .reduce import reduced
from .reference import Rejected
from .typed_check import check_types
from .typed_statements import FAMILIES as TYPED
from .typed_statements import programs as typed_programs
from .verdicts import Failure, Refused

draw_alike()

SLOWEST = 30                    # seconds of computing for one program


@dataclass(frozen=True)
class Outcome:
    """`status` is passed, rejected, refused or failed; `kind` says which cause it has."""

    status: str
    kind: str = ""
    detail: str = ""


@dataclass
class Found:
    """A program with its outcome, the smallest of its kind, and the chunk that it is from."""

    program: Program
    outcome: Outcome
    chunk: Chunk | None = None
    also: tuple[str, ...] = EVERY


@dataclass(frozen=True)
class Chunk:
    """Programs that are drawn together, the same ones for a number each time."""

    number: int
    count: int
    families: tuple[str, ...] = tuple(FAMILIES)

    def run(self, test: Callable[[Program], None], *phases: Phase) -> None:
        """Calls `test` with each program, and with none twice that it has let pass."""
        seen: set[str] = set()

        def once(program: Program) -> None:
            if program.text in seen:
                reject()                          # hypothesis draws another one instead
            test(program)
            seen.add(program.text)

        drawn = given(drawing(self.families)(self.families))(once)
        limits = settings(max_examples=self.count, database=None, deadline=None, phases=phases, derandomize=False,
                          suppress_health_check=list(HealthCheck), report_multiple_bugs=False)
        seed(self.number)(limits(drawn))()


def drawing(families: tuple[str, ...]) -> Any:
    """What draws programs of these families of statements."""
    if set(families) <= set(TYPED):
        return typed_programs
    return listed_programs if set(families) <= set(LISTED) else programs


@dataclass
class Tally:
    """What came of a number of programs."""

    statuses: Counter[str] = field(default_factory=Counter)
    constructs: Counter[str] = field(default_factory=Counter)
    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)
    smallest: dict[tuple[str, str], Found] = field(default_factory=dict)

    def add(self, program: Program, outcome: Outcome, chunk: Chunk | None = None, also: tuple[str, ...] = EVERY
            ) -> None:
        self.statuses[outcome.status] += 1
        if outcome.status == "passed":
            self.constructs.update(set(program.tags))
        key = outcome.status, outcome.kind
        self.kinds[key] += 1
        self._keep(key, Found(program, outcome, chunk, also))

    def _keep(self, key: tuple[str, str], found: Found) -> None:
        known = self.smallest.get(key)
        if key[0] != "passed" and (known is None or len(found.program.source) < len(known.program.source)):
            self.smallest[key] = found

    def update(self, other: Tally) -> None:
        self.statuses.update(other.statuses)
        self.constructs.update(other.constructs)
        self.kinds.update(other.kinds)
        for key, found in other.smallest.items():
            self._keep(key, found)

    def of(self, status: str) -> list[tuple[int, Found]]:
        """How often each kind with this status came, and its smallest program; the most frequent first."""
        keys = [key for key, _ in self.kinds.most_common() if key[0] == status]
        return [(self.kinds[key], self.smallest[key]) for key in keys]


class _Overtime(BaseException):
    """Not an error that the code under test could catch."""


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Ends what computes longer, however long it waits; only in the main thread of a system with timers."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def overtime(*_: Any) -> None:
        raise _Overtime

    before = signal.signal(signal.SIGPROF, overtime)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def outcome_of(program: Program, also: tuple[str, ...] = EVERY) -> Outcome:
    """What the checks say of a program."""
    try:
        with at_most(SLOWEST):
            check_program(program, also)
    except Rejected as rejection:
        return Outcome("rejected", str(rejection).split(":")[0])
    except Refused as refusal:
        return Outcome("refused", pattern(str(refusal)), str(refusal.__cause__))
    except Failure as failure:
        return Outcome("failed", failure.kind, failure.detail)
    except _Overtime:
        return Outcome("failed", "overtime", f"more than {SLOWEST} s")
    except Exception:
        return Outcome("failed", "error of the checks", traceback.format_exc())
    return Outcome("passed")


LANES = ("lanes",)              # in place of what else is checked: the program under vmap
TYPES = ("types",)              # or its numbers and dtypes, where it has several
LISTS = ("lists",)              # or value, gradient and exceptions, where it changes lists


def check_program(program: Program, also: tuple[str, ...]) -> None:
    if also == LANES:
        LaneCheck(program).run()
    elif also == TYPES:
        check_types(program)
    elif also == LISTS:
        check_lists(program)
    else:
        Check(program, also).run()


def pattern(message: str) -> str:
    """A message without names and numbers."""
    return re.sub(r"\d+", "0", re.sub(r"'[^']*'|`[^`]*`", "…", message.splitlines()[0]))


def outcomes(chunk: Chunk, also: tuple[str, ...] = EVERY) -> Tally:
    """What came of all programs of a chunk."""
    tally = Tally()
    chunk.run(lambda program: tally.add(program, outcome_of(program, also), chunk, also), Phase.generate)
    return tally


def smaller(found: Found, seconds: float = 60.0) -> Found:
    """A small program with an outcome of the same kind."""
    end = time.monotonic() + seconds
    program = found.program if found.chunk is None else shrunk(found, found.chunk, end - seconds / 2)
    program = reduced(program, lambda program: _is_alike(program, found), end - time.monotonic())
    return Found(program, outcome_of(program, kind_of(found)), None, found.also)


def kind_of(found: Found) -> tuple[str, ...]:
    """Which checks found it: of a program that fails alone all are tried."""
    return found.also if found.also in (LANES, TYPES, LISTS) else EVERY


def _is_alike(program: Program, found: Found) -> bool:
    outcome = outcome_of(program, kind_of(found))
    return (outcome.status, outcome.kind) == (found.outcome.status, found.outcome.kind)


def shrunk(found: Found, chunk: Chunk, end: float) -> Program:
    """The program as hypothesis shrinks it: the chunk is drawn again, and only what fails alike fails."""
    alike = {found.program.text: found.program}

    def test(program: Program) -> None:
        if tried and time.monotonic() > end:
            raise _Overtime
        # Until the program comes again, others need not be run.
        if program.text not in alike and not (tried and _is_alike(program, found)):
            return
        tried.append(program.text)
        alike[program.text] = program
        raise Failure(found.outcome.kind, found.outcome.detail)

    tried: list[str] = []
    with contextlib.suppress(Exception, _Overtime):
        chunk.run(test, Phase.generate, Phase.shrink)
    return min(alike.values(), key=lambda program: len(program.source))
