"""Writes the table of NumPy's functions in docs/numpy.md: what becomes of a sample call of each.

    python tests/numpy_table.py

Sample calls are those of `doc_samples`, and for the others the domains of their ops. Each is read, transformed
and lowered to loops, which run as plain Python; tests/test_numpy_table.py asserts that the page is what comes out.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import doc_tables
import numpy as np
from differences import leaves
from doc_blocks import FOLDER
from doc_samples import CONSTANT_SAMPLES, SAMPLES, X
from loop_cases import plain
from lowered import called, generated
from op_cases import cases

from transformer import vjp, vmap
from transformer.core.errors import TransformError
from transformer.lower.lowering import lower
from transformer.ops.rewritten import Rewritten
from transformer.ops.table import lookup

PAGE = FOLDER / "numpy.md"
YES, NO, NONE = "yes", "no", ""
HOMES = {"np.": np, "np.linalg.": np.linalg, "np.fft.": np.fft}
TITLES = {"np.": "numpy", "np.linalg.": "numpy.linalg", "np.fft.": "numpy.fft"}

# What the table leaves out, by what they do.
SKIPPED: dict[str, tuple[str, ...]] = {
    "files and buffers": (
        "load", "loadtxt", "genfromtxt", "fromregex", "fromfile", "fromstring", "frombuffer", "from_dlpack", "save",
        "savetxt", "savez", "savez_compressed",
    ),
    "strings and settings": (
        "array2string", "array_repr", "array_str", "base_repr", "binary_repr", "format_float_positional",
        "format_float_scientific", "get_include", "get_printoptions", "getbufsize", "geterr", "geterrcall", "info",
        "printoptions", "set_printoptions", "setbufsize", "seterr", "seterrcall", "show_config", "show_runtime", "test",
        "typename", "mintypecode",
    ),
    "dates": (
        "busday_count", "busday_offset", "is_busday", "datetime_as_string", "datetime_data", "isnat",
    ),
    "deprecated names": ("row_stack", "asmatrix", "bmat", "in1d", "trapz"),
}  # fmt: skip
# Why a function without a rule has none.
REASONS = {
    **dict.fromkeys(("spacing", "frexp"), "the digits of a number, not its value"),
    **dict.fromkeys(("common_type", "min_scalar_type", "isdtype", "isfortran", "iterable", "einsum_path"),
                    "ask `x.dtype`, `x.ndim`, or before the call"),
    "mask_indices": "use `np.nonzero(mask)`",
    **dict.fromkeys(("nested_iters", "frompyfunc", "require"), "Python objects"),
    **dict.fromkeys(("sort_complex", "real_if_close"), "its type or size depends on values"),
}
STATIC = "of static arguments only"


@dataclass
class Row:
    """What becomes of the functions with these names, which are one function."""

    names: list[str]
    works: str
    grad: str = NONE
    vmap: str = NONE
    compiled: str = NONE
    remarks: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        names = ", ".join(f"`{name}`" for name in self.names)
        cells = (names, self.works, self.grad, self.vmap, self.compiled, "; ".join(dict.fromkeys(self.remarks)))
        return "| " + " | ".join(map(doc_tables.cell, cells)) + " |"


# -- sample calls ---------------------------------------------------------------------------------


def sample(name: str, function: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A program that calls a function once, and arguments for it."""
    given = SAMPLES.get(name) or CONSTANT_SAMPLES.get(name)
    if given is not None:
        return given, (X,)
    found = lookup(function)
    if found is None or issubclass(found[0], Rewritten):
        return (lambda x: function(x)), (X,)
    operands, attrs = cases(found[0], np.random.default_rng(0))[0]
    if found[0].variadic:
        return (lambda *values: function(list(values), **attrs)), operands
    return (lambda *values: function(*values, **attrs)), operands


# -- what becomes of them -------------------------------------------------------------------------


def outcome(attempt: Callable[[], Any], row: Row, what: str) -> Any:
    """What an attempt gives; None where it is refused, and then the reason goes to the remarks."""
    try:
        return attempt()
    except TransformError as refusal:
        row.remarks.append(f"{what}: {refusal.message.rpartition('cannot be batched')[2]}")
        return None


def row_of(entry: doc_tables.Entry, function: Any) -> Row:
    if entry.status == doc_tables.REFUSED:
        return Row([entry.name], NO, remarks=[entry.remark or reason(entry.name)])
    if entry.status == doc_tables.STATIC:
        return Row([entry.name], STATIC)
    program, operands = sample(entry.name, function)
    row = Row([entry.name], YES)
    made = outcome(lambda: generated(program, program, operands), row, "read")
    if made is None:
        row.works = NO
        return row
    loops = outcome(lambda: lower(made.function, made.reading.assumptions), row, "compiled")
    row.compiled = NO if loops is None else YES
    if loops is not None and "empty" not in entry.name:
        check(called(made, plain(loops), program, operands), program(*copy.deepcopy(operands)))
    row.vmap = NO if outcome(lambda: batched(program, operands), row, "vmap") is None else YES
    row.grad = "zero" if entry.status == doc_tables.CONSTANT else (
        NO if outcome(lambda: vjp(program, *copy.deepcopy(operands)), row, "grad") is None else YES)
    return row


def reason(name: str) -> str:
    return REASONS.get(name.rpartition(".")[2], "no rule")


def batched(program: Any, operands: tuple[Any, ...]) -> Any:
    """What `vmap` gives for two lanes of the same arguments."""
    axes = tuple(0 if isinstance(x, np.ndarray) or np.asarray(x).dtype.kind in "fc" else None for x in operands)
    stacked = [np.stack([x, x]) if axis == 0 else x for x, axis in zip(operands, axes)]
    found = vmap(program, in_axes=axes)(*stacked) if any(axis == 0 for axis in axes) else ()
    return () if found is None else found


def check(found: Any, wanted: Any) -> None:
    for got, want in zip(leaves(found), leaves(wanted), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-9)


# -- the table ------------------------------------------------------------------------------------


def listed(prefix: str) -> Iterator[tuple[str, Any]]:
    left_out = {name for names in SKIPPED.values() for name in names}
    for name, function in doc_tables.public(HOMES[prefix]):
        if name not in left_out and not isinstance(function, type):
            yield prefix + name, function


@cache
def rows(prefix: str) -> list[Row]:
    """One row for each function; those that have several names are listed by the first one."""
    made: dict[int, Row] = {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for name, function in listed(prefix):
            if id(function) in made:
                made[id(function)].names.append(name)
            else:
                made[id(function)] = row_of(doc_tables.entry_of(name, function), function)
    return list(made.values())


HEADER = "| function | works | under grad | under vmap | compiled | remark |\n|---|---|---|---|---|---|"


def text() -> str:
    tables = [f"## {TITLES[prefix]}\n\n" + "\n".join([HEADER, *map(str, rows(prefix))]) for prefix in HOMES]
    skipped = "; ".join(f"{what} ({', '.join(names)})" for what, names in SKIPPED.items())
    return "\n\n".join([doc_tables.versions(), f"Left out are classes and dtypes; {skipped}.", *tables])


def page() -> str:
    before = PAGE.read_text().partition("<!-- begin numpy -->")[0]
    return f"{before}<!-- begin numpy -->\n{text()}\n<!-- end -->\n"


def main() -> None:
    PAGE.write_text(page())


if __name__ == "__main__":
    main()
