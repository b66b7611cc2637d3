"""Launches of kernels by us: what they hand over is what numba would, and what its kernels take.

Those that ask numba need numba-cuda with the wheels of its compiler, which the extras cuda12 and cuda13 install.
"""

from __future__ import annotations

import ctypes
import importlib.util
import re
import struct
from contextlib import nullcontext
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gpu_standins import CUDA

from transformer.lower.cuda import grids
from transformer.run.files import load_module
from transformer.run.gpu import kernels as gpu_kernels
from transformer.run.gpu.kernels import ARRAY, Form, Kernel, Parameters, layout, numba_type, offsets, writer
from transformer.settings import config


class Placed:
    """An array as CuPy's, at a made-up place."""

    def __init__(self, array: np.ndarray, place: int = 0x7000) -> None:
        self.dtype, self.ndim, self.shape, self.strides = array.dtype, array.ndim, array.shape, array.strides
        self.size, self.itemsize, self._c_contiguous = array.size, array.itemsize, array.flags.c_contiguous
        self.data = SimpleNamespace(ptr=place)


ROWS = np.zeros((3, 5), np.float32)
GIVEN: list[Any] = [
    7, -2.5, True, 1 - 2j, np.float32(0.1), np.float16(1.5), np.int8(-3), np.uint16(9), np.int32(-70000),
    np.uint64(2**64 - 1), np.bool_(True), np.complex64(3 + 4j), np.float64(np.inf), Placed(ROWS),
    Placed(ROWS.T), Placed(np.zeros(4, np.complex128), 0x9000), Placed(ROWS[::2, ::-1]),
    Placed(np.zeros((2, 3, 4), np.bool_)), Placed(np.zeros(3, np.float16)),
    Placed(np.zeros((1, 2), np.int64))]


def kind(value: Any) -> Any:
    return (value.dtype, value.ndim, value._c_contiguous) if isinstance(value, Placed) else type(value)


def handed(values: list[Any]) -> tuple[str, bytes, list[int]]:
    """How values lie in memory, what is there, and where each begins."""
    kinds = list(map(kind, values))
    letters = "".join(map(layout, kinds))
    memory = Parameters(letters)
    memory.write(*writer(kinds)(*values))
    table = ctypes.cast(memory.places, ctypes.POINTER(ctypes.c_void_p * len(letters))).contents
    first = ctypes.addressof(memory.memory)
    return letters, memory.memory.raw, [place - first for place in table]


def test_an_array_and_numbers_as_they_lie_in_memory() -> None:
    letters, memory, places = handed([np.float32(0.5), Placed(ROWS.T), True, 1 + 2j, np.int16(-1)])
    assert letters == "f" + ARRAY + "nnnn" + "?" + "dd" + "h"
    assert places == offsets(letters) == [0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104]
    assert np.frombuffer(memory, np.int64, 9, 8).tolist() == [0, 0, 15, 4, 0x7000, 5, 3, 4, 20]
    assert np.frombuffer(memory, np.float32, 1)[0] == 0.5 and memory[80] == 1
    assert np.frombuffer(memory, np.float64, 2, 88).tolist() == [1.0, 2.0]
    assert np.frombuffer(memory, np.int16, 1, 104)[0] == -1
    assert handed([Placed(np.zeros(()))])[0] == ARRAY


def test_what_is_neither_array_nor_number_is_refused() -> None:
    for value in np.zeros(3), "x", None, (1, 2):
        with pytest.raises(TypeError, match="a kernel expects arrays on the GPU"):
            layout(type(value))
    with pytest.raises(struct.error):
        handed([2**63])


def kernel(monkeypatch: pytest.MonkeyPatch, run: Any = lambda *_: None) -> tuple[Kernel, list[Any]]:
    """A kernel that is launched by a stand-in, and what was compiled and launched."""
    found: list[Any] = []

    def launched(*given: Any) -> None:
        found.append(given)
        run(*given)

    def compiled(_: Any, types: Any, device: int) -> int:
        found.append(("compiled", device))
        return 5000 + device

    monkeypatch.setattr(gpu_kernels, "compiled", compiled)
    monkeypatch.setattr(gpu_kernels, "numba_type", lambda kind: kind)
    monkeypatch.setattr(CUDA, "driver", SimpleNamespace(launchKernel=launched), raising=False)
    made = Kernel(SimpleNamespace(__name__="fill_y"))
    made.arrays = Placed
    return made, found


