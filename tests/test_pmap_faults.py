"""Devices under stress: many callers, interruptions, forks, long waits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from transformer import (
    BadArgument,
    config,
    default_device,
    device_count,
    devices,
    jit,
    local_devices,
    pmap,
    ppermute,
    psum,
)
from transformer.parallel.workers import Pending, Worker
from transformer.run.threads import limit

DEVICES = 4


@pytest.fixture(autouse=True)
def several(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "cpu_devices", DEVICES)


def neighbours(x):
    received = ppermute(x, "i", [(k, (k + 1) % DEVICES) for k in range(DEVICES)])
    return (x - received) / psum(np.abs(x), "i")


def wanted(x: np.ndarray) -> np.ndarray:
    return (x - np.roll(x, 1, axis=0)) / np.abs(x).sum(axis=0)


def test_many_calls_from_many_threads() -> None:
    """Phases of one call stand between those of others in the queues, and none waits for ever."""
    mapped = pmap(neighbours, "i")

    def call(seed: int) -> bool:
        x = np.random.default_rng(seed).normal(size=(DEVICES, 3))
        return np.allclose(mapped(x), wanted(x))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(call, range(1000)))


def test_devices_run_at_the_same_time() -> None:
    """Two tasks that meet each other are on two threads."""
    meeting = threading.Barrier(2, timeout=30)
    tasks = [device.submit(meeting.wait, ()) for device in devices()[:2]]
    assert sorted(task.result() for task in tasks) == [0, 1]


def test_devices_share_out_threads() -> None:
    """The loops that a device runs use its part of the processors."""
    jit(np.sin)(np.ones(10))                      # starts the threads
    if limit(1) is None:
        pytest.skip("there is no TBB")
    before = limit(4)
    share = max(1, len(os.sched_getaffinity(0)) // DEVICES) if hasattr(os, "sched_getaffinity") else None
    for device in devices():
        found = device.submit(limit, (1,)).result()
        assert found == device.worker.threads and share in (None, found)
    assert before == 1 and limit(config.threads) == min(4, os.cpu_count() or 1)


def test_short_ways_are_taken_and_left() -> None:
    """Calls of one kind are prepared; another kind, or another number of devices, is another call."""
    scaled = pmap(lambda t, k: t["x"] * k / psum(np.sum(t["x"]), "i"), "i", in_axes=(0, None))
    x = np.random.default_rng(0).normal(size=(DEVICES, 3)) + 4
    for given in (x, x, x.astype(np.float32), x[:2], np.concatenate([x, x]), x, pmap(lambda x: 1 * x)(x), x):
        for k in (2, 3, 2.5):
            np.testing.assert_allclose(np.asarray(scaled({"x": given}, k)), given * k / np.sum(given), rtol=1e-5)
    assert scaled._quick.find
    config.cpu_devices = 2
    found = scaled({"x": x}, 2)
    assert len(found.shards) == 2
    np.testing.assert_allclose(np.asarray(found), 2 * x / np.sum(x))


def test_calls_by_devices_do_not_wait_for_each_other() -> None:
    mapped = pmap(neighbours, "i")
    x = np.random.default_rng(1).normal(size=(DEVICES, 20_000))
    compiled = [jit(np.sum, device=device) for device in devices()]

    def both(k: int) -> Any:
        return np.asarray(mapped(x)), compiled[(k + 1) % DEVICES](x)

    tasks = [device.submit(both, (k,)) for k, device in enumerate(devices())]
    for task in tasks:
        found, total = task.result()
        np.testing.assert_allclose(found, wanted(x))
        np.testing.assert_allclose(total, np.sum(x))


def test_tasks_of_a_device_are_in_order() -> None:
    done: list[int] = []
    worker = Worker("alone")
    tasks = [worker.submit(done.append, (k,)) for k in range(200)]       # more than may wait
    tasks[-1].result()
    assert done == list(range(200))
    worker.stop()


def test_errors_take_the_place_of_what_rests_on_them() -> None:
    worker = Worker("alone")
    first = worker.submit(lambda: 1 // 0, (), "the first")
    second = worker.submit(lambda x: x + 1, (first,), "the second")
    with pytest.raises(ZeroDivisionError) as caught:
        second.result()
    assert caught.value.__notes__ == ["in the first on alone"]
    assert worker.submit(lambda: 5, ()).result() == 5
    worker.stop()


def test_who_waits_long_is_told_for_what(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "patience", 0.01)
    pending = Pending("step_phase2 on cpu:1")
    threading.Timer(0.05, pending.finish, (7, None)).start()
    with pytest.warns(RuntimeWarning, match="step_phase2 on cpu:1 has been running for"):
        assert pending.result() == 7


PROGRAM = """
import os, signal, sys, threading, time
import numpy as np
from transformer import config, devices, pmap, psum
signal.signal(signal.SIGINT, signal.default_int_handler)        # a shell's background tasks ignore it
config.cpu_devices = 2
mapped = pmap(lambda x: x / psum(x, "i"), "i")
mapped(np.array([1.0, 3.0]))
threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
slow = devices()[1].submit(time.sleep, (1.0,))
try:
    mapped(np.array([1.0, 3.0])).block_until_ready()
    sys.exit("not interrupted")
