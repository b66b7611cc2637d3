"""What runs in which stream of a GPU, what waits for what, and what is copied how, as stand-ins for CuPy note it."""

from __future__ import annotations

import operator
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gpu_standins import CUDA, LIBRARY, OnGpu, Stream

from transformer import Array, device_put, jit
from transformer.run.gpu.library import put
from transformer.run.gpu.streams import Beside, On, stream_of
from transformer.run.gpu.transfers import SMALL, fetched_together
from transformer.run.sharing import Memory, WrittenPath

pytestmark = pytest.mark.usefixtures("a_gpu")
USE = CUDA.Device.use
OWN = 100                               # the handle of our stream, the first that is made


def compiled(function: Any, **options: Any) -> Any:
    """`jit` with an entry that runs the function as it is, on stand-ins."""
    made = jit(function, device="cuda", **options)
    entry = SimpleNamespace(source="", refusal=None, hidden=[], watched=[], function=function, integers={},
                            memory=Memory(frozenset(), (), (), None))
    made._dispatcher.entry = lambda *_: entry
    return made


def asked(*kinds: str) -> list[Any]:
    return [each for each in CUDA.log if each[0] in kinds]


def test_one_stream_for_a_gpu() -> None:
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(stream_of(0))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(each is found[0] for each in found) and stream_of(1) is not found[0]


def test_what_is_current_is_so_for_a_while() -> None:
    with On(1) as stream:
        assert CUDA.get_current_stream() is stream is stream_of(1) and CUDA.get_device_id() == 1
        with On(0):
            assert CUDA.get_device_id() == 0
        assert CUDA.get_current_stream() is stream
    assert CUDA.get_device_id() == 0 and CUDA.get_current_stream().ptr == 0
    with pytest.raises(KeyError), On(0):
        raise KeyError
    assert CUDA.get_current_stream().ptr == 0


def test_beside_the_stream_of_somebody_else() -> None:
    stream_of(0)
    with Beside(0):                              # the default stream waits by itself, and is waited for
        pass
    assert CUDA.log == []
    with CUDA.Stream() as other, Beside(0) as stream:
        assert stream is other
        assert CUDA.log == [("marked", OWN), ("follows", other.ptr, OWN)]
        CUDA.log.clear()
    assert CUDA.log == [("marked", other.ptr), ("follows", OWN, other.ptr)]


def test_calls_with_arrays_of_ours_return_at_once() -> None:
    double = compiled(lambda x: x + x)
    x = device_put(np.arange(3.0), "cuda")
    for _ in range(3):                           # the first is looked at, others are quick
        CUDA.log.clear()
        y = double(x)
        assert CUDA.log == [("computed", OWN), ("marked", OWN)]
    assert isinstance(y, Array) and not y.is_ready()
    y._done.done = True
    assert y.is_ready() and not x.is_ready()     # that is ready when the stream has nothing left to do
    CUDA.log.clear()
    y.block_until_ready()
    y[1:].T.block_until_ready()
    x.block_until_ready()
    assert asked("waited for mark of", "waited for") == [*[("waited for mark of", OWN)] * 2, ("waited for", OWN)]
    np.testing.assert_array_equal(np.asarray(y), [0.0, 2.0, 4.0])
    assert CUDA.log[-1] == ("fetched", OWN, True)


def test_repeated_calls_are_quick() -> None:
    add = compiled(lambda parts, y, by: (parts["x"] * by + y, parts["x"]))
    x, y = (device_put(np.arange(3.0) + k, "cuda") for k in range(2))
    add({"x": x}, y, 2.0)
    add._dispatcher.call = None                  # which nothing needs any more
    for by in 2.0, 3.0:
        found, same = add({"x": x}, y, by)
        np.testing.assert_array_equal(np.asarray(found), np.arange(3.0) * by + np.arange(3.0) + 1)
        np.testing.assert_array_equal(np.asarray(same), np.arange(3.0))
    CUDA.log.clear()
    for other in ((device_put(np.arange(4.0), "cuda"), y), (x, device_put(np.arange(3), "cuda"))):
        with pytest.raises(TypeError):           # of another shape, or dtype
            add({"x": other[0]}, other[1], 2.0)


