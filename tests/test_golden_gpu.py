"""The kernels of the programs in golden_gpu/: as they are kept, and right, run step by step at two sizes.

Refresh with `pytest tests/test_golden_gpu.py --update-golden`: a file is written only after what it computes was
compared with NumPy.
"""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import gpu_simulator
import gpu_typed
import numpy as np
import pytest
from importing import imported

from transformer import tree
from transformer.api import argument_names
from transformer.pipeline import Looped, Product, generate_loops
from transformer.run.generating import on_demand, requested
from transformer.run.gpu.modules import with_long_places
from transformer.run.repeated import WRITTEN_OUT
from transformer.run.signature import describe
from transformer.run.static import StaticPaths

FOLDER = Path(__file__).parent / "golden_gpu"
PAGE = Path(__file__).parent.parent / "docs" / "cuda.md"
SHOWN = re.compile(r"(?<=<!-- softmax -->\n```text\n).*?(?=```)", re.DOTALL)
SIZES = 5, 11
TOLERANCES = {"float16": (1e-2, 1e-2), "bfloat16": (1e-1, 5e-2), "float32": (1e-4, 1e-5)}
programs = imported(FOLDER / "programs.py", "gpu_programs")


def drawn(name: str, size: int) -> tuple[Looped, tuple[Any, ...]]:
    """The module of a program in the folder, and what it is called with."""
    target, user, draw = programs.KEPT[name]
    arguments = draw(np.random.default_rng(size), size)
    return looped(target, user, arguments), arguments


def looped(target: Any, user: Any, arguments: tuple[Any, ...]) -> Looped:
    """The module of a transformation of the user's function, as `jit` makes it for a GPU."""
    names, static = argument_names(user, len(arguments)), StaticPaths(frozenset(), WRITTEN_OUT)

    def attempt(described: Any) -> Looped:
        return generate_loops(requested(target, described), Product.KERNELS)

    return on_demand(attempt, arguments, {}, names, static, describe(arguments, {}, names, static))


def compare(made: Looped, source: str, target: Any, arguments: tuple[Any, ...]) -> None:
    """Runs a module step by step: its results, and what it writes to, are those of NumPy."""
    given = {**made.namespace, **made.module.kernel.printed.given}
    entry = gpu_simulator.namespace(source, given)[made.module.entry.name]
    ours, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
    found, wanted = tree.leaves((entry(*ours), ours)), tree.leaves((target(*theirs), theirs))
    for got, want in zip(found, wanted, strict=True):
        got, want = np.asarray(got), np.asarray(want)
        assert got.dtype == want.dtype
        rtol, atol = TOLERANCES.get(want.dtype.name, (1e-11, 1e-5))
        numbers = [array.astype(float) if array.dtype.itemsize == 2 else array for array in (got, want)]
        np.testing.assert_allclose(*numbers, rtol=rtol, atol=atol)


@pytest.mark.parametrize("name", programs.KEPT)
def test_kernels(name: str, request: pytest.FixtureRequest) -> None:
    path, target = FOLDER / f"{name}.py", programs.KEPT[name][0]
    for size in SIZES:
        made, arguments = drawn(name, size)
        compare(made, made.module.source, target, arguments)
        if request.config.getoption("--update-golden"):
            path.write_text(made.module.source)
        assert made.module.source == path.read_text()


def test_page_shows_the_kernel_of_a_softmax(request: pytest.FixtureRequest) -> None:
    source, page = (FOLDER / "softmax.py").read_text(), PAGE.read_text()
    part = source[source.rindex("@cuda.jit\n"):source.index("\n\ndef softmax(")]
    if request.config.getoption("--update-golden"):
        PAGE.write_text(SHOWN.sub(lambda _: part, page, count=1))
    assert SHOWN.findall(PAGE.read_text()) == [part]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["counted", "heat_grad", "looked_up_grad", "polynomial_of_transpose", "softmax"])
def test_kernels_in_the_types_of_numba(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One thread after the other, compiled for the processor, with every place tested."""
    monkeypatch.setattr(gpu_simulator, "namespace", gpu_typed.namespace)
    made, arguments = drawn(name, SIZES[1])
    compare(made, made.module.source, programs.KEPT[name][0], arguments)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["heat_grad", "polynomial_of_transpose", "softmax"])
def test_kernels_with_places_of_64_bits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `jit` compiles them for axes that are longer."""
    monkeypatch.setattr(gpu_simulator, "namespace", gpu_typed.namespace)
    made, arguments = drawn(name, SIZES[1])
    source = with_long_places(made.module.source)
    assert "\nPlace = np.int64\n" in source and "\nMOST = 2**62\n" in source
    compare(made, source, programs.KEPT[name][0], arguments)
