"""`scipy.stats` for `Array`s."""

from typing import Any

from .namespace import namespace

__all__, _made = namespace("scipy.stats", globals())           # noqa: PLE0604


def __getattr__(name: str) -> Any:
    return _made(name)


def __dir__() -> list[str]:
    return sorted(__all__)