def test_repeated_calls_with_arrays_of_cupy_are_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OnGpu, "__module__", "cupy")
    monkeypatch.setattr(OnGpu, "data", property(lambda self: SimpleNamespace(device_id=self.device.id)), raising=False)
    add = compiled(lambda parts, y, by: parts["x"] * by + y)
    x, y = put(np.arange(3.0)), put(np.ones(3))
    add({"x": x}, y, 2.0)
    add._dispatcher.call = lambda args, kwargs: "long"
    with Stream(700):                            # of the program's own
        for by in 2.0, 3.0:
            CUDA.log.clear()
            found = add({"x": x}, y, by)
            assert isinstance(found, OnGpu) and found.hidden.tolist() == [1, by + 1, 2 * by + 1]
            assert asked("follows")[0] == ("follows", 700, OWN) and asked("follows")[-1] == ("follows", OWN, 700)
    with On(1):
        there = put(np.ones(3))
    for args in (({"x": there}, y, 2.0), ({"x": put(np.ones(4))}, put(np.ones(4)), 2.0), ({"x": np.ones(3)}, y, 2.0)):
        assert add(*args) == "long"


def test_the_only_gpu_is_that_of_every_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that has asked the GPU for nothing yet has none that kernels could be launched on."""
    monkeypatch.setattr(OnGpu, "__module__", "cupy")
    CUDA.runtime.getDeviceCount = lambda: 1
    double, x = compiled(lambda x: 2 * x), put(np.arange(3.0))
    double(x)
    double._dispatcher.call = lambda args, kwargs: "long"
    CUDA.used.clear()
    assert double(x).hidden.tolist() == [0, 2, 4] and CUDA.used == [0]


def test_an_array_is_asked_for_its_kind_once(monkeypatch: pytest.MonkeyPatch) -> None:
    double, x = compiled(lambda x: x + x), device_put(np.arange(3.0), "cuda")
    double(x)
    call, double._dispatcher.call = double._dispatcher.call, None
    for name in "shape", "dtype":
        monkeypatch.setattr(OnGpu, name, property(lambda self: pytest.fail("it is known")), raising=False)
    assert double(x)._known().hidden.tolist() == [0, 2, 4]
    double._dispatcher.call = call
    x.give_up(RuntimeError("deleted"))
    with pytest.raises(RuntimeError, match="deleted"):
        double(x)


def test_the_only_gpu_is_not_entered() -> None:
    CUDA.runtime.getDeviceCount = lambda: 1
    double, x = compiled(lambda x: x + x), device_put(np.arange(3.0), "cuda")
    double(x)
    CUDA.used.clear()
    CUDA.devices[-1:] = [None]                   # a thread that has used none
    CUDA.Device.use = lambda device: CUDA.devices.__setitem__(-1, device.id)
    try:
        y = double(x)
    finally:
        CUDA.Device.use = USE
    assert CUDA.devices == [0] and CUDA.get_current_stream().ptr == 0
    np.testing.assert_array_equal(np.asarray(y), [0, 2, 4])


@pytest.mark.parametrize("made", [put, lambda array: device_put(array, "cuda")])
def test_what_a_program_raises_it_raises_once(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Axes that are too long are told in the same way, and have such a call done again."""
    monkeypatch.setattr(OnGpu, "__module__", "cupy")
    monkeypatch.setattr(OnGpu, "data", property(lambda self: SimpleNamespace(device_id=self.device.id)), raising=False)
    told: list[Any] = []

    def too_large(x: Any, most: float) -> Any:
        told.append(most)
        if most < 3:
            raise OverflowError("too large")
        return x + x

    function, x = compiled(too_large), None
    with On(0):
        x = made(np.arange(3.0))
    function(x, 5.0)
    for most in 1.0, 2.0:
        with pytest.raises(OverflowError, match="too large"):
            function(x, most)
    assert told == [5.0, 1.0, 2.0]


