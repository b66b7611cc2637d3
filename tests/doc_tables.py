"""Writes the generated parts of the documentation: tables, error messages, generated source.

    python tests/doc_tables.py

A part stands between the comments ``<!-- begin NAME -->`` and ``<!-- end -->``; messages in
docs/errors.md stand in blocks marked ``text`` after the program that is wrong. tests/test_docs.py
asserts that what is committed is what is generated.
"""

from __future__ import annotations

import builtins
import math
import platform
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from constructs import SECTIONS, Row
from doc_blocks import FOLDER, ROOT, emitted, messages_filled_in, printed

from transformer.numpy.names import LEFT_OUT
from transformer.ops.base import Op
from transformer.ops.rewritten import Rewritten
from transformer.ops.table import _callables, lookup, method
from transformer.read.calls.array_methods import INSTEAD, SPECIAL
from transformer.read.calls.builtin_calls import BUILTINS
from transformer.read.calls.pure import is_pure
from transformer.read.library import functions_of_scipy, instead_of, methods
from transformer.read.library.numbers import OF_COMPUTED
from transformer.read.objects.attributes import FACTS

YES, CONSTANT, STATIC, REFUSED = "derivative", "constant", "static", "refused"
SHAPE_ONLY = "it depends on nothing but its shape"
STATIC_FACT = "a static fact"

# What functions give that the reader or other ops are made of, where it carries no derivative.
CONSTANT_ANYWAY: dict[Any, str] = {
    **dict.fromkeys((np.zeros_like, np.ones_like, np.empty_like, np.identity, np.diag_indices), SHAPE_ONLY),
    **dict.fromkeys((np.shape, np.size, np.ndim, np.isscalar, np.broadcast, np.broadcast_shapes, np.result_type),
                    STATIC_FACT),
    **dict.fromkeys((len, isinstance, hasattr, callable, type, range), STATIC_FACT),
    **dict.fromkeys((any, all, bool, int, math.floor, math.ceil, np.ndindex), "its result is piecewise constant"),
    **dict.fromkeys((repr, str, format, print), "a string; see the table of constructs"),
}
@dataclass(frozen=True)
class Entry:
    """What becomes of one function."""

    name: str
    status: str
    remark: str = ""

    def __str__(self) -> str:
        return f"| `{self.name}` | {self.status} | {self.remark} |"


PIECEWISE = "its result is piecewise constant"
CONSTANT_IN_LIBRARY = {
    "np.allclose", "np.array_equal", "np.digitize", "np.isin", "np.unravel_index", "np.ravel_multi_index",
    "np.diag_indices_from", "np.bartlett", "np.blackman", "np.hamming", "np.hanning", "np.array_equiv", "np.lexsort",
    "np.iscomplex", "np.isreal", "np.iscomplexobj", "np.isrealobj", "np.isneginf", "np.isposinf",
    "np.fft.fftfreq", "np.fft.rfftfreq", "np.packbits", "np.unpackbits",
}

# -- functions ----------------------------------------------------------------------------------


def entry_of(name: str, function: Any) -> Entry:
    """What becomes of a call of `function`, by the order in which the reader decides it."""
    if isinstance(function, type) and issubclass(function, (np.integer, np.bool_)):
        return Entry(name, CONSTANT, "its result is piecewise constant")
    if function in CONSTANT_ANYWAY:
        return Entry(name, CONSTANT, CONSTANT_ANYWAY[function])
    if function in BUILTINS:
        return Entry(name, YES)
    if instead_of(function) is not None:
        return Entry(name, CONSTANT, PIECEWISE) if name in CONSTANT_IN_LIBRARY else Entry(name, YES)
    found = lookup(function)
    if found is not None:
        return entry_of_op(name, found[0])
    if function in OF_COMPUTED:
        return Entry(name, CONSTANT, "of integers")
    if is_pure(function):
        return Entry(name, STATIC)
    return Entry(name, REFUSED)


def entry_of_op(name: str, op: type[Op]) -> Entry:
    if op.derivative is not None:
        return Entry(name, CONSTANT, op.derivative[1])
    stated = op.partials or op.vjp or op.definition or op.accumulate or issubclass(op, Rewritten)
    assert stated, f"{name} states no derivative"
    return Entry(name, YES)


def entry_of_method(name: str) -> Entry:
    op = method(name)
    if op is not None:
        return entry_of_op(name, op)
    if name in FACTS or name in ("itemsize", "nbytes"):
        return Entry(name, CONSTANT, STATIC_FACT)
    if name in SPECIAL or name in methods() or name == "flat":
        return Entry(name, YES)
    return Entry(name, REFUSED, INSTEAD.get(name, ""))


