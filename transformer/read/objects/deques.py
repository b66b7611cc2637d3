"""`collections.deque`: a list that also changes at its other end, and that may have a greatest length."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..branches.journal import Contents
from ..raising.demand import static

if TYPE_CHECKING:
    from ..reader import Reader

CHANGING = frozenset({"append", "appendleft", "extend", "extendleft", "pop", "popleft", "rotate", "clear", "reverse",
                      "insert", "remove"})


def made_deque(reader: Reader, iterable: Any = (), maxlen: Any = None) -> Any:
    """`deque(iterable, maxlen)`."""
    from .containers import iterated

    maxlen = static(reader, maxlen, "the maximum length of a deque")
    made = reader.own(list(deque(iterated(reader, iterable), maxlen)))
    reader.lists.deques[id(made)] = maxlen
    return made


def bounded(reader: Reader, container: Any) -> bool:
    """Whether this is a deque that drops items, and so does not hold what a loop has appended to it."""
    return reader.lists.deques.get(id(container)) is not None


def changing(reader: Reader, container: Any, name: str) -> Callable[..., Any] | None:
    """The method of a deque that changes it; None for what a list has as well."""
    if id(container) not in reader.lists.deques or name not in CHANGING:
        return None

    def change(reader: Reader, container: Any, *args: Any) -> Any:
        from .containers import iterated

        changed = deque(container, reader.lists.deques[id(container)])
        given = tuple(iterated(reader, arg) if name.startswith("extend") else arg for arg in args)
        result = getattr(changed, name)(*given)
        reader.journal.write(Contents(container), tuple(changed))
        return result

    return change