def test_a_quick_call_sees_what_is_different() -> None:
    add = compiled(lambda x, y: x + y)
    entry = add._dispatcher.entry()
    entry.watched, entry.is_current = [None], lambda: True
    x, y = (device_put(np.arange(3.0), "cuda") for _ in range(2))
    add(x, y)
    long: list[Any] = []
    add._dispatcher.call = lambda args, kwargs: long.append(args)
    assert add(x, y) is not None and not long
    there, here = (device_put(np.arange(3.0), device) for device in ("cuda:1", "cpu"))
    for args in (x, there), (here, here), (x, here):                      # an array is elsewhere
        assert add(*args) is None and all(map(operator.is_, long.pop(), args))
    entry.is_current = lambda: False                                     # a global is another one by now
    assert add(x, y) is None and long
    assert CUDA.get_device_id() == 0 and CUDA.get_current_stream().ptr == 0


def test_numpy_in_a_quick_call_is_brought() -> None:
    add = compiled(lambda x, y: x + y)
    x, y = device_put(np.arange(3.0), "cuda"), np.ones(3)
    add(x, y)
    add._dispatcher.call = None
    y[:] = 5.0
    CUDA.log.clear()
    found = add(x, y)
    assert CUDA.log == [("brought", OWN), ("computed", OWN), ("marked", OWN)]
    y[:] = 0.0
    np.testing.assert_array_equal(np.asarray(found), np.arange(3.0) + 5)


def test_calls_with_numpy_wait_for_all_results_once() -> None:
    both = compiled(lambda x: (x + x, x * x, 3))
    CUDA.log.clear()
    found = both(np.arange(3.0))
    assert [type(each) for each in found] == [np.ndarray, np.ndarray, int]
    np.testing.assert_array_equal(found[1], [0.0, 1.0, 4.0])
    assert asked("brought", "fetched", "waited for") == [
        ("brought", OWN), ("fetched", OWN, False), ("fetched", OWN, False), ("waited for", OWN)]
    assert asked("pinned") == [("pinned", 24)] * 2
    assert found[0].base is None                 # and no memory that is pinned


def test_calls_with_arrays_of_others_run_in_their_stream() -> None:
    double = compiled(lambda x: x + x)
    x = OnGpu(np.arange(3.0))
    stream_of(0)
    assert isinstance(double(x), OnGpu)
    assert CUDA.log == [("computed", 0)]
    CUDA.log.clear()
    with CUDA.Stream() as other:
        double(x)
    assert CUDA.log == [("marked", OWN), ("follows", other.ptr, OWN), ("computed", other.ptr), ("marked", other.ptr),
                        ("follows", OWN, other.ptr)]


class Tensor:
    """An array of another library, which says by DLPack when it is computed."""

    def __init__(self, **says: Any) -> None:
        self.__cuda_array_interface__ = {"shape": (3,), **says}

    def __dlpack__(self, **_: Any) -> Any:
        raise AssertionError("is for CuPy to call")


def test_arrays_of_others_say_when_they_are_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    ways: list[str] = []
    for name in "asarray", "from_dlpack":
        monkeypatch.setattr(LIBRARY, name, lambda array, name=name: ways.append(name) or OnGpu(np.ones(3)),
                            raising=False)
    double = compiled(lambda x: x + x)
    for tensor in Tensor(), Tensor(stream=7):
        ways.clear()
        assert isinstance(double(tensor), OnGpu)
        assert set(ways) == {"asarray" if "stream" in tensor.__cuda_array_interface__ else "from_dlpack"}


def test_functions_of_numpy_run_in_our_stream() -> None:
    x: Any = device_put(np.arange(30000.0), "cuda")
    CUDA.log.clear()
    y = np.sum(np.sqrt(x) * 2 + x)               # large ones too: nothing goes to another thread
    assert isinstance(y, Array)
    assert asked("computed") == [("computed", OWN)] * 4 and not asked("waited for", "fetched")
    assert float(y) == pytest.approx(np.sum(np.sqrt(np.arange(30000.0)) * 2 + np.arange(30000.0)))
    assert CUDA.log[-1][0] == "fetched"


def test_others_are_told_the_stream() -> None:
    x: Any = device_put(np.arange(3.0), "cuda")
    assert x.__cuda_array_interface__["stream"] == OWN
    x.__dlpack__(stream=7)
    assert CUDA.log[-1] == ("exported", OWN, 7)


