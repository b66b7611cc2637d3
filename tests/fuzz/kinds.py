"""What the generator knows about a variable."""

from __future__ import annotations

from dataclasses import dataclass

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Floats:
    """A floating point array, or a number where the shape is empty."""

    shape: Shape


@dataclass(frozen=True)
class Integer:
    """An integer that is never below `low` nor above `high`."""

    low: int
    high: int


@dataclass(frozen=True)
class Integers:
    """An array of integers from 0 to `high`."""

    count: int
    high: int


@dataclass(frozen=True)
class Table:
    """A dictionary of arrays and numbers."""

    entries: tuple[tuple[str, Floats], ...]


@dataclass(frozen=True)
class Row:
    """A list of arrays or numbers of one shape."""

    count: int
    item: Floats


@dataclass(frozen=True)
class Routine:
    """A function that can be called. `depth` is the place of an integer that ends a recursion."""

    parameters: tuple[Kind, ...]
    result: Floats


@dataclass(frozen=True)
class Typed:
    """An array or a number, of dtypes of one kind: `letter` is "b", "i" or "f"."""

    shape: Shape
    letter: str


Kind = Floats | Integer | Integers | Table | Row | Routine | Typed
NUMBER = Floats(())
