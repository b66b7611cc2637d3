"""Recursion: a function that calls itself while it is read becomes a function of Core.

A call is read in place, until it leads back to itself with arguments of the same structure. Then what
was read is taken back, and the function is read as one of its own: its arguments are parameters, and
a call of it in its own body is a `Call`. What it returns is found by iteration: at first nothing is
known, and a branch that calls counts as one that is never reached; then the type of what the other
branches give is assumed, until it is confirmed.

    def power(x, n):                              first        nothing    the branch with the call is left out
        return 1.0 if n == 0                      then         float      as 1.0 is
            else x * power(x, n - 1)              confirmed    float      as x * float is
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...core.grammar import Function
from ..frames import Frame, stamp
from ..raising.demand import Unroll
from .keeping import Keeping
from .kept import read_kept
from .own_functions import Own, Recursive, captured_arguments, key_of
from .widening import clashes, common

if TYPE_CHECKING:
    from ..reader import Reader


class Recursion:
    """The functions of their own: those `active`, which are being read, and those `known`. `refusals`
    says of functions that are read in place all the same why that is so."""

    def __init__(self) -> None:
        self.active: list[Own] = []
        self.known: list[Own] = []
        self.lifted: set[Function] = set()
        self.refusals: dict[Any, Any] = {}
        self.counts: dict[str, int] = {}
        self.keeping = Keeping()
        self.derivatives = 0  # how many functions being read are to be transformed

    @property
    def begins(self) -> bool:
        """Whether a function is read for the first time, with calls of itself left out, and what it gives is
        to be taken as it stands: ``x`` and not an array of one element where ``len(x) == 1``."""
        return any(own.result is None and not own.with_conditions for own in self.active)


def read_call(reader: Reader, frame: Frame, body: Callable[[], Any]) -> Any:
    """Reads a call whose arguments are in its frame; `body` reads the body of the function."""
    frame.given = dict(frame.names)
    if key_of(frame) in reader.unrolled:
        return body()
    for own in (*reversed(reader.recursion.active), *reader.recursion.known):
        if own.frame.has_code_of(frame):
            captured = captured_arguments(reader, frame)
            if own.accepts(captured):
                for var in frame.named:
                    var.name = None
                return own.call(captured)
    for earlier in reader.frames:
        if earlier.given is not None and earlier.has_code_of(frame):
            found = [captured_arguments(reader, each) for each in (earlier, frame)]
            templates = {name: common(reader, found[0][name], found[1][name]) for name in found[0]}
            if not any(any(clashes(template)) for template in templates.values()):
                raise Recursive(earlier, templates)
    is_kept, result = read_kept(reader, frame, body)
    if is_kept:
        return result
    begun, length = stamp(), len(reader.builder.block)
    result = _in_place(reader, frame, body)
    reader.recursion.keeping.note(reader, frame, begun, length, result)
    return result


def _in_place(reader: Reader, frame: Frame, body: Callable[[], Any]) -> Any:
    checkpoint = reader.checkpoint()
    try:
        return body()
    except Recursive as request:
        if request.frame is not frame:
            raise
        templates = request.templates
    reader.restore(checkpoint)
    try:
        return Own(reader, frame, templates, body).read()
    except Unroll as refused:
        key = key_of(frame)
        if refused.loop != key:
            raise
        reader.restore(checkpoint)
        reader.unrolled[key] = refused.refusal
        reader.recursion.refusals[key] = refused.refusal
    frame.reset()
    return body()