@pytest.mark.usefixtures("a_gpu")
def test_a_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    fill, found = kernel(monkeypatch)
    with CUDA.Stream() as stream:
        fill[(12, 2), (32, 8)](3, Placed(ROWS))
    fill[7, 256](4, Placed(ROWS))
    assert found[0] == ("compiled", 0)
    assert [each[:9] for each in found[1:]] == [
        (5000, 12, 2, 1, 32, 8, 1, 0, stream.ptr), (5000, 7, 1, 1, 256, 1, 1, 0, 0)]
    assert all(each[9] and each[10] == 0 for each in found[1:])


@pytest.mark.usefixtures("a_gpu")
def test_what_is_compiled_is_for_kinds_of_arguments_and_for_one_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    fill, found = kernel(monkeypatch)
    launch = fill[1, 1]
    for args in (3, Placed(ROWS)), (3, Placed(ROWS[:1])), (3, Placed(ROWS.T)), (3.0, Placed(ROWS)), (3, Placed(ROWS)):
        launch(*args)
    with CUDA.Device(1):
        launch(3, Placed(ROWS))
    assert [each for each in found if each[0] == "compiled"] == [("compiled", 0)] * 3 + [("compiled", 1)]
    assert found[-1][0] == 5001


@pytest.mark.usefixtures("a_gpu")
def test_a_launch_that_fails_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> None:
        raise RuntimeError("CUDA_ERROR_INVALID_VALUE: invalid argument")

    fill, _ = kernel(monkeypatch, fails)
    with pytest.raises(RuntimeError, match="INVALID_VALUE") as caught:
        fill[(3, 4), 2048](1)
    assert caught.value.__notes__ == ["when fill_y was launched with (3, 4, 1) blocks of (2048, 1, 1) threads"]


@pytest.mark.usefixtures("a_gpu")
def test_integers_of_more_bits_than_numba_has_are_refused_as_numpy_does(monkeypatch: pytest.MonkeyPatch) -> None:
    fill, found = kernel(monkeypatch)
    for number in 2**63, -2**70:
        with pytest.raises(OverflowError, match="Python int too large to convert to C long"):
            fill[1, 1](number, Placed(ROWS))
    assert len(found) == 1                       # it is compiled, and not launched


def test_threads_do_not_share_memory() -> None:
    """What one thread hands over nobody writes to before the driver has read it."""
    seen: list[tuple[int, int]] = []
    places: list[int] = []

    def value(places: int) -> int:
        table = ctypes.cast(places, ctypes.POINTER(ctypes.POINTER(ctypes.c_int64)))
        return table[0][0]

    def run(*given: Any) -> None:
        places.append(given[9])
        if value(given[9]) == 1:                 # while the first launch is on its way, there is another one
            form.launch((1,) * 6, 0, (2,))
        seen.append((value(given[9]), given[9]))

    form = Form((int,), 1, run)
    form.launch((1,) * 6, 0, (1,))
    form.launch((1,) * 6, 0, (3,))
    assert [number for number, _ in seen] == [2, 1, 3]
    assert places[0] != places[1] and places[2] in places[:2] and len(form.free) == 2


needs_numba = pytest.mark.skipif(importlib.util.find_spec("numba_cuda") is None or importlib.util.find_spec(
    "nvidia") is None, reason="the extra cuda12 or cuda13 is not installed: numba-cuda with its compiler")
PTX = {"u64": "PnqQlL", "f64": "d", "f32": "f", "u8": "?bB", "u16": "ehH", "u32": "iI"}


@needs_numba
def test_kernels_take_what_is_handed_over() -> None:
    """The parameters of the PTX that numba makes are those that are written, one by one."""
    from numba import cuda
    kinds = [kind(value) for value in GIVEN]
    names = [f"a{k}" for k in range(len(kinds))]
    namespace: dict[str, Any] = {}
    exec(f"def taking({', '.join(names)}):\n    pass", namespace)
    text = cuda.compile_ptx(namespace["taking"], tuple(map(numba_type, kinds)), cc=(9, 0))[0]
    taken = re.findall(r"\.param \.(\w+) \w+_param_\d+", text)
    letters = "".join(map(layout, kinds))
    assert len(taken) == len(letters)
    assert [(name, letter) for name, letter in zip(taken, letters) if letter not in PTX[name]] == []


