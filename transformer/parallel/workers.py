"""A thread that runs tasks one after the other, and what their results are until they are known.

    worker = Worker("cpu:0", cores=None)
    pending = worker.submit(np.sum, (x,))
    pending.result()                            # waits, and raises what the task raised

Tasks run in the order in which they came. What a task takes from an earlier one of the same worker is known when it
runs, so no task ever waits for another; an error takes the place of all results that rest on it.
"""

from __future__ import annotations

import atexit
import concurrent.futures.thread  # noqa: F401  (what it and logging do at a fork has to come after what is done here)
import logging  # noqa: F401
import os
import threading
import warnings
import weakref
from _thread import allocate_lock
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any

from ..run.dispatch import is_generating
from ..run.threads import limit
from ..settings import config

MOST_WAITING = 64                       # tasks: who submits more waits for the worker


class Pending:
    """The result of a task that may not have run yet. `whose` says of what, for messages."""

    __slots__ = ("whose", "value", "error", "is_ready", "_running", "__weakref__")

    def __init__(self, whose: str) -> None:
        self.whose = whose
        self.value: Any = None
        self.error: BaseException | None = None
        self.is_ready = False
        self._running: Any = allocate_lock()
        self._running.acquire()

    def finish(self, value: Any, error: BaseException | None) -> None:
        self.value, self.error, self.is_ready = value, error, True
        self._running.release()

    def result(self) -> Any:
        """Waits for the task. Raises what it raised."""
        if not self.is_ready:
            self.wait()
        if self.error is not None:
            raise self.error
        return self.value

    def wait(self) -> None:
        """Waits until the task is done, or has failed. A task that takes long is named, so that nobody has to guess
        what a program waits for."""
        waited = 0.0
        while not self._running.acquire(timeout=config.patience):
            waited += config.patience
            why = ", a function is being compiled" if is_generating() else ""
            warnings.warn(f"{self.whose} has been running for {waited:g} seconds{why}", RuntimeWarning, stacklevel=4)
        self._running.release()


def failed(whose: str, error: BaseException) -> Pending:
    """What takes the place of a value that is not to be had."""
    pending = Pending(whose)
    pending.finish(None, error)
    return pending


def nothing_pending() -> Pending:
    """What a worker waits for that has no task yet."""
    pending = Pending("what is done")
    pending.finish(None, None)
    return pending


class Part:
    """One of several results of a task."""

    __slots__ = ("pending", "k")

    def __init__(self, pending: Pending, k: int) -> None:
        self.pending, self.k = pending, k

    def result(self) -> Any:
        return self.pending.result()[self.k]


def known(value: Any) -> Any:
    """A value itself, of one that may be pending."""
    return value.result() if type(value) is Pending or type(value) is Part else value


class _OfThread(threading.local):
    works = False                       # whether the thread is that of a worker


_this_thread = _OfThread()


class Worker:
    """A thread that is started when it is first needed, on `cores` if they are given. Its compiled loops are shared by
    `threads` at most."""

    def __init__(self, name: str, cores: Sequence[int] | None = None, threads: int | None = None) -> None:
        self.name, self.cores, self.threads = name, cores, threads
        self._tasks: SimpleQueue[Any] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._starting, self._submitting = threading.Lock(), allocate_lock()
        self._newest = nothing_pending()
        _all.add(self)

    def submit(self, function: Callable[..., Any], args: Sequence[Any], name: str | None = None) -> Pending:
        """The result of a call, of which arguments may be pending. What a task of any worker submits is run at once, by
        that one: workers that wait for each other would wait for ever."""
        shown = name or getattr(function, "__name__", "a function")
        pending = Pending(f"{shown} on {self.name}")
        if _this_thread.works:
            run_task(function, args, pending)
            return pending
        self._put(function, args, pending)
        if self._tasks.qsize() > MOST_WAITING:
            pending.wait()
        return pending

    def _put(self, function: Callable[..., Any], args: Sequence[Any], pending: Pending) -> None:
        if self._thread is None:
            self._start()
        with self._submitting:                   # the newest is the last one in the queue
            self._newest = pending
            self._tasks.put((function, args, pending))

    @property
    def is_idle(self) -> bool:
        """Whether all that was submitted is done."""
        return self._newest.is_ready

    @property
    def is_current(self) -> bool:
        """Whether this is called by a task of the worker."""
        return threading.current_thread() is self._thread

    def stop(self) -> None:
        """Ends the thread when it has done all that it was given."""
        thread, self._thread = self._thread, None
        if thread is not None and thread is not threading.current_thread():
            self._tasks.put(None)
            thread.join(timeout=10)

    def _start(self) -> None:
        with self._starting:
            if self._thread is None:
                thread = threading.Thread(target=self._run, name=f"transformer {self.name}", daemon=True)
                thread.start()
                self._thread = thread

    def _run(self) -> None:
        _this_thread.works = True
        if self.cores and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, self.cores)
        is_limited = self.threads is None
        while (task := self._tasks.get()) is not None:
            if not is_limited:                   # there is nothing to limit before the first loop is compiled
                is_limited = limit(self.threads or 1) is not None
            run_task(*task)
            del task

    def drain(self) -> None:
        """Waits until all that was submitted is done."""
        if self._thread is not None and not self.is_current:
            pending = Pending(f"what was submitted to {self.name}")
            self._put(_nothing, (), pending)
            pending.wait()

    def renew(self) -> None:
        """In the child of a fork, where the thread is not."""
        self._tasks, self._thread = SimpleQueue(), None
        self._starting, self._submitting, self._newest = threading.Lock(), allocate_lock(), nothing_pending()


def _nothing() -> None:
    pass


def run_task(function: Callable[..., Any], args: Sequence[Any], pending: Pending) -> None:
    """Calls a function when its arguments are known, and notes what comes of it."""
    try:
        given = [known(arg) for arg in args]
    except BaseException as error:               # of a task before
        pending.finish(None, error)
        return
    try:
        pending.finish(function(*given), None)
    except BaseException as error:
        error.add_note(f"in {pending.whose}")
        pending.finish(None, error)


_all: weakref.WeakSet[Worker] = weakref.WeakSet()


def _stop_all() -> None:
    for worker in list(_all):
        worker.stop()


def _drain_all() -> None:
    """Before a fork: a child in which a module is half imported, or a lock is held, could not go on."""
    for worker in list(_all):
        worker.drain()


def _renew_all() -> None:
    for worker in list(_all):
        worker.renew()


atexit.register(_stop_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_drain_all, after_in_child=_renew_all)
