"""Of which class a number is that paths leave, where the program asks: an int on one, and a float on another.

    v = 0
    if x[0] > 1:
        v = x[1]
    return isinstance(v, int)

Where paths meet, a number has one type, so such a question has one answer for all of them. Which paths there are is
known when all is read, as a loop may hand on what comes at its end; then questions with two answers are refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import NotSupported
from ...core.grammar import Atom, Let, Undefined, Var, type_of
from ...core.types import ArrayType
from ...ops.value import Value, is_python
from ..kinds import python_type

if TYPE_CHECKING:
    from ..reader import Reader

MOST_FOLLOWED = 64


@dataclass
class Question:
    """What was asked of a variable, and where; `answer` is that for a class."""

    var: Var
    text: str
    answer: Callable[[type], Any]
    origin: Any


def note_sources(reader: Reader, var: Var, *sources: Atom) -> None:
    """Notes what a variable is, depending on the path."""
    reader.classes.sources.setdefault(var, []).extend(source for source in sources if not isinstance(source, Undefined))


def note_question(reader: Reader, value: Any, text: str, answer: Callable[[type], Any]) -> None:
    """Notes what the program asks of a value."""
    if isinstance(value, Value) and not value.ndim and isinstance(value.atom, Var):
        reader.classes.questions.append(Question(value.atom, text, answer, reader.builder.origin))


def check_questions(reader: Reader) -> None:
    """Raises where the answer depends on the path, or is not that for the type that all paths have together."""
    for asked in reader.classes.questions:
        classes = sorted({*_classes(reader, asked.var), python_type(Value(asked.var))}, key=lambda each: each.__name__)
        if len({asked.answer(each) for each in classes}) > 1:
            raise NotSupported(f"{asked.text} of a number whose class depends on the path "
                               f"({' or '.join(map(_named, classes))}) is not supported", asked.origin,
                               why="After a branch, a number has a single type.",
                               instead="Use one class on all paths: v = 0.0, or float(v).")


def is_whole_on_a_path(reader: Reader, value: Any) -> bool:
    """Whether a floating number is an integer, of which one may be wanted, on some path."""
    if not isinstance(value, Value) or value.ndim or value.dtype.kind != "f" or not isinstance(value.atom, Var):
        return False
    return any(issubclass(each, int | np.integer) for each in _classes(reader, value.atom))


def not_whole_on_all_paths(reader: Reader) -> NotSupported:
    """What to raise where an integer is wanted, and there is such a number."""
    return NotSupported(
        "a number that is an int on some paths and a float on others is used where an int is required",
        reader.builder.origin,
        why="After a branch, and in a list that the program changes, numbers have a single type: float.",
        instead="Convert it here, int(v), or keep it separate from the floats.",
    )


def _classes(reader: Reader, var: Var) -> set[type]:
    """The classes that a number may be of."""
    found, seen = set[type](), set[Any]()
    pending: list[Any] = [var]
    while pending and len(seen) < MOST_FOLLOWED:
        atom = pending.pop()
        if atom in seen or not isinstance(type_of(atom), ArrayType):
            continue
        seen.add(atom)
        stmt = reader.builder.numbering.definitions.get(atom) if isinstance(atom, Var) else None
        if atom in reader.classes.sources:
            pending += reader.classes.sources[atom]
        else:
            found.add(python_type(Value(atom)))
            pending += _operands_of_sums(stmt)
    return found


def _operands_of_sums(stmt: Any) -> list[Any]:
    """Numbers whose class is that of the result: of Python's arithmetic with them."""
    if not isinstance(stmt, Let) or not stmt.op.elementwise or stmt.op.name in ("cast", "divide") or stmt.op.asks_truth:
        return []
    return [arg for arg in stmt.args if isinstance(arg, Var)] if is_python(stmt.attrs.get("spelling")) else []


def _named(kind: type) -> str:
    return f"NumPy's {kind.__name__}" if kind.__module__ == "numpy" else f"Python's {kind.__name__}"
