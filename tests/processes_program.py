"""What test_distributed.py runs in several processes: `mpiexec -n 2 python processes_program.py WHAT FOLDER`."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import transformer
from transformer import (
    BadArgument,
    NotSupported,
    all_gather,
    all_to_all,
    axis_index,
    axis_size,
    checkpoint,
    config,
    device_put,
    distributed,
    grad,
    pmap,
    pmax,
    pmean,
    ppermute,
    psum,
    psum_scatter,
    random,
    tree,
    vmap,
)
from transformer.parallel import program

RNG = np.random.default_rng(0)


class NotCompiled(program.Compiled):
    """A phase as it is printed: compiling takes seconds in every process, and is tested elsewhere."""

    def __init__(self, plain: Callable[..., Any], *options: Any) -> None:
        super().__init__(plain, *options)
        self.function, self.is_compiled = plain, False


program.Compiled = NotCompiled                                            # type: ignore[misc]


def own(rows: np.ndarray, each: int = 1) -> np.ndarray:
    """The rows of the devices of this process."""
    first = distributed.local_devices()[0].id
    return rows[each * first:each * (first + distributed.local_device_count())]


def check(function: Callable[..., Any], rows: np.ndarray, each: int = 1) -> None:
    """As vmap does it alone with all examples."""
    found, wanted = pmap(function, "i")(own(rows, each)), vmap(function, axis_name="i")(rows)
    for one, other in zip(tree.leaves(found), tree.leaves(wanted), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(np.asarray(one), own(other, each), rtol=1e-12, atol=1e-12)


def refused(error: type[Exception], words: str, call: Callable[[], Any]) -> None:
    """All processes raise it, and can go on."""
    try:
        call()
    except error as raised:
        assert words in str(raised), raised
    else:
        raise AssertionError(f"nothing was raised that says {words!r}")


# -- what they exchange ----------------------------------------------------------------------------


N = 3                                   # devices


def everything(x):
    square = np.stack([k * x for k in range(N)])
    return {"sum": psum(x, "i"), "mean": pmean(np.sum(x), "i"), "largest": pmax(x, "i"),
            "all": all_gather(x, "i")[(axis_index("i") + 1) % axis_size("i")],
            "from": ppermute(x, "i", [(k, (k + 1) % N) for k in range(N - 1)]), "alone": psum(2.0, "i"),
            "parts": all_to_all(square, "i", 0, 1), "own": psum_scatter(square, "i"),
            "random": random.uniform(random.fold_in(random.key(1), axis_index("i")), (2,)) + pmean(x[0], "i")}


def courses(x):
    while psum(x[0], "i") > 0.5:
        x = x / 2
    return x


def several_times(x, count):
    for _ in range(count):
        x = x + psum(x, "i")
    return x


def exchanges(folder: str) -> None:
    assert distributed.device_count() == N == len(distributed.devices())
    assert distributed.local_device_count() == 2 - distributed.process_index()
    check(everything, RNG.normal(size=(N, 3)))
    check(everything, RNG.normal(size=(N, 30_000)))              # is added in slices
    check(together, RNG.normal(size=(N, 3)))
    check(courses, np.abs(RNG.normal(size=(N, 3))))
    check(grad(lambda x: np.sum(x * psum(x * x, "i"))), RNG.normal(size=(N, 3)))
    check(lambda x: psum(x, "i") + axis_index("i"), RNG.normal(size=(2 * N, 3)), each=2)
    bits_are_the_same()
    what_parts_is_refused(folder)


def together(x):
    """Sums that are one exchange, of two dtypes, and one that is large."""
    small, rounded, large = np.sum(x), (10 * x).astype(np.int64), x[None] * np.ones((3000, 1))
    return psum(small, "i"), pmean(x, "i"), psum(rounded, "i"), psum(large, "i"), pmean(rounded, "i"), psum(2, "i")


def bits_are_the_same() -> None:
    for dtype, count in ((np.float32, 5), (np.float64, 40_001), (np.float16, 3)):
        rows = RNG.normal(size=(3, count)).astype(dtype)
        mapped = pmap(lambda x: psum(x, "i"), "i", out_axes=None)
        found, again = mapped(own(rows)), mapped(own(rows))
        assert found.dtype == dtype and found.tobytes() == again.tobytes()
        assert len(set(transformer.parallel.together.current().texts(found.tobytes().hex()))) == 1


def what_parts_is_refused(folder: str) -> None:
    """Differences are errors in all processes, and nothing is left of them."""
    me = distributed.process_index()
    rows = own(np.arange(1.0, 4.0))
    scaled = pmap(lambda x: psum(x, "i") * (3 + me), "i")
    refused(BadArgument, "Process 0 has `return x * 3`, process 1 has `return x * 4`", lambda: scaled(rows))
    summed = pmap(lambda x: psum(x, "i"), "i")
    refused(BadArgument, "`x: float64 (2,)`, process 1 has `x: float64 (3,)`",
            lambda: summed(np.ones((len(rows), 2 + me))))
    parting = pmap(lambda x: psum(x, "i") if x < 2.5 else x, "i")
    refused(BadArgument, "a loop or branch around a collective", lambda: parting(own(np.array([1.0, 2.0, 3.0]))))
    repeated = pmap(several_times, "i", in_axes=(0, None))
    refused(BadArgument, "that depends on 2`, process 1 has `a loop or branch around a collective that depends on 3",
            lambda: [repeated(rows, 2), repeated(rows, 2 + me)])
    scaled = pmap(lambda w, x: w * psum(x, "i"), "i", in_axes=(None, 0))
    refused(BadArgument, "`w, which devices share: float64 (2,) with sum", lambda: scaled(me + np.ones(2), rows))
    positive = pmap(lambda x: psum(x[x > 0], "i"), "i")
    refused(BadArgument, "psum of float64[2]`, process 1 has `psum of float64[1]",
            lambda: positive(own(np.array([[1.0, 2.0], [1.0, 2.0], [1.0, -1.0]]))))
    refused(BadArgument, "Process 0 has `there`, process 1 has `here`",
            lambda: distributed.barrier("here" if me else "there"))
    refused(BadArgument, "tree['w']: float64 ()", lambda: checkpoint.save(folder, {"w": float(me)}, 1))
    refused(TypeError, "has parts in other processes", lambda: checkpoint.save(folder, summed(rows), 1))
    refused(FileNotFoundError, "does not have a checkpoint", lambda: checkpoint.load(folder))
    refused(NotSupported, "inside another transformation", lambda: grad(lambda x: np.sum(summed(x)))(rows))
    refused(BadArgument, "but this is process", lambda: device_put(1.0, distributed.devices()[-me - 1 + 2 * me]))
    refused(BadArgument, "some of the processes", lambda: pmap(np.sin, devices=distributed.devices()[::-1])(rows))
    if me == 0:
        refused(BadArgument, "1 examples, but this process has", lambda: summed(np.ones(1)))
    config.cpu_devices += 1
    refused(BadArgument, "config.cpu_devices is", distributed.devices)
    config.cpu_devices -= 1
    local = pmap(lambda x: psum(x, "i"), "i", out_axes=None, devices=distributed.local_devices())
    assert local(rows) == np.sum(rows)                           # asks nobody
    np.testing.assert_array_equal(np.asarray(summed(rows)), np.full(len(rows), 6.0))
    assert device_put(1.0).device is distributed.local_devices()[0] is device_put(2.0, "cpu").device


# -- what becomes of them --------------------------------------------------------------------------


def checked(x):
    if x < 0:
        raise ValueError(f"{x} is negative")
    return psum(x, "i")


def raising() -> None:
    mapped = pmap(checked, "i")
    mapped(own(np.array([1.0, 2.0, 3.0])))
    print("raising")
    mapped(own(np.array([1.0, 2.0, -1.0])))
    print("not reached")


def loss(w, x):
    return np.mean((np.tanh(x @ w) - 1) ** 2)


def update(w, velocity, x):
    velocity = 0.9 * velocity - 0.1 * pmean(grad(loss)(w, x), "i")
    return w + velocity, velocity


def trained(folder: str, steps: int, dying: int | None) -> np.ndarray:
    """Parameters after so many steps, of which each is kept."""
    batches = np.random.default_rng(1).normal(size=(steps, distributed.device_count(), 4, 3))
    step = pmap(update, "i", in_axes=(None, None, 0), out_axes=None)
    start, state = 0, {"w": np.ones(3), "velocity": np.zeros(3)}
    try:
        start, state = checkpoint.load(folder)
    except FileNotFoundError:
        pass
    for k in range(start, steps):
        if k == dying and distributed.process_index() == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        w, velocity = step(state["w"], state["velocity"], own(batches[k]))
        state = {"w": w, "velocity": velocity}
        checkpoint.save(folder, state, k + 1)
    print(f"process {distributed.process_index()} went on from step {start}")
    return state["w"]


def first(folder: str) -> None:
    """What is printed when a process is killed may be lost with the launcher."""
    exchanges(folder)
    print("exchanged", flush=True)                     # before it is killed
    try:
        trained(folder, 6, dying=3)
    except distributed.ProcessError as error:
        (Path(folder) / "told").write_text(str(error))
        raise


def second(folder: str) -> None:
    """Goes on where the first one was killed, and comes to where nobody is killed."""
    found, wanted = trained(folder, 6, None), trained(folder + "/again", 6, None)
    assert found.tobytes() == wanted.tobytes() and np.any(found != 1)
    distributed.shutdown()
    assert distributed.process_count() == 1 and str(distributed.devices()[0]) == "cpu:0"
    distributed.initialize()
    assert distributed.process_count() == 2
    raising()


if __name__ == "__main__":
    config.cpu_devices = 1 if os.environ.get("PMI_RANK") == "1" else 2
    distributed.initialize(timeout=60)
    distributed.initialize()
    {"first": first, "second": second}[sys.argv[1]](sys.argv[2])