def test_results_are_fetched_each_by_its_size() -> None:
    large = OnGpu(np.zeros(SMALL // 8 + 1))
    rows, number, none = OnGpu(np.arange(6.0).reshape(3, 2).T), OnGpu(np.float32(2.5).reshape(())), OnGpu(np.zeros(0))
    found = fetched_together({"a": large, "b": [rows, number], "c": none, "d": "text"})
    assert [each[2] for each in asked("fetched")] == [True, False, False, True]
    np.testing.assert_array_equal(found["b"][0], rows.hidden)
    assert type(found["b"][1]) is np.float32 and found["b"][1] == 2.5
    assert found["a"].shape == large.shape and found["c"].shape == (0,) and found["d"] == "text"


def test_what_cannot_be_fetched_leaves_no_copy_on_its_way(monkeypatch: pytest.MonkeyPatch) -> None:
    small, large = put(np.arange(3.0)), put(np.zeros(SMALL))
    asnumpy = LIBRARY.asnumpy

    def refused(array: Any, out: Any = None, **options: Any) -> Any:
        if out is None:
            raise MemoryError
        return asnumpy(array, out, **options)

    monkeypatch.setattr(type(LIBRARY), "asnumpy", staticmethod(refused))
    CUDA.log.clear()
    with pytest.raises(MemoryError):
        fetched_together([small, large])
    assert asked("fetched", "waited for") == [("fetched", 0, False), ("waited for", 0)]


def test_memory_that_is_pinned_is_copied_before() -> None:
    x = np.arange(3.0)
    CUDA.pinned.add(x.ctypes.data)
    taken: list[Any] = []
    plain, LIBRARY.array = LIBRARY.array, lambda array: taken.append(array) or plain(array)  # type: ignore[method-assign]
    try:
        put(x)
        put(np.ones(3))
    finally:
        del LIBRARY.array
    assert taken[0] is not x and not np.may_share_memory(taken[0], x)


def test_numbers_without_axes_are_fetched() -> None:
    """Their values count as those of numbers."""
    given: list[Any] = []
    compiled(lambda x, k: given.append(k) or x)(OnGpu(np.arange(3.0)), OnGpu(np.array(2)))
    assert isinstance(given[0], np.ndarray) and given[0] == 2


def test_numbers_without_axes_are_written() -> None:
    def moved(x: Any) -> Any:
        x += 1
        return x * 2

    made = compiled(moved)
    made._dispatcher.entry().memory = Memory(frozenset({"x"}), (WrittenPath("x", None),), (), None)
    x = OnGpu(np.array(1.5))
    assert made(x) == 5.0 and x.hidden == 2.5


def test_donated_arrays_are_given_up() -> None:
    moved = compiled(lambda x, y: x + y, donate="x")
    y = device_put(np.ones(3), "cuda")
    for _ in range(2):                           # looked at, and quick
        x = device_put(np.arange(3.0), "cuda")
        found = moved(x, y)
        np.testing.assert_array_equal(np.asarray(found), np.arange(3.0) + 1)
        for look in (lambda: np.asarray(x), lambda: x + 1, lambda: moved(x, y), lambda: x.block_until_ready()):
            with pytest.raises(RuntimeError, match="deleted: it was donated to"):
                look()
        np.asarray(y)


def test_what_fails_keeps_what_was_donated() -> None:
    moved = compiled(lambda x, y: x + y, donate="x")
    x, y = device_put(np.arange(3.0), "cuda"), device_put(np.ones(4), "cuda")
    with pytest.raises(ValueError, match="broadcast"):
        moved(x, y)
    np.testing.assert_array_equal(np.asarray(x), np.arange(3.0))
    assert CUDA.get_current_stream().ptr == 0


def test_what_is_on_the_gpu_is_copied_there() -> None:
    array: Any = put(np.arange(3.0))
    copy = put(array)
    array.hidden[0] = 7.0
    assert isinstance(copy, OnGpu) and copy.hidden.tolist() == [0, 1, 2] and not asked("fetched")
