"""What is refused of functions that call themselves."""

from __future__ import annotations

from ...core.errors import NotSupported, Origin


def unsettled(name: str, origin: Origin | None) -> NotSupported:
    return NotSupported(
        f"the types in the recursion of {name} do not converge",
        origin,
        instead="Use the same types (add a cast) and structure for its arguments and results in every call.",
    )


def endless(name: str, origin: Origin | None) -> NotSupported:
    return NotSupported(
        f"the recursion of {name} never ends",
        origin,
        why="Every path through the function calls it again, or raises an exception.",
        instead="Add a base case that returns without a recursive call.",
    )


def returning(name: str, reason: str, origin: Origin | None) -> NotSupported:
    return NotSupported(
        f"the recursive function {name} returns {reason}",
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
        f"the recursive function {name} changes {repr(what) if what else 'a container or an object'} outside it",
        origin,
        why="A recursive function may write to arrays and return values, but not change other objects.",
        instead="Pass it as an argument, and return the new value.",
    )


def differentiating(name: str, origin: Origin | None) -> NotSupported:
    return NotSupported(f"{name} differentiates itself, which is not supported", origin,
                        instead="Write a separate function for each order of derivative.")
