"""What a rule of `fold` says when it has changed the statement that it was given."""

from __future__ import annotations

from enum import Enum
from typing import Final


class Change(Enum):
    CHANGED = "changed"


CHANGED: Final = Change.CHANGED
