"""What dictionaries and sets are asked for: it is found by what it is equal to, and so has to be known.

    {(i, j): x}                          the numbers i and j
    {Place(1.0, 2.0)}                    the attributes, if the class compares these
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...core.errors import NotSupported
from ..kinds import with_article
from ..raising.demand import need, static
from ..values import UNKNOWN, contained, known_of, stripped
from .objects import hold_dynamic

if TYPE_CHECKING:
    from ..reader import Reader

KEY = "a key of a dictionary"
ITEM = "an item of a set"
FIRST_IS_KEY = frozenset({(dict, "pop"), (dict, "setdefault"), (set, "add"), (set, "discard"), (set, "remove")})


def hashed(reader: Reader, value: Any, what: str, instead: str | None = None) -> Any:
    """The Python object that a value is, where it is looked for."""
    for part in contained(value):
        if known_of(part) is UNKNOWN:
            need(reader, part, what, instead)
        if type(part).__hash__ not in (None, object.__hash__) and hold_dynamic(part):
            raise NotSupported(f"{what} must be known when the function is transformed", reader.builder.origin,
                               why=f"It is compared by attributes of {with_article(type(part).__name__)}, which are "
                                   "computed at run time.",
                               instead="Use a key that is known, such as an int or a string.")
    return stripped(static(reader, value, what, instead))
