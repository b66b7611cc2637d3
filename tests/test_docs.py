"""The documentation says what is true: programs run, messages and tables are those of today."""

from __future__ import annotations

import builtins
import copy
import re
import warnings
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any

import doc_tables
import numpy as np
import pytest
import scipy.special  # noqa: F401
from constructs import ROWS, Row
from differences import leaves
from doc_blocks import (
    FOLDER,
    ROOT,
    Case,
    blocks,
    emitted_file,
    error_cases,
    refusal,
    run_block,
    sections,
    shown,
    working_folder,
)
from doc_samples import CONSTANT_SAMPLES, METHOD_ARGUMENTS, SAMPLES, X
from doc_tables import CONSTANT, REFUSED, STATIC_FACT, YES, Entry, rows_by_name, same_versions
from op_cases import cases

from transformer import NotSupported, check_grads, grad
from transformer.core import errors
from transformer.ops.base import callable_of
from transformer.ops.table import lookup

PAGES = sorted([*FOLDER.glob("*.md"), ROOT / "README.md"])
ERRORS = error_cases((FOLDER / "errors.md").read_text())
HAND = {
    "logistic": lambda rng: (rng.normal(size=3), 0.3, rng.normal(size=(5, 3)), rng.integers(0, 2, 5) * 1.0),
    "newton": lambda rng: (5.0, 1.2),
    "rnn": lambda rng: (
        rng.normal(size=(3, 3)),
        rng.normal(size=(3, 2)),
        rng.normal(size=3),
        rng.normal(size=(4, 2)),
        rng.normal(size=3),
    ),
}


def assert_same(found: Any, expected: Any) -> None:
    for got, wanted in zip(leaves(found), leaves(expected), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-9)


# -- constructs ---------------------------------------------------------------------------------

SUPPORTED = [row for row in ROWS if row.error is None]
TURNED_DOWN = [row for row in ROWS if row.error is not None]


@pytest.mark.parametrize("row", SUPPORTED, ids=lambda row: row.name)
def test_supported_construct(row: Row) -> None:
    """The value is the program's, the derivatives are those by differences."""
    assert_same(row.value(), row.program(*copy.deepcopy(row.args)))
    check_grads(row.program, copy.deepcopy(row.args), order=1)


@pytest.mark.parametrize("row", TURNED_DOWN, ids=lambda row: row.name)
def test_refused_construct(row: Row) -> None:
    error = row.refusal()
    assert row.error is not None and documented_kind(error) == row.error.__name__
    assert error.origin is not None and error.origin.line > 0


# -- functions ----------------------------------------------------------------------------------


def entries(status: str, *titles: str) -> list[Entry]:
    tables = doc_tables.function_tables()
    return [entry for title in titles for entry in tables[title] if entry.status == status]


