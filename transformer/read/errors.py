"""Errors that the user's own program would raise, with their place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..core.errors import BadArgument, ShapeError, TransformError

if TYPE_CHECKING:
    from .reader import Reader


@contextmanager
def as_user_error(reader: Reader) -> Iterator[None]:
    """Exceptions of Python and NumPy raised inside, as located errors of the program being read."""
    try:
        yield
    except TransformError as error:
        error.located(reader.builder.origin)
        raise
    except TypeError as error:
        raise BadArgument(str(error), reader.builder.origin) from error
    except ValueError as error:
        raise ShapeError(str(error), reader.builder.origin) from error
    except (LookupError, ArithmeticError, AttributeError) as error:
        raise TransformError(f"{type(error).__name__}: {error}", reader.builder.origin) from error
