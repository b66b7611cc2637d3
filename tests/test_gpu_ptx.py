"""The kernels in golden_gpu/, compiled to PTX and assembled without a GPU: nothing is spilled, programs in float32
compute nothing in float64, and no place is found by a division. Those for sm_100 need the compiler of CUDA 13.

Needs numba-cuda with the wheels of its compiler, which the extras cuda12 and cuda13 install.
"""

from __future__ import annotations

import copy
import importlib.util
import re
import warnings
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import gpu_simulator
import numpy as np
import pytest
from corpus import ALL
from gpu_typed import known_by
from test_golden_gpu import FOLDER, drawn, looped, programs

from transformer.core.errors import TransformError
from transformer.pipeline import Looped, Product, Request, generate_loops
from transformer.run.gpu import copies, narrow

REGISTERS = 64                         # of a thread, so that a multiprocessor has 1024 threads
IN_DOUBLE = {"relaxed"}
DIVISION = re.compile(r"\b(?:div|rem)\.[su]\d+")        # of integers


def can_compile() -> bool:
    """Whether there are numba-cuda, and the wheels of its compiler and of the linker that assembles."""
    if importlib.util.find_spec("numba_cuda") is None:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return bool(linker().version())
    except (ImportError, RuntimeError):
        return False


def linker() -> Any:
    """What numba-cuda assembles kernels with; it needs no GPU."""
    return importlib.import_module("cuda.bindings.nvjitlink")


if not can_compile():
    pytest.skip("the extra cuda12 or cuda13 is not installed: numba-cuda with the wheels of its compiler",
                allow_module_level=True)

ARCHITECTURES = (7, 5), (8, 0), (9, 0), *[(10, 0)] * (linker().version()[0] >= 13)


def launches(made: Looped, arguments: tuple[Any, ...]) -> dict[str, tuple[Any, ...]]:
    """What each kernel of a module is launched with, found by running it step by step."""
    given = {**made.namespace, **made.module.kernel.printed.given}
    namespace = gpu_simulator.namespace(made.module.source, given)
    cuda, found = namespace["cuda"], {}
    run = cuda.run

    def noted(function: Any, grid: Any, block: Any, args: tuple[Any, ...]) -> None:
        found[function.__name__] = args
        run(function, grid, block, args)

    cuda.run = noted
    outside = {hidden.name: hidden.fetch() for hidden in made.interface.hidden}
    namespace[made.module.entry.name](*copy.deepcopy(arguments), **outside)
    return found


def kind(value: Any) -> Any:
    """The type of what a kernel is launched with, as numba calls it."""
    from numba import from_dtype, typeof, types
    return types.Array(from_dtype(value.dtype), value.ndim, "C") if isinstance(value, np.ndarray) else typeof(value)


def kernels_of(source: str, given: dict[str, Any]) -> dict[str, Any]:
    """What a module defines, without CuPy. What kernels call is compiled once where modules have it in common."""
    namespace = dict(given)
    exec(source.replace("import cupy as cp\n", ""), namespace)
    for name, value in namespace.items():
        if getattr(value, "targetoptions", {}).get("device") and (known := known_by(value.py_func)) is not None:
            namespace[name] = INNER.setdefault(known, value)
    return namespace


INNER: dict[Any, Any] = {}


def without_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """The functions of kernels are compiled for the first architecture."""
    monkeypatch.setattr("numba.cuda.dispatcher.get_current_device",
                        lambda: SimpleNamespace(compute_capability=ARCHITECTURES[0]))


def compiled(name: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Any, str]]:
    """Every kernel with its PTX, for every architecture; what is the same for all of them is done once."""
    from numba import cuda
    without_device(monkeypatch)
    library, texts = importlib.import_module("numba.cuda.codegen").CUDACodeLibrary, {}
    plain = library.get_asm_strs

    def for_all(self: Any, cc: Any = None) -> Any:
        texts.update({architecture: plain(self, architecture)[0] for architecture in ARCHITECTURES})
        return plain(self, cc)

    monkeypatch.setattr(library, "get_asm_strs", for_all)
    namespace = kernels_of((FOLDER / f"{name}.py").read_text(), {})
    for kernel, args in launches(*drawn(name, 5)).items():
        cuda.compile_ptx(namespace[kernel].py_func, tuple(map(kind, args)), cc=ARCHITECTURES[0])
        yield from ((kernel, architecture, text) for architecture, text in texts.items())


def assembled(text: str, architecture: tuple[int, int]) -> str:
    """What the assembler says of a kernel."""
    nvjitlink, (major, minor), code = linker(), architecture, text.encode()
    handle = nvjitlink.create(2, [f"-arch=sm_{major}{minor}", "-Xptxas=-v"])
    try:
        nvjitlink.add_data(handle, nvjitlink.InputType.PTX, code, len(code), "kernel")
        nvjitlink.complete(handle)
        said = bytearray(nvjitlink.get_info_log_size(handle))
        nvjitlink.get_info_log(handle, said)
    finally:
        nvjitlink.destroy(handle)
    return said.decode()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", programs.KEPT)