@needs_numba
def test_numba_hands_over_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from numba.cuda import dispatcher

    def on_device(value: Placed) -> Any:
        own = SimpleNamespace(strides_in_bytes=value.strides)
        array = SimpleNamespace(size=value.size, dtype=value.dtype, ptr=value.data.ptr, shape=value.shape, _layout=own)
        return SimpleNamespace(to_device=lambda *_: array)

    monkeypatch.setattr(dispatcher, "wrap_arg", on_device)
    for value in GIVEN:
        theirs: list[Any] = []
        dispatcher._Kernel._prepare_args(SimpleNamespace(extensions=[]), numba_type(kind(value)), value, 0, [], theirs)
        letters, memory, places = handed([value])
        assert len(theirs) == len(letters)
        for place, letter, their in zip(places, letters, theirs):
            if isinstance(their, (int, np.bool_)):                       # which numba leaves to the launch, by its type
                their = ctypes.c_bool(their) if letter == "?" else ctypes.c_int64(their)
            assert memory[place:place + ctypes.sizeof(their)] == bytes(their), (value, letter)


MODULE = """
from numba import cuda


@cuda.jit(device=True)
def doubled(x):
    return x + x


@cuda.jit
def fill_y(n, x, y):
    i = cuda.grid(1)
    if i < n:
        y[i] = doubled(x[i])


def launch(n):
    return fill_y[over_blocks(n)]


def over_blocks(n):
    grids.append(n)
    return n, 32
"""


@needs_numba
def test_numba_compiles_once_for_all_processes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """For a made-up GPU, whose driver takes what was compiled."""
    from numba import cuda
    from numba.cuda import codegen, dispatcher
    device, made = SimpleNamespace(compute_capability=(9, 0), id=0), []

    def loaded(library: Any) -> Any:
        made.append(library.get_cubin(cc=(9, 0)))
        return SimpleNamespace(handle=70 + len(made), module=SimpleNamespace(initialized=True))

    monkeypatch.setattr(dispatcher, "get_current_device", lambda: device)
    monkeypatch.setattr(codegen, "get_current_device", lambda: device, raising=False)
    monkeypatch.setattr(codegen.devices, "get_context", lambda _=None: SimpleNamespace(device=device))
    monkeypatch.setattr(codegen.CUDACodeLibrary, "get_cufunc", loaded)
    monkeypatch.setattr(cuda, "gpus", [nullcontext()])
    monkeypatch.setattr(config, "cache", tmp_path)
    row = (np.dtype(np.float32), 1, True)
    hits = []
    for _ in range(2):                           # the second has nothing of the first but the files
        fill = load_module(MODULE, "launch", {})["fill_y"]
        gpu_kernels.kept(fill)
        assert gpu_kernels.compiled(fill, tuple(map(numba_type, (int, row, row))), 0) == 70 + len(made)
        hits.append((sum(fill.stats.cache_hits.values()), sum(fill.stats.cache_misses.values())))
    assert hits == [(0, 1), (1, 0)]


def test_fours_are_counted_quickly() -> None:
    """As by the function of a module, which is asked where something lies otherwise."""
    asked: list[int] = []

    def in_fours(size: int, *arrays: Any) -> int:
        asked.append(size)
        return int(grids.in_fours(size, *arrays))

    quickly = gpu_kernels.quickly_in_fours(in_fours)
    line, short, wide = np.zeros(9, np.float32), np.zeros((4, 9), np.float32), np.zeros((3, 8), np.float32)
    bytes_, cube = np.zeros(8, np.int8), np.zeros((2, 3, 4))
    arrays = [Placed(each) for each in (line, line[::2], line[1:], short, wide, wide.T, wide[:, ::2], bytes_, cube)]
    arrays += [Placed(line, 0x7004), Placed(bytes_, 0x7004), Placed(wide[:, :5])]
    for count in 1, 2:
        for some in product(arrays, repeat=count):
            assert quickly(8, *some) == grids.in_fours(8, *some)
    asked.clear()
    assert [quickly(9, arrays[0]), quickly(8, arrays[4], arrays[8])] == [2, 2] and not asked
    with pytest.raises(OverflowError, match="needs Place"):
        quickly(2**31 + 4, arrays[0])


@needs_numba
@pytest.mark.usefixtures("a_gpu")
def test_kernels_of_a_module_are_launched_by_us() -> None:
    grids: list[int] = []
    namespace = load_module(MODULE, "launch", {"grids": grids})
    gpu_kernels.launched_by_us(namespace, {"fill_y"}, {"over_blocks": "over_blocks"}, is_kept=False)
    for n in 7, 9, 7:
        assert namespace["launch"](n).args == ((n, 1, 1, 32, 1, 1),)
    assert type(namespace["fill_y"]) is Kernel and grids == [7, 9]       # asked once for each size
