"""Which devices there are, and which one is used where nothing else is said."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from ..core.errors import BadArgument
from ..settings import config
from .workers import Pending, Worker

KINDS = "cpu", "cuda"


class Device:
    """One device: a thread that runs functions one after the other, on cores of its own where there are enough.

    `kind` (also `platform`) is ``"cpu"``, `id` its number, `process_index` the process that it is of."""

    worker: Worker

    def __init__(self, kind: str, id: int, process_index: int = 0, cores: Sequence[int] | None = None,
                 threads: int | None = None) -> None:
        self.kind, self.id, self.process_index = kind, id, process_index
        self._begin(cores, threads)

    def _begin(self, cores: Sequence[int] | None, threads: int | None) -> None:
        self.worker = Worker(str(self), cores, threads)

    @property
    def platform(self) -> str:
        return self.kind

    def submit(self, function: Any, args: Sequence[Any], name: str | None = None) -> Pending:
        return self.worker.submit(function, args, name)

    def current(self) -> AbstractContextManager[Any]:
        """A `with` in which this thread works for the device."""
        return NOTHING

    def __str__(self) -> str:
        return f"{self.kind}:{self.id}"

    def __repr__(self) -> str:
        return f"Device({str(self)!r})"

    def __reduce__(self) -> Any:
        return _of, (self.kind, self.id)

    def _number(self, id: int, process_index: int) -> None:
        """A number among the devices of all processes; arrays stay where they are."""
        self.id, self.process_index = id, process_index
        self.worker.name = str(self)


NOTHING = nullcontext()


class Gpu(Device):
    """A GPU of this process; its thread is one of those that ask it for something."""

    def __init__(self, id: int) -> None:
        self.kind, self.id = "cuda", id
        self._begin(None, None)

    process_index = property(lambda self: process_index())

    def submit(self, function: Any, args: Sequence[Any], name: str | None = None) -> Pending:
        return self.worker.submit(self._run, (function, *args), name or getattr(function, "__name__", None))

    def _run(self, function: Any, *args: Any) -> Any:
        with self.current():
            return function(*args)

    def current(self) -> AbstractContextManager[Any]:
        from ..run.gpu.streams import On
        return On(self.id)


class Elsewhere(Device):
    """A device of another process: it has a name, and `pmap` may run there, but nothing is put there from here."""

    def _begin(self, cores: Sequence[int] | None, threads: int | None) -> None:
        pass

    def submit(self, function: Any, args: Sequence[Any], name: str | None = None) -> Pending:
        raise _elsewhere(self)


def _elsewhere(device: Device) -> BadArgument:
    return BadArgument(f"{device} belongs to process {device.process_index}, but this is process {process_index()}",
                       why="A process can only use its own devices.", instead="Pass one of local_devices().")


def _of(kind: str, id: int) -> Device:
    return devices(kind)[id]


@cache
def _cpus(count: int) -> tuple[Device, ...]:
    """So many devices, which share the cores of this process, and the threads on them; each has some alone, if there
    are enough."""
    usable = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    return tuple(Device("cpu", k, cores=_cores_of(k, usable, count), threads=_threads_of(usable, count))
                 for k in range(count))


def _cores_of(k: int, usable: Sequence[int], count: int) -> Sequence[int] | None:
    each = len(usable) // count if count > 1 else 0
    return usable[k * each:(k + 1) * each] or None


def _threads_of(usable: Sequence[int], count: int) -> int | None:
    return max(1, (len(usable) or os.cpu_count() or 1) // count) if count > 1 else None


def devices(kind: str | None = None) -> list[Device]:
    """The devices of all processes, of one kind (``"cpu"``, ``"cuda"``) or of the default kind. As `jax.devices`.

    `config.cpu_devices`, or ``TRANSFORMER_CPU_DEVICES``, sets the number of CPU devices: with eight, you can develop
    on one computer what will run on eight devices. Raises `BadArgument` if there are none.

    >>> import transformer
    >>> transformer.devices("cpu")[0]
    Device('cpu:0')
    """
    kind = kind or default_backend()
    if kind not in KINDS:
        raise BadArgument(f"{kind!r} is not a kind of device", instead="Pass 'cpu' or 'cuda'.")
    if kind == "cuda":
        return list(_gpus())
    return list(_cpus(config.cpu_devices)) if not _together.all else _together.checked()


@dataclass
class _Together:
    """The devices of several processes that have been brought together; `own` of them belong to this one."""

    index: int = 0
    count: int = 1
    own: int = 0
    all: list[Device] = field(default_factory=list)

    def checked(self) -> list[Device]:
        if config.cpu_devices != self.own:
            raise BadArgument(f"config.cpu_devices is {config.cpu_devices}, but was {self.own} when the processes were "
                              "connected", instead="Set it before distributed.initialize().")
        return list(self.all)


_together = _Together()


def join(index: int, counts: Sequence[int], cores: Sequence[int]) -> None:
    """This process is one of several, which have so many devices each. Devices are numbered through all of them; those
    of this process have these cores, where their threads have not begun."""
    _together.index, _together.count, _together.own = index, len(counts), counts[index]
    for k, device in enumerate(_cpus(counts[index])):
        device.worker.cores = _cores_of(k, cores, counts[index])
        device.worker.threads = _threads_of(cores, counts[index])
    own = iter(_cpus(counts[index]))
    owners = [who for who, count in enumerate(counts) for _ in range(count)]
    _together.all = [next(own) if who == index else Elsewhere("cpu", id, who) for id, who in enumerate(owners)]
    for id, device in enumerate(_together.all):
        if not isinstance(device, Elsewhere):
            device._number(id, index)


def part() -> None:
    """This process is alone again."""
    for id, device in enumerate(_cpus(_together.own)):
        device._number(id, 0)
    _together.index, _together.count, _together.own, _together.all = 0, 1, 0, []


def _gpus() -> tuple[Gpu, ...]:
    """The GPUs of this process. Raises `BadArgument` where there are none."""
    from ..run.gpu import devices as gpu_devices
    from ..run.gpu import library as gpu
    reason = gpu.why_not()
    if reason is not None:
        raise BadArgument("no CUDA device is available", why=reason, instead="Use devices('cpu').")
    return _gpus_of(gpu_devices.count())


@cache
def _gpus_of(count: int) -> tuple[Gpu, ...]:
    return tuple(map(_gpu, range(count)))


@cache
def _gpu(id: int) -> Gpu:
    """The same however many there are."""
    return Gpu(id)


def current_gpu() -> Gpu:
    """The GPU of what says nothing else: that of `default_device`, or the current one of CuPy."""
    from ..run.gpu.devices import current
    return _chosen.device if isinstance(_chosen.device, Gpu) else _gpu(current())


def local_devices(kind: str | None = None) -> list[Device]:
    """The devices of this process."""
    return [device for device in devices(kind) if device.process_index == process_index()]


def device_count(kind: str | None = None) -> int:
    """The number of devices of all processes."""
    return len(devices(kind))


def local_device_count(kind: str | None = None) -> int:
    """The number of devices of this process."""
    return len(local_devices(kind))


def process_index() -> int:
    """The number of this process, from 0.

    >>> process_index(), process_count()
    (0, 1)
    """
    return _together.index


def process_count() -> int:
    """How many processes there are: one, unless `distributed.initialize` has brought several together."""
    return _together.count


def default_backend() -> str:
    """The kind of the default device: ``"cpu"``.

    >>> default_backend()
    'cpu'
    """
    return "cpu"


class _Chosen(threading.local):
    device: Device | None = None


_chosen = _Chosen()


@contextmanager
def default_device(device: Device | str) -> Iterator[Device]:
    """Makes a device the default one inside the `with`, in this thread.

    >>> import transformer
    >>> with transformer.default_device("cpu:0") as device:
    ...     device.id
    0
    """
    before, _chosen.device = _chosen.device, device_of(device)
    try:
        yield _chosen.device
    finally:
        _chosen.device = before


def chosen_device() -> Device:
    """The device of what says nothing else."""
    return _chosen.device or local_devices()[0]


def device_of(given: Any) -> Device:
    """A device of this process, of itself or of a text such as ``"cpu"`` or ``"cpu:1"``. Raises `BadArgument` for
    others."""
    found = any_device(given)
    if isinstance(found, Elsewhere):
        raise _elsewhere(found)
    return found


def any_device(given: Any) -> Device:
    """The same, where the device may be of another process; ``"cpu"`` is the first one of this."""
    if isinstance(given, Device):
        return given
    if isinstance(given, str):
        kind, _, number = given.partition(":")
        found = devices(kind) if number else local_devices(kind)
        if (number or "0").isdigit() and int(number or 0) < len(found):
            return found[int(number or 0)]
        raise BadArgument(f"there is no device {given!r}", why=f"The devices are {', '.join(map(str, found))}.",
                          instead="Set TRANSFORMER_CPU_DEVICES to create more." if kind == "cpu" else None)
    raise BadArgument(f"{given!r} is not a device", instead="Pass one of devices(), or a string such as 'cpu:0'.")
