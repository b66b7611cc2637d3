"""Whole programs and their gradients as explicit loops: lowered without fusion, and compared with NumPy."""

from __future__ import annotations

import copy
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpus import ALL
from evaluate import match, signature_of
from loop_cases import plain
from scipy.special import expit

from transformer import grad, tree
from transformer.api import argument_names
from transformer.core.errors import NotSupported
from transformer.lower.lowering import Kernel, lower
from transformer.pipeline import Generated, generate
from transformer.read.interface import Result
from transformer.run.generating import on_demand
from transformer.run.signature import describe

BY_NAME = {program.name: program for program in reversed(ALL)}
SMALL = ("rosenbrock", "horner", "kepler", "simpson", "over_array", "while_on_value", "break_out", "recurrence",
         "prefix_sums", "huber")
LARGER = ("logistic_regression", "softmax_cross_entropy", "lorenz_rk4", "nbody_energy", "wave_equation",
          "upwind", "attention", "rnn", "cholesky_in_place", "gauss_seidel", "stencil_plane", "ping_pong",
          "dynamic_programming", "data_dependent_write", "mask_of_matrix", "mask_write_of_rows", "lstm")


RECURSIVE = "even_and_odd", "rest_of_list", "called_in_while"


def generated(target: Any, user: Any, arguments: tuple[Any, ...]) -> Generated:
    """Core of a function or of a transformation of it, for a call."""
    names, static = argument_names(user, len(arguments)), set()

    def attempt(described: Any) -> Generated:
        return generate(target, described.args, described.kwargs, hints=described.hints, smallest=2)

    return on_demand(attempt, arguments, {}, names, static, describe(arguments, {}, names, static))


def called(made: Generated, kernel: Kernel, user: Any, arguments: tuple[Any, ...]) -> Any:
    """What a kernel gives for a call of the user's function."""
    bound = signature_of(user).bind(*copy.deepcopy(arguments)).arguments
    values = {hidden.var: hidden.fetch() for hidden in made.interface.hidden}
    for parameter in made.interface.parameters:
        if parameter.name in bound:
            match(parameter.tree, bound[parameter.name], values)
    results = kernel(*(values[param] for param in made.function.params))
    return tree.map(lambda leaf: results[leaf.k] if isinstance(leaf, Result) else leaf, made.interface.result)


def check(target: Any, program: Any, arguments: tuple[Any, ...], compiled: bool) -> None:
    made = generated(target, program.function, arguments)
    kernel = lower(made.function, made.reading.assumptions)
    kernel = kernel.compile() if compiled else plain(kernel)
    found, _ = tree.flatten(called(made, kernel, program.function, arguments))
    wanted, _ = tree.flatten(target(*copy.deepcopy(arguments)))
    for got, want in zip(found, wanted, strict=True):
        if isinstance(want, str):
            assert got == want
            continue
        assert np.asarray(got).dtype == np.asarray(want).dtype
        np.testing.assert_allclose(got, want, rtol=1e-4 if "f32" in program.tags else 1e-10, atol=1e-12)


def neighbours(x, w):
    y = np.concatenate([x[1:], x[:1]]) + 2 * x
    return np.sum(expit(y) * w)


def test_the_page_shows_what_is_printed() -> None:
    arguments = np.ones(6, np.float32), np.ones(6, np.float32)
    made = generated(neighbours, neighbours, arguments)
    page = (Path(__file__).parent.parent / "docs" / "lowering.md").read_text()
    source = lower(made.function, made.reading.assumptions).source
    assert f"```\n{source[source.index('def neighbours'):]}```" in page


def of_numpy_and_python(x, y, s):
    return np.exp(x) * math.exp(s) + np.logaddexp(x, x[0]) + np.tanh(y[0])


def test_functions_of_numpy_are_vector_mathematics_in_their_dtype() -> None:
    """Those of Python numbers stay what they are."""
    arguments = np.linspace(-1, 1, 5, dtype=np.float32), np.ones(2), 0.5
    made = generated(of_numpy_and_python, of_numpy_and_python, arguments)
    kernel = lower(made.function, made.reading.assumptions)
    for call in ("exp_f32(", "math.exp(s)", "log1p_f32(", "tanh_f64("):
        assert call in kernel.source
    assert not re.search(r"math\.(log1p|tanh)|np\.(exp|tanh)", kernel.source)
    np.testing.assert_allclose(kernel.compile()(*arguments)[0], of_numpy_and_python(*arguments), rtol=1e-6)


def transformed(program: Any, order: int) -> Any:
    return grad(program.function, argnums=program.wrt) if order else program.function


@pytest.mark.parametrize("order", [0, 1], ids=["value", "gradient"])
@pytest.mark.parametrize("name", [*SMALL, *LARGER])
def test_programs_as_plain_python(name: str, order: int) -> None:
    program = BY_NAME[name]
    target = transformed(program, order)
    check(target, program, program.example(np.random.default_rng(0)), compiled=False)
    if program.sized:
        check(target, program, program.example(np.random.default_rng(1), size=5), compiled=False)


@pytest.mark.parametrize("name", RECURSIVE)
def test_recursive_programs_compiled(name: str) -> None:
    program = BY_NAME[name]
    check(program.function, program, program.example(np.random.default_rng(0)), compiled=True)


def test_refusals_are_located() -> None:
    def halved(x):
        return np.sum(np.sqrt(x.astype(np.float16)))

    arguments = np.ones(3),
    made = generated(halved, halved, arguments)
    with pytest.raises(NotSupported, match="float16 has no compiled form") as raised:
        lower(made.function, made.reading.assumptions)
    assert "np.sqrt(x.astype(np.float16))" in str(raised.value)


@pytest.mark.parametrize("name", ["while_for_if", "triangle_of_windows", "mask_twice_in_loop"])
def test_records_of_changing_size_are_refused(name: str) -> None:
    program = BY_NAME[name]
    made = generated(transformed(program, 1), program.function, program.example(np.random.default_rng(0)))
    with pytest.raises(NotSupported, match="differs from one iteration"):
        lower(made.function, made.reading.assumptions)


@pytest.mark.parametrize("layout", ["strided", "fortran", "reversed"])
def test_layouts_of_arguments(layout: str) -> None:
    wide = np.random.default_rng(0).normal(size=(8, 6))
    given = {"strided": wide[::2, ::2], "fortran": np.asfortranarray(wide), "reversed": wide[::-1, ::-1]}[layout]
    made = generated(row_norms, row_norms, (given,))
    kernel = lower(made.function, made.reading.assumptions).compile()
    np.testing.assert_allclose(kernel(given)[0], row_norms(given), rtol=1e-14)
    np.testing.assert_allclose(kernel(given.copy())[0], row_norms(given), rtol=1e-14)


def row_norms(x):
    return np.sqrt(np.sum(x * x, axis=1))


@pytest.mark.parametrize("name", SMALL)
def test_programs_compiled(name: str) -> None:
    program = BY_NAME[name]
    for order in (0, 1):
        check(transformed(program, order), program, program.example(np.random.default_rng(0)), compiled=True)