def test_kernels_are_assembled(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = list(compiled(name, monkeypatch))
    assert {architecture for _, architecture, _ in found} == set(ARCHITECTURES)
    for kernel, architecture, text in found:
        assert f".target sm_{architecture[0]}{architecture[1]}" in text
        assert not DIVISION.search(text), kernel
        assert name in IN_DOUBLE or ".f64" not in text, kernel
        said = assembled(text, architecture)
        assert re.findall(r"(\d+) bytes spill", said) == ["0", "0"], said
        assert int(re.findall(r"Used (\d+) registers", said)[0]) <= REGISTERS, said


@pytest.mark.filterwarnings("ignore")
def test_kernels_of_the_corpus_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the types that numba finds in them for a GPU, which no simulator looks at."""
    from numba import cuda
    without_device(monkeypatch)
    for program in ALL[5::96]:
        arguments = program.example(np.random.default_rng(0))
        try:
            made = looped(program.function, program.function, arguments)
        except TransformError:
            continue
        namespace = kernels_of(made.module.source, {**made.namespace, **made.module.kernel.printed.given})
        for kernel, args in launches(made, arguments).items():
            cuda.compile_ptx(namespace[kernel].py_func, tuple(map(kind, args)), cc=ARCHITECTURES[0])


def reduced(x):
    return np.sum(x), np.max(x), np.sum(x, dtype=np.float64), np.argmax(x), np.prod(x)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "u1", "i2", "?"])
def test_reductions_of_each_dtype_are_compiled(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from numba import cuda
    without_device(monkeypatch)
    arguments = np.arange(40).astype(dtype),
    made = looped(reduced, reduced, arguments)
    namespace = kernels_of(made.module.source, made.module.kernel.printed.given)
    for kernel, args in launches(made, arguments).items():
        cuda.compile_ptx(namespace[kernel].py_func, tuple(map(kind, args)), cc=ARCHITECTURES[0])


@pytest.mark.parametrize("dtype, columns", [("float32", 10), ("float64", 8)])
def test_narrow_products_are_assembled(dtype: str, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a thread has lies in registers, and no more than what blocks of so many threads have."""
    from numba import cuda, types
    without_device(monkeypatch)
    namespace: dict[str, Any] = {}
    exec(narrow.source(np.dtype(dtype), columns), namespace)
    matrix, part = (types.Array(getattr(types, dtype), 2, order) for order in "CA")
    for name, most in (("fill_product", 128), ("fill_turned", REGISTERS)):
        kinds = types.int64, types.int64, matrix, part, matrix
        text = cuda.compile_ptx(namespace[name].py_func, kinds, cc=ARCHITECTURES[0])[0]
        assert ".local" not in text and not DIVISION.search(text) and (dtype == "float64" or ".f64" not in text)
        said = assembled(text, ARCHITECTURES[0])
        assert re.findall(r"(\d+) bytes spill", said) == ["0", "0"]
        assert int(re.findall(r"Used (\d+) registers", said)[0]) <= most


def test_the_kernel_of_copies_is_assembled() -> None:
    """As it takes the most arrays: with a load and a store for each, and what it takes in 4 kB."""
    from numba import cuda, types
    namespace: dict[str, Any] = {}
    exec(copies.source(copies.AT_ONCE), namespace)
    kinds = (types.uint64[::1],) * (2 * copies.AT_ONCE)
    text = cuda.compile_ptx(namespace["fill_copies"].py_func, kinds, cc=ARCHITECTURES[0])[0]
    assert text.count("ld.global") == text.count("st.global") == copies.AT_ONCE
    assert re.findall(r"(\d+) bytes spill", assembled(text, ARCHITECTURES[0])) == ["0", "0"]


def test_what_is_looked_for_is_found() -> None:
    """A place found by a division, and float64 in a kernel of float32."""
    from numba import cuda, types
    array = types.float32[::1]

    def by_division(x: Any, m: Any) -> None:
        x[cuda.grid(1) // m] += 0.1

    text = cuda.compile_ptx(by_division, (array, types.int64), cc=(8, 0))[0]
    assert DIVISION.search(text) and ".f64" in text


def test_functions_that_numba_has_for_processors_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their forms for kernels are compiled."""
    from numba import cuda, from_dtype, types
    without_device(monkeypatch)

    def all_of(x):
        return np.floor(x) + np.ceil(x) + np.trunc(x) + np.rint(x) + np.cbrt(x) + np.nextafter(x, x + 1)

    def all_of_complex(x):
        return np.exp(np.sqrt(x)) + np.log(np.tanh(x)) + np.arctan(np.sin(x)) + np.cosh(np.log10(x))

    for program, dtype in (all_of, "f4"), (all_of, "f8"), (all_of_complex, "c16"):
        made = generate_loops(Request(program, (np.zeros(3, dtype),)), Product.KERNELS).module
        namespace = kernels_of(made.source, made.kernel.printed.given)
        array = types.Array(from_dtype(np.dtype(dtype)), 1, "C")
        kernel = next(namespace[name] for name in made.kernel.printed.tasks).py_func
        given = kernel.__code__.co_varnames[:kernel.__code__.co_argcount]
        kinds = tuple(types.int64 if name == "n" else array for name in given)
        text = cuda.compile_ptx(kernel, kinds, cc=ARCHITECTURES[0])[0]
        assert dtype != "f4" or ".f64" not in text