except KeyboardInterrupt:
    pass
assert np.allclose(mapped(np.array([1.0, 1.0])), 0.5)
print("goes on")
"""


def run(program: str, tmp_path: Any) -> str:
    (tmp_path / "program.py").write_text(program)
    environment = {**os.environ, "TRANSFORMER_CACHE": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, str(tmp_path / "program.py")], capture_output=True, text=True, timeout=120,
                          env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(not hasattr(signal, "raise_signal"), reason="signals")
def test_interruption_leaves_devices_as_they_were(tmp_path: Any) -> None:
    assert run(PROGRAM, tmp_path) == "goes on\n"


FORKING = """
import os
import numpy as np
from transformer import config, pmap, psum
config.cpu_devices = 2
mapped = pmap(lambda x: x / psum(x, "i"), "i")
mapped(np.array([1.0, 3.0]))
child = os.fork()
assert np.allclose(mapped(np.array([1.0, 1.0])), 0.5)
if child:
    assert os.waitpid(child, 0)[1] == 0
    print("both")
else:
    os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_child_has_devices_of_its_own(tmp_path: Any) -> None:
    assert run(FORKING, tmp_path) == "both\n"


def test_work_that_nobody_waited_for_is_done_at_the_end(tmp_path: Any) -> None:
    program = """
import time
from transformer import devices
devices()[0].submit(lambda: (time.sleep(0.2), print("done")), ())
"""
    assert run(program, tmp_path) == "done\n"


def test_what_devices_there_are() -> None:
    assert [str(device) for device in devices()] == ["cpu:0", "cpu:1", "cpu:2", "cpu:3"]
    assert device_count() == 4 and local_devices() == devices() == devices("cpu")
    with default_device("cpu:2") as chosen:
        assert chosen is devices()[2]
    for call, message in ((lambda: devices("tpu"), "not a kind of device"), (lambda: devices("cuda"), "no CUDA device"),
                          (lambda: default_device("cpu:9").__enter__(), "no device 'cpu:9'"),
                          (lambda: pmap(neighbours, "i", devices=2)(np.ones(1)), "a sequence of devices"),
                          (lambda: pmap(neighbours, "i", devices=[3])(np.ones(1)), "3 is not a device")):
        with pytest.raises(BadArgument, match=message):
            call()


def test_chosen_devices_run() -> None:
    seen: list[str] = []
    x = np.arange(2.0)
    mapped = pmap(lambda x: 2 * x, devices=["cpu:3", "cpu:1"])
    np.testing.assert_array_equal(mapped(x), 2 * x)
    started = time.perf_counter()
    devices()[3].submit(lambda: seen.append(threading.current_thread().name), ()).result()
    assert seen == ["transformer cpu:3"] and time.perf_counter() - started < 30
