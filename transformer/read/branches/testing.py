"""Sizes that only the program itself can compare, such as those of a recursion: it tests them.

    a + b        if len(a) != len(b):
                     raise ValueError("operands could not be broadcast together …")     what NumPy says
                 a + b                                what follows in the block takes them as one

That is the last resort, where reading cannot tell, no guard can, and nothing can be made static.

Whether a size that is computed is negative is tested as well, where NumPy does when it makes an array:
of the array itself nothing may be left (``np.sum(np.ones(k))`` is k).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from ...core.builder import current
from ...core.equations import guardable
from ...core.errors import NotSupported, ShapeError, TransformError
from ...core.grammar import Effect, If
from ...core.sizes import Extent, Size
from ...core.walk import atom_of_size
from ...ops import value as values
from ...ops.arguments import NEGATIVE, NotKnown
from ...ops.shape import Untold
from ...ops.table import lookup
from ...ops.value import Value
from ..raising.demand import Demand, Roots, Unroll
from ..raising.texts import Template, formatted, text_of
from ..values import contained

if TYPE_CHECKING:
    from ..reader import Reader


T = TypeVar("T")


class Untested(NotSupported):
    """Sizes would have to be equal that are not known to be; the program can test them at `place`."""

    def __init__(self, place: Hashable, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.place = place


def fitting(reader: Reader, operation: Callable[[], T], arguments: Any, by_mask: bool = False) -> T:
    """What an operation gives. Where sizes could not be told equal, what they rest on may decide, so integer
    arguments become static and loops are unrolled; else the program tests them, as it does at once where they are
    those of what a mask chooses."""
    try:
        return operation()
    except NotKnown:
        raise
    except TransformError as error:
        place = reader.builder.origin
        by_test = isinstance(error, Untold) or (
            isinstance(error, ShapeError) and (by_mask or _has_computed_sizes(arguments)))
        refusal = untested(reader, error.message) if by_test and place not in reader.tested else error
        if place not in reader.tested and not by_mask:
            _demand_integers(reader, arguments, refusal)
        if not by_test or reader.recursion.active and place not in reader.tested:
            raise refusal from None
    with testing(reader, operation):
        return operation()


def untested(reader: Reader, message: str) -> Untested:
    """What is raised where an operation does not fit the sizes of its operands, as far as they are known."""
    return Untested(
        reader.builder.origin,
        "these sizes are not known to be equal",
        reader.builder.origin,
        why=f"They are computed at run time: {message}.",
        instead="Allocate arrays of one size, np.zeros(len(x)), and write the parts into them.",
    )


def _has_computed_sizes(arguments: Any) -> bool:
    """Whether there are sizes among arguments that are not known before the program runs."""
    for item in contained(arguments):
        sizes = item.type.sizes if isinstance(item, Value) else (item,)
        if any(isinstance(size, Size) and not guardable(size) for size in sizes):
            return True
    return False


def _demand_integers(reader: Reader, arguments: Any, error: TransformError) -> None:
    """Raises what makes known what sizes and integers in the arguments rest on, if that can be."""
    roots = Roots(reader)
    for item in contained(arguments):
        if isinstance(item, Value):
            for size in item.type.sizes:
                roots.follow(size)
            if not item.ndim and item.dtype.kind in "iu":
                roots.follow(item.atom)
        elif isinstance(item, Size):
            roots.follow(item)
    paths = {path for path in roots.paths if ".shape[" not in path}
    if roots.loops and not (isinstance(error, Untested) and roots.loops[-1] in roots.of_any_length):
        raise Unroll(roots.loops[-1], error.located(reader.builder.origin))
    if paths and paths.isdisjoint(reader.arguments.mapped):
        raise Demand(paths, error.located(reader.builder.origin))


@contextmanager
def testing_signs(reader: Reader) -> Iterator[None]:
    """While sizes of new arrays are tested by the program where they may be negative."""
    reader.assumptions.sign_tester = _emit_test_of_sign
    try:
        yield
    finally:
        reader.assumptions.sign_tester = None


def _emit_test_of_sign(size: Extent) -> None:
    builder = current()
    attrs = {"exception": ValueError, "template": ((NEGATIVE,),), "size": size}
    raising = Effect("raise", (), attrs, builder.origin)
    computed: Any = values.value(atom_of_size(size))
    builder.emit(If((computed < 0).atom, [raising], [], [], builder.origin))


@contextmanager
def testing(reader: Reader, operation: Callable[[], Any] | None = None) -> Iterator[None]:
    """While sizes that may be equal are tested by the program, and taken as equal from there on. It raises what NumPy
    says of the operation."""
    assumptions = reader.assumptions
    outer, assumptions.tester = assumptions.tester, lambda *sizes: _emit_test(reader, operation, *sizes)
    try:
        yield
    finally:
        assumptions.tester = outer


def _emit_test(reader: Reader, operation: Callable[[], Any] | None, left: Extent, right: Extent) -> None:
    builder = reader.builder
    op, spelling = lookup(operator.ne) or (None, None)
    differ = values.apply(op, (left, right), {}, spelling)
    template = Template()
    said = operation and _said(reader, operation)
    said = said or ["sizes must be equal, and are ", formatted(left), " and ", formatted(right)]
    text = template.add(text_of(said))
    attrs = {"exception": reader.assumptions.exception, "template": (text,)}
    raising = Effect("raise", tuple(template.atoms), attrs, builder.origin)
    builder.emit(If(differ.atom, [raising], [], [], builder.origin))


def _said(reader: Reader, operation: Callable[[], Any]) -> list[Any]:
    """What NumPy says where the operation does not fit, in pieces: texts, and sizes that the program fills in. The
    operation is read once more, in a block that is dropped, and fails at the sizes that are to be tested."""
    assumptions = reader.assumptions
    tester, outer = assumptions.tester, assumptions.holes
    assumptions.tester, assumptions.holes = None, []
    try:
        with reader.builder.nested():
            operation()
    except TransformError as error:
        pieces = str(getattr(error.__cause__ or error, "message", "")).split("\0")
        return [formatted(assumptions.holes[int(piece)]) if k % 2 else piece for k, piece in enumerate(pieces)]
    finally:
        assumptions.tester, assumptions.holes = tester, outer
    return []
