"""Arrays that raise where a place is not inside of them, as the memory of compiled code does not: negative places
count as outside. Lowered code runs on them as plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from transformer.core.errors import TransformError
from transformer.run.raising import in_one_piece, is_in_pieces


class Outside(BaseException):
    """Memory that is not the array's would have been read or written."""


class Watched(np.ndarray):
    def look(self, at: Any) -> None:
        for k, size in zip(at if isinstance(at, tuple) else (at,), self.shape):
            if isinstance(k, (int, np.integer)) and not 0 <= k < size:
                raise Outside(f"place {at} of shape {self.shape}")

    def __getitem__(self, at: Any) -> Any:
        self.look(at)
        return super().__getitem__(at)

    def __setitem__(self, at: Any, number: Any) -> None:
        self.look(at)
        super().__setitem__(at, number)

    def __str__(self) -> str:                                # NumPy counts from the end to print
        return str(self.view(np.ndarray))

    def __repr__(self) -> str:
        return repr(self.view(np.ndarray))


class WatchedNumPy:
    """`np`, of which new arrays are watched."""

    def __getattr__(self, name: str) -> Any:
        return self.empty if name == "empty" else getattr(np, name)

    @staticmethod
    def empty(*args: Any, **kwargs: Any) -> Watched:
        return np.empty(*args, **kwargs).view(Watched)


def watching(entry: Any) -> Any:
    """A function of arrays, which are watched while it runs."""
    def run(*args: Any) -> Any:
        given = entry(*(arg.view(Watched) if isinstance(arg, np.ndarray) else arg for arg in args))
        return tuple(map(_plain, given)) if isinstance(given, tuple) else _plain(given)

    return run


def _plain(result: Any) -> Any:
    return result.view(np.ndarray) if isinstance(result, Watched) else result


def outcome(call: Any) -> Any:
    """What a call gives; what it raises as its type and text."""
    try:
        return call()
    except TransformError as error:
        return Raised(type(error), error.message.strip())
    except Exception as error:
        return Raised(type(error), in_one_piece(error) if is_in_pieces(error) else str(error).strip())


class Raised:
    """An exception: the same as another one of the same text and of a type that it is caught as."""

    def __init__(self, type: type[BaseException], text: str) -> None:
        self.type, self.text = type, text

    def is_like(self, other: Any) -> bool:
        if not isinstance(other, Raised):
            return False
        of_list = other.text.startswith("list ") and "out of bounds" in self.text            # a list may be an array
        told = other.text.startswith("expected a ") and self.text == "math domain error"     # by Python 3.14
        related = issubclass(self.type, other.type) or issubclass(other.type, self.type)
        return related and (self.text == other.text or of_list or told)

    def __repr__(self) -> str:
        return f"{self.type.__name__}: {self.text}"


def agree(got: Any, want: Any) -> bool:
    """Whether two outcomes are the same exception, or equal numbers."""
    if isinstance(got, Raised) or isinstance(want, Raised):
        return isinstance(got, Raised) and got.is_like(want)
    return bool(np.allclose(got, want, rtol=1e-9, equal_nan=True))
