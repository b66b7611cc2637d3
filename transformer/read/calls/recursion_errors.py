"""What is refused of functions that call themselves."""

from __future__ import annotations

from ...core.errors import NotSupported, Origin


def unsettled(name: str, origin: Origin | None) -> NotSupported:
    return NotSupported(
        f"the types in the recursion of {name} do not settle",
        origin,
        instead="Give its arguments and results the same types (add a cast) and structure in every call.",
    )


def endless(name: str, origin: Origin | None) -> NotSupported:
    return NotSupported(
        f"the recursion of {name} has no end",
        origin,
        why="Every path through the function calls it again, or raises an exception.",
        instead="Return without a call in the simplest case.",
    )


def returning(name: str, reason: str, origin: Origin | None) -> NotSupported:
    return NotSupported(
        f"the recursion of {name} returns {reason}",
        origin,
        instead="Return the same structure, types and sizes (add a cast) on every path.",
    )


def returned_twice(name: str, origin: Origin | None) -> NotSupported:
    return NotSupported(
        f"{name} returns one container in two places",
        origin,
        why="They would become two containers: a change of one would not be seen in the other.",
        instead="Return it once, or a copy of it.",
    )


def changing(name: str, what: str | None, origin: Origin | None) -> NotSupported:
    return NotSupported(
        f"the recursion of {name} changes {repr(what) if what else 'a container or an object'} around it",
        origin,
        why="A function that calls itself may write to arrays and return values.",
        instead="Pass it as an argument and return what it is then.",
    )


def differentiating(name: str, origin: Origin | None) -> NotSupported:
    return NotSupported(f"{name} takes the derivative of itself", origin, instead="Write the derivatives one by one.")
