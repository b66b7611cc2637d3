"""What functions of the library cannot say in Python: what they do not take, and a change of a whole array."""

from __future__ import annotations

from typing import Any

from ...core.errors import NotSupported


def refused(what: str, instead: str) -> Any:
    """Raises, when it is read, that `what` cannot be had."""
    raise NotSupported(what, why="It has no rule here.", instead=instead)


def _read(reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return refused(*args, **kwargs)


refused.__transformer_read__ = _read  # type: ignore[attr-defined]


def replaced(array: Any, new: Any) -> None:
    """`array[...] = new`, when it is read: nothing of what the array was is left."""
    array[...] = new


def _read_replaced(reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    from ..assignment import write_whole

    write_whole(reader, *args)


replaced.__transformer_read__ = _read_replaced  # type: ignore[attr-defined]
