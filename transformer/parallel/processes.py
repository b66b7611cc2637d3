"""The processes of a job that MPI has started: what one of them gets of the others, and what happens if one fails.

    group = Processes(MPI, timeout=600.0)
    group.rows(whole, counts, "all_gather")     # the rows of all processes, in their order
    group.combined(array, np.add, "psum")       # the sum, the same bits everywhere
    group.compare("step 7")                     # raises where processes are about to do different things

Every process comes to the same exchanges in the same order, all from the thread that has made the group: MPI is asked
for no more (MPI_THREAD_FUNNELED). Exchanges are begun and then waited for, so that who waits can hear what has become
of the others (`news`), and never waits for ever.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..core.errors import BadArgument
from ..settings import config
from .news import LOST, WAITS, News, ProcessError

LARGE = 1 << 16                         # bytes of all processes: from here on each adds a part of an array
SPINNING = 2e-3                         # seconds of waiting for others without sleeping
MOVING = 1.0                            # the same, while bytes move
SHORT_SLEEP, LONG_SLEEP = 5e-5, 1e-3    # seconds
LOOKING = 64                            # tests of a request between two looks at the news
give_way: Callable[[], None] = getattr(os, "sched_yield", lambda: None)


class Processes:
    """All processes, of which this one is `index` of `count`. A wait longer than `timeout` seconds is given up."""

    def __init__(self, mpi: Any, timeout: float) -> None:
        world = mpi.COMM_WORLD
        self.mpi, self.timeout = mpi, timeout
        self.index, self.count = world.Get_rank(), world.Get_size()
        self.data = world.Dup()
        self.news = News(mpi, world.Dup())
        self.owner = os.getpid(), threading.get_ident()
        self.exchanges = 0                      # that were begun
        self.doing = "initialize"               # the call that is on
        self.lost: str | None = None            # why nothing can be exchanged any more
        self._everyones: Exception | None = None    # what all have raised at the same place

    # -- calls -------------------------------------------------------------------------------

    @contextmanager
    def call(self, name: str) -> Iterator[None]:
        """Around what all processes do together. Who raises something in it when exchanges have begun is told of, and
        the others stop, too: they may be in the middle of one. Before that, or of what all raise, nobody is left
        waiting, and the process may go on."""
        self._check()
        self.doing, before = name, self.exchanges
        try:
            yield
        except BaseException as error:
            if self.lost is None and self.exchanges > before and error is not self._everyones:
                self._lose(told(error), self.exchanges)
            raise

    def _check(self) -> None:
        if self.lost is not None:
            raise ProcessError(f"this process has lost its connection to the others: {self.lost}")
        if (os.getpid(), threading.get_ident()) != self.owner:
            raise BadArgument("a collective operation of all processes is called from a thread other than that of "
                              "initialize(), or from a child process",
                              why="Processes must make the same calls in the same order, and MPI is used from one "
                                  "thread.", instead="Call it from that thread, or use devices=local_devices().")

    # -- what is exchanged -------------------------------------------------------------------

    def rows(self, whole: np.ndarray, counts: Sequence[int], what: str) -> np.ndarray:
        """Fills up an array of rows, of which the processes have so many each, one after the other; each has put its
        own in place. Gives the array."""
        if all(count == counts[0] for count in counts):
            request = self.data.Iallgather(self.mpi.IN_PLACE, [_bytes(whole), self.mpi.BYTE])
        else:
            sizes = [count * whole[:1].nbytes for count in counts]
            request = self.data.Iallgatherv(self.mpi.IN_PLACE, [_bytes(whole), (sizes, _starts(sizes)), self.mpi.BYTE])
        self.complete([request], what, whole.nbytes)
        return whole

    def combined(self, own: np.ndarray, combine: np.ufunc, what: str) -> np.ndarray:
        """The sum, or the largest or smallest, of the arrays of all processes. Everybody adds in the order of the
        processes, so that it has the same bits everywhere and in every run, which MPI promises of no sum of its own.
        What is small goes from all to all at once; of what is large everybody adds a slice, and they are put
        together."""
        if own.nbytes * self.count < LARGE:
            everyones = np.empty((self.count, *own.shape), own.dtype)
            everyones[self.index] = own
            total = np.empty_like(everyones[0])
            _combine(combine, self.rows(everyones, [1] * self.count, what), total)
            return total
        flat = np.ascontiguousarray(own).reshape(-1)
        ends = [own.size * k // self.count for k in range(self.count + 1)]
        slices = [flat[start:end] for start, end in zip(ends, ends[1:])]
        total = np.empty(own.size, own.dtype)
        _combine(combine, self.blocks(slices, [slices[self.index].shape] * self.count, what),
                 total[ends[self.index]:ends[self.index + 1]])
        return self.rows(total, [each.size for each in slices], what).reshape(own.shape)

    def blocks(self, sent: Sequence[np.ndarray], shapes: Sequence[tuple[int, ...]], what: str) -> list[np.ndarray]:
        """What each process has sent here, in these shapes; to each goes one of the arrays, which are contiguous. The
        one for this process is handed on as it is."""
        others = [k for k in range(self.count) if k != self.index]
        found = [np.empty(shape, sent[0].dtype) if k != self.index else sent[k] for k, shape in enumerate(shapes)]
        self.handed_on([(sent[k], k, 0) for k in others], [(found[k], k, 0) for k in others], what,
                       sum(each.nbytes for each in sent))
        return found

    def handed_on(self, sent: Sequence[tuple[np.ndarray, int, int]], received: Sequence[tuple[np.ndarray, int, int]],
                  what: str, size: int) -> None:
        """Sends arrays, each with a process and a number, and receives others; `size` bytes are about what one process
        has."""
        requests = [self.data.Irecv([_bytes(array), self.mpi.BYTE], process, tag) for array, process, tag in received]
        requests += [self.data.Isend([_bytes(np.ascontiguousarray(array)), self.mpi.BYTE], process, tag)
                     for array, process, tag in sent]
        self.complete(requests, what, size)

    def texts(self, text: str) -> list[str]:
        """What each process has to say."""
        content = np.frombuffer(text.encode(), np.uint8)
        sizes = np.zeros((self.count, 1), np.int64)
        sizes[self.index] = content.size
        counts = self.rows(sizes, [1] * self.count, "an error")[:, 0].tolist()
        starts = _starts(counts)
        whole = np.zeros(sum(counts) or 1, np.uint8)
        whole[starts[self.index]:starts[self.index] + content.size] = content
        self.rows(whole, counts, "an error")
        return [whole[start:start + count].tobytes().decode() for start, count in zip(starts, counts)]

    def by_first(self, function: Callable[[], Any]) -> Any:
        """What a function gives in the first process, where alone it is called, in all of them, or what it raises."""
        content = b""
        if self.index == 0:
            try:
                content = pickle.dumps((function(), None))
            except Exception as error:
                content = _pickled(error)
        size = np.array([len(content)])
        self.complete([self.data.Ibcast([size, self.mpi.INT64_T], 0)], "process 0")
        whole = np.frombuffer(content, np.uint8).copy() if content else np.empty(int(size[0]), np.uint8)
        self.complete([self.data.Ibcast([whole, self.mpi.BYTE], 0)], "process 0")
        found, self._everyones = pickle.loads(whole.tobytes())
        if self._everyones is not None:
            raise self._everyones
        return found

    # -- whether all do the same -------------------------------------------------------------

    @staticmethod
    def digest(text: str) -> int:
        """A number of 62 bits for a text."""
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) >> 2

    def compare(self, text: str, what: str = "the comparison") -> None:
        """Raises `BadArgument` in all processes where they give different texts, and says which and where."""
        self.begin_comparison(self.digest(text), lambda: text, what)()

    def begin_comparison(self, number: int, text: Callable[[], str], what: str) -> Callable[[], None]:
        """The same for a digest of a text; what it gives waits for the outcome."""
        extremes = np.array([number, -number])
        request = self.data.Iallreduce(self.mpi.IN_PLACE, [extremes, self.mpi.INT64_T], self.mpi.MIN)
        self.exchanges += 1

        def finish() -> None:
            self._wait([request], what)
            if extremes[0] != -extremes[1]:
                found = self.texts(f"{self.doing}\n{text()}")
                self._everyones = _parted(found)
                raise self._everyones
        return finish

    # -- waiting -----------------------------------------------------------------------------

    def complete(self, requests: list[Any], what: str, size: int = 0) -> None:
        """Waits for exchanges that were begun, of so many bytes. Raises `ProcessError` where it is in vain."""
        self.exchanges += 1
        if size >= LARGE:                       # it moves on while nobody sleeps: from when all are there
            self._wait([self.data.Ibarrier()], what)
        self._wait(requests, what, MOVING if size >= LARGE else SPINNING)

    def _wait(self, requests: list[Any], what: str, spinning: float = SPINNING) -> None:
        try:
            self._wait_watching(requests, what, spinning)
        except BaseException as error:          # others may see it complete, this process never will
            self._lose(told(error), self.exchanges - 1)
            raise

    def _lose(self, why: str, exchanges: int) -> None:
        """Nothing can be exchanged any more, after so many exchanges."""
        self.lost = why
        self.news.send(LOST, exchanges, f"{self.doing}: {why}")

    def _wait_watching(self, requests: list[Any], what: str, spinning: float) -> None:
        done = self.mpi.Request.Testall
        if done(requests):
            return
        start, tests, watch = time.perf_counter(), 0, _Watch(self, what)
        while not done(requests):
            tests += 1
            waited = time.perf_counter() - start
            if waited > spinning or tests % LOOKING == 0:
                watch.look(waited)
            if waited < spinning:
                give_way()                      # processes may be more than cores
            else:
                time.sleep(SHORT_SLEEP if waited < 50 * spinning else LONG_SLEEP)


class _Watch:
    """A look at the others, while this process waits for them."""

    def __init__(self, group: Processes, what: str) -> None:
        self.group, self.what = group, what
        self.warned = config.patience
        self.has_told = False

    def look(self, waited: float) -> None:
        group, news = self.group, self.group.news
        place = f"{self.what} of {group.doing}"
        news.receive()
        reason = news.reason_to_stop(group.exchanges)
        if reason is not None:
            raise ProcessError(f"{reason.rstrip('.')}. Process {group.index} waited for it at {place}")
        asked = waited > config.patience / 2 or news.waits_at(group.exchanges)
        if asked and not self.has_told:         # who waits says so, and is not searched for
            self.has_told = True
            news.send(WAITS, group.exchanges, place)
        if waited > self.warned:
            self.warned += config.patience
            warnings.warn(f"process {group.index} has been waiting for {waited:.3g} seconds at {place}; "
                          f"{self._missing()} not there yet", RuntimeWarning, stacklevel=2)
        if waited > group.timeout:
            raise ProcessError(f"process {group.index} has waited for {waited:.3g} seconds at {place}, and "
                               f"{self._missing()} not there yet; initialize(timeout=...) sets the limit")

    def _missing(self) -> str:
        there = {self.group.index, *self.group.news.waits_at(self.group.exchanges)}
        missing = [str(k) for k in range(self.group.count) if k not in there]
        return f"process {missing[0]} is" if len(missing) == 1 else f"processes {', '.join(missing)} are"


def told(error: BaseException) -> str:
    """An error with its notes, in which device and phase are, in a line."""
    if isinstance(error, ProcessError):
        return str(error)
    first = str(error).partition("\n")[0]
    notes = "; ".join(getattr(error, "__notes__", ()))
    return f"{type(error).__name__}: {first}" + (f" ({notes})" if notes else "")


def _pickled(error: Exception) -> bytes:
    """Nothing and an error, for other processes."""
    try:
        return pickle.dumps((None, error))
    except Exception:                            # of a class that cannot be handed on
        return pickle.dumps((None, RuntimeError(told(error))))


def _parted(texts: list[str]) -> BadArgument:
    """Says which processes say something else than the first one, and the first line of it."""
    others = [k for k, text in enumerate(texts) if text != texts[0]]
    mine, theirs = texts[0].splitlines(), texts[others[0]].splitlines()
    pairs = [(a, b) for a, b in zip(mine, theirs) if a != b]
    a, b = pairs[0] if pairs else (f"{len(mine)} lines", f"{len(theirs)} lines")
    named = "processes " + ", ".join(map(str, others)) if len(others) > 1 else f"process {others[0]}"
    return BadArgument(f"{named} and process 0 make different calls",
                       why=f"Process 0 has `{a.strip()}`, process {others[0]} has `{b.strip()}`.",
                       instead="Make the same calls in all processes, for arrays of the same shapes, and "
                               "initialise shared state with the same values.")


def _bytes(array: np.ndarray) -> np.ndarray:
    return array.reshape(-1).view(np.uint8)


def _starts(sizes: Sequence[int]) -> list[int]:
    return [sum(sizes[:k]) for k in range(len(sizes))]


def _combine(combine: np.ufunc, rows: Sequence[np.ndarray] | np.ndarray, total: np.ndarray) -> None:
    """Combines rows in their order."""
    combine(rows[0], rows[1], out=total)
    for row in rows[2:]:
        combine(total, row, out=total)