def public(home: Any) -> Iterator[tuple[str, Any]]:
    """The functions of a module, and the classes among them that have an op."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in sorted(dir(home)):
            found = getattr(home, name, None)
            if not name.startswith("_") and callable(found) and _is_function(found):
                yield name, found


def _is_function(found: Any) -> bool:
    return not isinstance(found, type) or lookup(found) is not None or found in BUILTINS or found is np.broadcast


def special_functions() -> list[str]:
    return sorted(call for call in _callables() if isinstance(call, str))


def entries(prefix: str, home: Any) -> list[Entry]:
    return [entry_of(prefix + name, function) for name, function in public(home)]


def function_tables() -> dict[str, list[Entry]]:
    """The tables of functions by their headings."""
    return {
        "NumPy": entries("np.", np),
        "Functions of ufuncs": [entry_of("np.add.at", np.add.at), *map(_ufunc_method, UFUNC_METHODS)],
        "numpy.linalg": entries("np.linalg.", np.linalg),
        "numpy.fft": entries("np.fft.", np.fft),
        "Attributes and methods of arrays": [
            entry_of_method(name) for name in sorted(dir(np.ndarray)) if not name.startswith("_")
        ],
        "math": entries("math.", math),
        "SciPy": sorted([
            *(entry_of_op(name, _callables()[name]) for name in special_functions()),
            *(Entry(name, YES) for name in functions_of_scipy()),
        ], key=lambda entry: entry.name),
        "Built-in functions": entries("", builtins),
    }


UFUNC_METHODS = ("reduce", "accumulate", "outer", "reduceat")


def _ufunc_method(name: str) -> Entry:
    return entry_of(f"np.add.{name}", getattr(np.add, name))


def versions() -> str:
    """Tables differ with these, as functions come and go."""
    return f"Made with Python {_minor(platform.python_version())} and NumPy {_minor(np.__version__)}."


def same_versions(page: str) -> bool:
    made_with = re.search(r"^Made with .*$", page, re.MULTILINE)
    return made_with is None or made_with[0] == versions()


def rows_by_name(page: str) -> dict[str, str]:
    """The rows of all tables by their first cell."""
    return {line.split(" | ")[0]: line for line in page.split("\n") if line.startswith("| ")}


def function_text() -> str:
    tables = [f"### {title}\n\n{entry_table(rows)}" for title, rows in function_tables().items()]
    return "\n\n".join([versions(), *tables])


def entry_table(rows: list[Entry]) -> str:
    return "\n".join(["| function | | remark |", "|---|---|---|", *map(str, rows)])


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


# -- constructs ---------------------------------------------------------------------------------


def construct_text() -> str:
    tables = [
        f"### {section.title}\n\n| construct | | remark |\n|---|---|---|\n"
        + "\n".join(map(construct_line, section.rows))
        for section in SECTIONS
    ]
    return "\n\n".join(tables)


def construct_line(row: Row) -> str:
    if row.error is None:
        return f"| {cell(row.construct)} | supported | {cell(row.remark)} |"
    said = f"“{row.refusal().message}”" + (f"; {row.remark}" if row.remark else "")
    return f"| {cell(row.construct)} | `{row.error.__name__}` | {cell(said)} |"


def missing_text() -> str:
    """What of NumPy is not in `transformer.numpy`, by the reasons."""
    reasons: dict[str, list[str]] = {}
    for name, reason in LEFT_OUT.items():
        reasons.setdefault(reason, []).append(f"`{name}`")
    return "\n".join(f"* {', '.join(sorted(names))}: {reason}." for reason, names in reasons.items())


def cell(text: str) -> str:
    """A text with the signs that end a cell written so that they do not."""
    return text.replace("|", "\\|")


# -- pages --------------------------------------------------------------------------------------

PARTS: dict[str, Callable[[str, int], str]] = {
    "constructs": lambda page, position: construct_text(),
    "functions": lambda page, position: function_text(),
    "missing": lambda page, position: missing_text(),
    "output": printed,
    "generated": emitted,
}


def filled(page: str) -> str:
    """A page with its generated parts written anew."""

    def part(found: re.Match[str]) -> str:
        made = PARTS[found["name"]](page, found.start())
        return f"<!-- begin {found['name']} -->\n{made}\n<!-- end -->"

    return re.sub(r"<!-- begin (?P<name>\w+) -->\n.*?<!-- end -->", part, page, flags=re.DOTALL)


GENERATED = (
    FOLDER / "supported.md", FOLDER / "comparison.md", FOLDER / "command_line.md", FOLDER / "vectorize.md",
    FOLDER / "vmap.md", FOLDER / "pmap.md", FOLDER / "arrays.md", ROOT / "README.md", FOLDER / "errors.md",
)  # fmt: skip


def page(path: Path) -> str:
    """A page with generated parts, as it should be."""
    return (messages_filled_in if path.name == "errors.md" else filled)(path.read_text())


def main() -> None:
    import numpy_table

    for path in GENERATED:
        path.write_text(page(path))
    numpy_table.main()


if __name__ == "__main__":
    main()
