"""What a rule of `fold` says: that it has changed a statement, and which statements it looks at."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, Final, TypeVar


class Change(Enum):
    CHANGED = "changed"


CHANGED: Final = Change.CHANGED

# Kinds of operands besides the names of the ops that compute them.
CONSTANT, SIZE = "a constant", "a size"

Rule = TypeVar("Rule", bound=Callable[..., Any])


def with_operand(*kinds: str) -> Callable[[Rule], Rule]:
    """Marks a rule that can apply only where one of the operands is of one of these kinds: a constant,
    a size, or the result of the op of that name. Elsewhere it need not be tried."""

    def mark(rule: Rule) -> Rule:
        rule.operand_kinds = frozenset(kinds)                               # type: ignore[attr-defined]
        return rule

    return mark
