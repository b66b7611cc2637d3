"""numba's errors, as users should see them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from ..core.errors import NotSupported, Origin


@contextmanager
def as_refusal(origin: Origin | None) -> Iterator[None]:
    """What numba does not compile is refused."""
    from numba.core.errors import NumbaError
    try:
        yield
    except NumbaError as error:
        raise NotSupported(f"numba cannot compile this: {_reason(error)}", origin,
                           instead="Run it without jit, or with fallback=True.") from error


GENERATED = r"(.*[/\\])?\w+_[0-9a-f]{16}$|<generated "           # the files of `files.load_module`


def leave_out_advice() -> None:
    """Keeps numba from telling the user how generated code might be faster: that calls of Python take the
    lock, and products of arrays with strides copy."""
    from numba.core.errors import NumbaWarning
    warnings.filterwarnings("ignore", category=NumbaWarning, module=GENERATED)


def _reason(error: Exception) -> str:
    """The line of an error of numba's that says most."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines if not line.startswith(("Failed in", "-", "During", "File", "["))]
    return (told or lines or [type(error).__name__])[0].rstrip(".")
