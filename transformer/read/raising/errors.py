"""Errors that the user's own program would raise, with their place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeGuard

from ...core.errors import TransformError, as_raised
from ...ops.arguments import NotKnown
from .demand import Demand, Unroll, need

if TYPE_CHECKING:
    from ..reader import Reader


UNKNOWN_ARGUMENT = " must be known when the function is transformed"
MISSING = IndexError, KeyError, UnboundLocalError, NameError   # what a program raises at a place, whatever the values
UNFIT = TypeError, AttributeError              # the same of what does not fit: None where a number is wanted
RAISED = *MISSING, *UNFIT


def is_of_program(error: Exception) -> TypeGuard[TransformError]:
    """Whether reading found what the program itself raises there: something is missing, or does not fit. Of a name
    that is bound elsewhere, the program tells whether it is (`lower/expand/unbound.py`)."""
    if not isinstance(error, TransformError) or isinstance(error, UnboundLocalError):
        return False
    return isinstance(error, MISSING) or error.is_raised


@contextmanager
def as_user_error(reader: Reader) -> Iterator[None]:
    """Exceptions of Python and NumPy raised inside, as located errors of the program being read."""
    try:
        yield
    except NotKnown as error:
        need(reader, error.value, error.message.removesuffix(UNKNOWN_ARGUMENT), error.instead)
    except TransformError as error:
        error.located(reader.builder.origin)
        raise
    except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError) as error:
        raise as_raised(error, reader.builder.origin) from error


@contextmanager
def in_callee(reader: Reader) -> Iterator[None]:
    """Errors raised inside, where the body of a function is read, tell from where it is called."""
    call = reader.builder.origin if len(reader.frames) > 1 else None  # the first one is called by nobody
    try:
        yield
    except TransformError as error:
        error.called_from(call)
        raise
    except (Demand, Unroll) as request:
        request.refusal.called_from(call)
        raise
