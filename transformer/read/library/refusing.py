"""What functions of the library cannot say in Python: what they do not take, the axis that is meant, how large a size
is in the calls that code is made for, what an object holds, and a change of a whole array."""

from __future__ import annotations

import operator
from functools import partial
from typing import Any

import numpy as np

from ...core.errors import NotSupported
from ...core.sizes import Size
from ...ops import arguments


def refused(what: str, instead: str) -> Any:
    """Raises, when it is read, an error that says `what` is not supported."""
    raise NotSupported(what, instead=instead)


def _read(reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return refused(*args, **kwargs)


refused.__transformer_read__ = _read  # type: ignore[attr-defined]


def of_object(owner: Any, attribute: str, name: str) -> Any:
    """An attribute of an object that was made before; an array among them is called so in what is written."""
    return getattr(owner, attribute)


def _read_of_object(reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    owner, attribute, name = args
    return reader.outside.lift(getattr(owner, attribute), partial(getattr, owner), attribute, name)


of_object.__transformer_read__ = _read_of_object  # type: ignore[attr-defined]


def made_of(owner: Any, function: Any, name: str) -> Any:
    """An array that a function makes of an object that was made before, at each call; it is called so."""
    return function(owner)


def _read_made_of(reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return reader.outside.made_of(*args)


made_of.__transformer_read__ = _read_made_of  # type: ignore[attr-defined]


def fact_of(owner: Any, attribute: str) -> Any:
    """What an object that was made before is, when it is read: its shape, a name. A change is seen."""
    return getattr(owner, attribute)


def _read_fact_of(reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return reader.outside.attribute(*args)


fact_of.__transformer_read__ = _read_fact_of  # type: ignore[attr-defined]


def refuse_none(count: int, deed: str) -> None:
    """What NumPy says where no array is there to join."""
    if count == 0:
        raise ValueError("need at least one array to " + deed)


def axis_of(axis: Any, rank: int) -> int:
    """One axis of an array of this rank, not below 0; raises NumPy's AxisError, when it is read, if it has no such."""
    return arguments.axis(axis, rank)


def axes_of(axes: Any, rank: int) -> tuple[int, ...]:
    """The same of several axes, or of one alone; each may be there once."""
    return arguments.axes(axes, rank)


def _read_axes(function: Any) -> Any:
    def read(reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        from ..raising.errors import as_user_error

        with as_user_error(reader):
            return function(*args, **kwargs)

    return read


def at_least(size: int, least: int) -> bool:
    """Whether a size is that large, when it is read: in the call for which the code is made, under a guard."""
    return size >= least


def _read_at_least(reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return reader.assumptions.at_least(*args)


def are_equal(one: int, other: int) -> bool:
    """Whether two sizes are equal, when it is read: in the call for which the code is made, under a guard; of integers
    that the program computes, when it runs."""
    return one == other


def _read_are_equal(reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if all(isinstance(each, int | Size) for each in args):
        return reader.assumptions.equal(*args)
    return reader.call(operator.eq, args, {})


def all_are_pythons(items: Any) -> bool:
    """Whether items are numbers of Python's, all of them, when it is read."""
    return not any(isinstance(item, np.generic) for item in items)


def _read_all_are_pythons(reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    from ..loops.folds import all_are_pythons

    return all_are_pythons(reader, *args)


all_are_pythons.__transformer_read__ = _read_all_are_pythons  # type: ignore[attr-defined]
at_least.__transformer_read__ = _read_at_least  # type: ignore[attr-defined]
are_equal.__transformer_read__ = _read_are_equal  # type: ignore[attr-defined]
axis_of.__transformer_read__ = _read_axes(axis_of)  # type: ignore[attr-defined]
axes_of.__transformer_read__ = _read_axes(axes_of)  # type: ignore[attr-defined]


def replaced(array: Any, new: Any) -> None:
    """`array[...] = new`, when it is read: nothing of what the array was is left."""
    array[...] = new


def _read_replaced(reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    from ..augmented import write_whole

    write_whole(reader, *args)


replaced.__transformer_read__ = _read_replaced  # type: ignore[attr-defined]
