"""Signatures of functions of whole axes, as NumPy writes them: ``(n,m),(m)->(n)``.

>>> found = parsed("(n,m),(m)->(n)")
>>> found.inputs, found.outputs
((('n', 'm'), ('m',)), (('n',),))
>>> str(found)
'(n,m),(m)->(n)'
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...core.errors import BadArgument

Dims = tuple[str, ...]

_DIMS = r"\(\s*(?:\w+\s*(?:,\s*\w+\s*)*)?\)"
_SIDE = rf"\s*{_DIMS}\s*(?:,\s*{_DIMS}\s*)*"
_WHOLE = re.compile(rf"(?:{_SIDE})?->{_SIDE}")


@dataclass(frozen=True)
class Signature:
    """The core dimensions of each argument, and of each result; a number is a size that a dimension has to have."""

    inputs: tuple[Dims, ...]
    outputs: tuple[Dims, ...]

    def __str__(self) -> str:
        return f"{side(self.inputs)}->{side(self.outputs)}"


def side(dims: tuple[Dims, ...]) -> str:
    return ",".join(f"({','.join(each)})" for each in dims)


def parsed(text: str) -> Signature:
    """A signature from its text. Raises `BadArgument` for what is none."""
    if not isinstance(text, str) or not _WHOLE.fullmatch(text.strip()):
        raise BadArgument(f"{text!r} is not a valid signature",
                          why="A signature names the core dimensions of each argument and of each result.",
                          instead='Write a signature like "(n,m),(m)->(n)", with () for a number.')
    inputs, _, outputs = text.partition("->")
    return Signature(_dims(inputs), _dims(outputs))


def _dims(text: str) -> tuple[Dims, ...]:
    return tuple(tuple(re.findall(r"\w+", each)) for each in re.findall(_DIMS, text))
