"""Several processes, on one machine or on many, that run one program: `mpiexec -n 4 python train.py`.

    from transformer import distributed, pmap
    distributed.initialize()                    # first thing; in one process alone there is nothing to do
    step = pmap(update, "devices", …)           # on the devices of all processes; each gives its own examples

It takes mpi4py and an MPI: ``pip install source-transformer[mpi]``. See docs/distributed.md.
"""

from __future__ import annotations

import atexit
import importlib.util
import os
import platform
import sys
import time
from importlib import metadata
from typing import Any

from .parallel import device as _devices
from .parallel.device import device_count, devices, local_device_count, local_devices, process_count, process_index
from .parallel.news import LEFT, ProcessError
from .parallel.processes import Processes
from .parallel.together import current, set_current
from .settings import config

__all__ = ["ProcessError", "barrier", "device_count", "devices", "initialize", "is_initialized", "local_device_count",
           "local_devices", "process_count", "process_index", "shutdown"]

# What launchers say of how many processes they have started: MPICH and Intel MPI, Open MPI, Slurm.
LAUNCHED = "PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"
GRACE = 10.0                            # seconds that the others have to say what they know, before a failed job ends
FORWARDING = 0.2                        # seconds in which a launcher takes what was printed, which it may drop else

_state: dict[str, Any] = {"is_initialized": False, "of": None}


def initialize(*, timeout: float = 600.0) -> None:
    """Connects the processes of a job: from here on, `devices()` and `pmap` are over the devices of all of them.

    Every process calls it before it makes arrays on devices or calls a `pmap`, from the thread that will call them
    later. In a single process, and when called again, it does nothing. Processes that may use the same cores divide
    them, for the threads of compiled functions (`config.threads`, unless ``TRANSFORMER_THREADS`` is set) and for
    those of devices.

    Args:
        timeout: after so many seconds of waiting for another process, the job is given up.

    Raises ImportError if several processes were started but mpi4py is missing, and RuntimeError if mpi4py belongs to
    another MPI than the one that started them, or if versions differ between processes.

    >>> from transformer import distributed
    >>> distributed.initialize()
    >>> distributed.process_index(), distributed.process_count()
    (0, 1)
    """
    if is_initialized():
        return
    mpi = _mpi()
    if mpi is not None and mpi.COMM_WORLD.Get_size() > 1:
        _join(mpi, timeout)
    _state.update(is_initialized=True, of=os.getpid())


def is_initialized() -> bool:
    """Whether `initialize` was called, and `shutdown` was not."""
    return _state["is_initialized"] and _state["of"] == os.getpid()


def shutdown() -> None:
    """Waits for all processes to call it, and disconnects them: each has its own devices again.

    It is called automatically at the end of a program. Raises `ProcessError` if another process has failed.
    """
    group = current()
    if group is not None and is_initialized():
        with group.call("shutdown"):
            group.compare("shutdown")
        _part()
    _state.update(is_initialized=False)


def barrier(name: str = "barrier") -> None:
    """Waits until all processes have called it. As JAX's `sync_global_devices`.

    Raises `BadArgument` if they call it with different names, and `ProcessError` if one has failed.
    """
    group = current()
    if group is not None:
        with group.call(name):
            group.compare(name)


# -- coming together -------------------------------------------------------------------------------


def _mpi() -> Any:
    """MPI, initialised, if it is there; it is not asked for where nothing says that there are several processes."""
    launched = max((int(os.environ[name]) for name in LAUNCHED if os.environ.get(name, "").isdigit()), default=1)
    if importlib.util.find_spec("mpi4py") is None:
        if launched > 1:
            raise ImportError(f"{launched} processes were started, but mpi4py is missing, which connects them to each "
                              "other: pip install 'source-transformer[mpi]'")
        return None
    import mpi4py
    if "mpi4py.MPI" not in sys.modules:
        mpi4py.rc.thread_level = "funneled"      # all calls come from this thread
    from mpi4py import MPI
    if launched > 1 and MPI.COMM_WORLD.Get_size() == 1:
        raise RuntimeError(f"{launched} processes were started, but they are not connected: mpi4py belongs to another "
                           f"MPI ({MPI.Get_library_version().splitlines()[0].strip()}) than the launcher. Use the "
                           "mpiexec of that one, or install mpi4py from its source for the MPI of this computer.")
    if MPI.Query_thread() < MPI.THREAD_FUNNELED:
        raise RuntimeError("MPI was initialised without threads; import transformer.distributed and call initialize() "
                           "before mpi4py.MPI is imported")
    return MPI


def _join(mpi: Any, timeout: float) -> None:
    group = Processes(mpi, timeout)
    found = group.data.allgather((_versions(), config.cpu_devices, _cores()))
    for who, (versions, *_) in enumerate(found):
        for name, version in versions.items():
            if version != found[0][0][name]:
                raise RuntimeError(f"process {who} has {name} {version}, process 0 has {found[0][0][name]}; all need "
                                   "the same, or their results would differ")
    here = sorted([group.index, *(who for who, _ in group.news.neighbours)])
    sharing = [who for who in here if found[who][2] == found[group.index][2]]
    if "TRANSFORMER_THREADS" not in os.environ:
        config.threads = max(1, config.threads // len(sharing))
    _devices.join(group.index, [count for _, count, _ in found], _part_of(_cores(), sharing, group.index))
    set_current(group)
    atexit.register(_leave, group, os.getpid())


def _versions() -> dict[str, str]:
    names = "numpy", "scipy", "numba", "source-transformer"
    return {"Python": platform.python_version(), **{name: _version(name) for name in names}}


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:        # it runs from its sources
        return "unknown"


def _cores() -> list[int]:
    """Those that this process may use; others may have the same, unless the launcher has bound processes to some."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def _part_of(cores: list[int], sharing: list[int], index: int) -> list[int]:
    """The part of one of the processes that share cores."""
    k, each = sharing.index(index), len(cores) // len(sharing)
    return cores[k * each:(k + 1) * each]


def _part() -> None:
    set_current(None)
    _devices.part()


# -- the end of a process --------------------------------------------------------------------------


def _leave(group: Processes, process: int) -> None:
    """At the end of a program: waits for the others, who may need this process until they end, too. After an error
    everybody has some time to say what it knows; then the job ends with an exit code that says so."""
    if process != os.getpid() or group.mpi.Is_finalized():       # the child of a fork
        return
    error = getattr(sys, "last_value", None)
    failure = f"{type(error).__name__}: {error}" if error is not None else group.lost
    group.news.send(LEFT, group.exchanges, failure or "it has come to the end of its program")
    until = time.monotonic() + GRACE if failure else float("inf")
    while len(group.news.left()) < group.count - 1 and time.monotonic() < until:
        group.news.receive()
        if group.news.dead() is not None:
            failure = failure or "died"
            break
        time.sleep(0.002)
    if failure:
        sys.stdout.flush()
        sys.stderr.flush()
        time.sleep(FORWARDING)
        group.mpi.COMM_WORLD.Abort(1)
        os._exit(1)                              # the launcher may be gone, too
    group.news.finish()