def each(found: list[Entry]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("entry", found, ids=lambda entry: entry.name)


HOMES = {"np": np, "math": __import__("math"), "scipy": scipy}
CALLED = ("NumPy", "Functions of ufuncs", "numpy.linalg", "math", "SciPy")


def function_of(name: str) -> Any:
    """The function that a name of the tables means."""
    home, *path = name.split(".")
    return reduce(getattr, path, HOMES[home])


def drawn(function: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A program that calls a function once, and arguments: from the domain of its op."""
    if isinstance(function, type):
        return lambda x: function(x[1, 1]), (X,)
    op, _ = lookup(function) or (None, None)
    assert op is not None
    operands, attrs = next(case for case in cases(op, np.random.default_rng(0)) if _fits(function, case))
    if op.variadic:
        return lambda *values: function(list(values), **attrs), operands
    return lambda *values: function(*values, **attrs), operands


def _fits(function: Any, case: Any) -> bool:
    return getattr(function, "__module__", "") != "math" or all(np.ndim(x) == 0 for x in case[0])


@each(entries(YES, *CALLED))
def test_function_with_derivative(entry: Entry) -> None:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if entry.name in SAMPLES:
            check_grads(SAMPLES[entry.name], (X,), order=1)
        else:
            program, operands = drawn(function_of(entry.name))
            check_grads(program, operands, order=1)


@each(entries(CONSTANT, *CALLED))
def test_function_without_derivative(entry: Entry) -> None:
    """It has NumPy's value, and does not get in the way of a gradient."""
    if entry.name in CONSTANT_SAMPLES:
        program, operands = CONSTANT_SAMPLES[entry.name], (X,)
    else:
        program, operands = drawn(function_of(entry.name))

    def with_sum(x: Any, *values: Any) -> Any:
        return np.sum(x * x), program(*values)

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected = program(*operands)
        gradient, value = grad(with_sum, has_aux=True)(X, *operands)
    assert_same(gradient, 2 * X)
    if "empty" not in entry.name:
        assert_same(value, expected)


@each(entries(REFUSED, "NumPy", "Functions of ufuncs", "numpy.linalg", "numpy.fft"))
def test_refused_function(entry: Entry) -> None:
    function = function_of(entry.name)

    def program(x: Any) -> Any:
        return np.sum(function(x))

    with pytest.raises(NotSupported) as caught:
        grad(program)(X)
    assert caught.value.origin is not None


@each(entries(YES, "Attributes and methods of arrays"))
def test_method_with_derivative(entry: Entry) -> None:
    name, arguments = entry.name, METHOD_ARGUMENTS.get(entry.name, ())

    def program(x: Any) -> Any:
        y = x * x
        found = getattr(y, name)
        result = found(*arguments) if callable(found) else found
        return np.sum(y if result is None else result) * x

    check_grads(program, (X,), order=1)


@each(entries(CONSTANT, "Attributes and methods of arrays"))
def test_method_without_derivative(entry: Entry) -> None:
    name, arguments = entry.name, METHOD_ARGUMENTS.get(entry.name, ())

    def program(x: Any) -> Any:
        found = getattr(x[0], name)
        return np.sum(x), found(*arguments) if callable(found) and name != "dtype" else 0

    value = grad(program, has_aux=True)(X)[1]
    if entry.remark != STATIC_FACT:
        assert_same(value, program(X)[1])


@each(entries(REFUSED, "Attributes and methods of arrays"))
def test_refused_method(entry: Entry) -> None:
    name = entry.name

    def program(x: Any) -> Any:
        found = getattr(x * x, name)
        return np.sum(x) * len(found())

    with pytest.raises(NotSupported):
        grad(program)(X)


def test_builtins_have_a_row() -> None:
    listed = {entry.name for entry in doc_tables.function_tables()["Built-in functions"]}
    assert {name for name, _ in doc_tables.public(builtins)} == listed


def test_only_functions_with_an_op_have_a_derivative() -> None:
    for call in doc_tables.special_functions():
        assert lookup(callable_of(call)) is not None


# -- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", ERRORS, ids=lambda case: case.title)
def test_wrong_program(case: Case) -> None:
    error = refusal(case)
    assert documented_kind(error) == case.kind
    assert shown(error).split("\n")[0] == case.message.split("\n")[0]
    assert shown(error) == case.message.rstrip("\n"), "run: python tests/doc_tables.py"


def documented_kind(error: errors.TransformError) -> str:
    """The first of its classes that has a section; others are both this and what Python raises."""
    return next(kind.__name__ for kind in type(error).__mro__ if vars(errors).get(kind.__name__) is kind)


@pytest.mark.parametrize("case", ERRORS, ids=lambda case: case.title)
def test_right_program(case: Case) -> None:
    assert "check_grads(" in case.right
    with working_folder():
        run_block(case.right)


def test_every_error_class_has_a_case() -> None:
    kinds = {
        name
        for name, found in vars(errors).items()
        if isinstance(found, type) and issubclass(found, errors.TransformError)
    }
    assert {case.kind for case in ERRORS} == kinds


# -- pages --------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted(doc_tables.GENERATED), ids=lambda path: path.name)
def test_generated_parts_are_up_to_date(path: Path) -> None:
    committed, made = path.read_text(), doc_tables.page(path)
    if same_versions(committed):
        assert committed == made, "run: python tests/doc_tables.py"
    else:
        common = rows_by_name(made).keys() & rows_by_name(committed).keys()
        assert {name: rows_by_name(committed)[name] for name in common} == {
            name: rows_by_name(made)[name] for name in common
        }


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text()):
        if not target.startswith("http"):
            assert (path.parent / target.partition("#")[0]).exists(), target


def test_every_page_is_in_the_index() -> None:
    index = (FOLDER / "README.md").read_text()
    assert all(f"({path.name})" in index for path in FOLDER.glob("*.md") if path.name != "README.md")


@pytest.mark.parametrize("name", HAND)
def test_version_by_hand_agrees(name: str) -> None:
    """What the comparison shows as written by hand and what is generated compute the same."""
    page = (FOLDER / "comparison.md").read_text()
    text = next(text for _, text in sections(page, 2) if f"def {name}(" in text)
    program, by_hand, generated = blocks(text, "python")
    assert generated.rstrip() == emitted_file(program, blocks(text, "text")[-1])
    args = HAND[name](np.random.default_rng(0))
    hand = run_block(by_hand)[f"{name}_by_hand"](*copy.deepcopy(args))
    assert_same(run_block(generated)[f"{name}_grad"](*copy.deepcopy(args)), hand)
