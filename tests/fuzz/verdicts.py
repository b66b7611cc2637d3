"""What the checks say of a program: it is refused, or it fails."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from bounds import Outside

from transformer.core.errors import NotSupported

from .poison import poisoned


class Refused(Exception):
    """The program is refused, with a message."""


class Failure(AssertionError):
    """A wrong number or an error of ours. `kind` is the same for failures with one cause, often."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail


@contextmanager
def ours(what: str) -> Iterator[None]:
    """Code of ours, and code that it generated: what it raises is a refusal or a failure."""
    try:
        with poisoned(), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            yield
    except NotSupported as error:
        raise Refused(f"{what}: {error.message}" if what in UNUSUAL else error.message) from error
    except (Exception, Outside) as error:
        raise Failure(f"{type(error).__name__} at {_place(error)}", f"in {what}: {error}") from error


UNUSUAL = ("forward over reverse", "reverse over reverse", "reverse over forward", "third order", "saved", "read again",
           "unsimplified", "dead", "loops", "jvp")


def _place(error: BaseException) -> str:
    """The innermost function of ours, or of what we generated, on the way to an error."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "transformer" in frame.filename]
    if not frames:
        return "generated code"
    file = frames[-1].filename
    inside = file.split("/transformer/")[-1] if "/source/" not in file else "generated code"
    return f"{inside}:{frames[-1].name}" if inside != "generated code" else inside
